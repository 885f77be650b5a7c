"""Find sets of package versions that really work together, and lock them.

    >>> import compatlock
    >>> lock = compatlock.lock(profile="async-grpo", target=compatlock.Target(python="3.12"))
    >>> lock.versions["vllm"]
    >>> compatlock.write(lock, "requirements.lock")

Everything here is imported when first used.
"""

from __future__ import annotations

import sys
from types import ModuleType

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.api.held import Session
    from compatlock.api.keywords import Keywords
    from compatlock.api.library import (
        audit,
        check,
        compare,
        explain,
        from_json,
        lock,
        matrix,
        render,
        sync,
        to_json,
        write,
    )
    from compatlock.api.sync import Synced
    from compatlock.errors import (
        AuditFailed,
        CompatlockError,
        FactError,
        IndexUnavailable,
        InputError,
        InstallFailed,
        LockInvalid,
        LockOutdated,
        NoSolution,
        NotCached,
        WorkerLost,
    )
    from compatlock.lockfile.compare import Change
    from compatlock.model.audit_report import AuditReport
    from compatlock.model.core import Core, CoreEdge
    from compatlock.model.explanation import Explanation, Price, Why
    from compatlock.model.finding import Finding, Place
    from compatlock.model.lock import Lock, LockedEdge, LockedFile, Pin, TierValue
    from compatlock.model.matrix import Axis, Cell, Matrix
    from compatlock.model.report import Discrepancy, Report
    from compatlock.model.target import Target
    from compatlock.model.waiver import Waiver
    from compatlock.model.way_out import BrokenEdge, Evidence, WayOut

__all__ = [
    "AuditFailed",
    "AuditReport",
    "Axis",
    "BrokenEdge",
    "Cell",
    "Change",
    "CompatlockError",
    "Core",
    "CoreEdge",
    "Discrepancy",
    "Evidence",
    "Explanation",
    "FactError",
    "Finding",
    "IndexUnavailable",
    "InputError",
    "InstallFailed",
    "Keywords",
    "Lock",
    "LockInvalid",
    "LockOutdated",
    "LockedEdge",
    "LockedFile",
    "Matrix",
    "NoSolution",
    "NotCached",
    "Pin",
    "Place",
    "Price",
    "Report",
    "Session",
    "Synced",
    "Target",
    "TierValue",
    "Waiver",
    "WayOut",
    "Why",
    "WorkerLost",
    "audit",
    "check",
    "compare",
    "explain",
    "from_json",
    "lock",
    "matrix",
    "render",
    "sync",
    "to_json",
    "write",
]

# All else is a class.
_FUNCTIONS = [name for name in __all__ if name.islower()]
_MODULES = {
    "Change": "compatlock.lockfile.compare",
    "Keywords": "compatlock.api.keywords",
    "Synced": "compatlock.api.sync",
    "Session": "compatlock.api.held",
    "Target": "compatlock.model.target",
    "Waiver": "compatlock.model.waiver",
    **dict.fromkeys(("Core", "CoreEdge"), "compatlock.model.core"),
    **dict.fromkeys(("Explanation", "Price", "Why"), "compatlock.model.explanation"),
    **dict.fromkeys(("BrokenEdge", "Evidence", "WayOut"), "compatlock.model.way_out"),
    "AuditReport": "compatlock.model.audit_report",
    **dict.fromkeys(("Discrepancy", "Report"), "compatlock.model.report"),
    **dict.fromkeys(("Finding", "Place"), "compatlock.model.finding"),
    **dict.fromkeys(("Lock", "LockedEdge", "LockedFile", "Pin", "TierValue"), "compatlock.model.lock"),
    **dict.fromkeys(("Axis", "Cell", "Matrix"), "compatlock.model.matrix"),
    **dict.fromkeys(_FUNCTIONS, "compatlock.api.library"),
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'compatlock' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_MODULES.get(name, "compatlock.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    def __setattr__(self, name: str, value: object) -> None:
        # The import of a room becomes an attribute of its package, and `audit` is a function here too.
        if not (name in _FUNCTIONS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
