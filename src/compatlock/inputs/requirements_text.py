"""The text level of pip's requirements-file format: bytes to text, text to logical lines."""

from __future__ import annotations

import codecs
import os
from itertools import pairwise

from compatlock.errors import InputError
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# UTF-32 before UTF-16: the little-endian mark of the first begins with that of the second.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = rb"\s*#.*?coding[:=]\s*([-\w.]+)"  # PEP 263, as pip honours it
_VARIABLE = r"\$\{([A-Z0-9_]+)\}"


class LogicalLine(NamedTuple):
    """A line with content, continuations joined and comments removed; `number` is its first, from 1."""

    number: int
    text: str
    problem: str = ""


def decode(data: bytes, path: str) -> str:
    """Return the text of a requirements file: by its byte order mark, its PEP 263 comment, or UTF-8.

    Raises InputError naming `path` (and the line, if any) when that is not what `data` is.
    """
    encoding = ""
    for mark, name in _MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], name
            break
    else:
        if b"\0" in data:
            raise InputError(f"{path}: not a text file (it has zero bytes, and no mark of UTF-16 or UTF-32)")
        for line in data.split(b"\n", 2)[:2]:
            encoding = _declared(line) if b"coding" in line else ""
            if encoding:
                break
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        where = "" if encoding.startswith(("utf-16", "utf-32")) else f":{data.count(10, 0, error.start) + 1}"
        raise InputError(
            f"{path}{where}: not valid {encoding or 'UTF-8'} text; save the file as UTF-8"
        ) from None
    except (LookupError, ValueError):
        raise InputError(f"{path}: its first lines declare the unknown encoding {encoding!r}") from None
    if "\0" in text:
        raise InputError(f"{path}: not a text file (it has zero bytes)")
    return text


def _declared(line: bytes) -> str:
    """The encoding that a comment declares, `""` when it does not."""
    import re

    declared = re.match(_DECLARED, line)
    return declared[1].decode("ascii", "replace") if declared else ""


def logical_lines(text: str) -> Iterator[LogicalLine]:
    """Yield the lines of `text` that have content.

    A comment starts with a `#` that is first in the line or follows white space; a backslash at the
    end joins the next line, but a line that is only a comment is never continued (as in pip).
    """
    number = 0
    parts: list[str] = []
    physical = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for index, line in enumerate(physical, 1):
        if not parts:
            number = index
        comment = _is_comment(line)
        if line.endswith("\\") and not comment and index < len(physical):
            parts.append(line.rstrip("\\"))
            continue
        # A comment after a continuation has to stay recognisable as one.
        parts.append(f" {line}" if comment else line.rstrip("\\"))
        yield from _logical_line(number, parts)
        parts = []


def _logical_line(number: int, parts: list[str]) -> Iterator[LogicalLine]:
    for part, following in pairwise(parts):
        # pip joins the next line to the comment, uv does not: one of them would lose a requirement.
        if _comment_start(part) >= 0 and following.strip() and not _is_comment(following):
            yield LogicalLine(number, "", "a comment must not end in a backslash; remove it")
            return
    text = "".join(parts)
    start = _comment_start(text)
    text = (text if start < 0 else text[:start]).strip()
    if text:
        yield LogicalLine(number, text)


def _is_comment(line: str) -> bool:
    """Whether a line is a comment and nothing else."""
    return line.lstrip().startswith("#")


def _comment_start(text: str) -> int:
    """Where the comment at the end of a line begins, -1 when there is none."""
    start = text.find("#")
    while start > 0 and not text[start - 1].isspace():
        start = text.find("#", start + 1)
    return start


def expand_variables(text: str, environment: Mapping[str, str] | None = None) -> tuple[str, tuple[str, ...]]:
    """Return `text` with every `${NAME}` (upper case, as in pip) replaced, and the names that are not set.

    `environment` defaults to the process's. An empty variable counts as not set.
    """
    if "${" not in text:
        return text, ()
    import re

    values = os.environ if environment is None else environment
    missing = tuple(name for name in re.findall(_VARIABLE, text) if not values.get(name))
    return re.sub(_VARIABLE, lambda match: values.get(match[1]) or match[0], text), missing
