"""Names that a distribution imports from another one, whose chosen release lacks them.

Certain are imports that are carried out whenever the distribution is imported, without a `try` or a
condition around them. What happens within functions, under conditions, or in modules that only a user
imports, is reported as possible.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from compatlock.audit.layout import is_for_tests
from compatlock.audit.library import Library
from compatlock.audit.modules import CHOSEN, LATER, NOW, Import
from compatlock.audit.observed import not_with
from compatlock.audit.offers import HAS, LACKS, Offers
from compatlock.audit.outline import ATTRIBUTE, INDENTED
from compatlock.audit.reach import Chains, reach
from compatlock.audit.site import Site
from compatlock.model.artefact import Artefact, Observations, WheelReader
from compatlock.model.finding import CERTAIN, POSSIBLE, UNREAD, Finding, Place
from compatlock.model.named_tuple import NamedTuple

CHECK = "imports"
EVIDENCE = "member_import"
_MARKS = ATTRIBUTE + INDENTED


class _Use(NamedTuple):
    """An import of a name that is not there; `importer` is a module, `provider` a package."""

    importer: str
    edge: Import
    provider: str
    certain: bool


def check_imports(
    artefacts: Sequence[Artefact],
    reader: WheelReader,
    observations: Observations,
    *,
    entries: Collection[str] = (),
    deep: Collection[str] = (),
) -> list[Finding]:
    """Look for imports that fail.

    `entries` are modules that will be imported besides the distributions' top-level ones. Of the packages
    in `deep` all modules are looked at, not only those that importing them imports. One finding for each
    importing package, imported package and certainty; sorted.
    """
    directories = reader.directories(artefact.file for artefact in artefacts)
    site = Site(artefacts, directories)
    library = Library(site, reader, observations)
    reached: dict[str, str] = {}
    together = {artefact.package for artefact in artefacts}
    followed = frozenset(a.package for a in artefacts if a.requires or a.package in deep)
    tops = {top for package in followed & together for top in site.tops(package)}
    parts = {part for package in followed for part in site.parts(package)} - set(entries)
    for group in (tops - parts | set(entries), parts):
        reached = reach(library, group, followed, reached)
    importers = [module for module in reached if site.find(module).owner in followed]
    rest = [m for package in sorted(set(deep) & together) for m in site.modules(package) if m not in reached]
    chains = Chains(library, reached)
    uses = _failing(library, reached, chains, parts, [*importers, *rest])
    findings = [_finding(site, reached, chains, group) for group in _grouped(site, uses)]
    if library.unread:
        findings.append(_unread(site, library.unread))
    return sorted(findings, key=lambda f: (f.package, f.on, f.certainty))


def lacks(
    artefact: Artefact, module: str, name: str, reader: WheelReader, observations: Observations
) -> bool | None:
    """Return whether a release lacks `module` or, unless it is `""`, the name in it; None if that cannot be
    told from its files. Cheap: reads the modules that decide it, mostly one."""
    site = Site([artefact], reader.directories([artefact.file]))
    answer = Offers(Library(site, reader, observations)).answer({(module, name)})[module, name]
    return True if answer == LACKS else False if answer == HAS else None


def imports_name(
    artefact: Artefact, importer: str, module: str, name: str, reader: WheelReader, observations: Observations
) -> bool | None:
    """Return whether `importer`, a module of a release, imports `name` of `module` whenever it is imported
    itself; None if that cannot be told, as when there is no such module."""
    site = Site([artefact], reader.directories([artefact.file]))
    library = Library(site, reader, observations)
    library.load([importer])
    summary = library.summaries[importer]
    found = any((i.module, i.name, i.when) == (module, name, NOW) for i in summary.imports)
    return True if found else None if library.unread or not site.exists(importer) else False


def _failing(
    library: Library,
    reached: Mapping[str, str],
    chains: Chains,
    parts: Collection[str],
    modules: Sequence[str],
) -> list[_Use]:
    """Return the imports of `modules` that fail; certain are those of modules that were `reached` for sure,
    and not from one of `parts`, of which a package has several.

    Outlines tell what might fail; the summaries of these few modules tell whether and when.
    """
    site = library.site
    library.outline(modules)
    foreign = [
        (module, target, names)
        for module in modules
        for target, names in library.outlines[module].imports.items()
        if _provider(site, module, target)
    ]
    lacking = _lacking(library, [(target, names) for _, target, names in foreign])
    suspects = sorted(
        (module, target, name)
        for module, target, names in foreign
        for name in {name.lstrip(_MARKS) for name in names}
        if (target, name) in lacking
    )
    library.load({module for module, _, _ in suspects})
    edges_of = _edges(library, {module for module, _, _ in suspects})
    uses = []
    minded = set()  # what a package takes care of somewhere: it knows that it may be missing
    for module, target, name in suspects:
        edges = [e for e in edges_of.get((module, target, name), ()) if e.when in (NOW, CHOSEN, LATER)]
        if not edges:
            minded.add((site.find(module).owner, target, name))
            continue
        sure = module in reached and chains.entry(module) not in parts and name not in library.patches
        sure = sure and chains.is_sure(module)
        provider = _provider(site, module, target)
        uses += [_Use(module, edge, provider, sure and edge.when == NOW) for edge in edges]
    return [
        use
        for use in uses
        if use.certain or (site.find(use.importer).owner, use.edge.module, use.edge.name) not in minded
    ]


def _edges(library: Library, modules: Iterable[str]) -> dict[tuple[str, str, str], list[Import]]:
    """The imports of modules, by the module, what it imports from, and the name."""
    edges: dict[tuple[str, str, str], list[Import]] = {}
    for module in modules:
        for edge in library.summaries[module].imports:
            edges.setdefault((module, edge.module, edge.name), []).append(edge)
    return edges


def _lacking(library: Library, imports: list[tuple[str, Sequence[str]]]) -> set[tuple[str, str]]:
    """Return those of `(module, name)` that are not there."""
    offers = Offers(library)
    asked = {
        indented: {
            (m, n.lstrip(_MARKS)) for m, names in imports for n in names if (n[:1] == INDENTED) == indented
        }
        for indented in (False, True)
    }
    lacking = set()
    # What is imported for sure comes first, so that limits cut off the rest.
    for questions in (asked[False], asked[True] - asked[False]):
        answers = offers.answer(questions)
        lacking |= {question for question in questions if answers[question] == LACKS}
    # By now more is known of the modules that make up others.
    answers = offers.answer(lacking)
    return {question for question in lacking if answers[question] == LACKS}


def _provider(site: Site, importer: str, module: str) -> str:
    """The package that a module belongs to, `""` when it is the importer's own or in no artefact."""
    if not site.is_ours(module) or is_for_tests(module.partition(".")[0]):
        return ""  # the standard library has a package `test`, and so has every source tree
    owner = site.owner(module)
    return owner if owner != site.find(importer).owner else ""


