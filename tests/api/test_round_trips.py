"""Each format says of pins, markers, waivers, targets, roots and indexes what the lock says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compatlock.api.check.pins import Given, given_of_lock, given_of_text
from compatlock.api.options import LockOptions
from compatlock.lockfile.formats import FORMATS, REQUIREMENTS, read_pins_of, render_as
from compatlock.lockfile.markers import marker_of
from compatlock.model.index import parse_indexes
from compatlock.model.lock import Lock, LockedEdge, LockedFile, Pin
from compatlock.model.target import TARGET_SEPARATOR, Target

PATHS = {"requirements": "requirements.lock", "pylock": "pylock.toml", "json": "lock.json"}
NAMES = ("a", "b-c", "lib2", "torch", "zope-interface", "x1")
TARGETS = (
    Target("3.12", "linux"),
    Target("3.12", "windows"),
    Target("3.11", "linux"),
    Target("3.13", "macos"),
)
FILES = "https://files.example/"
VERSIONS = st.sampled_from(["1.0", "2.1.post1", "3rc1", "1!4.0", "2.9.0+cu128", "0.1.dev3"])
DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)
ORIGINS = st.sampled_from(
    ["requirements.in:3", "--requirement", "sub/my reqs.txt:12", "pyproject.toml:4 (extra x)"]
)


@st.composite
def pins_of(draw: st.DrawFn, name: str, targets: tuple[Target, ...], *, is_root: bool) -> list[Pin]:
    """One pin for all targets, or some with markers of their own."""
    groups: dict[str, list[Target]] = {}
    for target in targets:
        groups.setdefault(draw(VERSIONS), []).append(target)
    if draw(st.booleans()) and len(groups) > 1:
        groups.popitem()  # not all targets need it
    extras = draw(st.sampled_from([(), ("x",), ("x", "y-z")]))
    found = []
    for version, some in groups.items():
        digests = draw(st.lists(DIGESTS, min_size=1, max_size=3, unique=True))
        start = f"{name.replace('-', '_')}-{version}"
        files = tuple(
            LockedFile(f"{start}-{k}-py3-none-any.whl", digest, url=f"{FILES}{start}-{k}-py3-none-any.whl")
            for k, digest in enumerate(digests, 1)
        )
        found.append(Pin(name, version, files, extras, is_root, version, marker=marker_of(some, targets)))
    return found


@st.composite
def locks(draw: st.DrawFn) -> Lock:
    """Locks as they are made: roots have lines of the user's, other packages are needed by packages."""
    targets = tuple(
        target.resolved() for target in draw(st.sampled_from([TARGETS[:1], TARGETS[:2], TARGETS]))
    )
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    roots = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    pins = [pin for n in names for pin in draw(pins_of(n, targets, is_root=n in roots))]
    edges = {LockedEdge("", name, ">=0", origin=draw(ORIGINS)) for name in roots}
    for name in names:
        for package in draw(st.lists(st.sampled_from(names), max_size=2)):
            if package != name:
                extra = draw(st.sampled_from(["", "x"]))
                edges.add(LockedEdge(package, name, ">=9", extra, waived=draw(st.booleans())))
    waived = sorted(edge for edge in edges if edge.waived)
    options = LockOptions(
        requirements=tuple(roots),
        targets=tuple(f"{target.python}@{target.platform}" for target in targets[1:]),
        indexes=draw(
            st.sampled_from(
                [
                    parse_indexes(),
                    parse_indexes("https://user:secret@index.example/simple", ["cpu=https://cpu.example/"]),
                    parse_indexes("", ["https://b.example/"], ["torch,a=https://c.example/x/"]),
                ]
            )
        ),
        profiles=draw(st.sampled_from([(), ("trl-vllm",), ("a file.toml", "./b.toml")])),
        exclude_dependencies=draw(st.sampled_from([(), ("a -> b-c",), ("a[x] -> b-c", "torch -> x1")])),
    )
    return Lock(
        pins=tuple(sorted(pins)),
        edges=tuple(sorted(edges)),
        roots=tuple(sorted(roots)),
        waivers=tuple(f"{edge.package} -> {edge.on} (reason)" for edge in waived),
        command=options.command(),
        target=TARGET_SEPARATOR.join(map(str, targets)),
        index_state=draw(st.sampled_from(["", "as of 2026-11-30T00:00:00Z"])),
        notes=draw(st.sampled_from([(), ("b==1",), ("a note\nwith==2",)])),
    )


def said(given: Given, *, extras: bool) -> dict[str, Any]:
    """What of a reading does not depend on where it was read."""
    pins = {pin._replace(origin="", extras=pin.extras if extras else ()) for pin in given.pins}
    waivers = {(waiver.package, waiver.extra, waiver.on) for waiver in given.waivers}
    return {**given._asdict(), "pins": pins, "waivers": waivers, "notes": ()}


@settings(max_examples=120, deadline=None)
@given(locks())
@pytest.mark.parametrize("fmt", FORMATS)
def test_what_was_locked_comes_back(fmt: str, lock: Lock) -> None:
    path = PATHS[fmt]
    text = render_as(fmt, lock, "1.0", path)
    # pip's format has nothing about the extras that a pin is there with.
    extras = fmt != REQUIREMENTS
    back = given_of_text(fmt, text, path)
    assert said(back, extras=extras) == said(given_of_lock(lock, path), extras=extras)
    assert back.targets
    assert sorted(read_pins_of(path, text)) == sorted(lock.older_pins)
    assert "secret" not in text
