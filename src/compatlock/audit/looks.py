"""Answers questions about single members of wheels: what the evidence of a fact claims, looked at again."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sequence

from compatlock.audit.binaries import FULL, Binary, read_members
from compatlock.audit.elf import Elf
from compatlock.audit.modules import UNKNOWN as NO_SUMMARY
from compatlock.audit.modules import summarise
from compatlock.audit.source import NOT_UNDERSTOOD, parse_source
from compatlock.model.artefact import MEMBER_LIMIT, Artefact, Content, Directory, Member
from compatlock.model.evidence import IMPORTS, LEAVES, LEAVES_LIKE, NEEDS, REGEX, REQUIRES, SYMBOL, Look
from compatlock.model.lock import LockedFile
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from compatlock.model.artefact import Observations, WheelReader

KIND = "evidence/1"

YES, NO, NO_MEMBER, UNTOLD = "yes", "no", "no member", "untold"

_SHARED_OBJECT = re.compile(r"\.so(\.\d+)*\Z")
_METADATA = re.compile(r"[^/]+\.dist-info/METADATA\Z")
_PKG_INFO = re.compile(r"[^/]+/PKG-INFO\Z")
# From metadata 2.2 on, what a source distribution declares is what its wheels declare, unless it is dynamic.
_IS_STATIC = re.compile(r"(?m)^metadata-version\s*:\s*(2\.[2-9]|[3-9])", re.IGNORECASE)
_IS_DYNAMIC = re.compile(r"(?m)^dynamic\s*:\s*requires-dist\s*$", re.IGNORECASE)
_SHOWN = 3


class Answer(NamedTuple):
    """Whether a member shows what was looked for: YES, NO, NO_MEMBER (the wheel has no such member) or
    UNTOLD; `reason` says more about all but the first."""

    state: str
    reason: str = ""


Asked = tuple[LockedFile, Look]
Answers = dict[tuple[str, Look], Answer]  # by file name


def look_into(wanted: Iterable[Asked], reader: WheelReader, observations: Observations) -> Answers:
    """Answer questions about members of wheels, the remembered ones without reading anything."""
    asked = list(dict.fromkeys(wanted))
    found = _remembered(asked, observations)
    left = [(file, look) for file, look in asked if (file.filename, look) not in found]
    if not left:
        return found
    learned: Answers = {}
    directories = reader.directories(file for file, _ in left)
    sources: list[tuple[LockedFile, Member, Look]] = []
    binaries: list[tuple[LockedFile, Member, Look]] = []
    for file, look in left:
        directory = directories[file.filename]
        member = _member(directory, look, file.filename)
        if member is not None:
            (binaries if _is_binary(look) else sources).append((file, member, look))
        elif directory.problem:
            found[file.filename, look] = Answer(UNTOLD, f"{file.filename}: {directory.problem}")
        else:
            learned[file.filename, look] = Answer(NO_MEMBER, f"{file.filename} has no `{look.member}`")
    learned |= _in_sources(sources, reader)
    learned |= _in_binaries(binaries, reader, observations)
    _remember(left, learned, observations)
    return found | learned


def _remembered(asked: Sequence[Asked], observations: Observations) -> Answers:
    keys = {(file.sha256, _subject(look)): (file.filename, look) for file, look in asked if file.sha256}
    stored = observations.get(KIND, list(keys)) if keys else {}
    found = {}
    for key, summary in stored.items():
        try:
            found[keys[key]] = Answer(*json.loads(summary))
        except (ValueError, TypeError):
            continue
    return found


def _remember(asked: Sequence[Asked], learned: Answers, observations: Observations) -> None:
    summaries = {}
    for file, look in asked:
        answer = learned.get((file.filename, look))
        if answer is not None and answer.state != UNTOLD and file.sha256:
            summaries[file.sha256, _subject(look)] = json.dumps(answer).encode()
    observations.put(KIND, summaries)


def _subject(look: Look) -> str:
    return json.dumps(look)


def _member(directory: Directory, look: Look, filename: str) -> Member | None:
    if look.kind == REQUIRES:
        pattern = _METADATA if filename.endswith(".whl") else _PKG_INFO
        return next((m for m in directory.members if pattern.match(m.path)), None)
    return next((m for m in directory.members if m.path == look.member), None)


def _is_binary(look: Look) -> bool:
    """Whether an ELF object's tables answer it."""
    if look.kind == SYMBOL:
        return _SHARED_OBJECT.search(look.member) is not None
    return look.kind in (NEEDS, LEAVES, LEAVES_LIKE)


