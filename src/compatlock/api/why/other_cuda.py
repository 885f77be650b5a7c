"""Targets that run a newer CUDA, as ways out: a newer driver costs nobody a waiver."""

from __future__ import annotations

from compatlock.model.cuda import MAJORS, branch_for, oldest_driver
from compatlock.model.way_out import TARGET, WayOut
from compatlock.solver.ways_out import Change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from compatlock.model.request import Request
    from compatlock.solver.ways_out import Solved


def newer_cuda(request: Request) -> Iterator[Change]:
    """The request for targets that run a newer CUDA, the nearest first; none when the target runs any. An
    index offers them the same files."""
    target = request.target
    for major in reversed(MAJORS):
        if int(major) <= int(target.cuda_majors[0]):
            continue
        other = target._replace(
            driver=branch_for(major) if target.driver else "", cuda=major if target.cuda else ""
        )
        options = (("--driver", other.driver), ("--cuda", other.cuda))
        accept = " ".join(f"{option} {value}" for option, value in options if value)
        note = f"CUDA {major} needs driver {oldest_driver(major)} or newer"
        yield Change(WayOut(TARGET, accept, note=note), request._replace(target=other))


def with_waivers(change: Change, solved: Solved) -> Solved:
    """The answer to a changed target that takes waivers besides, as one way out."""
    accept = f"{change.way.accept} {solved.way.accept}"
    return solved._replace(way=solved.way._replace(kind=TARGET, accept=accept, note=change.way.note))
