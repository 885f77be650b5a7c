"""Wheels on a server, read in part: few requests and bytes, and every fault is a problem of its file."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from compatlock.index import transport, wheel_archive, wheel_reader
from compatlock.index.progress import Progress
from compatlock.index.wheel_reader import RemoteWheels
from compatlock.model.artefact import Content, Member
from compatlock.model.index import parse_index
from compatlock.model.lock import LockedFile
from tests.support.artifacts import build_zip
from tests.support.index_server import IndexServer

NOISE = bytes(number * number % 251 ^ (number >> 8) & 255 for number in range(300_000))
FILES = {"app/__init__.py": b"import lib\n", "app/lib.so": NOISE, "app/last.py": b"x = 1\n"}
BIG, SMALL = "app-1.0-py3-none-any.whl", "lib-2.0-py3-none-any.whl"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_BACK_OFF", 0.001)


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with IndexServer() as running:
        running.add_file("app", BIG, build_zip(FILES))
        running.add_file("lib", SMALL, build_zip({"lib/__init__.py": b"y = 2\n"}))
        yield running


@pytest.fixture
def reader() -> Iterator[RemoteWheels]:
    with RemoteWheels(timeout=5) as opened:
        yield opened


def locked(server: IndexServer, name: str) -> LockedFile:
    path = f"/files/{name}"
    data = server.files.get(path, b"")
    return LockedFile(name, server.sha256(name) if data else "", len(data), None, f"{server.root}{path}")


def everything(server: IndexServer, *names: str) -> list[tuple[LockedFile, Member]]:
    """All members of wheels, read while nothing was wrong."""
    files = {name: locked(server, name) for name in names}
    with RemoteWheels() as untroubled:
        found = untroubled.directories(files.values())
    server.requests.clear()
    return [(files[name], member) for name in names for member in found[name].members]


def problem(reader: RemoteWheels, server: IndexServer, name: str = BIG) -> str:
    found = reader.directories([locked(server, name)])[name]
    assert found.members == ()
    return found.problem


def test_nothing_is_asked_for_nothing(reader: RemoteWheels) -> None:
    assert reader.directories([]) == {}
    assert reader.contents([]) == {}
    assert (reader.requests, reader.bytes_received) == (0, 0)


def test_directories_cost_one_request_each(server: IndexServer, reader: RemoteWheels) -> None:
    files = [locked(server, name) for name in (BIG, SMALL)]
    found = reader.directories([*files, files[0]])
    assert list(found) == [BIG, SMALL]
    assert [member.path for member in found[BIG].members] == list(FILES)
    assert reader.requests == server.count() == 2
    assert 0 < reader.bytes_received < 70_000


def test_contents_of_several_wheels(server: IndexServer, reader: RemoteWheels) -> None:
    wanted = everything(server, BIG, SMALL)
    found = reader.contents(wanted)
    assert {path: content for (name, path), content in found.items() if name == BIG} == {
        path: Content(data) for path, data in FILES.items()
    }
    assert found[SMALL, "lib/__init__.py"] == Content(b"y = 2\n")
    assert reader.requests == 2


def test_a_limit_bounds_what_is_transferred(server: IndexServer, reader: RemoteWheels) -> None:
    wanted = [pair for pair in everything(server, BIG) if pair[1].path == "app/lib.so"]
    content = reader.contents(wanted, limit=1000)[BIG, "app/lib.so"]
    assert (content.complete, content.problem) == (False, "")
    assert NOISE.startswith(content.data)
    assert len(content.data) > 500
    assert reader.bytes_received < 1500


def test_hundreds_of_members_with_a_small_budget(
    server: IndexServer, reader: RemoteWheels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheel_reader, "MAX_HELD", 50_000)
    monkeypatch.setattr(wheel_archive, "MAX_PART", 10_000)
    files = {f"app/m{n}.bin": NOISE[n * 100 : n * 100 + 2000] for n in range(500)}
    server.add_file("many", "many-1-py3-none-any.whl", build_zip(files))
    found = reader.contents(everything(server, "many-1-py3-none-any.whl", BIG))
    assert {path: found["many-1-py3-none-any.whl", path].data for path in files} == files
    assert found[BIG, "app/lib.so"].data == NOISE
    assert reader.requests > 50


def test_what_is_left_of_an_iteration_is_cancelled(server: IndexServer, reader: RemoteWheels) -> None:
    wanted = everything(server, BIG, SMALL)
    server.disturb(SMALL, "stall", seconds=3)
    began = time.monotonic()
    iterator = reader.each_content(wanted)
    file, _, content = next(iterator)
    assert (file.filename, content.problem) == (BIG, "")
    iterator.close()
    assert reader.contents(wanted[:1])[BIG, "app/__init__.py"].complete
    assert time.monotonic() - began < 2.5


def test_closing_in_the_middle_ends_the_thread(server: IndexServer) -> None:
    reader = RemoteWheels()
    iterator = reader.each_content(everything(server, BIG, SMALL))
    next(iterator)
    reader.close()
    reader.close()
    iterator.close()
    assert "compatlock-wheels" not in {thread.name for thread in threading.enumerate()}


def test_progress_is_told_in_the_callers_thread(server: IndexServer) -> None:
    seen: list[tuple[Progress, int]] = []
    with RemoteWheels(on_progress=lambda one: seen.append((one, threading.get_ident()))) as reader:
        reader.contents(everything(server, BIG))
    assert {thread for _, thread in seen} == {threading.get_ident()}
    assert seen[-1][0].done == seen[-1][0].wanted == 3


# Servers


def test_a_server_without_suffix_ranges(server: IndexServer, reader: RemoteWheels) -> None:
    server.ranges = "no-suffix"
    file = locked(server, BIG)._replace(size=0)
    assert len(reader.directories([file])[BIG].members) == 3


def test_a_server_without_ranges_gives_each_file_once(server: IndexServer, reader: RemoteWheels) -> None:
    wanted = everything(server, BIG, SMALL)
    server.ranges = "none"
    assert len(reader.directories([wanted[0][0]])[BIG].members) == 3
    found = reader.contents(wanted)
    assert [content.problem for content in found.values()] == [""] * 4
    assert server.count() == 3


def test_a_server_without_ranges_is_read_up_to_a_bound(
    server: IndexServer, reader: RemoteWheels, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = everything(server, BIG)
    server.ranges = "none"
    monkeypatch.setattr(wheel_archive, "MAX_DOWNLOAD", 100_000)
    assert "the server ignores ranges" in problem(reader, server)
    assert all("the server ignores ranges" in one.problem for one in reader.contents(wanted).values())
    assert len(reader.directories([locked(server, SMALL)])[SMALL].members) == 1


def test_a_whole_file_is_held_to_its_hash(server: IndexServer, reader: RemoteWheels) -> None:
    wanted = everything(server, BIG)
    server.ranges = "none"
    file = locked(server, BIG)._replace(sha256="0" * 64)
    assert "does not have the hash" in reader.directories([file])[BIG].problem
    found = reader.contents([(file, member) for _, member in wanted])
    assert all("does not have the hash" in content.problem for content in found.values())


def test_another_size_than_the_locks_is_a_problem(server: IndexServer, reader: RemoteWheels) -> None:
    wanted = everything(server, BIG)
    size = len(server.files[f"/files/{BIG}"])
    file = locked(server, BIG)._replace(size=size - 10)
    expected = f"is another file than that of the lock: it has {size} bytes, not {size - 10}"
    assert expected in reader.directories([file])[BIG].problem
    found = reader.contents([(file, member) for _, member in wanted])
    assert all(expected in content.problem and content.data == b"" for content in found.values())


@pytest.mark.parametrize("status", [404, 410])
def test_a_missing_file(server: IndexServer, reader: RemoteWheels, status: int) -> None:
    wanted = everything(server, BIG)
    server.fail(BIG, status=status, times=10)
    expected = f"the server has no `{BIG}` (it answered {status})"
    assert problem(reader, server) == expected
    assert {content.problem for content in reader.contents(wanted).values()} == {expected}
    assert reader.directories([locked(server, SMALL)])[SMALL].members


@pytest.mark.parametrize("status", [400, 403, 500, 501, 503])
def test_refusals_and_failures(server: IndexServer, reader: RemoteWheels, status: int) -> None:
    wanted = everything(server, BIG)
    server.fail(BIG, status=status, times=100)
    assert f"answered {status}" in problem(reader, server)
    assert all(f"answered {status}" in content.problem for content in reader.contents(wanted).values())


def test_a_failure_that_passes_is_retried(server: IndexServer, reader: RemoteWheels) -> None:
    wanted = everything(server, BIG)
    server.fail(BIG, status=503, times=2)
    assert len(reader.directories([locked(server, BIG)])[BIG].members) == 3
    server.truncate(BIG, times=2)
    assert reader.contents(wanted)[BIG, "app/lib.so"] == Content(NOISE)


@pytest.mark.parametrize("kind", ["truncate", "cut", "reset"])
def test_answers_that_break_off(server: IndexServer, reader: RemoteWheels, kind: str) -> None:
    wanted = everything(server, BIG)
    server.disturb(BIG, kind, times=100)  # type: ignore[arg-type]
    assert "could not be read" in problem(reader, server)
    assert all("could not be read" in content.problem for content in reader.contents(wanted).values())


def test_other_bytes_than_asked_for(server: IndexServer, reader: RemoteWheels) -> None:
    wanted = [pair for pair in everything(server, BIG) if pair[1].path == "app/last.py"]
    server.ranges = "wrong"
    assert "could not be read" in problem(reader, server)
    assert "could not be read" in reader.contents(wanted)[BIG, "app/last.py"].problem


def test_a_truncated_file(server: IndexServer, reader: RemoteWheels) -> None:
    wanted = everything(server, BIG)
    data = server.files[f"/files/{BIG}"][:10_000]
    server.files[f"/files/{BIG}"] = data
    file = locked(server, BIG)
    assert problem(reader, server) == "the wheel is not a zip archive, or a damaged one"
    found = reader.contents([(file, member) for _, member in wanted])
    assert found[BIG, "app/__init__.py"] == Content(b"import lib\n")
    assert found[BIG, "app/lib.so"].problem == "the wheel ends before this member does"
    assert found[BIG, "app/last.py"].problem


@pytest.mark.parametrize("kind", ["stall", "drip"])
def test_a_slow_server_is_not_waited_for(server: IndexServer, kind: str) -> None:
    wanted = everything(server, BIG)
    server.disturb(BIG, kind, times=100, seconds=0.6 if kind == "drip" else 4)  # type: ignore[arg-type]
    with RemoteWheels(timeout=1, patience=0.5) as reader:
        began = time.monotonic()
        assert "its server did not send it within" in problem(reader, server)
        assert all(content.problem for content in reader.contents(wanted).values())
        assert len(reader.directories([locked(server, SMALL)])[SMALL].members) == 1
        assert time.monotonic() - began < 15


def test_a_server_that_does_not_answer_is_given_up(server: IndexServer) -> None:
    names = [f"app{n}-1.0-py3-none-any.whl" for n in range(40)]
    files = [LockedFile(name, url=f"{server.root}/files/{name}") for name in names]
    server.disturb(".whl", "stall", times=1000, seconds=2)
    with RemoteWheels(timeout=5, patience=0.2, concurrency=4) as reader:
        found = reader.directories(files)
    assert all(one.problem for one in found.values())
    given_up = [name for name, one in found.items() if "given up" in one.problem]
    assert len(given_up) >= 30
    assert server.count() <= 10


def test_a_single_failing_file_does_not_harm_the_others(
    server: IndexServer, reader: RemoteWheels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheel_archive, "MAX_PART", 10_000)
    files = {f"app/m{n}.bin": NOISE[n : n + 9000] for n in range(20)}
    server.add_file("many", "many-1-py3-none-any.whl", build_zip(files))
    wanted = everything(server, "many-1-py3-none-any.whl", SMALL)
    assert reader.directories([wanted[0][0]])
    server.fail("many-1-py3-none-any.whl", status=500, times=1000)
    found = reader.contents(wanted)
    assert [name for (name, _), content in found.items() if not content.problem] == [SMALL]
    assert len(reader.directories([locked(server, BIG)])[BIG].members) == 3


def test_a_server_that_is_not_there(reader: RemoteWheels) -> None:
    file = LockedFile(BIG, url=f"http://127.0.0.1:9/{BIG}")
    assert "could not be read" in reader.directories([file])[BIG].problem


@pytest.mark.parametrize("url", ["", "ftp://files.example/app.whl", "not a url", "http://[bad/app.whl"])
def test_addresses_that_are_no_good(reader: RemoteWheels, url: str) -> None:
    file = LockedFile(BIG, url=url)
    found = reader.directories([file])[BIG]
    assert found.problem
    assert found.members == ()
    assert reader.contents([(file, Member("a.py", 1, 1, 0))])[BIG, "a.py"].problem


def test_credentials_go_to_their_index_and_into_no_problem(server: IndexServer) -> None:
    server.login = "user:secret"
    index = parse_index(server.url.replace("://", "://user:secret@"))
    with RemoteWheels([index]) as reader:
        assert len(reader.directories([locked(server, BIG)])[BIG].members) == 3
    wrong = parse_index(server.url.replace("://", "://user:secret2@"))
    with RemoteWheels([wrong]) as reader:
        found = reader.directories([locked(server, BIG)])[BIG]
    assert "answered 401" in found.problem
    assert "secret" not in found.problem
