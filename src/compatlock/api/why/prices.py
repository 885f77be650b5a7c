"""What other versions would cost: a request solved again with a package held at another release."""

from __future__ import annotations

from compatlock.api.drive import KeptSearch, drive
from compatlock.api.lag_guard import Limits
from compatlock.api.why.phrases import bound
from compatlock.errors import NoSolution
from compatlock.model.core import QUESTION
from compatlock.model.explanation import Price, Why
from compatlock.model.lock import SoftFactReport
from compatlock.model.names import closest
from compatlock.model.objective import CHANGED_PINS
from compatlock.model.requirement import Requirement
from compatlock.solver.again import search_again
from compatlock.solver.universe import Universe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from compatlock.index.supply import Supply
    from compatlock.model.lock import Lock, LockedEdge, Pin
    from compatlock.model.package import Package
    from compatlock.model.request import Request
    from compatlock.solver.search import Solution

# So many newer releases are priced for one question: the next one and the newest.
_PRICED = 4


class Session:
    """Answers questions about one request, whose lock is known. `kept` is the search that found the lock:
    what an older lock pins is then kept as when it was locked; otherwise (None) it plays no role in what
    costs what. To be closed."""

    def __init__(self, request: Request, supply: Supply, lock: Lock, kept: KeptSearch | None = None) -> None:
        if kept is None:
            # Waivers that the lock spent stay permitted.
            request = request._replace(older={})
            universe = Universe(request.amendments, supply.is_compiled, supply.is_elsewhere)
            kept = KeptSearch(request, universe, supply)
        self._request = request
        self._supply = supply
        self._lock = lock
        self._kept = kept
        self._universe = kept.universe
        soft = sorted(fact for fact in request.facts if fact.is_soft)
        self._facts = {f.id: SoftFactReport(f.id, f.summary, f.broken_days) for f in soft}
        self._now = kept.best()

    def close(self) -> None:
        """Free the solver."""
        self._kept.close()

    def why(self, question: Requirement) -> Why:
        """The answer to one question."""
        package = self._supply.package(question.name)
        pin = next((pin for pin in self._lock.pins if pin.name == question.name), None)
        asked = question.specifier.removeprefix("==")
        why = Why(question.name, asked)
        if pin is not None:
            edges = [edge for edge in self._lock.edges if edge.on == pin.name]
            why = why._replace(
                version=pin.version,
                newest=pin.newest,
                lag_days=pin.lag_days,
                lag_releases=pin.lag_releases,
                needed_by=tuple(dict.fromkeys(map(self._edge, edges))),
                held_by=pin.held_by,
            )
        if not package.size:
            return why._replace(unknown=True, meant=closest(question.name, self._lock.versions))
        if asked:
            return why._replace(newer=(self.price(question.name, asked),))
        if pin is None:
            return why._replace(newest=_newest(package))
        newer = self._newer(package, pin)
        priced = newer if len(newer) <= _PRICED else [*newer[: _PRICED - 1], newer[-1]]
        prices = tuple(self.price(pin.name, version) for version in priced)
        return why._replace(newer=prices, left_out=len(newer) - len(priced))

    def _edge(self, edge: LockedEdge) -> str:
        extras = f"[{','.join(edge.extras)}]" if edge.extras else ""
        what = f"{edge.on}{extras}{bound(edge.specifier)}"
        if not edge.package:
            return f"{edge.origin or 'the input'} asks for {what}"
        extra = f"[{edge.extra}]" if edge.extra else ""
        return f"{edge.package}{extra} {self._lock.versions[edge.package]} needs {what}"

    def _newer(self, package: Package, pin: Pin) -> list[str]:
        """Versions of newer releases, newest first."""
        index = package.index_of(pin.version) or 0
        return [package.versions[i] for i in range(index) if i not in package.gates]

    def price(self, name: str, version: str, *, ways_out: bool = True) -> Price:
        """What a version of a package would cost; `ways_out` False looks for none when it is impossible."""
        package = self._supply.package(name)
        meant = [i for low, high in package.runs(f"=={version}") for i in range(low, high)]
        # As the index writes it, 2.0 for 2, unless builds of it are to choose from.
        version = package.versions[meant[0]] if len(meant) == 1 else version
        if version == self._lock.versions.get(name):
            return Price(version)
        line = Requirement(name, f"=={version}", origin=QUESTION)
        # As a constraint it counts for nothing in the objective; whoever asks about a package that is no
        # part of the answer means that it shall be.
        if name in self._lock.versions:
            request = self._request._replace(constraints=(*self._request.constraints, line))
            solution = self._kept.bounded([line])
        else:
            request = self._request._replace(roots=tuple(sorted((*self._request.roots, line))))
            solution = drive(search_again(self._universe, request), self._universe, self._supply)
        if solution is None and not ways_out:
            return Price(version, error=NoSolution(f"{name} {version} is impossible"))
        if solution is None:
            from compatlock.api.why.contradiction import contradiction

            return Price(
                version, error=contradiction(request, self._universe, self._supply, Limits(), all_cores=False)
            )
        return self._compare(name, version, solution)

    def _compare(self, name: str, version: str, then: Solution) -> Price:
        now = self._lock.versions
        chosen = {n: self._universe.packages[n].versions[i] for n, i in then.chosen.items()}
        changed = [n for n in {**now, **chosen} if now.get(n) != chosen.get(n) and n != name]
        roots = {root.name for root in self._request.roots}
        shown = tuple((n, now.get(n, ""), chosen.get(n, "")) for n in sorted(changed) if n in roots)
        kept = self._now.broken if self._now is not None else ()
        breaks = tuple(report for i, report in self._facts.items() if i in then.broken and i not in kept)
        return Price(version, shown, len(changed) - len(shown), next(self._worse(then), ()), breaks=breaks)

    def _worse(self, then: Solution) -> Iterator[tuple[str, int, int]]:
        """Tiers that get worse. Lags of roots are counted anew: a line about a root moves what is newest."""
        if self._now is None:
            return
        days = self._days(self._now), self._days(then)
        before = {tier.name: tier.value for tier in self._now.tiers}
        for tier in then.tiers:
            if tier.name == CHANGED_PINS:
                continue
            if tier.name == "worst root lag":
                old, new = max(days[0], default=0), max(days[1], default=0)
            elif tier.name == "summed root lag" and tier.unit == "days":
                old, new = sum(days[0]), sum(days[1])
            elif tier.name == "summed root lag":
                continue
            else:
                old, new = before.get(tier.name, 0), tier.value
            if new > old:
                yield f"{tier.name} ({tier.unit})", old, new

    def _days(self, solution: Solution) -> list[int]:
        """How far the roots are behind, and what the broken soft facts count as."""
        newest = self._now.newest if self._now is not None else {}
        packages = self._universe.packages
        chosen = solution.chosen
        roots = (packages[n].lag_days(chosen[n], i) for n, i in newest.items() if n in chosen)
        return [*roots, *(self._facts[i].days for i in solution.broken)]


def _newest(package: Package) -> str:
    newest = package.newest()
    return package.versions[newest] if newest < package.size else ""
