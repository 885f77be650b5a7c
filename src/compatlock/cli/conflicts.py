"""`compatlock conflicts`: the facts that are known beside declared metadata."""

from __future__ import annotations

from typing import Any

import click

from compatlock.cli.conflicts_suggest import suggest
from compatlock.cli.conflicts_verify import verify
from compatlock.cli.evidence import evidence_line
from compatlock.cli.messages import out, out_json, say
from compatlock.cli.sheet import columns, sheet
from compatlock.errors import InputError
from compatlock.knowledge.documented import DocumentedFact, documented_facts
from compatlock.model.fact import FactBound
from compatlock.model.names import closest, normalise

JSON_VERSION = 1

# What each kind as written means, for people.
_KINDS = {
    "too-loose": "what is declared allows what does not work",
    "abi": "binary interfaces do not fit, which nothing declares",
    "api": "Python interfaces do not fit, which nothing declares",
    "undeclared": "a dependency that is not declared",
    "overlap": "both own the same files",
    "known-bad": "releases that are no candidates",
    "hard": "the declared bound must never be waived",
    "too-strict": "the declared bound forbids what works; may be waived",
    "cuda": "the CUDA that it was built for",
    "declared-unsat": "what is declared contradicts itself",
    "policy": "recorded",
}

_facts_option = click.option(
    "--facts", "files", multiple=True, metavar="FILE", help="Include a further facts file (repeatable)."
)
_no_shipped_option = click.option(
    "--no-shipped-facts", is_flag=True, help="Leave out the facts that come with compatlock."
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(short_help="List, show and verify known conflicts.")
def conflicts() -> None:
    """Known conflicts: facts about packages that their metadata does not tell, or tells wrongly."""


conflicts.add_command(verify)
conflicts.add_command(suggest)


@conflicts.command("list", short_help="List the facts.")
@click.argument("packages", nargs=-1, metavar="[PACKAGE]...")
@_facts_option
@_no_shipped_option
@_json_option
def list_conflicts(
    *, packages: tuple[str, ...], files: tuple[str, ...], no_shipped_facts: bool, as_json: bool
) -> None:
    """List the facts, or those that speak of one of the PACKAGEs."""
    facts = documented_facts(files, shipped=not no_shipped_facts)
    names = {normalise(name): name for name in packages}
    chosen = [item for item in facts if not names or item.packages & names.keys()]
    if as_json:
        out_json({"version": JSON_VERSION, "facts": [_brief(i) for i in chosen]})
    elif chosen:
        rows = [(item.fact.id, item.kind, item.severity or "-", item.fact.summary) for item in chosen]
        out(columns(rows) + "\n")
    spoken_of = frozenset().union(*(item.packages for item in facts))
    for name, asked in names.items():
        if name not in spoken_of:
            say(f"no fact speaks of {asked}{_did_you_mean(name, spoken_of)}")


@conflicts.command("show", short_help="Show a fact.")
@click.argument("id", metavar="ID")
@_facts_option
@_no_shipped_option
@_json_option
def show_conflict(*, id: str, files: tuple[str, ...], no_shipped_facts: bool, as_json: bool) -> None:
    """Show all that is recorded about a fact: bounds, evidence and source."""
    facts = {item.fact.id: item for item in documented_facts(files, shipped=not no_shipped_facts)}
    if id not in facts:
        of_package = [name for name, item in facts.items() if normalise(id) in item.packages]
        hints = [f"facts that speak of {id}: {', '.join(of_package)}"] if of_package else []
        hints += [] if of_package else [_did_you_mean(id, facts).removeprefix("; ")]
        raise InputError(
            f"unknown fact `{id}`", hints=[*filter(None, hints), "`compatlock conflicts list` lists them all"]
        )
    item = facts[id]
    if as_json:
        out_json({"version": JSON_VERSION, "fact": _encode(item)})
    else:
        out(sheet(_rows(item)) + "\n")


def _did_you_mean(word: str, known: Any) -> str:
    close = closest(word, known)
    return f"; did you mean `{close}`?" if close else ""


def _rows(item: DocumentedFact) -> list[tuple[str, str | list[str]]]:
    fact = item.fact
    severity = item.severity
    if fact.is_soft:
        severity += f": counts as {fact.broken_days} days behind when broken"
    when = [f"{name} is there" for name in fact.present]
    when += [f"{fact.package}[{fact.extra}] is asked for"] if fact.extra else []
    when += [f"a profile names the feature {fact.feature}"] if fact.feature else []
    return [
        ("fact", fact.id),
        ("summary", fact.summary),
        ("kind", f"{item.kind}: {_KINDS[item.kind]}"),
        ("severity", severity),
        ("package", fact.package),
        ("on", fact.on),
        ("when", when),
        ("bounds" if fact.on else "releases", [_bound(item, row) for row in fact.bounds]),
        ("evidence", [evidence_line(piece) for piece in item.evidence]),
        ("source", fact.source),
        ("file", fact.origin),
    ]


def _bound(item: DocumentedFact, row: FactBound) -> str:
    fact = item.fact
    releases = f"{fact.package} {_readable(row.versions) or '(every release)'}"
    bound = _readable(row.bound) or "(any release)"
    if not fact.on:
        return releases
    if fact.kind == "overlap":
        return f"{releases}: not with {fact.on} {bound}"
    if fact.kind in ("hard", "declared-unsat"):
        return f"{releases}: {fact.on} as declared"
    return f"{releases}: {fact.on} {bound}"


def _readable(specifier: str) -> str:
    """A specifier with its upper bounds behind the others."""
    return ",".join(sorted(specifier.split(","), key=lambda part: (part.startswith("<"), part)))


def _brief(item: DocumentedFact) -> dict[str, Any]:
    return {
        "id": item.fact.id,
        "kind": item.kind,
        "severity": item.severity or None,
        "package": item.fact.package,
        "on": item.fact.on or None,
        "summary": item.fact.summary,
    }


def _encode(item: DocumentedFact) -> dict[str, Any]:
    fact = item.fact
    return {
        **_brief(item),
        "applied_as": fact.kind,
        "bounds": [{"versions": row.versions, "bound": row.bound} for row in fact.bounds],
        "when": {
            "present": list(fact.present),
            "extra": fact.extra or None,
            "feature": fact.feature or None,
        },
        "evidence": [piece.model_dump(exclude_none=True) for piece in item.evidence],
        "source": fact.source,
        "origin": fact.origin,
    }
