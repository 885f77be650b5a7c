"""Points in time as users write them."""

from __future__ import annotations

import pytest

from compatlock.api.times import format_time, parse_time
from compatlock.errors import InputError


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("2026-11-30T14:00:00Z", "2026-11-30T14:00:00Z"),
        ("2026-11-30t14:00:00z", "2026-11-30T14:00:00Z"),
        ("2026-11-30 14:00", "2026-11-30T14:00:00Z"),
        ("2026-11-30T14:00:00.75+02:00", "2026-11-30T12:00:00Z"),
        ("2026-11-30T23:30:00-0130", "2026-12-01T01:00:00Z"),
        ("2026-05-30", "2026-05-30T23:59:59Z"),  # a date stands for its end
        ("2024-02-29", "2024-02-29T23:59:59Z"),
    ],
)
def test_times(text: str, meaning: str) -> None:
    assert format_time(parse_time(text)) == meaning


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-02-30", "2026-13-01", "2026-11-30T25:00:00Z", "30.11.2026"]
)
def test_what_is_no_time_is_an_input_error_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match="is no point in time") as caught:
        parse_time(text)
    assert "2026-05-30" in caught.value.hints[0]
