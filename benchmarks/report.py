"""The report: docs/benchmarks.md and its plots, of the results that runs kept."""

from __future__ import annotations

import json
import os
import platform
import textwrap
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.peers import PLATFORM, PYTHON_VERSION, TOOLS
from benchmarks.problems import PROBLEMS
from benchmarks.replay import EXCLUDE_NEWER

from compatlock.model.display import counted

OURS = "compatlock"
SOLVED, MISSED, LATE = "solved", "not recorded", "timeout"
Results = dict[str, dict[str, Any]]
_NONE = "–"
_KINDS = ("warm", "refreshed", "cold")

_HEAD = """\
# Benchmarks

Made by `python -m benchmarks.run`; see [benchmarks/README.md](../benchmarks/README.md) for how to run it.

{machine}; results of {dates}. The index is replayed over the loopback interface ({protocol}; listings
compressed and metadata files for every wheel, as the public index has them; each answer takes {latency} ms),
as it was on {cut}. All tools lock for Python {python} and {platform}, each from an empty folder; uv and
compatlock write hashes. The load of the machine was {load} when runs began. A ratio is the median of the
ratios of runs of both right after each other, in turn, so that load hits both; the number of them is in
brackets.
"""


def load_results(folder: Path) -> dict[str, Results]:
    """Results by problem and tool, in the order of the tables of both."""
    found: dict[str, Results] = {}
    for name in PROBLEMS:
        for tool in TOOLS:
            path = folder / "results" / f"{name}.{tool}.json"
            if path.exists():
                result = json.loads(path.read_text(encoding="utf-8"))
                found.setdefault(name, {})[tool] = result
    return found


def ratio(ours: dict[str, Any], theirs: dict[str, Any], kind: str, field: int = 0) -> float | None:
    """The median of compatlock's time by the peer's, of runs right after each other; `field` 1 is the time of
    the processor. None where there is none that means anything."""
    if MISSED in (ours.get("state"), theirs.get("state")):
        return None
    pairs = list(zip(ours.get(kind, []), theirs.get(kind, []), strict=False))
    return median(a[field] / b[field] for a, b in pairs) if pairs else None


def times_ours(ours: dict[str, Any], theirs: dict[str, Any]) -> float | None:
    """How many times compatlock's time with an empty cache a peer takes; after a timeout it is more than
    that. None where nothing can be said."""
    if ours.get("state") != SOLVED:
        return None
    middle = _middle(ours, "cold", 0)
    if not middle:
        return None
    if theirs.get("state") == LATE:
        seconds: float = theirs["limit"]
        return seconds / middle
    value = ratio(ours, theirs, "cold") if len(theirs.get("cold", [])) > 1 else None
    taken = _middle(theirs, "cold", 0)
    return 1 / value if value else taken and taken / middle


def _middle(result: dict[str, Any], kind: str, field: int) -> float | None:
    runs = result.get(kind, [])
    return median(run[field] for run in runs) if runs else None


def _cell(value: float | None, scale: float = 1.0, digits: int = 0) -> str:
    return _NONE if value is None else f"{value * scale:,.{digits}f}"


def _ratio_cell(ours: dict[str, Any], theirs: dict[str, Any], kind: str) -> str:
    value = ratio(ours, theirs, kind)
    count = min(len(ours.get(kind, [])), len(theirs.get(kind, [])))
    return _NONE if value is None else f"{value:.2f} ({count})"


def _tools(results: dict[str, Results]) -> list[str]:
    return [tool for tool in TOOLS if any(tool in found for found in results.values())]


def solved_table(results: dict[str, Results]) -> Iterator[str]:
    """What came of each problem."""
    tools = _tools(results)
    yield "| problem | kind | " + " | ".join(tools) + " |"
    yield "|---|---" * 1 + "|---" * len(tools) + "|"
    for name, found in results.items():
        states = [found[tool]["state"] if tool in found else "not run" for tool in tools]
        yield f"| {name} | {PROBLEMS[name].kind} | " + " | ".join(states) + " |"


