"""One project as a target sees it: its candidates, newest first, and which of them a specifier admits."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Runs = tuple[tuple[int, int], ...]

PRERELEASE = "pre-release"
YANKED = "yanked"

# Flags of a specifier that decide which gated candidates it admits.
NAMES_PRERELEASE = 1  # one of its versions is a pre-release, so pre-releases are asked for
IS_PIN = 2  # a single == or === clause without wildcard: the only thing that admits a yanked release

SECONDS_PER_DAY = 86_400


class Package:
    """The candidates of a project for one target, indexed from 0, the newest.

    A *gated* candidate (a pre-release or a yanked release) may be chosen only when some active edge
    admits it; all others are *ordinary*. Specifiers are answered as runs `[lo, hi)` of indexes.

    versions:  canonical version texts, newest first
    positions: index of each candidate in the project's full list of releases (ascending)
    times:     earliest upload of each candidate, seconds since the epoch, or None when not known
    gates:     `{index: "pre-release" | "yanked"}`
    file_keys: which file's metadata speaks for the candidate (key of the store)
    full_runs: `{specifier: (flags, lo, hi, lo, hi, ...)}` over the *full* list of releases
    compute:   answers a specifier that `full_runs` lacks, in the same form
    newest_hidden: `(version, reason, detail)` of a newer release that only the target hides, or `()`
    prerelease: which specifiers admit pre-releases: `explicit` (those that name one), `if-necessary`
               (those that no ordinary candidate satisfies), or `if-necessary-or-explicit`
    """

    __slots__ = (
        "_admitted",
        "_compute",
        "_days_behind",
        "_explicit",
        "_necessary",
        "_releases_behind",
        "_runs",
        "file_keys",
        "found",
        "full_runs",
        "gates",
        "name",
        "newest_hidden",
        "positions",
        "size",
        "times",
        "versions",
    )

    def __init__(
        self,
        name: str,
        versions: Sequence[str],
        *,
        positions: Sequence[int],
        times: Sequence[int | None],
        gates: Mapping[int, str],
        file_keys: Sequence[str],
        full_runs: dict[str, tuple[int, ...]],
        compute: Callable[[str], tuple[int, ...]],
        found: bool = True,
        newest_hidden: Sequence[str] = (),
        prerelease: str = "if-necessary-or-explicit",
    ) -> None:
        self.name = name
        self.versions = versions
        self.size = len(versions)
        self.positions = positions
        self.times = times
        self.gates = gates
        self.file_keys = file_keys
        self.full_runs = full_runs
        self.found = found
        self.newest_hidden = tuple(newest_hidden)
        self._compute = compute
        self._explicit = prerelease != "if-necessary"
        self._necessary = prerelease != "explicit"
        self._runs: dict[str, Runs] = {}
        self._admitted: dict[str, frozenset[int]] = {}
        self._releases_behind: dict[int, list[int]] = {}
        self._days_behind: dict[int, Sequence[int]] = {}

    def called(self, name: str) -> Package:
        """The same candidates under another name."""
        from copy import copy

        other = copy(self)
        other.name = name
        return other

    def turned_around(self) -> Package:
        """The same candidates from the oldest to the newest: for whom the lowest version is the best."""
        from copy import copy

        last = self.positions[-1] if self.size else 0

        def compute(specifier: str) -> tuple[int, ...]:
            flags, *ends = self.full(specifier)
            # Where a run ends among all releases is where it begins, seen from the other side.
            return (flags, *(max(0, last + 1 - end) for end in reversed(ends)))

        other = copy(self)
        other.versions = self.versions[::-1]
        other.positions = [last - position for position in reversed(self.positions)]
        other.times = [None if time is None else -time for time in reversed(self.times)]
        other.gates = {self.size - 1 - index: gate for index, gate in self.gates.items()}
        other.file_keys = self.file_keys[::-1]
        other.newest_hidden = ()
        other.full_runs, other._compute = {}, compute
        other._runs, other._admitted, other._releases_behind, other._days_behind = {}, {}, {}, {}
        return other

    def index_of(self, version: str) -> int | None:
        """Index of a canonical version text, None when it is no candidate."""
        try:
            return self.versions.index(version)
        except ValueError:
            return None

    def full(self, specifier: str) -> tuple[int, ...]:
        """`(flags, lo, hi, ...)`: where a specifier that is not empty holds in the full list of releases."""
        full = self.full_runs.get(specifier)
        if full is None:
            full = self.full_runs[specifier] = self._compute(specifier)
        return full

    def runs(self, specifier: str) -> Runs:
        """Candidates within a specifier (PEP 440, pre-releases included) as disjoint ascending runs."""
        known = self._runs.get(specifier)
        if known is not None:
            return known
        if not specifier:
            result: Runs = ((0, self.size),) if self.size else ()
        else:
            full = self.full(specifier)
            found: list[tuple[int, int]] = []
            for k in range(1, len(full), 2):
                low = bisect_left(self.positions, full[k])
                high = bisect_left(self.positions, full[k + 1])
                if low >= high:
                    continue
                # Hidden releases between two runs vanish in the list of candidates: join what touches.
                if found and found[-1][1] == low:
                    found[-1] = (found[-1][0], high)
                else:
                    found.append((low, high))
            result = tuple(found)
        self._runs[specifier] = result
        return result

    def end(self, specifier: str) -> int | None:
        """Index of the newest candidate that is older than every release within a specifier, those that
        are no candidates included (`size` when there is none); None when no release is within it."""
        if not specifier:
            return self.size
        full = self.full(specifier)
        return bisect_left(self.positions, full[-1]) if len(full) > 1 else None

    def admits(self, specifier: str, index: int) -> bool:
        """Whether the candidate lies within the specifier."""
        for low, high in self.runs(specifier):
            if index < high:
                return index >= low
        return False

    def newest_within(self, specifiers: Iterable[str]) -> int | None:
        """Index of the newest ordinary candidate within all of the specifiers, if there is one."""
        all_runs = [self.runs(specifier) for specifier in specifiers]
        index = 0
        while index < self.size:
            # Where the next run of the specifier begins that is farthest from holding here.
            begins = (
                next((max(low, index) for low, high in runs if index < high), self.size) for runs in all_runs
            )
            nearest = max(begins, default=index)
            if nearest == index:
                if index not in self.gates:
                    return index
                nearest += 1
            index = nearest
        return None

    def admitted_gates(self, specifier: str) -> frozenset[int]:
        """Gated candidates that an edge with this specifier admits.

        Pre-releases: when the specifier names one, or when no ordinary candidate satisfies it (version
        specifiers, "Handling of pre-releases"). Yanked releases: only by an exact pin (PEP 592).
        """
        if not self.gates:
            return frozenset()
        known = self._admitted.get(specifier)
        if known is None:
            known = self._admitted[specifier] = frozenset(self._admit(specifier))
        return known

    def _admit(self, specifier: str) -> list[int]:
        runs = self.runs(specifier)
        flags = self.full(specifier)[0] if specifier else 0
        if not flags and runs and runs[0][0] not in self.gates:
            return []
        within = [i for low, high in runs for i in range(low, high) if i in self.gates]
        only_gated = len(within) == sum(high - low for low, high in runs)
        result = []
        for i in within:
            if self.gates[i] == YANKED:
                if flags & IS_PIN:
                    result.append(i)
            elif (self._explicit and flags & NAMES_PRERELEASE) or (self._necessary and only_gated):
                result.append(i)
        return result

    def newest(self, runs: Runs | None = None) -> int:
        """Index of the newest ordinary candidate within `runs` (default: all), else the newest gated one;
        `size` when there is none."""
        first = self.size
        for low, high in ((0, self.size),) if runs is None else runs:
            for i in range(low, high):
                if i not in self.gates:
                    return i
                first = min(first, i)
        return first

    def lags_in_releases(self, newest: int) -> Sequence[int]:
        """Of each candidate, how many ordinary candidates it is behind candidate `newest`; 0 for anything
        newer than that."""
        if not newest and not self.gates:
            return range(self.size)
        lags = self._releases_behind.get(newest)
        if lags is None:
            steps = [0] * newest + [1] * (self.size - newest)
            for index in self.gates:
                steps[index] = 0
            lags = self._releases_behind[newest] = [0, *accumulate(steps)][: self.size]
        return lags

    def lag_releases(self, index: int, newest: int) -> int:
        """Lag of one candidate; see `lags_in_releases`. Most are at the newest: they need no table."""
        return 0 if index <= newest else self.lags_in_releases(newest)[index]

    def lags_in_days(self, newest: int) -> Sequence[int]:
        """Of each candidate, how many whole days it is behind candidate `newest` by upload time, monotone
        from the newest down (a backport is as far behind as what precedes it). Without upload times:
        releases behind."""
        known = self._days_behind.get(newest)
        if known is None:
            known = self._days_behind[newest] = self._count_days(newest)
        return known

    def _count_days(self, newest: int) -> Sequence[int]:
        times = [t for t in self.times if t is not None]
        if len(times) < self.size or not times:
            return self.lags_in_releases(newest)
        behind = ((times[newest] - t) // SECONDS_PER_DAY for t in times[newest + 1 :])
        return [0] * newest + list(accumulate(behind, max, initial=0))

    def lag_days(self, index: int, newest: int) -> int:
        """Lag of one candidate; see `lags_in_days`. No table is made for it."""
        if index <= newest:
            return 0
        times = [*self.times]
        since = [t for t in times[newest : index + 1] if t is not None]
        if None in times or not times:
            return self.lags_in_releases(newest)[index]
        return (since[0] - min(since)) // SECONDS_PER_DAY
