"""`import compatlock`: the functions that other tooling calls."""

from __future__ import annotations

import os

from compatlock import __version__
from compatlock.api.keywords import options_of
from compatlock.api.make import make_lock
from compatlock.errors import InputError
from compatlock.lockfile.compare import Change, changes, together
from compatlock.model.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor
    from typing import Any

    from typing_extensions import Unpack

    from compatlock.api.check.pins import Given
    from compatlock.api.keywords import Keywords
    from compatlock.api.matrix.matrix import MatrixProgress
    from compatlock.api.sync import Synced
    from compatlock.index.progress import Progress
    from compatlock.model.audit_report import AuditReport
    from compatlock.model.explanation import Explanation
    from compatlock.model.matrix import Matrix
    from compatlock.model.report import Report


def lock(
    requirements: str | Sequence[str] = (),
    *,
    on_progress: Callable[[Progress], None] | None = None,
    **options: Unpack[Keywords],
) -> Lock:
    """Find the best set of versions, check it, and return it.

    requirements:  requirement strings (PEP 508), or one
    options:       see `compatlock.Keywords`: what to lock for, indexes, policies, facts, waivers, the cache
    on_progress:   called with an `index.progress.Progress` as answers of the index arrive

    Raises InputError (bad input, nothing asked for), NoSolution (with the core), IndexUnavailable
    (NotCached when offline), LockInvalid (the independent checker refused the answer), AuditFailed.
    """
    return make_lock(options_of(requirements, **options), on_progress=on_progress).lock


def explain(
    requirements: str | Sequence[str] = (),
    why: str | Sequence[str] = (),
    *,
    on_progress: Callable[[Progress], None] | None = None,
    **options: Unpack[Keywords],
) -> Explanation:
    """Say why requirements cannot be satisfied and what would help, or why packages have their versions.

    why: questions about the best answer: `PKG` asks why it has its version and what newer ones would cost,
         `PKG==V` why it has not that one
    options: those of `lock`

    The explanation holds the lock (nothing is written), or the NoSolution with its core and ways out. Raises
    what `lock` raises but NoSolution, and InputError for a question that is neither.
    """
    from compatlock.api.why.explain import explain_options

    questions = [why] if isinstance(why, str) else list(why)
    return explain_options(options_of(requirements, **options), questions, on_progress=on_progress)


def check(
    pins: str | os.PathLike[str] | Mapping[str, str] | Lock | None = None,
    *,
    env: str | os.PathLike[str] = "",
    exact: bool = False,
    imports: bool = True,
    requirements: str | Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
    **options: Unpack[Keywords],
) -> Report:
    """Say what does not fit among what somebody has, against declared metadata and the facts in force.

    pins: a file (`pip freeze` output, or a lock), `{name: version}`, or a lock; None checks the environment
          at `env` (its root, its Python or a site-packages folder; `""` is the running interpreter's)
    env:  with `pins`: the environment to check against this lock file; exact: nothing may be beside it
    imports: whether the imports of profiles are tried in the environment's Python
    requirements: what has to be fulfilled, with extras that count
    options: those of `lock` about files, profile, target, index, facts, waivers and cache

    Raises InputError for what cannot be read, IndexUnavailable when the index is needed and cannot be asked.
    """
    from compatlock.api.check.checking import check_pins
    from compatlock.api.check.installed import ImportChecks, check_environment
    from compatlock.api.check.lock import check_lock_file

    settings = options_of(requirements, **options)
    path = os.fspath(pins) if isinstance(pins, (str, os.PathLike)) else ""
    if pins is None or env:
        if pins is not None and not path:
            raise InputError("an environment is checked against a lock file", hints=["write the lock first"])
        wanted = ImportChecks(of_profiles=imports)
        return check_environment(settings, os.fspath(env), lock=path, exact=exact, imports=wanted)
    if path:
        return check_lock_file(settings, path, on_progress=on_progress)
    given, subject = _given(pins)
    return check_pins(settings, given, subject, on_progress=on_progress)


def sync(
    lock: str | os.PathLike[str],
    env: str | os.PathLike[str],
    *,
    python: str = "",
    exact: bool = False,
    dry_run: bool = False,
    imports: bool = True,
    on_step: Callable[[str], None] | None = None,
    **options: Unpack[Keywords],
) -> Synced:
    """Install exactly what a lock file pins into the environment at `env`, through uv, and check it then.

    env:    the root of an environment, which is made if it does not exist (with `python`: a program or a
            version, else the lock's), or its Python
    exact:  remove what the lock does not have; dry_run: change nothing, only say what would change
    imports: whether the imports of profiles are tried afterwards
    on_step: called with what is about to be done, in words
    options: those of `lock` about profile, index, facts, waivers, `offline` and `cache` (of uv)

    Raises InputError when it cannot be begun, InstallFailed or IndexUnavailable when uv fails.
    """
    from compatlock.api.check.installed import ImportChecks
    from compatlock.api.sync import SyncOptions, sync_environment

    wanted = SyncOptions(
        os.fspath(lock),
        os.fspath(env),
        python,
        exact=exact,
        dry_run=dry_run,
        imports=ImportChecks(of_profiles=imports),
    )
    return sync_environment(options_of(**options), wanted, say=on_step)


