"""Comparing two lock files of any format that can be read."""

from __future__ import annotations

from compatlock.api.check.pins import Given, read_given
from compatlock.lockfile.compare import marked, together
from compatlock.lockfile.diff import Diff, Side, diff_locks
from compatlock.model.lock import OlderPin
from compatlock.model.target import TARGET_SEPARATOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.lock import Lock


def diff_files(old: str, new: str) -> Diff:
    """Return what changed from the lock at `old` to that at `new` (`-` is standard input): requirements.lock,
    pylock.toml, JSON, or the output of `pip freeze`. Raises InputError for what cannot be read."""
    return diff_locks(_side(read_given(old), old), _side(read_given(new), new))


def diff_given(old: Given, name: str, new: Lock) -> Diff:
    """Return what changed from what was read, called `name`, to a lock."""
    return diff_locks(_side(old, name), side_of(new, "the new lock"))


def side_of(lock: Lock, name: str) -> Side:
    """A lock as one side of a difference, called `name`."""
    waived = (edge for edge in lock.edges if edge.waived)
    waivers = tuple(sorted({_edge(edge.package, edge.extra, edge.on) for edge in waived}))
    pins = lock.older_pins
    return Side(name, together(pins), waivers, lock.target, frozenset(lock.roots), marked(pins))


def _side(given: Given, path: str) -> Side:
    pins = [OlderPin(pin.name, pin.version, pin.marker) for pin in given.pins]
    return Side(
        name="standard input" if path == "-" else path,
        pins=together(pins),
        waivers=tuple(sorted({_edge(w.package, w.extra, w.on) for w in given.waivers})),
        target=TARGET_SEPARATOR.join(map(str, given.targets)),
        roots=frozenset(pin.name for pin in given.pins if pin.is_root),
        markers=marked(pins),
    )


def _edge(package: str, extra: str, on: str) -> str:
    return f"{package}[{extra}] -> {on}" if extra else f"{package} -> {on}"
