"""From what was asked for, and its lock, to the entries of `[tool.uv]` that make uv lock the same."""

from __future__ import annotations

from compatlock.api.request import prepare
from compatlock.api.times import format_time, parse_time
from compatlock.errors import InputError
from compatlock.lockfile.tool_uv import Decreed, UvPart, entries_of, uv_indexes
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.policy import NONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from compatlock.api.locking import Outcome
    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.lockfile.tool_uv import UvEntries
    from compatlock.model.request import Request
    from compatlock.model.target import Target


class Asked(NamedTuple):
    """The targets of a run, each with what is asked of it."""

    targets: tuple[Target, ...]
    requests: tuple[Request, ...]


def asked_of(options: LockOptions) -> Asked:
    """Return what options ask for. Raises InputError as `prepare`."""
    if options.targets or options.universal:
        from compatlock.api.targets import targets_of

        targets = targets_of(options)
        prepared: list[Prepared] = [prepare(options._replace(target=target), {}) for target in targets]
    else:
        prepared = [prepare(options, {})]
    requests = tuple(each.request for each in prepared)
    return Asked(tuple(request.target for request in requests), requests)


def parts_of(asked: Asked, outcome: Outcome) -> tuple[UvPart, ...]:
    """Return the lock of each target with what was asked of it."""
    locks = outcome.parts or (outcome.lock,)
    return tuple(
        UvPart(
            target,
            lock,
            request.amendments,
            request.waivers,
            frozenset((fact.package, fact.on) for fact in request.facts if fact.kind == "undeclared"),
        )
        for target, request, lock in zip(asked.targets, asked.requests, locks, strict=True)
    )


def entries_for(
    options: LockOptions, parts: Sequence[UvPart], outcome: Outcome, exact: Collection[str] = ()
) -> UvEntries:
    """Return the entries for a lock; `exact` as in `tool_uv.entries_of`. Raises InputError for what uv cannot
    be told."""
    return entries_of(outcome.lock, parts, _decreed(options, parts), exact)


def _decreed(options: LockOptions, parts: Sequence[UvPart]) -> Decreed:
    """What the run says beside its files."""
    from compatlock.inputs.edge_text import parse_exclusions, parse_overrides

    exclusions = parse_exclusions(options.exclude_dependencies) if options.exclude_dependencies else ()
    kept = {(edge.package, edge.on) for part in parts for edge in part.lock.edges}
    for each in exclusions:
        if each.extra and (each.package, each.on) in kept:
            raise InputError(
                f"uv can leave out what {each.package} needs of {each.on} for all its extras only",
                hints=[f"give `--exclude-dependency '{each.package} -> {each.on}'`"],
            )
    indexes, sources = uv_indexes(options.indexes)
    return Decreed(
        parse_overrides(options.overrides) if options.overrides else (),
        exclusions,
        indexes,
        sources,
        tuple(_policies(options)),
    )


def _policies(options: LockOptions) -> Iterator[tuple[str, object]]:
    """What decides which releases and files uv may use, as it is called there."""
    if options.exclude_newer and options.exclude_newer != NONE:
        yield "exclude-newer", format_time(parse_time(options.exclude_newer))
    times: dict[str, object] = {}
    for text in options.exclude_newer_package:
        name, _, time = (part.strip() for part in text.partition("="))
        times[name] = False if time == NONE else format_time(parse_time(time))
    if times:
        yield "exclude-newer-package", dict(sorted(times.items()))
    if options.prerelease:
        yield "prerelease", options.prerelease
