"""A text that must not be shown: a password, a token, the user part of a URL."""

from __future__ import annotations

from compatlock.model.display import HIDDEN


class Secret:
    """Holds a text that shows as ``****`` however it is printed, formatted or put into a container.

    Only `reveal` gives it out. It compares by content, cannot be pickled, and JSON encoders refuse it.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the one place that sends it."""
        return self._text

    def __str__(self) -> str:
        return HIDDEN

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(HIDDEN, spec)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written anywhere")
