"""Making a lock whose artefacts do not work together into one whose do, with as few changes as possible."""

from __future__ import annotations

from compatlock.api.diff import diff_given
from compatlock.api.files import lock_to_files
from compatlock.api.session import with_supply
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.policy import NONE
from compatlock.model.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from compatlock.api.check.pins import Given
    from compatlock.api.files import Written
    from compatlock.api.options import LockOptions
    from compatlock.api.request import Prepared
    from compatlock.index.progress import Progress
    from compatlock.index.supply import Supply
    from compatlock.lockfile.diff import Diff


class Fixed(NamedTuple):
    """The new lock, written; what changed against the old one; and what was taken to be asked for."""

    written: Written
    diff: Diff
    asked: tuple[str, ...]


def fix_pins(
    options: LockOptions,
    given: Given,
    subject: str,
    outputs: Sequence[str],
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> Fixed:
    """Lock again what pins (see `check_pins.read_given`) were made for, with an audit, changing as few of
    them as possible, and write it to `outputs`.

    What is asked for are the options' requirements, files and profiles; when there are none, what the file
    says that was asked for, else every package that no other one of the pins needs. Raises what
    `files.lock_to_files` raises, AuditFailed too.
    """
    own, asked_target = given.target or Target(), options.target
    target = asked_target.or_else(own)
    options = options._replace(
        target=target,
        audit=True,
        waivers=(*given.waivers, *options.waivers),
        exclude_dependencies=(*given.excluded, *options.exclude_dependencies),
    )
    asked: tuple[str, ...] = ()
    if not (options.requirements or options.files or options.profiles):
        roots = [_with_extras(pin.name, pin.extras) for pin in given.pins if pin.is_root]
        asked = tuple(roots) or _unneeded(options, given, on_progress)
        options = options._replace(requirements=asked)
    options = options._replace(older={pin.name: pin.version for pin in given.pins if pin.version})
    written = lock_to_files(options, outputs, on_progress=on_progress)
    return Fixed(written, diff_given(given, subject, written.outcome.lock), asked)


def _unneeded(
    options: LockOptions, given: Given, on_progress: Callable[[Progress], None] | None
) -> tuple[str, ...]:
    """The packages that no other one of the pins needs, with their extras, as requirements."""

    def work(prepared: Prepared, supply: Supply) -> tuple[str, ...]:  # noqa: ARG001 - the session's form
        from compatlock.api.check.pins import PinReader

        held = PinReader(supply).held(given.pins)
        supply.save()
        needed = {
            need.name
            for name, each in held.items()
            if each.dependencies is not None
            for extra in ("", *each.extras)
            for need in each.dependencies.of(extra)
            if need.name != name
        }
        return tuple(_with_extras(name, held[name].extras) for name in sorted(held.keys() - needed))

    anew = options._replace(exclude_newer=NONE, exclude_newer_package=())
    return with_supply(anew, work, on_progress=on_progress, needs_roots=False)


def _with_extras(name: str, extras: Sequence[str]) -> str:
    return f"{name}[{','.join(extras)}]" if extras else name
