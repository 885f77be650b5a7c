"""Servers that fail: every fault is ridden out, or ends in an error that names the URL and what to do."""

from __future__ import annotations

import asyncio
import email.utils
import gzip
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx
import pytest

from compatlock.errors import IndexUnavailable, InputError
from compatlock.index import client as client_module
from compatlock.index import transport
from compatlock.index.client import IndexClient
from compatlock.index.reply import Reply
from compatlock.index.transport import Transport
from compatlock.model.listing import File
from compatlock.model.metadata import Metadata
from tests.support.index_server import IndexServer

T = TypeVar("T")
WHEEL = "app-1.0-py3-none-any.whl"
EXPECTED = Metadata(("lib",), (), "", "side-file")


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_BACK_OFF", 0.001)


def ask(url: str, question: Callable[[IndexClient], Awaitable[T]], timeout: float = 30.0) -> T:
    async def main() -> T:
        client = IndexClient(url, timeout=timeout)
        try:
            return await question(client)
        finally:
            await client.aclose()

    return asyncio.run(main())


async def first_metadata(client: IndexClient) -> Metadata:
    listing, _ = await client.listing("app")
    assert listing is not None
    return await client.metadata("app", listing.releases[0].files[0])


def failure(server: IndexServer, timeout: float = 30.0) -> IndexUnavailable:
    """The error of a run with a login in the URL, which must not show."""
    url = server.url.replace("://", "://user:hunter2@")
    with pytest.raises(IndexUnavailable) as caught:
        ask(url, first_metadata, timeout)
    assert caught.value.hints
    assert "hunter2" not in f"{caught.value.message} {caught.value.hints}"
    assert server.root in caught.value.message
    return caught.value


@pytest.fixture
def server() -> object:
    with IndexServer() as running:
        running.add("app", "1.0", requires=["lib"])
        yield running


# Forms of listings


@pytest.mark.parametrize("forms", ["json", "html"])
def test_an_index_with_one_form_only_will_do(server: IndexServer, forms: str) -> None:
    server.forms = forms  # type: ignore[assignment]
    assert ask(server.url, first_metadata) == EXPECTED


def test_json_is_preferred(server: IndexServer) -> None:
    async def sizes(client: IndexClient) -> list[int]:
        listing, _ = await client.listing("app")
        assert listing is not None
        return [file.size for release in listing.releases for file in release.files]

    assert ask(server.url, sizes) > [0]
    server.forms = "html"
    assert ask(server.url, sizes) == [0]


def test_a_page_to_log_in_is_refused(server: IndexServer) -> None:
    page = b'<html><form action="/login"><input name="password"></form></html>'
    server.replace("/simple/app/", page, times=1, headers={"Content-Type": "text/html"})
    assert "a page that is no list of files" in failure(server).message


def test_a_page_after_a_redirect_is_named(server: IndexServer) -> None:
    with IndexServer() as portal:
        portal.replace("hunter2", b"<html><form></form></html>", headers={"Content-Type": "text/html"})
        server.redirect("/simple/app/", f"{portal.root}/login?next=hunter2")
        with pytest.raises(IndexUnavailable) as caught:
            ask(server.url, first_metadata)
        assert f"`{portal.root}/login?****` should list the files of `app`" in caught.value.message


def test_an_answer_about_another_project_is_refused(server: IndexServer) -> None:
    server.replace("/simple/app/", b'{"name": "other", "files": []}')
    assert "answered with those of `other`" in failure(server).message


def test_a_quarantined_project_has_no_releases(server: IndexServer) -> None:
    server.status["app"] = "quarantined"
    listing, _ = ask(server.url, lambda client: client.listing("app"))
    assert listing is not None
    assert (listing.found, listing.releases, listing.status) == (True, (), "quarantined")
    assert "quarantine" in listing.skipped[0].reason


# Conditional requests


@pytest.mark.parametrize(("etags", "modified"), [(True, False), (False, True), (True, True)])
def test_an_unchanged_listing_is_not_sent_again(server: IndexServer, etags: bool, modified: bool) -> None:
    server.etags, server.modified = etags, modified
    _, validator = ask(server.url, lambda client: client.listing("app"))
    assert validator
    assert ask(server.url, lambda client: client.listing("app", validator)) == (None, validator)
    sent = server.requests[-1].headers
    assert ("if-none-match" in sent, "if-modified-since" in sent) == (etags, not etags)


