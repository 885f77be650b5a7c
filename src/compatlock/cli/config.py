"""`compatlock config`: every setting, its value, and where it comes from."""

from __future__ import annotations

from typing import Any

import click

from compatlock.api.options import LockOptions
from compatlock.cli.messages import out, out_json, say
from compatlock.cli.parameters import parameters
from compatlock.cli.sheet import columns
from compatlock.inputs.settings import Settings, read_settings
from compatlock.model.index import PackageIndex
from compatlock.model.policy import PRERELEASE_MODES

JSON_VERSION = 1
_TAKEN = {
    "default_index", "indexes", "index_for", "cache_dir", "offline", "exclude_newer", "prerelease",
    "allow_yanked", "no_yanked", "allow_builds", "cert", "cuda", "driver", "as_json",
}  # fmt: skip
_HELP = {
    "default_index": "Root of the package index.",
    "indexes": "A further index, asked before (repeatable).",
    "exclude_newer": "Leave out files uploaded after this time (repeatable).",
    "prerelease": "When pre-releases may be chosen (repeatable).",
    "allow_yanked": "Packages whose yanked releases count as any other (repeatable).",
    "no_yanked": "Choose no yanked release.",
    "allow_builds": "Packages whose sdists may be built (repeatable).",
    "cert": "Further certificate authorities (PEM).",
    "cuda": "The target's CUDA.",
    "driver": "The target's driver.",
    "as_json": "Print JSON.",
}


def _run(*, as_json: bool, **given: Any) -> None:
    given = {name: "" if value is None else value for name, value in given.items()}
    settings = read_settings(**given)
    if as_json:
        out_json(_as_json(settings))
    else:
        out(columns([("setting", "value", "from"), *_rows(settings)]) + "\n")
    for note in settings.notes:
        say(f"note: {note}")


def _rows(settings: Settings) -> list[tuple[str, str, str]]:
    """Setting, value, source; a setting with several values has a row for each."""
    values = {
        "default_index": [settings.indexes.default.shown],
        "indexes": [index.shown for index in settings.indexes.extra],
        "index_for": [f"{project}={index.shown}" for project, index in settings.indexes.assigned],
        "cache_dir": [_cache(settings)],
        "offline": ["yes" if settings.offline else "no"],
        "exclude_newer": [settings.exclude_newer],
        "exclude_newer_package": list(settings.exclude_newer_package),
        "prerelease": [settings.prerelease or PRERELEASE_MODES[0]],
        "prerelease_package": list(settings.prerelease_package),
        "allow_yanked": list(settings.allow_yanked),
        "no_yanked": ["yes" if settings.no_yanked else "no"],
        "allow_builds": list(settings.allow_builds),
        "cert": [settings.cert],
        "timeout": [f"{settings.timeout:g} seconds"],
        "cuda": [settings.cuda],
        "driver": [settings.driver],
    }
    rows = []
    for name, shown in values.items():
        label = "index" if name == "indexes" else name.replace("_", "-")
        rows += [(label, value or "none", settings.sources[name]) for value in shown or [""]]
    return rows


def _as_json(settings: Settings) -> dict[str, Any]:
    values: dict[str, Any] = {
        "default_index": _index(settings.indexes.default),
        "indexes": [_index(index) for index in settings.indexes.extra],
        "index_for": {project: _index(index) for project, index in settings.indexes.assigned},
        "cache_dir": _cache(settings),
        "offline": settings.offline,
        "exclude_newer": settings.exclude_newer or None,
        "exclude_newer_package": list(settings.exclude_newer_package),
        "prerelease": settings.prerelease or PRERELEASE_MODES[0],
        "prerelease_package": list(settings.prerelease_package),
        "allow_yanked": list(settings.allow_yanked),
        "no_yanked": settings.no_yanked,
        "allow_builds": list(settings.allow_builds),
        "cert": settings.cert or None,
        "timeout": settings.timeout,
        "cuda": settings.cuda or None,
        "driver": settings.driver or None,
    }
    return {
        "version": JSON_VERSION,
        "settings": {
            name: {"value": value, "from": settings.sources[name]} for name, value in values.items()
        },
        "notes": list(settings.notes),
    }


def _index(index: PackageIndex) -> dict[str, Any]:
    """An index without its credentials; `url` is null for the public one."""
    return {"name": index.name or None, "url": index.url or None, "credentials": index.login is not None}


def _cache(settings: Settings) -> str:
    return LockOptions(cache_dir=settings.cache_dir).cache_directory() or ""


config = click.Command(
    "config",
    callback=_run,
    params=parameters(_TAKEN, _HELP),
    help="""Show every setting, its value, and where it comes from.

    The first of these that gives a setting decides it: the command line; COMPATLOCK_DEFAULT_INDEX, _INDEX,
    _INDEX_FOR, _CACHE_DIR, _OFFLINE, _EXCLUDE_NEWER, _PRERELEASE, _ALLOW_YANKED, _NO_YANKED, _ALLOW_BUILDS
    (several values between commas), _CERT, _TIMEOUT, _CUDA, _DRIVER; UV_DEFAULT_INDEX,
    UV_INDEX_URL, UV_INDEX, UV_EXTRA_INDEX_URL; PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, PIP_CERT; pip's
    configuration files; the default.
    """,
    short_help="Show the settings and where they come from.",
)
