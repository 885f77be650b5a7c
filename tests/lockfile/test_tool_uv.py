"""From locks to the entries that uv needs."""

from __future__ import annotations

from compatlock.lockfile.merge import merged
from compatlock.lockfile.tool_uv import Decreed, UvEntries, UvIndex, UvPart, entries_of, uv_indexes
from compatlock.model.amendments import Amendments
from compatlock.model.index import parse_indexes
from compatlock.model.lock import Lock, LockedEdge, Pin
from compatlock.model.requirement import Requirement
from compatlock.model.target import Target
from compatlock.model.waiver import EdgeOverride, Exclusion, Waiver

CPYTHON = "implementation_name == 'cpython' and platform_python_implementation == 'CPython'"
LINUX = Target("3.12", "linux").resolved()
MAC = Target("3.12", "macos").resolved()


def lock_of(*pins: str, edges: tuple[LockedEdge, ...] = ()) -> Lock:
    named = sorted(tuple(pin.split("==")) for pin in pins)
    return Lock(tuple(Pin(name, version) for name, version in named), edges)


def entries(parts: list[UvPart], decreed: Decreed = Decreed()) -> UvEntries:  # noqa: B008 - a value
    locks = [part.lock for part in parts]
    lock = merged(locks, [part.target for part in parts]) if len(parts) > 1 else locks[0]
    return entries_of(lock, parts, decreed)


def lists(parts: list[UvPart], decreed: Decreed = Decreed()) -> dict[str, list[object]]:  # noqa: B008
    return {key: list(items) for key, items in entries(parts, decreed).lists}


def part(target: Target, lock: Lock, *waivers: Waiver, amendments: Amendments = Amendments()) -> UvPart:  # noqa: B008
    return UvPart(target, lock, amendments, waivers)


def test_one_target() -> None:
    found = entries([part(LINUX, lock_of("b==2", "a==1.0+cu128"))])
    assert found == UvEntries(
        (
            (
                "environments",
                (
                    "python_version == '3.12' and sys_platform == 'linux' and "
                    f"platform_machine == 'x86_64' and {CPYTHON}",
                ),
            ),
            ("constraint-dependencies", ("a==1.0+cu128", "b==2")),
        )
    )
    assert not found.is_scoped


def test_markers_only_where_versions_differ() -> None:
    found = lists([part(LINUX, lock_of("a==1", "b==2", "c==1")), part(MAC, lock_of("a==2", "c==1"))])
    assert found["constraint-dependencies"] == [
        "a==1 ; sys_platform == 'linux'",
        "a==2 ; sys_platform == 'darwin'",
        "b==2",
        "c==1",
    ]


def test_pythons_that_follow_each_other_are_one_environment() -> None:
    pins = {"3.10": "a==1", "3.11": "a==2", "3.12": "a==2", "3.14": "a==2"}
    parts = [part(Target(python, "linux").resolved(), lock_of(pin)) for python, pin in pins.items()]
    where = f"sys_platform == 'linux' and platform_machine == 'x86_64' and {CPYTHON}"
    assert lists(parts)["environments"] == [
        f"python_version == '3.10' and {where}",
        f"python_version >= '3.11' and python_version < '3.13' and {where}",
        f"python_version == '3.14' and {where}",
    ]


def test_waived_bounds_are_overrides_of_their_edges() -> None:
    edges = (
        LockedEdge("", "a"),
        LockedEdge("a", "b", "<2", extras=("x",), waived=True),
        LockedEdge("a", "b", "<3", extra="more", extras=("y",)),
        LockedEdge("a", "c", "<2", waived=True),
        LockedEdge("a", "d", "<2"),
    )
    lock = lock_of("a==1", "b==2", "c==2", "d==1", edges=edges)
    found = entries(
        [part(LINUX, lock, Waiver("a", "c", bound=">=1"), Waiver("a", "b", extra="other", bound=">9"))]
    )
    assert dict(found.lists)["override-dependencies"] == (
        {"package": {"name": "a", "version": "1"}, "dependencies": ["b[x,y]", "c>=1"]},
    )
    assert found.is_scoped


