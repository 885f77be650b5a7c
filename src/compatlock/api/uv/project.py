"""Locking a project for uv: entries in its pyproject.toml, and the uv.lock that uv makes of them.

uv.lock is never written here. Afterwards it is read, and compared with what was locked.
"""

from __future__ import annotations

import os

from compatlock.api.files import LockFile, Written, lock_to_files
from compatlock.api.uv.entries import asked_of, entries_for, parts_of
from compatlock.api.uv.run import Uv
from compatlock.api.uv.words import named, not_locked, project_of, sync_command
from compatlock.api.uv.workspace import refuse_member
from compatlock.errors import InputError, LockInvalid, LockOutdated, reason_of
from compatlock.inputs.file_bytes import PYPROJECT, kind_of, read_bytes
from compatlock.lockfile.formats import STDOUT, UV, read_pins_of
from compatlock.lockfile.tool_uv_text import exact_names, render_entries, with_entries
from compatlock.lockfile.uv_lock_pins import Chosen, UvLock, differences, local_builds
from compatlock.lockfile.write import write_bytes_atomically
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise
from compatlock.model.toml import parse_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from compatlock.api.options import LockOptions
    from compatlock.api.uv.entries import Asked
    from compatlock.api.uv.words import UvProject
    from compatlock.lockfile.compare import Change
    from compatlock.lockfile.tool_uv import UvEntries, UvPart

UV_LOCK = "uv.lock"
_OPTION = "--write-pyproject"
# So many differences are named.
_NAMED = 20


class UvFiles(NamedTuple):
    """What to do about uv: `write` its entries and let it lock, or only `show` them; with neither, only
    compare its lock."""

    write: bool = False
    show: bool = False


def is_uv_lock(path: str) -> bool:
    """Whether a path is that of a uv.lock."""
    return os.path.basename(path) == UV_LOCK


def lock_uv_project(
    options: LockOptions, outputs: Sequence[str], wanted: UvFiles, *, locked: bool = False, **how: Any
) -> Written:
    """Lock the project whose pyproject.toml is the first file of the options, for uv.

    Its uv.lock, if there is one, is the older lock. `outputs` are further files to write; `how` are further
    arguments of `lock_to_files`. With `locked` nothing is written, and LockOutdated tells how uv.lock (and,
    to be written, pyproject.toml) is not what it would be.

    pyproject.toml and uv.lock are both written, or none of them. Raises what `lock_to_files` raises;
    InputError when the project is none that uv can lock so, or when uv is not there; InstallFailed when uv
    refuses (IndexUnavailable when it has no answer from an index); LockInvalid when it locked something else.
    """
    run = _Run(options, wanted)
    others = run.others(outputs, locked=locked)
    if wanted.write and not locked:
        run.find_uv()
    asked = asked_of(options)
    run.refuse_more(asked)
    if not how.get("older_file"):
        how["older_file"] = run.older_file()
    written = lock_to_files(options, others, locked=locked, **how)
    parts = parts_of(asked, written.outcome)
    if wanted.show:
        text = render_entries(run.entries(parts, written), run.command())
        return written._replace(files=(*written.files, LockFile(STDOUT, UV, None, text)))
    if locked:
        files = run.require_current(parts, written)
    else:
        files, notes = run.write(parts, written)
        written = written._replace(notes=(*written.notes, *notes))
    return written._replace(
        files=(*written.files, *files), changes=_without_kept(written.changes, files[-1].text)
    )


