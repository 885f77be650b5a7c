"""Files of one release that declare different dependencies: which one is installed decides what is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compatlock.model.artefact import Artefact
from compatlock.model.finding import CERTAIN, POSSIBLE, Finding, Place

CHECK = "builds"

Requires = Mapping[str, Sequence[str]]  # file name -> its Requires-Dist lines, as declared


def check_builds(
    artefacts: Sequence[Artefact],
    files: Mapping[str, Requires],
    peers: Mapping[str, str] | None = None,
) -> list[Finding]:
    """Compare the metadata of the files of each release.

    `files` has, by package, the files of the chosen release; `peers` the file that another installer
    would pick for the same target where it is another one (the first build instead of the highest build
    tag, say). Certain when the target's file differs from that one, else possible; sorted by package.
    """
    findings = []
    for artefact in sorted(artefacts, key=lambda a: a.package):
        release = files.get(artefact.package, {})
        own = release.get(artefact.file.filename)
        if own is None:
            continue
        others = {name: lines for name, lines in release.items() if _lines(lines) != _lines(own)}
        if others:
            findings.append(_finding(artefact, own, others, (peers or {}).get(artefact.package, "")))
    return findings


def _lines(requires: Sequence[str]) -> frozenset[str]:
    """The lines without what makes no difference: order, repetition, white space and quotes."""
    return frozenset("".join(line.split()).replace('"', "'").lower() for line in requires)


def _finding(artefact: Artefact, own: Sequence[str], others: Requires, peer: str) -> Finding:
    certain = peer in others
    telling = peer if certain else min(others)
    name = f"{artefact.package} {artefact.version}"
    summary = f"files of {name} declare different dependencies: `{artefact.file.filename}`, which is locked, "
    summary += f"and `{telling}`"
    if certain:
        summary += ", which other installers take for the same target"
    return Finding(
        check=CHECK,
        package=artefact.package,
        on="",
        certainty=CERTAIN if certain else POSSIBLE,
        summary=summary,
        places=tuple(
            Place(artefact.package, artefact.version, file)
            for file in (artefact.file.filename, telling, *sorted(set(others) - {telling}))
        ),
        details=tuple(
            f"{file}: {sign} {line}"
            for file in [telling, *sorted(set(others) - {telling})]
            for sign, line in _difference(own, others[file])
        ),
    )


def _difference(own: Sequence[str], other: Sequence[str]) -> list[tuple[str, str]]:
    """What another file declares beyond the locked one (`+`), and what it does not declare (`-`)."""
    ours, theirs = _lines(own), _lines(other)
    more = [("+", line) for line in sorted(set(other)) if not _lines([line]) <= ours]
    return more + [("-", line) for line in sorted(set(own)) if not _lines([line]) <= theirs]
