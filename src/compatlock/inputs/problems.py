"""Why a line is no requirement that can be used, in words, with the line that was probably meant.

Only reached when something is wrong, so `packaging` may be imported here.
"""

from __future__ import annotations

import re

from compatlock.errors import InputError
from compatlock.inputs.repairs import repair
from compatlock.model.display import excerpt, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.markers import Marker
    from packaging.requirements import Requirement as Parsed

_SHOWN_PROBLEMS = 20
# Longer lines are no requirement; it also keeps numbers below the interpreter's limit for digits.
_LONGEST = 4000

_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://|(?:git|hg|svn|bzr)\+|file:)")
_PATH = re.compile(r"(?:[./~\\]|[A-Za-z]:[\\/])|[^\s@;\[<>=!~]*[/\\]")
_ARCHIVE = re.compile(r"\S+\.(?:whl|zip|tar\.gz|tgz|tar\.bz2)(?:\[[^\]]*\])?\s*(?:;|\Z)")
_TEXT_FILE = re.compile(r"\S+\.(?:txt|in)\Z")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_CLAUSE = re.compile(r"(===|~=|==|!=|<=|>=|<|>)\s*([^,;\s)]*)")
_VERSION_LIKE = re.compile(r"\s*[v~^=<>]*\d+(?:\.\d+)*[^/:]*\Z")


def input_error(problems: Sequence[str]) -> InputError:
    """Return one error for all `problems`, a line each; of very many the first ones."""
    lines = [printable(problem) for problem in problems[:_SHOWN_PROBLEMS]]
    if len(problems) > _SHOWN_PROBLEMS:
        lines.append(f"... and {len(problems) - _SHOWN_PROBLEMS} more lines like these")
    return InputError("\n".join(lines))


def problem_of(text: str) -> str:
    """Return why the requirement `text` cannot be used (quoting it), or `""` when it can be.

    Supported is a PEP 508 requirement on an index: no URL, path, editable or option, and no `===`.
    """
    text = text.strip()
    if not text:
        return "the requirement is empty"
    if len(text) > _LONGEST:
        return f"{excerpt(text, 60)}: longer than {_LONGEST} characters, which is no requirement"
    reason = _unsupported(text) or _invalid(text)
    return f"{excerpt(text)}: {reason}" if reason else ""


def _unsupported(text: str) -> str:
    """Return the reason when `text` is something that pip takes and that is not supported."""
    if text.startswith(("-e", "--editable")):
        return "an editable requirement is not supported yet; list the project's dependencies instead"
    if text.startswith("-"):
        return "this is an option or a list item, not a requirement"
    if text.endswith("\\"):
        return "a backslash continues the line only as its very last character, without a space after it"
    if _URL.match(text):
        return "a root URL is not supported yet; name a release on the index instead, NAME==VERSION"
    if _ARCHIVE.match(text) or _PATH.match(text):
        return "a local path is not supported yet; name a release on the index instead, NAME==VERSION"
    if _TEXT_FILE.match(text) and " " not in text:
        return f"this looks like a file; write `-r {text}` to include it"
    return ""


def _invalid(text: str) -> str:
    """Return the reason when `text` is no requirement, or one that needs what is not supported."""
    parsed, complaint = _parse(text)
    if parsed is not None and parsed.url:
        if _VERSION_LIKE.match(parsed.url):
            return _advise(text, "`@` is followed by a URL, not a version", f"{parsed.name}=={parsed.url}")
        return f"a root URL is not supported yet; name a release instead, {parsed.name}==VERSION"
    if parsed is not None and "===" not in str(parsed.specifier):
        return marker_problem(parsed.marker)
    if "*" in text.partition("[")[0] and not _CLAUSE.search(text) and not re.search(r"[=^~\s]", text):
        return "a name takes no `*`: every project must be named"
    reasons, fixed = repair(text)
    if reasons:
        return _advise(text, "; ".join(reasons), fixed)
    return _bad_part(text) or complaint


def marker_problem(marker: Marker | None) -> str:
    """Return why a marker cannot be evaluated although it is one, or `""`: `~=` only compares versions."""
    from packaging.markers import UndefinedComparison, UndefinedEnvironmentName

    try:
        if marker is not None:
            marker.evaluate({"extra": ""})
    except (UndefinedComparison, UndefinedEnvironmentName):
        return f"`{excerpt(str(marker), 60)}` compares what cannot be compared; use `==`, `!=` or `in`"
    except RecursionError:
        return "its environment marker is nested too deeply"
    return ""


def _parse(text: str) -> tuple[Parsed | None, str]:
    """Return packaging's requirement, or None and the first line of its complaint."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(text), ""
    except InvalidRequirement as error:
        first = str(error).partition("\n")[0].strip()
        return None, f"not a valid requirement ({first[:1].lower()}{first[1:]})"
    except (ValueError, RecursionError):
        return None, "not a valid requirement"


def _advise(text: str, reason: str, fixed: str) -> str:
    """Return `reason`, with `fixed` as advice when it really is a requirement that can be used."""
    parsed, _ = _parse(fixed)
    if parsed is None or parsed.url or "===" in str(parsed.specifier):
        return _bad_part(text) or reason
    return f"{reason}; write `{excerpt(fixed)}`"


def _bad_part(text: str) -> str:
    """Return which part of a requirement without an obvious repair is wrong, or `""`."""
    from packaging.version import InvalidVersion, Version

    head, semicolon, marker = text.partition(";")
    if not _NAME.match(head):
        return "it does not start with a project name (letters, digits, `-`, `_`, `.`)"
    if "|" in head:
        return "a requirement has no alternatives (`|`); write one range"
    if _is_several(head):
        return "this is more than one requirement; write one a line"
    for operator, version in _CLAUSE.findall(head):
        if not version:
            return f"no version follows `{operator}`"
        try:
            Version(version.removesuffix(".*"))
        except InvalidVersion:
            return f"`{excerpt(version, 40)}` is not a version (PEP 440)"
    if semicolon and _parse(head)[0] is not None:
        if not marker.strip():
            return "no environment marker follows `;`"
        return f"`{excerpt(marker, 60)}` is not an environment marker (like `python_version < '3.12'`)"
    return ""


def _is_several(head: str) -> bool:
    """Whether `head` is several requirements, separated by white space or commas."""
    parts = [part for part in re.split(r"[\s,]+", head) if part]
    return 1 < len(parts) <= _SHOWN_PROBLEMS and all(
        part[0].isalnum() and _parse(part)[0] is not None for part in parts
    )
