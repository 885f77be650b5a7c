"""The shipped facts and profiles as they are when parsed, so that reading them takes neither tomllib nor
pydantic: they are a tenth of a run with an empty cache otherwise.

    python -m compatlock.knowledge.compiled

makes `data/compiled/` again, after a change of what is shipped. What is out of date is not believed.
"""

from __future__ import annotations

import json
import os

from compatlock.knowledge.load import DATA
from compatlock.knowledge.memo import COMPILED, compiled_path, content_mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def compile_shipped(data: str) -> Iterator[tuple[str, str]]:
    """Parse all that is shipped in the folder `data`: the paths and texts of the compiled files."""
    from compatlock.knowledge.parse import parse_facts, parse_profile
    from compatlock.model.fact import SHIPPED_FACTS

    profiles = [f"profiles/{name}" for name in sorted(os.listdir(os.path.join(data, "profiles")))]
    for origin in (SHIPPED_FACTS, *profiles):
        with open(os.path.join(data, origin), "rb") as file:
            content = file.read()
        value: Any = (parse_facts if origin == SHIPPED_FACTS else parse_profile)(content, origin)
        rows = value if origin == SHIPPED_FACTS else [value]
        # A line each, so that changes can be read.
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        yield compiled_path(data, origin), f"[{json.dumps(content_mark(content))}, [\n{lines}\n]]\n"


if __name__ == "__main__":
    os.makedirs(os.path.join(DATA, COMPILED), exist_ok=True)
    for path, text in compile_shipped(DATA):
        with open(path, "w", encoding="ascii", newline="\n") as written:
            written.write(text)
