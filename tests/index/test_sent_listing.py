"""What the second process sends is what this one would make, and is read only where it is looked at."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from compatlock.index import holdings, sent_listing
from compatlock.index.indexes import index_set_of
from compatlock.index.kept_listing import kept_releases
from compatlock.index.parsing import WORTH_IT, ListingParser
from compatlock.index.sent_listing import SentReleases, SentView, pack_view, scope_of, sent_view, versions_of
from compatlock.index.simple import parse_listing
from compatlock.index.store import Store
from compatlock.index.supply import Supply
from compatlock.index.view import View, Viewer, encode_view
from compatlock.model.listing import Listing
from compatlock.model.policy import Policy
from compatlock.model.target import Target

URL = "https://index.example/simple/app/"
TARGET = Target("3.12.0", "x86_64-manylinux_2_34")
POLICIES = [
    Policy(),
    Policy(exclude_newer=1_700_000_000, prerelease="allow"),
    Policy(no_binary=(":all:",), exclude_newer_for=(("app", None),), prerelease_for=(("app", "allow"),)),
]
TAGS = ("py3-none-any", "cp312-cp312-manylinux_2_28_x86_64", "cp39-cp39-win_amd64")


def page() -> bytes:
    files: list[dict[str, Any]] = []
    for k in range(300):
        version = f"1.{k}" + ("rc1" if k % 7 == 0 else "")
        names = [f"app-{version}-{tag}.whl" for tag in TAGS[k % 3 :]] + [f"app-{version}.tar.gz"] * (k % 2)
        files += [
            {
                "filename": name,
                "url": f"https://files.example/{name}",
                "hashes": {"sha256": f"{k:064x}"} if k % 5 else {},
                "upload-time": f"2023-{k % 12 + 1:02}-01T00:00:00.000000Z",
                "requires-python": [">=3.8", ">=3.13"][k % 11 == 0],
                "yanked": ["broken", True, False, False][k % 4],
            }
            for name in names
        ]
    files.append({"filename": "other-1.0.tar.gz", "url": "https://files.example/o", "hashes": {}})
    return json.dumps({"name": "app", "files": files}).encode()


BODY = page()
HERE = parse_listing("app", BODY, URL)


def elsewhere(policy: Policy) -> Listing:
    """The listing as the second process sends it."""
    parser = ListingParser()
    parser.judge_for(TARGET, policy)
    try:
        return asyncio.run(parser.parse("app", BODY, URL))
    finally:
        parser.close()


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What of listings and views was read."""
    seen: list[str] = []

    unpack = SentView.unpacked

    def read(*kept: Any) -> Any:
        seen.append("kept_releases")
        return kept_releases(*kept)

    def unpacked(self: SentView) -> View:
        seen.append("unpacked")
        return unpack(self)

    monkeypatch.setattr(sent_listing, "kept_releases", read)
    monkeypatch.setattr(SentView, "unpacked", unpacked)
    return seen


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_listing_and_view_are_those_that_this_process_makes(policy: Policy) -> None:
    assert len(BODY) > WORTH_IT
    there, view = elsewhere(policy), Viewer(TARGET, policy).view(HERE)
    sent = sent_view(there, TARGET, policy)
    assert sent is not None
    assert (sent.unpacked(), sent.encoded) == (view, encode_view(view))
    assert len(view.candidates) > 40
    assert len(view.hidden) > 20
    assert there == HERE
    assert versions_of(there) == versions_of(HERE)


def test_the_view_of_another_target_or_policy_is_not_taken() -> None:
    there = elsewhere(POLICIES[0])
    assert sent_view(there, TARGET, POLICIES[1]) is None
    assert sent_view(there, TARGET._replace(python="3.11.0"), POLICIES[0]) is None
    assert sent_view(HERE, TARGET, POLICIES[0]) is None


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_views_are_the_same_packed_and_unpacked(policy: Policy) -> None:
    view = Viewer(TARGET, policy).view(HERE)
    sent = SentView(scope_of(TARGET, policy), "", *pack_view(view))
    assert repr(sent.unpacked()) == repr(view)
    assert [sent.files(k) for k in range(len(view.candidates))] == [c.files for c in view.candidates]


def test_releases_are_a_sequence_that_is_read_when_looked_at(decoded: list[str]) -> None:
    releases = SentReleases("app", versions_of(HERE), HERE.kept, None)
    assert len(releases) == len(HERE.releases)
    assert decoded == []
    assert releases == HERE.releases
    assert HERE.releases == releases
    assert releases == SentReleases("app", versions_of(HERE), HERE.kept, None)
    assert (releases[3], releases[-2:]) == (HERE.releases[3], HERE.releases[-2:])
    assert hash(releases) == hash(HERE.releases)
    assert [*releases] == [*HERE.releases]
    assert decoded == ["kept_releases"] * 2


class _Network:
    """Hands out one listing."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing

    def judge_for(self, *scope: object) -> None:
        assert scope == (TARGET, POLICIES[0])

    def fetch(self, listings: Any, _metadata: Any, *, on_listing: Any, **_: Any) -> None:
        for key, _ in listings:
            on_listing(key, self.listing, "")


def test_a_run_takes_what_was_sent_and_looks_at_little(decoded: list[str]) -> None:
    def supply(listing: Listing) -> Supply:
        network = cast("Any", _Network(listing))
        return Supply(
            Store(None), index_set_of("https://index.example/simple/"), TARGET, POLICIES[0], network
        )

    there, here = supply(elsewhere(POLICIES[0])), supply(HERE)
    assert [*there.package("app").versions] == [*here.package("app").versions]
    assert there.package("app").runs(">=1.100") == here.package("app").runs(">=1.100")
    assert there.file_of("app", 3) == here.file_of("app", 3)
    assert there.installable_files({"app": 5}) == here.installable_files({"app": 5})
    assert decoded == []
    assert there.hidden("app") == here.hidden("app")
    assert decoded == ["unpacked"]
    assert there.listing("app") == here.listing("app")
    assert holdings.Holdings.skipped(there, "app") == HERE.skipped
