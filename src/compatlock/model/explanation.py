"""Answers to "why": why a package has its version, and what another would cost."""

from __future__ import annotations

from compatlock.model.lock import Lock, SoftFactReport
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.errors import NoSolution


class Price(NamedTuple):
    """What one other version of a package would cost.

    pins:   packages of the user's lines and of the question whose version changes, `(name, now, then)`
    others: how many further packages change
    worse:  the most important part of the objective that gets worse, `(name, now, then)`, `()` if none
    error:  why it is impossible, with ways out; None when it is possible
    breaks: the soft facts that it breaks and the best answer does not; each counts like a root that is so
            many days behind
    """

    version: str
    pins: tuple[tuple[str, str, str], ...] = ()
    others: int = 0
    worse: tuple[str, int, int] | tuple[()] = ()
    error: NoSolution | None = None
    breaks: tuple[SoftFactReport, ...] = ()


class Why(NamedTuple):
    """Why a package has its version.

    package, asked: the package, and the version that was asked about (`""`: all newer ones)
    version:   the version in the best answer, `""` when it is no part of it
    needed_by: the edges that lead to it; held_by: those that exclude the next newer release
    newer:     what newer releases (or the version asked about) would cost, newest first
    left_out:  how many newer releases are not told of
    unknown:   whether the index has no release of it; meant: a package of the best answer with a similar name
    """

    package: str
    asked: str = ""
    version: str = ""
    newest: str = ""
    lag_days: int = 0
    lag_releases: int = 0
    needed_by: tuple[str, ...] = ()
    held_by: tuple[str, ...] = ()
    newer: tuple[Price, ...] = ()
    left_out: int = 0
    unknown: bool = False
    meant: str = ""


class Explanation(NamedTuple):
    """Either a lock (not written) or the error that says why there is none, and answers to questions."""

    lock: Lock | None = None
    error: NoSolution | None = None
    answers: tuple[Why, ...] = ()
