"""Auditing a set of artefacts: which files they are, all checks over them, and a report."""

from __future__ import annotations

from contextlib import ExitStack

from compatlock.api.audit.artefacts import artefacts_of
from compatlock.api.audit.checks import NOTHING, Asked, Checks
from compatlock.api.audit.declared import builds_of, other_declarations
from compatlock.api.session import with_supply
from compatlock.index.indexes import IndexSet
from compatlock.index.observations import StoredObservations
from compatlock.index.wheel_memory import RememberedWheels
from compatlock.index.wheel_reader import RemoteWheels
from compatlock.model.audit_report import AuditReport
from compatlock.model.finding import CERTAIN, LIKELY, POSSIBLE, UNREAD
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.policy import NONE
from compatlock.model.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeVar

    from compatlock.api.check.pins import Given
    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.index.progress import Progress
    from compatlock.index.supply import Supply
    from compatlock.model.artefact import Artefact, Observations, WheelReader
    from compatlock.model.finding import Finding
    from compatlock.model.lock import Lock

    _T = TypeVar("_T")

_ORDER = (CERTAIN, LIKELY, UNREAD, POSSIBLE)


class Workshop(NamedTuple):
    """What an audit works with: wheels that can be looked into, what is remembered of them, and what the
    looking has cost so far."""

    reader: WheelReader
    observations: Observations
    remote: RemoteWheels

    @classmethod
    def open(
        cls, options: LockOptions, stack: ExitStack, on_progress: Callable[[Progress], None] | None = None
    ) -> Workshop:
        """Open one for the options' indexes and cache, until `stack` is closed. Offline, only what is
        remembered can be looked into."""
        observations = stack.enter_context(StoredObservations(options.cache_directory()))
        remote = stack.enter_context(
            RemoteWheels(
                IndexSet(options.indexes).all,
                timeout=options.timeout,
                cert=options.cert,
                on_progress=on_progress,
            )
        )
        reader: WheelReader = remote
        if options.offline:
            from compatlock.index.wheel_local import LocalWheels

            reader = LocalWheels({}, missing="offline, and the cache does not hold what is in it")
        return cls(RememberedWheels(reader, observations), observations, remote)

    def checks(self, target: Target, asked: Asked = NOTHING) -> Checks:
        """The checks, for a target."""
        return Checks(self.reader, self.observations, target, asked)


class Audited(NamedTuple):
    """The report of an audit, and what it was made with: the audited `versions` with their `extras`, as the
    supply and the workshop have them, and what of them will be used."""

    report: AuditReport
    supply: Supply
    versions: Mapping[str, str]
    extras: Mapping[str, tuple[str, ...]]
    workshop: Workshop
    asked: Asked


def audit_pins(
    options: LockOptions,
    given: Given,
    subject: str,
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> AuditReport:
    """Audit the artefacts that an installer would pick for pins (see `check_pins.read_given`).

    Of the options target, index, cache and profiles (their import checks) count; the target of a lock of
    ours is its own unless asked otherwise. Raises InputError, IndexUnavailable (NotCached when offline).
    """
    return with_audit(options, given, subject, lambda audited: audited.report, on_progress=on_progress)


def with_audit(
    options: LockOptions,
    given: Given,
    subject: str,
    use: Callable[[Audited], _T],
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> _T:
    """Audit pins as `audit_pins` does; return what `use` makes of it while index and wheels can be read."""
    target = options.target.or_else(given.target or Target())
    # An index's state at a time would hide releases that somebody has.
    options = options._replace(target=target, exclude_newer=NONE, exclude_newer_package=())

    def work(prepared: Prepared, supply: Supply) -> _T:
        versions, extras, missing = candidates_of(supply, given)
        asked = Asked(frozenset(pin.name for pin in given.pins if pin.is_root), prepared.imports)
        with ExitStack() as stack:
            workshop = Workshop.open(options, stack, on_progress)
            report = audit(supply, versions, extras, workshop, asked)
            notes = tuple(dict.fromkeys((*prepared.notes, *given.notes)))
            report = report._replace(subject=subject, unread=(*missing, *report.unread), notes=notes)
            return use(Audited(report, supply, versions, extras, workshop, asked))

    return with_supply(options, work, on_progress=on_progress, needs_roots=False)


def audit_lock(lock: Lock, supply: Supply, workshop: Workshop, imports: tuple[str, ...] = ()) -> AuditReport:
    """Audit a lock that was just made over `supply`; `imports` are modules that will be imported."""
    extras = {pin.name: pin.extras for pin in lock.pins}
    return audit(supply, lock.versions, extras, workshop, Asked(frozenset(lock.roots), imports))


def audit(
    supply: Supply,
    versions: Mapping[str, str],
    extras: Mapping[str, Iterable[str]],
    workshop: Workshop,
    asked: Asked = NOTHING,
) -> AuditReport:
    """Audit candidates, `{package: version}`, of which `asked` will be used. Raises as `Supply.packages`."""
    before = workshop.remote.requests, workshop.remote.bytes_received
    artefacts = artefacts_of(supply, versions, extras)
    supply.save()
    checks = workshop.checks(supply.target, asked)
    findings = [*checks.run(artefacts.found), *_metadata_findings(supply, artefacts.found, extras, workshop)]
    return AuditReport(
        subject="the lock",
        target=str(supply.target),
        audited=len(artefacts.found),
        findings=tuple(sorted(findings, key=_worst_first)),
        unread=artefacts.missing,
        requests=workshop.remote.requests - before[0],
        bytes_received=workshop.remote.bytes_received - before[1],
    )


def _metadata_findings(
    supply: Supply, artefacts: Sequence[Artefact], extras: Mapping[str, Iterable[str]], workshop: Workshop
) -> list[Finding]:
    """What other files and releases declare than the chosen ones."""
    from compatlock.audit.bounds import check_bounds
    from compatlock.audit.builds import check_builds

    declared = other_declarations(supply, artefacts, extras)
    builds, peers = builds_of(supply, artefacts, workshop.reader)
    return [*check_builds(artefacts, builds, peers), *check_bounds(artefacts, declared)]


def _worst_first(finding: Finding) -> tuple[int, str, str, str]:
    return _ORDER.index(finding.certainty), finding.check, finding.package, finding.on


def candidates_of(
    supply: Supply, given: Given
) -> tuple[dict[str, str], dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The candidates that pins mean, in the index's spelling, with their extras; and why others have none."""
    from compatlock.api.check.pins import PinReader

    reader = PinReader(supply)
    held = reader.held(given.pins)
    versions, missing = {}, []
    for name, each in held.items():
        index = reader.index(name, each.version) if each.version else None
        if index is None:
            missing.append(f"{name} {each.version}: the index has no file of it for {supply.target}")
        else:
            versions[name] = supply.package(name).versions[index]
    return versions, {name: each.extras for name, each in held.items()}, tuple(missing)
