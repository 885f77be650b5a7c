"""Project and extra names (PEP 503 and PEP 685 normalisation)."""

from __future__ import annotations

import re

_SEPARATORS = re.compile(r"[-_.]+")
_CANONICAL = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


def normalise(name: str) -> str:
    """Return `name` lower-cased with runs of ``-``, ``_`` and ``.`` as one ``-`` (PEP 503)."""
    if _CANONICAL.match(name):
        return name
    return _SEPARATORS.sub("-", name).lower()
