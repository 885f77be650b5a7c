"""No text that is shown may carry a secret, and what is quoted stays on one printable line."""

from __future__ import annotations

import copy
import json
import pickle
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.model.display import excerpt, quote, redact, without_credentials
from compatlock.model.secret import Secret

URLS = [
    ("https://index.example/simple/", "https://index.example/simple/"),
    ("https://user:secret@index.example:8443/simple/", "https://****@index.example:8443/simple/"),
    ("https://secret@index.example/", "https://****@index.example/"),
    ("https://a:secret@c:secret@index.example/", "https://****@index.example/"),
    ("https://store.example/f.whl?signature=secret", "https://store.example/f.whl?****"),
    ("https://user:sec/ret@index.example/simple", "https://****@index.example/simple"),
    ("https://user:secret#@index.example/simple", "https://****@index.example/simple"),
    ("https://user:?secret@index.example/simple", "https://****@index.example/simple"),
    ("https://user:secret@[broken/", "https://****@[broken/"),
    ("https://[::1]:8080/a@1.0", "https://[::1]:8080/a@1.0"),
    ("git+ssh://git@host.example/repo@v1", "git+ssh://****@host.example/repo@v1"),
    ("HTTPS://user:secret@index.example", "HTTPS://****@index.example"),
    ("https://user:secret@https://user:secret@index.example/x", "https://****@https:index.example/x"),
    ("https://user:secret with secret blanks@index.example/x", "https://****@index.example/x"),
    ("https://user:sec ret/secret@index.example/x", "https://****@index.example/x"),
    ("://user:secret@index.example", "://****@index.example"),
    ("7z://user:secret@index.example", "7z://****@index.example"),
]


@pytest.mark.parametrize(("url", "shown"), URLS)
def test_urls_lose_their_secrets(url: str, shown: str) -> None:
    assert redact(url) == shown
    assert without_credentials(f"a @ {url} ; x") == f"a @ {shown} ; x"
    assert redact(shown) == shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://store.example/f.whl?signature=secret#x", "https://store.example/f.whl?****"),
        ("https://store.example/f.whl#sha256=1?x", "https://store.example/f.whl"),
        ("user:secret@index.example/simple", "****@index.example/simple"),
        ("secret@index.example/simple?token=secret", "****@index.example/simple"),
        ("simple", "simple"),
        ("https://user:secret", "https://****"),
        ("https://index.example:8080/simple", "https://index.example:8080/simple"),
    ],
)
def test_a_single_url_may_be_written_wrong(url: str, shown: str) -> None:
    assert redact(url) == shown


def test_what_follows_a_url_is_no_part_of_it() -> None:
    text = "`https://a.example/?q=secret`: https://b.example:80 and a@b, https://c.example and a@b"
    assert without_credentials(text) == text.replace("q=secret", "****")
    assert without_credentials(without_credentials(text)) == without_credentials(text)


def test_several_urls_in_a_text() -> None:
    text = "from https://u:secret@a.example/?q=secret#frag to http://secret@b.example"
    assert without_credentials(text) == "from https://****@a.example/?****#frag to http://****@b.example"


HOSTILE = st.text(alphabet="abc:/@?#[]%.1 \\'", max_size=12)


@given(st.text(alphabet="abc%.1", max_size=5), HOSTILE)
def test_a_user_part_never_shows(user: str, password: str) -> None:
    text = f"https://{user}:zz{password}@index.example/simple/"
    if " " not in text:
        assert "zz" not in redact(text)


def test_excerpts_are_short_and_printable() -> None:
    assert excerpt("a\n\x1b[31m b\u202e https://u:secret@h/") == "a \\x1b[31m b\\u202e https://****@h/"
    assert excerpt("x" * 200, 10) == "xxxxxxx..."


def test_a_secret_shows_nowhere() -> None:
    secret = Secret("hunter2")
    shown = [
        str(secret),
        repr(secret),
        f"{secret:>8}",
        f"{secret!r}",
        str([secret, {1: secret}]),
    ]
    assert not any("hunter2" in text for text in shown)
    assert shown[0] == "****"
    assert secret.reveal() == "hunter2"
    assert secret == Secret("hunter2") != Secret("other")
    assert len({secret, Secret("hunter2")}) == 1
    assert not Secret("")
    with pytest.raises(TypeError):
        json.dumps(secret)
    for write in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError):
            write(secret)


@given(st.text())
def test_words_are_quoted_as_the_standard_library_does(word: str) -> None:
    assert quote(word) == shlex.quote(word)