def test_without_a_validator_everything_is_sent(server: IndexServer) -> None:
    server.etags = False
    assert ask(server.url, lambda client: client.listing("app"))[1] == ""


# Redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(server: IndexServer, status: int) -> None:
    with IndexServer() as other:
        other.add("app", "1.0", requires=["lib"])
        server.redirect("/simple/app/", "/moved/app/", status=status)
        server.redirect("/moved/app/", f"{other.url}app/", status=status)
        assert ask(server.url, first_metadata) == EXPECTED
        # What is relative in the answer is so to where it came from.
        assert other.count(".metadata") == 1


def test_ranges_survive_redirects() -> None:
    with IndexServer(side_files="none") as server:
        server.add("app", "1.0", requires=["lib"], files={"app.bin": bytes(range(256)) * 4096})
        server.files["/elsewhere.whl"] = server.files[f"/files/{WHEEL}"]
        server.redirect(WHEEL, "/elsewhere.whl", times=9)
        assert ask(server.url, first_metadata).requires_dist == ("lib",)
        moved = [seen for seen in server.requests if seen.path == "/elsewhere.whl"]
        assert moved
        assert all(seen.range for seen in moved)


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ("/simple/app/", "in a circle"),
        ("file:///etc/passwd", "which is no address of the web"),
        ("ftp://files.example/", "which is no address of the web"),
        ("https://[broken/", "which is no address of the web"),
    ],
)
def test_redirects_that_lead_nowhere(server: IndexServer, to: str, why: str) -> None:
    server.redirect("/simple/app/", to, times=99)
    assert why in failure(server).message
    assert server.count() <= transport.MAX_REDIRECTS + 1


def test_ever_new_redirects_end(server: IndexServer) -> None:
    for number in range(20):
        server.redirect("/simple/app/" if not number else f"/r/{number}", f"/r/{number + 1}")
    assert "after 10 other redirects" in failure(server).message


def test_a_redirect_to_nowhere_in_particular_is_a_refusal(server: IndexServer) -> None:
    server.fail("/simple/app/", status=302)
    assert "answered 302" in failure(server).message


def test_credentials_do_not_follow_redirects(server: IndexServer) -> None:
    with IndexServer() as other:
        other.add("app", "1.0", requires=["lib"])
        server.redirect("/simple/app/", f"{other.root.replace('://', '://a:b@')}/simple/app/")
        assert ask(server.url.replace("://", "://user:pw@"), first_metadata) == EXPECTED
        assert "authorization" in server.requests[0].headers
        assert [one.headers.get("authorization") for one in other.requests] == [None, None]


# Failures that pass, or do not


@pytest.mark.parametrize("kind", ["truncate", "reset"])
@pytest.mark.parametrize("path", ["/simple/app/", ".metadata"])
def test_broken_connections_are_tried_again(server: IndexServer, path: str, kind: str) -> None:
    server.disturb(path, kind, times=2)  # type: ignore[arg-type]
    assert ask(server.url, first_metadata) == EXPECTED
    server.disturb(path, kind, times=3)  # type: ignore[arg-type]
    assert "could not be read" in failure(server).message


@pytest.mark.parametrize("forms", ["json", "html"])
def test_an_answer_that_ends_early_without_having_told_its_length(server: IndexServer, forms: str) -> None:
    server.forms = forms  # type: ignore[assignment]
    server.disturb("/simple/app/", "cut", times=2)
    assert ask(server.url, first_metadata) == EXPECTED
    server.disturb("/simple/app/", "cut", times=3)
    assert "the answer was cut off" in failure(server).message


def test_a_connection_that_is_not_there() -> None:
    with IndexServer() as server:
        pass
    failure(server)


def test_a_body_that_is_not_as_encoded_as_it_says(server: IndexServer) -> None:
    body = gzip.compress(server.listing("app") or b"")
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    server.replace("/simple/app/", body, headers=headers)
    assert ask(server.url, first_metadata) == EXPECTED
    server.replace("/simple/app/", b"nonsense", headers=headers, times=3)
    failure(server)


