"""The plots of the report, with matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from benchmarks.report import LATE, OURS, SOLVED, Results, ratio, times_ours
from matplotlib import pyplot, ticker

_COLOURS = {"compatlock": "#0b6e4f", "uv": "#d9480f", "pip": "#1c7ed6", "pip-compile": "#74c0fc"}
_KINDS = {"warm": "#0b6e4f", "refreshed": "#f59f00", "cold": "#4dabf7"}
_OTHERS = {"nab": "#f08c00", "pdm": "#862e9c", "poetry": "#868e96"}


def _save(figure: Any, path: Path) -> None:
    figure.tight_layout()
    # Without the time and versions that would make each file another one.
    figure.savefig(path, dpi=110, metadata={"Software": None})
    pyplot.close(figure)


def _ratios(axes: Any) -> None:
    """A logarithmic axis of ratios, with a line at 1, and numbers as they are said."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, 0.5), max(high, 2.0))
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.axvline(1, color="#333", linewidth=1)


def times(results: dict[str, Results], path: Path) -> None:
    """Warm, refreshed and cold ratios to uv, by problem."""
    names = [
        name
        for name, found in results.items()
        if found.get("uv", {}).get("state") == SOLVED == found.get(OURS, {}).get("state")
    ]
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.34 * len(names)))
    for offset, (kind, colour) in zip((0.27, 0, -0.27), _KINDS.items(), strict=True):
        places = [len(names) - i + offset for i in range(len(names))]
        values = [ratio(results[name][OURS], results[name]["uv"], kind) for name in names]
        # From 1 on: to the left what is faster, to the right what is slower.
        widths = [value - 1 if value else 0 for value in values]
        axes.barh(places, widths, height=0.26, left=1, label=kind, color=colour)
    axes.set_yticks([len(names) - i for i in range(len(names))], names)
    axes.set_xlabel("time of compatlock / time of uv, by the clock (below 1: compatlock is faster)")
    _ratios(axes)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
    _save(figure, path)


def peers(results: dict[str, Results], path: Path) -> None:
    """Time of each tool with an empty cache, relative to compatlock's."""
    rows = [name for name, found in results.items() if found.get(OURS, {}).get("state") == SOLVED]
    figure, axes = pyplot.subplots(figsize=(8, 1.4 + 0.24 * len(rows)))
    for tool, colour in {**_COLOURS, **_OTHERS}.items():
        for state, marker in ((SOLVED, "o"), (LATE, ">")):
            points = [
                (value, len(rows) - i)
                for i, name in enumerate(rows)
                if tool in results[name] and results[name][tool]["state"] == state
                if (value := times_ours(results[name][OURS], results[name][tool])) is not None
            ]
            if points and tool != OURS:
                label = f"{tool}, stopped" if state == LATE else tool
                across, up = zip(*points, strict=True)
                axes.scatter(across, up, label=label, color=colour, marker=marker, s=30)
    axes.set_yticks([len(rows) - i for i in range(len(rows))], rows)
    axes.grid(axis="y", color="#e9ecef")
    axes.set_axisbelow(True)
    _ratios(axes)
    axes.set_xlabel("time of the tool / time of compatlock, with an empty cache (right of the line: slower)")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
    _save(figure, path)


def lags(results: dict[str, Results], path: Path) -> None:
    """Worst root lag of the answers, where any two differ or somebody has none."""
    shown = {
        name: {tool: result["quality"]["worst"] for tool, result in found.items() if result.get("quality")}
        for name, found in results.items()
    }
    shown = {name: found for name, found in shown.items() if len(set(found.values())) > 1}
    tools = [tool for tool in (*_COLOURS, *_OTHERS) if any(tool in found for found in shown.values())]
    figure, axes = pyplot.subplots(figsize=(8, 1.4 + 0.34 * max(len(shown), 1)))
    height = 0.8 / max(len(tools), 1)
    for t, tool in enumerate(tools):
        places = [len(shown) - i + 0.4 - (t + 0.5) * height for i in range(len(shown))]
        values = [found.get(tool, 0) for found in shown.values()]
        axes.barh(places, values, height=height, label=tool, color={**_COLOURS, **_OTHERS}[tool])
    axes.set_yticks([len(shown) - i for i in range(len(shown))], list(shown))
    axes.set_xlabel("days that the worst of what was asked for is behind (less is better)")
    axes.set_xscale("symlog")
    if tools:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
    _save(figure, path)


def growth(found: dict[str, Any], path: Path) -> None:
    """What a lock costs by the size of the index."""
    rows = found["rows"]
    sizes = [row["releases"] for row in rows]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6))
    left.plot(sizes, [row["read"] for row in rows], "o-", label="metadata read", color="#0b6e4f")
    left.plot(sizes, sizes, "--", label="releases in the index", color="#adb5bd")
    right.plot(sizes, [1000 * row["solve"] for row in rows], "o-", label="compatlock, solve", color="#0b6e4f")
    left.set_ylabel("releases")
    right.set_ylabel("ms of the processor")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("releases in the index")
        axes.legend()
    _save(figure, path)
