"""Real environments with real wheels: what pip check does not see, and what a lock that is installed is."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import compatlock
from compatlock.api.check.installed import ImportChecks, check_environment
from compatlock.api.options import LockOptions
from compatlock.api.sync import SyncOptions, sync_environment
from compatlock.model.report import FILES, IMPORT, WAIVED
from tests.support.real_environment import RealEnvironment
from tests.support.real_index import DATE

pytestmark = pytest.mark.network

linux = pytest.mark.skipif(sys.platform != "linux", reason="these wheels are for Linux")


@linux
@pytest.mark.skipif(
    sys.version_info[:2] not in ((3, 11), (3, 12)), reason="the wheels are for Python 3.11 and 3.12"
)
def test_packages_that_overwrite_each_other(real_cache: Path, tmp_path: Path) -> None:
    environment = RealEnvironment(tmp_path / "venv", None, tmp_path / "uv-cache")
    environment.install(
        "cuda-python==12.6.2.post1",
        "cuda-bindings==13.5.0",
        "cuda-pathfinder==1.9.1",
        "cuda-core==1.2.2",
        "numpy",
    )
    assert "No broken requirements found" in environment.pip("check")
    assert "All installed packages are compatible" in environment.uv(
        "pip", "check", "--python", str(environment.python)
    )
    options = LockOptions(shipped_facts=False, cache_dir=str(real_cache))
    imports = ImportChecks(("cuda.core", "numpy"))
    report = check_environment(options, str(environment.root), imports=imports)
    assert [finding.kind for finding in report.errors] == [FILES, IMPORT]
    files, failed = report.errors
    assert re.search(
        r"cuda-bindings 13\.5\.0 and cuda-python 12\.6\.2\.post1 install \d\d files over", files.text
    )
    assert failed.text.startswith("import cuda.core fails: ImportError: ")
    assert "imported without an error: numpy" in report.notes


def test_a_lock_with_a_waiver_is_installed_and_fits(real_cache: Path, tmp_path: Path) -> None:
    """rich waives what it asks of pygments: `pip install` would refuse the set, and `pip check` complains."""
    lock = compatlock.lock(
        ["rich==13.9.4", "markdown-it-py<2.2"],
        waivers=["rich -> markdown-it-py"],
        exclude_newer=DATE,
        cache_dir=real_cache,
        shipped_facts=False,
    )
    assert lock.waivers
    for name in ("requirements.lock", "pylock.toml"):
        compatlock.write(lock, tmp_path / name)
        wanted = SyncOptions(str(tmp_path / name), str(tmp_path / name.partition(".")[0]))
        done = sync_environment(LockOptions(shipped_facts=False, cache_dir=str(real_cache)), wanted)
        assert done.report is not None
        assert done.report.is_clean
        assert [(f.package, f.on) for f in done.report.findings if f.severity == WAIVED] == [
            ("rich", "markdown-it-py")
        ]
        assert {change.name: change.new for change in done.changes} == lock.versions
