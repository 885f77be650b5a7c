"""Lines that compatlock wrote into a user's file."""

from __future__ import annotations

import pytest

from compatlock.errors import InputError
from compatlock.model.own_lines import MARK, blanked, has_own_lines, removed

TEXT = f"""\
[tool.uv]
mine = 1 # by compatlock and me
constraint-dependencies = [
    "a", # mine
    "b==1", {MARK}
    "c==1",   {MARK}\t
]

[[tool.uv.index]] {MARK}
url = "https://index.example/" {MARK}

# next
[tool.other]
x = 1
"""


def test_removing_and_blanking() -> None:
    kept = [line for line in TEXT.split("\n") if not line.rstrip().endswith(MARK)]
    # The empty line above a table goes with it.
    assert removed(TEXT, "p") == "\n".join(kept).replace("]\n\n\n#", "]\n\n#")
    blank = blanked(TEXT, "p").split("\n")
    assert len(blank) == len(TEXT.split("\n"))
    assert blank[4] == blank[5] == blank[8] == ""
    assert [line for line in blank if line] == [line for line in kept if line]
    assert has_own_lines(TEXT)
    assert not has_own_lines(removed(TEXT, "p"))
    assert not has_own_lines("x = 1 # by compatlock 2\n")


def test_the_line_ends_of_windows() -> None:
    text = TEXT.replace("\n", "\r\n")
    assert removed(text, "p") == removed(TEXT, "p").replace("\n", "\r\n")


def test_a_line_in_a_table_of_compatlock() -> None:
    text = TEXT.replace("\n# next", '\nauthenticate = "always"\n# next')
    for read in (removed, blanked):
        with pytest.raises(InputError, match=r"^p:12: this line is in a table that compatlock wrote"):
            read(text, "p")
