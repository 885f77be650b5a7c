"""The checker finds whatever is wrong with a lock: each case spoils a valid one in one way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compatlock.api.make import make_lock
from compatlock.api.options import LockOptions
from compatlock.api.request import prepare
from compatlock.api.verify import violations
from compatlock.index.lazy_network import LazyNetwork
from compatlock.index.store import Store
from compatlock.index.supply import Supply
from compatlock.model.index import parse_indexes
from compatlock.model.lock import Lock, LockedEdge, LockedFile, Pin
from compatlock.model.target import Target
from compatlock.model.waiver import Waiver
from tests.support.index_server import IndexServer

FACT = """
[[fact]]
id = "hard-one"
package = "lib"
summary = "it is so"
source = "seen"
evidence = [ {{ type = "url", url = "https://index.example/1" }} ]
{fields}
"""

Spoil = Callable[[Lock], Lock]


class Subject:
    """A request with its valid lock."""

    def __init__(self, index: IndexServer, **options: Any) -> None:
        chosen = LockOptions(indexes=parse_indexes(index.url), cache=False, shipped_facts=False, **options)
        chosen = chosen._replace(target=Target("3.12", "linux"))
        self.lock = make_lock(chosen).lock
        self._store = Store(None)
        self._network = LazyNetwork(index.url)
        self.request = prepare(chosen, {}).request
        self.supply = Supply(self._store, index.url, self.request.target, self.request.policy, self._network)

    def __enter__(self) -> Subject:
        assert self.found(self.lock) == []
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._network.close()
        self._store.close()

    def found(self, lock: Lock, **request: Any) -> list[str]:
        return violations(lock, self.request._replace(**request), self.supply)


@pytest.fixture
def world(index: IndexServer) -> IndexServer:
    index.add("app", "1.0", requires=["lib>=2", "tool[x]"])
    index.add("lib", "1.0")
    index.add("lib", "2.0")
    index.add("lib", "2.1", requires_python=">=3.9")
    index.add("lib", "3.0rc1")
    index.add("lib", "4.0", yanked="broken")
    index.add("lib", "5.0", requires_python="<3.9")
    index.add("lib", "0.1", requires=["not a requirement"])
    index.add("lib", "0.2", requires=["tool @ https://index.example/tool.whl"])
    index.add("tool", "1.0", extras={"x": ["extra"], "y": []}, sdist=True)
    index.add("tool", "2.0", extras={"y": []}, sdist=True)
    index.add("extra", "1.0")
    index.add("spare", "1.0")
    return index


@pytest.fixture
def subject(world: IndexServer) -> Iterator[Subject]:
    with Subject(world, requirements=("app", "tool[x]>=1")) as made:
        yield made


@pytest.fixture
def facts_file(tmp_path: Path) -> Callable[..., str]:
    """Writes a file with one fact about `lib`, and returns its path."""

    def write(**fields: str) -> str:
        path = tmp_path / "facts.toml"
        path.write_text(FACT.format(fields="\n".join(f"{key} = {text}" for key, text in fields.items())))
        return str(path)

    return write


def quoted(**fields: str) -> dict[str, str]:
    return {key: f'"{text}"' for key, text in fields.items()}


def pinned(lock: Lock, name: str, **changes: Any) -> Lock:
    pins = tuple(pin._replace(**changes) if pin.name == name else pin for pin in lock.pins)
    return lock._replace(pins=pins)


def without(lock: Lock, name: str) -> Lock:
    return lock._replace(pins=tuple(pin for pin in lock.pins if pin.name != name))


def test_the_valid_lock(subject: Subject) -> None:
    assert subject.lock.versions == {"app": "1.0", "extra": "1.0", "lib": "2.1", "tool": "1.0"}


SPOILS: list[tuple[Spoil, str]] = [
    # Pins
    (lambda lock: pinned(lock, "lib", version="1.0"), "app needs lib>=2, but 1.0 is pinned"),
    (lambda lock: pinned(lock, "lib", version="9.9"), "lib 9.9 is no candidate for CPython 3.12.0"),
    (lambda lock: pinned(lock, "lib", version="5.0"), "lib 5.0 is no candidate for CPython 3.12.0"),
    (lambda lock: pinned(lock, "lib", version="3.0rc1"), "lib 3.0rc1 is pre-release, and no edge admits it"),
    (lambda lock: pinned(lock, "lib", version="4.0"), "lib 4.0 is yanked, and no edge admits it"),
    (lambda lock: pinned(lock, "lib", version="0.1"), "lib 0.1 cannot be used: invalid dependency"),
    (lambda lock: pinned(lock, "lib", version="0.2"), "lib depends on a direct reference: https://"),
    (lambda lock: pinned(lock, "tool", version="2.0"), "tool has no extra `x`, which --requirement asks for"),
    (lambda lock: without(lock, "lib"), "app needs lib>=2, which is not pinned"),
    (lambda lock: without(lock, "extra"), "tool[x] needs extra, which is not pinned"),
    (lambda lock: without(lock, "app"), "the input needs app, which is not pinned"),
    (lambda lock: lock._replace(pins=(*lock.pins, Pin("spare", "1.0"))), "nothing needs spare 1.0"),
    (lambda lock: lock._replace(pins=(*lock.pins, lock.pins[0])), "a package is pinned twice"),
    # Files
    (lambda lock: pinned(lock, "lib", files=()), "lib 2.1 has no file that the target could install"),
    (
        lambda lock: pinned(lock, "tool", files=lock.pins[3].files[:1]),
        "tool 1.0: the index and the lock do not agree about tool-1.0.tar.gz",
    ),
    (
        lambda lock: pinned(lock, "lib", files=(lock.pins[2].files[0]._replace(sha256="0" * 64),)),
        "lib 2.1: the index and the lock do not agree about lib-2.1-py3-none-any.whl",
    ),
    (
        lambda lock: pinned(lock, "lib", files=(*lock.pins[2].files, LockedFile("lib-2.0.tar.gz"))),
        "lib 2.1: the index and the lock do not agree about lib-2.0.tar.gz",
    ),
    # What is recorded beside
    (lambda lock: lock._replace(edges=lock.edges[:-1]), " is left out"),
    (
        lambda lock: lock._replace(edges=(*lock.edges, LockedEdge("lib", "tool"))),
        "lib -> tool is no edge of these releases",
    ),
    (
        lambda lock: lock._replace(edges=tuple(edge._replace(waived=True) for edge in lock.edges)),
        "app -> lib>=2 is left out",
    ),
    (lambda lock: lock._replace(roots=("app",)), "the roots are not those that were asked for"),
    (lambda lock: pinned(lock, "lib", is_root=True), "the roots are not those that were asked for"),
    (lambda lock: pinned(lock, "tool", extras=()), "the extras are not those that are needed"),
    (lambda lock: pinned(lock, "tool", extras=("x", "y")), "the extras are not those that are needed"),
]


@pytest.mark.parametrize(("spoil", "message"), SPOILS, ids=[message[:40] for _, message in SPOILS])
def test_a_spoilt_lock(subject: Subject, spoil: Spoil, message: str) -> None:
    found = subject.found(spoil(subject.lock))
    assert any(message in violation for violation in found), found


def test_a_root_bound_and_a_constraint(world: IndexServer) -> None:
    with Subject(world, requirements=("app", "lib<2.1")) as subject:
        assert subject.lock.versions["lib"] == "2.0"
        found = subject.found(pinned(subject.lock, "lib", version="2.1"))
        assert "the input needs lib<2.1, but 2.1 is pinned" in found
        constraint = subject.request.roots[1]._replace(specifier="<2")
        assert subject.found(subject.lock, constraints=(constraint,)) == ["the constraint lib<2 excludes 2.0"]


def test_a_gate_that_an_edge_admits(world: IndexServer) -> None:
    for root, version in (("lib==4.0", "4.0"), ("lib>=3.0rc1", "3.0rc1")):
        with Subject(world, requirements=(root,)) as subject:
            assert subject.lock.versions == {"lib": version}


def test_a_waived_edge_needs_its_permission(world: IndexServer) -> None:
    with Subject(world, requirements=("app", "lib<2"), waivers=(Waiver("app", "lib"),)) as subject:
        assert subject.lock.versions["lib"] == "1.0"
        assert subject.found(subject.lock, waivers=()) == ["app needs lib>=2, but 1.0 is pinned"]
        assert subject.found(subject.lock, waivers=(Waiver("app", "lib", "x"),))
        assert subject.found(subject.lock, waivers=(Waiver("", "lib"), Waiver("app", "lib"))) == []
        unmarked = tuple(edge._replace(waived=False) for edge in subject.lock.edges)
        assert subject.found(subject.lock._replace(edges=unmarked)) != []


# Facts


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        (quoted(kind="known-bad", versions=">2"), {"lib": "2.0"}),
        (quoted(kind="overlap", versions=">2", on="spare", bound=""), {"lib": "2.0"}),
        (quoted(kind="overlap", versions=">2", on="spare", bound=">=2"), {"lib": "2.1"}),
        (quoted(kind="too-loose", versions=">2", on="spare", bound=">=2"), {"lib": "2.0"}),
        (quoted(kind="too-loose", versions="*", on="absent", bound=">=2"), {"lib": "2.1"}),
        (quoted(kind="undeclared", versions=">2", on="extra", bound=">=1"), {"lib": "2.1", "extra": "1.0"}),
        (
            {**quoted(kind="known-bad", versions=">2"), "when": '{ present = ["spare"] }'},
            {"lib": "2.0"},
        ),
        (
            {**quoted(kind="known-bad", versions=">2"), "when": '{ present = ["absent"] }'},
            {"lib": "2.1"},
        ),
    ],
)
def test_facts_in_force(
    world: IndexServer, facts_file: Callable[..., str], fields: dict[str, str], kept: dict[str, str]
) -> None:
    world.add("absent", "1.0")
    world.add("spare", "2.0", yanked=True)
    plain = Subject(world, requirements=("lib", "spare"))
    assert plain.lock.versions == {"lib": "2.1", "spare": "1.0"}
    with Subject(world, requirements=("lib", "spare"), facts=(facts_file(**fields),)) as subject:
        assert subject.lock.versions == {"spare": "1.0", **kept}
        found = subject.found(plain.lock)
        assert bool(found) == (kept != {"lib": "2.1"})
        if "undeclared" not in fields["kind"]:
            assert all(f == "the fact hard-one is broken: it is so" for f in found)


def test_what_is_needed_without_being_declared_is_an_edge(
    world: IndexServer, facts_file: Callable[..., str]
) -> None:
    path = facts_file(**quoted(kind="undeclared", versions=">2", on="extra", bound=">=1"))
    with Subject(world, requirements=("lib",), facts=(path,)) as subject:
        assert LockedEdge("lib", "extra", ">=1") in subject.lock.edges
        assert "lib needs extra>=1, which is not pinned" in subject.found(without(subject.lock, "extra"))


@pytest.mark.parametrize("soft_facts", [True, False])
@pytest.mark.parametrize("strategy", ["optimal", "greedy"])
@pytest.mark.parametrize(
    "fields",
    [
        quoted(kind="known-bad", versions="*"),
        quoted(kind="too-loose", versions="*", on="spare", bound=">=2"),
        quoted(kind="undeclared", versions="*", on="spare", bound=">=2"),
    ],
)
def test_soft_facts_may_be_broken_but_not_in_silence(
    world: IndexServer,
    facts_file: Callable[..., str],
    soft_facts: bool,
    strategy: str,
    fields: dict[str, str],
) -> None:
    facts = (facts_file(severity='"warning"', **fields),)
    options = {"requirements": ("lib", "spare"), "facts": facts, "soft_facts": soft_facts}
    with Subject(world, strategy=strategy, **options) as subject:
        assert [fact.id for fact in subject.lock.broken_soft_facts] == ["hard-one"] * soft_facts
        found = subject.found(subject.lock._replace(broken_soft_facts=()))
        assert found == ["the fact hard-one is broken: it is so, and it is not reported"] * soft_facts