def time_table(results: dict[str, Results]) -> Iterator[str]:
    """Whole processes of compatlock and uv: time, memory, requests."""
    yield (
        "| problem | warm ms: compatlock, uv | ratio | of the processor "
        "| refreshed ms: compatlock, uv | ratio | of the processor "
        "| cold ms: compatlock, uv | ratio | of the processor | peak MB warm: compatlock, uv | cold "
        "| requests: compatlock, uv | MB received: compatlock, uv |"
    )
    yield "|---" * 14 + "|"
    for name, found in results.items():
        if OURS not in found or "uv" not in found:
            continue
        if {MISSED, LATE} & {found[OURS]["state"], found["uv"]["state"]}:
            continue
        both = [found[OURS], found["uv"]]
        cells = [name]
        for kind in _KINDS:
            cells.append(", ".join(_cell(_middle(each, kind, 0), 1000) for each in both))
            cells.append(_ratio_cell(both[0], both[1], kind))
            cells.append(_cell(ratio(both[0], both[1], kind, 1), digits=2))
        peaks = ([_middle(each, kind, 2) for each in both] for kind in ("warm", "cold"))
        cells += (", ".join(_cell(peak, 2**-20) for peak in pair) for pair in peaks)
        cells.append(", ".join(_cell(each["stats"]["requests"]) for each in both))
        cells.append(", ".join(_cell(each["stats"]["bytes"], 1e-6, 1) for each in both))
        yield "| " + " | ".join(cells) + " |"


def summary(results: dict[str, Results]) -> str:
    """The middle ratios to uv, over all problems that both solve."""
    both = [
        (found[OURS], found["uv"])
        for found in results.values()
        if found.get(OURS, {}).get("state") == SOLVED == found.get("uv", {}).get("state")
    ]
    words = []
    for kind in _KINDS:
        values = [value for pair in both if (value := ratio(*pair, kind)) is not None]
        if values:
            words.append(
                f"{kind} {median(values):.2f} in the middle of {counted(len(values), 'problem')} "
                f"({min(values):.2f} to {max(values):.2f}; below 1 in {sum(value < 1 for value in values)})"
            )
    if not words:
        return "There is no problem that both find an answer to."
    return f"Where both find an answer, the time of compatlock / the time of uv is {'; '.join(words)}."


def peer_table(results: dict[str, Results]) -> Iterator[str]:
    """How many times longer than compatlock each peer takes with an empty cache."""
    peers = [tool for tool in _tools(results) if tool != OURS]
    yield "| problem | compatlock s | " + " | ".join(f"{peer}" for peer in peers) + " |"
    yield "|---|---" + "|---" * len(peers) + "|"
    for name, found in results.items():
        if found.get(OURS, {}).get("state") != SOLVED:
            continue
        cells = [name, _cell(_middle(found[OURS], "cold", 0), digits=2)]
        for peer in peers:
            state = found.get(peer, {}).get("state", _NONE)
            value = times_ours(found[OURS], found[peer]) if peer in found else None
            if state == LATE:
                cells.append(f"> {value:.1f}")
            else:
                cells.append(f"{value:.2f}" if value and state == SOLVED else state)
        yield "| " + " | ".join(cells) + " |"


