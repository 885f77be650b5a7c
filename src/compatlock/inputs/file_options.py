"""Options in requirements files: which are followed, and what to do about the others."""

from __future__ import annotations

import re
from typing import NamedTuple

# As texts, since compiling them takes longer than reading most files, which have no options.
_OPTION = r"(--[A-Za-z][\w-]*|-[A-Za-z])(?:\s*=\s*|\s+|(?=\S)|\Z)(.*)\Z"
_HASH = r"\s--hash(?:\s*=\s*|\s+)\S+"
_TRAILING_OPTION = r"\s(--[A-Za-z][\w-]*|-[A-Za-z])(?=[\s=]|\Z)"

_LONG = {
    "-r": "--requirement",
    "-c": "--constraint",
    "-i": "--index-url",
    "--pypi-url": "--index-url",
    "-f": "--find-links",
    "-e": "--editable",
}
_DEFAULT_INDEX = "give `--default-index URL` on the command line instead"
_NEEDLESS = "remove the line"
_ADVICE = {
    "--index-url": _DEFAULT_INDEX,
    "--extra-index-url": "give `--index URL` on the command line instead",
    "--find-links": _DEFAULT_INDEX,
    "--no-index": "an index is always needed; `--offline` on the command line uses only what is cached",
    "--editable": "list the project's dependencies instead",
    "--pre": "give `--prerelease allow` on the command line instead",
    "--no-binary": "give `--no-binary PKG` on the command line instead",
    "--only-binary": "give `--only-binary PKG` on the command line instead",
    "--prefer-binary": _NEEDLESS,
    "--require-hashes": "the lock always has hashes: remove the line",
    "--trusted-host": _NEEDLESS,
    "--use-feature": _NEEDLESS,
}


class FileOption(NamedTuple):
    """An option line. `name` is the long form; `value` is without quotes, `""` when there is none."""

    name: str
    value: str = ""


class Split(NamedTuple):
    """A requirement line without its options: `hashes` counts the `--hash` ones, `other` names another."""

    text: str
    hashes: int = 0
    other: str = ""


def read_option(line: str) -> FileOption | None:
    """Return the option of a line that starts with `-`, or None when it is not one."""
    match = re.match(_OPTION, line, re.S)
    if match is None:
        return None
    value = match[2].strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return FileOption(_LONG.get(match[1], match[1]), value)


def advice(option: FileOption) -> str:
    """Return why `option` is not followed and what to do instead; its value is not shown."""
    known = _ADVICE.get(option.name)
    return f"`{option.name}` is not supported in a file; {known or 'remove the line'}"


def split_options(line: str) -> Split:
    """Return the requirement `line` without its per-requirement options."""
    if " -" not in line and "\t-" not in line:
        return Split(line)
    text, hashes = re.subn(_HASH, "", line)
    other = re.search(_TRAILING_OPTION, text)
    if other:
        return Split(text[: other.start()].strip(), hashes, other[1])
    return Split(text.strip(), hashes)
