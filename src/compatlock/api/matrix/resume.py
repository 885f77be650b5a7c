"""Finished parts of a matrix in a file of JSON lines, so that a run that was stopped can go on."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from zlib import crc32

from compatlock.errors import InputError, reason_of
from compatlock.model.matrix import STATUSES, Cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.api.matrix.work import Chunk
    from compatlock.model.package import Package
    from compatlock.model.request import Request

    Rows = tuple[tuple[Cell, ...], ...]

# Raised when the same question may have another answer than before.
_VERSION = 1
# How each line begins.
_BEGINS = '{"part":"'


def key_of(chunk: Chunk, request: Request, packages: Iterable[Package]) -> str:
    """What a chunk's answer depends on, as far as it is known beforehand: the request with its facts, the
    axes, and what the index says of the packages that are asked for."""
    state = [(p.name, list(p.versions), list(p.times), sorted(p.gates.items())) for p in packages]
    text = repr((_VERSION, request, chunk.job.rows, chunk.job.columns, chunk.first, chunk.height, state))
    return sha256(text.encode()).hexdigest()


class Finished:
    """The finished parts in a file; `""` keeps nothing."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._rows: dict[str, Rows] = {}
        self._needs_line_end = False
        if path:
            self._read()

    def _read(self) -> None:
        try:
            if not os.path.exists(self._path):
                return
            if not os.path.isfile(self._path):
                raise InputError(f"{self._path} is no file that parts of a matrix could be added to")
            with open(self._path, encoding="utf-8", errors="replace") as stream:
                text = stream.read()
        except OSError as error:
            raise InputError(f"{self._path} cannot be read: {reason_of(error)}") from error
        # A run that was killed may have left half a line at the end.
        self._needs_line_end = bool(text) and not text.endswith("\n")
        lines = [line for line in text.split("\n") if line.strip()]
        found = [_decode(line) for line in lines]
        is_torn = len(lines) == 1 and self._needs_line_end and lines[0].startswith(_BEGINS[: len(lines[0])])
        if lines and found[0] is None and not is_torn:
            raise InputError(
                f"{self._path} holds no parts of a matrix", hints=["name another file, it would be added to"]
            )
        self._rows.update(pair for pair in found if pair is not None)

    def get(self, key: str) -> Rows | None:
        """The rows of a part, None when it is yet to be solved."""
        return self._rows.get(key)

    def add(self, key: str, rows: Rows) -> None:
        """Write down a part. Raises InputError when the file cannot be written."""
        if not self._path:
            return
        text = _written(rows)
        line = f'{_BEGINS}{key}","sum":{crc32(text.encode())},"rows":{text}}}\n'
        try:
            with open(self._path, "a", encoding="utf-8") as stream:
                stream.write("\n" + line if self._needs_line_end else line)
        except OSError as error:
            raise InputError(f"{self._path} cannot be written: {reason_of(error)}") from error
        self._needs_line_end = False


def _written(rows: object) -> str:
    return json.dumps(rows, separators=(",", ":"))


def _decode(line: str) -> tuple[str, Rows] | None:
    """The part that a line holds; None when it is damaged."""
    try:
        body = json.loads(line)
        if crc32(_written(body["rows"]).encode()) != body["sum"]:
            return None
        return str(body["part"]), tuple(tuple(_cell(*cell) for cell in row) for row in body["rows"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _cell(status: str, pins: list[list[str]], lag: int, waivers: list[str], reason: str) -> Cell:
    if status not in STATUSES:
        raise ValueError(status)
    return Cell(
        status, tuple((str(n), str(v)) for n, v in pins), int(lag), tuple(map(str, waivers)), str(reason)
    )
