"""Messages about cores, in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compatlock.api.why.words import describe_core, no_solution
from compatlock.index.view import Hidden
from compatlock.model.core import CONSTRAINT, EDGE, EXTRA, FACT, PROBLEM, ROOT, URL, Core, CoreEdge, Gap
from compatlock.model.target import Target
from compatlock.solver.cores import Cores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TARGET = Target("3.12.0", "x86_64-manylinux_2_28")


def message(
    core: Core, hidden: Mapping[str, Sequence[Hidden]] | None = None, *, target: Target = TARGET
) -> str:
    """What is shown: the sentences, then the hints."""
    error = no_solution(Cores((core,), complete=True), target, lambda name: (hidden or {}).get(name, ()))
    assert error.core is core
    assert error.message == describe_core(core, target, lambda name: (hidden or {}).get(name, ()))
    return "\n".join([error.message, *(f"hint: {hint}" for hint in error.hints)])


def root(on: str, specifier: str = "", *extras: str, line: int = 1) -> CoreEdge:
    return CoreEdge(
        ROOT, on=on, specifier=specifier, extras=extras, origin=f"requirements.in:{line}" if line else ""
    )


def edge(
    package: str, releases: str, on: str, specifier: str = "", *extras: str, extra: str = ""
) -> CoreEdge:
    return CoreEdge(EDGE, package, extra, on, specifier, extras, "", tuple(releases.split(", ")))


def test_who_needs_what_from_the_roots_down() -> None:
    core = Core(
        (
            root("trinity-rft", "==0.6.0", "vllm"),
            edge("trinity-rft", "0.6.0", "transformers", ">=5.12.1"),
            edge("trinity-rft", "0.6.0", "verl", ">=0.7.1"),
            edge("trinity-rft", "0.6.0", "vllm", "<=0.23.0,>=0.19.1", extra="vllm"),
            edge("verl", "0.7.1 to 0.8.0", "numpy", "<2.0.0"),
            edge("verl", "0.9.0, 0.9.1", "transformers", "!=5.6.0,<5.11,>=5.5.3"),
            edge("vllm", "0.19.1 to 0.23.0", "opencv-python-headless", ">=4.13.0"),
            edge("opencv-python-headless", "4.13.0.90 to 5.0.0.93", "numpy", ">=2"),
        )
    )
    assert (
        message(core)
        == """\
`trinity-rft[vllm]==0.6.0` cannot be satisfied for CPython 3.12.0 on x86_64-manylinux_2_28:
  requirements.in:1 asks for trinity-rft[vllm]==0.6.0
  trinity-rft 0.6.0 needs transformers>=5.12.1
  trinity-rft 0.6.0 needs verl>=0.7.1
  trinity-rft[vllm] 0.6.0 needs vllm>=0.19.1,<=0.23.0
  verl 0.7.1 to 0.8.0 need numpy<2.0.0
  verl 0.9.0 and 0.9.1 need transformers>=5.5.3,!=5.6.0,<5.11
  vllm 0.19.1 to 0.23.0 need opencv-python-headless>=4.13.0
  opencv-python-headless 4.13.0.90 to 5.0.0.93 need numpy>=2
hint: loosen `trinity-rft[vllm]==0.6.0` (requirements.in:1)"""
    )


def test_several_lines_of_several_origins() -> None:
    core = Core(
        (
            root("a", ">=1"),
            root("b", line=0),
            CoreEdge(CONSTRAINT, on="c", specifier="<2", origin="constraints.txt:7"),
            edge("a", "1.0, 1.2 to 1.5, 2.0", "c", ">=2", "fast", "small"),
            edge("b", "1, 2, 3, 4, 5, 6, 7, 8", "c", "==1.5"),
        )
    )
    assert (
        message(core)
        == """\
`a>=1` and `b` cannot be satisfied together for CPython 3.12.0 on x86_64-manylinux_2_28:
  requirements.in:1 asks for a>=1
  you ask for b
  constraints.txt:7 allows only c<2
  a 1.0, 1.2 to 1.5 and 2.0 need c[fast,small]>=2
  b 1, 2, 3, 2 more, 6, 7 and 8 need c==1.5
