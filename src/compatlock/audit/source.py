"""Sources of Python modules, parsed; nothing in them is run."""

from __future__ import annotations

import ast
import warnings

# What parsing, and walking over what was parsed, raises for text that this interpreter does not understand.
NOT_UNDERSTOOD = (SyntaxError, ValueError, RecursionError, MemoryError)


def parse_source(source: bytes) -> ast.Module:
    """Parse a module's source, without the warnings that it may deserve. Raises one of `NOT_UNDERSTOOD`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)
