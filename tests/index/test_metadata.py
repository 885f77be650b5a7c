"""Core metadata: which fields are read, when an sdist's are trusted, and what is unusable."""

from __future__ import annotations

from email.parser import HeaderParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.index.metadata import _fields, parse_metadata
from compatlock.model.metadata import Metadata

TEXT = b"""Metadata-Version: 2.1
Name: app
Version: 1.0
Requires-Python: >=3.10
Requires-Dist: lib (>=2)
Requires-Dist: fast
 >=1 ;
\textra == "speed"
Provides-Extra: speed
Provides-Extra: Old_Name

Requires-Dist: not-a-header
"""


def test_dependency_fields_are_read() -> None:
    assert parse_metadata(TEXT, "wheel") == Metadata(
        ("lib (>=2)", 'fast >=1 ; extra == "speed"'), ("speed", "Old_Name"), ">=3.10", "wheel"
    )


@pytest.mark.parametrize("newline", [b"\r\n", b"\r"])
def test_line_ends_do_not_count(newline: bytes) -> None:
    assert parse_metadata(TEXT.replace(b"\n", newline), "wheel") == parse_metadata(TEXT, "wheel")


def test_leading_blank_lines_and_bad_bytes_do_no_harm() -> None:
    text = b"\n\n" + TEXT.replace(b"Version: 1.0", b"Version: 1.0\nAuthor: \xff\xe9")
    assert parse_metadata(text, "wheel").requires_dist[0] == "lib (>=2)"


def test_unknown_means_not_given() -> None:
    metadata = parse_metadata(b"Metadata-Version: 1.0\nName: app\nRequires-Python: UNKNOWN\n", "wheel")
    assert metadata == Metadata(source="wheel")


@pytest.mark.parametrize(
    ("version", "dynamic", "source"),
    [
        ("2.2", "", "sdist"),
        ("2.4", "Classifier", "sdist"),
        ("2.10", "", "sdist"),
        ("2.1", "", "sdist-unverified"),
        ("1.2", "", "sdist-unverified"),
        ("strange", "", "sdist-unverified"),
        ("2.2", "Requires-Dist", "sdist-unverified"),
        ("2.2", "requires-python", "sdist-unverified"),
        ("2.2", "Provides-Extra", "sdist-unverified"),
    ],
)
def test_which_sdists_are_trusted(version: str, dynamic: str, source: str) -> None:
    text = f"Metadata-Version: {version}\nName: app\n" + (f"Dynamic: {dynamic}\n" if dynamic else "")
    assert parse_metadata(text.encode(), "sdist").source == source
    assert parse_metadata(text.encode(), "wheel").source == "wheel"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "its metadata has neither Metadata-Version nor Name"),
        (b"<html>not found</html>", "its metadata has neither Metadata-Version nor Name"),
        (b"Metadata-Version: 3.0\nName: app", "its metadata version 3.0 is not understood (2.x is)"),
    ],
)
def test_unusable_metadata_has_a_problem(text: bytes, problem: str) -> None:
    assert parse_metadata(text, "wheel") == Metadata(source="wheel", problem=problem)


@given(st.binary(max_size=200))
def test_nothing_raises(noise: bytes) -> None:
    metadata = parse_metadata(b"Metadata-Version: 2.1\nRequires-Dist: " + noise, "wheel")
    assert metadata.source == "wheel"


HEADERS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "Name: app",
                "name:b  c ",
                "Requires-Dist: a>=1; extra == 'x: y'",
                " folded",
                "\tfolded",
                "From me",
                "From: me",
                ": nameless",
                "no header",
                "Summary:",
                "Author: M\xfcller \ud7ff\x85\u2028 x",
                "a b: c",
            ]
        ),
        st.text(st.sampled_from("ab: \t\r\x0b\x1c\xfc-"), max_size=8),
    ),
    max_size=6,
)


@given(HEADERS, st.sampled_from(["", "\n"]))
def test_headers_are_read_as_the_email_package_reads_them(lines: list[str], end: str) -> None:
    text = "\n".join(filter(None, lines)) + end
    expected: dict[str, list[list[str]]] = {}
    for name, value in HeaderParser().parsestr(text).items():
        expected.setdefault(name.lower(), []).append(str(value).split())
    found = _fields(text)
    assert {name: [value.split() for value in values] for name, values in found.items()} == expected
