"""Large sdists, of which only the beginning is read."""

from __future__ import annotations

import asyncio
import gzip
import random

import pytest

from compatlock.errors import IndexUnavailable
from compatlock.index import remote_sdist
from compatlock.index.remote_sdist import large_sdist_metadata
from compatlock.index.reply import Reply
from compatlock.index.sdist import head_metadata
from compatlock.model.listing import File
from compatlock.model.metadata import MISSING, Metadata
from tests.support.artifacts import build_tar, build_zip, core_metadata

URL = "https://index.example/files/big-1.0.tar.gz"
FILE = File("big-1.0.tar.gz", URL)
LIMIT = 64 * 2**20
NOISE = random.Random(0).randbytes(400_000)
TOLD = core_metadata("big", "1.0", requires=["py4j<1"], metadata_version="2.1")
STATIC = core_metadata("big", "1.0", requires=["py4j<1"], metadata_version="2.4")
SILENT = core_metadata("big", "1.0", metadata_version="2.1")


def sdist(metadata: bytes, *, before: int = 0) -> bytes:
    """An archive with `before` bytes in front of its PKG-INFO, and more behind."""
    return build_tar(
        {
            "big-1.0/LICENSE": NOISE[:before],
            "big-1.0/PKG-INFO": metadata,
            "big-1.0/deps/all.jar": NOISE,
            "big-1.0/big.egg-info/requires.txt": b"late\n",
        }
    )


class Server:
    """Serves one file; `ranges` False gives all of it from its beginning on."""

    def __init__(self, data: bytes, *, ranges: bool = True, status: int = 0) -> None:
        self.data = data
        self.asked: list[str] = []
        self._ranges = ranges
        self._status = status

    async def __call__(
        self, url: str, /, *, method: str = "GET", byte_range: str = "", limit: int = 0
    ) -> Reply:
        assert (url, method) == (URL, "GET")
        self.asked.append(byte_range)
        if self._status:
            return Reply(self._status, {}, b"", url)
        if not self._ranges:
            return Reply(200, {}, self.data[:limit], url, complete=False)
        end = min(int(byte_range.rpartition("-")[2]) + 1, len(self.data))
        headers = {"content-range": f"bytes 0-{end - 1}/{len(self.data)}"}
        return Reply(206, headers, self.data[:end], url)


def read(server: Server) -> Metadata:
    return asyncio.run(large_sdist_metadata(server, FILE, LIMIT))


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize(("text", "source"), [(TOLD, "sdist-unverified"), (STATIC, "sdist")])
def test_the_beginning_suffices(text: bytes, source: str, ranges: bool) -> None:
    server = Server(sdist(text), ranges=ranges)
    assert read(server) == Metadata(("py4j<1",), (), "", source)
    assert server.asked == ["bytes=0-262143"]


def test_more_is_read_when_it_stands_further_behind() -> None:
    server = Server(sdist(TOLD, before=300_000))
    assert read(server).requires_dist == ("py4j<1",)
    assert server.asked == ["bytes=0-262143", "bytes=0-4194303"]


def test_metadata_that_leaves_the_dependencies_to_a_later_file_tells_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That it has none would be a guess."""
    monkeypatch.setattr(remote_sdist, "HEADS", (1024, 100 * 1024))
    server = Server(sdist(SILENT))
    assert read(server) == Metadata(
        source="sdist",
        problem="the sdist is larger than 64 MB, and its first 100 kB do not say what it needs",
    )
    assert len(server.asked) == 2


def test_metadata_that_says_that_there_are_none() -> None:
    static = core_metadata("big", "1.0", metadata_version="2.2")
    assert read(Server(sdist(static))) == Metadata(source="sdist")


def test_no_sdist_there() -> None:
    for status in (404, 410):
        assert read(Server(b"", status=status)).source == MISSING
    with pytest.raises(IndexUnavailable, match=r"the beginning of `big-1\.0\.tar\.gz`"):
        read(Server(b"", status=416))


@pytest.mark.parametrize("length", [0, 10, 1000, 2000])
def test_data_that_ends_too_early(length: int) -> None:
    data = gzip.compress(gzip.decompress(sdist(TOLD, before=50_000)), mtime=0)
    assert head_metadata(data[:length], "big-1.0.tar.gz") is None


def test_other_archives() -> None:
    data = build_zip({"big-1.0/PKG-INFO": TOLD, "big-1.0/x": NOISE})
    assert head_metadata(data[:200_000], "big-1.0.zip") is None
    assert head_metadata(b"no archive", "big-1.0.tar.gz") is None
    bzipped = build_tar({"big-1.0/PKG-INFO": TOLD, "big-1.0/x": NOISE * 5}, "bz2")
    found = head_metadata(bzipped[:-100_000], "big-1.0.tar.bz2")
    assert found is not None
    assert found.requires_dist == ("py4j<1",)
