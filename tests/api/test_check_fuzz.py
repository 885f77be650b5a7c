"""Damaged lock files give findings or an error for people, whatever is wrong with them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import compatlock
from compatlock.api.check.lock import read_lock_text, stale_findings
from tests.support.index_server import IndexServer

_PIECES = (
    '""', "''", "[]", "{}", "[[packages]]", "[packages.tool]", "=", ";", "\\\n", "\n", '"', "'", "==",
    "--hash=sha256:", "marker", "name", "version", "null", "1", "true", "-", "\t", "\u00e4", "#", "[", "]",
    "{", "}", ",", "wheels", "hashes",
)  # fmt: skip


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A lock in each format, and a uv.lock."""
    folder = tmp_path_factory.mktemp("locks")
    with IndexServer() as index:
        index.add("app", "1.0", requires=["lib", "win; sys_platform == 'win32'"])
        for name in ("lib", "win"):
            index.add(name, "1.0")
        lock = compatlock.lock(
            ["app"],
            index_url=index.url,
            targets=["3.12@linux", "3.12@windows"],
            cache=False,
            shipped_facts=False,
        )
    for name in ("requirements.lock", "pylock.toml", "lock.json"):
        compatlock.write(lock, folder / name)
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    data = Path(__file__).parents[1] / "lockfile" / "data" / "uv.lock"
    return {**found, "uv.lock": data.read_text(encoding="utf-8")}


def damaged(text: str, rng: random.Random) -> str:
    """The text with a few pieces cut out, doubled, replaced or put in."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice((0, 1, 1, 5, 40, 400)))
        piece = rng.choice((*_PIECES, "", text[at:end] * 2, text[end : end + 30]))
        text = text[:at] + piece + text[end:]
    return text


@pytest.mark.parametrize("name", ["requirements.lock", "pylock.toml", "lock.json", "uv.lock"])
def test_nothing_but_input_errors(texts: dict[str, str], tmp_path: Path, name: str) -> None:
    rng = random.Random(name)
    path = tmp_path / name
    refused, checked = [], 0
    for _ in range(200):
        path.write_text(damaged(texts[name], rng), encoding="utf-8")
        try:
            lock = read_lock_text(str(path))
        except compatlock.InputError as error:
            refused.append(error.message)
            continue
        checked += 1
        for defect in lock.defects:
            assert defect.text.startswith(defect.origin)
            assert defect.text.isprintable()
        assert not list(stale_findings(lock, [(">=3.8", "pyproject.toml:4")])) or lock.python
    assert checked
    assert all(str(path) in message or message.startswith("the lock") for message in refused)
