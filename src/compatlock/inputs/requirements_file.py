"""Requirements files (pip's format) into lines with their origins, nested files included.

Only `codecs` and `os` are imported: this runs on every lock. What the lines say is left to
`requirement_line`, but for the report of errors, which names every bad line at once.
"""

from __future__ import annotations

import os

from compatlock.errors import InputError
from compatlock.inputs.file_bytes import STDIN, read_bytes
from compatlock.inputs.file_settings import FileSettings, joined
from compatlock.inputs.file_settings import RequirementsFile as RequirementsFile
from compatlock.inputs.requirements_text import decode, expand_variables, logical_lines
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from compatlock.inputs.file_options import FileOption
    from compatlock.inputs.requirements_text import LogicalLine

_DEEPEST = 50
# How a lock of ours begins: its lines about indexes are for installers.
_OUR_LOCK = "# Locked by compatlock "


def read_requirements(path: str, *, constraint: bool = False) -> RequirementsFile:
    """Return the lines of the file at `path`, `-` for standard input, and of the files that it names.

    With `constraint`, all lines are constraints. Followed are comments, continuations, byte order
    marks, `${NAME}`, `-r` and `-c` (relative to the file). Options about indexes, pre-releases, wheels and
    hashes are `settings`; what cannot be followed and changes no versions is left out with a note.

    Raises one InputError for everything that is wrong in these files, a line of the message each.
    """
    return read_requirements_files((), (path,)) if constraint else read_requirements_files((path,))


def read_requirements_files(paths: Sequence[str], constraints: Sequence[str] = ()) -> RequirementsFile:
    """Return the lines of several requirements and constraints files together.

    Raises one InputError for everything that is wrong in all of them.
    """
    reader = _Reader()
    for path in paths:
        reader.read(path, constraint=False)
    for path in constraints:
        reader.read(path, constraint=True)
    return reader.result()


class _Found(NamedTuple):
    """A requirement line, or a problem when `problem` is set, in reading order."""

    text: str
    origin: str
    constraint: bool = False
    problem: str = ""


