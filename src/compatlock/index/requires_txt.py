"""Setuptools' `NAME.egg-info/requires.txt`, turned into Requires-Dist lines."""

from __future__ import annotations

from compatlock.model.names import normalise


def parse_requires_txt(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (Requires-Dist lines, extras) of a requires.txt.

    Requirements before the first section always hold; a section is `[extra]`, `[:marker]` or
    `[extra:marker]`, and becomes part of the markers of its lines. The lines are not checked.
    """
    lines: list[str] = []
    extras: dict[str, None] = {}
    section = ""
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            extra, _, marker = line[1:-1].partition(":")
            extra = extra.strip()
            if extra:
                extras.setdefault(extra)
            section = _joined(marker.strip(), f'extra == "{normalise(extra)}"' if extra else "")
        elif line and not line.startswith("#"):
            requirement, marker = _split(line)
            condition = _joined(marker, section)
            lines.append(f"{requirement} ; {condition}" if condition else requirement)
    return tuple(lines), tuple(extras)


def _split(line: str) -> tuple[str, str]:
    """Return the requirement and its own marker; a URL may hold semicolons, so there a space comes first."""
    requirement, _, marker = line.partition(" ;" if "@" in line else ";")
    return requirement.strip(), marker.strip()


def _joined(first: str, second: str) -> str:
    """Both markers; the parentheses matter when one of them has an `or`."""
    if first and second:
        return f"({first}) and ({second})"
    return first or second
