"""The independent checker: every answer is checked before anything is written.

It knows nothing of the solver: it walks the pins' declared edges from the user's lines and compares
each bound, fact and gate anew. Specifiers are answered by the runs in the store, which the tests compare
with `packaging`.
"""

from __future__ import annotations

from compatlock.model.undeclared import undeclared_dependencies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from compatlock.index.supply import Supply
    from compatlock.model.dependencies import Dependency
    from compatlock.model.fact import Fact
    from compatlock.model.lock import Lock
    from compatlock.model.package import Package
    from compatlock.model.request import Request


def violations(lock: Lock, request: Request, supply: Supply) -> list[str]:
    """What is wrong with a lock as an answer to a request, a sentence each; empty when it is valid."""
    return list(_Checker(lock, request, supply).run())


class _Checker:
    def __init__(self, lock: Lock, request: Request, supply: Supply) -> None:
        self.lock = lock
        self.request = request
        self.supply = supply
        self.at: dict[str, int] = {}
        self.reached: set[tuple[str, str]] = set()
        self.bounds: dict[str, list[str]] = {}
        self.permitted = {(w.package, w.extra, w.on) for w in request.waivers}

    def run(self) -> Iterator[str]:
        for pin in self.lock.pins:
            index = self.supply.package(pin.name).index_of(pin.version)
            if index is None:
                yield f"{pin.name} {pin.version} is no candidate for {self.request.target}"
            else:
                self.at[pin.name] = index
        yield from self._walk()
        yield from self._constraints()
        for pin in self.lock.pins:
            yield from self._pin(pin.name, bool(pin.files))
        for fact in self.request.facts:
            if not fact.is_soft:
                yield from self._fact(fact)

    def _package(self, name: str) -> Package:
        return self.supply.package(name)

    def _walk(self) -> Iterator[str]:
        """From the user's lines along every edge that holds."""
        queue: list[tuple[str, str]] = []
        for root in self.request.roots:
            yield from self._edge("", "", root.name, root.specifier)
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
            for dependency in self._needs(name, extra):
                yield from self._edge(name, extra, dependency.name, dependency.specifier)
                if dependency.url:
                    yield f"{name} depends on a direct reference: {dependency.url}"
                queue += [(dependency.name, x) for x in ("", *dependency.extras)]

    def _provides(self, name: str) -> tuple[str, ...]:
        if name not in self.at:
            return ()
        return self.supply.dependencies([(name, self.at[name])])[name, self.at[name]].provides

    def _needs(self, name: str, extra: str) -> list[Dependency]:
        index = self.at[name]
        declared = list(self.supply.dependencies([(name, index)])[name, index].of(extra))
        return declared + undeclared_dependencies(self.request.facts, self._package(name), index, extra)

    def _edge(self, parent: str, extra: str, name: str, specifier: str) -> Iterator[str]:
        who = f"{parent}[{extra}]" if extra else parent or "the input"
        self.bounds.setdefault(name, []).append(specifier)
        if name not in self.at:
            yield f"{who} needs {name}{specifier}, which is not pinned"
        elif not self._package(name).admits(specifier, self.at[name]):
            waived = {(parent, extra, name), (parent, "", name)} & self.permitted
            if not waived or not parent:
                version = self._package(name).versions[self.at[name]]
                yield f"{who} needs {name}{specifier}, but {version} is pinned"

    def _constraints(self) -> Iterator[str]:
        for constraint in self.request.constraints:
            index = self.at.get(constraint.name)
            if index is not None and not self._package(constraint.name).admits(constraint.specifier, index):
                yield f"the constraint {constraint} excludes {self._package(constraint.name).versions[index]}"

    def _pin(self, name: str, has_files: bool) -> Iterator[str]:
        if name not in self.at:
            return
        package, index = self._package(name), self.at[name]
        label = f"{name} {package.versions[index]}"
        if (name, "") not in self.reached:
            yield f"nothing needs {label}"
        if not has_files:
            yield f"{label} has no file that the target could install"
        problem = self.supply.dependencies([(name, index)])[name, index].problem
        if problem:
            yield f"{label} cannot be used: {problem}"
        if index in package.gates and not any(
            index in package.admitted_gates(s) for s in self.bounds.get(name, ())
        ):
            yield f"{label} is {package.gates[index]}, and no edge admits it"

    def _fact(self, fact: Fact) -> Iterator[str]:
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
