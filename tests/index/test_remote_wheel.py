"""Metadata of remote wheels by ranges: few requests, every kind of server, and hostile archives."""

from __future__ import annotations

import asyncio
import hashlib
import io
import struct
import zipfile
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compatlock.errors import IndexUnavailable
from compatlock.index import remote_wheel, wheel_archive
from compatlock.index.remote_wheel import TAIL, wheel_metadata
from compatlock.index.reply import Reply
from compatlock.model.metadata import Metadata
from tests.support.artifacts import build_wheel, build_zip, core_metadata

URL = "https://user:secret@files.example/app-1.0-py3-none-any.whl"
METADATA = core_metadata("app", "1.0", requires=["lib>=2"])
EXPECTED = Metadata(("lib>=2",), (), "", "wheel")
INFO = "app-1.0.dist-info/METADATA"


class Server:
    """A file behind a server with the given habits; `asked` is what was requested of it."""

    def __init__(self, data: bytes, *, suffix: str = "yes", ranges: bool = True) -> None:
        self.data = data
        self.asked: list[str] = []
        self._suffix = suffix
        self._ranges = ranges

    async def __call__(
        self, _url: str, *, method: str = "GET", byte_range: str = "", limit: int = 0
    ) -> Reply:
        self.asked.append(byte_range or method)
        if method == "HEAD":
            return self._reply(200, b"", {"content-length": str(len(self.data))})
        first, _, last = byte_range.removeprefix("bytes=").partition("-")
        if not self._ranges or (not first and self._suffix == "whole"):
            return Reply(200, {}, self.data[:limit], URL, len(self.data) <= limit)
        if not first and self._suffix == "error":
            return self._reply(501, b"", {})
        start = int(first) if first else max(0, len(self.data) - int(last))
        end = min(len(self.data), int(last) + 1) if first else len(self.data)
        if not first and self._suffix == "start":
            start, end = 0, min(len(self.data), int(last) + 1)
        if start >= end:
            return self._reply(416, b"", {})
        headers = {"content-range": f"bytes {start}-{end - 1}/{len(self.data)}"}
        return self._reply(206, self.data[start:end], headers)

    def _reply(self, status: int, body: bytes, headers: Mapping[str, str]) -> Reply:
        return Reply(status, headers, body, URL)


def read(server: Server, *, size: int = 0, tail: int = TAIL) -> Metadata:
    return asyncio.run(wheel_metadata(server, URL, size=size, tail=tail))[0]


def noise(length: int) -> bytes:
    return bytes(number * number % 251 ^ (number >> 8) & 255 for number in range(length))


def big_wheel(members: int = 0) -> bytes:
    files = {"app/data.bin": noise(400_000)} | {
        f"app/module_{n:05}_with_a_long_name.py": b"" for n in range(members)
    }
    return build_wheel("app", "1.0", METADATA, files=files)


def test_one_request_is_enough_for_most_wheels() -> None:
    data = big_wheel()
    assert len(data) > TAIL
    for size in (0, len(data)):
        server = Server(data)
        assert read(server, size=size) == EXPECTED
        assert len(server.asked) == 1


def test_a_large_directory_takes_one_more_request_and_teaches_the_tail() -> None:
    data = big_wheel(1500)
    server = Server(data)
    metadata, tail = asyncio.run(wheel_metadata(server, URL, size=len(data)))
    assert (metadata, len(server.asked)) == (EXPECTED, 2)
    again = Server(data)
    assert asyncio.run(wheel_metadata(again, URL, size=len(data), tail=tail))[0] == EXPECTED
    assert len(again.asked) == 1


def test_metadata_far_from_the_end_takes_a_request_of_its_own() -> None:
    data = build_zip({INFO: METADATA, "app/data.bin": noise(300_000)})
    server = Server(data)
    metadata, tail = asyncio.run(wheel_metadata(server, URL))
    assert metadata == EXPECTED
    assert len(server.asked) == 2
    assert tail >= len(data)


@pytest.mark.parametrize("suffix", ["error", "start", "whole"])
def test_servers_without_suffix_ranges(suffix: str) -> None:
    server = Server(big_wheel(), suffix=suffix)
    assert read(server) == EXPECTED
    assert len(server.asked) == (1 if suffix == "whole" else 3)


def test_a_wrong_size_is_found_out() -> None:
    data = big_wheel()
    for size in (len(data) - 10_000, len(data) + 10 * TAIL):
        assert read(Server(data), size=size) == EXPECTED


def test_a_server_that_ignores_ranges_is_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    data = big_wheel()
    assert read(Server(data, ranges=False)) == EXPECTED
    monkeypatch.setattr(wheel_archive, "MAX_DOWNLOAD", 100_000)
    for size in (0, len(data)):
        with pytest.raises(IndexUnavailable) as caught:
            read(Server(data, ranges=False), size=size)
        assert "https://****@files.example/app-1.0-py3-none-any.whl" in caught.value.message
        assert "ignores ranges" in caught.value.message