hint: loosen `a>=1` (requirements.in:1) or `c<2` (constraints.txt:7)"""
    )


def test_many_bounds_on_the_same_package_are_one_line() -> None:
    bounds = [edge("tool", f"{n}.0", "lib", f"<{n},>=0.{n}") for n in range(10, 0, -1)]
    core = Core(
        (root("tool"), root("lib", ">=10", line=2), *(e._replace(among=("1.0 to 10.0",)) for e in bounds))
    )
    assert (
        message(core)
        == """\
`tool` and `lib>=10` cannot be satisfied together for CPython 3.12.0 on x86_64-manylinux_2_28:
  requirements.in:1 asks for tool
  requirements.in:2 asks for lib>=10
  tool 1.0 to 10.0 need lib within, depending on the release, `>=0.1,<1`, `>=0.2,<2`, `>=0.3,<3`, \
`>=0.4,<4`, 2 more, `>=0.7,<7`, `>=0.8,<8`, `>=0.9,<9` or `>=0.10,<10`
hint: loosen `lib>=10` (requirements.in:2)"""
    )


def test_facts_problems_and_direct_references() -> None:
    core = Core(
        (
            root("a"),
            CoreEdge(PROBLEM, "a", releases=("3.0",), detail="invalid dependency `b>=>1`: Expected end"),
            CoreEdge(URL, "a", "", "b", releases=("2.0",), detail="https://user:secret@index.example/b.whl"),
            edge("a", "1.0", "c"),
            CoreEdge(FACT, "a", "", "c", origin="a-c", detail="a 1.0 writes over c's files"),
        )
    )
    assert (
        message(core)
        == """\
`a` cannot be satisfied for CPython 3.12.0 on x86_64-manylinux_2_28:
  requirements.in:1 asks for a
  a 3.0 cannot be used: invalid dependency `b>=>1`: Expected end
  a 2.0 needs b from https://****@index.example/b.whl, which no index can serve
  a 1.0 needs c
  a 1.0 writes over c's files (known fact `a-c`)"""
    )


def test_an_extra_that_releases_lack() -> None:
    core = Core(
        (
            root("vllm", ">=0.30", "audi"),
            CoreEdge(
                EXTRA, on="vllm", extras=("audi",), releases=("0.30.0 to 0.33.0",), offers=("audio", "grpc")
            ),
        )
    )
    assert (
        message(core)
        == """\
`vllm[audi]>=0.30` cannot be satisfied for CPython 3.12.0 on x86_64-manylinux_2_28:
  requirements.in:1 asks for vllm[audi]>=0.30
  vllm 0.30.0 to 0.33.0 have no extra `audi`; 0.33.0 has audio and grpc
hint: did you mean `vllm[audio]`?
hint: loosen `vllm[audi]>=0.30` (requirements.in:1)"""
    )


def test_a_release_without_any_extra() -> None:
    core = Core((root("a", "", "x"), CoreEdge(EXTRA, on="a", extras=("x",), releases=("1.0",))))
    assert message(core).splitlines()[2:] == ["  a 1.0 has no extra `x`; 1.0 has none at all"]


def test_of_very_many_extras_only_some_are_named() -> None:
    names = tuple(f"cu{number}" for number in range(100, 300))
    core = Core(
        (root("a", "", "cu13"), CoreEdge(EXTRA, on="a", extras=("cu13",), releases=("1.0",), offers=names))
    )
    first, second = message(core).splitlines()[2:]
    assert first.startswith("  a 1.0 has no extra `cu13`; 1.0 has cu100, cu101, ")
    assert first.endswith(", cu118 and 181 more")
    assert second.startswith("hint: did you mean `a[cu")


def test_no_such_project() -> None:
    core = Core((root("a"), edge("a", "1", "missing")), (Gap("missing", found=False),))
    assert (
        message(core)
        == """\
`a` cannot be satisfied for CPython 3.12.0 on x86_64-manylinux_2_28:
  requirements.in:1 asks for a
  a 1 needs missing
  the index has no project `missing`
hint: check the spelling of `missing`, or name the index that has it with `--default-index`"""
    )


def unmet(specifier: str, newest: str = "1.0") -> Core:
    return Core((root("a", specifier),), (Gap("a", True, newest, (specifier,)),))


def test_no_such_version() -> None:
    assert (
        message(unmet(">=99,!=100"), {"a": [Hidden("0.9", "tags")]})
        == """\
`a>=99,!=100` cannot be satisfied for CPython 3.12.0 on x86_64-manylinux_2_28:
  requirements.in:1 asks for a>=99,!=100
  no release of a is >=99,!=100; the newest is 1.0
hint: loosen `a>=99,!=100` (requirements.in:1)"""
    )


