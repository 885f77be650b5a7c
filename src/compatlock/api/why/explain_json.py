"""Errors and explanations as plain JSON values."""

from __future__ import annotations

from typing import Any

from compatlock.errors import CompatlockError, LockInvalid, NoSolution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.explanation import Explanation, Price, Why
    from compatlock.model.way_out import WayOut

JSON_VERSION = 1


def error_to_json(error: CompatlockError) -> dict[str, Any]:
    """An error for machines: `{"version": 1, "error": {...}}`; with its core and ways out, if it has any."""
    return {"version": JSON_VERSION, "error": error_body(error)}


def error_body(error: CompatlockError) -> dict[str, Any]:
    """Kind, message and hints of an error, and what else it knows."""
    body: dict[str, Any] = {
        "kind": type(error).__name__,
        "exit_code": error.exit_code,
        "message": error.message,
        "hints": list(error.hints),
    }
    if isinstance(error, NoSolution):
        core = error.core
        body["core"] = [plain(edge) for edge in core.edges] if core is not None else []
        body["gaps"] = [plain(gap) for gap in core.gaps] if core is not None else []
        body["cores"] = [
            {"core": [plain(e) for e in each.edges], "gaps": [plain(g) for g in each.gaps]}
            for each in error.cores
        ]
        body["all_cores"] = error.all_cores
        body["ways_out"] = [way_to_json(way) for way in error.ways_out]
        body["unusable"] = [plain(each) for each in error.unusable]
    if isinstance(error, LockInvalid):
        body["violations"] = list(error.violations)
    return body


def way_to_json(way: WayOut) -> dict[str, Any]:
    """A way out: the option or line that accepts it, what it gives, breaks and rests on."""
    return {**plain(way), "pins": dict(way.pins), "has_evidence": way.has_evidence}


def explanation_to_json(explanation: Explanation) -> dict[str, Any]:
    """An explanation: `satisfiable`, then the roots' pins, or the error, and the answers."""
    lock = explanation.lock
    return {
        "version": JSON_VERSION,
        "satisfiable": lock is not None,
        "roots": {pin.name: pin.version for pin in lock.pins if pin.is_root} if lock is not None else {},
        "waivers": list(lock.waivers) if lock is not None else [],
        "error": error_body(explanation.error) if explanation.error is not None else None,
        "answers": [_why(why) for why in explanation.answers],
    }


def _why(why: Why) -> dict[str, Any]:
    return {**plain(why), "newer": [_price(price) for price in why.newer]}


def _price(price: Price) -> dict[str, Any]:
    error = error_body(price.error) if price.error is not None else None
    return {**plain(price._replace(error=None)), "possible": error is None, "error": error}


def plain(value: Any) -> Any:
    """Named tuples as objects, other tuples as arrays."""
    fields = getattr(value, "_fields", None)
    if fields is not None:
        return {field: plain(getattr(value, field)) for field in fields if field != "newer"}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value