def _grouped(site: Site, uses: Iterable[_Use]) -> list[list[_Use]]:
    groups: dict[tuple[str, str, bool], list[_Use]] = {}
    for use in uses:
        groups.setdefault((site.find(use.importer).owner, use.provider, use.certain), []).append(use)
    return [sorted(groups[key], key=lambda u: (u.importer, u.edge)) for key in sorted(groups)]


def _finding(site: Site, reached: Mapping[str, str], chains: Chains, uses: list[_Use]) -> Finding:
    first = uses[0]
    one = site.artefacts[site.find(first.importer).owner]
    other = site.artefacts[first.provider]
    summary = (
        f"{one.package} {one.version} imports {_names(uses)} from {other.package}, "
        f"which {other.package} {other.version} does not have"
    )
    if first.certain:
        summary += f": `import {chains.entry(first.importer)}` fails"
    return Finding(
        check=CHECK,
        package=one.package,
        on=other.package,
        certainty=CERTAIN if first.certain else POSSIBLE,
        summary=summary,
        places=tuple(_place(site, one, use) for use in uses),
        fact=not_with(CHECK, "too-loose", one, other, summary=summary, evidence=EVIDENCE),
        details=tuple(dict.fromkeys(_detail(reached, chains, use) for use in uses)),
    )


def _names(uses: list[_Use]) -> str:
    names = list(dict.fromkeys(f"`{_dotted(use.edge)}`" for use in uses))
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _dotted(edge: Import) -> str:
    return f"{edge.module}.{edge.name}" if edge.name else edge.module


def _place(site: Site, artefact: Artefact, use: _Use) -> Place:
    member = site.find(use.importer).member
    path = member.path if member else ""
    return _place_of(artefact, path, use.edge.line)


def _detail(reached: Mapping[str, str], chains: Chains, use: _Use) -> str:
    """Where one name is imported, and how that comes to pass."""
    text = f"{use.importer}, line {use.edge.line}: {_dotted(use.edge)}"
    if use.edge.when == LATER:
        return f"{text} (within a function)"
    if use.edge.when == CHOSEN:
        return f"{text} (under a condition)"
    if use.importer not in reached:
        return f"{text} (when this module is imported)"
    steps = chains.told(use.importer)
    return f"{text} (by {' -> '.join(steps)})" if len(steps) > 1 else text


def _unread(site: Site, modules: Collection[str]) -> Finding:
    count = len(modules)
    summary = (
        f"{count} module{' was' if count == 1 else 's were'} not read, as too many, too large or damaged "
        f"(`{min(modules)}`{'' if count == 1 else ' and others'})"
    )
    found = [site.find(module) for module in sorted(modules)]
    places = tuple(
        _place_of(site.artefacts[at.owner], at.member.path) for at in found if at.member is not None
    )
    return Finding(check=CHECK, package="", on="", certainty=UNREAD, summary=summary, places=places)


def _place_of(artefact: Artefact, path: str, line: int = 0) -> Place:
    return Place(artefact.package, artefact.version, artefact.file.filename, path, line)