class _Reader:
    """Reads files depth first and gathers lines and problems in reading order."""

    def __init__(self) -> None:
        self.found: list[_Found] = []
        self.files: list[str] = []
        self.notes: list[str] = []
        self.settings: list[FileSettings] = []
        self._done: set[tuple[str, bool]] = set()
        self._open: list[str] = []

    def read(self, path: str, *, constraint: bool, named_in: str = "") -> None:
        """Read the file at `path`, which the line `named_in` includes (`""`: the user named it)."""
        is_stdin = path == "-" and not named_in
        identity = STDIN if is_stdin else _identity(path)
        shown = STDIN if is_stdin else path
        if identity in self._open or len(self._open) >= _DEEPEST:
            why = "includes itself" if identity in self._open else "is nested too deeply"
            self._problem(named_in, f"{shown} {why}; remove this line")
            return
        if (identity, constraint) in self._done:
            return
        self._done.add((identity, constraint))
        try:
            text = decode(_read_bytes(path, is_stdin), shown)
        except InputError as error:
            self._problem(named_in, error.message)
            return
        self.files.append(shown)
        self._open.append(identity)
        indexes = 0
        is_lock = text.startswith(_OUR_LOCK)
        for line in logical_lines(text):
            if is_lock and line.text.startswith("--extra-index-url "):
                indexes += 1
            else:
                self._line(line, shown, constraint)
        self._open.pop()
        if indexes:
            self.notes.append(f"{shown}: the indexes that it names are not asked; `--index URL` names one")

    def _line(self, line: LogicalLine, path: str, constraint: bool) -> None:
        """Take one logical line of `path`."""
        origin = f"{path}:{line.number}"
        if line.problem:
            self._problem(origin, line.problem)
            return
        text, missing = expand_variables(line.text)
        if text.startswith("-"):
            self._options(text, missing, path, origin, constraint)
        elif missing:
            self._unset(origin, missing)
        else:
            if " -" in text or "\t-" in text:
                text = self._without_options(text, origin)
            if text:
                self.found.append(_Found(text, origin, constraint))

    def _without_options(self, text: str, origin: str) -> str:
        """Take the options of a requirement, and return the rest; `""` when something is wrong with them."""
        from compatlock.inputs.file_options import read_hashes, split_options

        split = split_options(text)
        if split.other:
            self._problem(origin, f"`{split.other}` is not supported on a requirement; remove it")
            return ""
        if split.hashes:
            digests, problem = read_hashes(split.hashes)
            if problem:
                self._problem(origin, problem)
                return ""
            self.settings.append(FileSettings(hashes=((origin, digests),)))
        if split.for_builds:
            self.notes.append(f"{origin}: its options for a build are left out: a lock does not hold them")
        return split.text

    def _options(self, text: str, missing: tuple[str, ...], path: str, origin: str, constraint: bool) -> None:
        from compatlock.inputs.file_options import read_options

        options = read_options(text)
        if options is None:
            self._problem(origin, "this is neither a requirement nor an option of a requirements file")
        elif missing:
            self._unset(origin, missing)
        else:
            for option in options:
                self._option(option, path, origin, constraint)

    def _option(self, option: FileOption, path: str, origin: str, constraint: bool) -> None:
        from compatlock.inputs.file_options import NESTED, understand

        if option.name not in NESTED:
            understood = understand(option, origin)
            self.settings.append(understood.settings)
            if understood.problem:
                self._problem(origin, understood.problem)
            if understood.note:
                self.notes.append(f"{origin}: {understood.note}")
        elif not option.value or option.value == "-":
            self._problem(origin, f"no file follows `{option.name}`")
        elif "://" in option.value:
            self._problem(origin, f"`{option.name}` of a URL is not supported; download the file and name it")
        else:
            folder = os.path.dirname(path) if path != STDIN else ""
            # Inside constraints everything is a constraint (as in uv): it must not begin to pull things in.
            self.read(
                os.path.join(folder, option.value),
                constraint=constraint or option.name == "--constraint",
                named_in=origin,
            )

    def _unset(self, origin: str, missing: tuple[str, ...]) -> None:
        names = ", ".join(dict.fromkeys(missing))
        self._problem(origin, f"the environment does not set {names}, which this line needs")

    def _problem(self, origin: str, problem: str) -> None:
        self.found.append(_Found("", origin, problem=f"{origin}: {problem}" if origin else problem))

    def result(self) -> RequirementsFile:
        """Return what was read. Raises InputError when anything was wrong."""
        if any(found.problem for found in self.found):
            self._fail()
        return RequirementsFile(
            lines=tuple((found.text, found.origin) for found in self.found if not found.constraint),
            constraints=tuple((found.text, found.origin) for found in self.found if found.constraint),
            files=tuple(self.files),
            notes=tuple(self.notes),
            settings=joined([FileSettings(), *self.settings]),
        )

    def _fail(self) -> None:
        """Raise for all problems, those of the requirements themselves included."""
        from compatlock.inputs.problems import input_error, problem_of

        problems = []
        for found in self.found:
            wrong = "" if found.problem else problem_of(found.text)
            if found.problem or wrong:
                problems.append(found.problem or f"{found.origin}: {wrong}")
        raise input_error(problems)


def _identity(path: str) -> str:
    """Return what `path` really is, so that a file is known again by another name."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # reading it will say what is wrong
        return path


def _read_bytes(path: str, is_stdin: bool) -> bytes:
    """Return the bytes of the file. Raises InputError when it cannot be read or is no requirements file."""
    if not is_stdin and path.endswith(".toml"):
        raise InputError(
            f"{path}: a TOML file is not a requirements file (a pyproject.toml is named on the command line)"
        )
    return read_bytes(path, "requirements file", is_stdin=is_stdin)
