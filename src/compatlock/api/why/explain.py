"""Why there is no answer, why a package has its version, and what another would cost."""

from __future__ import annotations

from compatlock.api.locking import lock_with
from compatlock.api.session import with_supply
from compatlock.api.why.prices import Session
from compatlock.errors import InputError, NoSolution
from compatlock.inputs.requirement_line import parse_requirement
from compatlock.model.core import QUESTION
from compatlock.model.explanation import Explanation
from compatlock.model.requirement import Requirement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.index.progress import Progress
    from compatlock.index.store import Store
    from compatlock.index.supply import Supply


def explain_options(
    options: LockOptions,
    questions: Sequence[str] = (),
    *,
    on_progress: Callable[[Progress], None] | None = None,
    store: Store | None = None,
) -> Explanation:
    """Lock without writing, and answer questions: `PKG` (why this version, and what newer ones cost) or
    `PKG==V` (why not that one). Without an answer the explanation holds the error with its core and ways out.

    Raises InputError for a question that is neither, and what `make_lock` raises but NoSolution.
    """
    asked = [_question(text) for text in questions]

    def work(prepared: Prepared, supply: Supply) -> Explanation:
        try:
            lock = lock_with(options, prepared, supply).lock
        except NoSolution as error:
            return Explanation(error=error, answers=())
        if not asked:
            return Explanation(lock)
        session = Session(prepared.request, supply, lock)
        try:
            return Explanation(lock, answers=tuple(session.why(question) for question in asked))
        finally:
            session.close()

    return with_supply(options, work, on_progress=on_progress, store=store)


def _question(text: str) -> Requirement:
    question = parse_requirement(text, QUESTION)
    clauses = question.specifier
    if clauses and (not clauses.startswith("==") or "," in clauses or "*" in clauses):
        raise InputError(
            f"`{text}` is no question: ask about a package, or about one version of it",
            hints=[f"write `{question.name}` or `{question.name}==VERSION`"],
        )
    return question._replace(extras=(), marker="")
