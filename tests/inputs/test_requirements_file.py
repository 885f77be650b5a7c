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


def test_hashes_are_left_out_with_a_note() -> None:
    path = write(
        "r.in", "a==1 \\\n    --hash=sha256:00 \\\n    --hash sha256:11\nb==2 ; os_name=='nt' --hash=md5:2"
    )
    assert read_requirements(path) == RequirementsFile(
        lines=(("a==1", "r.in:1"), ("b==2 ; os_name=='nt'", "r.in:4")),
        files=("r.in",),
        notes=("r.in: its --hash options are ignored; the lock has the index's hashes",),
    )


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
        "--index-url https://user:secret@index.example/simple\n"
        "-i https://user:secret@index.example/simple\n"
        "--extra-index-url=https://index.example\n"
        "-f wheels/\n"
        "--no-index\n"
        "--pre\n"
        "-e .\n"
        "--no-binary :all:\n"
        "--only-binary=torch\n"
        "--prefer-binary\n"
        "--require-hashes\n"
        "--trusted-host index.example\n"
        "--what=ever\n"
        "-\n"
        "-r\n"
        "-r https://index.example/r.txt\n"
        "-r .\n"
        "-r pyproject.toml\n"
        "./local\n"
        "torch==2.0 --config-settings=a=b\n"
        "foo # comment \\\n"
        "bar\n",
    )
    index = "give `--default-index URL` on the command line instead"
    assert message("a.in")[:20] == [
        "a.in:1: numpy>=2.*: only `==` and `!=` take a wildcard; write `numpy>=2`",
        "b.in:2: a.in includes itself; remove this line",
        "b.in:3: numpy=1: `=` is no version operator; write `numpy==1`",
        "a.in:3: there is no file missing.txt",
        f"a.in:4: `--index-url` is not supported in a file; {index}",
        f"a.in:5: `--index-url` is not supported in a file; {index}",
        "a.in:6: `--extra-index-url` is not supported in a file; "
        "give `--index URL` on the command line instead",
        f"a.in:7: `--find-links` is not supported in a file; {index}",
        "a.in:8: `--no-index` is not supported in a file; an index is always needed; "
        "`--offline` on the command line uses only what is cached",
        "a.in:9: `--pre` is not supported in a file; give `--prerelease allow` on the command line instead",
        "a.in:10: `--editable` is not supported in a file; list the project's dependencies instead",
        "a.in:11: `--no-binary` is not supported in a file; "
        "give `--no-binary PKG` on the command line instead",
        "a.in:12: `--only-binary` is not supported in a file; "
        "give `--only-binary PKG` on the command line instead",
        "a.in:13: `--prefer-binary` is not supported in a file; remove the line",
        "a.in:14: `--require-hashes` is not supported in a file; the lock always has hashes: remove the line",
        "a.in:15: `--trusted-host` is not supported in a file; remove the line",
        "a.in:16: `--what` is not supported in a file; remove the line",
        "a.in:17: this is neither a requirement nor an option of a requirements file",
        "a.in:18: no file follows `--requirement`",
        "a.in:19: `--requirement` of a URL is not supported; download the file and name it",
    ]
    write("rest.in", "".join(Path("a.in").read_text().splitlines(keepends=True)[19:]))
    assert message("rest.in") == [
        "rest.in:1: . is a directory, not a requirements file",
        "rest.in:2: pyproject.toml: a TOML file is not a requirements file (a pyproject.toml is named on the "
        "command line)",
        "rest.in:3: ./local: a local path is not supported yet; "
        "name a release on the index instead, NAME==VERSION",
        "rest.in:4: `--config-settings` is not supported on a requirement; remove it",
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
