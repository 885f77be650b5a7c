"""Running the uv binary: found where its package or the path has it, told exactly what to do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from compatlock.errors import IndexUnavailable, InputError, InstallFailed
from compatlock.model.display import without_credentials
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compatlock.model.index import Indexes, PackageIndex

# Variables of uv that would change what is installed, or where.
_PUT_ASIDE = frozenset(
    f"UV_{name}"
    for name in (
        "CONSTRAINT", "OVERRIDE", "EXCLUDE", "EXCLUDE_NEWER", "EXCLUDE_NEWER_PACKAGE", "PRERELEASE",
        "RESOLUTION", "FORK_STRATEGY", "NO_BINARY", "NO_BINARY_PACKAGE", "TORCH_BACKEND", "SYSTEM_PYTHON",
        "BREAK_SYSTEM_PACKAGES", "TARGET", "PREFIX", "PYTHON", "PYTHON_PLATFORM", "NO_VERIFY_HASHES",
        "REQUIRE_HASHES", "WORKING_DIR", "PROJECT", "CONFIG_FILE", "DEFAULT_INDEX", "INDEX", "INDEX_URL",
        "EXTRA_INDEX_URL",
    )
)  # fmt: skip
_PLANNED = re.compile(r"^ ([-+~]) ([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)", re.MULTILINE)
# How uv says that it could not ask a server.
_NETWORK = re.compile(
    r"network was disabled|network connectivity is disabled|error sending request|failed to fetch"
    r"|request failed after|dns error|could not connect",
    re.IGNORECASE,
)
_HASHES = re.compile(r"hash mismatch", re.IGNORECASE)


_STDERR = 2


class UvSettings(NamedTuple):
    """What all runs of uv have in common. `indexes`: those to ask, in the place of uv's own settings;
    `cert`: a PEM file; `cache_dir`: where uv's cache lives, `""` for its own place; `cache` False: none;
    `variables`: further ones of its environment."""

    indexes: Indexes
    cert: str = ""
    offline: bool = False
    cache_dir: str = ""
    cache: bool = True
    variables: Mapping[str, str] = {}


class Planned(NamedTuple):
    """What uv says that it would do: `{name: version}` of what it installs and of what it removes."""

    installed: Mapping[str, str]
    removed: Mapping[str, str]


def find_uv() -> str:
    """Return the path of the uv binary: that of the installed package `uv`, else the one on the path.
    Raises InputError when there is none."""
    try:
        from uv import find_uv_bin

        return os.fspath(find_uv_bin())
    except (ImportError, FileNotFoundError):
        pass
    found = shutil.which("uv")
    if found is None:
        raise InputError(
            "the `uv` program is not there, and it is what installs",
            hints=["`pip install uv`, or put it on the PATH"],
        )
    return found


def run_uv(
    program: str,
    arguments: Sequence[str],
    settings: UvSettings,
    *,
    asked: str,
    shown: bool = False,
    project: str = "",
) -> str:
    """Run uv with `arguments` and return what it said; with `shown` it says that on standard error itself.

    `asked` is what is being done, in words. uv reads no configuration file, but for the folder of a `project`
    that it is about, and downloads no Python. Raises IndexUnavailable when it could not ask a server,
    InstallFailed when it failed otherwise, with its words.
    """
    options = ["--project", project] if project else ["--no-config"]
    options += ["--no-python-downloads", "--color", "never"]
    options += ["--offline"] if settings.offline else []
    options += [] if settings.cache else ["--no-cache"]
    options += ["--cache-dir", settings.cache_dir] if settings.cache_dir else []
    try:
        done = subprocess.run(
            [program, *arguments, *options],
            env=environment_of(settings),
            stdin=subprocess.DEVNULL,
            # Standard output is for data.
            stdout=_STDERR if shown else subprocess.PIPE,
            stderr=None if shown else subprocess.STDOUT,
            check=False,
        )
    except OSError as error:
        raise InputError(f"{program} cannot be run: {error.strerror or error}") from None
    said = without_credentials((done.stdout or b"").decode("utf-8", "replace"))
    if done.returncode:
        raise _failed(asked, said.strip(), done.returncode)
    return said


def planned(said: str) -> Planned:
    """Return what uv would do, from what it says with `--dry-run`."""
    lines = _PLANNED.findall(said)
    return Planned(
        {name: version for sign, name, version in lines if sign != "-"},
        {name: version for sign, name, version in lines if sign == "-"},
    )


def environment_of(settings: UvSettings, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables for a run of uv. Indexes are among them, since the arguments of a process are
    for all to see."""
    given = os.environ if environ is None else environ
    values = {name: value for name, value in given.items() if name not in _PUT_ASIDE}
    indexes = settings.indexes
    if indexes.default.url:
        values["UV_DEFAULT_INDEX"] = _url(indexes.default)
    extra = dict.fromkeys((*indexes.extra, *(index for _, index in indexes.assigned)))
    if extra:
        values["UV_INDEX"] = " ".join(map(_url, extra))
    if settings.cert:
        values["SSL_CERT_FILE"] = settings.cert
    # pylock.toml counts as a preview until uv says otherwise.
    features = [*filter(None, values.get("UV_PREVIEW_FEATURES", "").split(",")), "pylock"]
    values["UV_PREVIEW_FEATURES"] = ",".join(dict.fromkeys(features))
    values.update(settings.variables)
    return values


def _url(index: PackageIndex) -> str:
    if index.login is None:
        return index.url
    return index.url.replace("://", f"://{index.login.reveal()}@", 1)


def _failed(asked: str, said: str, code: int) -> Exception:
    words = f"uv could not {asked}" + (f":\n{said}" if said else f" (exit code {code})")
    if _HASHES.search(said):
        hints = ["a file is not the one that was locked: find out why before anything else"]
        return InstallFailed(words, hints=hints)
    if _NETWORK.search(said):
        return IndexUnavailable(words)
    return InstallFailed(words)
