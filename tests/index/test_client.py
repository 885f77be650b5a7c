"""The client against a real server on the loopback interface: sources, caching, faults and messages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from compatlock.errors import IndexUnavailable, InputError
from compatlock.index import transport
from compatlock.index.client import IndexClient
from compatlock.index.progress import Progress
from compatlock.model.listing import File
from compatlock.model.metadata import Metadata
from tests.support.artifacts import build_sdist, core_metadata
from tests.support.index_server import IndexServer, Ranges, SideFiles

T = TypeVar("T")
WHEEL = "app-1.0-py3-none-any.whl"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_BACK_OFF", 0.001)


def ask(url: str, question: Callable[[IndexClient], Awaitable[T]], **options: int) -> T:
    async def main() -> T:
        client = IndexClient(url, **options)  # type: ignore[arg-type]
        try:
            return await question(client)
        finally:
            await client.aclose()

    return asyncio.run(main())


async def all_files(client: IndexClient, project: str = "app") -> list[File]:
    listing, _ = await client.listing(project)
    assert listing is not None
    return [file for release in listing.releases for file in release.files]


async def first_metadata(client: IndexClient) -> Metadata:
    files = await all_files(client)
    return await client.metadata("app", files[0])


# Listings


def test_a_listing_says_all_that_the_index_says() -> None:
    with IndexServer() as server:
        time = "2026-01-01T00:00:00.5Z"
        server.add("My.App", "1.0", requires_python=">=3.9", upload_time=time, yanked="bad", sdist=True)
        server.add("my-app", "2.0")
        listing, etag = ask(server.url, lambda client: client.listing("my_app"))
    assert listing is not None
    assert [release.version for release in listing.releases] == ["2.0", "1.0"]
    wheel, sdist = listing.releases[1].files
    assert wheel.url == f"{server.root}/files/my_app-1.0-py3-none-any.whl"
    assert (wheel.requires_python, wheel.upload_time, wheel.yanked) == (">=3.9", 1767225600, "bad")
    assert len(wheel.sha256) == len(wheel.metadata) == 64
    assert (sdist.filename, sdist.is_wheel, sdist.metadata) == ("my_app-1.0.tar.gz", False, "")
    assert etag
    assert server.requests[0].path == "/simple/my-app/"
    assert server.requests[0].headers["accept"] == (
        "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"
    )


def test_an_unchanged_listing_is_not_sent_again() -> None:
    with IndexServer() as server:
        server.add("app", "1.0")
        _, etag = ask(server.url, lambda client: client.listing("app"))
        assert ask(server.url, lambda client: client.listing("app", etag)) == (None, etag)
        server.add("app", "2.0")
        changed, later = ask(server.url, lambda client: client.listing("app", etag))
    assert changed is not None
    assert changed.releases[0].version == "2.0"
    assert later != etag


def test_an_unknown_project_is_not_found() -> None:
    with IndexServer() as server:
        listing, etag = ask(server.url, lambda client: client.listing("No.Such"))
    assert listing is not None
    assert (listing.project, listing.found, listing.releases, listing.digest, etag) == (
        "no-such",
        False,
        (),
        "absent",
        "",
    )


# Sources of metadata


@pytest.mark.parametrize("side_files", ["advertised", "unadvertised", "none"])
@pytest.mark.parametrize("ranges", ["full", "no-suffix", "none"])
@pytest.mark.parametrize("sized", [True, False])
def test_metadata_of_a_wheel(side_files: SideFiles, ranges: Ranges, sized: bool) -> None:
    with IndexServer(side_files=side_files, ranges=ranges) as server:
        server.add("app", "1.0", requires=["lib>=2"], extras={"fast": ["speed"]}, requires_python=">=3.9")
        if not sized:
            server.edit(WHEEL, size=None)
        metadata = ask(server.url, first_metadata)
    source = "wheel" if side_files == "none" else "side-file"
    assert metadata == Metadata(("lib>=2", 'speed ; extra == "fast"'), ("fast",), ">=3.9", source)
    asked = [(one.method, one.path.removeprefix("/files/")) for one in server.requests[1:]]
    assert ("GET", f"{WHEEL}.metadata") in asked
    if side_files == "advertised":
        assert len(asked) == 1
    elif side_files == "none":
        assert any(path == WHEEL for _, path in asked)
    # Beside a side file that nobody promised, the wheel may have been asked for at once.


def test_metadata_of_an_sdist() -> None:
    with IndexServer() as server:
        server.add("app", "1.0", requires=["lib"], tags=(), sdist=True, metadata_version="2.2")
        server.add("app", "2.0", requires=["lib"], tags=(), sdist=True, metadata_version="2.1")

        async def both(client: IndexClient) -> list[Metadata]:
            return [await client.metadata("app", file) for file in await all_files(client)]

        assert ask(server.url, both) == [
            Metadata(("lib",), (), "", "sdist-unverified"),
            Metadata(("lib",), (), "", "sdist"),
        ]
    assert server.count(".metadata") == 0


def test_an_advertised_metadata_file_of_an_sdist_is_used() -> None:
    metadata = core_metadata("app", "1.0", requires=["lib"], metadata_version="2.2")
    with IndexServer() as server:
        server.add_file("app", "app-1.0.tar.gz", build_sdist("app", "1.0", metadata), metadata=metadata)
        assert ask(server.url, first_metadata) == Metadata(("lib",), (), "", "sdist")
    assert server.count("app-1.0.tar.gz") == 0


def test_a_host_without_side_files_is_not_asked_for_them_for_ever() -> None:
    with IndexServer(side_files="none") as server:
        for number in range(30):
            server.add("app", f"{number}.0")

        async def one_by_one(client: IndexClient) -> None:
            for file in await all_files(client):
                await client.metadata("app", file)

        ask(server.url, one_by_one)
    assert server.count(".metadata") == 8
    assert server.count(".whl") == 30


@pytest.mark.parametrize(("gap", "asked"), [(5, 50), (2, 16)])
def test_a_host_is_asked_as_long_as_most_side_files_are_there(gap: int, asked: int) -> None:
    with IndexServer(side_files="unadvertised") as server:
        for number in range(50):
            server.add("app", f"{number}.0")
            if number % gap == 0:
                del server.files[f"/files/app-{number}.0-py3-none-any.whl.metadata"]

        async def one_by_one(client: IndexClient) -> None:
            for file in await all_files(client):
                await client.metadata("app", file)

        ask(server.url, one_by_one)
    assert server.count(".metadata") == asked


def test_a_missing_advertised_metadata_file_is_made_up_for() -> None:
    with IndexServer() as server:
        server.add("app", "1.0", requires=["lib"])
        server.files.pop(f"/files/{WHEEL}.metadata")
        assert ask(server.url, first_metadata) == Metadata(("lib",), (), "", "wheel")


def test_a_large_sdist_is_not_downloaded() -> None:
    with IndexServer() as server:
        server.add("app", "1.0", requires=["lib"], tags=(), sdist=True)
        server.edit("app-1.0.tar.gz", size=3 * 2**20)
        metadata = ask(server.url, first_metadata, max_sdist=2**20)
        assert metadata == Metadata(("lib",), (), "", "sdist-unverified")
        assert [seen.range for seen in server.requests if ".tar.gz" in seen.path] == ["bytes=0-262143"]
        server.edit("app-1.0.tar.gz", size=None)
        assert "larger than 0 MB" in ask(server.url, first_metadata, max_sdist=100).problem
        ranges = [seen.range for seen in server.requests if ".tar.gz" in seen.path]
        assert ranges[1:] == ["", "bytes=0-99"]


# Faults


@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.parametrize("path", ["/simple/app/", ".metadata"])
def test_passing_failures_are_ridden_out(path: str, status: int) -> None:
    with IndexServer() as server:
        server.add("app", "1.0", requires=["lib"])
        server.fail(path, status=status, times=2)
        assert ask(server.url, first_metadata) == Metadata(("lib",), (), "", "side-file")
    assert server.count(path) == 3


def test_a_failing_server_never_leads_to_a_lesser_source() -> None:
    with IndexServer(side_files="unadvertised") as server:
        server.add("app", "1.0")
        server.fail(".metadata", status=503, times=3)
        with pytest.raises(IndexUnavailable, match=r"\.metadata` could not be read: the server answered 503"):
            ask(server.url, first_metadata)
    assert server.count(".metadata") == 3


def test_a_side_file_counts_for_more_than_the_wheel_that_is_asked_for_at_once() -> None:
    with IndexServer(side_files="unadvertised") as server:
        server.add("app", "1.0", requires=["lib"])
        server.fail(".whl", status=503, times=100)
        assert ask(server.url, first_metadata).source == "side-file"


@pytest.mark.parametrize("path", ["/simple/app/", ".metadata", ".whl", ".tar.gz"])
def test_a_truncated_answer_is_asked_for_again(path: str) -> None:
    with IndexServer(side_files="none" if path == ".whl" else "advertised") as server:
        server.add(
            "app", "1.0", requires=["lib"], tags=() if path == ".tar.gz" else ("py3-none-any",), sdist=True
        )
        server.truncate(path, times=2)
        assert ask(server.url, first_metadata).requires_dist == ("lib",)
        assert server.count(path) == 3
        server.truncate(path, times=3)
        with pytest.raises(IndexUnavailable, match="could not be read"):
            ask(server.url, first_metadata)


@pytest.mark.parametrize("filename", [f"{WHEEL}.metadata", "app-1.0.tar.gz"])
def test_a_wrong_hash_is_an_error(filename: str) -> None:
    with IndexServer() as server:
        server.add("app", "1.0", tags=() if filename.endswith(".gz") else ("py3-none-any",), sdist=True)
        server.replace(filename, b"Metadata-Version: 2.1\nName: evil\n")
        with pytest.raises(IndexUnavailable) as caught:
            ask(server.url, first_metadata)
    assert f"{filename}` does not have the hash that the index promises" in caught.value.message
    assert caught.value.hints


@pytest.mark.parametrize("sdist", [False, True])
@pytest.mark.parametrize("status", [404, 410])
def test_a_file_that_is_gone_is_a_problem_of_its_release(status: int, sdist: bool) -> None:
    with IndexServer(side_files="none") as server:
        server.add("app", "1.0", sdist=True, tags=() if sdist else ("py3-none-any",))
        server.files.clear()
        server.fail(".tar.gz" if sdist else ".whl", status=status, times=9)
        assert ask(server.url, first_metadata) == Metadata(
            source="missing",
            problem=f"the index lists its file, but the server has none there (it answered {status})",
        )


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("path", [".whl", ".tar.gz"])
def test_a_forbidden_file_is_an_error(path: str, status: int) -> None:
    with IndexServer(side_files="none") as server:
        server.add("app", "1.0", sdist=True, tags=() if path == ".tar.gz" else ("py3-none-any",))
        server.fail(path, status=status, times=9)
        with pytest.raises(
            IndexUnavailable, match=f"{path}`: asked for .*, the server answered {status}"
        ) as caught:
            ask(server.url, first_metadata)
    assert "credentials" in caught.value.hints[0]


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (401, "credentials"),
        (403, "credentials"),
        (406, "JSON"),
        (400, "--default-index"),
        (304, "--default-index"),
    ],
)
def test_refusals_say_what_to_do(status: int, hint: str) -> None:
    with IndexServer() as server:
        server.fail("/simple/app/", status=status)
        url = server.url.replace("http://", "http://user:secret@")
        with pytest.raises(IndexUnavailable) as caught:
            ask(url, lambda client: client.listing("app"))
    assert caught.value.message == (
        f"`{server.url}app/`: asked for the files of `app`, the server answered {status}"
    )
    assert hint in caught.value.hints[0]


def test_an_index_that_cannot_be_reached_is_an_error() -> None:
    with IndexServer() as server:
        url = server.url.replace("http://", "http://user:secret@")
    with pytest.raises(IndexUnavailable) as caught:
        ask(url, lambda client: client.listing("app"))
    assert caught.value.message.startswith(f"`{server.url}app/` could not be read: ")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    "url", ["", "index.example/simple", "file:///simple", "https://", "https://u:secret@[x/"]
)
def test_an_index_url_must_be_one(url: str) -> None:
    with pytest.raises(InputError, match="is not the URL of an index") as caught:
        IndexClient(url)
    assert "secret" not in caught.value.message


# Credentials, counters


def test_credentials_go_to_the_index_only() -> None:
    with IndexServer(side_files="advertised") as server, IndexServer() as other:
        server.add("app", "1.0", requires=["lib"])
        other.files.update(server.files)
        server.edit(WHEEL, url=f"{other.root}/files/{WHEEL}")
        url = server.url.replace("http://", "http://user:p%40ss@")
        files = ask(url, all_files)
        assert "user" not in files[0].url
        assert ask(url, first_metadata).requires_dist == ("lib",)
    assert [one.headers.get("authorization") for one in server.requests] == ["Basic dXNlcjpwQHNz"] * 2
    assert [one.headers.get("authorization") for one in other.requests] == [None]


def test_requests_bytes_and_progress_are_counted() -> None:
    with IndexServer() as server:
        server.add("app", "1.0")
        body = server.listing("app")
        assert body is not None
        seen: list[Progress] = []

        async def main() -> tuple[int, int]:
            client = IndexClient(server.url, on_progress=seen.append)
            files = await all_files(client)
            assert client.bytes_received == len(body)
            await client.metadata("app", files[0])
            await client.aclose()
            return client.requests, client.bytes_received

        requests, received = asyncio.run(main())
    assert (requests, received) == (2, len(body) + len(core_metadata("app", "1.0")))
    assert [(one.what, one.done, one.wanted, one.requests) for one in seen] == [
        ("app", 1, 1, 1),
        (WHEEL, 2, 2, 2),
    ]
