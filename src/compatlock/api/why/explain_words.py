"""Answers to "why" in words."""

from __future__ import annotations

from compatlock.api.why.more_cores import describe_more_cores
from compatlock.api.why.way_words import describe_ways_out
from compatlock.model.display import counted, listed, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from compatlock.model.explanation import Explanation, Price, Why
    from compatlock.model.lock import Lock, Pin, SoftFactReport

# So many edges are told of one package.
_EDGES = 6


def describe(explanation: Explanation) -> str:
    """The explanation as text, with a line end."""
    if explanation.error is not None:
        parts = [
            explanation.error.message,
            describe_more_cores(explanation.error, full=True),
            describe_ways_out(explanation.error.ways_out),
        ]
        parts += [f"hint: {hint}" for hint in explanation.error.hints]
        return "\n".join(part for part in parts if part) + "\n"
    assert explanation.lock is not None
    lines: list[str] = []
    if not explanation.answers:
        lines += _satisfiable(explanation.lock)
    for why in explanation.answers:
        lines += _why(why)
    return "\n".join(printable(line) for line in lines) + "\n"


def _satisfiable(lock: Lock) -> Iterator[str]:
    yield f"there is nothing in the way: {len(lock.pins)} packages fit together for {lock.target}"
    for pin in lock.pins:
        if pin.is_root:
            yield f"  {pin.name} {pin.version}{_behind(pin)}"
    for waiver in lock.waivers:
        yield f"  with the waiver {waiver}"


def _behind(why: Pin | Why) -> str:
    if not why.lag_releases:
        return ", the newest there may be"
    held = f": {listed(why.held_by[:2])}" if why.held_by else ""
    lag = f"{counted(why.lag_releases, 'release')} and {counted(why.lag_days, 'day')}"
    return f", {lag} behind {why.newest}{held}"


def _why(why: Why) -> Iterator[str]:
    if why.unknown:
        meant = f"; did you mean `{why.meant}`?" if why.meant else ""
        yield f"{why.package} is no part of the best answer: the index has no release of it{meant}"
    elif not why.version:
        yield f"{why.package} is no part of the best answer: nothing in it needs {why.package}"
    else:
        yield f"{why.package} {why.version}{_behind(why)}"
        yield from _some("needed by", why.needed_by)
        yield from _some("a newer one is held back by", why.held_by)
    for price in why.newer:
        yield from _price(why, price)
    if why.left_out:
        releases = counted(why.left_out, "release")
        verb = "is" if why.left_out == 1 else "are"
        yield f"  {releases} between them {verb} left out; ask with `{why.package}==VERSION`"


def _some(title: str, edges: tuple[str, ...]) -> Iterator[str]:
    if edges:
        yield f"  {title}"
        for edge in edges[:_EDGES]:
            yield f"    {edge}"
        if edges[_EDGES:]:
            yield f"    {len(edges) - _EDGES} more"


def _price(why: Why, price: Price) -> Iterator[str]:
    what = f"{why.package} {price.version}"
    if price.error is not None:
        _, *rest = price.error.message.splitlines()
        yield f"  {what} is impossible:"
        yield from (f"  {line}" for line in rest)
        yield from (f"    {line}" for line in describe_ways_out(price.error.ways_out).splitlines())
        return
    if price.version == why.version:
        yield f"  {what} is what the best answer has"
        return
    yield f"  {what} {_changes(price)}"
    if price.worse:
        name, now, then = price.worse
        yield f"    it is worse in {name}: {then} instead of {now}"
    for fact in price.breaks:
        yield f"    it breaks a soft fact: {fact.summary} (`{fact.id}`, {_as_days(fact)})"


def _as_days(fact: SoftFactReport) -> str:
    return f"which counts as {fact.days} days"


def _changes(price: Price) -> str:
    changes = [_change(*pin) for pin in price.pins]
    if price.others:
        changes.append(counted(price.others, "other package"))
    return f"is possible and changes {listed(changes) if changes else 'nothing else'}"


def cost_in_words(price: Price) -> str:
    """What a version costs in one phrase, to follow its name."""
    if price.error is not None:
        return "is impossible unless a bound is waived"
    told = []
    if price.worse:
        name, now, then = price.worse
        told.append(f"{name}: {then} instead of {now}")
    if price.breaks:
        ids = listed([f"`{fact.id}`" for fact in price.breaks])
        told.append(f"breaks the soft fact{'' if len(price.breaks) == 1 else 's'} {ids}")
    return f"{_changes(price)} ({'; '.join(told)})" if told else _changes(price)


def _change(name: str, now: str, then: str) -> str:
    return f"{name} {now or 'absent'} to {then or 'absent'}"
