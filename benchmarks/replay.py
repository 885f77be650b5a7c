"""A package index on the loopback interface that replays a snapshot to any tool.

    python -m benchmarks.replay SNAPSHOT [--record] [--latency MS] [--certificate FILE KEY]

Serves what `compatlock snapshot` recorded (see `benchmarks.rendering`), or a matrix (`matrix-1000`), and
prints its URL (see `benchmarks.serving`). It is a process of its own, with all listings made and compressed
at the start, so that what is measured are the tools. With `--record`, what the snapshot lacks is asked of the
real index, and kept. Below `/-/`: `stats` tells how much was asked for since the last time, and how much of
it was recorded just then (and forgets it), `missing` what of it was not there, `snapshot` is the document as
it is now.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path

from benchmarks.matrices import matrix
from benchmarks.serving import JSON, Answer, packed, serve

from benchmarks import rendering
from compatlock.index.lazy_network import LazyNetwork
from compatlock.index.snapshot import Snapshot
from compatlock.model.listing import ABSENT, File, Listing
from compatlock.model.metadata import Metadata

EXCLUDE_NEWER = "2026-11-30T14:00:00Z"
_LISTING_AGE, _FILE_AGE = 600, 365_000_000
# The real index is asked so many questions at a time: tools wait for it, and some hundred others.
_QUESTIONS = 16


class Real:
    """The real index, for what a recording lacks; safe to use from several threads."""

    def __init__(self) -> None:
        self._network = LazyNetwork("")
        self._turn, self._guard = threading.Lock(), threading.Lock()
        self._waiting: list[_Question] = []
        self._answered: set[_Question] = set()
        self._live: dict[str, Listing] = {}

    def listing(self, project: str) -> Listing:
        """What the index says of a project. Raises IndexUnavailable."""
        if project not in self._live:
            self._fetch([(project, "")], [])
        return self._live[project]

    def metadata(self, project: str, filename: str, around: int = 0) -> dict[str, Metadata]:
        """The metadata of a file, and of its like in so many older releases, by file name; without those
        that the index does not have."""
        files = _alike(self.listing(project), filename, around)
        return self._fetch([], [(project, file) for file in files])

    def _fetch(self, listings: list[tuple[str, str]], files: list[tuple[str, File]]) -> dict[str, Metadata]:
        """Metadata by file name. A network does one thing after the other: whoever's turn it is asks for all
        that others wait for."""
        asked = _Question(listings, files, {})
        with self._guard:
            self._waiting.append(asked)
        with self._turn:
            with self._guard:
                batch, self._waiting = self._waiting, []
            # Where somebody asked for it in vain, it is asked for alone.
            if asked not in self._answered:
                self._ask(batch if asked in batch else [*batch, asked])
            self._answered.discard(asked)
        return asked.found

    def _ask(self, batch: list[_Question]) -> None:
        wanted: dict[tuple[str, str], list[_Question]] = {}
        for question in batch:
            for project, file in question.files:
                wanted.setdefault((project, file.filename), []).append(question)

        def on_listing(project: str, listing: Listing | None, _etag: str) -> None:
            if listing is not None:
                self._live[project] = listing

        def on_metadata(project: str, file: File, metadata: Metadata) -> None:
            for question in wanted[project, file.filename]:
                question.found[file.filename] = metadata

        listings = {pair: None for question in batch for pair in question.listings}
        files = {(name, file.filename): (name, file) for question in batch for name, file in question.files}
        network = self._network._opened()
        network.fetch([*listings], [*files.values()], on_listing=on_listing, on_metadata=on_metadata)
        self._answered.update(batch)


class _Question:
    """What one request needs of the real index, and what came of it: metadata by file name."""

    def __init__(
        self, listings: list[tuple[str, str]], files: list[tuple[str, File]], found: dict[str, Metadata]
    ) -> None:
        self.listings, self.files, self.found = listings, files, found


def _alike(listing: Listing, filename: str, around: int) -> list[File]:
    """A file of a listing, and those of older releases that are named like it but for the version."""
    releases = listing.releases
    at = next((i for i, r in enumerate(releases) if any(f.filename == filename for f in r.files)), None)
    if at is None:
        return []
    end = filename.split(releases[at].version, 1)[-1]
    older = [file for release in releases[at + 1 : at + 1 + around] for file in release.files]
    this = [file for file in releases[at].files if file.filename == filename]
    return this + [file for file in older if file.filename.endswith(end)]


class Replay:
    """What is served at `root`. `missed` counts requests for what was not recorded, `recorded` what was read
    of the real index. `around`: with a file of the real index, those of so many older releases are read."""

    def __init__(
        self, snapshot: Snapshot, before: int, root: str = "", real: Real | None = None, around: int = 0
    ) -> None:
        self.snapshot = snapshot
        self.requests = self.sent = self.missed = self.recorded = 0
        self.missing: list[str] = []
        self._before = before
        self._root = root
        self._real = real
        self._around = around
        self._asking = ThreadPoolExecutor(_QUESTIONS)
        self._listings: dict[str, Answer] = {}
        self._places = {
            (project, file.filename): (release.version, file)
            for project, listing in snapshot.listings.items()
            for release in listing.releases
            for file in release.files
        }
        if real is None:
            for project, listing in snapshot.listings.items():
                made = _listed(rendering.listing(snapshot, listing, before, root))
                packed(made.body)
                self._listings[project] = made

    def answer(self, path: str) -> Answer:
        """Answer a GET request."""
        match path.strip("/").split("/"):
            case ["simple", project]:
                return self._listing(project)
            case ["files", project, filename]:
                return self._file(project, filename)
            case ["-", "stats"]:
                stats = {name: getattr(self, name) for name in ("requests", "missed", "recorded")}
                stats["bytes"] = self.sent
                self.requests = self.sent = self.missed = self.recorded = 0
                return Answer(200, json.dumps(stats).encode(), "application/json")
            case ["-", "missing"]:
                missing, self.missing = self.missing, []
                return Answer(200, json.dumps(missing).encode(), "application/json")
            case ["-", "snapshot"]:
                return Answer(200, self.snapshot.dump())
        return Answer(404)

    def _listing(self, project: str) -> Answer:
        found = self.snapshot.listings.get(project)
        if found is None and self._real is not None:
            found = self._real.listing(project)
            self.recorded += 1
            self.snapshot.listings[project] = found
            for release in found.releases:
                for file in release.files:
                    self._places[project, file.filename] = release.version, file
        if found is None:
            self.missed += 1
            self.missing.append(project)
        if found is None or not found.found or found.digest == ABSENT:
            return Answer(404)
        if self._real is None:
            return self._listings[project]
        return _listed(rendering.listing(self.snapshot, found, self._before, self._root, recording=True))

    def _file(self, project: str, filename: str) -> Answer:
        """Metadata of a wheel, or an sdist. There are no wheels."""
        wheel = filename.removesuffix(".metadata")
        is_sdist = not wheel.endswith(".whl")
        if not is_sdist and wheel == filename:
            return Answer(404)
        known = self.snapshot.metadata.get((project, wheel))
        if known is None and self._real is not None:
            found = self._real.metadata(project, wheel, self._around)
            self.recorded += len(found)
            for name, metadata in found.items():
                self.snapshot.metadata.setdefault((project, name), metadata)
            known = found.get(wheel)
        place = self._places.get((project, wheel))
        if known is None or place is None:
            self.missed += 1
            self.missing.append(f"{project}/{filename}")
        if known is None or place is None or not rendering.usable(known):
            return Answer(404)
        made = rendering.sdist if is_sdist else rendering.core_metadata
        body = made(project, *place, known)
        return Answer(200, body, age=_FILE_AGE) if body else Answer(404)

    def count(self, path: str, size: int) -> None:
        """An answer was sent, with a body of so many bytes."""
        if "/-/" not in path:
            self.requests += 1
            self.sent += size

    async def respond(self, path: str) -> Answer:
        """Answer a GET request; elsewhere than in the loop if the real index may have to be asked."""
        if self._real is None:
            return self.answer(path)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._asking, self.answer, path)
        except Exception as error:  # The index failed: tools are told so, and the recording is not used.
            print(f"{path}: {error}", file=sys.stderr)
            return Answer(503)


def _listed(body: bytes) -> Answer:
    return Answer(200, body, JSON, _LISTING_AGE, sha256(body).hexdigest()[:16])


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
    parser.add_argument("--around", type=int, default=0, metavar="N", help="read N older releases as well")
    parser.add_argument("--exclude-newer", default=EXCLUDE_NEWER)
    parser.add_argument("--latency", type=float, default=0.0, metavar="MS", help="before each answer")
    parser.add_argument("--certificate", nargs=2, metavar=("FILE", "KEY"), help="serve over TLS, and HTTP/2")
    asked = parser.parse_args()
    real = Real() if asked.record else None
    place = socket.create_server(("127.0.0.1", 0), backlog=1024)
    root = f"http{'s' if asked.certificate else ''}://127.0.0.1:{place.getsockname()[1]}"
    replay = Replay(load(asked.snapshot), seconds(asked.exclude_newer), root, real, asked.around)
    certificate = tuple(asked.certificate) if asked.certificate else None
    print(root, flush=True)
    asyncio.run(serve(place, replay.respond, replay.count, certificate, asked.latency / 1000))


if __name__ == "__main__":
    main()
