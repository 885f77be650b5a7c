"""Checking what somebody has: an environment, `pip freeze` output, a lock."""

from __future__ import annotations

from typing import NamedTuple

from compatlock.api.check_rules import Rules
from compatlock.api.session import with_supply
from compatlock.model.report import Report
from compatlock.model.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from compatlock.api.check_pins import Given
    from compatlock.api.check_rules import Held
    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.index.progress import Progress
    from compatlock.index.supply import Supply

    Reading: TypeAlias = tuple[Mapping[str, Held], list[str]]


class _Subject(NamedTuple):
    name: str
    is_pinned: bool


def check_environment(options: LockOptions, path: str = "") -> Report:
    """Check the environment at `path` (`""`: the running interpreter's) against the declared needs of what is
    installed and the facts in force. No index is asked.

    Of the options the requirements and profiles are what it should fulfil, and facts, waivers and the target
    count; the environment's own Python goes before a profile's. Raises InputError.
    """
    from compatlock.environment.installed import read_environment
    from compatlock.environment.locate import locate
    from compatlock.model.platforms import running_platform

    environment = locate(path)
    installed = read_environment(environment)
    asked = options.target
    target = asked._replace(
        python=asked.python or environment.python, platform=asked.platform or running_platform()
    )

    def read(_: Prepared, supply: Supply) -> Reading:
        from compatlock.api.check_environment import InstalledReader

        reader = InstalledReader(supply.target, asked.python or environment.python)
        held = reader.held(installed)
        unknown = (
            [] if target.python else [f"which Python {path} is for is not known; taken as the running one"]
        )
        return held, [*unknown, *reader.notes]

    subject = _Subject(f"the environment {path}" if path else "the running environment", is_pinned=False)
    return _check(options._replace(target=target), subject, read)


def check_pins(
    options: LockOptions, given: Given, subject: str, *, on_progress: Callable[[Progress], None] | None = None
) -> Report:
    """Check pins (see `check_pins.read_given`) against what the index says that their releases need, and the
    facts in force; the options count as in `check_environment`, and say which index. The target of a lock of
    ours is its own unless asked otherwise; the bounds it waived are waived, the edges it left out too.

    Raises InputError, IndexUnavailable (NotCached when offline).
    """
    own, asked = given.target or Target(), options.target
    target = asked.or_else(own)
    # An index's state at a time would hide releases that somebody has.
    options = options._replace(
        target=target,
        exclude_newer="",
        exclude_dependencies=(*given.excluded, *options.exclude_dependencies),
    )

    def read(_: Prepared, supply: Supply) -> Reading:
        from compatlock.api.check_pins import PinReader

        reader = PinReader(supply)
        held = reader.held(given.pins)
        supply.save()
        return held, [*given.notes, *reader.notes]

    return _check(options, _Subject(subject, is_pinned=True), read, given=given, on_progress=on_progress)


def _check(
    options: LockOptions,
    subject: _Subject,
    read: Callable[[Prepared, Supply], Reading],
    *,
    given: Given | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Report:
    def work(prepared: Prepared, supply: Supply) -> Report:
        held, notes = read(prepared, supply)
        request = prepared.request
        if given is not None:
            # What is asked for now goes before what the lock says.
            request = request._replace(waivers=(*given.waivers, *request.waivers))
        rules = Rules(held, request, pinned=subject.is_pinned)
        findings = tuple(dict.fromkeys(rules.findings()))
        remarks = tuple(dict.fromkeys((*prepared.notes, *notes)))
        return Report(subject.name, str(request.target), len(held), findings, remarks)

    return with_supply(options, work, on_progress=on_progress, needs_roots=False)
