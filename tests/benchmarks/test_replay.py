"""The replayed index: tools can lock over it, and what was not recorded is noticed."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
from benchmarks.matrices import ROOTS, matrix
from benchmarks.measure import Attempt, Run
from benchmarks.problems import IMPOSSIBLE, MATRIX, PROBLEMS
from benchmarks.quality import quality, unfit
from benchmarks.replay import Real, Replay
from benchmarks.server import Server, make_certificate

from benchmarks import bench, rendering
from compatlock import Target, lock
from compatlock.api.options import LockOptions
from compatlock.index.snapshot import Snapshot
from compatlock.model.index import parse_indexes
from compatlock.model.listing import File, Listing, Release
from compatlock.model.metadata import Metadata

LINES = tuple(f"p{i:04}" for i in range(ROOTS))
TARGET = Target("3.12", "x86_64-manylinux_2_34")


def _snapshot() -> Snapshot:
    snapshot = Snapshot()
    files = (
        File("app-1.0-py3-none-any.whl", "", "", 0, 1000, ">=3.8"),
        File("app-1.0.tar.gz", "", "", 0, 1000),
        File("app-1.0-cp312-cp312-win_amd64.whl", "", "", 0, 5000),
    )
    snapshot.listings["app"] = Listing("app", (Release("1.0", files),), digest="d")
    needs = Metadata(("lib>=2 ; extra == 'fast'",), ("fast",), ">=3.8", "side-file")
    snapshot.metadata["app", "app-1.0-py3-none-any.whl"] = needs
    snapshot.metadata["app", "app-1.0.tar.gz"] = needs
    return snapshot


def test_a_listing_ends_at_the_cut() -> None:
    answer = json.loads(Replay(_snapshot(), 2000, "https://index.example").answer("/simple/app/").body)
    assert [file["filename"] for file in answer["files"]] == ["app-1.0-py3-none-any.whl", "app-1.0.tar.gz"]
    wheel, sdist = answer["files"]
    assert wheel["url"] == "https://index.example/files/app/app-1.0-py3-none-any.whl"
    body = Replay(_snapshot(), 2000).answer("/files/app/app-1.0-py3-none-any.whl.metadata").body
    assert wheel["core-metadata"] == {"sha256": hashlib.sha256(body).hexdigest()}
    assert wheel["requires-python"] == ">=3.8"
    assert wheel["upload-time"] == "1970-01-01T00:16:40.000000Z"
    assert len(sdist["hashes"]["sha256"]) == 64


def test_metadata_is_a_core_metadata_file() -> None:
    body = Replay(_snapshot(), 2000).answer("/files/app/app-1.0-py3-none-any.whl.metadata").body
    assert body.decode().splitlines() == [
        "Metadata-Version: 2.2",
        "Name: app",
        "Version: 1.0",
        "Requires-Python: >=3.8",
        "Requires-Dist: lib>=2 ; extra == 'fast'",
        "Provides-Extra: fast",
    ]


def test_an_sdist_is_what_its_hash_says() -> None:
    replay = Replay(_snapshot(), 2000)
    listed = json.loads(replay.answer("/simple/app/").body)["files"][1]
    body = replay.answer("/files/app/app-1.0.tar.gz").body
    assert hashlib.sha256(body).hexdigest() == listed["hashes"]["sha256"]
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        assert "app-1.0/PKG-INFO" in archive.getnames()


def test_an_sdist_may_be_a_zip_archive() -> None:
    needs = Metadata(("lib",), (), "", "sdist")
    made = rendering.sdist("app", "1.0", File("app-1.0.zip", "", "", 0, 1000), needs)
    assert made == rendering.sdist("app", "1.0", File("app-1.0.zip", "", "", 0, 1000), needs)
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert "Requires-Dist: lib" in archive.read("app-1.0/PKG-INFO").decode()
    assert rendering.sdist("app", "1.0", File("app-1.0.tar.bz2", "", "", 0, 1000), needs) == b""


def test_what_was_not_recorded_is_counted() -> None:
    replay = Replay(_snapshot(), 2000)
    assert replay.answer("/simple/other/").status == 404
    assert replay.answer("/files/app/app-1.0-cp312-cp312-win_amd64.whl.metadata").status == 404
    assert replay.missed == 2


class _Index(Real):
    """A real index that needs no network: `app` in three releases, with a wheel each."""

    def __init__(self) -> None:
        files = [File(f"app-{v}.0-py3-none-any.whl", "", "", 0, 1000) for v in (3, 2, 1)]
        self.releases = tuple(Release(f"{v}.0", (file,)) for v, file in zip((3, 2, 1), files, strict=True))

    def listing(self, project: str) -> Listing:
        return Listing(project, self.releases, digest="d")

    def _fetch(self, listings: list[tuple[str, str]], files: list[tuple[str, File]]) -> dict[str, Metadata]:
        assert not listings
        return {file.filename: Metadata((), (), "", "side-file") for _, file in files}


@pytest.mark.parametrize(("around", "count"), [(0, 1), (1, 2), (8, 3)])
def test_what_is_missing_is_recorded_with_older_releases(around: int, count: int) -> None:
    replay = Replay(Snapshot(), 2000, real=_Index(), around=around)
    assert replay.answer("/simple/app/").status == 200
    for _ in range(2):
        assert replay.answer("/files/app/app-3.0-py3-none-any.whl.metadata").status == 200
    assert json.loads(replay.answer("/-/stats").body)["recorded"] == 1 + count
    assert json.loads(replay.answer("/-/stats").body)["recorded"] == 0
    assert len(replay.snapshot.metadata) == count


def test_files_that_nobody_could_use_are_not_shown() -> None:
    assert not rendering.usable(Metadata(problem="broken"))
    assert rendering.usable(None)


def test_the_planted_answer_fits_and_ours_is_no_worse(tmp_path: Path) -> None:
    planted = matrix(100).planted
    with Server("matrix-100") as server:
        ours = lock(
            LINES, index_url=server.url, target=TARGET, cache_dir=tmp_path / "cache", max_lag=["none"]
        )
        asked = server.stats()
        options = LockOptions(
            LINES, target=TARGET, indexes=parse_indexes(server.url), cache_dir=str(tmp_path)
        )
        reached = {name: planted[name] for name in planted}
        assert unfit(options, reached) == 0
        assert quality(options, ours.versions).tiers <= quality(options, reached).tiers
        broken = {**ours.versions, next(iter(sorted(ours.versions)))[0:5]: "1.0"}
        assert quality(options, broken).tiers > quality(options, ours.versions).tiers
    assert asked["requests"] > 0
    assert asked["missed"] == 0


def test_a_run_keeps_what_happened(tmp_path: Path) -> None:
    import sys

    # compatlock's own program, as the tests have it.
    program = tmp_path / "program"
    source = Path(__file__).resolve().parents[2] / "src"
    text = f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(source)!r})\n"
    program.write_text(f"{text}from compatlock.cli.main import main\nmain()\n", encoding="utf-8")
    program.chmod(0o755)
    with Server("matrix-100") as server:
        limits = bench.Limits(300.0, 1000.0)
        made = bench.Bench(PROBLEMS["matrix-100"], server, tmp_path, {"compatlock": str(program)}, limits)
        found = made.run(1, 1, insist=["compatlock"])["compatlock"]
    assert found["state"] == bench.SOLVED
    assert set(LINES) <= set(found["pins"])
    assert found["stats"]["requests"] > 0
    assert len(found["cold"]) == len(found["warm"]) == 1


def test_what_nobody_recorded_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = Attempt(Run(1.0, 1.0, 1), 0, "")
    monkeypatch.setattr(bench.Bench, "once", lambda *_, **__: (done, {"missed": 1}, {}))
    with Server("matrix-100") as server:
        made = bench.Bench(PROBLEMS["matrix-100"], server, tmp_path, {"uv": "uv"}, bench.Limits(1.0, 1.0))
        found = made.run(1, 1)["uv"]
        assert (found["state"], found["missed"], found["cold"], found["warm"]) == ("not recorded", 1, [], [])
        with pytest.raises(bench.Unrecorded):
            made.run(1, 1, insist=["uv"])


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates with openssl")
def test_over_tls_and_http2_the_answer_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(tmp_path)
    with Server("matrix-1000") as server:
        plain = lock(LINES, index_url=server.url, target=TARGET, cache=False, max_lag=["none"])
        plainly = server.stats()
    with Server("matrix-1000", certificate=certificate, latency=1.0) as server:
        # The standard library's client speaks HTTP/1.1 here, too.
        assert json.loads(server.get("/simple/p0000/"))["name"] == "p0000"
        server.stats()
        monkeypatch.setenv("SSL_CERT_FILE", certificate.authority)
        found = lock(LINES, index_url=server.url, target=TARGET, cache=False, max_lag=["none"])
        asked = server.stats()
    assert found.versions == plain.versions
    assert asked["missed"] == plainly["missed"] == 0
    assert asked["requests"] > 100


def test_there_are_problems_of_every_kind() -> None:
    kinds = [problem.kind for problem in PROBLEMS.values()]
    assert len(PROBLEMS) >= 20
    assert kinds.count(IMPOSSIBLE) >= 2
    assert kinds.count(MATRIX) == 4
