"""Pins of a file, and what their releases need as the index tells it."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise

from compatlock.api.check.hashes import hash_findings
from compatlock.api.check.rules import Held
from compatlock.errors import InputError
from compatlock.inputs.file_bytes import read_bytes
from compatlock.inputs.freeze import FrozenPin, read_freeze
from compatlock.inputs.requirements_text import decode
from compatlock.lockfile.formats import PYLOCK, REQUIREMENTS, STDOUT, UV, format_of
from compatlock.model import report as kinds
from compatlock.model.index import Indexes, parse_indexes
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise
from compatlock.model.package import YANKED
from compatlock.model.report import Discrepancy
from compatlock.model.target import Target, target_in_words, targets_in_words
from compatlock.model.waiver import Waiver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compatlock.index.supply import Supply
    from compatlock.model.lock import Lock, Pin

_TARGET = re.compile(r"^#   target: (.+)$", re.MULTILINE)
_COMMAND = re.compile(r"^#   command: (compatlock lock .+)$", re.MULTILINE)
_WAIVED = re.compile(r"^    # waived: ([a-z0-9-]+)(?:\[([a-z0-9-]+)\])? -> ([a-z0-9-]+)", re.MULTILINE)
_LEFT_OUT = re.compile(r"^(?:#   )?left out: ([a-z0-9-]+), needed by (.+)$", re.MULTILINE)
_PLATFORM_REASONS = ("tags", "native")
_POLICY_REASONS = {
    "pre-release": "is a pre-release, which the policy (`prerelease`) rules out",
    "no-yanked": "is yanked, which the policy (`no-yanked`) rules out",
}


class Given(NamedTuple):
    """What a file pins; a lock of ours also says for which target (or targets), which bounds it waived, which
    edges it left out, which profiles and indexes it is of, and what is built for it (the last four as its
    command says it)."""

    pins: tuple[FrozenPin, ...]
    waivers: tuple[Waiver, ...] = ()
    target: Target | None = None
    notes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    profiles: tuple[str, ...] = ()
    indexes: Indexes | None = None
    builds: tuple[str, ...] = ()


def read_given(path: str) -> Given:
    """Read a `pip freeze` output, a requirements-like lock (`-`: standard input), pylock.toml, uv.lock or
    JSON lock. Raises InputError when it cannot be read or pins nothing."""
    fmt, text = read_text(path)
    try:
        return given_of_text(fmt, text, path)
    except InputError as error:
        if fmt != PYLOCK:
            raise
        from compatlock.api.check.pylock import pylock_defects

        defects = pylock_defects(text, path)
        if not defects:
            raise
        hints = [hint for defect in defects for hint in defect.hints] or error.hints
        raise InputError("\n".join(defect.text for defect in defects), hints=hints) from None


def read_text(path: str) -> tuple[str, str]:
    """Return the format and the text of the file at `path`. Raises InputError when it cannot be read."""
    name = re.split(r"[/\\]", path)[-1].lower()
    if name.endswith(".toml") and not name.startswith("pylock."):
        hint = "`compatlock lock` makes pins of what a project asks for"
        raise InputError(f"{path} pins nothing that could be checked", hints=[hint])
    text = decode(read_bytes(path, "lock file", is_stdin=path == STDOUT), path)
    return REQUIREMENTS if path == STDOUT else format_of(path), text


def given_of_text(fmt: str, text: str, path: str) -> Given:
    """Return what `text`, of the format `fmt`, pins; `path` names it. Raises InputError when that is nothing,
    or cannot be told."""
    given = _frozen(text, path) if fmt == REQUIREMENTS else given_of_lock(read_lock(fmt, text, path), path)
    if not given.pins:
        raise InputError(
            f"{path} pins nothing that could be checked",
            hints=["give the output of `pip freeze`, or a lock: lines NAME==VERSION"],
        )
    return given


def _frozen(text: str, path: str) -> Given:
    frozen = read_freeze(text, "<stdin>" if path == STDOUT else path)
    target = _TARGET.search(text)
    waivers = tuple(Waiver(m[1], m[3], m[2] or "", source=path) for m in _WAIVED.finditer(text))
    command = _COMMAND.search(text)
    given = Given(frozen.pins, waivers, notes=frozen.notes, excluded=_left_out(text))
    return _with_words(given, target[1] if target else "", command[1] if command else "")


def _left_out(notes: str) -> tuple[str, ...]:
    """The edges that a lock's notes say were taken away, as text."""
    return tuple(
        f"{package} -> {match[1]}" for match in _LEFT_OUT.finditer(notes) for package in match[2].split(", ")
    )


