"""What nobody can use, in words."""

from __future__ import annotations

from compatlock.api.why.unusable import describe
from compatlock.model.unusable import Unusable


def test_files_with_one_reason_share_a_line() -> None:
    eggs = [Unusable("a", filename=f"a-{number}.egg", reason="eggs are not supported") for number in range(5)]
    assert list(describe(eggs)) == [
        "unusable: a-0.egg, a-1.egg, a-2.egg and 2 more of a: eggs are not supported",
    ]
    assert list(describe([*eggs[:1], Unusable("b", filename="b.egg", reason=eggs[0].reason)])) == [
        "unusable: a-0.egg of a: eggs are not supported",
        "unusable: b.egg of b: eggs are not supported",
    ]


def test_releases_have_a_line_each() -> None:
    given = [Unusable("a", version, reason="bad\nmetadata \x1b[31m") for version in ("2.0", "1.0")]
    assert list(describe(given)) == [
        "unusable: a 2.0: bad metadata \\x1b[31m",
        "unusable: a 1.0: bad metadata \\x1b[31m",
    ]


def test_an_entry_without_a_name() -> None:
    (line,) = describe([Unusable("a", reason="an entry without a file name")])
    assert line == "unusable: a file without a name of a: an entry without a file name"
