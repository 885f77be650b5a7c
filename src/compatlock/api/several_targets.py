"""Locking for several targets at once (design, Semantics 7), with markers where they differ."""

from __future__ import annotations

from compatlock.api.drive import drive, drive_together
from compatlock.api.lag_guard import guard, guarded
from compatlock.api.locking import Outcome, assembled, draft_of, finished, limits_of, no_solution
from compatlock.api.request import prepare
from compatlock.errors import InputError
from compatlock.lockfile.markers import refuse_indistinct
from compatlock.lockfile.merge import merged
from compatlock.model.named_tuple import NamedTuple
from compatlock.solver.joint import joint_request, solution_of
from compatlock.solver.search import search
from compatlock.solver.universe import Universe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from compatlock.api.lag_guard import Limits
    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.errors import NoSolution
    from compatlock.index.supply import Supply
    from compatlock.model.request import Request
    from compatlock.model.target import Target
    from compatlock.solver.solution import Solution


class Part(NamedTuple):
    """One target's part of the problem."""

    prepared: Prepared
    universe: Universe
    supply: Supply

    @property
    def request(self) -> Request:
        """What is asked of this target."""
        return self.prepared.request

    def alone(self, request: Request) -> Solution | None:
        """The answer for this target alone."""
        return drive(search(self.universe, request), self.universe, self.supply)


def lock_targets(options: LockOptions, targets: Sequence[Target], supply: Supply) -> Outcome:
    """Lock what the options ask for, for all `targets` (resolved) together: as few packages as possible
    differ between them.

    Raises what `lock_with` raises; NoSolution when one of the targets has none, for the first of these.
    """
    for word, given in (
        ("--auto-waive", options.auto_waive),
        (f"--strategy {options.strategy}", options.strategy != "optimal"),
        (f"--resolution {options.resolution}", options.resolution != "highest"),
    ):
        if given:
            hints = ["lock for one, or leave it out"]
            raise InputError(f"`{word}` is for one target, not for {len(targets)}", hints=hints)
    refuse_indistinct(targets)
    parts = _without_marked([_part(options, target, supply) for target in targets])
    if any(part.prepared.indexes != parts[0].prepared.indexes for part in parts):
        hints = ["lock for one target at a time, or name the index with `--index-for`"]
        raise InputError("the files take packages from other indexes for other targets", hints=hints)
    limits = limits_of(options)
    solution = _solve(parts, [part.request for part in parts], limits)
    outcomes = [_outcome(options, part, solution_of(solution, k)) for k, part in enumerate(parts)]
    return Outcome(
        merged([outcome.lock for outcome in outcomes], targets),
        solution.counters,
        tuple(dict.fromkeys(news for outcome in outcomes for news in outcome.news)),
        tuple(dict.fromkeys(each for outcome in outcomes for each in outcome.unusable)),
        tuple(outcome.lock for outcome in outcomes),
        outcomes[-1].builds,
    )


def _part(options: LockOptions, target: Target, supply: Supply) -> Part:
    prepared = prepare(options._replace(target=target), supply.memo)
    mine = supply if supply.target == target else supply.under(target=target)
    universe = Universe(prepared.request.amendments, mine.is_compiled, mine.is_elsewhere)
    return Part(prepared, universe, mine)


def _without_marked(parts: Sequence[Part]) -> list[Part]:
    """The parts, of which each tells of a line that was left out only if no target takes it."""
    everywhere = set(parts[0].prepared.left_out).intersection(*(part.prepared.left_out for part in parts))
    left_out = tuple(line for line in parts[0].prepared.left_out if line in everywhere)
    return [part._replace(prepared=part.prepared._replace(left_out=left_out)) for part in parts]


def _outcome(options: LockOptions, part: Part, solution: Solution) -> Outcome:
    seen = part.request, part.universe, part.supply
    return finished(assembled(solution, *seen, draft_of(options, part.prepared)), *seen)


def _solve(parts: Sequence[Part], requests: Sequence[Request], limits: Limits) -> Solution:
    """The answer for all targets; within the lag guard if there is one."""
    solution = _together(parts, requests)
    if solution is None:
        raise _contradiction(parts, requests, limits)
    found = [
        guarded(part.universe, request, solution_of(solution, k), limits)
        for k, (part, request) in enumerate(zip(parts, requests, strict=True))
    ]
    if not any(each.is_too_old for one in found for each in one):
        return solution
    narrowed = [
        guard(part.universe, request, one) for part, request, one in zip(parts, requests, found, strict=True)
    ]
    recent = _together(parts, narrowed)
    if recent is not None:
        return recent
    from compatlock.api.why.contradiction import too_old

    for k, part in enumerate(parts):
        if part.alone(narrowed[k]) is None:
            mine = solution_of(solution, k)
            error = too_old(requests[k], narrowed[k], part.universe, part.supply, mine, found[k], limits)
            if error is not None:
                raise error
    return solution


def _together(parts: Sequence[Part], requests: Sequence[Request]) -> Solution | None:
    universes = [part.universe for part in parts]
    supplies = [part.supply for part in parts]
    return drive_together(
        lambda universe: search(universe, joint_request(requests), several_targets=True), universes, supplies
    )


def _contradiction(parts: Sequence[Part], requests: Sequence[Request], limits: Limits) -> NoSolution:
    """Why the first target that has no answer has none. (Nothing but the objective joins the targets.)"""
    impossible = (k for k, part in enumerate(parts) if part.alone(requests[k]) is None)
    k = next(impossible)
    return no_solution(requests[k], parts[k].universe, parts[k].supply, limits)
