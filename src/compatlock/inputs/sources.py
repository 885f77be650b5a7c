"""All files of requirements that a lock is made of, whatever their kind."""

from __future__ import annotations

from compatlock.errors import InputError
from compatlock.inputs.file_bytes import PYPROJECT, kind_of
from compatlock.inputs.file_settings import joined
from compatlock.inputs.requirements_file import RequirementsFile, read_requirements_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from compatlock.inputs.pyproject import ProjectSelection, ReadProject


def read_sources(
    paths: Sequence[str],
    constraints: Sequence[str] = (),
    *,
    wanted: ProjectSelection | None = None,
    memo: MutableMapping[str, str] | None = None,
) -> RequirementsFile:
    """Return the lines of the files `paths`, requirements files (`-`: standard input),
    pyproject.toml and setup.cfg files and scripts (PEP 723), and of the constraints files, together.

    `wanted` says what is taken of the projects' files; with several of them, an extra or a group has
    to be in one. Raises one InputError for everything that is wrong in all files.
    """
    projects = [path for path in dict.fromkeys(paths) if kind_of(path)]
    others = [path for path in paths if not kind_of(path)]
    if not projects:
        if wanted is not None and not wanted.is_default:
            raise InputError(
                "extras and groups are chosen from a pyproject.toml, and none was given",
                hints=["name it: `compatlock lock pyproject.toml ...`"],
            )
        return read_requirements_files(others, constraints)
    problems: list[str] = []
    files = RequirementsFile()
    try:
        files = read_requirements_files(others, constraints)
    except InputError as error:
        problems.append(error.message)
    results = _read_projects(projects, wanted, memo, problems)
    if problems:
        raise InputError("\n".join(problems))
    return _together([files, *results])


def is_pyproject(path: str) -> bool:
    """Whether the name of the file says that it is a pyproject.toml."""
    return kind_of(path) == PYPROJECT


def _read_projects(
    paths: Sequence[str],
    wanted: ProjectSelection | None,
    memo: MutableMapping[str, str] | None,
    problems: list[str],
) -> list[RequirementsFile]:
    from compatlock.inputs.pyproject import ProjectSelection, read_project

    read: list[tuple[str, ReadProject]] = []
    for path in paths:
        try:
            read.append((path, read_project(path, wanted or ProjectSelection(), memo)))
        except InputError as error:
            problems.append(error.message)
    problems += [problem for _, project in read for problem in project.problems]
    missing = [{(kind, name) for kind, name, _ in project.unknown} for _, project in read]
    everywhere = set.intersection(*missing) if len(missing) == len(paths) else set()
    problems += [
        f"{path}: {text}"
        for path, project in read
        for kind, name, text in project.unknown
        if (kind, name) in everywhere
    ]
    return [project.result for _, project in read]


def _together(files: Sequence[RequirementsFile]) -> RequirementsFile:
    return RequirementsFile(
        lines=tuple(line for file in files for line in file.lines),
        constraints=tuple(line for file in files for line in file.constraints),
        files=tuple(path for file in files for path in file.files),
        notes=tuple(note for file in files for note in file.notes),
        requires_python=tuple(row for file in files for row in file.requires_python),
        settings=joined(file.settings for file in files),
    )
