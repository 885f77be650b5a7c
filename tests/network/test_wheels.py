"""Looking into a real wheel of hundreds of megabytes costs kilobytes to a few megabytes."""

from __future__ import annotations

from pathlib import Path

import pytest

import compatlock
from compatlock.index.observations import StoredObservations
from compatlock.index.wheel_local import LocalWheels
from compatlock.index.wheel_memory import RememberedWheels
from compatlock.index.wheel_reader import RemoteWheels
from tests.support.real_index import DATE

pytestmark = pytest.mark.network


def test_the_directory_and_a_member_of_a_big_wheel(real_cache: Path) -> None:
    lock = compatlock.lock(
        ["vllm==0.19.1"],
        target=compatlock.Target("3.12", platform="x86_64-manylinux_2_34"),
        exclude_newer=DATE,
        cache_dir=real_cache,
    )
    [file] = [file for pin in lock.pins for file in pin.files if file.filename.startswith("vllm-")][:1]
    assert file.size > 100_000_000
    with RemoteWheels() as remote, StoredObservations(None) as observations:
        reader = RememberedWheels(remote, observations)
        directory = reader.directories([file])[file.filename]
        assert directory.problem == ""
        by_path = {member.path: member for member in directory.members}
        assert len(by_path) > 1000
        member = by_path["vllm/__init__.py"]
        content = reader.contents([(file, member)])[file.filename, member.path]
        assert (content.problem, content.complete, len(content.data)) == ("", True, member.size)
        assert b"import" in content.data
        large = max(directory.members, key=lambda member: member.packed)
        cut = reader.contents([(file, large)], limit=100_000)[file.filename, large.path]
        assert (cut.problem, cut.complete, cut.data[:4]) == ("", False, b"\x7fELF")
        assert remote.bytes_received < 3_000_000
        assert RememberedWheels(LocalWheels({}), observations).directories([file])[file.filename] == directory
