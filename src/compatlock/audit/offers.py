"""Whether a module has a name, or is there at all, as far as that can be told from the files."""

from __future__ import annotations

from compatlock.audit.library import Folder, Library
from compatlock.audit.modules import Summary
from compatlock.audit.site import ABSENT, MISSING, SOURCE
from compatlock.model.named_tuple import NamedTuple

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
# Modules that are looked at for all questions together; those of a real lock of 200 packages are 5,000.
MAX_LOOKS = 500_000


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
        self._budget = MAX_LOOKS
        self._filled: dict[str, str] = {}  # what `_by_own_parts` said

    def answer(self, questions: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return HAS, LACKS or UNKNOWN for each question, reading what is needed, in batches."""
        answers: dict[tuple[str, str], str] = {}
        open_questions = sorted(questions)
        for _ in range(_ROUNDS):
            wanted = Wanted(set(), set(), set())
            left = []
            for question in open_questions:
                found = self._ask(*question, wanted)
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
            self._filled = {module: answer for module, answer in self._filled.items() if answer}
        answers.update((question, UNKNOWN) for question in questions - answers.keys())
        return answers

    def _ask(self, module: str, name: str, wanted: Wanted) -> str:
        """Answer one question; `""` when something has to be read first. Star imports lead on from module to
        module, to each but once."""
        answers: set[str] = set()
        seen, ahead, open_ends = {module}, [module], []
        while ahead:
            if self._budget <= 0:
                return UNKNOWN
            self._budget -= 1
            at = ahead.pop()
            answer, summary = self._look(at, name, wanted)
            if answer == HAS:
                return HAS
            if summary is None:
                answers.add(answer)
                continue
            more = [star for star in summary.stars if star not in seen]
            seen.update(more)
            ahead += more
            for folder in summary.folders:
                answers.add(self._in_folder(at, folder, name, wanted))
            if HAS in answers:
                return HAS
            if not summary.lazy:
                open_ends.append(at)
        for worst in ("", UNKNOWN):
            if worst in answers:
                return worst
        answers = {self._by_own_parts(end, wanted) for end in open_ends}
        return "" if "" in answers else UNKNOWN if UNKNOWN in answers else LACKS

    def _look(self, module: str, name: str, wanted: Wanted) -> tuple[str, Summary | None]:
        """Answer a question by a module alone, or return its summary when that does not tell."""
        found = self._site.find(module)
        if found.kind == MISSING:
            return self._missing(module, wanted), None
        if not name:
            return (UNKNOWN if found.kind == ABSENT else HAS), None
        if found.kind != ABSENT and self._site.exists(f"{module}.{name}"):
            return HAS, None
        if found.kind != SOURCE:
            return UNKNOWN, None
        outline = self._library.outlines.get(module)
        if outline is None:
            wanted.outlines.add(module)
            return "", None
        if name in outline.names:
            return HAS, None
        summary = self._library.summaries.get(module)
        if summary is None:
            wanted.modules.add(module)
            return "", None
        if name in summary.names or name in summary.offered or name in _ALWAYS:
            return HAS, None
        hooked = summary.hooks and not summary.lazy
        if summary.dynamic or hooked or (summary.lazy and name.endswith("Fast")):
            return UNKNOWN, None
        return "", summary

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

    def _by_own_parts(self, module: str, wanted: Wanted) -> str:
        """Whether a part of a package that it imports itself may fill it (toolz does so with `tlz`)."""
        if module not in self._filled:
            self._filled[module] = self._ask_own_parts(module, wanted)
        return self._filled[module]

    def _ask_own_parts(self, module: str, wanted: Wanted) -> str:
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
        self._budget -= len(folders)
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
