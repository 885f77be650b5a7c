"""No URL in a message may carry a secret."""

from __future__ import annotations

import pytest

from compatlock.index.redact import redact


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://index.example/simple/", "https://index.example/simple/"),
        ("https://user:secret@index.example:8443/simple/", "https://****@index.example:8443/simple/"),
        ("https://token@index.example/", "https://****@index.example/"),
        ("https://a:b@c:d@index.example/", "https://****@index.example/"),
        ("https://store.example/f.whl?signature=secret#x", "https://store.example/f.whl?****"),
        ("https://user:secret@[broken/", "(an invalid URL)"),
    ],
)
def test_redact(url: str, shown: str) -> None:
    assert redact(url) == shown