def quality_table(results: dict[str, Results]) -> Iterator[str]:
    """Lag of each answer, by tiers, and what does not fit in it."""
    yield (
        "| problem | tool | worst root lag, days | sum over roots, days | ... releases "
        "| lag at depth 1, 2, 3, deeper, releases | packages | does not fit | audit |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, found in results.items():
        for tool, result in found.items():
            lag = result.get("quality")
            if lag is None:
                continue
            depths = ", ".join(f"{value:,}" for value in lag["depths"])
            days = f"{lag['worst']:,} | {lag['root_days']:,} | {lag['root_releases']:,}"
            broken = len(result["audit"]["breaks"]) if "audit" in result else _NONE
            yield f"| {name} | {tool} | {days} | {depths} | {lag['packages']} | {lag['unfit']} | {broken} |"


def audit_list(results: dict[str, Results]) -> Iterator[str]:
    """What breaks in the answers, whatever their metadata says, with the answers in which it does."""
    said: dict[str, list[str]] = {}
    for name, found in results.items():
        for tool, result in found.items():
            for _check, _package, _on, summary in result.get("audit", {"breaks": ()})["breaks"]:
                said.setdefault(summary, []).append(f"{name} ({tool})")
    for summary, answers in said.items():
        yield f"- {summary}. In: {', '.join(answers)}."


def text(results: dict[str, Results], growth: str) -> str:
    """The whole document, without sections that nothing is to be said in."""
    every = [result for found in results.values() for result in found.values()]
    dates = sorted({_day(result["measured"]) for result in every})
    loads = [result["load"] for result in every]
    system = f"{os.cpu_count()} cores, {platform.system()}, CPython {platform.python_version()}"
    head = _HEAD.format(
        machine=f"{_processor()}, {system}",
        dates=" to ".join(dict.fromkeys((dates[0], dates[-1]))),
        cut=EXCLUDE_NEWER,
        python=PYTHON_VERSION,
        platform=f"`{PLATFORM}`",
        load=f"{min(loads)} to {max(loads)}",
        latency=" or ".join(f"{value:g}" for value in sorted({result["latency"] for result in every})),
        protocol=" or ".join(sorted({_PROTOCOLS[result["protocol"]] for result in every})),
    )
    limits = sorted({result["limit"] for result in every})
    solved = _SOLVED_WORDS.format(limits=" or ".join(f"{limit:g}" for limit in limits))
    parts = [_wrapped(head), "## Tools", "", *_tool_list(results), ""]
    for title, words, table in (
        ("Solved or not", solved, solved_table),
        ("compatlock and uv", f"{_TIME_WORDS}\n\n{summary(results)}", time_table),
        ("All tools, with an empty cache", _PEER_WORDS, peer_table),
        ("How good the answers are", _QUALITY_WORDS, quality_table),
        ("What breaks in the answers", _AUDIT_WORDS, audit_list),
    ):
        rows = [*table(results)]
        if rows[-1:] and not rows[-1].startswith("|---"):
            parts += [f"## {title}", "", _wrapped(words), "", *rows, ""]
    left = [name for name in PROBLEMS if name not in results]
    if left:
        parts += [_wrapped(f"{_LEFT_WORDS} {', '.join(left)}."), ""]
    return "\n".join(parts) + growth


_LEFT_WORDS = """\
These problems of the suite were not recorded or not run for this report, so nothing is said of them:"""
_PROTOCOLS = {"h2": "TLS, with HTTP/2 for the tools that speak it", "http/1.1": "HTTP/1.1"}
_SOLVED_WORDS = """\
*no answer*: the tool says that there is none, or fails; *timeout*: not ended after {limits} s (the shorter
time is that of other peers than uv); *not recorded*: it wanted to read what the recording does not have, so
its figures would mean nothing."""
_TIME_WORDS = """\
*warm* is offline, with the cache that the last cold run left, and the same command again, so that
compatlock knows what the search will read; *refreshed* is with that cache, too, but the listings in it are
too old to be believed: the index is asked whether they changed, and none did; *cold* is with an empty cache.
Ratios are compatlock / uv: below 1, compatlock is faster; the second one is of the time that the processor
spent on each (user and system, all processes), which other work on the machine disturbs least. Peak memory
is that of the process or of its largest child.

![Warm, refreshed and cold time of compatlock relative to uv](images/bench-uv.png)"""
_PEER_WORDS = """\
How many times compatlock's time a tool takes (its time / compatlock's, cold); others than uv are run once,
two of them at a time. An arrow stands for a run that had not ended when its time was over.

![Time of each tool relative to compatlock](images/bench-peers.png)"""
_QUALITY_WORDS = """\
Measured alike for the pins of every tool: how far they are behind the newest release that the target
allows, by the tiers of
compatlock's objective, the most important first; and how many declared bounds and known conflicts they
break (as `compatlock
check` counts them). compatlock heeds known conflicts, so it may be further behind where the others' pins
break one. Known conflicts that only warn cost it lag, too, and are not counted here. *audit* counts what
`compatlock audit` finds in the wheels that breaks the set, whatever their metadata says
(`python -m benchmarks.audits`).

![Worst root lag of each tool's answer](images/bench-lag.png)"""

_AUDIT_WORDS = """\
What `compatlock audit` finds in the wheels of the answers. compatlock's own were locked without `--audit`,
which would have locked again until nothing is found."""


def _wrapped(text: str) -> str:
    """Paragraphs in lines of one length."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(
        textwrap.fill(each, 120, break_long_words=False, break_on_hyphens=False) for each in paragraphs
    ) + ("\n" if text.endswith("\n") else "")


def _tool_list(results: dict[str, Results]) -> Iterator[str]:
    for tool in _tools(results):
        versions = {found[tool].get("version", "?") for found in results.values() if tool in found}
        differs = f": {TOOLS[tool].differs}" if TOOLS[tool].differs else ""
        yield f"- {tool} {', '.join(sorted(versions))}{differs}"


def _day(time: float) -> str:
    return datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%d")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def write_report(folder: Path, docs: Path) -> Path:
    """Write the document and its plots, and return its path. Needs matplotlib (the extra `plots`)."""
    from benchmarks import plots

    results = load_results(folder)
    if not results:
        raise SystemExit("nothing was measured")
    images = docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    plots.times(results, images / "bench-uv.png")
    plots.peers(results, images / "bench-peers.png")
    plots.lags(results, images / "bench-lag.png")
    growth = folder / "results" / "growth.json"
    words = ""
    if growth.exists():
        from benchmarks.growth import section

        found = json.loads(growth.read_text(encoding="utf-8"))
        plots.growth(found, images / "bench-growth.png")
        words = "\n" + "\n".join(section(found)) + "\n"
    document = docs / "benchmarks.md"
    document.write_text(text(results, words).rstrip() + "\n", encoding="utf-8")
    return document
