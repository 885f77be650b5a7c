"""Several targets in one lock, in every format."""

from __future__ import annotations

from packaging.pylock import Pylock
from packaging.requirements import Requirement

from compatlock.lockfile.formats import FORMATS, render_as
from compatlock.lockfile.lock_json import from_json, to_json
from compatlock.lockfile.merge import merged
from compatlock.lockfile.origins import without_line_numbers
from compatlock.lockfile.pylock_read import read_pylock
from compatlock.lockfile.requirements_lock import read_pins
from compatlock.model.lock import Lock, LockedEdge, LockedFile, Pin
from compatlock.model.target import Target, targets_in_words
from compatlock.model.toml import parse_toml

LINUX, MAC = (Target("3.12", platform).resolved() for platform in ("linux", "macos"))


def pin(name: str, version: str, tag: str = "py3-none-any", lag: int = 0) -> Pin:
    filename = f"{name}-{version}-{tag}.whl"
    file = LockedFile(filename, f"{len(tag):02x}" * 32, 9, 7, f"https://index.example/files/{filename}")
    return Pin(name, version, (file,), newest="9", lag_days=lag, lag_releases=lag)


def lock(target: Target, *pins: Pin) -> Lock:
    edges = tuple(LockedEdge("", p.name, "", origin="r.in:1") for p in pins)
    needs = tuple(LockedEdge("torch", p.name, f"=={p.version}") for p in pins if p.name == "triton")
    return Lock(pins, tuple(sorted((*edges, *needs))), target=str(target), index_state="as of 2026-11-01")


BOTH = merged(
    [
        lock(
            LINUX,
            pin("numpy", "2.0", "cp312-cp312-manylinux_2_17_x86_64"),
            pin("torch", "2.9"),
            pin("triton", "3.4"),
        ),
        lock(MAC, pin("numpy", "2.0", "cp312-cp312-macosx_14_0_arm64"), pin("torch", "2.8", lag=3)),
    ],
    [LINUX, MAC],
)


def test_markers_stand_only_where_targets_differ() -> None:
    assert [(p.name, p.version, p.marker) for p in BOTH.pins] == [
        ("numpy", "2.0", ""),
        ("torch", "2.8", 'sys_platform == "darwin"'),
        ("torch", "2.9", 'sys_platform == "linux"'),
        ("triton", "3.4", 'sys_platform == "linux"'),
    ]
    assert len(BOTH.pins[0].files) == 2
    assert BOTH.versions == {"numpy": "2.0", "triton": "3.4"}
    assert targets_in_words(BOTH.target) == (LINUX, MAC)


def test_every_format_comes_back() -> None:
    assert from_json(to_json(BOTH)) == BOTH
    assert read_pylock(render_as("pylock", BOTH, "1", "pylock.toml")) == without_line_numbers(BOTH)
    assert read_pins(render_as("requirements", BOTH, "1", "r.lock")) == BOTH.older_pins
    assert len({render_as(form, BOTH, "1", "-") for form in FORMATS}) == len(FORMATS)


def test_an_installer_selects_each_targets_pins() -> None:
    document = Pylock.from_dict(parse_toml(render_as("pylock", BOTH, "1", "pylock.toml"), "pylock.toml"))
    document.validate()
    for target, torch in ((LINUX, "2.9"), (MAC, "2.8")):
        chosen: dict[str, str] = {
            package.name: str(package.version)
            for package in document.packages
            if package.marker is None or package.marker.evaluate({**target.marker_environment, "extra": ""})
        }
        assert chosen["torch"] == torch
        assert ("triton" in chosen) == (target == LINUX)
    assert [str(marker) for marker in document.environments or ()][1].endswith('platform_machine == "arm64"')


def test_pip_reads_the_markers() -> None:
    text = render_as("requirements", BOTH, "1", "requirements.lock")
    lines = [Requirement(line.removesuffix(" \\")) for line in text.splitlines() if line[:1].isalpha()]
    assert [str(line.marker) for line in lines if line.name == "triton"] == ['sys_platform == "linux"']
    assert [str(line.specifier) for line in lines if line.name == "torch"] == ["==2.8", "==2.9"]
