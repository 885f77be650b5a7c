"""Every error that compatlock raises on purpose, in one tree.

`exit_code` is what the command line returns for it: 1 no solution or a failed check, 2 bad usage or
input, 3 index or network, or another machine or process that failed. The text is for people: what was
asked, what is in the way, what to do.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from compatlock.model.audit_report import AuditReport
    from compatlock.model.core import Core
    from compatlock.model.unusable import Unusable
    from compatlock.model.way_out import WayOut


class CompatlockError(Exception):
    """Base of all errors of this library; `hints` are things the reader can do about it."""

    exit_code = 1

    def __init__(self, message: str, *, hints: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hints = tuple(hints)


class InputError(CompatlockError):
    """What the user gave (a line, a file, an option) cannot be used; the message names file and line."""

    exit_code = 2


class FactError(InputError):
    """A facts or profile file is wrong; the message names the file and the entry."""


class IndexUnavailable(CompatlockError):
    """The package index could not be asked, or answered with something unusable."""

    exit_code = 3


class NotCached(IndexUnavailable):
    """Offline, and the cache does not hold what is needed."""


class WorkerLost(CompatlockError):
    """A process or an engine that was to do a part of the work failed; nothing is known of that part."""

    exit_code = 3


class NoSolution(CompatlockError):
    """The requirements contradict each other: proved. `core` is one minimal unsatisfiable set of edges, the
    shortest; `cores` are all that were found, and `all_cores` says that there is no other, which is proved.
    `ways_out` are changes that help, the best first; `unusable` is what the index has of the core's packages
    and nobody can use."""

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        core: Core | None = None,
        cores: Sequence[Core] = (),
        all_cores: bool = False,
        hints: Sequence[str] = (),
        ways_out: Sequence[WayOut] = (),
    ) -> None:
        super().__init__(message, hints=hints)
        self.core = core
        self.cores = tuple(cores) or ((core,) if core is not None else ())
        self.all_cores = all_cores
        self.ways_out = tuple(ways_out)
        self.unusable: tuple[Unusable, ...] = ()


class LockOutdated(CompatlockError):
    """`--locked` was asked for and the lock would change."""

    exit_code = 1


class LockInvalid(CompatlockError):
    """The independent checker refused an answer; nothing was written. `violations` says why."""

    exit_code = 1

    def __init__(self, message: str, *, violations: Sequence[str] = (), hints: Sequence[str] = ()) -> None:
        super().__init__(message, hints=hints)
        self.violations = tuple(violations)


class AuditFailed(CompatlockError):
    """The artefacts of an answer do not work together; nothing was written. `report` says what was found."""

    exit_code = 1

    def __init__(self, message: str, *, report: AuditReport, hints: Sequence[str] = ()) -> None:
        super().__init__(message, hints=hints)
        self.report = report


class InstallFailed(CompatlockError):
    """The installer could not bring an environment to what a lock says; its own words are in the message."""

    exit_code = 1


class BuildFailed(CompatlockError):
    """A source distribution could not be built; `output` is what the build said."""

    exit_code = 1

    def __init__(self, message: str, *, output: str = "", hints: Sequence[str] = ()) -> None:
        super().__init__(message, hints=hints)
        self.output = output


class SearchGivenUp(CompatlockError):
    """A search stopped at its limit, with neither an answer nor a proof that there is none."""

    exit_code = 1


def reason_of(error: Exception) -> str:
    """What an error of the system says, without its number and path, which messages name in their own way."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
