"""From a solution to a lock: pins with files, edges, and what holds each package back."""

from __future__ import annotations

from compatlock.errors import IndexUnavailable
from compatlock.index.supply import CacheChanged
from compatlock.model.cuda import MAJORS, CudaRules
from compatlock.model.dependencies import BUILT
from compatlock.model.display import one_line, printable, public_url
from compatlock.model.fact import by_package
from compatlock.model.lock import Lock, LockedEdge, LockedFile, Pin, SoftFactReport
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.package import PRERELEASE, YANKED
from compatlock.model.undeclared import undeclared_dependencies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from compatlock.index.supply import Supply
    from compatlock.model.dependencies import Dependencies, Dependency
    from compatlock.model.listing import File
    from compatlock.model.package import Package
    from compatlock.model.request import Request
    from compatlock.solver.universe import Universe


# Of a pin whose sdist does not say with certainty what it needs.
UNVERIFIED = "sdist metadata, unverified"
# So many repaired lines of a release's metadata are named.
_NAMED = 3


def _shown(reason: str) -> str:
    """What an index says, for terminals and locks: anybody who uploads may have written it."""
    return printable(one_line(reason))


class Chosen(NamedTuple):
    """What a strategy chose: the index of each package, the extras of each, and the candidate that each
    root's lag is counted from (absent: the newest of all)."""

    indexes: dict[str, int]
    extras: Mapping[str, Sequence[str]]
    newest: Mapping[str, int]


