"""A package index on the loopback interface that replays a snapshot to any tool.

    python -m benchmarks.replay SNAPSHOT [--record] [--exclude-newer TIME]

Serves what `compatlock snapshot` recorded (see `benchmarks.rendering`), or a matrix (`matrix-1000`), and
prints its URL. It is a process of its own, with all listings made at the start, so that what is measured
are the tools. With `--record`, what the snapshot lacks is asked of the real index, and kept. Below `/-/`:
`stats` tells what was asked for since the last time (and forgets it), `snapshot` is the document as it is
now.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import threading
import urllib.request
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from benchmarks.matrices import matrix

from benchmarks import rendering
from compatlock.index.lazy_network import LazyNetwork
from compatlock.index.snapshot import Snapshot
from compatlock.model.listing import ABSENT, File, Listing
from compatlock.model.metadata import Metadata

EXCLUDE_NEWER = "2026-11-30T14:00:00Z"
_ROOT = Path(__file__).resolve().parents[1]
_JSON = "application/vnd.pypi.simple.v1+json"
_BINARY = "application/octet-stream"
_LISTING_AGE, _FILE_AGE = 600, 365_000_000


class Answer(NamedTuple):
    """What is sent back: `age` is for how many seconds it may be believed."""

    status: int
    body: bytes = b""
    kind: str = _BINARY
    age: int = 0


class Real:
    """The real index, for what a recording lacks; safe to use from several threads."""

    def __init__(self) -> None:
        self._network = LazyNetwork("")
        self._opening = threading.Lock()
        self._live: dict[str, Listing] = {}

    def listing(self, project: str) -> Listing:
        """What the index says of a project. Raises IndexUnavailable."""
        if project not in self._live:
            self._fetch([(project, "")], [])
        return self._live[project]

    def metadata(self, project: str, filename: str) -> Metadata | None:
        """The metadata of a file; None when the index does not have that file."""
        files = (file for release in self.listing(project).releases for file in release.files)
        file = next((file for file in files if file.filename == filename), None)
        return None if file is None else self._fetch([], [(project, file)])

    def _fetch(self, listings: list[tuple[str, str]], files: list[tuple[str, File]]) -> Metadata | None:
        found: list[Metadata] = []

        def on_listing(project: str, listing: Listing | None, _etag: str) -> None:
            if listing is not None:
                self._live[project] = listing

        def on_metadata(_project: str, _file: File, metadata: Metadata) -> None:
            found.append(metadata)

        with self._opening:
            network = self._network._opened()
        network.fetch(listings, files, on_listing=on_listing, on_metadata=on_metadata)
        return found[0] if found else None


class Replay:
    """What is served. `missed` counts requests for what was not recorded."""

    def __init__(self, snapshot: Snapshot, before: int, real: Real | None = None) -> None:
        self.snapshot = snapshot
        self.requests = self.sent = self.missed = 0
        self._before = before
        self._real = real
        self._listings: dict[str, bytes] = {}
        self._places = {
            (project, file.filename): (release.version, file)
            for project, listing in snapshot.listings.items()
            for release in listing.releases
            for file in release.files
        }
        if real is None:
            for project, listing in snapshot.listings.items():
                self._listings[project] = rendering.listing(snapshot, listing, before)

    def answer(self, path: str) -> Answer:
        """Answer a GET request."""
        match path.strip("/").split("/"):
            case ["simple", project]:
                return self._listing(project)
            case ["files", project, filename]:
                return self._file(project, filename)
            case ["-", "stats"]:
                stats = {"requests": self.requests, "bytes": self.sent, "missed": self.missed}
                self.requests = self.sent = self.missed = 0
                return Answer(200, json.dumps(stats).encode(), "application/json")
            case ["-", "snapshot"]:
                return Answer(200, self.snapshot.dump())
        return Answer(404)

    def _listing(self, project: str) -> Answer:
        body = self._listings.get(project)
        found = self.snapshot.listings.get(project)
        if found is None and self._real is not None:
            found = self._real.listing(project)
            self.snapshot.listings[project] = found
            for release in found.releases:
                for file in release.files:
                    self._places[project, file.filename] = release.version, file
        if found is None:
            self.missed += 1
        if found is None or not found.found or found.digest == ABSENT:
            return Answer(404)
        if body is None:
            recording = self._real is not None
            body = rendering.listing(self.snapshot, found, self._before, recording=recording)
            if self._real is None:
                self._listings[project] = body
        return Answer(200, body, _JSON, _LISTING_AGE)

    def _file(self, project: str, filename: str) -> Answer:
        """Metadata of a wheel, or an sdist. There are no wheels."""
        wheel = filename.removesuffix(".metadata")
        is_sdist = not wheel.endswith(".whl")
        if not is_sdist and wheel == filename:
            return Answer(404)
        known = self.snapshot.metadata.get((project, wheel))
        if known is None and self._real is not None:
            known = self._real.metadata(project, wheel)
            if known is not None:
                self.snapshot.metadata[project, wheel] = known
        place = self._places.get((project, wheel))
        if known is None or place is None:
            self.missed += 1
        if known is None or place is None or not rendering.usable(known):
            return Answer(404)
        made = rendering.sdist if is_sdist else rendering.core_metadata
        body = made(project, *place, known)
        return Answer(200, body, age=_FILE_AGE) if body else Answer(404)


async def _serve(replay: Replay) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await _respond(replay, head.decode("latin-1"), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, limit=2**20)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    async with server:
        await server.serve_forever()


async def _respond(replay: Replay, head: str, writer: asyncio.StreamWriter) -> None:
    method, path = head.split(" ", 2)[:2]
    path = path.partition("?")[0]
    if replay._real is None:
        answer = replay.answer(path)
    else:
        try:
            answer = await asyncio.get_running_loop().run_in_executor(None, replay.answer, path)
        except Exception as error:  # The index failed: tools are told so, and the recording is not used.
            print(f"{path}: {error}", file=sys.stderr)
            answer = Answer(503)
    tag = sha256(answer.body).hexdigest()[:16] if answer.kind == _JSON else ""
    status, body = answer.status, answer.body
    if tag and f'"{tag}"' in head:
        status, body = 304, b""
    headers = [f"HTTP/1.1 {status} {'OK' if status == 200 else 'Other'}", f"Content-Length: {len(body)}"]
    headers += [f"Content-Type: {answer.kind}", f"Cache-Control: max-age={answer.age}"]
    headers += [f'ETag: "{tag}"'] if tag else []
    if "/-/" not in path:
        replay.requests += 1
        replay.sent += len(body)
    writer.write(("\r\n".join(headers) + "\r\n\r\n").encode() + (b"" if method == "HEAD" else body))
    await writer.drain()


class Server:
    """A replay in a process of its own, at `url` (the root of a Simple index)."""

    def __init__(self, snapshot: str | Path, *, record: bool = False) -> None:
        command = [
            sys.executable,
            "-m",
            "benchmarks.replay",
            str(snapshot),
            *(["--record"] if record else []),
        ]
        inherited = os.environ.get("PYTHONPATH")
        paths = os.pathsep.join([str(_ROOT), *([inherited] if inherited else [])])
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
        )
        assert self._process.stdout is not None
        self.root = self._process.stdout.readline().strip()
        if not self.root:
            raise RuntimeError(f"{' '.join(command)} did not start")
        self.url = f"{self.root}/simple/"

    def get(self, path: str) -> bytes:
        """The body of an answer."""
        with urllib.request.urlopen(self.root + path) as answer:
            body: bytes = answer.read()
            return body

    def stats(self) -> dict[str, int]:
        """Requests, bytes sent and requests for what is not there, since the last time."""
        found: dict[str, int] = json.loads(self.get("/-/stats"))
        return found

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def load(name: str) -> Snapshot:
    """A recorded snapshot, by its path, or a matrix, by its name; a new one when there is no such file."""
    if name.startswith("matrix-"):
        return matrix(int(name.removeprefix("matrix-"))).snapshot
    path = Path(name)
    return Snapshot.load(path.read_bytes(), name) if path.exists() else Snapshot()


def seconds(time: str) -> int:
    """A UTC timestamp as seconds since the epoch."""
    return int(datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp())


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description="Replay a snapshot as a package index.")
    parser.add_argument("snapshot")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--exclude-newer", default=EXCLUDE_NEWER)
    asked = parser.parse_args()
    real = Real() if asked.record else None
    asyncio.run(_serve(Replay(load(asked.snapshot), seconds(asked.exclude_newer), real)))


if __name__ == "__main__":
    main()
