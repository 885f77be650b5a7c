"""Setuptools' requires.txt as Requires-Dist lines."""

from __future__ import annotations

from packaging.markers import default_environment
from packaging.requirements import Requirement

from compatlock.index.requires_txt import parse_requires_txt

TEXT = """
lib>=2
# a comment
old; python_version < "3" or sys_platform == "win32"
tool @ https://files.example/a;b.zip ; python_version > "3"

[:python_version < "3.8"]
backport

[Speed_Up]
fast[all]>=1

[tests:python_version < "3" or python_version >= "3.10"]
checker
"""


def test_sections_become_markers() -> None:
    lines, extras = parse_requires_txt(TEXT)
    assert lines == (
        "lib>=2",
        'old ; python_version < "3" or sys_platform == "win32"',
        'tool @ https://files.example/a;b.zip ; python_version > "3"',
        'backport ; python_version < "3.8"',
        'fast[all]>=1 ; extra == "speed-up"',
        'checker ; (python_version < "3" or python_version >= "3.10") and (extra == "tests")',
    )
    assert extras == ("Speed_Up", "tests")


def test_the_lines_mean_what_the_sections_meant() -> None:
    lines, _ = parse_requires_txt(TEXT)
    environment = {
        **{key: str(value) for key, value in default_environment().items()},
        "sys_platform": "linux",
    }
    environment |= {"python_version": "3.12"}

    def needed(extra: str) -> list[str]:
        parsed = map(Requirement, lines)
        return [
            one.name
            for one in parsed
            if one.marker is None or one.marker.evaluate({**environment, "extra": extra})
        ]

    assert needed("") == ["lib", "tool"]
    assert needed("speed-up") == ["lib", "tool", "fast"]
    assert needed("tests") == ["lib", "tool", "checker"]