@pytest.mark.parametrize("status", [404, 410])
def test_a_missing_wheel_is_a_problem(status: int) -> None:
    async def fetch(url: str, **_: object) -> Reply:
        return Reply(status, {}, b"", url)

    metadata, _ = asyncio.run(wheel_metadata(fetch, URL))
    assert (metadata.source, str(status) in metadata.problem) == ("missing", True)


def test_a_whole_wheel_is_held_to_its_hash() -> None:
    data = big_wheel()
    right = hashlib.sha256(data).hexdigest()
    assert asyncio.run(wheel_metadata(Server(data, ranges=False), URL, sha256=right))[0] == EXPECTED
    with pytest.raises(IndexUnavailable, match="does not have the hash that the index promises") as caught:
        asyncio.run(wheel_metadata(Server(data, ranges=False), URL, sha256="0" * 64))
    assert "secret" not in caught.value.message
    assert asyncio.run(wheel_metadata(Server(data), URL, sha256="0" * 64))[0] == EXPECTED


def test_a_wheel_that_changes_between_requests_is_an_error() -> None:
    server = Server(big_wheel(1500))

    async def fetch(url: str, *, method: str = "GET", byte_range: str = "", limit: int = 0) -> Reply:
        reply = await server(url, method=method, byte_range=byte_range, limit=limit)
        server.data += b"x"
        return reply

    with pytest.raises(IndexUnavailable, match="could not be read"):
        asyncio.run(wheel_metadata(fetch, URL))


@pytest.mark.parametrize("tail", [1000, 300, 100, 50, 22])
def test_a_small_tail_only_costs_requests(tail: int) -> None:
    assert read(Server(big_wheel(20)), tail=tail) == EXPECTED


def test_stored_members_comments_and_prefixes() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(INFO, METADATA)
        archive.comment = b"a comment"
    assert read(Server(stream.getvalue())) == EXPECTED
    assert read(Server(b"#!/bin/sh\n" * 10_000 + stream.getvalue())) == EXPECTED


def test_zip64(monkeypatch: pytest.MonkeyPatch) -> None:
    # As for more than 65,535 members, and as for offsets beyond 4 GB.
    for limit, value in (("ZIP_FILECOUNT_LIMIT", 1), ("ZIP64_LIMIT", 100_000)):
        stream = io.BytesIO()
        with monkeypatch.context() as patch, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            patch.setattr(zipfile, limit, value)
            archive.writestr("app.bin", noise(90_000), zipfile.ZIP_STORED)
            archive.writestr("app2.bin", noise(90_000), zipfile.ZIP_STORED)
            archive.writestr(INFO, METADATA)
            archive.close()
        assert b"PK\6\6" in stream.getvalue()
        assert read(Server(stream.getvalue())) == EXPECTED


@pytest.mark.parametrize(
    ("contents", "problem"),
    [
        ({"app.py": b""}, "the wheel has no .dist-info/METADATA"),
        ({"sub/app-1.0.dist-info/METADATA": METADATA}, "the wheel has no .dist-info/METADATA"),
        ({INFO: METADATA, "b-1.dist-info/METADATA": METADATA}, "the wheel has 2 .dist-info/METADATA"),
    ],
)
def test_there_must_be_one_metadata(contents: dict[str, bytes], problem: str) -> None:
    assert read(Server(build_zip(contents))).problem == problem


def test_absurd_sizes_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    data = build_zip({INFO: METADATA})
    end = data.rindex(b"PK\5\6")
    huge = data[: end + 12] + struct.pack("<L", 0x7FFFFFFF) + data[end + 16 :]
    assert "absurd" in read(Server(huge)).problem
    monkeypatch.setattr(remote_wheel, "MAX_METADATA", 100)
    data = build_zip({INFO: METADATA + b"x" * 1000})
    assert read(Server(data)).problem == f"its METADATA has {len(METADATA) + 1000} bytes; the limit is 100"


def test_a_member_that_unpacks_to_more_than_it_says_is_a_problem() -> None:
    data = bytearray(build_zip({INFO: METADATA + b"x" * 100_000}))
    entry = data.rindex(b"PK\1\2")
    struct.pack_into("<L", data, entry + 24, 500)
    assert read(Server(bytes(data))).problem == "the wheel's METADATA is damaged (its checksum is wrong)"


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_damage_is_a_problem_or_harmless(data: st.DataObject) -> None:
    wheel = bytearray(build_wheel("app", "1.0", METADATA))
    for _ in range(data.draw(st.integers(1, 3))):
        wheel[data.draw(st.integers(0, len(wheel) - 1))] = data.draw(st.integers(0, 255))
    tail = data.draw(st.sampled_from([30, 200, TAIL]))
    metadata = read(Server(bytes(wheel)), tail=tail)
    assert metadata.problem or metadata == EXPECTED


@given(st.binary(min_size=1, max_size=100))
def test_noise_is_a_problem(noise: bytes) -> None:
    assert read(Server(noise)).problem
