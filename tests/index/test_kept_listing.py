"""What is kept of a listing is read as it was, in whichever of the two forms."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compatlock.index.compression import GZIP_MAGIC, packed
from compatlock.index.kept_listing import kept_releases
from compatlock.index.sent_listing import versions_of
from compatlock.index.simple import parse_listing
from compatlock.index.store import Store

PAGE = "https://index.example/simple/app/"
KIND = "application/vnd.pypi.simple.v1+json"


def entry(name: str, **more: Any) -> dict[str, Any]:
    return {"filename": name, "url": f"https://files.example/{name}", "hashes": {"sha256": "5a" * 32}, **more}


NAMES = ("app-1.0.tar.gz", "app-2.0-py3-none-any.whl", "app-1.0-py3-none-any.whl", "other-3.0.tar.gz")
UNIFORM = [entry(name, yanked=False) for name in NAMES]
OTHERS = [*UNIFORM, entry("app-3.0.tar.gz", url="https://me:secret@files.example/app-3.0.tar.gz")]


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize(("entries", "is_uniform"), [(UNIFORM, True), (OTHERS, False)])
def test_it_is_read_as_it_was(entries: list[dict[str, Any]], is_uniform: bool, is_packed: bool) -> None:
    body = json.dumps({"files": entries}).encode()
    sent = packed(body) if is_packed else body
    listing = parse_listing("app", sent, PAGE, KIND, is_packed)
    assert (listing.kept[:2] == GZIP_MAGIC) == is_uniform
    assert kept_releases("app", versions_of(listing), listing.kept) == listing.releases
    store = Store(None)
    store.put_listing("s", listing, "", 5)
    store.flush()
    assert store.listing("s", "app") == listing._replace(kept=b"")
    assert listing == parse_listing("app", body, PAGE, KIND)


def test_an_answer_that_came_packed_is_kept_as_it_came() -> None:
    sent = packed(json.dumps({"files": UNIFORM}, separators=(",", ":")).encode())
    assert parse_listing("app", sent, PAGE, KIND, True).kept is sent


def test_no_credentials_are_kept() -> None:
    listing = parse_listing("app", packed(json.dumps({"files": OTHERS}).encode()), PAGE, KIND, True)
    assert listing.releases[0].files[0].url == "https://files.example/app-3.0.tar.gz"
    for files in (listing.releases, kept_releases("app", versions_of(listing), listing.kept)):
        assert "secret" not in repr(files)
    assert listing.kept[:2] != GZIP_MAGIC


def test_files_of_a_quarantined_project_are_told_one_by_one() -> None:
    answer = {"files": UNIFORM, "project-status": {"status": "quarantined", "reason": "malware"}}
    listing = parse_listing("app", json.dumps(answer).encode(), PAGE, KIND)
    assert not listing.releases
    assert [skipped.filename for skipped in listing.skipped] == sorted(NAMES)
    active = parse_listing(
        "app", json.dumps({**answer, "project-status": {"status": "active"}}).encode(), PAGE
    )
    assert len(active.releases) == 2
