"""What does not fit among versions that are given: declared edges and facts, each judged by `packaging`."""

from __future__ import annotations

import shlex

from compatlock.api.check.cuda import cuda_findings
from compatlock.model import report as kinds
from compatlock.model.dependencies import Dependencies, Dependency
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.report import Discrepancy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from compatlock.model.fact import Fact, FactBound
    from compatlock.model.request import Request
    from compatlock.model.waiver import Waiver

# Facts that speak of a declared edge without binding anything.
_ABOUT_EDGES = ("too-strict", "hard", "declared-unsat")


class Held(NamedTuple):
    """A package that somebody has. `version` is `""` when it is not known (from a URL, editable), and
    `dependencies` None when they are not; `problems` are findings about the release by itself; `extras` are
    those that it is known to be there with."""

    name: str
    version: str
    dependencies: Dependencies | None = None
    problems: tuple[Discrepancy, ...] = ()
    extras: tuple[str, ...] = ()


class Rules:
    """The findings about `held`, `{name: package}`, under a request: its roots, facts and waivers.

    `pinned` says that the versions come from an index, so that `compatlock explain` can speak of them.
    """

    def __init__(self, held: Mapping[str, Held], request: Request, *, pinned: bool = False) -> None:
        self._held = held
        self._request = request
        self._pinned = pinned
        self._specifiers: dict[tuple[str, str], bool] = {}
        self._waivers = {(w.package, w.extra, w.on): w for w in request.waivers}

    def findings(self) -> Iterator[Discrepancy]:
        """Everything that does not fit, edges by package and then facts."""
        wanted = self._wanted()
        for root in self._request.roots:
            need = Dependency(root.name, root.specifier, root.extras)
            yield from self._edge("", "", need, origin=root.origin)
            provided = self._held[root.name].dependencies if root.name in self._held else None
            for extra in root.extras:
                if provided is not None and extra not in provided.provides:
                    text = f"{self._who(root.name)} has no extra `{extra}`, which {root.origin} asks for"
                    yield Discrepancy(
                        kinds.MISSING, kinds.ERROR, "", "", text, on=root.name, needs=f"[{extra}]"
                    )
        for name in sorted(self._held):
            yield from self._held[name].problems
            for extra in sorted(wanted.get(name, {""})):
                for need in self._needs(name, extra):
                    yield from self._edge(name, extra, need)
        for fact in self._request.facts:
            yield from self._fact(fact, wanted)
        yield from cuda_findings(self._held, self._request, self.holds)

    def _wanted(self) -> dict[str, set[str]]:
        """The extras of each package that somebody asks for, `""` for the package itself."""
        wanted: dict[str, set[str]] = {name: {""} for name in self._held}
        queue = [(root.name, extra) for root in self._request.roots for extra in root.extras]
        queue += [(n.name, extra) for name in self._held for n in self._needs(name, "") for extra in n.extras]
        while queue:
            name, extra = queue.pop()
            if name in wanted and extra not in wanted[name]:
                wanted[name].add(extra)
                queue += [(need.name, x) for need in self._needs(name, extra) for x in need.extras]
        return wanted

    def _needs(self, name: str, extra: str) -> tuple[Dependency, ...]:
        dependencies = self._held[name].dependencies
        if dependencies is None:
            return ()
        exclusions = self._request.exclusions
        return tuple(
            need
            for need in dependencies.of(extra)
            if need.name == name
            or not any(e.covers(name, extra, need.name, self._held[name].version) for e in exclusions)
        )

    def holds(self, specifier: str, version: str) -> bool:
        """Whether a version is within a specifier, pre-releases included. What is not known, or no valid
        version, is given the benefit of the doubt."""
        if not specifier or not version:
            return True
        key = (specifier, version)
        if key not in self._specifiers:
            from packaging.specifiers import InvalidSpecifier, SpecifierSet
            from packaging.version import InvalidVersion

            try:
                self._specifiers[key] = SpecifierSet(specifier).contains(version, prereleases=True)
            except (InvalidVersion, InvalidSpecifier):
                self._specifiers[key] = True
        return self._specifiers[key]

    def _who(self, name: str, extra: str = "") -> str:
        version = self._held[name].version if name in self._held else ""
        return " ".join(filter(None, (f"{name}[{extra}]" if extra else name, version)))

    # Declared edges

    def _edge(self, name: str, extra: str, need: Dependency, *, origin: str = "") -> Iterator[Discrepancy]:
        found = self._held.get(need.name)
        if found is not None and (need.url or self.holds(need.specifier, found.version)):
            return
        who = f"{self._who(name, extra)} needs" if name else f"{origin or 'the input'} asks for"
        version = self._held[name].version if name else ""
        if found is None:
            text = f"{who} {need}, which is missing"
            yield Discrepancy(
                kinds.MISSING, kinds.ERROR, name, version, text, need.name, "", need.specifier, extra
            )
            return
        finding = Discrepancy(
            kinds.VERSION,
            kinds.ERROR,
            name,
            version,
            f"{who} {need}, but {need.name} is {found.version}",
            need.name,
            found.version,
            need.specifier,
            extra,
        )
        yield self._with_remarks(finding) if name else finding

    def _with_remarks(self, finding: Discrepancy) -> Discrepancy:
        """The finding with what waivers and facts say of its edge, and with the command that explains it."""
        waiver = self._waiver(finding)
        told = [(fact, row) for fact in self._request.facts for row in self._rows(fact, finding)]
        hints = [self._explain(finding)] if self._pinned and waiver is None else []
        for fact, row in told:
            if fact.kind == "too-strict" and waiver is None:
                hints.insert(0, f"`--waive '{self._edge_text(finding)}{row.bound}'` accepts it")
        remarks = [_remark(fact) for fact, _ in told]
        if waiver is not None:
            because = f": {waiver.reason}" if waiver.reason else ""
            remarks.insert(0, f"waived by {waiver.source or 'a waiver'}{because}")
        return finding._replace(
            severity=finding.severity if waiver is None else kinds.WAIVED,
            remarks=tuple(dict.fromkeys(remarks)),
            facts=tuple(dict.fromkeys(fact.id for fact, _ in told)),
            hints=tuple(dict.fromkeys(hints)),
        )

    def _waiver(self, finding: Discrepancy) -> Waiver | None:
        """The waiver that lets the edge's bound go and whose own bound, if any, holds."""
        for extra in dict.fromkeys((finding.extra, "")):
            waiver = self._waivers.get((finding.package, extra, finding.on))
            if waiver is not None and self.holds(waiver.bound, finding.found):
                return waiver
        return None

    def _rows(self, fact: Fact, finding: Discrepancy) -> Iterator[FactBound]:
        """The rows of a fact that speak of the finding's edge; of a bound that is too strict only when what
        may hold instead does."""
        if fact.kind not in _ABOUT_EDGES or (fact.package, fact.on) != (finding.package, finding.on):
            return
        for row in fact.bounds:
            replaced = fact.kind != "too-strict" or self.holds(row.bound, finding.found)
            if self.holds(row.versions, finding.version) and replaced:
                yield row

    def _edge_text(self, finding: Discrepancy) -> str:
        extra = f"[{finding.extra}]" if finding.extra else ""
        return f"{finding.package}{extra} -> {finding.on}"

    def _explain(self, finding: Discrepancy) -> str:
        extra = f"[{finding.extra}]" if finding.extra else ""
        words = ["compatlock", "explain", "-r", f"{finding.package}{extra}=={finding.version}"]
        words += ["-r", f"{finding.on}=={finding.found}"]
        words += ["--python-version", self._request.target.python]
        words += ["--python-platform", self._request.target.platform]
        return f"`{shlex.join(words)}` looks for ways out"

    # Facts

    def _fact(self, fact: Fact, wanted: Mapping[str, set[str]]) -> Iterator[Discrepancy]:
        subject = self._held.get(fact.package)
        if subject is None or not subject.version or any(name not in self._held for name in fact.present):
            return
        if fact.extra and fact.extra not in wanted[fact.package]:
            return
        for row in fact.bounds:
            if self.holds(row.versions, subject.version) and self._is_broken(fact, row):
                yield self._broken(fact, row, subject)

    def _is_broken(self, fact: Fact, row: FactBound) -> bool:
        on = self._held.get(fact.on)
        if fact.kind == "known-bad":
            return True
        if fact.kind == "undeclared" and on is None:
            return not fact.present
        if on is None or not on.version:
            return False
        if fact.kind == "overlap":
            return self.holds(row.bound, on.version)
        return fact.kind in ("too-loose", "undeclared") and not self.holds(row.bound, on.version)

    def _broken(self, fact: Fact, row: FactBound, subject: Held) -> Discrepancy:
        who = self._who(fact.package, fact.extra)
        on = self._held.get(fact.on)
        found = on.version if on is not None else ""
        if fact.kind == "known-bad":
            what = f"{who} is known to be bad"
        elif on is None:
            what = f"{who} needs {fact.on}{row.bound}, though it does not say so, and it is missing"
        elif fact.kind == "overlap":
            what = f"{who} and {self._who(fact.on)} do not go together"
        else:
            what = f"{who} really needs {fact.on}{row.bound}, but {fact.on} is {found}"
        # That the need is there is certain; a soft fact is only about the version.
        missing = bool(fact.on) and on is None
        return Discrepancy(
            kinds.MISSING if missing else kinds.FACT,
            kinds.WARNING if fact.is_soft and not missing else kinds.ERROR,
            fact.package,
            subject.version,
            what,
            fact.on,
            found,
            row.bound,
            fact.extra,
            remarks=(_remark(fact),),
            facts=(fact.id,),
            hints=(f"`compatlock conflicts show {fact.id}` tells the evidence",) if not fact.is_soft else (),
        )


def _remark(fact: Fact) -> str:
    if fact.kind == "too-strict":
        return f"the bound is known to be too strict: {fact.summary} (fact {fact.id})"
    if fact.kind == "hard":
        return f"the bound must never be waived: {fact.summary} (fact {fact.id})"
    return f"{fact.summary} (fact {fact.id})"
