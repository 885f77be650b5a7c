"""The metadata of a source distribution, from its build backend (PEP 517) in an environment of its own.

This runs code of the package: nothing here is called unless somebody allowed that. The environment keeps what
builds need apart from each other, and from the user's; it is no wall against code that means harm.
"""

from __future__ import annotations

import os
import sys
import tarfile
import tempfile
import warnings
import zipfile
from contextlib import contextmanager

from compatlock.environment.build_process import Deadline, Recorder, environment_for_hooks, last_line
from compatlock.environment.interpreter import programs_of
from compatlock.environment.uv import UvSettings, environment_of, find_uv
from compatlock.errors import BuildFailed, InputError
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise
from compatlock.model.toml import parse_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from compatlock.model.building import Sdist

# Seconds for all of a build: compilers may have to run where a backend knows no shorter way.
TIMEOUT = 900.0
_MAX_UNPACKED = 4 * 2**30
# What a project that does not say how it is built asks for (PEP 517).
_LEGACY = ("setuptools>=40.8.0",), "setuptools.build_meta:__legacy__", ()


class BuildTools(NamedTuple):
    """How sdists are built.

    python:        the interpreter, which is of the target's minor version
    uv:            where build requirements come from
    timeout:       seconds for one build
    exclude_newer: a timestamp: build requirements uploaded after it do not exist; `""`: no cut
    from_source:   whether build requirements may be built themselves
    """

    python: str
    uv: UvSettings
    timeout: float = TIMEOUT
    exclude_newer: str = ""
    from_source: bool = False


class BuildSystem(NamedTuple):
    """How a project is built (PEP 518)."""

    requires: tuple[str, ...]
    backend: str
    backend_path: tuple[str, ...] = ()


def built_metadata(sdist: Sdist, tools: BuildTools) -> tuple[bytes, str]:
    """Return the METADATA of the wheel that an sdist makes, and what its build said.

    The backend's `prepare_metadata_for_build_wheel` is asked; where it has none, the wheel is built. Raises
    BuildFailed: an archive that cannot be unpacked, build requirements that cannot be had, a backend that
    fails or takes too long, metadata of something else.
    """
    recorder = Recorder(Deadline(tools.timeout))
    with tempfile.TemporaryDirectory(prefix="compatlock-build-", ignore_cleanup_errors=True) as folder:
        source = _unpacked(sdist, os.path.join(folder, "source"))
        system = read_build_system(source)
        environment = _Environment(os.path.join(folder, "environment"), tools, recorder)
        environment.create()
        environment.install(system.requires)
        metadata = _ask_backend(source, system, environment, os.path.join(folder, "metadata"))
    _check(metadata, sdist, recorder.output)
    return metadata, recorder.output


# The source


