"""The independent checker: every answer is checked before anything is written.

It knows nothing of the solver: it walks the pins' declared edges from the user's lines and compares
each bound, fact and gate anew. Specifiers are answered by the runs in the store, which the tests compare
with `packaging`.
"""

from __future__ import annotations

from compatlock.model.cuda import majors_within
from compatlock.model.fact import by_package
from compatlock.model.lock import LockedEdge
from compatlock.model.undeclared import undeclared_dependencies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compatlock.index.supply import Supply
    from compatlock.model.dependencies import Dependency
    from compatlock.model.fact import Fact
    from compatlock.model.listing import File
    from compatlock.model.lock import Lock, Pin
    from compatlock.model.package import Package
    from compatlock.model.request import Request


def violations(lock: Lock, request: Request, supply: Supply) -> list[str]:
    """What is wrong with a lock as an answer to a request, a sentence each; empty when it is valid."""
    return list(_Checker(lock, request, supply).run())


def broken_soft_facts(lock: Lock, request: Request, supply: Supply) -> list[str]:
    """Ids of the soft facts that a lock breaks outright."""
    checker = _Checker(lock, request, supply)
    list(checker.walk())
    return [fact.id for fact in request.facts if fact.is_soft and any(checker.fact(fact))]


class _Checker:
    def __init__(self, lock: Lock, request: Request, supply: Supply) -> None:
        self.lock = lock
        self.request = request
        self.supply = supply
        self.at: dict[str, int] = {}
        self.reached: set[tuple[str, str]] = set()
        self.bounds: dict[str, list[str]] = {}
        self.edges: set[LockedEdge] = set()
        self.permitted = {(w.package, w.extra, w.on): w.bound for w in request.waivers}
        self.amendments = request.amendments
        self.undeclared = by_package(fact for fact in request.facts if fact.kind == "undeclared")
        for pin in lock.pins:
            index = self._package(pin.name).index_of(pin.version)
            if index is not None:
                self.at[pin.name] = index

    def run(self) -> Iterator[str]:
        yield from self.walk()
        yield from self._constraints()
        files = self.supply.installable_files(self.at)
        for pin in self.lock.pins:
            yield from self._pin(pin, files.get(pin.name, ()))
        yield from self._records()
        yield from self._cuda()
        reported = {report.id for report in self.lock.broken_soft_facts}
        for fact in self.request.facts:
            if fact.package not in self.at:
                continue
            if not fact.is_soft:
                yield from self.fact(fact)
            elif fact.id not in reported:
                yield from (f"{broken}, and it is not reported" for broken in self.fact(fact))

    def _package(self, name: str) -> Package:
        return self.supply.package(name)

    def walk(self) -> Iterator[str]:
        """From the user's lines along every edge that holds."""
        queue: list[tuple[str, str]] = []
        for root in self.request.roots:
            yield from self._edge("", "", root.name, root.specifier, root.extras, root.origin)
            queue += [(root.name, extra) for extra in ("", *root.extras)]
            missing = set(root.extras) - set(self._provides(root.name))
            for extra in sorted(missing):
                yield f"{root.name} has no extra `{extra}`, which {root.origin or 'the input'} asks for"
        while queue:
            node = queue.pop()
            name, extra = node
            if node in self.reached or name not in self.at:
                continue
            self.reached.add(node)
            for on, specifier, extras, url in self._needs(name, extra):
                yield from self._edge(name, extra, on, specifier, extras)
                if url and self._override(name, on) is None:
                    yield f"{name} depends on a direct reference: {url}"
                queue.append((on, ""))
                if extras:
                    queue += [(on, x) for x in extras]

    def _provides(self, name: str) -> tuple[str, ...]:
        if name not in self.at:
            return ()
        return self.supply.release(name, self.at[name]).provides

    def _needs(self, name: str, extra: str) -> Sequence[Dependency]:
        index = self.at[name]
        declared: Sequence[Dependency] = self.supply.release(name, index).of(extra)
        if self.amendments:
            version = self._package(name).versions[index]
            declared = [
                need
                for need in declared
                if need.name == name or not self.amendments.excludes(name, extra, need.name, version)
            ]
        facts = self.undeclared.get(name)
        if not facts:
            return declared
        return [*declared, *undeclared_dependencies(facts, self._package(name), index, extra)]

    def _edge(
        self, name: str, extra: str, on: str, specifier: str, extras: tuple[str, ...], origin: str = ""
    ) -> Sequence[str]:
        """What is wrong with the edge `name[extra] -> on[extras]specifier`; `name` `""` is the user."""
        override = self._override(name, on)
        holds = specifier if override is None else override
        self.bounds.setdefault(on, []).append(holds)
        index = self.at.get(on)
        package = self._package(on)
        is_kept = index is None or package.admits(specifier, index)
        self.edges.add(LockedEdge(name, on, specifier, extra, extras, origin, not is_kept))
        if index is not None and (is_kept if override is None else package.admits(holds, index)):
            return ()
        who = f"{name}[{extra}]" if extra else name or "the input"
        if index is None:
            return (f"{who} needs {on}{specifier}, which is not pinned",)
        if name and self._is_permitted(name, extra, on, index):
            return ()
        return (f"{who} needs {on}{holds}, but {package.versions[index]} is pinned",)

    def _override(self, package: str, on: str) -> str | None:
        """What replaces the bound that a pinned package declares on another, if anything does."""
        if not self.amendments or not package or on == package or package not in self.at:
            return None
        return self.amendments.override(package, on, self._package(package).versions[self.at[package]])

    def _is_permitted(self, package: str, extra: str, on: str, index: int) -> bool:
        """Whether a waiver lets the edge's bound drop, and its replacement, if any, holds."""
        keys = dict.fromkeys(((package, extra, on), (package, "", on)))
        bounds = [self.permitted[key] for key in keys if key in self.permitted]
        return bool(bounds) and self._package(on).admits(bounds[0], index)

    def _constraints(self) -> Iterator[str]:
        for constraint in self.request.constraints:
            # A line of the user's admits pre-releases and yanked releases also when it only bounds them.
            self.bounds.setdefault(constraint.name, []).append(constraint.specifier)
            index = self.at.get(constraint.name)
            if index is not None and not self._package(constraint.name).admits(constraint.specifier, index):
                yield f"the constraint {constraint} excludes {self._package(constraint.name).versions[index]}"

    def _pin(self, pin: Pin, files: Sequence[File]) -> Iterator[str]:
        label = f"{pin.name} {pin.version}"
        if pin.name not in self.at:
            yield f"{label} is no candidate for {self.request.target}"
            return
        package, index = self._package(pin.name), self.at[pin.name]
        if (pin.name, "") not in self.reached:
            yield f"nothing needs {label}"
        if not pin.files:
            yield f"{label} has no file that the target could install"
        locked, there = ([(f.filename, f.sha256) for f in each] for each in (pin.files, files))
        if locked != there:
            for file in set(locked) ^ set(there):
                yield f"{label}: the index and the lock do not agree about {file[0]}"
        problem = self.supply.release(pin.name, index).problem
        if problem:
            yield f"{label} cannot be used: {problem}"
        if index in package.gates and not any(
            index in package.admitted_gates(s) for s in self.bounds.get(pin.name, ())
        ):
            yield f"{label} is {package.gates[index]}, and no edge admits it"

    def _records(self) -> Iterator[str]:
        """What the lock says of itself beside the pins."""
        names = [pin.name for pin in self.lock.pins]
        if len(set(names)) < len(names):
            yield "a package is pinned twice"
        for edge in self.edges ^ set(self.lock.edges):
            state = "is left out" if edge in self.edges else "is no edge of these releases"
            yield f"{edge.package or 'the input'} -> {edge.on}{edge.specifier} {state}"
        roots = {root.name for root in self.request.roots}
        if set(self.lock.roots) != roots or {pin.name for pin in self.lock.pins if pin.is_root} != roots:
            yield "the roots are not those that were asked for"
        needed = {node for node in self.reached if node[1]}
        if {(pin.name, extra) for pin in self.lock.pins for extra in pin.extras} != needed:
            yield "the extras are not those that are needed"

    def _cuda(self) -> Iterator[str]:
        """One CUDA major that the target runs and that every pin, which a fact or its local version binds,
        allows."""
        left = set(self.request.target.cuda_majors)
        bound: list[str] = []
        facts = by_package(fact for fact in self.request.facts if fact.kind == "cuda")
        for name, index in self.at.items():
            version = self._package(name).versions[index]
            bounds: Sequence[str] = ()
            if "+" in version:
                import re

                major = re.search(r"(?<![a-z])cu(\d\d)", version.partition("+")[2])
                bounds = [f"=={major[1]}"] if major is not None else []
            elif name in facts:
                is_elsewhere = self.supply.is_elsewhere(name)
                about = [fact for fact in facts[name] if not (is_elsewhere and fact.is_shipped)]
                rows = [row for fact in about for row in fact.bounds]
                bounds = [row.bound for row in rows if self._package(name).admits(row.versions, index)]
            for each in bounds:
                left.intersection_update(majors_within(each))
                bound.append(f"{name} {version} ({each})")
        if not left:
            yield f"no CUDA that {self.request.target} runs will do for {', '.join(bound)}"
        said = self.lock.cuda.split()
        if bound and left and said[:2] != ["CUDA", max(left)]:
            yield f"the lock says `{self.lock.cuda}`, but the set is for CUDA {max(left)}"

    def fact(self, fact: Fact) -> Iterator[str]:
        involved = [n for n in (fact.package, *fact.present) if n]
        if any(n not in self.at for n in involved):
            return
        if fact.extra and (fact.package, fact.extra) not in self.reached:
            return
        subject, on = self._package(fact.package), self.at.get(fact.on) if fact.on else None
        for bound in fact.bounds:
            if not subject.admits(bound.versions, self.at[fact.package]):
                continue
            broken = False
            if fact.kind == "known-bad":
                broken = True
            elif on is not None and fact.kind in ("too-loose", "undeclared", "overlap"):
                within = self._package(fact.on).admits(bound.bound, on)
                broken = within if fact.kind == "overlap" else not within
            if broken:
                yield f"the fact {fact.id} is broken: {fact.summary}"
