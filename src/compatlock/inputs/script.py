"""Inline script metadata (PEP 723): the `script` block of a Python file, as a project of its own."""

from __future__ import annotations

import re

from compatlock.errors import InputError
from compatlock.inputs.pyproject_tables import choose
from compatlock.inputs.requirements_text import decode
from compatlock.model.toml import parse_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.inputs.pyproject import ProjectSelection
    from compatlock.inputs.pyproject_tables import Chosen

# As the standard has it, but that line ends are `\n` by now.
_BLOCK = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\n(?P<content>(?:^#(?:| .*)$\n)+)^# ///$")


def choose_script(content: bytes, path: str, selection: ProjectSelection) -> Chosen:
    """Return what the `script` block of the Python file `content` asks for.

    Raises InputError when there is no such block, or several, or when it is no TOML.
    """
    text = decode(content, path).replace("\r\n", "\n")
    blocks = [match for match in _BLOCK.finditer(text) if match["type"] == "script"]
    if not blocks:
        if path.endswith("setup.py"):
            hints = ["lock its pyproject.toml or setup.cfg, or list its requirements in a file"]
            raise InputError(f"{path}: a setup.py is a program: only running it would tell", hints=hints)
        hints = ["begin it with `# /// script`, `# dependencies = [...]` and `# ///` (PEP 723)"]
        raise InputError(f"{path}: the script does not say what it needs", hints=hints)
    lines = [text.count("\n", 0, match.start()) + 1 for match in blocks]
    if len(blocks) > 1:
        raise InputError(f"{path}:{lines[1]}: a second `script` block; the first is in line {lines[0]}")
    body = "".join(
        line[2:] if line.startswith("# ") else line[1:]
        for line in blocks[0]["content"].splitlines(keepends=True)
    )
    # The block is the [project] of a pyproject.toml; its header stands where the block begins.
    toml = "\n" * (lines[0] - 1) + f"[project]\n{body}"
    chosen = choose(parse_toml(toml, path), toml, selection)
    return chosen._replace(problems=tuple((n, t.removeprefix("project.")) for n, t in chosen.problems))
