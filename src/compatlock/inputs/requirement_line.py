"""Requirement lines (PEP 508) into `Requirement` values, without importing `packaging` when memoised."""

from __future__ import annotations

from compatlock.model.json_text import loads
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.requirement import Requirement, requirement_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

_PREFIX = "requirement:"


class Constraints(NamedTuple):
    """Bounds that pull nothing in, and remarks on what was left out of them."""

    requirements: tuple[Requirement, ...]
    notes: tuple[str, ...] = ()


def parse_requirement(text: str, origin: str) -> Requirement:
    """Return the requirement that `text` states; `origin` says where it was written.

    Raises InputError, naming `origin` and what is wrong, when `text` is not valid by PEP 508 or asks
    for what is not supported (a URL, a path, an editable, `===`).
    """
    return parse_requirements(((text, origin),))[0]


def parse_requirements(
    lines: Sequence[tuple[str, str]], memo: MutableMapping[str, str] | None = None
) -> tuple[Requirement, ...]:
    """Return the requirements of `lines`, pairs of text and origin, in their order.

    `memo` remembers parsed lines as text, from run to run: what it holds needs no `packaging`, whose
    import takes longer than everything else here. An entry that is damaged counts as missing.

    Raises one InputError for all lines that cannot be used, a line of the message each.
    """
    result: list[Requirement] = []
    problems: list[str] = []
    for text, origin in lines:
        known = memo.get(_PREFIX + text) if memo is not None else None
        requirement = _decode(known, origin) if known is not None else None
        if requirement is None:
            from compatlock.inputs.problems import problem_of

            problem = problem_of(text)
            if problem:
                problems.append(f"{origin}: {problem}" if origin else problem)
                continue
            requirement = _parse(text.strip(), origin)
            if memo is not None:
                memo[_PREFIX + text] = _encode(requirement)
        result.append(requirement)
    if problems:
        from compatlock.inputs.problems import input_error

        raise input_error(problems)
    return tuple(result)


def parse_constraints(
    lines: Sequence[tuple[str, str]], memo: MutableMapping[str, str] | None = None
) -> Constraints:
    """Return the constraints of `lines`, without their extras: a constraint adds no package.

    pip refuses such lines, uv ignores the extras; here they are ignored with a note, as the versions
    are what people mean who use a lock as constraints. Raises InputError as `parse_requirements`.
    """
    requirements: list[Requirement] = []
    notes: list[str] = []
    for requirement in parse_requirements(lines, memo):
        if requirement.extras:
            extras = ",".join(requirement.extras)
            notes.append(
                f"{requirement.origin}: the extras of {requirement.name}[{extras}] are ignored: "
                "a constraint adds no package"
            )
        requirements.append(requirement._replace(extras=()))
    return Constraints(tuple(requirements), tuple(notes))


def _parse(text: str, origin: str) -> Requirement:
    """Return the requirement of `text`, which is known to be valid and supported."""
    from packaging.requirements import Requirement as Parsed

    return requirement_of(Parsed(text), origin)


def _encode(requirement: Requirement) -> str:
    import json

    return json.dumps([requirement.name, requirement.specifier, requirement.extras, requirement.marker])


def _decode(entry: str, origin: str) -> Requirement | None:
    """Return the requirement of a memo's entry, or None when the entry is damaged."""
    try:
        name, specifier, extras, marker = loads(entry)
        texts = [name, specifier, marker, *extras]
    except (ValueError, TypeError, RecursionError):
        return None
    if not all(isinstance(text, str) for text in texts) or not isinstance(extras, list):
        return None
    return Requirement(name, specifier, tuple(extras), marker, origin=origin)
