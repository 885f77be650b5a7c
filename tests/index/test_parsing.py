"""A second process gives the listings that this one would; without it, or when it fails, this one does."""

from __future__ import annotations

import asyncio
import io
import json
import sys
import threading
import time

import pytest

from compatlock.errors import IndexUnavailable
from compatlock.index import parsing, second_process
from compatlock.index.parse_server import receive, send, serve
from compatlock.index.parsing import ListingParser
from compatlock.index.simple import parse_listing
from compatlock.model.listing import Listing

URL = "https://index.example/simple/app/"
KIND = "application/vnd.pypi.simple.v1+json"
ELSEWHERE = [sys.executable, "-c", "import sys; sys.stdin.buffer.read(100)"]
BROKEN = [
    sys.executable,
    "-c",
    "import sys; sys.stdout.write('nonsense'); sys.stdout.flush(); sys.stdin.read()",
]


def page(number: int, name: str = "app") -> bytes:
    files = [
        {
            "filename": f"app-{number}.{k}-py3-none-any.whl",
            "url": f"https://files.example/app-{number}.{k}-py3-none-any.whl",
            "hashes": {"sha256": f"{k:064x}"},
            "upload-time": "2024-01-01T00:00:00.000000Z",
        }
        for k in range(400)
    ]
    files.append({"filename": "other-1.0.tar.gz", "url": "https://files.example/o", "hashes": {}})
    return json.dumps({"name": name, "meta": {"api-version": "1.4"}, "files": files}).encode()


def parsed(parser: ListingParser, *bodies: bytes) -> list[Listing | BaseException]:
    """What the parser makes of answers that come at once."""

    async def main() -> list[Listing | BaseException]:
        asked = (parser.parse("app", body, URL, KIND) for body in bodies)
        return await asyncio.gather(*asked, return_exceptions=True)

    try:
        return asyncio.run(main())
    finally:
        parser.close()


def here(*bodies: bytes) -> list[Listing]:
    return [parse_listing("app", body, URL, KIND) for body in bodies]


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The projects that this process parsed by itself."""
    seen: list[str] = []

    def parse(project: str, *rest: object) -> Listing:
        seen.append(project)
        return parse_listing(project, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(parsing, "parse_listing", parse)
    return seen


def test_a_second_process_gives_the_same_listings(local: list[str]) -> None:
    bodies = [page(number) for number in range(20)]
    assert len(bodies[0]) > parsing.WORTH_IT
    command = second_process.own_command() or [sys.executable, "-c", second_process.CODE, *sys.path]
    assert parsed(ListingParser(command), *bodies) == here(*bodies)
    assert local == []


def test_it_is_not_started_for_small_answers(local: list[str]) -> None:
    body = json.dumps({"name": "app", "files": []}).encode()
    assert parsed(ListingParser(["/no/such/program"]), body) == here(body)
    assert local == ["app"]


def test_an_answer_about_another_project_is_told_as_here() -> None:
    body = page(1, name="else")
    (error,) = parsed(ListingParser(), body)
    with pytest.raises(IndexUnavailable) as expected:
        parse_listing("app", body, URL, KIND)
    assert isinstance(error, IndexUnavailable)
    assert (error.message, error.hints) == (expected.value.message, expected.value.hints)


@pytest.mark.parametrize("command", [[], ["/no/such/program"], ELSEWHERE, BROKEN], ids=str)
def test_without_a_second_process_this_one_parses(local: list[str], command: list[str]) -> None:
    bodies = [page(number) for number in range(5)]
    assert parsed(ListingParser(command), *bodies) == here(*bodies)
    assert local == ["app"] * 5


def test_a_process_that_does_not_answer_is_given_up(
    local: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing, "_PATIENCE", 0.1)
    bodies = [page(number) for number in range(3)]
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    start = time.monotonic()
    assert parsed(ListingParser(sleeping), *bodies) == here(*bodies)
    assert time.monotonic() - start < 30
    assert local == ["app"] * 3


def test_what_is_no_longer_wanted_does_no_harm() -> None:
    parser = ListingParser()

    async def main() -> Listing:
        unwanted = asyncio.ensure_future(parser.parse("app", page(1), URL, KIND))
        await asyncio.sleep(0.01)
        unwanted.cancel()
        return await parser.parse("app", page(2), URL, KIND)

    try:
        assert [asyncio.run(main())] == here(page(2))
    finally:
        parser.close()


def test_closing_ends_process_and_threads() -> None:
    before = threading.active_count()
    parser = ListingParser()
    parsed(parser, page(1))
    assert threading.active_count() == before
    assert parsed(parser, page(1)) == here(page(1))
    assert threading.active_count() == before


def test_the_second_process_leaves_what_it_cannot_parse_to_the_first() -> None:
    requests, answers = io.BytesIO(), io.BytesIO()
    send(requests, ("app", b"{}", URL, KIND, None))
    requests.seek(0)

    def fail(*_: object) -> Listing:
        raise RuntimeError

    serve(requests, answers, fail)
    answers.seek(0)
    assert receive(answers) == (None,)
    assert receive(answers) is None


def test_no_second_process_from_a_program_that_is_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/blender")
    assert second_process.own_command() == []
    monkeypatch.setattr(sys, "executable", "")
    assert second_process.own_command() == []


def test_small_answers_do_not_wait_for_large_ones() -> None:
    command = second_process.own_command() or [sys.executable, "-c", second_process.CODE, *sys.path]
    large, order = page(1), list[int]()

    async def ask(parser: ListingParser, size: int) -> None:
        await parser.parse("app", large + b" " * size, URL, KIND)
        order.append(size)

    async def main() -> None:
        parser = ListingParser(command)
        try:
            # The first one may be under way before the others are there.
            await asyncio.gather(*(ask(parser, n) for n in (3_000_000, 2_900_000, 2_000_000, 0, 1_000_000)))
        finally:
            parser.close()

    asyncio.run(main())
    assert order[1:] == sorted(order[1:])
