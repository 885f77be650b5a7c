from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compatlock.api.audit.bisect_releases import interval, specifier_of


@given(st.data())
def test_an_interval_is_found_with_few_questions(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 400))
    first = data.draw(st.integers(0, size - 1))
    last = data.draw(st.integers(first, size - 1))
    seen = data.draw(st.integers(first, last))
    asked: list[int] = []

    def shows(index: int) -> bool:
        assert 0 <= index < size
        asked.append(index)
        return first <= index <= last

    assert interval(size, seen, shows) == (first, last)
    assert len(asked) <= 4 * size.bit_length() + 2
    assert len(asked) == len(set(asked))


def test_a_release_that_stands_alone() -> None:
    assert interval(9, 4, lambda index: index == 4) == (4, 4)


def test_specifiers() -> None:
    versions = ["3.0", "2.0", "1.0"]
    assert specifier_of(versions, 1, 1) == "==2.0"
    assert specifier_of(versions, 0, 2) == ">=1.0,<=3.0"
