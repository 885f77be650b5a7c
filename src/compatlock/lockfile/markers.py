"""Environment markers (PEP 508) that tell the targets of one lock apart."""

from __future__ import annotations

from compatlock.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from compatlock.model.target import Target

    Place = tuple[str, str]  # (sys_platform, platform_machine)
    Minor = tuple[int, int]


def refuse_indistinct(targets: Sequence[Target]) -> None:
    """Raise InputError when markers cannot tell two targets apart: they differ in nothing but the patch
    release of Python, the glibc or the like."""
    seen: dict[tuple[Place, Minor], Target] = {}
    for target in targets:
        first = seen.setdefault((_place(target), target.python_minor), target)
        if first != target:
            raise InputError(
                f"no marker tells {first} from {target}, so they cannot be in one lock",
                hints=["leave one of them out, or make two locks"],
            )


def marker_of(wanted: Collection[Target], targets: Sequence[Target]) -> str:
    """Return a marker that holds in the environments of `wanted`, and in those of no other of `targets`; `""`
    when that is all of them. The shorter of what can be said plainly is said: markers of disjoint sets are
    disjoint, and those of sets that are all targets together hold in each of their environments."""
    if set(wanted) == set(targets):
        return ""
    places = list(dict.fromkeys(_place(target) for target in targets))
    minors = sorted({target.python_minor for target in targets})
    by_minors: dict[tuple[Minor, ...], list[Place]] = {}
    for place in places:
        found = tuple(sorted(t.python_minor for t in wanted if _place(t) == place))
        there = {t.python_minor for t in targets if _place(t) == place}
        if found:
            # Where a platform is wanted whole, its Pythons need not be said.
            by_minors.setdefault(tuple(minors) if set(found) == there else found, []).append(place)
    parts = []
    for some, at in by_minors.items():
        terms = [t for t in (_place_terms(at, places), _python_terms(some, minors)) if t]
        parts.append(" and ".join(map(_either, terms)) if len(terms) > 1 else _or(terms[0]))
    return _or(sorted(parts))


def _place(target: Target) -> Place:
    values = target.marker_environment
    return values["sys_platform"], values["platform_machine"]


def _place_terms(some: Sequence[Place], places: Sequence[Place]) -> list[str]:
    """Alternatives that hold on some of the platforms and on no other; none when that is all of them."""
    if set(some) == set(places):
        return []
    systems = list(dict.fromkeys(system for system, _ in places))
    wanted = {system: {m for s, m in some if s == system} for system in systems}
    there = {system: {m for s, m in places if s == system} for system in systems}
    if all(wanted[system] in (set(), there[system]) for system in systems):
        return _choice("sys_platform", [s for s in systems if wanted[s]], systems)
    machines = {machine for found in there.values() for machine in found}
    chosen = {machine for found in wanted.values() for machine in found}
    if all(wanted[system] == there[system] & chosen for system in systems):
        return _choice("platform_machine", sorted(chosen), sorted(machines))
    terms = []
    for system in systems:
        if wanted[system] == there[system]:
            terms.append(f'sys_platform == "{system}"')
        else:
            terms += (
                f'sys_platform == "{system}" and platform_machine == "{m}"' for m in sorted(wanted[system])
            )
    return terms


def _choice(name: str, some: Sequence[str], values: Sequence[str]) -> list[str]:
    others = [value for value in values if value not in some]
    if len(others) == 1 and len(some) > 1:
        return [f'{name} != "{others[0]}"']
    return [f'{name} == "{value}"' for value in some]


def _python_terms(some: Sequence[Minor], minors: Sequence[Minor]) -> list[str]:
    """Alternatives that hold for some of the Pythons and for no other; none when that is all of them."""
    if set(some) == set(minors):
        return []
    runs: list[list[int]] = []
    for position in sorted(minors.index(minor) for minor in some):
        if runs and runs[-1][-1] == position - 1:
            runs[-1].append(position)
        else:
            runs.append([position])
    return [_run(run[0], run[-1], minors) for run in runs]


def _run(first: int, last: int, minors: Sequence[Minor]) -> str:
    if first == last and 0 < first < len(minors) - 1:
        return f'python_version == "{_text(minors[first])}"'
    terms = []
    if first > 0:
        terms.append(f'python_version >= "{_text(minors[first])}"')
    if last < len(minors) - 1:
        terms.append(f'python_version < "{_text(minors[last + 1])}"')
    return " and ".join(terms)


def _text(minor: Minor) -> str:
    return f"{minor[0]}.{minor[1]}"


def _either(terms: Sequence[str]) -> str:
    """The alternatives as one term of a conjunction."""
    return f"({_or(terms)})" if len(terms) > 1 else "".join(terms)


def _or(parts: Iterable[str]) -> str:
    return " or ".join(parts)