def audit(
    pins: str | os.PathLike[str] | Mapping[str, str] | Lock,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    **options: Unpack[Keywords],
) -> AuditReport:
    """Look into the wheels that an installer would pick for pins: for what breaks when they are installed
    together, whatever their metadata says.

    pins: a file (a lock, or `pip freeze` output), `{name: version}`, or a lock
    options: those of `lock` about profile, target, index and cache

    Raises InputError for what cannot be read, IndexUnavailable when the index cannot be asked.
    """
    from compatlock.api.audit.auditing import audit_pins

    given, subject = _given(pins)
    return audit_pins(options_of(**options), given, subject, on_progress=on_progress)


def matrix(
    rows: str,
    columns: str,
    requirements: str | Sequence[str] = (),
    *,
    pythons: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    jobs: int = 0,
    executor: Executor | None = None,
    resume: str | os.PathLike[str] = "",
    on_progress: Callable[[MatrixProgress], None] | None = None,
    **options: Unpack[Keywords],
) -> tuple[Matrix, ...]:
    """Say of every pair of releases of two packages whether they work together beside the requirements, and
    what is then pinned: a matrix for each Python.

    rows, columns: the two packages, each maybe with a bound and extras: `vllm`, `vllm>=0.6`
    by:       `release`, `minor` or `auto` (minors where an axis has more than 100 releases), for one axis
              `transformers=minor`
    jobs:     how many processes, 0 for one for each processor; executor: a `concurrent.futures` executor that
              does the work instead
    resume:   a file that finished parts are taken from and written to
    options:  those of `lock` about files, profile, target, index, facts, waivers and cache

    Raises InputError for bad input, IndexUnavailable when the index cannot be asked.
    """
    from compatlock.api.matrix.matrix import MatrixOptions, make_matrices

    wanted = MatrixOptions(
        (rows, columns),
        (pythons,) if isinstance(pythons, str) else tuple(pythons),
        (by,) if isinstance(by, str) else tuple(by),
        jobs,
        os.fspath(resume),
    )
    settings = options_of(requirements, **options)
    return make_matrices(settings, wanted, executor=executor, on_progress=on_progress)


def _given(pins: str | os.PathLike[str] | Mapping[str, str] | Lock) -> tuple[Given, str]:
    """What somebody pins, and what to call it."""
    from compatlock.api.check.pins import Given, given_of_lock, read_given
    from compatlock.inputs.freeze import FrozenPin
    from compatlock.model.names import normalise

    if isinstance(pins, Lock):
        return given_of_lock(pins, "the lock"), "the pins"
    if isinstance(pins, (str, os.PathLike)):
        return read_given(os.fspath(pins)), os.fspath(pins)
    return Given(tuple(FrozenPin(normalise(n), v, "the pins") for n, v in pins.items())), "the pins"


def render(lock: Lock, *, path: str = "requirements.lock", format: str = "") -> str:
    """The text of a lock file that will stand at `path`, in the format of its name (`pylock.toml`, `.json`,
    else a requirements file) or in `format`: requirements, pylock, json.

    Raises InputError for an unknown format, or when the format cannot say what the lock holds.
    """
    from compatlock.lockfile.formats import format_of, render_as

    return render_as(format_of(path, format), lock, __version__, path)


def write(lock: Lock, path: str | os.PathLike[str], *, format: str = "") -> None:
    """Write a lock file (see `render`), whole or not at all. Raises InputError when that is impossible."""
    from compatlock.lockfile.write import write_atomically

    write_atomically(os.fspath(path), render(lock, path=os.fspath(path), format=format))


def to_json(lock: Lock) -> dict[str, Any]:
    """The lock as plain JSON values; `version` names the schema."""
    from compatlock.lockfile.lock_json import to_json as encode

    return encode(lock)


def from_json(value: Mapping[str, Any]) -> Lock:
    """The lock that `to_json` gave. Raises InputError for anything else."""
    from compatlock.lockfile.lock_json import from_json as decode

    return decode(value)


def compare(old: Lock | Mapping[str, str], new: Lock | Mapping[str, str]) -> tuple[Change, ...]:
    """What changed between two locks (or `{name: version}`): added, removed and changed pins by name. The
    versions for several targets are one text, `1.0, 2.0`."""
    return changes(_pins(old), _pins(new))


def _pins(lock: Mapping[str, str] | Lock | None) -> dict[str, str]:
    if lock is None:
        return {}
    return together(lock.older_pins) if isinstance(lock, Lock) else dict(lock)
