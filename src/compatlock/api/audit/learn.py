"""Solve, audit, learn, solve again: until the artefacts of the best answer work together.

What was learned binds only within the run. Rounds are bounded; an answer that is still not clean is an
error with what was found.
"""

from __future__ import annotations

from contextlib import ExitStack

from compatlock.api.audit.auditing import Workshop, audit_lock
from compatlock.api.audit.checks import Asked
from compatlock.api.audit.implied import Implied
from compatlock.api.locking import lock_with
from compatlock.errors import AuditFailed, NoSolution
from compatlock.model.display import counted
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from compatlock.api.locking import Outcome
    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.index.progress import Progress
    from compatlock.index.supply import Supply
    from compatlock.model.audit_report import AuditReport
    from compatlock.model.fact import Fact

# Each round learns facts for ranges of releases, so that few are needed.
MAX_ROUNDS = 12


class Lesson(NamedTuple):
    """A fact that an audit implied, and what was found."""

    fact: Fact
    summary: str


class Audited(NamedTuple):
    """A clean answer, its audit, and what had to be learned for it in how many rounds."""

    outcome: Outcome
    report: AuditReport
    lessons: tuple[Lesson, ...] = ()
    rounds: int = 1


def lock_audited(
    options: LockOptions,
    prepared: Prepared,
    supply: Supply,
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> Audited:
    """Return the best answer whose artefacts pass the audit.

    Raises AuditFailed when what is found implies nothing that could be learned, or the rounds are used up;
    NoSolution when what was learned leaves no answer; and what `lock_with` raises.
    """
    lessons: list[Lesson] = []
    with ExitStack() as stack:
        workshop = Workshop.open(options._replace(indexes=prepared.indexes), stack, on_progress)
        for number in range(1, MAX_ROUNDS + 1):
            taught = _taught(prepared, lessons)
            try:
                outcome = lock_with(options, taught, supply)
            except NoSolution as error:
                raise _without_answer(error, lessons) from None
            report = audit_lock(outcome.lock, supply, workshop, prepared.imports)
            if report.is_clean:
                return Audited(_noted(outcome, report, lessons), report, tuple(lessons), number)
            asked = Asked(frozenset(outcome.lock.roots), prepared.imports)
            implied = Implied(workshop.checks(supply.target, asked), supply, outcome.lock.versions)
            fresh = list(_lessons(report, implied, {each.fact.id for each in lessons}))
            if not fresh:
                break
            lessons += fresh
    raise AuditFailed(_failed(report, lessons), report=report, hints=_told(lessons))


def _taught(prepared: Prepared, lessons: Iterable[Lesson]) -> Prepared:
    request = prepared.request
    facts = tuple(sorted({*request.facts, *(lesson.fact for lesson in lessons)}))
    return prepared._replace(request=request._replace(facts=facts))


def _lessons(report: AuditReport, implied: Implied, known: set[str]) -> Iterable[Lesson]:
    """What the findings of a round imply beyond what is known already."""
    for finding in report.failures:
        for fact in implied.facts(finding):
            if fact.id not in known:
                known.add(fact.id)
                yield Lesson(fact, finding.summary)


def _noted(outcome: Outcome, report: AuditReport, lessons: list[Lesson]) -> Outcome:
    """The outcome with notes on its audit, which belong into the lock."""
    from compatlock.api.audit.words import fact_text

    notes = [f"audited: {report.audited} wheels were looked into, nothing that breaks was found"]
    notes += [f"learned by the audit: {fact_text(each.fact)} ({each.summary})" for each in lessons]
    lock = outcome.lock._replace(notes=tuple(sorted((*outcome.lock.notes, *notes))))
    return outcome._replace(lock=lock)


def _failed(report: AuditReport, lessons: list[Lesson]) -> str:
    """What the last answer breaks at, each finding with where it was seen."""
    from compatlock.api.audit.words import finding_lines

    tried = f" after learning {counted(len(lessons), 'fact')}" if lessons else ""
    first = f"the best answer does not pass the audit{tried}: {counted(len(report.failures), 'finding')}"
    return "\n".join([first, *(f"  {line}" for each in report.failures for line in finding_lines(each))])


def _without_answer(error: NoSolution, lessons: list[Lesson]) -> NoSolution:
    """The contradiction, with what the audit had to do with it."""
    error.hints = (*error.hints, *_told(lessons))
    return error


def _told(lessons: Iterable[Lesson]) -> list[str]:
    from compatlock.api.audit.words import fact_text

    return [f"the audit learned: {fact_text(each.fact)} ({each.summary})" for each in lessons]
