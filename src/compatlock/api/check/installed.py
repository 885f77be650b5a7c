"""Checking an environment: what is installed against what it declares, and against a lock."""

from __future__ import annotations

from compatlock.api.check.environment import InstalledReader
from compatlock.api.check.files import file_findings
from compatlock.api.check.lock import read_lock_text, stale_findings
from compatlock.api.check.pins import pin_holds
from compatlock.api.check.rules import Rules
from compatlock.api.session import with_supply
from compatlock.environment.imports import TIMEOUT, try_imports
from compatlock.environment.installed import read_environment
from compatlock.environment.installed_files import changed_files
from compatlock.environment.interpreter import interpreter_of
from compatlock.environment.locate import locate
from compatlock.errors import InputError
from compatlock.model import report as kinds
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.platforms import running_platform
from compatlock.model.report import Discrepancy, Report
from compatlock.model.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from compatlock.api.check.lock import LockText
    from compatlock.api.check.rules import Held
    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.environment.locate import Environment
    from compatlock.index.supply import Supply
    from compatlock.inputs.freeze import FrozenPin

# What brings an environment about and is not part of it: never missing from a lock.
SEEDS = frozenset({"pip", "setuptools", "uv", "wheel"})


class ImportChecks(NamedTuple):
    """Which imports are tried: `modules`, and those of profiles if `of_profiles`; each for `timeout` seconds.
    `on_import` is called with each module before."""

    modules: tuple[str, ...] = ()
    of_profiles: bool = True
    timeout: float = TIMEOUT
    on_import: Callable[[str], None] | None = None


def check_environment(
    options: LockOptions,
    path: str = "",
    *,
    lock: str | LockText = "",
    exact: bool = False,
    imports: ImportChecks | None = None,
) -> Report:
    """Check the environment at `path` (`""`: the running interpreter's) against the declared needs of what is
    installed and the facts in force; its files against what was recorded of them; and the imports of profiles
    in its Python. With `lock`, a lock file of any format or its path, against that too: what is missing, of
    another version, or beside it (an error only with `exact`); the bounds that the lock waived are waived,
    and its profiles count unless others are given. No index is asked.

    Of the options the requirements, files and profiles are what it should fulfil, and facts, waivers and the
    target count; the environment's own Python goes before a profile's. Raises InputError.
    """
    environment = locate(path)
    reading = (read_lock_text(lock) if lock else None) if isinstance(lock, str) else lock
    check = _Check(options, path, environment, reading, exact=exact, imports=imports or ImportChecks())
    return check.report()


