"""`compatlock conflicts verify`: whether what facts say can still be seen in the index."""

from __future__ import annotations

from typing import Any

import click

from compatlock.cli.messages import out, out_json, say
from compatlock.cli.parameters import parameters, refuse_empty
from compatlock.cli.progress import ProgressDisplay
from compatlock.cli.settled import options_of, settled
from compatlock.errors import InputError
from compatlock.model.names import closest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from compatlock.knowledge.documented import DocumentedFact

# The options of `lock` that are for this command too.
_TAKEN = {
    "python", "platform", "default_index", "indexes", "index_for", "cert", "facts", "no_shipped_facts",
    "exclude_newer", "offline", "cache_dir", "no_cache", "as_json", "quiet", "verbose",
}  # fmt: skip
_HELP = {
    "python": "Python whose wheel is looked into where a release has several; 3.12 unless given.",
    "platform": "Platform whose wheel is looked into; x86_64 Linux unless given.",
    "facts": "Include a further facts file (repeatable).",
    "as_json": "Print the report as JSON on standard output.",
    "quiet": "Print only what is wrong.",
    "verbose": "Show all evidence, and what cannot be checked.",
}


def _run(*, ids: tuple[str, ...], **values: Any) -> None:
    from compatlock.api.audit.verify_facts import verify_facts
    from compatlock.cli.verify_words import describe_verified, verified_to_json
    from compatlock.knowledge.documented import documented_facts

    given, remarks = settled({**values, "cuda": "", "driver": ""})
    for setting in ("cuda", "driver"):
        given.pop(setting, None)
    as_json, quiet, verbose = given.pop("as_json"), given.pop("quiet"), given.pop("verbose")
    facts = documented_facts(given.pop("facts"), shipped=not given.pop("no_shipped_facts"))
    chosen = _chosen(facts, ids)
    options = options_of(given)
    with ProgressDisplay(enabled=not quiet) as on_progress:
        report = verify_facts(options, chosen, on_progress=on_progress)
    if not quiet:
        for note in (*remarks, *report.notes):
            say(f"note: {note}")
    if as_json:
        out_json(verified_to_json(report, chosen))
    else:
        out(describe_verified(report, chosen, verbose=verbose, failures_only=quiet))
    if not report.holds:
        raise click.exceptions.Exit(1)


def _chosen(facts: Sequence[DocumentedFact], ids: Sequence[str]) -> list[DocumentedFact]:
    """The facts of the ids, in the order of their files; all for none. Raises InputError for unknown ones."""
    known = {item.fact.id for item in facts}
    for wanted in ids:
        if wanted not in known:
            close = closest(wanted, known)
            hints = [f"did you mean `{close}`?"] if close else []
            hints.append("`compatlock conflicts list` lists them all")
            raise InputError(f"unknown fact `{wanted}`", hints=hints)
    return [item for item in facts if not ids or item.fact.id in ids]


verify = click.Command(
    "verify",
    callback=_run,
    params=[
        click.Argument(["ids"], nargs=-1, metavar="[ID]...", callback=refuse_empty),
        *parameters(_TAKEN, _HELP),
    ],
    help="""Check the evidence of the facts again, or that of the facts ID: against what the index has now.

    What releases declare and what is in their wheels is looked up, by range requests, and remembered. A fact
    is confirmed; refuted, if it is not so; stale, if it is no longer so in newer releases that it speaks of;
    or unchecked: what was executed, or stands on a web page. Exit code 0: nothing is refuted or stale, 1:
    something is, 2: bad usage or input, 3: no index.
    """,
    short_help="Check the evidence of facts again.",
)
