"""Whether a module has a name, or is there at all, as far as that can be told from the files."""

from __future__ import annotations

from typing import NamedTuple

from compatlock.audit.library import Folder, Library
from compatlock.audit.modules import Summary
from compatlock.audit.site import ABSENT, MISSING, SOURCE

HAS, LACKS, UNKNOWN = "has", "lacks", "unknown"

# What every module has, and what the import system gives.
_ALWAYS = frozenset(
    [
        "__all__",
        "__author__",
        "__builtins__",
        "__cached__",
        "__dict__",
        "__doc__",
        "__file__",
        "__loader__",
        "__name__",
        "__package__",
        "__path__",
        "__spec__",
        "__class__",
    ]
)
_ROUNDS = 40


class Wanted(NamedTuple):
    """What has to be read before a question can be answered."""

    outlines: set[str]
    modules: set[str]
    folders: set[Folder]


class Offers:
    """Answers questions `(module, name)`; `name` `""` asks whether the module is there."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._site = library.site

    def answer(self, questions: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return HAS, LACKS or UNKNOWN for each question, reading what is needed, in batches."""
        answers: dict[tuple[str, str], str] = {}
        open_questions = sorted(questions)
        for _ in range(_ROUNDS):
            wanted = Wanted(set(), set(), set())
            left = []
            for question in open_questions:
                found = self._ask(*question, wanted, frozenset())
                if found:
                    answers[question] = found
                else:
                    left.append(question)
            if not left:
                break
            open_questions = left
            self._library.outline(wanted.outlines)
            self._library.load(wanted.modules)
            self._library.load_exports(wanted.folders)
        answers.update((question, UNKNOWN) for question in questions - answers.keys())
        return answers

    def _ask(self, module: str, name: str, wanted: Wanted, asked: frozenset[str]) -> str:
        """Answer one question; `""` when something has to be read first."""
        found = self._site.find(module)
        if found.kind == MISSING:
            return self._missing(module, wanted)
        if not name:
            return UNKNOWN if found.kind == ABSENT else HAS
        if found.kind != ABSENT and self._site.exists(f"{module}.{name}"):
            return HAS
        if found.kind != SOURCE:
            return UNKNOWN
        outline = self._library.outlines.get(module)
        if outline is None:
            wanted.outlines.add(module)
            return ""
        if name in outline.names:
            return HAS
        summary = self._library.summaries.get(module)
        if summary is None:
            wanted.modules.add(module)
            return ""
        if name in summary.names or name in summary.offered or name in _ALWAYS:
            return HAS
        if (
            summary.dynamic
            or (summary.hooks and not summary.lazy)
            or (summary.lazy and name.endswith("Fast"))
        ):
            return UNKNOWN
        return self._elsewhere(module, name, summary, wanted, asked | {module})

    def _missing(self, module: str, wanted: Wanted) -> str:
        """A module without a file, whose package has one: LACKS, unless something could make it up."""
        parent = module.rpartition(".")[0]
        while parent:
            found = self._site.find(parent)
            if found.kind == SOURCE:
                if parent not in self._library.outlines:
                    wanted.outlines.add(parent)
                    return ""
                if found.owner in self._library.hooked:
                    return UNKNOWN
            elif found.kind != MISSING:
                return UNKNOWN
            parent = parent.rpartition(".")[0]
        return LACKS

    def _elsewhere(
        self, module: str, name: str, summary: Summary, wanted: Wanted, asked: frozenset[str]
    ) -> str:
        """Look where the module itself takes names from: star imports and folders of lazy loaders."""
        answers = {self._ask(star, name, wanted, asked) for star in summary.stars if star not in asked}
        if HAS in answers:
            return HAS
        for folder in summary.folders:
            answers.add(self._in_folder(module, folder, name, wanted))
            if HAS in answers:
                return HAS
        if "" in answers:
            return ""
        if UNKNOWN in answers or summary.lazy:
            return UNKNOWN if UNKNOWN in answers else LACKS
        return self._by_own_parts(module, wanted)

    def _by_own_parts(self, module: str, wanted: Wanted) -> str:
        """Whether a part of a package that it imports itself may fill it (toolz does so with `tlz`)."""
        parts: set[str] = set()
        for target, names in self._library.outlines[module].imports.items():
            if target == module:
                parts.update(f"{module}.{name}" for name in names if name.isidentifier())
            elif target.startswith(module + "."):
                parts.add(target)
        parts = {part for part in parts if self._site.find(part).kind == SOURCE}
        unread = parts - self._library.outlines.keys()
        wanted.outlines.update(unread)
        if unread:
            return ""
        return UNKNOWN if any(self._library.outlines[part].hooks for part in parts) else LACKS

    def _in_folder(self, module: str, folder: str, name: str, wanted: Wanted) -> str:
        """Whether modules below a folder export a name. Folders named like it are read first."""
        owner = self._site.find(module).owner
        base = "/".join([*module.split("."), *([folder] if folder else [])])
        folders = self._site.folders(owner, base)
        exports = self._library.exports
        start = name.lower()
        alike = [f for f in folders if start.startswith(f.rpartition("/")[2].replace("_", ""))]
        for group in (alike, folders):
            unread = [(owner, f) for f in group if (owner, f) not in exports]
            if any(name in exports[owner, f] for f in group if (owner, f) in exports):
                return HAS
            if unread:
                wanted.folders.update(unread)
                return ""
        return UNKNOWN if any("*" in exports[owner, f] for f in folders) else LACKS
