"""Which releases are candidates under random policies, compared with the rules written down plainly."""

from __future__ import annotations

import random
from itertools import product
from typing import NamedTuple

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compatlock.index.store import Store
from compatlock.index.supply import Supply
from compatlock.index.view import Viewer
from compatlock.model.listing import File, Listing, Release
from compatlock.model.policy import ALL, PRERELEASE_MODES, Policy
from compatlock.model.target import Target

TARGET = Target("3.12", "linux").resolved()
VERSIONS = ("3.0", "3.0rc1", "2.0", "2.0b1", "1.0")
FITS = "py3-none-any"
NATIVE = "cp312-cp312-win_amd64"


def files(source: random.Random, version: str) -> tuple[File, ...]:
    kinds = source.choice(
        [(FITS,), (FITS, "sdist"), ("sdist",), (NATIVE, "sdist"), (NATIVE,), (NATIVE, FITS)]
    )
    yanked = source.random() < 0.4
    found = []
    for kind in kinds:
        name = f"a-{version}.tar.gz" if kind == "sdist" else f"a-{version}-{kind}.whl"
        time = source.choice((None, 1, 2, 3, 4))
        reason = "bad" if yanked and source.random() < 0.8 else None
        found.append(File(name, f"https://index.example/{name}", "", 1, time, "", reason))
    return tuple(found)


def listing(source: random.Random) -> Listing:
    releases = tuple(Release(version, files(source, version)) for version in VERSIONS)
    return Listing("a", releases, digest="d")


def policy(source: random.Random) -> Policy:
    def named() -> tuple[str, ...]:
        return source.choice([(), (), (), ("a",), ("b",), (ALL,)])

    return Policy(
        source.choice((None, 2, 3)),
        source.choice(PRERELEASE_MODES),
        no_binary=named(),
        only_binary=source.choice([(), (), ("b",), ("a",)]),
        exclude_newer_for=source.choice([(), (("a", None),), (("a", 1),), (("b", 1),)]),
        prerelease_for=source.choice([(), (("a", "allow"),), (("a", "disallow"),), (("b", "allow"),)]),
        allow_yanked=named(),
        no_yanked=source.random() < 0.4,
        builds=source.choice([(), ("a",), ("b",)]),
    )


class Told(NamedTuple):
    """What the policy says of `a`, in the words of docs/policies.md."""

    cut: int | None
    mode: str
    yanked: str
    wheels: bool
    sdists: bool
    native: bool


def told(policy: Policy) -> Told:
    own_cut, own_mode = dict(policy.exclude_newer_for), dict(policy.prerelease_for)
    allowed = "a" in policy.allow_yanked or ALL in policy.allow_yanked
    no_wheels = "a" in policy.no_binary or (ALL in policy.no_binary and "a" not in policy.only_binary)
    no_sdists = "a" in policy.only_binary
    return Told(
        own_cut.get("a", policy.exclude_newer),
        own_mode.get("a", policy.prerelease),
        "any" if allowed else "none" if policy.no_yanked else "pin",
        not no_wheels,
        not no_sdists,
        "a" in policy.builds,
    )


def expected(listing: Listing, rules: Told) -> dict[str, str]:
    """The candidates, each with what has to ask for it: `""`, `pre-release` or `yanked`."""
    usable: dict[str, tuple[list[File], str]] = {}
    for release in listing.releases:
        there = [
            f
            for f in release.files
            if rules.cut is None or (f.upload_time is not None and f.upload_time <= rules.cut)
        ]
        is_pre = Version(release.version).is_prerelease
        if is_pre and rules.mode == "disallow":
            continue
        whole = [f for f in there if f.yanked is None or rules.yanked == "any"]
        gate = "pre-release" if is_pre and rules.mode != "allow" else ""
        for some, admitted_by in ((whole, gate), (there if rules.yanked == "pin" else [], "yanked")):
            fitting = [
                f for f in some if (FITS in f.filename and rules.wheels) or (not f.is_wheel and rules.sdists)
            ]
            if fitting:
                usable[release.version] = (some, admitted_by)
                break
    by_wheel = {
        v for v, (some, _) in usable.items() if rules.wheels and any(FITS in f.filename for f in some)
    }
    return {
        version: gate
        for version, (some, gate) in usable.items()
        if version in by_wheel
        or rules.native
        or not by_wheel
        or not rules.wheels
        or not any(NATIVE in f.filename for f in some)
    }


@pytest.mark.parametrize("seed", range(250))
def test_candidates_and_gates(seed: int) -> None:
    source = random.Random(seed)
    listed, under = listing(source), policy(source)
    view = Viewer(TARGET, under).view(listed)
    assert {c.version: c.gate for c in view.candidates} == expected(listed, told(under)), under
    # Each release is either a candidate or hidden with a reason.
    shown = {c.version for c in view.candidates} | {h.version for h in view.hidden}
    assert shown == set(VERSIONS)
    assert len(view.candidates) + len(view.hidden) == len(VERSIONS)


@pytest.mark.parametrize("seed", range(40))
def test_what_the_search_sees(seed: int) -> None:
    """A package as it is handed to the solver, made afresh and from what is stored, and which candidates
    specifiers admit."""
    source = random.Random(1000 + seed)
    listed, under = listing(source), policy(source)
    rules = told(under)
    candidates = expected(listed, rules)
    store = Store(None)
    store.put_listing("memory", listed, "", 0)
    store.flush()
    for _ in range(2):
        package = Supply(store, "memory", TARGET, under, None).package("a")
        store.flush()
        gates = {package.versions[i]: gate for i, gate in package.gates.items()}
        assert {v: gates.get(v, "") for v in package.versions} == candidates
        for specifier in ("", ">=2", "==3.0rc1", ">=3.0rc1", "==2.0", "<2", ">2,<3"):
            admitted = {package.versions[i] for i in package.admitted_gates(specifier)}
            assert admitted == admitted_by(specifier, candidates, rules.mode), (specifier, candidates, rules)


def admitted_by(specifier: str, candidates: dict[str, str], mode: str) -> set[str]:
    """The gated candidates that a specifier admits (version specifiers, PEP 592)."""
    bounds = SpecifierSet(specifier)
    within = [v for v in candidates if bounds.contains(v, prereleases=True)]
    names_one = any(Version(bound.version).is_prerelease for bound in bounds)
    is_pin = [bound.operator for bound in bounds] == ["=="]
    only_gated = all(candidates[v] for v in within)
    by_mode = {
        "if-necessary-or-explicit": names_one or only_gated, "if-necessary": only_gated,
        "explicit": names_one, "allow": False, "disallow": False,
    }[mode]  # fmt: skip
    return {
        v
        for v in within
        if (candidates[v] == "yanked" and is_pin) or (candidates[v] == "pre-release" and by_mode)
    }


def test_keys_differ_where_rules_do() -> None:
    """One key for each set of rules, and one set of rules for each key."""
    policies = [policy(random.Random(seed)) for seed in range(300)]
    rules = {under.rules(name) for under, name in product(policies, ("a", "b", "c"))}
    assert len({each.key for each in rules}) == len(rules)
    for under in policies:
        assert under.rules("c") == under.rules()
        assert under.named <= {"a", "b"}
    assert Policy().key == Policy().rules().key
    assert Policy(allow_yanked=("a",)).key != Policy(allow_yanked=("b",)).key
