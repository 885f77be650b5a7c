"""Listings: what is kept of an index's JSON answer, what is skipped and why, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.utils import parse_sdist_filename, parse_wheel_filename

from compatlock.errors import IndexUnavailable
from compatlock.index.simple import parse_listing
from compatlock.model.listing import File, Listing

PAGE = "https://index.example/simple/app/"
SHA = "a" * 64


def entry(filename: str, **details: Any) -> dict[str, Any]:
    return {"filename": filename, "url": f"https://files.example/{filename}", "hashes": {}, **details}


def listing(*entries: Any, project: str = "app", page: str = PAGE) -> Listing:
    return parse_listing(project, json.dumps({"files": entries}).encode(), page)


def only_file(**details: Any) -> File:
    parsed = listing(entry("app-1.0.tar.gz", **details))
    assert not parsed.skipped
    return parsed.releases[0].files[0]


def test_releases_are_newest_first_and_versions_canonical() -> None:
    names = [
        "app-1.0.tar.gz",
        "app-1.10-py3-none-any.whl",
        "app-1.9.tar.gz",
        "app-1.10RC1.zip",
        "app-2.0.dev3.tgz",
    ]
    parsed = listing(*map(entry, names))
    assert [release.version for release in parsed.releases] == ["2.0.dev3", "1.10", "1.10rc1", "1.9", "1.0"]
    assert (parsed.project, parsed.found) == ("app", True)


def test_equal_versions_in_different_spelling_are_one_release() -> None:
    names = ["app-1.0.0-py3-none-any.whl", "app-1.0.tar.gz", "app-1-py2-none-any.whl"]
    (release,) = listing(*map(entry, names)).releases
    assert release.version == "1"
    assert [file.filename for file in release.files] == sorted(names)


def test_local_versions_are_releases_of_their_own() -> None:
    parsed = listing(entry("app-1.0+cu128-py3-none-any.whl"), entry("app-1.0-py3-none-any.whl"))
    assert [release.version for release in parsed.releases] == ["1.0+cu128", "1.0"]


@pytest.mark.parametrize(
    "filename",
    [
        "Zope.Interface-1.0.tar.gz",
        "zope-interface-1.0.tar.gz",
        "zope_interface-1.0-py3-none-any.whl",
        "zope__interface-1.0.zip",
    ],
)
def test_the_project_name_may_be_spelled_in_any_way(filename: str) -> None:
    parsed = listing(entry(filename), project="zope.interface")
    assert [release.version for release in parsed.releases] == ["1.0"], parsed.skipped
    assert parsed.project == "zope-interface"


def test_an_old_sdist_may_have_dashes_in_its_version() -> None:
    parsed = listing(entry("app-1.0-beta2.tar.gz"), entry("app-1.0-1.tar.gz"))
    assert [release.version for release in parsed.releases] == ["1.0.post1", "1.0b2"]


@pytest.mark.parametrize(
    ("filename", "reason"),
    [
        ("other-1.0-py3-none-any.whl", "not a file of app"),
        ("app-extra-1.0.tar.gz", "`extra-1.0` is not a valid version (PEP 440)"),
        ("application-1.0.tar.gz", "not a file of app"),
        ("app-1.0.post-py3-none-any-x-y.whl", "not a valid wheel name (PEP 427)"),
        ("app-1.0-py3-none.whl", "not a valid wheel name (PEP 427)"),
        ("app-1.0-local-py3-none-any.whl", "not a valid wheel name (PEP 427)"),
        ("app-1.0--none-any.whl", "not a valid wheel name (PEP 427)"),
        ("app__x-1.0-py3-none-any.whl", "not a valid wheel name (PEP 427)"),
        ("app-2004d-py3-none-any.whl", "`2004d` is not a valid version (PEP 440)"),
        ("app-latest.tar.gz", "`latest` is not a valid version (PEP 440)"),
        ("app-1.0-py2.7.egg", ".egg files are not supported"),
        ("app-1.0.win32.exe", ".exe files are not supported"),
        ("app-1.0.win32.msi", ".msi files are not supported"),
        ("app-1.0-1.noarch.rpm", ".rpm files are not supported"),
        ("app-1.0.tar.xz", ".tar.xz files are not supported"),
        ("app-1.0.txt", "neither a wheel nor an sdist"),
        ("../app-1.0.tar.gz", "not a valid file name"),
        ("app-1.0\n.tar.gz", "not a valid file name"),
        ("", "not a valid file name"),
    ],
)
def test_unusable_files_are_skipped_with_the_reason(filename: str, reason: str) -> None:
    parsed = listing(entry(filename))
    assert parsed.releases == ()
    assert [(skipped.filename, skipped.reason) for skipped in parsed.skipped] == [(filename, reason)]


def test_malformed_entries_do_no_harm() -> None:
    parsed = listing(
        None, 3, "app-1.0.tar.gz", {}, {"filename": 7}, {"filename": "app-1.0.zip"}, entry("app-2.0.zip")
    )
    assert [release.version for release in parsed.releases] == ["2.0"]
    assert [skipped.reason for skipped in parsed.skipped] == ["an entry without a file name"] * 5 + ["no URL"]


def test_urls_are_resolved_against_the_page_and_lose_their_fragment() -> None:
    assert (
        only_file(url="../../files/app-1.0.tar.gz#sha256=1").url
        == "https://index.example/files/app-1.0.tar.gz"
    )
    assert only_file(url="//cdn.example/app-1.0.tar.gz").url == "https://cdn.example/app-1.0.tar.gz"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/passwd", "its URL is neither http nor https"),
        ("ftp://files.example/app", "its URL is neither http nor https"),
        ("data:,x", "its URL is neither http nor https"),
        ("//[broken", "its URL is neither http nor https"),
        ("http://[broken", "its URL is invalid"),
        ("http://u:p@\u2100/app", "its URL is invalid"),
        ("", "no URL"),
    ],
)
def test_only_http_urls_are_followed(url: str, reason: str) -> None:
    parsed = listing(entry("app-1.0.tar.gz", url=url))
    assert ([skipped.reason for skipped in parsed.skipped], parsed.releases) == ([reason], ())


@pytest.mark.parametrize(
    ("hashes", "expected"),
    [
        ({"sha256": SHA}, SHA),
        ({"sha256": SHA.upper()}, ""),
        ({"sha256": "abc"}, ""),
        ({"sha256": SHA + "\n"}, ""),
        ({"md5": "b" * 32}, ""),
        ({"sha256": None}, ""),
        (None, ""),
        ([], ""),
    ],
)
def test_only_a_valid_sha256_counts(hashes: Any, expected: str) -> None:
    assert only_file(hashes=hashes).sha256 == expected


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-07-28T10:27:45.042875Z", 1785234465),
        ("2026-07-28T10:27:45.999999Z", 1785234465),
        ("2026-07-28T10:27:45", 1785234465),
        ("2026-07-28T12:27:45+02:00", 1785234465),
        ("2026-07-28T05:27:45-0500", 1785234465),
        ("2026-13-28T10:27:45Z", None),
        ("yesterday", None),
        (1785234465, None),
        (None, None),
    ],
)
def test_upload_times_are_seconds_since_the_epoch(text: Any, seconds: int | None) -> None:
    assert only_file(**{"upload-time": text}).upload_time == seconds


@pytest.mark.parametrize(
    ("yanked", "expected"),
    [(False, None), (None, None), ("", None), (True, ""), ("broken build", "broken build")],
)
def test_yanks(yanked: Any, expected: str | None) -> None:
    assert only_file(yanked=yanked).yanked == expected


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        ({}, ""),
        ({"core-metadata": {"sha256": SHA}}, SHA),
        ({"core-metadata": True}, "?"),
        ({"core-metadata": {"md5": "x"}}, "?"),
        ({"core-metadata": False, "dist-info-metadata": {"sha256": SHA}}, ""),
        ({"data-dist-info-metadata": {"sha256": SHA}}, SHA),
        ({"dist-info-metadata": {"sha256": SHA}}, SHA),
    ],
)
def test_advertised_metadata_files(details: dict[str, Any], expected: str) -> None:
    assert only_file(**details).metadata == expected


def test_sizes_and_requires_python() -> None:
    file = only_file(size=12, **{"requires-python": ">=3.10"})
    assert (file.size, file.requires_python) == (12, ">=3.10")
    for size in (-1, True, "12", 1.5, None):
        assert only_file(size=size, **{"requires-python": None}).size == 0


ENTRIES = [
    entry("app-1.0.tar.gz", size=1, yanked="bad"),
    entry("app-1.0.0-py3-none-any.whl", size=2),
    entry("app-2.0-cp312-cp312-win_amd64.whl", size=3),
    entry("app-2.0-1-py3-none-any.whl", size=4),
    entry("app-2.0-1-py3-none-any.whl", size=5),
    entry("app-0.1.zip", size=6),
    entry("app-0.1.egg", size=7),
]


@given(st.permutations(ENTRIES))
@settings(max_examples=50, deadline=None)
def test_the_order_of_files_does_not_count(entries: list[dict[str, Any]]) -> None:
    assert listing(*entries) == listing(*ENTRIES)


def test_the_digest_tells_contents_apart() -> None:
    digests = {listing(*ENTRIES[:count]).digest for count in (0, 1, 2, 3, 4, 6)}
    assert len(digests) == 6
    changed = [{**one, "requires-python": ">=3"} for one in ENTRIES]
    assert listing(*changed).digest != listing(*ENTRIES).digest


versions = st.from_regex(
    r"(1!)?[0-9]{1,2}(\.[0-9]{1,2}){0,2}((a|rc)[0-9])?(\.post[0-9])?(\.dev[0-9])?", fullmatch=True
)
names = st.from_regex(r"[a-z0-9]([._]?[a-z0-9]){0,4}", fullmatch=True)
tags = st.sampled_from(
    ["py3-none-any", "py2.py3-none-any", "cp312-cp312-manylinux_2_17_x86_64", "1-py3-none-any"]
)


@given(names, versions, tags, st.sampled_from([".tar.gz", ".zip"]))
@settings(max_examples=100, deadline=None)
def test_names_are_read_as_packaging_reads_them(name: str, version: str, tag: str, suffix: str) -> None:
    wheel, sdist = f"{name.replace('.', '_')}-{version}-{tag}.whl", f"{name}-{version}{suffix}"
    parsed = listing(entry(wheel), entry(sdist), project=name)
    (release,) = parsed.releases
    assert release.version == str(parse_wheel_filename(wheel)[1]) == str(parse_sdist_filename(sdist)[1])
    assert parsed.project == parse_sdist_filename(sdist)[0]


@pytest.mark.parametrize(
    ("body", "answered"),
    [
        (b"<!DOCTYPE html><a href=x>", "a page that is no list of files (to log in, perhaps)"),
        (b"", "something else"),
        (b"[]", "something else"),
        (b'{"files": {}}', "something else"),
        (b"\xff\xfe", "something else"),
        (b"[" * 100_000, "something else"),
    ],
)
def test_what_is_no_listing_is_refused(body: bytes, answered: str) -> None:
    with pytest.raises(IndexUnavailable) as caught:
        parse_listing("app", body, "https://user:secret@index.example/simple/app/")
    assert caught.value.message == (
        "`https://****@index.example/simple/app/` should list the files of `app` "
        f"but answered with {answered}"
    )
    assert "--default-index" in caught.value.hints[0]


def test_an_answer_about_another_project_is_refused() -> None:
    for name in ("my-app", "My_App", "my.app"):
        assert parse_listing("My.app", json.dumps({"name": name, "files": []}).encode(), PAGE).found
    with pytest.raises(IndexUnavailable, match="files of `app` but answered with those of `Other`"):
        parse_listing("app", b'{"name": "Other", "files": []}', PAGE)


def test_the_content_type_decides() -> None:
    page, answer = b'<html><a href="app-1.0.zip">x</a></html>', json.dumps({"files": [entry("app-2.0.zip")]})
    for body, kind, version in (
        (page, "text/html; charset=utf-8", "1.0"),
        (page, "application/vnd.pypi.simple.v1+html", "1.0"),
        (page, "", "1.0"),
        (answer.encode(), "application/vnd.pypi.simple.v1+json", "2.0"),
        (answer.encode(), "Application/JSON", "2.0"),
        (answer.encode(), "binary/octet-stream", "2.0"),
    ):
        assert parse_listing("app", body, PAGE, kind).releases[0].version == version
    for body, kind, answered in (
        (page, "application/json", "an HTML page under the name of JSON"),
        (answer.encode(), "text/html", "a page that is no list of files"),
    ):
        with pytest.raises(IndexUnavailable, match=answered):
            parse_listing("app", body, PAGE, kind)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"status": "archived"}, ("archived", "")),
        (
            {"status": "deprecated", "reason": "use\n https://u:pw@b.example"},
            ("deprecated", "use https://****@b.example"),
        ),
        ({"status": "active"}, ("", "")),
        ({"status": "haunted", "reason": "x"}, ("", "")),
        ({"status": 3, "reason": 4}, ("", "")),
        ("archived", ("", "")),
    ],
)
def test_the_status_of_a_project(given: Any, status: tuple[str, str]) -> None:
    parsed = parse_listing(
        "app", json.dumps({"files": [entry("app-1.zip")], "project-status": given}).encode(), PAGE
    )
    assert (parsed.status, parsed.status_reason) == status
    assert (parsed.digest == listing(entry("app-1.zip")).digest) == (status == ("", ""))
    assert len(parsed.releases) == 1


def test_a_quarantined_project_has_no_releases() -> None:
    status = {"status": "quarantined", "reason": "malware"}
    body = json.dumps({"files": [entry("app-1.zip"), entry("x.txt")], "project-status": status}).encode()
    parsed = parse_listing("app", body, PAGE)
    assert (parsed.found, parsed.releases, parsed.status) == (True, (), "quarantined")
    assert [skipped.reason for skipped in parsed.skipped] == [
        "the index holds the project in quarantine: malware",
        "neither a wheel nor an sdist",
    ]


def test_credentials_in_urls_of_files_are_dropped() -> None:
    assert (
        only_file(url="https://u:pw@files.example/app-1.0.tar.gz").url
        == "https://files.example/app-1.0.tar.gz"
    )
    assert (
        only_file(url="https://files.example/@a/app-1.0.tar.gz").url
        == "https://files.example/@a/app-1.0.tar.gz"
    )
    relative = listing(
        entry("app-1.0.tar.gz", url="../a.tar.gz"), page="https://u:pw@index.example/simple/app/"
    )
    assert relative.releases[0].files[0].url == "https://index.example/simple/a.tar.gz"


def test_a_later_api_is_refused() -> None:
    with pytest.raises(IndexUnavailable, match=r"version 2\.0 of the Simple API"):
        parse_listing("app", b'{"meta": {"api-version": "2.0"}, "files": []}', PAGE)


def test_a_page_of_another_project_is_no_answer() -> None:
    page = b'<!DOCTYPE html><html><body><a href="other-1.0-py3-none-any.whl">other-1.0-py3-none-any.whl</a>'
    with pytest.raises(IndexUnavailable, match="those of another one, such as `other-1"):
        parse_listing("app", page, "https://index.example/simple/app/", "text/html")
