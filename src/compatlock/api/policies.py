"""The policy of a run, from its options: what they say of single packages parsed and checked."""

from __future__ import annotations

import re

from compatlock.api.times import parse_time
from compatlock.errors import InputError
from compatlock.model.display import excerpt
from compatlock.model.names import normalise
from compatlock.model.policy import ALL, NONE, PRERELEASE_MODES, Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.api.options import LockOptions
    from compatlock.inputs.file_settings import FilePolicy

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\Z"
# How files of requirements end: what `--allow-builds` must not take for a package.
_FILE = r".*[/\\]|.*\.(?:in|txt|toml|cfg|py|lock)\Z"


def of_packages(policy: Policy, options: LockOptions) -> Policy:
    """Return the policy with what options say of single packages. Raises InputError for a time, mode or name
    that is none, and for a package that is both to be built and not."""
    cuts = _pairs("--exclude-newer", "TIME", options.exclude_newer_package)
    modes = _pairs("--prerelease", "MODE", options.prerelease_package)
    return policy._replace(
        exclude_newer_for=tuple((name, _time(text)) for name, text in cuts),
        prerelease_for=tuple((name, _mode(mode)) for name, mode in modes),
        allow_yanked=_named("--allow-yanked", options.allow_yanked),
        builds=_builds(options.allow_builds, policy),
    )


def check_values(cuts: Iterable[str], modes: Iterable[str]) -> None:
    """Raise InputError for a time or a mode that is none, among those for all packages and for one
    (`PKG=...`), of which only the last counts."""
    for option, what, texts, read in (
        ("--exclude-newer", "TIME", cuts, _time),
        ("--prerelease", "MODE", modes, _mode),
    ):
        for text in texts:
            pairs = _pairs(option, what, [text]) if "=" in text else [("", text)]
            for _, value in pairs:
                read(value)


def builds_allowed(options: LockOptions) -> frozenset[str]:
    """The packages whose sdists may be built, or `:all:`. Raises InputError for what names none."""
    return frozenset(_named("--allow-builds", options.allow_builds))


def with_policies(options: LockOptions, asked: Iterable[FilePolicy]) -> LockOptions:
    """The options with the policies of files, where the run's own do not say otherwise. Raises InputError for
    a time that is none, and for policies of two files that are not the same."""
    cut, mode = options.exclude_newer, options.prerelease
    # What the run says goes last, and so before what files say.
    cuts, modes = list(options.exclude_newer_package), list(options.prerelease_package)
    allow_yanked, no_yanked = list(options.allow_yanked), options.no_yanked
    first: dict[str, FilePolicy] = {}
    for each in asked:
        if each.kind.startswith("exclude-newer"):
            _check_time(each)
        if each.kind in ("exclude-newer", "prerelease"):
            other = first.setdefault(each.kind, each)
            if other.value != each.value:
                raise InputError(
                    f"{other.origin} and {each.origin} have different {each.kind}",
                    hints=[f"decide with `--{each.kind}`"],
                )
        if each.kind == "exclude-newer":
            cut = cut or each.value
        elif each.kind == "exclude-newer-package" and options.exclude_newer != NONE:
            cuts.insert(0, each.value)
        elif each.kind == "prerelease":
            mode = mode or each.value
        elif each.kind == "prerelease-package":
            modes.insert(0, each.value)
        elif each.kind == "allow-yanked":
            allow_yanked.append(each.value)
        elif each.kind == "no-yanked":
            no_yanked = True
    return options._replace(
        exclude_newer=cut,
        exclude_newer_package=tuple(cuts),
        prerelease=mode,
        prerelease_package=tuple(modes),
        allow_yanked=tuple(allow_yanked),
        no_yanked=no_yanked,
    )


def _check_time(asked: FilePolicy) -> None:
    try:
        _time(asked.value.rpartition("=")[2])
    except InputError as error:
        raise InputError(f"{asked.origin}: {error.message}", hints=error.hints) from None


def _builds(given: Iterable[str], policy: Policy) -> tuple[str, ...]:
    names = tuple(name for name in _named("--allow-builds", given) if name != ALL)
    for name in names:
        if policy.forbids_sdists(name):
            raise InputError(
                f"`--allow-builds {name}` builds what `--only-binary` refuses",
                hints=["leave one of them out"],
            )
    return names


def _time(text: str) -> int | None:
    return None if text == NONE else parse_time(text)


def _mode(text: str) -> str:
    if text not in PRERELEASE_MODES:
        hints = [f"known: {', '.join(PRERELEASE_MODES)}"]
        raise InputError(f"unknown pre-release mode `{excerpt(text)}`", hints=hints)
    return text


def _pairs(option: str, what: str, texts: Iterable[str]) -> list[tuple[str, str]]:
    """The last value of each package, sorted."""
    found = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if not re.match(_NAME, name) or not value:
            hint = f"write `{option} {what}` or `{option} PKG={what}`"
            raise InputError(f"`{excerpt(text)}` does not say which package has which {what}", hints=[hint])
        found[normalise(name)] = value
    return sorted(found.items())


def _named(option: str, names: Iterable[str]) -> tuple[str, ...]:
    """The packages, checked."""
    for name in names:
        if name != ALL and (not re.match(_NAME, name) or re.match(_FILE, name)):
            hints = [f"write `{option} PKG`; `{option} {ALL}` is for every package"]
            raise InputError(f"`{option} {excerpt(name)}` names no package", hints=hints)
    return tuple(sorted({name if name == ALL else normalise(name) for name in names}))