PLATFORM = "x86_64-manylinux_2_34"
REASONS = {
    "tags": (
        [Hidden("2.1", "tags", PLATFORM), Hidden("2.0", "tags", PLATFORM), Hidden("0.1", "tags", PLATFORM)],
        "a 2.0 and 2.1 have no wheel for x86_64-manylinux_2_28; wheels fit from x86_64-manylinux_2_34 on",
        ["`--python-platform x86_64-manylinux_2_34` admits a 2.1, if the machine is that new"],
    ),
    "tags of another system": (
        [Hidden("2.0", "tags", "only for Windows x86_64")],
        "a 2.0 has no wheel for x86_64-manylinux_2_28; its wheels are only for Windows x86_64",
        [],
    ),
    "tags, nothing more known": (
        [Hidden("2.0", "tags")],
        "a 2.0 has no wheel for x86_64-manylinux_2_28",
        [],
    ),
    "native": (
        [Hidden("2.0", "native", PLATFORM)],
        "a 2.0 has no wheel for x86_64-manylinux_2_28 and would have to be built from source; "
        "wheels fit from x86_64-manylinux_2_34 on",
        [
            "`--python-platform x86_64-manylinux_2_34` admits a 2.0, if the machine is that new",
            "`--allow-builds a` admits 2.0, which then has to be built from source",
        ],
    ),
    "python": (
        [Hidden("2.2", "python", ">=3.14"), Hidden("2.1", "python", ">=3.13")],
        "a 2.2 needs Python >=3.14, the target has 3.12.0\n"
        "  a 2.1 needs Python >=3.13, the target has 3.12.0",
        ["`--python-version 3.13` admits a 2.1"],
    ),
    "python, below": (
        [Hidden(f"2.{n}", "python", "<3.12") for n in (2, 1, 0)],
        "a 2.0 to 2.2 (3 releases) need Python <3.12, the target has 3.12.0",
        ["`--python-version 3.11` admits a 2.2"],
    ),
    "python, by the patch release alone": (
        [Hidden("2.0", "python", ">=3.9,!=3.12.0")],
        "a 2.0 needs Python >=3.9,!=3.12.0, the target has 3.12.0 (its minor version fits: 3.12.1 would do)",
        ["`--python-version 3.12.1` admits a 2.0"],
    ),
    "date": (
        [Hidden("2.1", "date", "2026-12-04"), Hidden("2.0", "date", "2026-12-02")],
        "a 2.0 and 2.1 were uploaded too late for `--exclude-newer`, from 2026-12-02 on",
        ["`--exclude-newer 2026-12-02` or later admits a 2.0"],
    ),
    "date, not known when": (
        [Hidden("2.0", "undated")],
        "`--exclude-newer` hides a 2.0: the index does not say when it was uploaded",
        [],
    ),
    "no-binary": (
        [Hidden("2.0", "no-binary")],
        "a 2.0 has no source distribution, and `--no-binary` rules out wheels",
        ["leave a out of `--no-binary`"],
    ),
    "only-binary": (
        [Hidden("2.0", "only-binary")],
        "a 2.0 has no wheel that fits, and `--only-binary` rules out source distributions",
        ["leave a out of `--only-binary`"],
    ),
    "pre-release": (
        [Hidden("2.0rc1", "pre-release")],
        "`--prerelease disallow` rules out a 2.0rc1",
        [],
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_why_releases_are_hidden(name: str) -> None:
    hidden, why, hints = REASONS[name]
    specifier = ">=2.0rc1" if name == "pre-release" else ">=2"
    lines = [
        f"`a{specifier}` cannot be satisfied for CPython 3.12.0 on x86_64-manylinux_2_28:",
        f"  requirements.in:1 asks for a{specifier}",
        f"  no usable release of a is {specifier}; the newest usable one is 1.0, "
        f"the newest of all {hidden[0].version}",
        f"  {why}",
        *(f"hint: {hint}" for hint in hints),
        f"hint: loosen `a{specifier}` (requirements.in:1)",
    ]
    assert message(unmet(specifier), {"a": hidden}) == "\n".join(lines)


def test_a_project_of_which_nothing_can_be_used() -> None:
    hidden = [Hidden(f"{n}.0", "tags", f"only for cp3{n}") for n in range(9, 3, -1)]
    core = Core((root("a"),), (Gap("a"),))
    assert (
        message(core, {"a": hidden})
        == """\
`a` cannot be satisfied for CPython 3.12.0 on x86_64-manylinux_2_28:
  requirements.in:1 asks for a
  no release of a can be used for CPython 3.12.0 on x86_64-manylinux_2_28
  a 9.0 has no wheel for x86_64-manylinux_2_28; its wheels are only for cp39
  a 8.0 has no wheel for x86_64-manylinux_2_28; its wheels are only for cp38
  a 7.0 has no wheel for x86_64-manylinux_2_28; its wheels are only for cp37
  3 older releases are hidden for similar reasons"""
    )


def test_yanked_and_pre_releases_that_would_fit() -> None:
    core = Core(
        (root("a", "<2,>=1.5"), root("b", ">1", line=2)),
        (
            Gap("a", True, "1.0", (), (("1.5", "yanked"),)),
            Gap("b", True, "1", (), (("2rc1", "pre-release"),)),
        ),
    )
    hidden = {"a": [Hidden("1.5", "yanked", "broken\nsetup")]}
    assert (
        message(core, hidden)
        == """\
`a>=1.5,<2` and `b>1` cannot be satisfied together for CPython 3.12.0 on x86_64-manylinux_2_28:
  requirements.in:1 asks for a>=1.5,<2
  requirements.in:2 asks for b>1
  a 1.5 is left out: it was yanked (broken setup), and only an exact pin admits it
  b 2rc1 is left out: it is a pre-release and nothing asks for one
hint: the requirement `a==1.5` admits the yanked release
hint: the requirement `b>=2rc1`, or `--prerelease allow`, admits the pre-release
hint: loosen `a>=1.5,<2` (requirements.in:1) or `b>1` (requirements.in:2)"""
    )


def test_many_gated_releases_are_told_in_short() -> None:
    yanked = [(f"2.{n}", "yanked") for n in range(5, 0, -1)]
    gated = (*yanked, ("1.9rc2", "pre-release"), ("1.9rc1", "pre-release"))
    hidden = {"a": [Hidden("2.5", "yanked", "no"), Hidden("1.0", "python", "<3.10")]}
    core = Core(
        (root("a", ">1"), edge("a", "1.1 to 1.8", "b")),
        (Gap("b", found=False), Gap("a", True, "1.8", (), gated)),
    )
    assert message(core, hidden).splitlines()[4:-1] == [
        "  2 pre-releases of a up to 1.9rc2 are left out: nothing asks for one",
        "  a 2.5 is left out: it was yanked (no), and only an exact pin admits it",
        "  a 2.4 is left out: it was yanked, and only an exact pin admits it",
        "  a 2.3 is left out: it was yanked, and only an exact pin admits it",
        "  2 older yanked releases of a are left out too",
        "hint: check the spelling of `b`, or name the index that has it with `--default-index`",
        "hint: the requirement `a>=1.9rc2`, or `--prerelease allow`, admits the pre-release",
        "hint: the requirement `a==2.5` admits the yanked release",
    ]


def test_newer_releases_that_another_target_would_admit() -> None:
    core = Core((root("a"), root("b", ">=2", line=2), edge("a", "1.0 to 1.5", "b", "<2")))
    hidden = {
        "a": [
            Hidden("1.7", "date", "2026-12-01"),
            Hidden("1.6", "tags", PLATFORM),
            Hidden("1.4", "tags", PLATFORM),
        ],
        "b": [Hidden("1.9", "tags"), Hidden("3.0", "tags")],
    }
    assert (
        message(core, hidden)
        == """\
`a` and `b>=2` cannot be satisfied together for CPython 3.12.0 on x86_64-manylinux_2_28:
  requirements.in:1 asks for a
  requirements.in:2 asks for b>=2
  a 1.0 to 1.5 need b<2
  a 1.6 has no wheel for x86_64-manylinux_2_28; wheels fit from x86_64-manylinux_2_34 on
hint: `--python-platform x86_64-manylinux_2_34` admits a 1.6, if the machine is that new
hint: loosen `b>=2` (requirements.in:2)"""
    )


def test_what_an_index_says_cannot_break_the_lines() -> None:
    core = Core((root("a"), CoreEdge(PROBLEM, "a", releases=("1",), detail="\x1b[31mred\n\nline")))
    assert message(core).splitlines()[2:] == [r"  a 1 cannot be used: \x1b[31mred line"]
