"""A difference between two locks in words: text, Markdown for a pull request, JSON."""

from __future__ import annotations

import re

from compatlock.lockfile.diff import (
    ADDED,
    DOWNGRADE,
    MAJOR,
    MARKERS,
    MINOR,
    OTHER,
    PATCH,
    REMOVED,
    STEPS,
    Diff,
    Step,
)
from compatlock.model.display import one_line, without_credentials

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

JSON_VERSION = 1
_TITLES = {
    DOWNGRADE: "Downgrades",
    MAJOR: "Major steps",
    MINOR: "Minor steps",
    PATCH: "Patches",
    OTHER: "Other builds",
    MARKERS: "For other environments",
    ADDED: "Added",
    REMOVED: "Removed",
}
# Parts of a Markdown text that are folded when they have more rows than this.
_FOLDED = (MINOR, PATCH, OTHER, MARKERS, ADDED, REMOVED)
_ROWS_SHOWN = 5


def diff_text(diff: Diff) -> str:
    """The difference in lines, what matters most first; ends with a line end."""
    if diff.is_empty:
        return f"{_clean(diff.old)} and {_clean(diff.new)} pin the same\n"
    lines = [*_notable(diff)]
    for step, entries in _grouped(diff):
        lines.append(f"{_TITLES[step]}:")
        lines += (f"  {_entry(entry)}{' (asked for)' if entry.is_root else ''}" for entry in entries)
    return "".join(f"{line}\n" for line in (*lines, _counts(diff)))


def diff_markdown(diff: Diff) -> str:
    """The difference for a pull request (GitHub Flavored Markdown): what matters first, long parts folded."""
    if diff.is_empty:
        return "The lock pins the same as before.\n"
    lines = [f"**{_counts(diff)}**", ""]
    notable = [f"- {_escape(line)}" for line in _notable(diff)]
    lines += [*notable, ""] if notable else []
    for step, entries in _grouped(diff):
        fold = step in _FOLDED and len(entries) > _ROWS_SHOWN
        title = f"{_TITLES[step]} ({len(entries)})"
        lines += ["<details>", f"<summary>{title}</summary>", ""] if fold else [f"**{title}**", ""]
        lines += ["| package | old | new |", "|---|---|---|"]
        lines += (_row(entry) for entry in entries)
        lines += ["", "</details>", ""] if fold else [""]
    return "\n".join(lines)


def diff_json(diff: Diff) -> dict[str, Any]:
    """The difference as plain JSON values; `version` names the schema."""
    return {
        "version": JSON_VERSION,
        "same": diff.is_empty,
        "old": diff.old,
        "new": diff.new,
        "changes": [
            {
                "name": s.change.name,
                "old": s.change.old,
                "new": s.change.new,
                "step": s.step,
                "root": s.is_root,
            }
            for s in diff.steps
        ],
        "waivers_gained": list(diff.waivers_gained),
        "waivers_lost": list(diff.waivers_lost),
        "target": list(diff.target),
        "cuda": list(diff.cuda),
    }


def _notable(diff: Diff) -> Iterator[str]:
    before, after = diff.cuda
    if before != after:
        yield f"CUDA: {before or 'none'} -> {after or 'none'}" + (
            ": the target's driver has to run it" if after > before else ""
        )
    if "," in after:
        yield f"CUDA: the set mixes {after.replace(', ', ' and ')}"
    if diff.target[0] != diff.target[1]:
        yield _clean(f"target: {diff.target[0]} -> {diff.target[1]}")
    yield from (_clean(f"waiver gained: {edge}: this bound no longer holds") for edge in diff.waivers_gained)
    yield from (_clean(f"waiver no longer needed: {edge}") for edge in diff.waivers_lost)


def _grouped(diff: Diff) -> Iterator[tuple[str, list[Step]]]:
    for step in STEPS:
        entries = [entry for entry in diff.steps if entry.step == step]
        if entries:
            yield step, entries


def _entry(entry: Step) -> str:
    name, old, new = (_clean(text) for text in entry.change)
    if entry.step == ADDED:
        return f"{name} {new}"
    return f"{name} {old}" if entry.step == REMOVED else f"{name} {old} -> {new}"


def _row(entry: Step) -> str:
    name, old, new = (_escape(_clean(text)) for text in entry.change)
    return f"| {f'**{name}**' if entry.is_root else name} | {old} | {new} |"


def _counts(diff: Diff) -> str:
    if not diff.steps:
        return "no pin changed"
    counts = {step: len(entries) for step, entries in _grouped(diff)}
    words = [(counts.get(ADDED, 0), "added"), (counts.get(REMOVED, 0), "removed")]
    changed = len(diff.steps) - sum(number for number, _ in words)
    return ", ".join(f"{number} {word}" for number, word in ((changed, "changed"), *words) if number)


def _clean(text: str) -> str:
    return without_credentials(one_line(text))


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)
