"""Credentials: where they are from, where they go, and that they show nowhere."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import stat
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from compatlock.errors import IndexUnavailable
from compatlock.index import transport
from compatlock.index.client import IndexClient
from compatlock.index.credentials import Credentials, Netrc
from compatlock.index.keyring import ask_keyring
from compatlock.model.index import parse_index
from compatlock.model.listing import Listing
from compatlock.model.secret import Secret
from tests.support.index_server import IndexServer

LOGIN = "user:hunter2"
BASIC = "Basic dXNlcjpodW50ZXIy"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, a PATH without a keyring, and no waiting."""
    monkeypatch.setattr(transport, "_BACK_OFF", 0.001)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("NETRC", raising=False)
    monkeypatch.setitem(sys.modules, "keyring", None)
    monkeypatch.delitem(sys.modules, "keyring")
    return tmp_path


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with IndexServer(login=LOGIN) as running:
        running.add("app", "1.0", requires=["lib"])
        yield running


def read(url: str) -> list[str]:
    """The requirements of the only release."""

    async def main() -> list[str]:
        client = IndexClient(url)
        try:
            listing, _ = await client.listing("app")
            assert listing is not None
            return list((await client.metadata("app", listing.releases[0].files[0])).requires_dist)
        finally:
            await client.aclose()

    return asyncio.run(main())


def refusal(url: str) -> IndexUnavailable:
    with pytest.raises(IndexUnavailable) as caught:
        read(url)
    assert "hunter2" not in f"{caught.value.message}{caught.value.hints}"
    return caught.value


def with_login(server: IndexServer, login: str) -> str:
    return server.url.replace("://", f"://{login}@")


def sent(server: IndexServer) -> list[str | None]:
    return [one.headers.get("authorization") for one in server.requests]


# URL


def test_those_of_the_url_are_sent_at_once(server: IndexServer) -> None:
    assert read(with_login(server, LOGIN)) == ["lib"]
    assert sent(server) == [BASIC, BASIC]


@pytest.mark.parametrize(
    ("login", "expected"),
    [("p%40ss:w%3Ard", "p@ss:w:rd"), ("token", "token:"), (":secret", ":secret"), ("%C3%A9:x", "\xe9:x")],
)
def test_they_are_decoded(server: IndexServer, login: str, expected: str) -> None:
    server.login = expected
    assert read(with_login(server, login)) == ["lib"]


def test_wrong_ones_are_refused(server: IndexServer) -> None:
    error = refusal(with_login(server, "user:hunter22"))
    assert error.hints == ("the server refused the credentials given for this index: check them",)
    assert error.message == f"`{server.url}app/`: asked for the files of `app`, the server answered 401"


def test_without_any_it_is_said_where_to_give_them(server: IndexServer) -> None:
    hint = refusal(server.url).hints[0]
    assert all(word in hint for word in ("index URL", "netrc", "keyring"))
    assert server.count() == 1


def test_files_elsewhere_get_none(server: IndexServer) -> None:
    with IndexServer(login="other:pw") as other:
        server.edit("app-1.0-py3-none-any.whl", url=f"{other.root}/files/app-1.0-py3-none-any.whl")
        error = refusal(with_login(server, LOGIN))
        assert set(sent(other)) == {None}
        assert "netrc" in error.hints[0]
        assert other.root in error.message


# netrc


def netrc_for(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o600)