def _with_words(given: Given, target: str, command: str) -> Given:
    """`given` with what a lock says of its targets and of the command that made it."""
    return given._replace(
        target=target_in_words(target),
        targets=targets_in_words(target),
        excluded=tuple(dict.fromkeys((*given.excluded, *_values(command, "--exclude-dependency")))),
        profiles=_values(command, "--profile"),
        indexes=_indexes(command),
        builds=tuple(map(normalise, _values(command, "--allow-builds"))),
    )


def _indexes(command: str) -> Indexes | None:
    """The indexes in the command of a lock. Credentials stand in no lock, only a mark for them."""
    default = next(iter(_values(command, "--default-index")), "")
    try:
        found = parse_indexes(default, _values(command, "--index"), _values(command, "--index-for"))
    except InputError:
        return None
    return Indexes(
        found.default._replace(login=None),
        tuple(index._replace(login=None) for index in found.extra),
        tuple((name, index._replace(login=None)) for name, index in found.assigned),
    )


def _values(command: str, name: str) -> tuple[str, ...]:
    """The values of an option in the command of a lock, as `LockOptions.command` writes it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ()
    return tuple(value for option, value in pairwise(words) if option == name)


def read_lock(fmt: str, text: str, path: str) -> Lock:
    """Return the lock that `text`, a pylock.toml, uv.lock or JSON, is. Raises InputError."""
    if fmt == PYLOCK:
        from compatlock.lockfile.pylock_read import read_pylock

        return read_pylock(text, path)
    if fmt == UV:
        from compatlock.lockfile.uv_lock_read import read_uv_lock

        return read_uv_lock(text, path)
    import json

    from compatlock.lockfile.lock_json import from_json

    try:
        return from_json(json.loads(text))
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not valid JSON") from None


def given_of_lock(lock: Lock, path: str) -> Given:
    """What a lock pins and waives; `path` names it."""
    pins = tuple(
        FrozenPin(pin.name, pin.version, path, pin.extras, pin.marker, pin.is_root, _hashes(pin))
        for pin in lock.pins
    )
    waived = [edge for edge in lock.edges if edge.waived and edge.package]
    waivers = tuple(Waiver(edge.package, edge.on, edge.extra, source=path) for edge in waived)
    given = Given(pins, waivers, excluded=_left_out("\n".join(lock.notes)))
    return _with_words(given, lock.target, lock.command)


def _hashes(pin: Pin) -> tuple[str, ...]:
    return tuple(sorted({file.sha256.lower() for file in pin.files if file.sha256}))


def pin_holds(pin: FrozenPin, target: Target) -> bool:
    """Whether a pin's marker holds for a resolved target. Raises InputError when it is none."""
    if not pin.marker:
        return True
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

    try:
        # A marker of a lock file may ask for the extras and groups that are installed (PEP 751).
        environment = {**target.marker_environment, "extra": ""}
        return bool(Marker(pin.marker).evaluate(environment, context="lock_file"))
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        raise InputError(f"{pin.origin}: `{pin.marker}` is no marker") from None


