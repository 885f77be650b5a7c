"""Project and extra names (PEP 503 and PEP 685 normalisation), and what a wrong name was meant to be."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def normalise(name: str) -> str:
    """Return `name` lower-cased with runs of ``-``, ``_`` and ``.`` as one ``-`` (PEP 503)."""
    text = name.lower().replace("_", "-").replace(".", "-")
    while "--" in text:
        text = text.replace("--", "-")
    return text


def is_word(text: str, marks: str = "._-") -> bool:
    """Whether a text is of ASCII letters, digits (one of these first) and `marks`, as names are."""
    return text.isascii() and text[:1].isalnum() and all(c.isalnum() or c in marks for c in text)


def closest(name: str, known: Iterable[str]) -> str:
    """Return that of the `known` names that `name` was probably meant to be, `""` if none is like it."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, {*known}, 1)), "")