def test_a_server_that_does_not_answer(server: IndexServer) -> None:
    server.disturb("/simple/app/", "stall", seconds=0.5, times=3)
    began = time.monotonic()
    assert "the server did not answer in time" in failure(server, timeout=0.05).message
    assert time.monotonic() - began < 2


def test_a_server_that_drips(server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_TOTAL", 0.3)
    server.disturb("/simple/app/", "drip", seconds=0.05, times=3)
    began = time.monotonic()
    assert "the answer had not ended after 0 seconds" in failure(server).message
    assert time.monotonic() - began < 2
    assert server.count() == 1


def test_a_slow_server_is_waited_for(server: IndexServer) -> None:
    server.disturb("/simple/app/", "stall", seconds=0.2)
    assert ask(server.url, first_metadata, timeout=2) == EXPECTED
    assert server.count("/simple/app/") == 1


@pytest.mark.parametrize("path", ["/simple/app/", ".metadata"])
def test_a_boundless_answer_is_refused(
    server: IndexServer, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "MAX_LISTING", 2**20)
    monkeypatch.setattr(client_module, "MAX_METADATA", 2**20)
    server.replace(path, b" " * (2**20 + 1))
    if path == ".metadata":
        assert "more than 1048576 bytes" in ask(server.url, first_metadata).problem
    else:
        assert "answered with more than 1 MB for the files of `app`" in failure(server).message


def test_a_bomb_is_not_unpacked(server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_LISTING", 2**20)
    bomb = gzip.compress(b" " * 2**27)
    server.replace("/simple/app/", bomb, headers={"Content-Encoding": "gzip", "Content-Type": "text/html"})
    assert "answered with more than" in failure(server).message


# When servers say when


class Clock:
    """Takes the place of sleeping, and of the event loop's clock while asleep."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waits: list[float] = []
        monkeypatch.setattr(transport, "_sleep", self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(round(seconds, 1))


def test_retry_after_is_honoured(server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    server.fail("/simple/app/", status=429, headers={"Retry-After": "3"}, times=5)
    server.fail("/simple/app/", status=503, headers={"Retry-After": "7"}, times=2)
    ask(server.url, lambda client: client.listing("app"))
    assert clock.waits == [3.0] * 5 + [7.0] * 2


def test_retry_after_may_be_a_date(server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    date = email.utils.formatdate(time.time() + 20, usegmt=True)
    server.fail("/simple/app/", status=429, headers={"Retry-After": date})
    ask(server.url, lambda client: client.listing("app"))
    assert len(clock.waits) == 1
    assert 17 < clock.waits[0] <= 20


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("", 0), ("12", 12), ("-1", 0), ("soon", 0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("9" * 50, 10**8)],
)
def test_retry_after(text: str, seconds: float) -> None:
    assert Reply(429, {"retry-after": text}, b"", "").retry_after == seconds


def test_a_server_that_wants_to_be_left_alone_for_long_is_left_alone(
    server: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    server.fail("/simple/app/", status=429, headers={"Retry-After": "3600"}, times=9)
    error = failure(server)
    assert "the server answered 429 and asks to wait for 3600 seconds" in error.message
    assert (server.count(), clock.waits) == (1, [])


def test_a_server_is_not_asked_for_ever(server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    server.fail("/simple/app/", status=429, headers={"Retry-After": "10"}, times=99)
    assert "asks to wait" in failure(server).message
    assert clock.waits == [10.0] * 6


def test_all_requests_wait_for_a_busy_server(server: IndexServer) -> None:
    for number in range(5):
        server.add(f"app{number}", "1.0")
    server.fail("/simple/app/", status=429, headers={"Retry-After": "1"})

    async def main(client: IndexClient) -> float:
        busy = asyncio.ensure_future(client.listing("app"))
        while not server.count("/simple/app/"):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await asyncio.gather(busy, *(client.listing(f"app{number}") for number in range(5)))
        return time.monotonic() - began

    assert 0.5 < ask(server.url, main) < 3
    assert server.count() == 7


# Refusals


@pytest.mark.parametrize("status", [404, 410])
def test_an_unknown_project_is_not_found(server: IndexServer, status: int) -> None:
    server.fail("/simple/other/", status=status)
    listing, validator = ask(server.url, lambda client: client.listing("other"))
    assert listing is not None
    assert (listing.found, validator) == (False, "")


def test_a_refusal_of_an_unadvertised_metadata_file_is_none_of_the_wheel() -> None:
    for status in (400, 401, 403, 404, 405, 410):
        with IndexServer(side_files="none") as server:
            server.add("app", "1.0", requires=["lib"])
            server.fail(".metadata", status=status)
            assert ask(server.url, first_metadata) == EXPECTED._replace(source="wheel")


@pytest.mark.parametrize("status", [400, 401])
def test_a_refusal_of_an_advertised_metadata_file_is_an_error(server: IndexServer, status: int) -> None:
    server.fail(".metadata", status=status)
    assert f"answered {status}" in failure(server).message


@pytest.mark.parametrize("query", ["", "?signature=hunter2"])
def test_the_metadata_file_is_beside_the_wheel_whatever_the_query(server: IndexServer, query: str) -> None:
    path = f"/files/{WHEEL}"
    server.files[f"{path}.metadata{query}"] = server.files[f"{path}.metadata"]
    file = File(WHEEL, f"{server.root}{path}{query}", metadata="?")
    assert ask(server.url, lambda client: client.metadata("app", file)) == EXPECTED
    server.fail(query, status=400, times=9)
    with pytest.raises(IndexUnavailable) as caught:
        ask(server.url, lambda client: client.metadata("app", file))
    assert "hunter2" not in caught.value.message


@pytest.mark.parametrize("url", ["http://[broken/a.whl", "http://host:port/a.whl", "http://\u2100/a.whl"])
def test_a_file_with_an_impossible_url_is_an_error(server: IndexServer, url: str) -> None:
    with pytest.raises(IndexUnavailable, match="could not be read"):
        ask(server.url, lambda client: client.metadata("app", File("a-1.0-py3-none-any.whl", url)))


# 403 for what does not exist


def test_storage_that_forbids_what_it_does_not_have(server: IndexServer) -> None:
    server.add_project("forbidden")
    server.fail("/simple/other/", status=403, times=2)
    server.fail("/simple/forbidden/", status=403)

    async def main(client: IndexClient) -> None:
        for _ in range(2):
            listing, _ = await client.listing("Other")
            assert listing is not None
            assert not listing.found
        with pytest.raises(IndexUnavailable, match="answered 403"):
            await client.listing("forbidden")

    ask(server.url, main)
    assert server.count("/simple/") == 1


def test_who_has_credentials_is_told_of_a_refusal(server: IndexServer) -> None:
    server.fail("/simple/other/", status=403)
    with pytest.raises(IndexUnavailable, match="answered 403") as caught:
        ask(server.url.replace("://", "://u:p@"), lambda client: client.listing("other"))
    assert "refused the credentials" in caught.value.hints[0]


@pytest.mark.parametrize(
    "root",
    [b"", b"[]", b'{"projects": [3]}', b'<html><form></form><a href="login/">x</a></html>', b"<html></html>"],
)
def test_a_root_page_that_names_no_projects_proves_nothing(server: IndexServer, root: bytes) -> None:
    server.fail("/simple/other/", status=403)
    server.replace("/simple/", root)
    with pytest.raises(IndexUnavailable, match="answered 403"):
        ask(server.url, lambda client: client.listing("other"))


def test_the_root_page_may_be_json(server: IndexServer) -> None:
    server.fail("/simple/other/", status=403)
    server.replace("/simple/", b'{"meta": {"api-version": "1.0"}, "projects": [{"name": "App"}]}')
    listing, _ = ask(server.url, lambda client: client.listing("other"))
    assert listing is not None
    assert not listing.found


# Proxies


@pytest.mark.parametrize(
    "proxy", ["nonsense://user:hunter2@proxy.example", "http://user:hunter2@proxy.example:x"]
)
def test_a_proxy_that_cannot_be_used(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(InputError) as caught:
        Transport()
    assert "hunter2" not in caught.value.message
    assert "ALL_PROXY" in caught.value.hints[0]


def test_no_error_of_httpx_is_let_through(server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (
        httpx.LocalProtocolError("x"),
        httpx.ReadError(""),
        httpx.TooManyRedirects("y"),
        ValueError("z"),
    ):

        async def fail(*_: object, error: Exception = error, **__: object) -> httpx.Response:
            raise error

        monkeypatch.setattr(httpx.AsyncClient, "send", fail)
        failure(server)
