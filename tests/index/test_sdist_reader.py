"""Looking into source distributions."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping

import pytest

from compatlock.index import sdist_reader
from compatlock.index.sdist_reader import SdistReader, SeveralReaders, unpack_sdist
from compatlock.model.artefact import Content, Member
from compatlock.model.lock import LockedFile
from tests.support.memory_wheels import MemoryWheels

MEMBERS = {"a-1.0/PKG-INFO": b"Name: a\n", "a-1.0/a/mod.py": b"x = 1\n"}


def tar(members: Mapping[str, bytes] = MEMBERS) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        folder = tarfile.TarInfo("a-1.0")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        link = tarfile.TarInfo("a-1.0/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        for path, data in members.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path, data in MEMBERS.items():
            archive.writestr(path, data)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a-1.0.tar.gz", gzip.compress(tar())),
        ("a-1.0.tgz", gzip.compress(tar())),
        ("a-1.0.tar.bz2", bz2.compress(tar())),
        ("a-1.0.zip", zipped()),
    ],
)
def test_kinds_of_archives(name: str, data: bytes) -> None:
    assert unpack_sdist(data, name) == (MEMBERS, "")


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.tar.gz", b""), ("a.tar.gz", gzip.compress(tar())[:90]), ("a.zip", b"PK"), ("a.rpm", tar())],
    ids=["empty", "cut", "short", "unknown"],
)
def test_what_is_no_archive(name: str, data: bytes) -> None:
    members, problem = unpack_sdist(data, name)
    assert members == {}
    assert problem.startswith("the sdist is not a readable archive (")


def test_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdist_reader, "MAX_UNPACKED", 1024)
    members, problem = unpack_sdist(gzip.compress(tar({"a/big": bytes(2000)})), "a.tar.gz")
    assert members == {}
    assert "larger than" in problem
    monkeypatch.setattr(sdist_reader, "MAX_MEMBERS", 1)
    assert unpack_sdist(gzip.compress(tar()), "a.tar.gz")[0] == {}


class _Store:
    """Files by name, and how often they were asked for."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self.asked: list[str] = []

    def read(self, files: Iterable[LockedFile], limit: int) -> dict[str, tuple[bytes, str]]:
        assert limit > 0
        names = [file.filename for file in files]
        self.asked += names
        return {n: (self._files[n], "") if n in self._files else (b"", "it is gone") for n in names}


def test_a_reader() -> None:
    store = _Store({"a-1.0.tar.gz": gzip.compress(tar())})
    reader = SdistReader(store.read)
    file, gone = LockedFile("a-1.0.tar.gz"), LockedFile("b-1.0.tar.gz")
    found = reader.directories([file, gone])
    assert found["b-1.0.tar.gz"].problem == "it is gone"
    info, module = found["a-1.0.tar.gz"].members
    assert (module.path, module.size, module.crc) == ("a-1.0/a/mod.py", 6, zlib.crc32(b"x = 1\n"))
    stray = Member("a-1.0/none.py", 1, 1, 0)
    contents = reader.contents([(file, module), (file, stray), (gone, info)], limit=3)
    assert contents["a-1.0.tar.gz", module.path] == Content(b"x =", complete=False)
    assert contents["a-1.0.tar.gz", stray.path].problem == "it has no such member"
    assert contents["b-1.0.tar.gz", info.path].problem == "it is gone"
    assert store.asked == ["a-1.0.tar.gz", "b-1.0.tar.gz"]


def test_no_more_is_kept_than_is_sensible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdist_reader, "_KEPT", 20)
    names = [f"{letter}-1.0.tar.gz" for letter in "abcdef"]
    store = _Store(dict.fromkeys(names, gzip.compress(tar())))
    reader = SdistReader(store.read)
    files = [LockedFile(name) for name in names]
    found = reader.directories(files)
    assert (len(found), store.asked) == (6, names)
    # The last one is still there, others are read again; what is in them is known.
    member = found[names[0]].members[1]
    assert reader.directories(files) == found
    contents = reader.contents([(files[-1], member), (files[0], member)])
    assert [content.data for content in contents.values()] == [b"x = 1\n"] * 2
    assert store.asked == [*names, names[0]]


def test_each_file_goes_to_its_reader() -> None:
    store = _Store({"a-1.0.tar.gz": gzip.compress(tar())})
    both = SeveralReaders(MemoryWheels({"b-1.0-py3-none-any.whl": {"b.py": b"y"}}), SdistReader(store.read))
    files = [LockedFile("a-1.0.tar.gz"), LockedFile("b-1.0-py3-none-any.whl")]
    found = both.directories(files)
    pairs = [(file, found[file.filename].members[-1]) for file in files]
    assert {key: content.data for key, content in both.contents(pairs).items()} == {
        ("a-1.0.tar.gz", "a-1.0/a/mod.py"): b"x = 1\n",
        ("b-1.0-py3-none-any.whl", "b.py"): b"y",
    }
    assert len(list(both.each_content(pairs))) == 2
