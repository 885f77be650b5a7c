"""Typed access to the objects of a lock that is read back."""

from __future__ import annotations

from compatlock.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Reader:
    """One object of JSON or table of TOML, called `where` in messages.

    Raises InputError, naming the key, for what is not of the type asked for, and for a missing key
    unless there is a default.
    """

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise InputError(f"{where}: an object is expected")
        self.value: dict[str, Any] = value
        self.where = where

    def _get(self, key: str, kind: type, word: str, default: Any = None) -> Any:
        found = self.value.get(key, default)
        if type(found) is not kind:  # not isinstance: True is an int
            raise InputError(f"{self.where}: `{key}` is expected to be {word}")
        return found

    def text(self, key: str, default: str | None = None) -> str:
        found: str = self._get(key, str, "text", default)
        return found

    def number(self, key: str, default: int | None = None) -> int:
        found: int = self._get(key, int, "a whole number", default)
        return found

    def flag(self, key: str, default: bool | None = None) -> bool:
        found: bool = self._get(key, bool, "true or false", default)
        return found

    def texts(self, key: str, default: list[str] | None = None) -> tuple[str, ...]:
        found = self._get(key, list, "a list of texts", default)
        if not all(type(item) is str for item in found):
            raise InputError(f"{self.where}: `{key}` is expected to be a list of texts")
        return tuple(found)

    def items(self, key: str, default: list[Any] | None = None) -> list[Reader]:
        found = self._get(key, list, "a list", default)
        return [Reader(item, f"{self.where}, {key}[{number}]") for number, item in enumerate(found)]
