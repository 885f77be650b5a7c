"""Bringing an environment to what a lock says, through uv, and checking it then."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import contextmanager

from compatlock.api.check.files import file_findings
from compatlock.api.check.installed import ImportChecks, check_environment, is_alike, other_target
from compatlock.api.check.lock import LockText, indexes_for, read_lock_text
from compatlock.api.check.pins import pin_holds
from compatlock.environment.installed import installed_distributions
from compatlock.environment.installed_files import SHARED, changed_files
from compatlock.environment.locate import locate
from compatlock.environment.place import Place, find_place
from compatlock.environment.uv import UvSettings, find_uv, planned, run_uv
from compatlock.errors import InputError
from compatlock.lockfile.compare import Change, changes
from compatlock.lockfile.formats import JSON, PYLOCK, REQUIREMENTS, STDOUT, UV
from compatlock.model.display import counted
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise
from compatlock.model.platforms import running_platform
from compatlock.model.report import ERROR
from compatlock.model.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from compatlock.api.options import LockOptions
    from compatlock.model.report import Report


class SyncOptions(NamedTuple):
    """What is to be installed, and where.

    lock:      the lock file: requirements.lock, pylock.toml, JSON, or `-` for a requirements.lock on standard
               input
    env, python, create: the environment (see `environment.place.find_place`)
    exact:     remove what the lock does not have
    dry_run:   only say what would be done
    cache_dir: where uv's cache lives, `""` for its own place
    imports:   which imports are tried afterwards
    """

    lock: str
    env: str = ""
    python: str = ""
    create: bool = False
    exact: bool = False
    dry_run: bool = False
    cache_dir: str = ""
    imports: ImportChecks = ImportChecks()


class Synced(NamedTuple):
    """What was done (with `dry_run`: what would be): the environment, whether it was made, and what changed
    in it; the report of the check afterwards, and remarks."""

    environment: str
    created: bool
    changes: tuple[Change, ...]
    report: Report | None = None
    notes: tuple[str, ...] = ()


def sync_environment(
    options: LockOptions,
    wanted: SyncOptions,
    *,
    say: Callable[[str], None] | None = None,
    shown: bool = False,
) -> Synced:
    """Install exactly what a lock pins into an environment, through uv: no dependencies are resolved, and all
    hashes are checked. Then check the environment (`check_installed.check_environment`).

    Of the options the indexes, certificate, `offline` and `cache` are for uv, and profiles, facts and waivers
    for the check. `say` is called with what is about to be done; `shown` lets uv tell of itself on standard
    error. Raises InputError when it cannot be begun (no uv, a lock for other environments or with defects,
    an environment that must not be touched), IndexUnavailable, InstallFailed.
    """
    tell = say or (lambda _: None)
    lock = read_lock_text(wanted.lock)
    _refuse(lock)
    place = find_place(wanted.env, wanted.python, create=wanted.create)
    program = find_uv()
    run = _Run(options, wanted, lock, place, program, tell, shown=shown)
    if place.is_new:
        return run.into_new()
    _require_target(lock, Target(locate(place.program).python, running_platform()))
    return run.into_existing()


class _Run:
    def __init__(
        self,
        options: LockOptions,
        wanted: SyncOptions,
        lock: LockText,
        place: Place,
        uv: str,
        tell: Callable[[str], None],
        *,
        shown: bool,
    ) -> None:
        self._options = options
        self._wanted = wanted
        self._lock = lock
        self._place = place
        self._uv = uv
        self._tell = tell
        self._shown = shown
        self._settings = UvSettings(
            indexes_for(options.indexes, lock.given),
            options.cert,
            options.offline,
            wanted.cache_dir,
            options.cache,
        )
        self._notes: list[str] = []

    def into_new(self) -> Synced:
        """Make the environment, and install into it."""
        root = self._place.root
        python = self._place.base or _python_for(self._lock)
        _require_possible(self._lock, python)
        with_python = f" with Python {python}" if python else ""
        if self._wanted.dry_run:
            target = _target_of(self._lock, python)
            pins = {pin.name: pin.version for pin in self._lock.given.pins if pin_holds(pin, target)}
            self._tell(f"would make the environment {root}{with_python}")
            return Synced(root, True, changes({}, pins))
        self._tell(f"making the environment {root}{with_python}")
        chosen = ["--python", python] if python else []
        self._run(["venv", "--no-project", "--quiet", *chosen, root], f"make the environment {root}")
        self._place = find_place(root)
        _require_target(self._lock, Target(locate(root).python, running_platform()))
        return self.into_existing()._replace(created=True)

    def into_existing(self) -> Synced:
        """Install into the environment as it is."""
        before = _versions(self._place.program)
        with _as_file(self._lock) as path:
            arguments = self._arguments(path)
            if self._wanted.dry_run:
                plan = planned(self._run([*arguments, "--dry-run"], self._words))
                installed = {normalise(name): version for name, version in plan.installed.items()}
                removed = {normalise(name): version for name, version in plan.removed.items()}
                return Synced(self._where, False, changes(removed, installed), None, tuple(self._notes))
            if self._wanted.exact:
                self._announce(arguments)
            self._run(arguments, self._words, shown=self._shown)
            self._repair(arguments)
        report = check_environment(
            self._options,
            self._where,
            lock=self._lock,
            exact=self._wanted.exact,
            imports=self._wanted.imports,
        )
        after = _versions(self._place.program)
        return Synced(self._where, False, changes(before, after), report, tuple(self._notes))

    def _repair(self, arguments: Sequence[str]) -> None:
        """Install again what the lock has and of which files are gone or changed: what has the right version
        is left alone otherwise, and removing a package takes files away that it shared with another."""
        pinned = {pin.name for pin in self._lock.given.pins}
        states = [s for s in changed_files(locate(self._place.program)) if s.state != SHARED]
        broken = sorted({f.package for f in file_findings(states) if f.severity == ERROR} & pinned)
        if broken:
            self._tell(f"installing again, as files are missing or changed: {', '.join(broken)}")
            again = [word for name in broken for word in ("--reinstall-package", name)]
            self._run([*arguments, *again], self._words, shown=self._shown)

    @property
    def _words(self) -> str:
        return f"install {_shown(self._lock)} into {self._where}"

    @property
    def _where(self) -> str:
        """The environment as the user named it."""
        named = self._wanted.env or (self._wanted.python if not self._wanted.create else "")
        return named or self._place.root

    def _run(self, arguments: Sequence[str], asked: str, *, shown: bool = False) -> str:
        return run_uv(self._uv, arguments, self._settings, asked=asked, shown=shown)

    def _arguments(self, path: str) -> list[str]:
        words = ["pip", "sync", "--allow-empty-requirements"] if self._wanted.exact else ["pip", "install"]
        words += [path] if self._wanted.exact else ["--no-deps", "-r", path]
        words += ["--python", self._place.program]
        hashed = [bool(pin.hashes) for pin in self._lock.given.pins]
        if all(hashed):
            # uv looks for a package at the first index that has the project; the version pinned may be at
            # another. With hashes that is safe.
            words += ["--require-hashes", "--index-strategy", "unsafe-best-match"]
        else:
            some = "some packages have" if any(hashed) else "no package has"
            what = "no hash, so that their files are" if any(hashed) else "a hash, so that files are"
            self._notes.append(f"{_shown(self._lock)}: {some} {what} taken as the index has them")
        return words

    def _announce(self, arguments: Sequence[str]) -> None:
        """Say what will be removed, before it is."""
        plan = planned(self._run([*arguments, "--dry-run"], self._words))
        gone = {name: version for name, version in plan.removed.items() if name not in plan.installed}
        if gone:
            listed = ", ".join(f"{name} {version}" for name, version in sorted(gone.items()))
            what = counted(len(gone), "package")
            self._tell(f"removing {what} that {_shown(self._lock)} does not have: {listed}")


def _shown(lock: LockText) -> str:
    return "standard input" if lock.path == STDOUT else lock.path


def _refuse(lock: LockText) -> None:
    """Raise InputError for a lock that cannot be installed from."""
    if lock.format == UV:
        hint = "`uv sync --locked` installs it; `compatlock check --env` checks an environment against it"
        raise InputError(f"{lock.path} is uv's own, for a project as a whole", hints=[hint])
    wrong = [defect for defect in lock.defects if defect.severity == ERROR]
    if wrong:
        hints = tuple(dict.fromkeys(hint for defect in wrong for hint in defect.hints))
        raise InputError("\n".join(defect.text for defect in wrong), hints=hints)


def _require_target(lock: LockText, target: Target) -> None:
    for finding in other_target(lock, _shown(lock), target.resolved(), target.python):
        hints = ["lock for this environment, or name another one with `--env`"]
        raise InputError(finding.text, hints=hints)


def _require_possible(lock: LockText, python: str) -> None:
    """Raise InputError when no environment that can be made here, with `python`, is one of the lock's."""
    minor = re.match(r"3\.\d+", python)
    asked = minor[0] if minor is not None else ""
    targets = lock.given.targets
    if targets and not any(asked in ("", _minor(each)) and _runs_here(each) for each in targets):
        _require_target(lock, Target(asked, running_platform()).resolved())


