"""A request that is kept in a running process, to be answered again and again in a few milliseconds."""

from __future__ import annotations

from compatlock.api.drive import drive
from compatlock.api.lag_guard import guarded
from compatlock.api.locking import assembled, draft_of, finished, limits_of, lock_with
from compatlock.api.request import prepare
from compatlock.errors import InputError
from compatlock.index.indexes import IndexSet
from compatlock.index.lazy_network import LazyNetwork
from compatlock.index.store import Store
from compatlock.index.supply import CacheChanged, IndexChanged, Supply
from compatlock.inputs.requirement_line import parse_constraints
from compatlock.solver.held import bounded, hold
from compatlock.solver.universe import Universe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from typing_extensions import Unpack

    from compatlock.api.keywords import Keywords
    from compatlock.api.options import LockOptions
    from compatlock.model.lock import Lock
    from compatlock.model.requirement import Requirement
    from compatlock.solver.held import HeldSearch

_ORIGIN = "the session"


class Session:
    """One request, read once: `lock()` gives what `compatlock.lock` gives, over the index as it was when the
    session began or was last refreshed.

    Takes the arguments of `compatlock.lock`, but those about several targets, audits, builds, snapshots and
    other strategies. To be closed, or used as a context manager. Not for several threads at once.

        with compatlock.Session(profile="async-grpo") as session:
            lock = session.lock()
            other = session.lock(["torch<2.11"])
    """

    def __init__(self, requirements: str | Sequence[str] = (), **options: Unpack[Keywords]) -> None:
        from compatlock.api.keywords import options_of

        self._options: LockOptions = options_of(requirements, **options)
        _refuse(self._options)
        self._store = Store(self._options.cache_directory())
        self._network: LazyNetwork | None = None
        self._held: HeldSearch | None = None
        try:
            self._open(refresh=self._options.refresh)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free everything; nothing can be asked any more."""
        self._let_go()
        self._store.close()

    def refresh(self) -> None:
        """Believe nothing that was read of the index: the next answer asks it again. Facts, profiles and
        files are read again too."""
        self._let_go()
        self._open(refresh=True)

    def lock(self, constraints: Sequence[str] = ()) -> Lock:
        """The best answer, with further bounds on packages, should they be installed (`torch<2.11`).

        Raises what `compatlock.lock` raises.
        """
        bounds = parse_constraints([(text, _ORIGIN) for text in constraints], self._store.memo).requirements
        refused = [bound for bound in bounds if bound.marker or bound.url]
        if refused:
            raise InputError(f"`{refused[0]}` is no bound: a session knows its target, and no URLs")
        try:
            return self._lock(bounds)
        except IndexChanged:
            self.refresh()
        except CacheChanged:
            self._let_go()
            self._store.drop_damaged()
            self._open(refresh=False)
        return self._lock(bounds)

    def _lock(self, bounds: tuple[Requirement, ...]) -> Lock:
        request = bounded(self._prepared.request, bounds)
        prepared = self._prepared._replace(request=request)
        if bounds:
            told = tuple(f"bounded by {bound}" for bound in bounds)
            prepared = prepared._replace(remarks=(*prepared.remarks, *told))
        universe, supply = self._universe, self._supply
        if self._held is None:
            self._held = drive(hold(universe, self._prepared.request), universe, supply)
        solution = drive(self._held.solve(bounds), universe, supply)
        limits = limits_of(self._options)
        if solution is None or any(each.is_too_old for each in guarded(universe, request, solution, limits)):
            # Reasons, ways out and the best recent answer.
            return lock_with(self._options, prepared, supply).lock
        seen = request, universe, supply
        return finished(assembled(solution, *seen, draft_of(self._options, prepared)), *seen).lock

    def _open(self, *, refresh: bool) -> None:
        options = self._options
        self._prepared = prepare(options, self._store.memo)
        request, indexes = self._prepared.request, IndexSet(self._prepared.indexes)
        if not options.offline:
            self._network = LazyNetwork(indexes.all, timeout=options.timeout, cert=options.cert)
        self._supply = Supply(
            self._store, indexes, request.target, request.policy, self._network, refresh=refresh
        )
        supply = self._supply
        self._universe = Universe(request.amendments, supply.is_compiled, supply.is_elsewhere)

    def _let_go(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None
        if self._network is not None:
            self._network.close()
            self._network = None


def _refuse(options: LockOptions) -> None:
    for word, given in (
        ("targets", options.targets),
        ("universal", options.universal),
        ("audit", options.audit),
        ("auto_waive", options.auto_waive),
        ("allow_builds", options.allow_builds),
        ("snapshot", options.snapshot),
        ("strategy", options.strategy != "optimal"),
        ("resolution", options.resolution != "highest"),
    ):
        if given:
            raise InputError(f"`{word}` is not for a session", hints=["use `compatlock.lock`"])