def _unpacked(sdist: Sdist, folder: str) -> str:
    """Unpack an sdist, and return the folder of its project."""
    path = f"{folder}-{os.path.basename(sdist.filename)}"
    with open(path, "wb") as file:
        file.write(sdist.data)
    os.mkdir(folder)
    try:
        if sdist.filename.endswith(".zip"):
            _unzip(path, folder)
        else:
            _untar(path, folder)
    except BuildFailed:
        raise
    except Exception as error:  # Archives are other people's bytes: what can go wrong is not a closed set.
        raise BuildFailed(f"the sdist cannot be unpacked: {error}") from None
    finally:
        os.unlink(path)
    roots = [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    if len(roots) != 1:
        raise BuildFailed("the sdist is not one folder")
    return roots[0]


def _untar(path: str, folder: str) -> None:
    if not hasattr(tarfile, "data_filter"):
        version = "{}.{}.{}".format(*sys.version_info[:3])
        raise BuildFailed(f"Python {version} cannot unpack archives safely; a later patch release can")
    with tarfile.open(path) as archive:
        _bound(member.size for member in archive)
        archive.extractall(folder, filter="data")


def _unzip(path: str, folder: str) -> None:
    with zipfile.ZipFile(path) as archive:
        _bound(member.file_size for member in archive.infolist())
        archive.extractall(folder)


def _bound(sizes: Any) -> None:
    if sum(sizes) > _MAX_UNPACKED:
        raise BuildFailed(f"the sdist unpacks to more than {_MAX_UNPACKED // 2**30} GB")


def read_build_system(source: str) -> BuildSystem:
    """Return how the project in the folder `source` is built, setuptools' old way when it does not say.
    Raises BuildFailed for what the specification does not allow, and for a folder that holds no project."""
    path = os.path.join(source, "pyproject.toml")
    if not os.path.isfile(path):
        if not os.path.isfile(os.path.join(source, "setup.py")):
            raise BuildFailed("the sdist has neither a pyproject.toml nor a setup.py")
        return BuildSystem(*_LEGACY)
    try:
        with open(path, "rb") as file:
            table = parse_toml(file.read(), "pyproject.toml").get("build-system")
    except (InputError, OSError) as error:
        raise BuildFailed(str(error)) from None
    if table is None:
        return BuildSystem(*_LEGACY)
    if not isinstance(table, dict) or "requires" not in table:
        raise BuildFailed("its [build-system] has no `requires`")
    requires, backend_path = _texts(table, "requires"), _texts(table, "backend-path")
    backend = table.get("build-backend", _LEGACY[1])
    if not isinstance(backend, str):
        raise BuildFailed("its [build-system] `build-backend` is no text")
    return BuildSystem(requires, backend, backend_path)


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    values = table.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise BuildFailed(f"its [build-system] `{key}` is no array of texts")
    return tuple(values)


# The environment


class _Environment:
    """An environment of one build, made by uv."""

    def __init__(self, root: str, tools: BuildTools, recorder: Recorder) -> None:
        self.root = root
        self.recorder = recorder
        self._tools = tools
        self._uv = find_uv()

    @property
    def python(self) -> str:
        """Its interpreter."""
        program = next(programs_of(self.root), "")
        if not program:
            raise BuildFailed("the build environment has no Python", output=self.recorder.output)
        return program

    def create(self) -> None:
        self._run("venv", "--no-project", "--python", self._tools.python, self.root)

    def install(self, requires: Sequence[str]) -> None:
        """Install what the build needs, from the run's indexes only."""
        if not requires:
            return
        options = ["--exclude-newer", self._tools.exclude_newer] if self._tools.exclude_newer else []
        options += [] if self._tools.from_source else ["--no-build"]
        self._run("pip", "install", "--python", self.python, *options, "--", *requires)

    def hook_runner(
        self, cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None
    ) -> None:
        """Run the backend, as `pyproject_hooks` asks for it."""
        variables = environment_for_hooks(os.path.dirname(self.python))
        self.recorder.run(cmd, cwd=cwd or self.root, env={**variables, **(extra_environ or {})})

    def _run(self, *arguments: str) -> None:
        settings = self._tools.uv
        options = ["--no-config", "--no-python-downloads", "--color", "never", "--quiet"]
        options += ["--offline"] if settings.offline else []
        options += [] if settings.cache else ["--no-cache"]
        options += ["--cache-dir", settings.cache_dir] if settings.cache_dir else []
        command = [self._uv, *options, *arguments]
        self.recorder.run(command, cwd=os.path.dirname(self.root), env=environment_of(settings))


# The backend


def _ask_backend(source: str, system: BuildSystem, environment: _Environment, folder: str) -> bytes:
    from pyproject_hooks import (
        BackendUnavailable,
        BuildBackendHookCaller,
        HookMissing,
        UnsupportedOperation,
    )

    os.mkdir(folder)
    recorder = environment.recorder
    try:
        hooks = BuildBackendHookCaller(
            source,
            system.backend,
            system.backend_path or None,
            environment.hook_runner,
            environment.python,
        )
        with _warnings_kept(recorder):
            environment.install(hooks.get_requires_for_build_wheel())
            name = hooks.prepare_metadata_for_build_wheel(folder)
        with open(os.path.join(folder, os.path.basename(name), "METADATA"), "rb") as file:
            return file.read()
    except BackendUnavailable as error:
        recorder.output += error.traceback
        why = last_line(error.traceback)
        problem = f"its build backend `{system.backend}` cannot be imported{f': {why}' if why else ''}"
    except HookMissing as error:
        problem = f"its build backend has no `{error.hook_name}`"
    except UnsupportedOperation:
        problem = "its build backend cannot make a wheel here"
    except BuildFailed:
        raise
    except (OSError, ValueError, TypeError, KeyError) as error:
        problem = f"its build backend gives no metadata ({error})"
    raise BuildFailed(problem, output=recorder.output)


@contextmanager
def _warnings_kept(recorder: Recorder) -> Iterator[None]:
    """Put warnings of the backend, which `pyproject_hooks` makes warnings of this process, to its output."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            recorder.output += "".join(f"warning: {warning.message}\n" for warning in caught)


def _check(metadata: bytes, sdist: Sdist, output: str) -> None:
    """Raises BuildFailed when metadata is of another project or release."""
    from email.parser import BytesHeaderParser

    from packaging.version import InvalidVersion, Version

    message = BytesHeaderParser().parsebytes(metadata)
    name, version = str(message["Name"] or "").strip(), str(message["Version"] or "").strip()
    try:
        is_it = normalise(name) == sdist.project and Version(version) == Version(sdist.version)
    except InvalidVersion:
        is_it = False
    if not is_it:
        raise BuildFailed(f"it makes a wheel of {name or '?'} {version or '?'}", output=output)
