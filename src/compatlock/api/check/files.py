"""What the files of an environment that are not as they were installed mean."""

from __future__ import annotations

from compatlock.audit.layout import is_harmless, is_shared_object
from compatlock.environment.installed_files import GONE, MISRECORDED, SHARED, FileState
from compatlock.model import report as kinds
from compatlock.model.display import counted, listed
from compatlock.model.report import Discrepancy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_CODE = (".py", ".pyi", ".so", ".pyd", ".dll", ".dylib")


def file_findings(states: Iterable[FileState]) -> Iterator[Discrepancy]:
    """A finding for each distribution, or pair of them, whose files are not as recorded: an error when code
    is among them, a warning when it is only what nobody runs (tests, documentation, licences)."""
    groups: dict[tuple[str, tuple[str, ...]], list[FileState]] = {}
    for state in states:
        groups.setdefault((state.state, state.owners), []).append(state)
    for (kind, owners), files in sorted(groups.items(), key=lambda item: item[0]):
        yield _overwritten(owners, files) if kind == SHARED else _changed(kind, owners, files)


def _overwritten(owners: Sequence[str], files: Sequence[FileState]) -> Discrepancy:
    there = sorted({file.there for file in files if file.there})
    whose = f"; what is there is of {' and '.join(there)}" if there else "; what is there is of neither"
    count = counted(len(files), "file")
    text = f"{listed(owners)} install {count} over each other with different content{whose}"
    hint = (
        "`compatlock audit` finds this before an installation; lock again with `--audit` for versions that "
        "go together"
    )
    return _finding(owners, files, text, on=owners[-1], hints=(hint,) if _matters(files) else ())


def _changed(state: str, owners: Sequence[str], files: Sequence[FileState]) -> Discrepancy:
    verb, they, them = ("is", "it was", "it") if len(files) == 1 else ("are", "they were", "them")
    what = {GONE: "missing", MISRECORDED: f"not as the wheel itself records {them}"}.get(
        state, f"not as {they} installed"
    )
    text = f"{counted(len(files), 'file')} of {listed(owners)} {verb} {what}"
    hints = ("`compatlock sync` with the lock installs it again",)
    return _finding(owners, files, text, hints=hints if _matters(files) else ())


def _finding(
    owners: Sequence[str], files: Sequence[FileState], text: str, *, on: str = "", hints: tuple[str, ...] = ()
) -> Discrepancy:
    first = min(files, key=lambda file: (not _file_matters(file), file.path))
    name, _, version = owners[0].partition(" ")
    on, _, found = on.partition(" ")
    return Discrepancy(
        kinds.FILES,
        kinds.ERROR if _matters(files) else kinds.WARNING,
        name,
        version,
        f"{text} ({'' if len(files) == 1 else 'such as '}{first.path})",
        on,
        found,
        hints=hints,
    )


def _matters(files: Sequence[FileState]) -> bool:
    return any(map(_file_matters, files))


def _file_matters(file: FileState) -> bool:
    # What a wheel records of itself wrongly, its index cannot be told to mend.
    if file.is_namespace or file.state == MISRECORDED or is_harmless(file.path):
        return False
    return file.path.endswith(_CODE) or is_shared_object(file.path) or file.state == SHARED