def _in_sources(asked: Sequence[tuple[LockedFile, Member, Look]], reader: WheelReader) -> Answers:
    looks: dict[tuple[str, str], list[Look]] = {}
    for file, member, look in asked:
        looks.setdefault((file.filename, member.path), []).append(look)
    answers: Answers = {}
    pairs = list(dict.fromkeys((file, member) for file, member, _ in asked))
    for file, member, content in reader.each_content(pairs) if pairs else ():
        for look in looks.pop((file.filename, member.path), ()):
            answers[file.filename, look] = answer_from(content, look, file.filename)
    for (name, path), rest in looks.items():
        answers |= {(name, look): Answer(UNTOLD, f"{name}: {path} was not read") for look in rest}
    return answers


def _in_binaries(
    asked: Sequence[tuple[LockedFile, Member, Look]], reader: WheelReader, observations: Observations
) -> Answers:
    """The start of a large member mostly tells; it is read whole only where that does not."""
    answers: Answers = {}
    for full in (FULL, MEMBER_LIMIT):
        left = [one for one in asked if answers.get((one[0].filename, one[2]), _OPEN).state == UNTOLD]
        pairs = [(Artefact("", "", file), member) for file, member, _ in left]
        read = read_members(pairs, reader, observations, full=full) if pairs else []
        for (file, _, look), binary in zip(left, read, strict=True):
            answers[file.filename, look] = _of_binary(binary, look, file.filename)
    return answers


_OPEN = Answer(UNTOLD)


def _of_binary(binary: Binary, look: Look, filename: str) -> Answer:
    if binary.elf is None:
        return Answer(UNTOLD, f"{filename}: {binary.path}: {binary.problem}")
    if _shows(binary.elf, look):
        return Answer(YES)
    if not binary.elf.complete:
        return Answer(UNTOLD, f"{filename}: {binary.path} is too large to be read whole")
    return Answer(NO, f"{filename}: {binary.path} {_denied(look)}{_instead(binary.elf, look)}")


def _shows(elf: Elf, look: Look) -> bool:
    if look.kind == NEEDS:
        return look.text in elf.needed
    if look.kind == SYMBOL:
        return look.text in elf.defined
    if look.kind == LEAVES:
        return any(wanted.name == look.text for wanted in elf.undefined)
    pattern = re.compile(look.text)
    return sum(pattern.search(wanted.name) is not None for wanted in elf.undefined) >= look.least


def _denied(look: Look) -> str:
    return {
        IMPORTS: f"does not import {look.text} whenever it is imported",
        SYMBOL: f"does not define {look.text}",
        REGEX: f"does not have `{look.text}`",
        NEEDS: f"does not need {look.text}",
        LEAVES: f"does not leave {look.text} undefined",
        LEAVES_LIKE: f"leaves fewer than {look.least} symbols undefined that match `{look.text}`",
        REQUIRES: f"does not declare {look.text}",
    }[look.kind]


def _instead(elf: Elf, look: Look) -> str:
    """Another version of the library that was looked for."""
    if look.kind != NEEDS:
        return ""
    stem = look.text.partition(".so")[0]
    others = [name for name in elf.needed if name.partition(".so")[0] == stem]
    return f", but {', '.join(others)}" if others else ""


