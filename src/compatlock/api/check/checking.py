"""Checking pins: `pip freeze` output, a lock."""

from __future__ import annotations

from compatlock.api.check.pins import PinReader
from compatlock.api.check.rules import Rules
from compatlock.api.request import prepare
from compatlock.api.session import with_supply
from compatlock.errors import IndexUnavailable
from compatlock.model.policy import NONE
from compatlock.model.report import ERROR, Discrepancy, Report
from compatlock.model.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from compatlock.api.check.pins import Given
    from compatlock.api.check.rules import Held
    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.index.progress import Progress
    from compatlock.index.supply import Supply
    from compatlock.model.waiver import Waiver


def check_pins(
    options: LockOptions,
    given: Given,
    subject: str,
    *,
    known: Sequence[Discrepancy] = (),
    notes: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Check pins (see `check_pins.read_given`) against what the index says that their releases need, and the
    facts in force; the options count as in `check_installed.check_environment`, and say which index. The
    target of a lock of ours is its own unless asked otherwise (all of them, of a lock for several); the
    bounds it waived are waived, the edges it left out too. `known` and `notes` are what was found before.

    Raises InputError, IndexUnavailable (NotCached when offline); with errors found before, that is a note.
    """
    targets = _targets_of(options.target, given)
    # An index's state at a time would hide releases that somebody has.
    options = options._replace(
        target=targets[0],
        targets=(),
        exclude_newer=NONE,
        exclude_newer_package=(),
        exclude_dependencies=(*given.excluded, *options.exclude_dependencies),
    )

    def work(prepared: Prepared, supply: Supply) -> Report:
        found: dict[str, list[Discrepancy]] = {}
        told = [*notes, *prepared.notes, *given.notes]
        checked: set[str] = set()
        if given.builds:
            # What was built for the lock is for the target; to read what it needs, nothing is built.
            supply = supply.under(policy=supply.policy._replace(builds=given.builds))
        for target in targets:
            mine = supply if target is targets[0] else supply.under(target=target.resolved())
            if mine is not supply:
                prepared = prepare(options._replace(target=target), supply.memo, needs_roots=False)
            reader = PinReader(mine)
            held = reader.held(given.pins)
            told += reader.notes
            checked.update(held)
            found[str(mine.target)] = _findings(held, prepared, given.waivers)
        supply.save()
        merged = (*known, *_merged(found))
        return Report(subject, _in_words(found), len(checked), merged, tuple(dict.fromkeys(told)))

    try:
        return with_supply(options, work, on_progress=on_progress, needs_roots=False)
    except IndexUnavailable as error:
        if not any(finding.severity == ERROR for finding in known):
            raise
        names = {pin.name for pin in given.pins}
        told = (*notes, *given.notes, f"what packages declare was not checked: {error.message}")
        words = _in_words([str(target.resolved()) for target in targets])
        return Report(subject, words, len(names), tuple(known), told)


def _targets_of(asked: Target, given: Given) -> tuple[Target, ...]:
    """The targets to check pins for: those of their lock that are what is asked for, or what is asked for."""
    fitting = [target for target in given.targets if _is_asked_for(target, asked)]
    if len(given.targets) > 1 and fitting:
        if asked.cuda or asked.driver:
            fitting = [target._replace(cuda=asked.cuda, driver=asked.driver) for target in fitting]
        return tuple(fitting)
    own = given.target or Target()
    cuda = asked if asked.cuda or asked.driver else own
    return (Target(asked.python or own.python, asked.platform or own.platform, cuda.cuda, cuda.driver),)


def _is_asked_for(target: Target, asked: Target) -> bool:
    wanted = asked._replace(
        python=asked.python or target.python, platform=asked.platform or target.platform, cuda="", driver=""
    ).resolved()
    return (wanted.python_minor, wanted.platform) == (target.python_minor, target.platform)


def _findings(held: Mapping[str, Held], prepared: Prepared, waivers: Sequence[Waiver]) -> list[Discrepancy]:
    # What is asked for now goes before what the lock says.
    request = prepared.request._replace(waivers=(*waivers, *prepared.request.waivers))
    return list(dict.fromkeys(Rules(held, request, pinned=True).findings()))


def _in_words(targets: Collection[str]) -> str:
    return next(iter(targets)) if len(targets) == 1 else f"{len(targets)} targets"


def _merged(found: Mapping[str, Sequence[Discrepancy]]) -> list[Discrepancy]:
    """The findings of all targets, each once; with a remark that names its targets, unless it is of all."""
    by_words: dict[Discrepancy, tuple[Discrepancy, list[str]]] = {}
    for target, findings in found.items():
        for item in findings:
            # The hints name the target.
            by_words.setdefault(item._replace(hints=()), (item, []))[1].append(target)
    return [
        item if len(targets) == len(found) else item._replace(remarks=(*item.remarks, _remark(targets)))
        for item, targets in by_words.values()
    ]


def _remark(targets: Sequence[str]) -> str:
    more = f" and {len(targets) - 1} other targets" if len(targets) > 2 else ""
    return f"for {targets[0] if more else ' and '.join(targets)}{more}"
