"""requirements.lock: the text as people see it, and that pip and uv take it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement as Parsed

from compatlock.inputs.requirements_text import logical_lines
from compatlock.lockfile.requirements_lock import read_pins, render
from compatlock.model.lock import Lock, LockedEdge, LockedFile, OlderPin, Pin, SoftFactReport, TierValue

LOCK = Lock(
    pins=(
        Pin("cuda-python", "13.4.4", (LockedFile("cuda_python-13.4.4-py3-none-any.whl", "cc"),)),
        Pin(
            "transformers",
            "5.20.2",
            (
                LockedFile("transformers-5.20.2.tar.gz", "bb"),
                LockedFile("transformers-5.20.2-py3-none-any.whl", "aa"),
            ),
            is_root=True,
            newest="5.25.0",
            lag_days=32,
            lag_releases=7,
            held_by=("vllm -> transformers<5.21", "trl[vllm] -> transformers<5.23"),
        ),
        Pin(
            "trl",
            "1.16.0",
            (LockedFile("trl-1.16.0-py3-none-any.whl", "dd"), LockedFile("trl-1.16.0.tar.gz")),
            is_root=True,
            newest="1.16.0",
        ),
        Pin(
            "vllm",
            "0.33.0",
            (LockedFile("vllm-0.33.0-cp38-abi3-manylinux_2_31_x86_64.whl", "ee"),),
            extras=("audio",),
            is_root=True,
            newest="0.33.1",
            lag_days=1,
            lag_releases=1,
            held_by=("torch -> sympy<1.14",),
            notes=("yanked: broken\nmetadata", "pre-release"),
        ),
    ),
    edges=(
        LockedEdge("", "transformers", ">=5.2.0", origin="requirements.in:3"),
        LockedEdge("", "trl", ">=1.0", origin="profile async-grpo"),
        LockedEdge("", "trl", origin="requirements.in:1"),
        LockedEdge("", "trl", "<2", origin="-c sub\\limits.txt:4"),
        LockedEdge("", "trl", origin="requirements.in:9"),
        LockedEdge("", "vllm", extras=("audio",), origin="<stdin>:1"),
        LockedEdge("trl", "transformers", ">=4.56"),
        LockedEdge("trl", "trl", extra="all"),
        LockedEdge("trl", "vllm", "<0.32", extra="vllm", waived=True),
        LockedEdge("vllm", "transformers", "<5", waived=True),
        LockedEdge("vllm", "cuda-python"),
    ),
    waivers=("vllm -> transformers", "trl[vllm] -> vllm"),
    broken_soft_facts=(SoftFactReport("trl-vllm-range", "TRL supports vLLM up to 0.31.0", 60),),
    objective=(
        TierValue("worst root lag", 32, "days"),
        TierValue("packages", 1, "packages", proved=False),
        TierValue("waiver cost", 0, ""),
    ),
    command="compatlock lock requirements.in --default-index https://me:secret@index.example/simple",
    target="CPython 3.12 on x86_64-manylinux_2_34",
    index_state="index.example as of 2026-11-30T14:00:00Z",
    notes=("c.txt:1: the extras are ignored",),
)

TEXT = """\
# Locked by compatlock 0.1.0
# Made by this command; to change a pin, change its input and lock again.
#   command: compatlock lock requirements.in --default-index https://****@index.example/simple
#   target: CPython 3.12 on x86_64-manylinux_2_34
#   index: index.example as of 2026-11-30T14:00:00Z
# Objective, the most important first:
#   worst root lag: 32 days (proved)
#   packages: 1 package (not proved)
#   waiver cost: 0 (proved)
# Soft facts broken:
#   trl-vllm-range: TRL supports vLLM up to 0.31.0 (counts 60 days)
# Waivers spent:
#   trl[vllm] -> vllm
#   vllm -> transformers
# Notes:
#   c.txt:1: the extras are ignored
# Install (--no-deps, because the pins are complete):
#   pip install --no-deps --require-hashes -r requirements.lock
#   uv pip install --no-deps --require-hashes -r requirements.lock

cuda-python==13.4.4 \\
    --hash=sha256:cc
    # via vllm
transformers==5.20.2 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via
    #   -r requirements.in
    #   trl
    #   vllm
    # newest 5.25.0 (7 releases, 32 days ahead) held back by
    #   trl[vllm] -> transformers<5.23
    #   vllm -> transformers<5.21
    # waived: vllm -> transformers<5
trl==1.16.0 \\
    --hash=sha256:dd
    # via
    #   -c sub/limits.txt
    #   -r requirements.in
    #   profile async-grpo
    # note: the index gives no hash for trl-1.16.0.tar.gz, which --require-hashes therefore refuses
vllm==0.33.0 \\
    --hash=sha256:ee
    # via
    #   -r -
    #   trl
    # newest 0.33.1 (1 release, 1 day ahead) held back by torch -> sympy<1.14
    # waived: trl[vllm] -> vllm<0.32
    # note: yanked: broken metadata
    # note: pre-release
