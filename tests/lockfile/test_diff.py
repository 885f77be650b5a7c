from __future__ import annotations

import pytest

from compatlock.lockfile.compare import Change
from compatlock.lockfile.diff import Side, cuda_of, diff_locks, step_of
from compatlock.lockfile.diff_words import diff_json, diff_markdown, diff_text


@pytest.mark.parametrize(
    ("old", "new", "step"),
    [
        ("1.2", "2.0", "major"),
        ("0.22.0", "0.30.0", "major"),
        ("1!1.0", "2!1.0", "major"),
        ("1.2", "1.3", "minor"),
        ("1.2.3", "1.2.4", "patch"),
        ("1.2", "1.2.post1", "patch"),
        ("1.2", "1.2+cu128", "other"),
        ("2.0", "1.9", "downgrade"),
        ("1.0", "1", ""),
        ("2004d", "2005a", "other"),
        ("", "1", "added"),
        ("1", "", "removed"),
    ],
)
def test_how_far_a_change_goes(old: str, new: str, step: str) -> None:
    assert step_of(Change("a", old, new)) == step


@pytest.mark.parametrize(
    ("pins", "cuda"),
    [
        ({"nvidia-cuda-runtime-cu12": "12.8.90"}, "12"),
        ({"cuda-toolkit": "13.0.2", "nvidia-cublas": "13.1.0.3"}, "13"),
        ({"torch": "2.9.1+cu128"}, "12"),
        ({"torch": "2.9.1+cpu"}, ""),
        ({"nvidia-cuda-runtime": "13.0", "nvidia-cublas-cu12": "12.8"}, "12, 13"),
        # Installs its libraries for both, beside each other.
        ({"nvidia-cutlass-dsl-libs-cu12": "4.7", "nvidia-cutlass-dsl-libs-cu13": "4.7"}, ""),
    ],
)
def test_the_cuda_that_pins_bring(pins: dict[str, str], cuda: str) -> None:
    assert cuda_of(pins) == cuda


OLD = Side(
    "old.lock",
    {"torch": "2.10.0", "nvidia-cuda-runtime-cu12": "12.8", "a": "1.0", "gone": "1", "numpy": "2.2"},
    ("verl -> numpy",),
    "CPython 3.11.0 on linux",
    frozenset({"torch"}),
)
NEW = Side(
    "new.lock",
    {"torch": "2.11.0", "nvidia-cuda-runtime": "13.0", "a": "2.0", "numpy": "1.26", "extra_|_name": "1"},
    ("vllm -> transformers",),
    "CPython 3.12.0 on linux",
)


def test_what_matters_comes_first() -> None:
    assert diff_text(diff_locks(OLD, NEW)).splitlines() == [
        "CUDA: 12 -> 13: the target's driver has to run it",
        "target: CPython 3.11.0 on linux -> CPython 3.12.0 on linux",
        "waiver gained: vllm -> transformers: this bound no longer holds",
        "waiver no longer needed: verl -> numpy",
        "Downgrades:",
        "  numpy 2.2 -> 1.26",
        "Major steps:",
        "  a 1.0 -> 2.0",
        "Minor steps:",
        "  torch 2.10.0 -> 2.11.0 (asked for)",
        "Added:",
        "  extra_|_name 1",
        "  nvidia-cuda-runtime 13.0",
        "Removed:",
        "  gone 1",
        "  nvidia-cuda-runtime-cu12 12.8",
        "3 changed, 2 added, 2 removed",
    ]


def test_a_pull_request_gets_tables() -> None:
    text = diff_markdown(diff_locks(OLD, NEW))
    assert text.startswith("**3 changed, 2 added, 2 removed**\n\n- CUDA: 12 -\\> 13")
    assert "| **torch** | 2.10.0 | 2.11.0 |" in text
    assert r"| extra\_\|\_name |  | 1 |" in text
    assert "<details>" not in text
    many = Side("old", {f"p{i}": "1" for i in range(9)})
    folded = diff_markdown(diff_locks(many, Side("new", {})))
    assert "<summary>Removed (9)</summary>" in folded
    assert folded.count("</details>") == 1


def test_json_says_all() -> None:
    value = diff_json(diff_locks(OLD, NEW))
    assert value["version"] == 1
    assert value["same"] is False
    assert {"name": "torch", "old": "2.10.0", "new": "2.11.0", "step": "minor", "root": True} in value[
        "changes"
    ]
    assert value["cuda"] == ["12", "13"]
    assert value["waivers_gained"] == ["vllm -> transformers"]


def test_a_pin_for_fewer_environments() -> None:
    old = Side("old", {"rich": "15.0", "a": "1"}, target="T", markers={"rich": "15.0 (os_name != 'nt')"})
    new = old._replace(markers={"rich": "15.0 (sys_platform == 'linux')", "a": "1 (os_name == 'nt')"})
    diff = diff_locks(old, new)
    assert not diff.is_empty
    assert diff_text(diff).splitlines() == [
        "For other environments:",
        "  a 1 -> 1 (os_name == 'nt')",
        "  rich 15.0 (os_name != 'nt') -> 15.0 (sys_platform == 'linux')",
        "2 changed",
    ]
    assert [change["step"] for change in diff_json(diff)["changes"]] == ["markers", "markers"]
    # For other targets there are other markers, and a changed version is told as such.
    assert diff_locks(old, new._replace(target="U")).steps == ()
    bumped = diff_locks(old, new._replace(pins={"rich": "15.1", "a": "1"}))
    assert [(s.change.name, s.step) for s in bumped.steps] == [("rich", "minor"), ("a", "markers")]


def test_the_same() -> None:
    same = diff_locks(OLD, OLD._replace(name="copy", pins={**OLD.pins, "a": "1"}))
    assert same.is_empty
    assert diff_text(same) == "old.lock and copy pin the same\n"
    assert diff_markdown(same) == "The lock pins the same as before.\n"
    # A freeze output that says no target has not changed it.
    assert diff_locks(OLD, OLD._replace(target="")).is_empty
