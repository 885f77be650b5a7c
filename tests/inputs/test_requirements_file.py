"""Requirements files: encodings, lines, nesting, and the report of everything that is wrong."""

from __future__ import annotations

import codecs
import io
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compatlock.errors import InputError
from compatlock.inputs.file_settings import FileIndex, FileSettings
from compatlock.inputs.requirement_line import parse_requirements
from compatlock.inputs.requirements_file import (
    RequirementsFile,
    read_requirements,
    read_requirements_files,
)


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, content: str | bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def message(path: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_requirements(path)
    return caught.value.message.splitlines()


def test_lines_comments_continuations_and_markers() -> None:
    path = write(
        "r.in",
        "# comment \\\n"
        "\n"
        "click==8.1.7   # why\n"
        "tomli ; python_version < '3.11'\t# no\r\n"
        "numpy >=1, \\\n"
        "   <3\r"
        "a#b\n"
        "pkg[x] \\\n"
        "# the comment after a continuation\n"
        "last \\",
    )
    assert read_requirements(path).lines == (
        ("click==8.1.7", "r.in:3"),
        ("tomli ; python_version < '3.11'", "r.in:4"),
        ("numpy >=1,    <3", "r.in:5"),
        ("a#b", "r.in:7"),
        ("pkg[x]", "r.in:8"),
        ("last", "r.in:10"),
    )


@pytest.mark.parametrize(
    "data",
    [
        "click==8.1.7\r\nidna # é\r\n".encode(),
        codecs.BOM_UTF8 + "click==8.1.7\r\nidna # é\r\n".encode(),
        codecs.BOM_UTF16_LE + "click==8.1.7\r\nidna # é\r\n".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "click==8.1.7\r\nidna # é\r\n".encode("utf-16-be"),
        codecs.BOM_UTF32_LE + "click==8.1.7\r\nidna # é\r\n".encode("utf-32-le"),
        "click==8.1.7 # -*- no -*-\nidna # é".encode(),
    ],
)
def test_encodings(data: bytes) -> None:
    assert read_requirements(write("r.in", data)).lines == (("click==8.1.7", "r.in:1"), ("idna", "r.in:2"))


def test_declared_encoding() -> None:
    path = write("r.in", "# -*- coding: latin-1 -*-\nidna # é".encode("latin-1"))
    assert read_requirements(path).lines == (("idna", "r.in:2"),)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"click\nidna # \xe9", "r.in:2: not valid UTF-8 text; save the file as UTF-8"),
        (
            "click".encode("utf-16-le"),
            "r.in: not a text file (it has zero bytes, and no mark of UTF-16 or UTF-32)",
        ),
        (codecs.BOM_UTF16_LE + b"a", "r.in: not valid utf-16-le text; save the file as UTF-8"),
        (codecs.BOM_UTF16_LE + b"a\0\0\0", "r.in: not a text file (it has zero bytes)"),
        (b"# coding: klingon\n", "r.in: its first lines declare the unknown encoding 'klingon'"),
        (b"# coding: zlib\n", "r.in: its first lines declare the unknown encoding 'zlib'"),
    ],
)
def test_bad_encodings(data: bytes, problem: str) -> None:
    assert message(write("r.in", data)) == [problem]


def test_nested_files_are_relative_to_the_file_and_read_once() -> None:
    write("reqs/base.in", "numpy\n-c ../limits.txt\n")
    write("reqs/my dev.in", "-r base.in\npytest\n")
    write("limits.txt", "numpy<3\n-r more.txt\n")
    write("more.txt", "scipy<2\n")
    path = write("r.in", "trl\n-r reqs/base.in\n--requirement='reqs/my dev.in'\n-climits.txt\n")
    assert read_requirements(path) == RequirementsFile(
        lines=(
            ("trl", "r.in:1"),
            ("numpy", "reqs/base.in:1"),
            ("pytest", "reqs/my dev.in:2"),
        ),
        constraints=(("numpy<3", "reqs/../limits.txt:1"), ("scipy<2", "reqs/../more.txt:1")),
        files=("r.in", "reqs/base.in", "reqs/../limits.txt", "reqs/../more.txt", "reqs/my dev.in"),
    )


def test_constraints_file_and_several_files() -> None:
    write("c.txt", "numpy<3\n")
    write("a.in", "a\n")
    write("b.in", "b\n")
    assert read_requirements("c.txt", constraint=True) == RequirementsFile(
        constraints=(("numpy<3", "c.txt:1"),), files=("c.txt",)
    )
    assert read_requirements_files(["a.in", "b.in"], ["c.txt"]) == RequirementsFile(
        lines=(("a", "a.in:1"), ("b", "b.in:1")),
        constraints=(("numpy<3", "c.txt:1"),),
        files=("a.in", "b.in", "c.txt"),
    )