class Assembler:
    """Puts a lock together."""

    def __init__(self, request: Request, universe: Universe, supply: Supply, chosen: Chosen) -> None:
        self._request = request
        self._universe = universe
        self._supply = supply
        self._chosen = chosen
        self._roots = {root.name for root in request.roots}
        self._amendments = request.amendments
        self._rules = CudaRules(request.facts, universe.is_elsewhere)
        self._undeclared = by_package(fact for fact in request.facts if fact.kind == "undeclared")
        self._asides_of = by_package(request.asides)
        self._incoming: dict[str, list[LockedEdge]] = {}

    def lock(self, draft: Lock, broken: Iterable[str]) -> Lock:
        """`draft` with pins, edges, roots, waivers, broken soft facts and index state filled in."""
        edges = self.edges()
        self._incoming = {name: [] for name in self._chosen.indexes}
        for edge in edges:
            self._incoming[edge.on].append(edge)
        files = self._supply.installable_files(self._chosen.indexes)
        pins = tuple(
            self._pin(name, files[name], self._incoming[name]) for name in sorted(self._chosen.indexes)
        )
        facts = {fact.id: fact for fact in self._request.facts}
        return draft._replace(
            pins=pins,
            edges=edges,
            roots=tuple(sorted(self._roots)),
            waivers=self._waivers(edges),
            broken_soft_facts=tuple(
                SoftFactReport(i, facts[i].summary, facts[i].broken_days) for i in sorted(broken)
            ),
            index_state=self._index_state(),
            cuda=self._cuda(),
        )

    def _cuda(self) -> str:
        """The newest CUDA that the pins allow and the target runs, and what says which that runs; `""` when
        no pin is bound to any."""
        allowed = {self._built_for(name, index) for name, index in self._chosen.indexes.items()} - {()}
        if not allowed:
            return ""
        target = self._request.target
        newest = next((m for m in target.cuda_majors if all(m in majors for majors in allowed)), "")
        return f"CUDA {newest} ({target.cuda_origin or 'free'})"

    def _built_for(self, name: str, index: int) -> tuple[str, ...]:
        """The CUDA majors that a release is bound to, none when it is bound to none."""
        majors = self._rules.majors(self._package(name), index)
        return () if majors == MAJORS else majors

    def _package(self, name: str) -> Package:
        return self._universe.packages[name]

    def _release(self, name: str) -> Dependencies:
        return self._universe.dependencies[name, self._chosen.indexes[name]]

    # Edges

    def edges(self) -> tuple[LockedEdge, ...]:
        """Every edge of the answer: the user's lines, and what each pin (and needed extra) declares, or
        needs without declaring it."""
        found = {LockedEdge("", r.name, r.specifier, "", r.extras, r.origin) for r in self._request.roots}
        for name, index in self._chosen.indexes.items():
            facts = self._undeclared.get(name, ())
            for extra in ("", *self._chosen.extras.get(name, ())):
                needs = self._declared(name, index, extra)
                if facts:
                    needs = (*needs, *undeclared_dependencies(facts, self._package(name), index, extra))
                found.update([self._edge(name, extra, need) for need in needs])
        return tuple(sorted(found))

    def _declared(self, name: str, index: int, extra: str) -> Iterable[Dependency]:
        """What the release declares, overridden bounds as declared, excluded dependencies left out."""
        if not self._amendments:
            return self._release(name).of(extra)
        needs = self._supply.release(name, index).of(extra)
        version = self._package(name).versions[index]
        return [
            n for n in needs if n.name == name or not self._amendments.excludes(name, extra, n.name, version)
        ]

    def _edge(self, name: str, extra: str, dependency: Dependency) -> LockedEdge:
        on, specifier, extras, _ = dependency
        holds = self._package(on).admits(specifier, self._chosen.indexes[on])
        return LockedEdge(name, on, specifier, extra, extras, "", not holds)

    def _waivers(self, edges: Iterable[LockedEdge]) -> tuple[str, ...]:
        """The waivers spent, each with its reason."""
        broken = {(e.package, e.extra, e.on) for e in edges if e.waived}
        spent = [
            w
            for w in self._request.waivers
            if any(p == w.package and on == w.on and w.extra in ("", x) for p, x, on in broken)
        ]
        return tuple(f"{w} ({w.reason or w.source})" if w.reason or w.source else str(w) for w in spent)

    # Pins

    def _pin(self, name: str, files: Sequence[File], edges: Sequence[LockedEdge]) -> Pin:
        package, index = self._package(name), self._chosen.indexes[name]
        newest = self._chosen.newest.get(name, package.newest())
        return Pin(
            name=name,
            version=package.versions[index],
            files=tuple(
                LockedFile(f.filename, f.sha256, f.size, f.upload_time, public_url(f.url)) for f in files
            ),
            extras=tuple(self._chosen.extras.get(name, ())),
            is_root=name in self._roots,
            newest=package.versions[newest] if newest < package.size else "",
            lag_days=package.lag_days(index, newest) if newest < package.size else 0,
            lag_releases=package.lag_releases(index, newest),
            held_by=self._held_by(package, index, edges),
            notes=tuple(self._notes(package, index, files, edges)),
            index_url=self._index_url(name),
            repaired=self._release(name).repaired,
        )

    def _index_url(self, name: str) -> str:
        """Where a package is from, unless that is the default index."""
        return self._supply.index_of(name).url if self._supply.is_elsewhere(name) else ""

    def _held_by(self, package: Package, index: int, edges: Sequence[LockedEdge]) -> tuple[str, ...]:
        """The edges that exclude the next newer ordinary candidate: those to it, else its own that the
        other pins do not satisfy."""
        newer = index - 1
        while newer in package.gates:
            newer -= 1
        if newer < 0:
            return ()
        held = {
            f"{self._who(edge)} needs {edge.on}{edge.specifier}"
            for edge in edges
            if not edge.waived and not package.admits(edge.specifier, newer)
        }
        return tuple(sorted(held or self._unmet(package, newer)))

    def _unread(self, package: Package, index: int) -> Dependencies | None:
        """What a release of a root needs that the search had no need to read, as where an older lock still
        holds: whether there is one must not change what a lock says."""
        if package.name not in self._roots:
            return None
        try:
            return self._supply.release(package.name, index)
        except CacheChanged:
            raise
        except IndexUnavailable:
            return None

    def _unmet(self, package: Package, index: int) -> set[str]:
        """What another release of a package, as far as it was looked at, needs of packages that others
        need too, and the pins do not give."""
        found: set[str] = set()
        release = self._universe.dependencies.get((package.name, index)) or self._unread(package, index)
        if release is None:
            return found
        for extra in ("", *self._chosen.extras.get(package.name, ())):
            for need in release.of(extra):
                at = self._chosen.indexes.get(need.name)
                if at is None or self._package(need.name).admits(need.specifier, at):
                    continue
                if any(edge.package != package.name for edge in self._incoming[need.name]):
                    found.add(f"{package.name} {package.versions[index]} needs {need.name}{need.specifier}")
        return found

    def _who(self, edge: LockedEdge) -> str:
        if not edge.package:
            return edge.origin.rpartition(":")[0] or edge.origin or "the input"
        version = self._package(edge.package).versions[self._chosen.indexes[edge.package]]
        extra = f"[{edge.extra}]" if edge.extra else ""
        return f"{edge.package}{extra} {version}"

    def _notes(
        self, package: Package, index: int, files: Sequence[File], edges: Sequence[LockedEdge]
    ) -> Iterable[str]:
        gate = package.gates.get(index, "")
        if gate == YANKED or files[0].yanked is not None:
            reason = next((f.yanked for f in files if f.yanked), "")
            yield f"yanked: {_shown(reason)}" if reason else "yanked, the index gives no reason"
        elif gate == PRERELEASE:
            yield "pre-release"
        status, reason = self._supply.status(package.name)
        if status:
            yield f"the project is {status}: {_shown(reason)}" if reason else f"the project is {status}"
        release = self._universe.dependencies[package.name, index]
        if release.source == "sdist-unverified":
            yield UNVERIFIED
        elif release.source == BUILT:
            yield "built for its metadata"
        if release.repaired:
            yield _repaired_note(release.repaired)
        yield from self._asides(package, index)
        if package.name in self._roots and package.newest_hidden:
            yield self._hidden_note(*package.newest_hidden)
        if package.name in self._roots:
            yield from self._cuda_note(package, index)
        asked = {x for e in edges for x in e.extras}
        for extra in sorted(asked.difference(release.provides)) if asked else ():
            yield f"has no extra `{extra}`, which {self._asker(edges, extra)} asks for"

    def _asides(self, package: Package, index: int) -> Iterable[str]:
        """What is known to be bad about the release on some hardware."""
        for fact in self._asides_of.get(package.name, ()):
            if self._chosen.indexes.keys() >= set(fact.present):
                runs = [run for bound in fact.bounds for run in package.runs(bound.versions)]
                if any(low <= index < high for low, high in runs):
                    yield f"{fact.summary} (known fact `{fact.id}`)"

    def _cuda_note(self, package: Package, index: int) -> Iterable[str]:
        """Why a newer release, from which no lag is counted, is none for the target: its CUDA."""
        target = self._request.target
        newer = next((i for i in range(index) if i not in package.gates), None)
        if not target.cuda_bound or newer is None:
            return
        built_for = self._built_for(package.name, newer)
        if built_for and set(built_for).isdisjoint(target.cuda_majors):
            yield (
                f"the newer {package.versions[newer]} is built for CUDA {built_for[0]}, and the target runs "
                f"CUDA {target.cuda_majors[0]} at most ({target.cuda_origin})"
            )

    def _hidden_note(self, version: str, reason: str, detail: str) -> str:
        target = self._request.target
        if reason == "python":
            why = f"it needs Python {detail}, the target is {target.python}"
        elif not detail:
            why = f"it has no wheel for {target.platform}"
        elif " " in detail:
            why = f"its wheels are {detail}, the target is {target.platform}"
        else:
            why = f"its wheels need {_platform_words(detail)}, the target is {target.platform}"
        built = " (or it would have to be built from source)" if reason == "native" else ""
        return f"the newer {version} is hidden: {why}{built}"

    def _asker(self, edges: Sequence[LockedEdge], extra: str) -> str:
        return next(self._who(e) for e in edges if extra in e.extras)

    def _index_state(self) -> str:
        from compatlock.api.times import format_time

        policy = self._request.policy
        own = [
            f"{name} as of {format_time(cut)}" if cut is not None else f"{name} of any time"
            for name, cut in policy.exclude_newer_for
            if cut != policy.exclude_newer
        ]
        if policy.exclude_newer is not None:
            return ", ".join([f"as of {format_time(policy.exclude_newer)}", *own])
        times = [t for n in self._chosen.indexes for t in self._package(n).times if t is not None]
        newest = [f"newest release of these packages {format_time(max(times))}"] if times else []
        return ", ".join([*newest, *own])


def _repaired_note(repaired: Sequence[str]) -> str:
    """What of invalid metadata was read differently. pip refuses a release for any such line, whatever its
    marker."""
    read = [" is read as ".join(f"`{side}`" for side in line.split(" -> ")) for line in repaired]
    more = f" and {len(read) - _NAMED} more" if read[_NAMED:] else ""
    named = ", ".join(read[:_NAMED]) + more
    return f"invalid specifier repaired: {named}; pip 24.1 and later refuse this release"


def _platform_words(platform: str) -> str:
    """A platform's name, with its glibc where it says so in its own way only."""
    _, is_manylinux, floor = platform.partition("-manylinux_")
    return f"{platform} (glibc {floor.replace('_', '.')})" if is_manylinux else platform