class _Check:
    def __init__(
        self,
        options: LockOptions,
        path: str,
        environment: Environment,
        lock: LockText | None,
        *,
        exact: bool,
        imports: ImportChecks,
    ) -> None:
        self._path = path
        self._environment = environment
        self._lock = lock
        self._exact = exact
        self._imports = imports
        self._notes: list[str] = []
        self._options = self._with_lock(options)

    def report(self) -> Report:
        asked = self._options.target
        target = asked._replace(
            python=asked.python or self._environment.python, platform=asked.platform or running_platform()
        )
        if not target.python:
            self._notes.append(f"which Python {self._path} is for is not known; taken as the running one")
        options = self._options._replace(target=target, targets=(), universal=False)
        try:
            return with_supply(options, self._work, needs_roots=False)
        except InputError:
            if not self._is_lock_profile:
                raise
            # The profile of the lock may be a file that is not here.
            self._notes.append(f"the profile of {self._shown_lock} cannot be read, and does not count")
            return with_supply(options._replace(profiles=()), self._work, needs_roots=False)

    def _with_lock(self, options: LockOptions) -> LockOptions:
        self._is_lock_profile = False
        if self._lock is None:
            return options
        given = self._lock.given
        self._is_lock_profile = bool(given.profiles) and not options.profiles
        return options._replace(
            profiles=options.profiles or given.profiles,
            exclude_dependencies=(*given.excluded, *options.exclude_dependencies),
        )

    @property
    def _shown_lock(self) -> str:
        path = self._lock.path if self._lock is not None else ""
        return "standard input" if path == "-" else path

    def _work(self, prepared: Prepared, supply: Supply) -> Report:
        request = prepared.request
        reader = InstalledReader(supply.target, self._options.target.python or self._environment.python)
        held = reader.held(read_environment(self._environment))
        notes = [*self._notes, *prepared.notes]
        found: list[Discrepancy] = []
        if self._lock is not None:
            notes += self._lock.given.notes
            request = request._replace(waivers=(*self._lock.given.waivers, *request.waivers))
            found += self._lock.defects
            found += self._against_lock(self._lock, held, supply.target)
        found += Rules(held, request).findings()
        found += file_findings(changed_files(self._environment))
        notes += reader.notes
        found += self._import_findings(prepared, notes)
        where = f"the environment {self._path}" if self._path else "the running environment"
        subject = f"{where} against {self._shown_lock}" if self._lock is not None else where
        unique = tuple(dict.fromkeys(found))
        return Report(subject, str(request.target), len(held), unique, tuple(dict.fromkeys(notes)))

    def _against_lock(
        self, lock: LockText, held: Mapping[str, Held], target: Target
    ) -> Iterator[Discrepancy]:
        yield from other_target(lock, self._shown_lock, target, self._environment.python)
        wanted: dict[str, FrozenPin] = {}
        for pin in lock.given.pins:
            if pin_holds(pin, target):
                wanted.setdefault(pin.name, pin)
        for name, pin in sorted(wanted.items()):
            found = held.get(name)
            pinned = f"{name} {pin.version}".rstrip()
            if found is None:
                text = f"{pinned} is not installed, and {self._shown_lock} has it"
                yield Discrepancy(kinds.MISSING, kinds.ERROR, "", "", text, name, "", _exactly(pin))
            elif pin.version and not _same(pin.version, found.version):
                text = f"{name} {found.version} is installed, and {self._shown_lock} has {pin.version}"
                yield Discrepancy(
                    kinds.VERSION, kinds.ERROR, "", "", text, name, found.version, _exactly(pin)
                )
        for name in sorted(held.keys() - wanted.keys() - SEEDS):
            text = f"{name} {held[name].version} is installed, and {self._shown_lock} does not have it"
            severity = kinds.ERROR if self._exact else kinds.WARNING
            yield Discrepancy(kinds.EXTRA, severity, name, held[name].version, text)

    def _import_findings(self, prepared: Prepared, notes: list[str]) -> Iterator[Discrepancy]:
        of_profiles = prepared.imports if self._imports.of_profiles else ()
        modules = tuple(dict.fromkeys((*self._imports.modules, *of_profiles)))
        if not modules:
            return
        program = interpreter_of(self._path)
        if not program:
            notes.append(f"imports were not tried: there is no Python in {self._path}")
            return
        worked = []
        for module in modules:
            if self._imports.on_import is not None:
                self._imports.on_import(module)
            (result,) = try_imports(program, [module], timeout=self._imports.timeout)
            if result.error:
                text = f"import {module} fails: {result.error}"
                yield Discrepancy(kinds.IMPORT, kinds.ERROR, module, "", text)
            else:
                worked.append(module)
        if worked:
            notes.append(f"imported without an error: {', '.join(worked)}")


def other_target(lock: LockText, shown: str, target: Target, python: str) -> Iterator[Discrepancy]:
    """A finding when a lock, called `shown`, is for other environments than one of the resolved target, with
    Python `python` (`""`: not known)."""
    targets = lock.given.targets
    if targets and not any(is_alike(each, target) for each in targets):
        words = str(targets[0]) if len(targets) == 1 else f"{len(targets)} targets, none of them such"
        text = f"{shown} is for {words}; the environment has {target}"
        other = all(each.python_minor != target.python_minor for each in targets)
        kind = kinds.PYTHON if other else kinds.PLATFORM
        yield Discrepancy(kind, kinds.ERROR, "", "", text, "python" if other else "", origin=lock.path)
    elif lock.python and python and not targets:
        stale = stale_findings(lock, [(f"=={python}", "the environment")])
        for finding in stale:
            text = f"{shown} has requires-python {lock.python}, and the environment has Python {python}"
            yield finding._replace(kind=kinds.PYTHON, text=text, hints=())


def is_alike(one: Target, other: Target) -> bool:
    """Whether an environment of one resolved target is one of the other, as markers tell them."""
    names = ("python_version", "sys_platform", "platform_machine", "implementation_name")
    mine, theirs = one.marker_environment, other.marker_environment
    return all(mine[name] == theirs[name] for name in names)


def _exactly(pin: FrozenPin) -> str:
    return f"=={pin.version}" if pin.version else ""


def _same(one: str, other: str) -> bool:
    from packaging.utils import canonicalize_version

    return canonicalize_version(one) == canonicalize_version(other)