class PinReader:
    """Asks the index about pins; `notes` collects what could not be told."""

    def __init__(self, supply: Supply) -> None:
        self._supply = supply
        self.notes: list[str] = []

    def held(self, pins: Sequence[FrozenPin]) -> dict[str, Held]:
        """What each pinned release needs. Raises as `Supply.packages`."""
        chosen, doubles = self._applying(pins)
        known = [name for name, pin in chosen.items() if pin.version]
        packages = self._supply.packages(known)
        index_of = {name: self.index(name, chosen[name].version) for name in known}
        there = [(name, index) for name, index in index_of.items() if index is not None]
        needs = self._supply.dependencies(there)
        result: dict[str, Held] = {}
        for name, pin in chosen.items():
            index = index_of.get(name)
            problems = list(doubles.get(name, ()))
            release = None
            if not pin.version:
                self.notes.append(f"{pin.origin}: {name} has no version, and what it needs is not known")
            elif index is None:
                problems += self._absent(name, pin.version, found=packages[name].found)
            else:
                release = needs[name, index]
                problems += self._problem(name, pin.version, release.problem)
                problems += hash_findings(self._supply, pin, index)
                if packages[name].gates.get(index) == YANKED:
                    self.notes.append(f"{name} {pin.version} is yanked")
            result[name] = Held(name, pin.version, release, tuple(problems), pin.extras)
        return result

    def _applying(
        self, pins: Sequence[FrozenPin]
    ) -> tuple[dict[str, FrozenPin], dict[str, tuple[Discrepancy, ...]]]:
        """The pins whose markers hold, and those that are there twice."""
        chosen: dict[str, FrozenPin] = {}
        doubles: dict[str, tuple[Discrepancy, ...]] = {}
        for pin in pins:
            if not pin_holds(pin, self._supply.target):
                continue
            first = chosen.setdefault(pin.name, pin)
            if _canonical(first.version) != _canonical(pin.version):
                both = " and ".join(f"{p.version or 'no version'} ({p.origin})" for p in (first, pin))
                text = f"{pin.name} is pinned twice: {both}"
                finding = Discrepancy(kinds.DUPLICATE, kinds.ERROR, pin.name, first.version, text)
                doubles[pin.name] = (*doubles.get(pin.name, ()), finding)
        return chosen, doubles

    def index(self, name: str, version: str) -> int | None:
        """The candidate that is pinned; of a local version that the index has not, its public one."""
        package = self._supply.package(name)
        exact = _position(version, package.versions)
        if exact is not None or "+" not in version:
            return exact
        public = version.partition("+")[0]
        index = _position(public, package.versions)
        if index is not None:
            self.notes.append(f"{name} {version} is not on the index; what it needs is taken from {public}")
        return index

    def _absent(self, name: str, version: str, *, found: bool) -> Iterator[Discrepancy]:
        """A pinned release that the target has no candidate for."""
        label = f"{name} {version}"
        hidden = self._supply.hidden(name) if found else ()
        place = _position(version, [item.version for item in hidden])
        release = hidden[place] if place is not None else None
        if release is not None and release.reason == "python":
            yield from self._problem(name, version, f"requires Python {release.detail}")
        elif release is not None and release.reason in _POLICY_REASONS:
            text = f"{label} {_POLICY_REASONS[release.reason]}"
            yield Discrepancy(kinds.POLICY, kinds.ERROR, name, version, text)
        elif release is not None and release.reason in _PLATFORM_REASONS:
            text = f"{label} has no file for {self._supply.target}"
            yield Discrepancy(kinds.PLATFORM, kinds.ERROR, name, version, text)
        else:
            self.notes.append(f"{label} is not on the index, and what it needs is not known")
            return
        because = "" if release.reason in _POLICY_REASONS else f", as it is not for {self._supply.target}"
        self.notes.append(f"what {label} needs was not read{because}")

    def _problem(self, name: str, version: str, problem: str) -> Iterator[Discrepancy]:
        if problem.startswith("requires Python "):
            text = f"{name} {version} {problem}, which {self._supply.target.python} is not"
            needs = problem.removeprefix("requires Python ")
            yield Discrepancy(kinds.PYTHON, kinds.ERROR, name, version, text, "python", needs=needs)
        elif problem:
            self.notes.append(f"{name} {version}: {problem}")


def _canonical(version: str) -> str:
    """A text that equal versions share (`1.0` and `1`); what is no version stays as it is."""
    from packaging.utils import canonicalize_version

    return canonicalize_version(version)


def _position(version: str, versions: Sequence[str]) -> int | None:
    """Where a version, however it is spelled, is among others."""
    if version in versions:
        return versions.index(version)
    asked = _canonical(version)
    return next((i for i, other in enumerate(versions) if _canonical(other) == asked), None)