def test_what_the_project_overrides_itself_is_not_written() -> None:
    edges = (LockedEdge("a", "b", "<2", waived=True), LockedEdge("a", "c", "<2", waived=True))
    lock = lock_of("a==1", "b==2", "c==2", edges=edges)
    own = Amendments([Requirement("c", ">=2")], edge_overrides=[EdgeOverride("a", "b", ">=2")])
    assert "override-dependencies" not in lists([part(LINUX, lock, amendments=own)])


def test_an_edge_of_some_targets_has_their_marker() -> None:
    edge = LockedEdge("a", "b", "<2", waived=True)
    linux, mac = lock_of("a==1", "b==2", edges=(edge,)), lock_of("a==1")
    (override,) = lists([part(LINUX, linux), part(MAC, mac)])["override-dependencies"]
    assert override == {
        "package": {"name": "a", "version": "1"},
        "dependencies": ["b ; sys_platform == 'linux'"],
    }
    # Where the other target has another release, the release says it.
    (override,) = lists([part(LINUX, linux), part(MAC, lock_of("a==2"))])["override-dependencies"]
    assert override == {"package": {"name": "a", "version": "1"}, "dependencies": ["b"]}


def test_undeclared_dependencies() -> None:
    lock = lock_of("a==1", "b==2", edges=(LockedEdge("a", "b", ">=2"),))
    told = UvPart(LINUX, lock, Amendments(), (), frozenset({("a", "b")}))
    assert lists([told])["override-dependencies"] == [
        {"package": {"name": "a", "version": "1"}, "dependencies": ["b"]}
    ]


def test_overrides_of_every_bound() -> None:
    edge = LockedEdge("a", "b", "<2", extras=("x",), waived=True)
    own = Amendments([Requirement("b", ">=2")])
    linux = part(LINUX, lock_of("a==1", "b==2", edges=(edge,)), amendments=own)
    decreed = Decreed((Requirement("b", ">=2"), Requirement("absent", ">=1")))
    assert lists([linux], decreed)["override-dependencies"] == ["b[x]>=2"]
    mac = part(MAC, lock_of("a==1"), amendments=own)
    assert lists([linux, mac], decreed)["override-dependencies"] == ["b[x]>=2 ; sys_platform == 'linux'"]
    marked = Decreed((Requirement("b", ">=2", marker="python_version > '3.9'"),))
    assert lists([linux, mac], marked)["override-dependencies"] == [
        "b[x]>=2 ; (python_version > '3.9') and (sys_platform == 'linux')"
    ]


def test_an_edge_to_a_package_with_an_index_of_its_own() -> None:
    edge = LockedEdge("a", "b", "<2", extras=("x",), waived=True)
    lock = lock_of("a==1", "b==2", edges=(edge,))
    assert lists([part(LINUX, lock)], Decreed(sources=(("b", "cu"),)))["override-dependencies"] == ["b[x]"]


def test_exclusions() -> None:
    exclusions = (
        Exclusion("a", "c"),
        Exclusion("a", "b"),
        Exclusion("a", "d", version="1"),
        Exclusion("", "e"),
    )
    found = lists([part(LINUX, lock_of("a==1"))], Decreed(exclusions=exclusions))
    assert found["exclude-dependencies"] == [
        "e",
        {"package": {"name": "a"}, "dependencies": ["b", "c"]},
        {"package": {"name": "a", "version": "1"}, "dependencies": ["d"]},
    ]


def test_indexes_have_names() -> None:
    indexes = parse_indexes(
        "https://u:p@main.example/simple/",
        ["https://further.example/", "cu=https://cu.example/"],
        ["torch,vision=cu", "other=https://other.example/"],
    )
    found, sources = uv_indexes(indexes)
    assert found == (
        UvIndex("compatlock-1", "https://other.example/", explicit=True),
        UvIndex("cu", "https://cu.example/", explicit=True),
        UvIndex("compatlock-2", "https://further.example/"),
        UvIndex("compatlock-3", "https://main.example/simple/", default=True),
    )
    assert sources == (("other", "compatlock-1"), ("torch", "cu"), ("vision", "cu"))
    assert uv_indexes(parse_indexes()) == ((), ())