@pytest.mark.parametrize("name", [".netrc", "_netrc", "elsewhere"])
def test_netrc(server: IndexServer, home: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc_for(home / name, "machine 127.0.0.1 login user password hunter2\n")
    if name == "elsewhere":
        monkeypatch.setenv("NETRC", str(home / name))
        netrc_for(home / ".netrc", "machine 127.0.0.1 login user password wrong\n")
    assert read(server.url) == ["lib"]
    assert sent(server) == [BASIC, BASIC]


@pytest.mark.parametrize(
    ("text", "url_login", "expected"),
    [
        ("default login user password hunter2", "", BASIC),
        ("machine other.example login user password x", "", None),
        ("machine 127.0.0.1 login user password x", LOGIN, BASIC),
        ("machine 127.0.0.1 login user password hunter2", "user", BASIC),
        ("machine 127.0.0.1 login other password x", "user:", "Basic dXNlcjo="),
    ],
)
def test_the_url_goes_before_netrc(home: Path, text: str, url_login: str, expected: str | None) -> None:
    netrc_for(home / ".netrc", text + "\n")
    url = "http://127.0.0.1/simple/"
    index = parse_index(url.replace("://", f"://{url_login}@") if url_login else url)
    header = Credentials(index).header(url + "app/")
    assert (header.reveal() if header is not None else None) == expected


@pytest.mark.parametrize(
    ("url", "gets"),
    [
        ("https://index.example/files/a.whl", True),
        ("https://index.example:8443/files/a.whl", True),
        ("http://index.example/files/a.whl", False),
        ("https://files.example/a.whl", True),
        ("http://files.example/a.whl", False),
        ("https://other.example/a.whl", False),
        ("https://[broken/a.whl", False),
    ],
)
def test_netrc_is_for_its_hosts_and_not_in_the_clear(home: Path, url: str, gets: bool) -> None:
    entries = "".join(f"machine {host}.example login u password p\n" for host in ("index", "files"))
    netrc_for(home / ".netrc", entries + "default login d password d\n")
    credentials = Credentials(parse_index("https://index.example/simple/"))
    assert (credentials.header(url) is not None) == gets


def test_a_broken_netrc_is_told_of_when_it_matters(server: IndexServer, home: Path) -> None:
    netrc_for(home / ".netrc", "machine 127.0.0.1\n login user password hunter2 hunter2-again\n")
    hint = refusal(server.url).hints[0]
    assert re.search(r"\.netrc cannot be used: it is not understood near line [23]\Z", hint)
    assert "hunter2" not in hint
    (home / ".netrc").unlink()
    (home / ".netrc").mkdir()
    assert ".netrc cannot be used" in refusal(server.url).hints[0]


def test_netrc_is_read_once(home: Path) -> None:
    netrc = Netrc()
    assert netrc.find("a.example", default=True) is None
    netrc_for(home / ".netrc", "default login u password p\n")
    assert netrc.find("a.example", default=True) is None
    assert netrc.problem == ""


# Keyring


def command(home: Path, script: str) -> None:
    path = home / "bin" / "keyring"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{sys.executable}\nimport sys, json\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


ECHO = """
import os
with open(os.path.join(os.environ["HOME"], "asked"), "a") as log:
    log.write(json.dumps(sys.argv[1:]) + chr(10))
"""

posix = pytest.mark.skipif(os.name == "nt", reason="the made-up command is a script")


def asked(home: Path) -> list[list[str]]:
    return [json.loads(line) for line in (home / "asked").read_text().splitlines()]


@posix
def test_the_command_is_asked_after_a_refusal_and_once(server: IndexServer, home: Path) -> None:
    command(home, ECHO + "print('user'); print('hunter2')")
    for number in range(5):
        server.add(f"app{number}", "1.0")

    async def main() -> list[Listing | None]:
        client = IndexClient(server.url)
        answers = await asyncio.gather(*(client.listing(f"app{number}") for number in range(5)))
        await client.aclose()
        return [listing for listing, _ in answers]

    assert all(listing is not None and listing.found for listing in asyncio.run(main()))
    assert asked(home) == [["--mode", "creds", "get", server.url]]
    assert sent(server).count(None) == sent(server).count(BASIC) == 5


@posix
def test_the_command_is_given_the_user(server: IndexServer, home: Path) -> None:
    host = server.root.partition("://")[2]
    command(home, ECHO + f"print('hunter2') if sys.argv[2] == {host!r} else sys.exit(1)")
    assert read(with_login(server, "user")) == ["lib"]
    services = [server.url, server.url.rstrip("/"), host]
    assert asked(home) == [["get", service, "user"] for service in services]


@posix
def test_the_keyring_replaces_a_password_that_is_refused(server: IndexServer, home: Path) -> None:
    command(home, "print('hunter2')")
    assert read(with_login(server, "user:old")) == ["lib"]


@posix
@pytest.mark.parametrize(
    "script",
    [
        "sys.exit(1)",
        "print()",
        "print('user')",
        "sys.stdout.buffer.write(b'\\xff\\n\\xff')",
        "print('a\\nb\\nc')",
    ],
)
def test_a_keyring_that_does_not_help(server: IndexServer, home: Path, script: str) -> None:
    command(home, ECHO + script)
    assert "answered 401" in refusal(server.url).message
    assert server.count() == 1
    assert len(asked(home)) == 3


@posix
def test_no_keyring_is_asked_unless_it_is_needed(server: IndexServer, home: Path) -> None:
    command(home, ECHO + "print('user'); print('hunter2')")
    assert read(with_login(server, LOGIN)) == ["lib"]
    with IndexServer(side_files="none") as free:
        free.add("app", "1.0", requires=["lib"])
        free.fail(".metadata", status=403)
        assert read(free.url) == ["lib"]
        free.edit("app-1.0-py3-none-any.whl", url=f"{server.root}/files/app-1.0-py3-none-any.whl")
        refusal(free.url)
    assert not (home / "asked").exists()


class Kept:
    def __init__(self, username: str | None, password: str | None) -> None:
        self.username = username
        self.password = password


def library(monkeypatch: pytest.MonkeyPatch, get: Callable[[str, str | None], Kept | None]) -> None:
    module = types.ModuleType("keyring")
    module.__spec__ = __import__("importlib.machinery").machinery.ModuleSpec("keyring", None)
    module.get_credential = get  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)