def _minor(target: Target) -> str:
    return "{}.{}".format(*target.python_minor)


def _python_for(lock: LockText) -> str:
    """The Python to make an environment for a lock with: a minor version or a specifier; `""` for any."""
    targets = lock.given.targets
    if not targets:
        return lock.python
    running = "{}.{}".format(*sys.version_info[:2])
    minors = {_minor(target) for target in targets if _runs_here(target)}
    if running in minors or not minors:
        return running if minors else ""
    return max(minors, key=lambda minor: int(minor.partition(".")[2]))


def _runs_here(target: Target) -> bool:
    here = Target(target.python, running_platform()).resolved()
    return is_alike(target, here)


def _target_of(lock: LockText, python: str) -> Target:
    """The target that an environment will be, as far as it can be told before it is there."""
    own = [target for target in lock.given.targets if _runs_here(target)]
    fitting = [target for target in own if _minor(target) == python]
    return (fitting or own or [Target(platform=running_platform()).resolved()])[0]


def _versions(program: str) -> dict[str, str]:
    return {item.name: item.version for item in installed_distributions(program) if not item.is_hidden}


@contextmanager
def _as_file(lock: LockText) -> Iterator[str]:
    """The path of a file that uv reads the lock from."""
    if lock.path != STDOUT and lock.format in (REQUIREMENTS, PYLOCK):
        yield os.path.abspath(lock.path)
        return
    text = lock.text
    if lock.format == JSON:
        from compatlock import __version__
        from compatlock.api.check.pins import read_lock
        from compatlock.lockfile.formats import render_as

        text = render_as(
            REQUIREMENTS, read_lock(JSON, lock.text, lock.path), __version__, "requirements.lock"
        )
    with tempfile.TemporaryDirectory(prefix="compatlock-") as folder:
        path = os.path.join(folder, "requirements.lock")
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        yield path