class _Run:
    def __init__(self, options: LockOptions, wanted: UvFiles) -> None:
        self._options = options
        self._wanted = wanted
        projects = [path for path in options.files if kind_of(path) == PYPROJECT]
        if not projects or len(projects) < len(options.files):
            given = "one was not given" if not projects else "other files were given too"
            raise InputError(
                f"uv locks what a pyproject.toml asks for, and {given}",
                hints=[f"`compatlock lock pyproject.toml {_OPTION}`"],
            )
        if wanted.write and wanted.show:
            raise InputError(
                f"`--show-tool-uv` is instead of `{_OPTION}`, not with it", hints=["leave one of them out"]
            )
        self._path = projects[0]
        refuse_member(self._path)
        self._folder = os.path.dirname(self._path)
        self._lock_path = os.path.join(self._folder, UV_LOCK)
        self._bytes = read_bytes(self._path, PYPROJECT)
        values: Mapping[str, Any] = parse_toml(self._bytes, self._path)
        self._text = self._bytes.decode("utf-8-sig")
        self._project: UvProject = project_of(values, self._path)
        self._uv: Uv | None = None
        if not self._project.requires_python:
            raise InputError(
                f"{self._path}: [project] has no `requires-python`, and uv.lock then depends on who locks",
                hints=['add `requires-python = ">=3.10"`, with the oldest Python that the project runs on'],
            )

    # Before locking

    def others(self, outputs: Sequence[str], *, locked: bool) -> tuple[str, ...]:
        """The outputs that are not uv.lock."""
        for path in outputs:
            if is_uv_lock(path) and os.path.realpath(path) != os.path.realpath(self._lock_path):
                raise InputError(
                    f"{path}: uv writes its lock beside the pyproject.toml", hints=["leave the output out"]
                )
            if is_uv_lock(path) and not (locked or self._wanted.write or self._wanted.show):
                raise InputError(
                    f"{path} is written by uv, by what the pyproject.toml says",
                    hints=[f"`{_OPTION}` writes what it has to say, and runs uv"],
                )
        return tuple(path for path in outputs if not is_uv_lock(path))

    def find_uv(self) -> None:
        """Look for uv now, before anything takes time."""
        self._uv = Uv(self._options)

    def refuse_more(self, asked: Asked) -> None:
        """Raise InputError when more is to be locked than the projects ask for: uv knows nothing of it."""
        own = tuple(f"{path}:" for path in self._options.files)
        for request in asked.requests:
            named = {root.name for root in request.roots if root.origin.startswith(own)}
            for root in request.roots:
                if root.name not in named:
                    raise InputError(
                        f"{root.origin} asks for {root.name}, and the project does not: uv would not lock it",
                        hints=[f"add `{root.name}` to [project] dependencies in {self._path}"],
                    )

    def older_file(self) -> str:
        """The uv.lock that is there, if it pins anything."""
        text = self._read_lock()
        return self._lock_path if text and read_pins_of(self._lock_path, text) else ""

    # Afterwards

    def entries(
        self, parts: Sequence[UvPart], written: Written, exact: frozenset[str] = frozenset()
    ) -> UvEntries:
        """What uv has to be told. `exact` are packages of which it would take a local build otherwise, beside
        those of which that was found out before."""
        return entries_for(self._options, parts, written.outcome, exact | exact_names(self._text))

    def command(self) -> str:
        """The command that renews the entries."""
        return f"{self._options.command()} {_OPTION}"

    def require_current(self, parts: Sequence[UvPart], written: Written) -> tuple[LockFile, ...]:
        """Raise LockOutdated when uv.lock, or what is to be written, is not what it would be."""
        hints = [f"run the same command with {_OPTION}, and without `--locked`, to update it"]
        if self._wanted.write:
            hints = ["run the same command without `--locked` to update it"]
        before = self._read_lock()
        if before is None:
            raise LockOutdated(f"{self._lock_path} does not exist", hints=hints)
        found = self._differences(before, parts)
        if found:
            raise LockOutdated(f"{self._lock_path} is out of date:\n{_listed(found)}", hints=hints)
        files = [LockFile(self._lock_path, UV, before, before)]
        if self._wanted.write:
            text, _ = with_entries(self._text, self.entries(parts, written), self.command(), self._path)
            if text != self._text:
                raise LockOutdated(f"{self._path} would change, though no pin does", hints=hints)
            files.insert(0, LockFile(self._path, UV, text, text))
        return tuple(files)

    def write(
        self, parts: Sequence[UvPart], written: Written
    ) -> tuple[tuple[LockFile, ...], tuple[str, ...]]:
        """Write the entries, let uv lock, and compare; on failure everything is as before."""
        before = self._read_lock()
        try:
            text, after, notes = self._let_lock(self._uv or Uv(self._options), parts, written)
        except BaseException:
            self._restore(before)
            raise
        files = (LockFile(self._path, UV, self._text, text), LockFile(self._lock_path, UV, before, after))
        return files, (*notes, *self._remarks(after, parts))

    def _let_lock(
        self, uv: Uv, parts: Sequence[UvPart], written: Written
    ) -> tuple[str, str, tuple[str, ...]]:
        """The texts of pyproject.toml and of the uv.lock that uv made of it, and remarks. Raises LockInvalid
        when that has other pins."""
        exact: frozenset[str] = frozenset()
        there = self._text
        while True:
            entries = self.entries(parts, written, exact)
            if entries.is_scoped:
                uv.require_scopes()
            text, notes = with_entries(self._text, entries, self.command(), self._path)
            if text != there:
                mark = b"\xef\xbb\xbf" if self._bytes.startswith(b"\xef\xbb\xbf") else b""
                write_bytes_atomically(self._path, mark + text.encode())
                there = text
            uv.lock(self._project, self._folder, parts)
            after = self._read_lock()
            if after is None:
                raise LockInvalid(f"uv wrote no {self._lock_path}; pyproject.toml is as before")
            found = self._differences(after, parts)
            if not found:
                return text, after, notes
            local = self._local_builds(after, parts)
            if local <= exact:
                raise LockInvalid(
                    "uv locked something else with these pins; pyproject.toml and uv.lock are as before",
                    violations=found[:_NAMED],
                    hints=["`--show-tool-uv` prints what uv was told"],
                )
            exact |= local

    def _restore(self, lock: str | None) -> None:
        if read_bytes(self._path, PYPROJECT) != self._bytes:
            write_bytes_atomically(self._path, self._bytes)
        if lock is None:
            if os.path.exists(self._lock_path):
                os.unlink(self._lock_path)
        elif self._read_lock() != lock:
            write_bytes_atomically(self._lock_path, lock.encode())

    def _read_lock(self) -> str | None:
        try:
            with open(self._lock_path, encoding="utf-8", newline="") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise InputError(f"{self._lock_path} cannot be read: {reason_of(error)}") from None

    def _differences(self, text: str, parts: Sequence[UvPart]) -> tuple[str, ...]:
        uv_lock = UvLock(text, self._lock_path)
        by_words: dict[str, list[str]] = {}
        for part in parts:
            for words in differences(part.lock, part.target, uv_lock, self._chosen()):
                by_words.setdefault(words, []).append(str(part.target))
        return tuple(
            words if len(targets) == len(parts) else f"{words} ({'; '.join(targets)})"
            for words, targets in by_words.items()
        )

    def _local_builds(self, text: str, parts: Sequence[UvPart]) -> frozenset[str]:
        uv_lock = UvLock(text, self._lock_path)
        return frozenset(
            name for p in parts for name in local_builds(p.lock, p.target, uv_lock, self._chosen())
        )

    def _chosen(self) -> Chosen:
        options = self._options
        return Chosen(
            None if options.all_extras else tuple(map(normalise, options.extras)),
            None if options.all_groups else tuple(map(normalise, options.groups)),
            not options.only_groups,
            tuple(self._place(path) for path in options.files),
        )

    def _place(self, path: str) -> str:
        """The folder of a pyproject.toml as uv.lock names it."""
        return os.path.relpath(os.path.dirname(path) or ".", self._folder or ".").replace(os.sep, "/")

    def _remarks(self, text: str, parts: Sequence[UvPart]) -> tuple[str, ...]:
        notes = []
        left_out = not_locked(self._options, self._project)
        pinned = {pin.name for part in parts for pin in part.lock.pins}
        more = [
            f"{name} {version}"
            for name, versions in sorted(UvLock(text, self._lock_path).packages.items())
            for version in versions
            if name not in pinned
        ]
        if more:
            why = f" of {named(left_out)}, which were not locked" if left_out else ", for other environments"
            notes.append(f"uv.lock also has packages{why}, as uv chose them: {', '.join(more)}")
        command = sync_command(self._options, self._project, parts, self._folder)
        return (*notes, f"install it with `{command}`")


def _without_kept(changes: Sequence[Change], lock: str) -> tuple[Change, ...]:
    """The changes, but for packages that were not locked here, and that uv.lock still has as uv chose."""
    there = UvLock(lock, UV_LOCK).packages
    return tuple(change for change in changes if change.new or change.name not in there)


def _listed(found: Sequence[str]) -> str:
    more = [f"and {len(found) - _NAMED} more"] if len(found) > _NAMED else []
    return "\n".join(f"  {words}" for words in (*found[:_NAMED], *more))
