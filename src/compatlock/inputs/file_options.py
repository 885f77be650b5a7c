"""Options in requirements files: what they ask for, and why some are not followed."""

from __future__ import annotations

import re

from compatlock.inputs.file_settings import FileIndex, FileSettings
from compatlock.model.named_tuple import NamedTuple

# As texts, since compiling them takes longer than reading most files, which have no options.
_OPTION = r"(--[A-Za-z][\w-]*|-[A-Za-z])(?:\s*=\s*|\s+|(?=\S)|\Z)(.*)\Z"
_NEXT = r"\s+(?=--[A-Za-z]|-[A-Za-z](?:\s|\Z))"
_HASH = r"\s--hash(?:\s*=\s*|\s+)(\S+)"
_FOR_BUILDS = (
    r"\s(?:--config-settings?|--global-option|--install-option|-C)(?:\s*=\s*|\s+)"
    r"(?:\"[^\"]*\"|'[^']*'|[^\s\"']+(?:\"[^\"]*\"|'[^']*')?)"
)
_TRAILING_OPTION = r"\s(--[A-Za-z][\w-]*|-[A-Za-z])(?=[\s=]|\Z)"
_SHA256 = r"sha256:([0-9A-Fa-f]{64})\Z"
_PACKAGE = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\Z"

_LONG = {
    "-r": "--requirement",
    "-c": "--constraint",
    "-i": "--index-url",
    "--pypi-url": "--index-url",
    "-f": "--find-links",
    "-e": "--editable",
}
NESTED = ("--requirement", "--constraint")
_ADVICE = {
    "--no-index": "an index is always needed; `--offline` on the command line uses only what is cached",
}
_LEFT_OUT = {
    "--find-links": "only indexes are asked, so what stands only there is not found; "
    "`--index-url` or `--extra-index-url` names an index",
    "--trusted-host": "certificates are always checked; `--cert FILE` on the command line names further "
    "authorities",
    "--prefer-binary": "the newest release is taken, whatever its files are; `--only-binary PKG` refuses "
    "source distributions",
    "--use-feature": "it is about pip itself",
    "--no-use-feature": "it is about pip itself",
}
# What a lock is anyway.
_GRANTED = ("--require-hashes",)


class FileOption(NamedTuple):
    """An option of a line. `name` is the long form; `value` is without quotes, `""` when there is none."""

    name: str
    value: str = ""


class Split(NamedTuple):
    """A requirement line without its options: `hashes` are the values of the `--hash` ones, `for_builds` is
    set when some are for a build, `other` names another."""

    text: str
    hashes: tuple[str, ...] = ()
    for_builds: bool = False
    other: str = ""


class Understood(NamedTuple):
    """What an option asks for: settings, or a remark on why it is left out, or a problem."""

    settings: FileSettings = FileSettings()
    note: str = ""
    problem: str = ""


def read_options(line: str) -> list[FileOption] | None:
    """Return the options of a line that starts with `-`, or None when it has something else too."""
    options = []
    for part in re.split(_NEXT, line):
        match = re.match(_OPTION, part, re.S)
        if match is None:
            return None
        value = match[2].strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        options.append(FileOption(_LONG.get(match[1], match[1]), value))
    return options


def understand(option: FileOption, origin: str) -> Understood:
    """Return what an option that stands at `origin` asks for. Its value is not shown: it may be secret."""
    name, value = option
    if name in ("--index-url", "--extra-index-url"):
        if not value:
            return Understood(problem=f"no URL follows `{name}`")
        return Understood(FileSettings(indexes=(FileIndex(value, origin, default=name == "--index-url"),)))
    if name == "--pre":
        return Understood(FileSettings(prereleases=(origin,)))
    if name in ("--no-binary", "--only-binary"):
        return _binary(name, value)
    if name == "--editable":
        return Understood(problem=_editable(value))
    if name in _GRANTED:
        return Understood()
    if name in _LEFT_OUT:
        return Understood(note=f"`{name}` is left out: {_LEFT_OUT[name]}")
    return Understood(problem=f"`{name}` is not supported in a file; {_ADVICE.get(name, 'remove the line')}")


def _binary(name: str, value: str) -> Understood:
    packages = tuple(part.strip() for part in value.split(",") if part.strip())
    known = (":all:", ":none:")
    if not packages or not all(part in known or re.match(_PACKAGE, part) for part in packages):
        return Understood(problem=f"names of packages, `:all:` or `:none:` follow `{name}`")
    # As in pip: what stands before `:none:` is void.
    while ":none:" in packages:
        packages = packages[packages.index(":none:") + 1 :]
    field = name.removeprefix("--").replace("-", "_")
    return Understood(FileSettings(**{field: packages}))  # type: ignore[arg-type]


def _editable(value: str) -> str:
    if re.match(r"(?:[A-Za-z][A-Za-z0-9+.-]*://|(?:git|hg|svn|bzr)\+)", value):
        return "an editable checkout is not resolved; name a release on the index instead, NAME==VERSION"
    folder = re.sub(r"\[[^\]]*\]\s*\Z", "", value).rstrip("/\\")
    project = "pyproject.toml" if folder in ("", ".") else f"{folder}/pyproject.toml"
    return (
        "an editable project is not resolved; for what it needs name its pyproject.toml on the command line "
        f"({project}), and remove this line"
    )


def split_options(line: str) -> Split:
    """Return the requirement `line` without its per-requirement options."""
    hashes = tuple(re.findall(_HASH, line))
    text, builds = re.subn(_FOR_BUILDS, "", re.sub(_HASH, "", line))
    other = re.search(_TRAILING_OPTION, text)
    if other:
        return Split(text[: other.start()].strip(), hashes, bool(builds), other[1])
    return Split(text.strip(), hashes, bool(builds))


def read_hashes(values: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the SHA-256 digests among the values of `--hash` options, and what is wrong with them (`""`)."""
    digests = []
    others = []
    for value in values:
        match = re.match(_SHA256, value)
        if match:
            digests.append(match[1].lower())
        elif re.match(r"sha(?:384|512):[0-9A-Fa-f]+\Z", value):
            others.append(value.partition(":")[0])
        else:
            return (), "a `--hash` is `sha256:` with 64 hexadecimal digits"
    if not digests:
        return (), f"`--hash` with {others[0]} only cannot be compared; add the file's sha256"
    return tuple(sorted(set(digests))), ""
