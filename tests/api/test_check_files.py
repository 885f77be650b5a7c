"""What files that are not as recorded mean."""

from __future__ import annotations

import pytest

from compatlock.api.check.files import file_findings
from compatlock.environment.installed_files import CHANGED, GONE, MISRECORDED, SHARED, FileState
from compatlock.model.report import ERROR, FILES, WARNING

BOTH = ("one 1.0", "two 2.0")


@pytest.mark.parametrize(
    ("state", "severity", "text"),
    [
        (
            FileState("both/a.py", SHARED, BOTH, "two 2.0"),
            ERROR,
            "one 1.0 and two 2.0 install 1 file over each other with different content; what is there is of "
            "two 2.0 (both/a.py)",
        ),
        (
            FileState("both/data.json", SHARED, BOTH),
            ERROR,
            "one 1.0 and two 2.0 install 1 file over each other with different content; what is there is of "
            "neither (both/data.json)",
        ),
        (
            FileState("both/__init__.py", SHARED, BOTH, "two 2.0", is_namespace=True),
            WARNING,
            "one 1.0 and two 2.0 install 1 file over each other with different content; what is there is of "
            "two 2.0 (both/__init__.py)",
        ),
        (FileState("a/b.py", GONE, BOTH[:1]), ERROR, "1 file of one 1.0 is missing (a/b.py)"),
        (
            FileState("a/lib.so.1", CHANGED, BOTH[:1]),
            ERROR,
            "1 file of one 1.0 is not as it was installed (a/lib.so.1)",
        ),
        (FileState("a/tests/b.py", GONE, BOTH[:1]), WARNING, "1 file of one 1.0 is missing (a/tests/b.py)"),
        (
            FileState("a/ca.pem", CHANGED, BOTH[:1]),
            WARNING,
            "1 file of one 1.0 is not as it was installed (a/ca.pem)",
        ),
        (
            FileState("a/b.so", MISRECORDED, BOTH[:1]),
            WARNING,
            "1 file of one 1.0 is not as the wheel itself records it (a/b.so)",
        ),
        (FileState("LICENSE", SHARED, BOTH, "one 1.0"), WARNING, None),
    ],
)
def test_one_file(state: FileState, severity: str, text: str | None) -> None:
    (found,) = file_findings([state])
    assert (found.kind, found.severity, found.package, found.version) == (FILES, severity, "one", "1.0")
    assert text in (None, found.text)
    assert (found.on, found.found) == (("two", "2.0") if state.state == SHARED else ("", ""))
    assert bool(found.hints) is (severity == ERROR)


def test_files_of_the_same_packages_are_one_finding_that_names_what_matters() -> None:
    states = [
        FileState("LICENSE", SHARED, BOTH, "one 1.0"),
        FileState("x/a.py", SHARED, BOTH, "two 2.0"),
        FileState("x/b.py", SHARED, BOTH, "two 2.0"),
        FileState("a.txt", GONE, BOTH[:1]),
        FileState("z.py", GONE, BOTH[:1]),
    ]
    assert [found.text for found in file_findings(states)] == [
        "2 files of one 1.0 are missing (such as z.py)",
        "one 1.0 and two 2.0 install 3 files over each other with different content; what is there is of "
        "one 1.0 and two 2.0 (such as x/a.py)",
    ]