def answer_from(content: Content, look: Look, filename: str) -> Answer:
    """Answer a look from a member's bytes; not for those that an ELF object's tables answer."""
    if content.problem:
        return Answer(UNTOLD, f"{filename}: {look.member}: {content.problem}")
    data = content.data
    if look.kind == REQUIRES:
        return _declares(data, look, filename)
    if look.kind == IMPORTS:
        shown = _imports(data, look)
    elif look.kind == SYMBOL:
        shown = _defines(data, look)
    else:
        shown = _has(data, look.text)
    if shown:
        return Answer(YES)
    if shown is None or not content.complete:
        why = "cannot be read by this Python" if content.complete else "is too large to be read whole"
        return Answer(UNTOLD, f"{filename}: {look.member} {why}")
    return Answer(NO, f"{filename}: {look.member} {_denied(look)}")


def _has(data: bytes, pattern: str) -> bool:
    """Whether a regular expression is found, in bytes unless it is one for text alone."""
    try:
        compiled = re.compile(pattern.encode())
    except (re.error, ValueError):
        return re.search(pattern, data.decode("utf-8", "replace")) is not None
    return compiled.search(data) is not None


def _imports(source: bytes, look: Look) -> bool | None:
    path = look.member.removesuffix(".py")
    is_package = path.endswith("/__init__")
    module = path.removesuffix("/__init__").replace("/", ".")
    summary = summarise(source, module, is_package=is_package)
    if summary == NO_SUMMARY:
        return None
    target, _, names = look.text.partition(":")
    found = {(one.module, one.name) for one in summary.imports}
    wanted = [name.strip() for name in names.split(",")] if names else [""]
    return all((target, name) in found for name in wanted)


def _defines(source: bytes, look: Look) -> bool | None:
    """Whether a module, or a class or function in it, binds a name, or a lazy loader's tables have it."""
    if not look.member.endswith((".py", ".pyi")):
        return re.search(rb"(?<!\w)" + re.escape(look.text.encode()) + rb"(?!\w)", source) is not None
    try:
        tree = parse_source(source)
    except NOT_UNDERSTOOD:
        return None
    is_package = look.member.rpartition("/")[2].startswith("__init__.")
    return any(_binds(node, look.text, is_package=is_package) for node in ast.walk(tree))


def _binds(node: ast.AST, name: str, *, is_package: bool) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == name
    if isinstance(node, ast.Name):
        return node.id == name and isinstance(node.ctx, ast.Store)
    if isinstance(node, ast.alias):
        return (node.asname or node.name) == name
    return is_package and isinstance(node, ast.Constant) and node.value == name


def _declares(metadata: bytes, look: Look, filename: str) -> Answer:
    """Whether core metadata have a Requires-Dist line, however it is written."""
    wanted = requirement(look.text)
    if wanted is None:
        return Answer(UNTOLD, f"`{look.text}` is no requirement")
    head = metadata.decode("utf-8", "replace").replace("\r\n", "\n").partition("\n\n")[0]
    lines = [line.partition(":")[2].strip() for line in head.splitlines() if _IS_NEED.match(line)]
    of_name = []
    for line in lines:
        found = requirement(line)
        if found is not None and normalise(found.name) == normalise(wanted.name):
            if _alike(found, wanted):
                return Answer(YES)
            of_name.append(line)
    is_sure = filename.endswith(".whl") or (_IS_STATIC.search(head) and not _IS_DYNAMIC.search(head))
    if not is_sure:
        return Answer(UNTOLD, f"{filename} need not declare all that its wheels do")
    declared = "; ".join(f"`{line}`" for line in of_name[:_SHOWN]) or f"nothing of {wanted.name}"
    return Answer(NO, f"{filename} declares {declared}, not `{look.text}`")


_IS_NEED = re.compile(r"requires-dist\s*:", re.IGNORECASE)


def requirement(text: str) -> Requirement | None:
    """A Requires-Dist line parsed (PEP 508), None when it is invalid."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


def _alike(one: Requirement, other: Requirement) -> bool:
    extras = ({normalise(extra) for extra in each.extras} for each in (one, other))
    return (
        len({frozenset(each) for each in extras}) == 1
        and one.specifier == other.specifier
        and one.marker == other.marker
    )