"""


def test_text() -> None:
    assert render(LOCK, tool_version="0.1.0") == TEXT


def test_order_and_line_numbers_do_not_matter() -> None:
    moved = LOCK._replace(
        pins=tuple(pin._replace(files=pin.files[::-1]) for pin in reversed(LOCK.pins)),
        edges=tuple(
            edge._replace(origin=edge.origin.replace("in:3", "in:77")) for edge in reversed(LOCK.edges)
        ),
        waivers=LOCK.waivers[::-1],
    )
    assert render(moved, tool_version="0.1.0") == TEXT


def test_packages_without_hashes() -> None:
    bare = Pin("a", "1", (LockedFile("a-1.tar.gz"),))
    hashed = Pin("b", "2", (LockedFile("b-2.tar.gz", "00"),))
    some = render(Lock((bare, hashed), ()), tool_version="1", path="my locks/a.txt")
    assert some.splitlines()[2:] == [
        "# Install (--no-deps, because the pins are complete):",
        "#   uv pip install --no-deps -r 'my locks/a.txt'",
        "#   (pip refuses a file in which only some packages have hashes)",
        "",
        "a==1",
        "    # note: the index gives no hash",
        "b==2 \\",
        "    --hash=sha256:00",
    ]
    none = render(Lock((bare,), ()), tool_version="1", path="a.txt")
    assert none.splitlines()[3:5] == [
        "#   pip install --no-deps -r a.txt",
        "#   uv pip install --no-deps -r a.txt",
    ]


def test_behind_without_a_known_reason() -> None:
    pin = Pin("a", "1", (LockedFile("a-1.tar.gz", "00"),), is_root=True, newest="2", lag_releases=1)
    text = render(Lock((pin, pin._replace(name="b", is_root=False)), ()), tool_version="1")
    assert text.splitlines()[-4:] == [
        "    --hash=sha256:00",
        "    # newest 2 (1 release, 0 days ahead) held back",
        "b==1 \\",
        "    --hash=sha256:00",
    ]


def test_greedy_says_that_nothing_is_proved_and_empty_lock_is_fine() -> None:
    text = render(Lock((), (), strategy="greedy"), tool_version="1")
    assert "#   strategy: greedy (nothing is proved)\n" in text
    assert read_pins(text) == ()


def test_reads_pins_of_other_tools() -> None:
    text = (
        "\ufeff# comment a==1\r\n"
        "-i https://index.example/simple\n"
        "NumPy[x] == 1.26.4 ; python_version < '3.13'  # why\r\n"
        "torch==2.9.0+cu128 \\\n    --hash=sha256:00\n"
        "a===1.0 --hash=sha256:00\n"
        "  indented_name==1!2.0rc1\n"
        "two==1 ; os_name == 'nt'\n"
        "two==2 ; os_name != 'nt'\n"
        "same==1 ; os_name == 'nt'\n"
        "same==1 ; os_name != 'nt'\n"
        "range>=1\n"
        "wild==1.*\n"
        "both==1,<2\n"
        "both==1 , <2\n"
        "url @ https://index.example/url-1.tar.gz\n"
        "-e git+https://index.example/x==1\n"
        "last==3"
    )
    assert read_pins(text) == (
        OlderPin("numpy", "1.26.4", "python_version < '3.13'"),
        OlderPin("torch", "2.9.0+cu128"),
        OlderPin("a", "1.0"),
        OlderPin("indented-name", "1!2.0rc1"),
        OlderPin("two", "1", "os_name == 'nt'"),
        OlderPin("two", "2", "os_name != 'nt'"),
        OlderPin("same", "1", "os_name == 'nt'"),
        OlderPin("same", "1", "os_name != 'nt'"),
        OlderPin("last", "3"),
    )


@given(st.text())
def test_reading_pins_never_fails(text: str) -> None:
    for name, version, _ in read_pins(text):
        assert re.fullmatch(r"[a-z0-9.-]+", name)
        assert version


_texts = st.text(max_size=12) | st.sampled_from(["a\nevil==1", "x\r\u2028evil==1", "\\", "# \\\n"])
_names = st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,3})?", fullmatch=True)
_files = st.builds(LockedFile, _texts, st.sampled_from(["", "aa", "bb", "cc"]))
_pins = st.builds(
    Pin,
    _names,
    st.sampled_from(["1", "1.0.post1", "2.0rc1", "1!3", "1.0+cu128"]),
    st.lists(_files, max_size=3).map(tuple),
    is_root=st.booleans(),
    newest=_texts,
    lag_releases=st.integers(0, 2),
    held_by=st.lists(_texts, max_size=2).map(tuple),
    notes=st.lists(_texts, max_size=2).map(tuple),
    marker=st.sampled_from(["", 'sys_platform == "linux"', 'python_version < "3.12" or os_name != "nt"']),
)
_edges = st.builds(LockedEdge, st.just("") | _names, _names, _texts, origin=_texts, waived=st.booleans())
_locks = st.builds(
    Lock,
    st.lists(_pins, max_size=4, unique_by=lambda pin: pin.name).map(tuple),
    st.lists(_edges, max_size=5).map(tuple),
    waivers=st.lists(_texts, max_size=2).map(tuple),
    command=_texts,
    target=_texts,
    index_state=_texts,
    notes=st.lists(_texts, max_size=2).map(tuple),
)


@given(_locks, _texts)
def test_every_line_is_a_valid_pin_whatever_the_comments_hold(lock: Lock, path: str) -> None:
    text = render(lock, tool_version="1", path=path)
    assert sorted(read_pins(text)) == sorted(lock.older_pins)
    # Strict about line ends as pip is: it splits at every one that Python knows.
    lines = [line.text for line in logical_lines("\n".join(text.splitlines()))]
    parsed = [Parsed(re.sub(r"\s+--hash=sha256:[a-f0-9]+", "", line)) for line in lines]
    assert {one.name: str(one.specifier) for one in parsed} == {
        pin.name: f"=={pin.version}" for pin in lock.pins
    }
    found = [set(re.findall(r"--hash=sha256:(\S+)", line)) for line in lines]
    expected = sorted(lock.pins, key=lambda pin: pin.name)
    assert found == [{file.sha256 for file in pin.files if file.sha256} for pin in expected]