def test_the_library_is_preferred(server: IndexServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command(home, ECHO)
    seen = []

    def get(service: str, user: str | None) -> Kept | None:
        seen.append((service, user))
        return Kept("user", "hunter2") if len(seen) == 2 else None

    library(monkeypatch, get)
    assert read(server.url) == ["lib"]
    assert seen == [(server.url, None), (server.url.rstrip("/"), None)]
    assert not (home / "asked").exists()


def test_a_broken_library_is_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def get(*_: str | None) -> Kept | None:
        raise RuntimeError("no back end: hunter2")

    library(monkeypatch, get)
    assert ask_keyring(["a", "b"], None) is None
    library(monkeypatch, lambda *_: Kept("u", None))
    assert ask_keyring(["a"], None) is None
    library(monkeypatch, lambda *_: Kept(None, "p"))
    assert ask_keyring(["a"], None) == ("", Secret("p"))


def test_credentials_of_the_keyring_stay_with_the_index() -> None:
    def keyring(_services: Iterable[str], _user: str | None) -> tuple[str, Secret] | None:
        return "user", Secret("hunter2")

    async def main() -> None:
        credentials = Credentials(parse_index("https://index.example/simple/"), keyring=keyring)
        assert not await credentials.challenged("https://other.example/", None)
        assert not await credentials.challenged("http://index.example/simple/", None)
        assert credentials.header("https://index.example/x") is None
        assert await credentials.challenged("https://index.example/simple/app/", None)
        header = credentials.header("https://index.example/x")
        assert header == Secret(BASIC)
        assert not await credentials.challenged("https://index.example/x", header)
        assert credentials.header("https://index.example:444/x") is None

    asyncio.run(main())


# Logs


def test_nothing_is_logged(server: IndexServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert read(with_login(server, LOGIN)) == ["lib"]
        from hpack import Encoder

        Encoder().encode([(b"authorization", BASIC.encode())])
    assert not [r for r in caplog.records if r.name.split(".")[0] in ("httpx", "httpcore", "hpack", "h2")]
    assert BASIC not in caplog.text
    assert "hunter2" not in caplog.text
