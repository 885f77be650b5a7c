"""URLs without secrets."""

from __future__ import annotations

import pytest

from compatlock.model.display import public_url


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://index.example/files/a-1.0.tar.gz", "https://index.example/files/a-1.0.tar.gz"),
        ("https://me:secret@index.example:8443/a", "https://index.example:8443/a"),
        ("https://token@index.example", "https://index.example"),
        ("https://me:p@ss@index.example/a", "https://index.example/a"),
        ("https://index.example/a-1.whl?Signature=secret&x=1", "https://index.example/a-1.whl"),
        ("https://index.example/a-1.whl#sha256=00", "https://index.example/a-1.whl"),
        ("https://index.example/a-1.whl?s=@#x?y", "https://index.example/a-1.whl"),
        ("https://index.example/@scope/a.whl", "https://index.example/@scope/a.whl"),
        ("https://me:p/s@s@index.example/a", "https://index.example/a"),
        ("https://me:p?s#s@index.example/a?b", "https://index.example/a"),
        ("../files/a-1.whl#sha256=00", "../files/a-1.whl"),
        ("", ""),
    ],
)
def test_public_url(url: str, public: str) -> None:
    assert public_url(url) == public