def test_same_file_as_requirements_and_as_constraints() -> None:
    write("a.in", "a<2\n")
    found = read_requirements_files(["a.in"], ["a.in"])
    assert (found.lines, found.constraints) == ((("a<2", "a.in:1"),), (("a<2", "a.in:1"),))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    write("more.in", "idna\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"click\n-r more.in\n")))
    assert read_requirements("-").lines == (("click", "<stdin>:1"), ("idna", "more.in:1"))


def test_hashes_are_kept() -> None:
    one, two = "1" * 64, "aB" * 32
    path = write(
        "r.in",
        f"a==1 \\\n    --hash=sha256:{two} \\\n    --hash sha256:{one}\n"
        f"b==2 ; os_name=='nt' --hash=sha512:22 --hash=sha256:{one}\n",
    )
    assert read_requirements(path) == RequirementsFile(
        lines=(("a==1", "r.in:1"), ("b==2 ; os_name=='nt'", "r.in:4")),
        files=("r.in",),
        settings=FileSettings(hashes=(("r.in:1", (one, two.lower())), ("r.in:4", (one,)))),
    )


def test_hashes_that_cannot_be_compared() -> None:
    path = write("r.in", "a==1 --hash=sha512:00\nb==1 --hash=md5:00\nc==1 --hash=sha256:00")
    wrong = "a `--hash` is `sha256:` with 64 hexadecimal digits"
    assert message(path) == [
        "r.in:1: `--hash` with sha512 only cannot be compared; add the file's sha256",
        f"r.in:2: {wrong}",
        f"r.in:3: {wrong}",
    ]


def test_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    write("more.txt", "--no-binary=b\n--only-binary :all:,:none:,c , d\nc\n")
    path = write(
        "r.in",
        "--index-url https://user:${TOKEN}@index.example/simple # the company's\n"
        "--extra-index-url='https://other.example/simple/' -r more.txt\n"
        "--pre\n"
        "--require-hashes\n"
        "-f https://wheels.example/\n"
        "--find-links ./wheels --trusted-host other.example\n"
        "--prefer-binary\n"
        "--use-feature=fast-deps\n"
        "a==1 --config-settings='x=a b' --global-option \"--y\" -C z=1\n",
    )
    found = read_requirements(path)
    assert found.lines == (("c", "more.txt:3"), ("a==1", "r.in:9"))
    assert found.settings == FileSettings(
        indexes=(
            FileIndex("https://user:secret@index.example/simple", "r.in:1", default=True),
            FileIndex("https://other.example/simple/", "r.in:2"),
        ),
        prereleases=("r.in:3",),
        no_binary=("b",),
        only_binary=("c", "d"),
    )
    assert [note.partition(" is left out")[0] for note in found.notes] == [
        "r.in:5: `--find-links`",
        "r.in:6: `--find-links`",
        "r.in:6: `--trusted-host`",
        "r.in:7: `--prefer-binary`",
        "r.in:8: `--use-feature`",
        "r.in:9: its options for a build are left out: a lock does not hold them",
    ]


def test_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH", "torch==2.9")
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.delenv("UNSET", raising=False)
    write("torch==2.9.in", "numpy\n")
    assert read_requirements(write("a.in", "${TORCH}.0\n-r ${TORCH}.in # ${UNSET}")).lines == (
        ("torch==2.9.0", "a.in:1"),
        ("numpy", "torch==2.9.in:1"),
    )
    assert message(write("b.in", "a==${UNSET}\n-r ${EMPTY}.in\n$TORCH\n${lower}")) == [
        "b.in:1: the environment does not set UNSET, which this line needs",
        "b.in:2: the environment does not set EMPTY, which this line needs",
        "b.in:3: $TORCH: it does not start with a project name (letters, digits, `-`, `_`, `.`)",
        "b.in:4: ${lower}: it does not start with a project name (letters, digits, `-`, `_`, `.`)",
    ]


def test_reports_all_bad_lines_of_all_files() -> None:
    write("b.in", "fine\n-r a.in\nnumpy=1\n")
    write(
        "a.in",
        "numpy>=2.*  # too new\n"
        "-r b.in\n"
        "-c missing.txt\n"
        "--index-url\n"
        "--no-index\n"
        "-e .[dev]\n"
        "-e git+https://user:secret@git.example/x#egg=x\n"
        "-e ../lib/\n"
        "--no-binary\n"
        "--only-binary=torch>2\n"
        "--what=ever\n"
        "-\n"
        "-r\n"
        "-r https://index.example/r.txt\n"
        "-r .\n"
        "-r pyproject.toml\n"
        "./local\n"
        "torch==2.0 --what=a\n"
        "foo # comment \\\n"
        "bar\n",
    )
    editable = (
        "an editable project is not resolved; for what it needs name its pyproject.toml on the command line "
        "({}), and remove this line"
    )
    assert message("a.in")[:15] == [
        "a.in:1: numpy>=2.*: only `==` and `!=` take a wildcard; write `numpy>=2`",
        "b.in:2: a.in includes itself; remove this line",
        "b.in:3: numpy=1: `=` is no version operator; write `numpy==1`",
        "a.in:3: there is no file missing.txt",
        "a.in:4: no URL follows `--index-url`",
        "a.in:5: `--no-index` is not supported in a file; an index is always needed; "
        "`--offline` on the command line uses only what is cached",
        f"a.in:6: {editable.format('pyproject.toml')}",
        "a.in:7: an editable checkout is not resolved; name a release on the index instead, NAME==VERSION",
        f"a.in:8: {editable.format('../lib/pyproject.toml')}",
        "a.in:9: names of packages, `:all:` or `:none:` follow `--no-binary`",
        "a.in:10: names of packages, `:all:` or `:none:` follow `--only-binary`",
        "a.in:11: `--what` is not supported in a file; remove the line",
        "a.in:12: this is neither a requirement nor an option of a requirements file",
        "a.in:13: no file follows `--requirement`",
        "a.in:14: `--requirement` of a URL is not supported; download the file and name it",
    ]
    write("rest.in", "".join(Path("a.in").read_text().splitlines(keepends=True)[14:]))
    assert message("rest.in") == [
        "rest.in:1: . is a directory, not a requirements file",
        "rest.in:2: pyproject.toml: a TOML file is not a requirements file (a pyproject.toml is named on the "
        "command line)",
        "rest.in:3: ./local: a local path is not supported yet; "
        "name a release on the index instead, NAME==VERSION",
        "rest.in:4: `--what` is not supported on a requirement; remove it",
        "rest.in:5: a comment must not end in a backslash; remove it",
    ]


def test_files_that_cannot_be_read() -> None:
    assert message("missing.in") == ["there is no file missing.in"]
    assert message("a\0b") == ["a\\x00b cannot be read: embedded null byte"]
    assert message(write("big.in", b"#" * (16 * 1024 * 1024 + 1))) == [
        "big.in: larger than 16 MB, which is no requirements file"
    ]
    if hasattr(os, "geteuid") and os.geteuid() != 0:
        Path(write("secret.in", "a")).chmod(0)
        assert message("secret.in") == ["secret.in cannot be read: Permission denied"]


def test_endless_nesting_is_cut() -> None:
    for i in range(60):
        write(f"{i}.in", f"-r {i + 1}.in\n")
    assert message("0.in") == ["49.in:1: 50.in is nested too deeply; remove this line"]


def test_bad_lines_of_a_file_that_reads_well() -> None:
    path = write("requirements.in", "# service\nclick==8.1.7\nidna==3.10\nrequests>=2.32.*\npytz==2011k\n")
    with pytest.raises(InputError) as caught:
        parse_requirements(read_requirements(path).lines)
    assert caught.value.message.splitlines() == [
        "requirements.in:4: requests>=2.32.*: only `==` and `!=` take a wildcard; write `requests>=2.32`",
        "requirements.in:5: pytz==2011k: `2011k` is not a version (PEP 440)",
    ]


_WORDS = "a|numpy==1|-r|-c|-e|--hash=sha256:0|--pre|#|\\|${X}|${HOME}|fuzz.in|;|os_name=='nt'|[x]|-i|-"
_fragments = st.sampled_from(
    [*_WORDS.split("|"), " ", "\n", "\r\n", "\r", "\t", "\0", "\u2028", "\x0c", "\ufeff"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(),
        st.text().map(lambda text: text.encode("utf-16", "replace")),
        st.lists(_fragments, max_size=20).map(lambda parts: "".join(parts).encode()),
    )
)
def test_arbitrary_bytes_are_read_or_refused(data: bytes) -> None:
    path = write("fuzz.in", data)
    try:
        found = read_requirements(path)
        parse_requirements(found.lines)
    except InputError as error:
        said = error.message
        assert said
        assert said.replace("\n", "").isprintable()
    else:
        assert all(origin.startswith("fuzz.in:") for _, origin in found.lines + found.constraints)
