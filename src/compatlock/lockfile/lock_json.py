"""A lock as JSON values and back.

The form is versioned. Within a version keys are only added, with a default for files that lack them;
unknown keys are passed over when reading.
"""

from __future__ import annotations

from compatlock.errors import InputError
from compatlock.lockfile.reader import Reader
from compatlock.model.lock import Lock, LockedEdge, LockedFile, Pin, SoftFactReport, TierValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VERSION = 1


def to_json(lock: Lock) -> dict[str, Any]:
    """Return `lock` as dicts, lists, text, whole numbers, booleans and None, ready for `json.dumps`."""
    values = lock._asdict()
    values["pins"] = [{**pin._asdict(), "files": [file._asdict() for file in pin.files]} for pin in lock.pins]
    values["edges"] = [edge._asdict() for edge in lock.edges]
    values["broken_soft_facts"] = [fact._asdict() for fact in lock.broken_soft_facts]
    values["objective"] = [tier._asdict() for tier in lock.objective]
    result: dict[str, Any] = _plain({"version": VERSION, **values})
    return result


def from_json(value: Mapping[str, Any]) -> Lock:
    """Return the lock that `to_json` made `value` of; raises InputError when it is no such value."""
    reader = Reader(value, "the lock")
    version = reader.value.get("version")
    if version != VERSION:
        raise InputError(
            f"the lock has the form version {version!r:.40}; this compatlock reads {VERSION}: lock again"
        )
    return Lock(
        pins=tuple(map(_pin, reader.items("pins"))),
        edges=tuple(map(_edge, reader.items("edges"))),
        roots=reader.texts("roots"),
        waivers=reader.texts("waivers"),
        broken_soft_facts=tuple(
            SoftFactReport(fact.text("id"), fact.text("summary"), fact.number("days"))
            for fact in reader.items("broken_soft_facts")
        ),
        objective=tuple(
            TierValue(tier.text("name"), tier.number("value"), tier.text("unit"), tier.flag("proved"))
            for tier in reader.items("objective")
        ),
        command=reader.text("command"),
        target=reader.text("target"),
        index_state=reader.text("index_state"),
        strategy=reader.text("strategy"),
        notes=reader.texts("notes"),
        cuda=reader.text("cuda", ""),
    )


def _pin(reader: Reader) -> Pin:
    return Pin(
        name=reader.text("name"),
        version=reader.text("version"),
        files=tuple(
            LockedFile(
                file.text("filename"),
                file.text("sha256"),
                file.number("size"),
                None if file.value.get("upload_time") is None else file.number("upload_time"),
                file.text("url", ""),
            )
            for file in reader.items("files")
        ),
        extras=reader.texts("extras"),
        is_root=reader.flag("is_root"),
        newest=reader.text("newest"),
        lag_days=reader.number("lag_days"),
        lag_releases=reader.number("lag_releases"),
        held_by=reader.texts("held_by"),
        notes=reader.texts("notes"),
        index_url=reader.text("index_url", ""),
        repaired=reader.texts("repaired", []),
        marker=reader.text("marker", ""),
    )


def _edge(reader: Reader) -> LockedEdge:
    return LockedEdge(
        package=reader.text("package"),
        on=reader.text("on"),
        specifier=reader.text("specifier"),
        extra=reader.text("extra"),
        extras=reader.texts("extras"),
        origin=reader.text("origin"),
        waived=reader.flag("waived"),
    )


def _plain(value: Any) -> Any:
    """Return `value` with tuples as lists."""
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
