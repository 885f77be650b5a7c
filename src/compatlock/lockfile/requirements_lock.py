"""requirements.lock: a requirements file with every package pinned and hashed, for pip and uv, and with the
indexes that packages are from beside the default one.

The text depends on nothing but the lock: pins, hashes and comments are sorted, and a line number of
the user's file is left out, so that moving lines there changes nothing here.
"""

from __future__ import annotations

from compatlock.lockfile.header import header_lines
from compatlock.lockfile.origins import file_of
from compatlock.model.display import one_line, public_url, without_credentials
from compatlock.model.lock import OlderPin
from compatlock.model.names import is_word, normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compatlock.model.lock import Lock, LockedEdge, Pin

# What ends a pin in its line.
_AFTER_PIN = ("#", "\\", "\r", "--")
_INDEX_STATE = "#   index: "
_CONTINUATIONS = ("#   ", "    #   ")
_PASSING_SECTIONS = ("# Objective", "# Notes:", "    # newest ", "    # note:")


def render(lock: Lock, *, tool_version: str, path: str = "requirements.lock") -> str:
    """Return the text of the lock file for `lock`, with `\\n` line ends and one at the end.

    `path` is where it will stand, for the installation commands in the header. Comments never hold
    line ends or credentials of URLs, whatever the lock holds.
    """
    lines = [*header_lines(lock, tool_version, path), *_index_lines(lock)]
    edges: dict[str, list[LockedEdge]] = {}
    for edge in lock.edges:
        edges.setdefault(edge.on, []).append(edge)
    for pin in sorted(lock.pins, key=lambda pin: pin.name):
        lines += _pin_lines(pin, edges.get(pin.name, ()))
    return "\n".join(lines) + "\n"


def read_pins(text: str) -> tuple[OlderPin, ...]:
    """Return the `NAME==VERSION` lines of any requirements-like text, with normalised names.

    Tolerant: comments, hashes, options and everything else is passed over. Versions and markers are the text
    of the file.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    pins = (_read_pin(line) for line in lines if "==" in line)
    return tuple(pin for pin in pins if pin is not None)


def _read_pin(line: str) -> OlderPin | None:
    asked, _, pinned = line.partition("==")
    name, bracket, extras = asked.strip(" \t").partition("[")
    for end in _AFTER_PIN:
        pinned = pinned.partition(end)[0]
    version, _, marker = (part.strip(" \t") for part in pinned.removeprefix("=").partition(";"))
    name = name.rstrip(" \t")
    if not is_word(name) or (bracket and extras.partition("]")[1:] != ("]", "")):
        return None
    return OlderPin(normalise(name), version, marker) if is_word(version, ".!+_-") else None


def lasting_lines(text: str) -> list[str]:
    """Return the lines of a requirements.lock without those that change with every upload to the index: its
    state, the objective, how far pins are behind, and notes."""
    lines = []
    passing = False
    for line in text.splitlines():
        if not line.startswith(_CONTINUATIONS):
            passing = line.startswith(_PASSING_SECTIONS)
        if not passing and not line.startswith(_INDEX_STATE):
            lines.append(line.rstrip())
    return lines


def _index_lines(lock: Lock) -> Iterator[str]:
    """Yield where packages are from, unless that is the default index, for installers: without credentials,
    which they have from netrc or a keyring."""
    by_index: dict[str, list[str]] = {}
    for pin in sorted(pin for pin in lock.pins if pin.index_url):
        url = public_url(pin.index_url)
        is_safe = not any(c.isspace() or c in "#$" for c in url)
        if is_safe and url.startswith(("https://", "http://")):
            by_index.setdefault(url, []).append(pin.name)
    for url, names in sorted(by_index.items()):
        yield f"# From this index: {', '.join(names)}"
        yield f"--extra-index-url {url}"
    if by_index:
        yield ""


def _pin_lines(pin: Pin, edges: Sequence[LockedEdge]) -> list[str]:
    """Return the requirement with its hashes, then its comments."""
    hashes = sorted({file.sha256 for file in pin.files if file.sha256})
    marker = f" ; {pin.marker}" if pin.marker else ""
    requirement = f"{pin.name}=={pin.version}{marker}"
    lines = [" \\\n".join((requirement, *(f"    --hash=sha256:{digest}" for digest in hashes)))]
    via = _via(edges)
    if via:
        lines += _comment("via", via)
    if pin.is_root and pin.lag_releases > 0:
        lines += _comment(_behind(pin), sorted(pin.held_by))
    for edge in sorted(edge for edge in edges if edge.waived):
        lines += _comment("waived:", [_edge_text(edge)])
    for note in _pin_notes(pin):
        lines += _comment("note:", [note])
    return lines


def _comment(title: str, items: Sequence[str] = ()) -> list[str]:
    """Return `# title item`, or for several items a line each, as pip-tools and uv do."""
    if len(items) == 1:
        return [f"    # {_clean(f'{title} {items[0]}')}"]
    return [f"    # {_clean(title)}", *[f"    #   {_clean(item)}" for item in items]]


def _clean(text: str) -> str:
    return without_credentials(one_line(text))


def _via(edges: Sequence[LockedEdge]) -> list[str]:
    """Return who needs the package, each once: lines of the user's first, then packages."""
    roots = {_root_text(edge.origin) for edge in edges if not edge.package}
    return sorted(roots) + sorted({edge.package for edge in edges if edge.package not in ("", edge.on)})


def _root_text(origin: str) -> str:
    """Return `-r FILE` for an origin `FILE:LINE`, `-c FILE` for `-c FILE:LINE`, other origins as they are."""
    file = file_of(origin)
    if file == origin:
        return origin or "the command line"
    file = "-" if file == "<stdin>" else file
    return file if file.startswith("-c ") else f"-r {file}"


def _behind(pin: Pin) -> str:
    by = f"{_count(pin.lag_releases, 'release')}, {_count(pin.lag_days, 'day')}"
    return f"newest {pin.newest} ({by} ahead) held back" + (" by" if pin.held_by else "")


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _edge_text(edge: LockedEdge) -> str:
    package = f"{edge.package}[{edge.extra}]" if edge.extra else edge.package
    extras = f"[{','.join(edge.extras)}]" if edge.extras else ""
    return f"{package or _root_text(edge.origin)} -> {edge.on}{extras}{edge.specifier}"


def _pin_notes(pin: Pin) -> list[str]:
    """Return the pin's notes and what is to be said about missing hashes."""
    notes = [*pin.notes]
    unhashed = [file.filename for file in pin.files if not file.sha256]
    if len(unhashed) == len(pin.files):
        notes.append("the index gives no hash")
    elif unhashed:
        names = ", ".join(sorted(unhashed))
        notes.append(f"the index gives no hash for {names}, which --require-hashes therefore refuses")
    return notes
