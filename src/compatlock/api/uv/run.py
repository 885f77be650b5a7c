"""Running `uv lock` for a project, as its user would, but with what the run says of indexes and the cache."""

from __future__ import annotations

import re
import sys
from urllib.parse import unquote

from compatlock.api.uv.words import contradicted, named, not_locked
from compatlock.environment.uv import UvSettings, find_uv, run_uv
from compatlock.errors import InputError, InstallFailed
from compatlock.inputs.pyproject import python_problems
from compatlock.lockfile.tool_uv import uv_indexes
from compatlock.model.index import Indexes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compatlock.api.options import LockOptions
    from compatlock.api.uv.words import UvProject
    from compatlock.lockfile.tool_uv import UvPart

# uv knows overrides and exclusions of what one package needs since this version.
_SCOPED = (0, 12)


class Uv:
    """The uv program, for runs with certain options. Raises InputError when it is not there."""

    def __init__(self, options: LockOptions) -> None:
        self._options = options
        self._program = find_uv()
        # The indexes are those that pyproject.toml names then.
        self._settings = UvSettings(
            Indexes(), options.cert, options.offline, cache=options.cache, variables=_logins(options.indexes)
        )

    def require_scopes(self) -> None:
        """Raise InputError when it is too old to know entries about the dependencies of one package."""
        said = run_uv(self._program, ["--version"], self._settings, asked="tell its version")
        version = re.search(r"(\d+)\.(\d+)", said)
        if version is None or (int(version[1]), int(version[2])) < _SCOPED:
            wanted = ".".join(map(str, _SCOPED))
            raise InputError(
                f"{self._program} is {said.strip()}, and overrides of one package's needs came with {wanted}",
                hints=["`pip install --upgrade uv`"],
            )

    def lock(self, project: UvProject, folder: str, parts: Sequence[UvPart]) -> None:
        """Let it lock the project in `folder`. Raises InstallFailed with its words when it refuses, and what
        is known of why; IndexUnavailable when it has no answer from an index."""
        arguments = ["lock", "--python", _python(project, parts)]
        asked = f"lock {project.path}"
        try:
            run_uv(self._program, arguments, self._settings, asked=asked, project=folder or ".")
        except InstallFailed as error:
            left_out = not_locked(self._options, project)
            told = "".join(f"\n{words}" for words in contradicted(left_out, project, parts))
            hints = list(error.hints)
            if left_out:
                hints.append(
                    f"uv locks all extras and groups of a project together, {named(left_out)} too: lock them "
                    "with `--all-extras --all-groups`. What excludes the pins cannot be in the same uv.lock, "
                    "not even by `conflicts`, as a constraint holds for all extras"
                )
            raise InstallFailed(f"{error.message}{told}", hints=hints) from None


def _python(project: UvProject, parts: Sequence[UvPart]) -> str:
    """The Python that it runs with: the running one, unless the project is not for that."""
    running = "{}.{}.{}".format(*sys.version_info[:3])
    if sys.executable and not python_problems(((project.requires_python, project.path),), running):
        return sys.executable
    return "{}.{}".format(*parts[0].target.python_minor)


def _logins(indexes: Indexes) -> Mapping[str, str]:
    """The credentials of indexes, by the names that pyproject.toml gives them, in variables of uv's."""
    names = {index.url: index.name for index in uv_indexes(indexes)[0]}
    found = {}
    for index in (indexes.default, *indexes.extra, *(index for _, index in indexes.assigned)):
        if index.login is not None:
            prefix = "UV_INDEX_" + re.sub(r"[^A-Z0-9]", "_", names[index.url].upper())
            user, _, password = index.login.reveal().partition(":")
            found[f"{prefix}_USERNAME"], found[f"{prefix}_PASSWORD"] = unquote(user), unquote(password)
    return found
