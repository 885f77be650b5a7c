"""pylock.toml: the text as people see it, what the standard's own code makes of it, and the way back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.pylock import Pylock, PylockSelectError
from packaging.tags import Tag, compatible_tags, cpython_tags
from tests.support.index_server import IndexServer

from compatlock.errors import InputError, LockInvalid
from compatlock.index.simple import parse_listing
from compatlock.index.tags import platform_tags
from compatlock.lockfile.origins import without_line_numbers
from compatlock.lockfile.pylock import read_pylock, read_pylock_pins, render_pylock
from compatlock.model.display import without_credentials
from compatlock.model.lock import Lock, LockedEdge, LockedFile, OlderPin, Pin, SoftFactReport, TierValue
from compatlock.model.target import Target
from compatlock.model.toml import parse_toml

FILES = "https://index.example/files/"
TARGET = Target("3.12", "x86_64-manylinux_2_34").resolved()


def a_file(filename: str, sha256: str = "aa", time: int | None = 1767225600) -> LockedFile:
    return LockedFile(filename, sha256, 5, time, FILES + filename)


LOCK = Lock(
    pins=(
        Pin("cuda-python", "13.4.4", (a_file("cuda_python-13.4.4-py3-none-any.whl"),), newest="13.4.4"),
        Pin(
            "trl",
            "1.16.0",
            (
                a_file("trl-1.16.0-py3-none-any.whl", "dd", None),
                a_file("trl-1.16.0.tar.gz"),
                a_file("trl-1.16.0.zip"),
                a_file("trl-1.16.0-1-py2-none-any.whl", ""),
            ),
            extras=("all",),
            is_root=True,
            newest="1.16.0",
            index_url="https://me:secret@mirror.example/simple/",
        ),
        Pin(
            "vllm",
            "0.33.0",
            (a_file("vllm-0.33.0-cp38-abi3-manylinux_2_31_x86_64.whl", "ee"),),
            is_root=True,
            newest="0.33.1",
            lag_days=1,
            lag_releases=1,
            held_by=("torch -> sympy<1.14",),
            notes=("yanked: broken\nmetadata", "pre-release"),
        ),
    ),
    edges=(
        LockedEdge("", "trl", ">=1.0", origin="profile async-grpo"),
        LockedEdge("", "trl", extras=("all",), origin="requirements.in:1"),
        LockedEdge("", "vllm", "<2", origin="-c sub\\limits.txt:4"),
        LockedEdge("trl", "trl", extra="all"),
        LockedEdge("trl", "vllm", "<0.32", extra="vllm", waived=True),
        LockedEdge("vllm", "cuda-python"),
    ),
    roots=("trl", "vllm"),
    waivers=("trl[vllm] -> vllm",),
    broken_soft_facts=(SoftFactReport("trl-vllm-range", "TRL supports vLLM up to 0.31.0", 60),),
    objective=(TierValue("worst root lag", 1, "days"), TierValue("packages", 3, "packages", proved=False)),
    command="compatlock lock requirements.in --default-index https://me:secret@index.example/simple",
    target=str(TARGET),
    index_state="as of 2026-11-30T14:00:00Z",
    notes=("left out, its marker is false: uvloop",),
)

DATA = Path(__file__).parent / "data"
TEXT = (DATA / "own.pylock.toml").read_text(encoding="utf-8")
UV_TEXT = (DATA / "uv.pylock.toml").read_text(encoding="utf-8")


def test_text() -> None:
    assert render_pylock(LOCK, tool_version="0.1.0") == TEXT


def test_no_packages() -> None:
    text = render_pylock(Lock((), ()), tool_version="0.1.0", path="my locks/pylock.a b.toml")
    assert text == (
        "# Locked by compatlock 0.1.0\n"
        "# Made by the command in [tool.compatlock]; to change a pin, change its input and lock again.\n"
        "# Install:\n"
        "#   uv pip install -r 'my locks/pylock.a b.toml'\n"
        "#   pip install -r 'my locks/pylock.a b.toml'\n"
        "\n"
        'lock-version = "1.0"\n'
        'created-by = "compatlock"\n'
        "packages = []\n"
        "\n"
        "[tool.compatlock]\n"
        "form = 1\n"
        'strategy = "optimal"\n'
    )
    assert read_pylock(text) == Lock((), ())


def test_order_of_lines_and_of_the_lock_does_not_count() -> None:
    moved = tuple(edge._replace(origin=edge.origin.replace(":1", ":7")) for edge in LOCK.edges)
    other = LOCK._replace(edges=(*moved[::-1], LOCK.edges[1]), pins=LOCK.pins[::-1])
    assert render_pylock(other, tool_version="0.1.0") == TEXT


def test_no_credentials() -> None:
    files = (a_file("a-1.tar.gz")._replace(url="https://me:secret@index.example/a-1.tar.gz?key=secret"),)
    lock = LOCK._replace(
        pins=(Pin("a", "1", files, notes=("see https://me:secret@index.example/",)),),
        notes=("-r https://me:secret@index.example/",),
    )
    assert "secret" not in render_pylock(lock, tool_version="0.1.0")


# What the standard's own code makes of it


def tags_of(target: Target) -> list[Tag]:
    python = target.python_minor
    interpreter = f"cp{python[0]}{python[1]}"
    platforms = platform_tags(target.parsed_platform)
    return [
        *cpython_tags(python, abis=[interpreter], platforms=platforms),
        *compatible_tags(python, interpreter, platforms),
    ]


def selected(text: str, target: Target) -> dict[str, str]:
    """`{name==version: file}` that an installer takes in the target environment."""
    lock = Pylock.from_dict(parse_toml(text, "pylock.toml"))
    environment: Any = target.marker_environment
    return {
        f"{package.name}=={package.version}": file.filename  # type: ignore[union-attr]
        for package, file in lock.select(environment=environment, tags=tags_of(target))
    }


@pytest.mark.parametrize(
    ("platform", "tag"),
    [
        ("x86_64-manylinux_2_34", "manylinux_2_28_x86_64"),
        ("aarch64-unknown-linux-musl", "musllinux_1_1_aarch64"),
        ("macos", "macosx_11_0_arm64"),
        ("windows", "win_amd64"),
    ],
)
@pytest.mark.parametrize("python", ["3.10", "3.12.4", "3.14"])
def test_installers_select_exactly_the_pins(python: str, platform: str, tag: str) -> None:
    target = Target(python, platform).resolved()
    lock = Lock(
        pins=(
            Pin(
                "native",
                "1.0",
                (
                    a_file(f"native-1.0-2-cp38-abi3-{tag}.whl"),
                    a_file(f"native-1.0-1-cp38-abi3-{tag}.whl"),
                    a_file("native-1.0-py3-none-any.whl"),
                    a_file("native-1.0.tar.gz"),
                ),
            ),
            Pin("old", "2.0.post1", (a_file("old-2.0.post1.zip"),)),
            Pin("pure", "3.0", (a_file("pure-3.0-py3-none-any.whl"), a_file("pure-3.0.tar.gz"))),
        ),
        edges=(),
        target=str(target),
    )
    assert selected(render_pylock(lock, tool_version="0.1.0"), target) == {
        "native==1.0": f"native-1.0-2-cp38-abi3-{tag}.whl",
        "old==2.0.post1": "old-2.0.post1.zip",
        "pure==3.0": "pure-3.0-py3-none-any.whl",
    }


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        (Target("3.13", "linux"), "does not satisfy any of the environments"),
        (Target("3.12.9", "macos"), "does not satisfy any of the environments"),
        (Target("3.12.9", "aarch64-manylinux_2_34"), "does not satisfy any of the environments"),
        (Target("3.11.9", "linux"), "does not satisfy the Python version requirement"),
    ],
)
def test_installers_refuse_another_environment(target: Target, problem: str) -> None:
    with pytest.raises(PylockSelectError, match=problem):
        selected(render_pylock(LOCK, tool_version="0.1.0"), target.resolved())


def test_installers_accept_a_later_patch_release() -> None:
    later = Target("3.12.9", "x86_64-manylinux_2_39").resolved()
    assert list(selected(TEXT, later)) == ["cuda-python==13.4.4", "trl==1.16.0", "vllm==0.33.0"]


def test_uv_accepts_it(tmp_path: Path) -> None:
    uv = pytest.importorskip("uv")
    with IndexServer() as server:
        server.add("app", "1.0", requires=["lib"], upload_time="2026-01-01T00:00:00Z")
        server.add("lib", "2.0", tags=("py3-none-any", "cp39-none-win32"), sdist=True)
        pins = []
        for name, version in (("app", "1.0"), ("lib", "2.0")):
            entries = (
                parse_listing(name, server.listing(name) or b"", f"{server.url}{name}/").releases[0].files
            )
            files = tuple(LockedFile(f.filename, f.sha256, f.size, f.upload_time, f.url) for f in entries)
            pins.append(Pin(name, version, files[::-1]))
        lock = Lock(tuple(pins), (LockedEdge("app", "lib"),), target=str(Target().resolved()))
        path = tmp_path / "pylock.toml"
        path.write_text(render_pylock(lock, tool_version="0.1.0"), encoding="utf-8")
        command = [uv.find_uv_bin(), "pip", "install", "--no-cache", "--no-config", "--no-python-downloads"]
        command += ["--target", str(tmp_path / "there"), "--python", sys.executable, "--no-index"]
        done = subprocess.run([*command, "-r", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "there" / "app.py").exists()
    assert (tmp_path / "there" / "lib.py").exists()


# The way back


def test_reads_back_what_it_wrote() -> None:
    back = read_pylock(render_pylock(LOCK, tool_version="0.1.0"))
    trl = LOCK.pins[1]
    assert back == without_line_numbers(LOCK)._replace(
        pins=(LOCK.pins[0], trl._replace(index_url="https://mirror.example/simple/"), LOCK.pins[2]),
        command="compatlock lock requirements.in --default-index https://****@index.example/simple",
    )


_plain = st.text().filter(lambda text: without_credentials(text) == text)
_texts = st.lists(_plain, max_size=2).map(tuple)
_names = st.sampled_from(["a", "b-c", "d0", "e"])
_numbers = st.integers(0, 2**40)
_hashes = st.sampled_from(["00", "ff"])
_times = st.none() | st.integers(0, 2**33)


@st.composite
def _some_files(draw: st.DrawFn, name: str, version: str) -> tuple[LockedFile, ...]:
    stem = f"{name.replace('-', '_')}-{version}"

    def some(filename: str, sha256: str) -> LockedFile:
        return LockedFile(filename, sha256, draw(_numbers), draw(_times), FILES + filename)

    tags = draw(st.lists(st.sampled_from(["py3-none-any", "cp312-abi3-win32", "py2-none-any"]), unique=True))
    files = [some(f"{stem}-{tag}.whl", draw(_hashes)) for tag in tags]
    if not files or draw(st.booleans()):
        files.append(some(f"{stem}.tar.gz", draw(_hashes)))
    if draw(st.booleans()):
        files.append(some(f"{stem}-1-py3-none-any.whl", ""))
    return tuple(files)


@st.composite
def _locks(draw: st.DrawFn) -> Lock:
    names = sorted(draw(st.sets(_names)))
    roots = tuple(sorted(draw(st.sets(st.sampled_from(names))))) if names else ()
    pins = []
    for name in names:
        version = draw(st.sampled_from(["1.0", "2!3.0rc1", "4.0.post1+cu128"]))
        pins.append(
            Pin(
                name,
                version,
                draw(_some_files(name, version)),
                draw(_texts),
                name in roots,
                draw(_plain),
                draw(_numbers),
                draw(_numbers),
                draw(_texts),
                draw(_texts),
                draw(st.sampled_from(["", "https://index.example/simple/"])),
            )
        )
    edge = st.builds(LockedEdge, _names | st.just(""), _names, _plain, _plain, _texts, _plain, st.booleans())
    tier = st.builds(TierValue, _plain, _numbers, _plain, st.booleans())
    return without_line_numbers(
        Lock(
            tuple(pins),
            tuple(draw(st.lists(edge, max_size=4))),
            roots,
            draw(_texts),
            tuple(draw(st.lists(st.builds(SoftFactReport, _plain, _plain, _numbers), max_size=2))),
            tuple(draw(st.lists(tier, max_size=2))),
            draw(_plain),
            draw(_plain | st.just(str(TARGET))),
            draw(_plain),
            draw(st.sampled_from(["optimal", "greedy"])),
            draw(_texts),
        )
    )


@given(_locks())
@settings(max_examples=150, deadline=None)
def test_any_lock_reads_back(lock: Lock) -> None:
    text = render_pylock(lock, tool_version="0.1.0")
    back = read_pylock(text)
    assert without_line_numbers(back) == without_line_numbers(lock)
    assert read_pylock_pins(text) == lock.older_pins
    assert render_pylock(back, tool_version="0.1.0") == text


def test_reads_a_file_of_another_tool() -> None:
    assert read_pylock(UV_TEXT) == Lock(
        pins=(
            Pin(
                "app",
                "1.0",
                (
                    LockedFile(
                        "app-1.0-py3-none-any.whl", "", 0, None, FILES + "app-1.0%2Bcpu-py3-none-any.whl"
                    ),
                    LockedFile("app-1.0.tar.gz", "f3", 251, 1767225600, FILES + "app-1.0.tar.gz"),
                ),
                newest="1.0",
                index_url="https://index.example/simple",
            ),
            Pin("lib", "2.0", (LockedFile("lib-2.0-py3-none-any.whl", "a5"),), newest="2.0"),
        ),
        edges=(LockedEdge("app", "lib"),),
        strategy="",
    )
    assert read_pylock_pins(UV_TEXT) == (OlderPin("app", "1.0"), OlderPin("lib", "2.0"))


def test_pins_of_a_lock_for_several_targets() -> None:
    text = (
        '[[packages]]\nname = "A_b"\nversion = "1"\nmarker = "x"\n'
        '[[packages]]\nname = "a-b"\nversion = "2"\n'
        '[[packages]]\nname = "c"\nversion = "3"\n'
        '[[packages]]\nname = "unversioned"\n'
        '[[packages]]\nversion = "4"\n'
    )
    pins = (OlderPin("a-b", "1", "x"), OlderPin("a-b", "2"), OlderPin("c", "3"))
    assert read_pylock_pins(text) == pins
    assert read_pylock_pins('created-by = "compatlock"\n' + text) == pins
    assert read_pylock_pins("packages = 1") == ()
    assert read_pylock_pins("packages = [1]") == ()


# What is wrong, in words


def test_what_the_standard_demands_is_missing() -> None:
    lock = Lock(
        pins=(
            Pin("bare", "1"),
            Pin("fine", "1", (a_file("fine-1-py3-none-any.whl"), a_file("fine-1.tar.gz", ""))),
            Pin("no-hash", "1", (a_file("no_hash-1-py3-none-any.whl", ""), a_file("no_hash-1.tar.gz"))),
            Pin("no-url", "1", (LockedFile("no_url-1.tar.gz", "aa"),)),
            Pin("old", "1", (a_file("old-1.tar.bz2"),)),
            Pin("other", "1", (a_file("another-1.tar.gz"),)),
        ),
        edges=(),
    )
    with pytest.raises(InputError) as caught:
        render_pylock(lock, tool_version="0.1.0")
    assert caught.value.message.splitlines() == [
        "a pylock.toml (PEP 751) needs the URL and the hash of every file that is to be installed:",
        "  bare 1: the lock has no files of it",
        "  no-hash 1: the index gives no hash for no_hash-1-py3-none-any.whl",
        "  no-url 1: the lock does not know the URL of no_url-1.tar.gz",
        "  old 1: the standard takes no file name such as old-1.tar.bz2",
        "  other 1: the standard takes no file name such as another-1.tar.gz",
    ]
    assert caught.value.hints == ("write a requirements.lock instead (`-o requirements.lock`)",)


def test_a_lock_that_compatlock_did_not_make() -> None:
    lock = Lock((Pin("Odd_Name", "1", (a_file("Odd_Name-1.tar.gz"),)),), ())
    with pytest.raises(InputError, match="the standard takes no file name such as Odd_Name-1"):
        render_pylock(lock, tool_version="0.1.0")
    lock = Lock((Pin("a", "1", (a_file("a-1.tar.gz")._replace(url="?x"),)),), ())
    with pytest.raises(LockInvalid, match="the lock cannot be written as pylock") as caught:
        render_pylock(lock, tool_version="0.1.0")
    assert caught.value.violations == ("path or url must be provided in 'packages[0].sdist'",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a = 1\n[packages\n",
            "pylock.toml:2: not valid TOML: Expected ']' at the end of a table declaration",
        ),
        ("", "pylock.toml is no valid pylock.toml (PEP 751): Missing required value in 'lock-version'"),
        (
            TEXT.replace('lock-version = "1.0"', 'lock-version = "2.0"'),
            "pylock.toml is no valid pylock.toml (PEP 751): pylock version 2.0 is not supported",
        ),
        (
            UV_TEXT + UV_TEXT[UV_TEXT.rindex("\n[[") :],
            "pylock.toml: lib is there twice, and no marker says which holds when",
        ),
        (
            UV_TEXT + '[[packages]]\nname = "x"\ndirectory = { path = "." }\n',
            "pylock.toml: x is not a version from an index; lock again",
        ),
        (
            TEXT.replace("form = 1", "form = 2"),
            "pylock.toml: its tool.compatlock has the form 2, not 1: lock again",
        ),
        (
            UV_TEXT + "[tool]\ncompatlock = 1\n",
            "pylock.toml, tool.compatlock: an object is expected",
        ),
        (
            TEXT.replace("lag-days = 1", "lag-days = true"),
            "pylock.toml, tool.compatlock of vllm: `lag-days` is expected to be a whole number",
        ),
        (
            TEXT.replace('{ on = "cuda-python" }', "{ on = 1 }"),
            "pylock.toml, tool.compatlock of vllm, needs[0]: `on` is expected to be text",
        ),
    ],
)
def test_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_pylock(text)
    assert caught.value.message == message


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_damaged_text_is_read_or_refused(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(TEXT)))
    end = data.draw(st.integers(start, min(len(TEXT), start + 40)))
    text = TEXT[:start] + data.draw(st.sampled_from(["", "1", '"', "[", "\n", "x = 1\n"])) + TEXT[end:]
    for read in (read_pylock, read_pylock_pins):
        try:
            read(text)
        except InputError as error:
            assert error.message  # noqa: PT017 - most damage is refused
