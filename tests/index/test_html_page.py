"""HTML listings: the attributes of the standards, the page's base, and pages of other kinds."""

from __future__ import annotations

import html
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.errors import IndexUnavailable
from compatlock.index.html_page import project_names
from compatlock.index.simple import parse_listing
from compatlock.model.listing import File, Listing

PAGE = "https://index.example/simple/app/"
SHA = "a" * 64
WHEEL = "app-1.0-py3-none-any.whl"


def listing(page: str, content_type: str = "text/html") -> Listing:
    return parse_listing("app", page.encode(), PAGE, content_type)


def only_file(anchor: str, head: str = "") -> File:
    parsed = listing(f"<!DOCTYPE html><html><head>{head}</head><body><h1>app</h1>{anchor}</body></html>")
    assert not parsed.skipped
    return parsed.releases[0].files[0]


def test_an_anchor_says_all_there_is() -> None:
    anchor = (
        f'<a href="../../files/{WHEEL}#sha256={SHA}" data-requires-python="&gt;=3.9,&lt;4"'
        f' data-yanked="bad &amp; old" data-dist-info-metadata="sha256={SHA}">{WHEEL}</a>'
    )
    url = f"https://index.example/files/{WHEEL}"
    assert only_file(anchor) == File(WHEEL, url, SHA, 0, None, ">=3.9,<4", "bad & old", SHA)


@pytest.mark.parametrize(
    ("attributes", "metadata", "yanked"),
    [
        ("", "", None),
        ("data-yanked", "", ""),
        ('data-yanked=""', "", ""),
        (f'data-core-metadata="sha256={SHA}" data-dist-info-metadata="true"', SHA, None),
        ('data-core-metadata="true"', "?", None),
        ("data-core-metadata", "?", None),
        ('data-core-metadata="md5=0"', "?", None),
        ('data-core-metadata="false" data-dist-info-metadata="true"', "", None),
        ('data-dist-info-metadata="true" DATA-YANKED="x"', "?", "x"),
    ],
)
def test_attributes(attributes: str, metadata: str, yanked: str | None) -> None:
    file = only_file(f'<A HREF="{WHEEL}" {attributes}>x</A>')
    assert (file.metadata, file.yanked) == (metadata, yanked)


@pytest.mark.parametrize(
    ("href", "head", "url"),
    [
        (WHEEL, "", f"{PAGE}{WHEEL}"),
        (f"/files/{WHEEL}", "", f"https://index.example/files/{WHEEL}"),
        (f"//cdn.example/{WHEEL}", "", f"https://cdn.example/{WHEEL}"),
        (WHEEL, '<base href="https://cdn.example/f/">', f"https://cdn.example/f/{WHEEL}"),
        (
            WHEEL,
            '<base target=x><base href="../f/"><base href="../g/">',
            f"https://index.example/simple/f/{WHEEL}",
        ),
        (WHEEL, '<base href="http://[broken">', f"{PAGE}{WHEEL}"),
        (f"{WHEEL}?a=1&amp;b=2#md5=0&amp;sha256={SHA}", "", f"{PAGE}{WHEEL}?a=1&b=2"),
        (f" {WHEEL} ", "", f"{PAGE}{WHEEL}"),
    ],
)
def test_urls(href: str, head: str, url: str) -> None:
    file = only_file(f'<a href="{href}">{WHEEL}</a>', head)
    assert file.url == url
    assert file.sha256 == (SHA if "sha256" in href else "")


def test_the_name_is_that_of_the_url_not_the_shown_one() -> None:
    name = "app-2.0%2Bcu128-cp312-cp312-manylinux_2_28_x86_64.whl"
    page = listing(f'<a href="/whl/{name}#sha256={SHA}">app-2.0+cu128-cp312...</a>')
    (release,) = page.releases
    assert release.version == "2.0+cu128"
    assert release.files[0].filename == name.replace("%2B", "+")
    assert release.files[0].url == f"https://index.example/whl/{name}"


def test_what_is_no_file_of_the_project_is_skipped_with_the_reason() -> None:
    parsed = listing(
        '<a href="../">up</a><a href="?C=N;O=D">Name</a><a name=top></a><a href="#top">top</a>'
        f'<a href="{WHEEL}">x</a><a href="{WHEEL}.asc">x</a><a href="other-1.zip">x</a><a href="ftp://x/app-3.zip">x</a>'
    )
    assert [release.version for release in parsed.releases] == ["1.0"]
    assert [tuple(skipped) for skipped in parsed.skipped] == [
        (f"{WHEEL}.asc", "neither a wheel nor an sdist"),
        ("app-3.zip", "its URL is neither http nor https"),
        ("other-1.zip", "not a file of app"),
    ]


@pytest.mark.parametrize(
    "page",
    [
        "<!DOCTYPE html><html><body></body></html>",
        '<!doctype html><meta name="pypi:repository-version" content="1.0"><a href="/">home</a>',
        '<html><title>Index of /simple/app</title><a href="../">..</a></html>',
    ],
)
def test_a_project_may_have_no_files(page: str) -> None:
    parsed = listing(page)
    assert (parsed.found, parsed.releases, parsed.skipped) == (True, (), ())


@pytest.mark.parametrize(
    "page",
    [
        "",
        "not found",
        '<html><form action="/login"><input type=password></form></html>',
        '<html><a href="/login.php">Log in</a></html>',
        '<html><a href="https://portal.example/welcome.html">Welcome</a></html>',
    ],
)
def test_a_page_of_another_kind_is_refused(page: str) -> None:
    with pytest.raises(IndexUnavailable, match="but answered with a page that is no list of files") as caught:
        listing(page)
    assert PAGE in caught.value.message
    assert "credentials" in caught.value.hints[0]


def test_the_version_of_the_api_and_the_status() -> None:
    head = '<meta name="pypi:repository-version" content="{}"><meta name="pypi:project-status" content="{}">'
    reason = '<meta name="pypi:project-status-reason" content="see b">'
    parsed = listing(head.format("1.4", "archived") + reason + f'<a href="{WHEEL}">x</a>')
    assert (parsed.status, parsed.status_reason, len(parsed.releases)) == ("archived", "see b", 1)
    parsed = listing(head.format("1.4", "quarantined") + f'<a href="{WHEEL}">x</a>')
    assert (parsed.releases, parsed.skipped[0].filename) == ((), WHEEL)
    with pytest.raises(IndexUnavailable, match=r"version 2\.0 of the Simple API"):
        listing(head.format("2.0", "active"))


def test_the_charset_of_the_page() -> None:
    page = f'<a href="{WHEEL}" data-yanked="caf\xe9">x</a>'
    for charset in ("latin-1", "utf-8"):
        parsed = parse_listing("app", page.encode(charset), PAGE, f"text/html; Charset={charset}")
        assert parsed.releases[0].files[0].yanked == "caf\xe9"
    unknown = parse_listing("app", page.encode(), PAGE, 'text/html; charset="no-such"')
    assert unknown.releases[0].files[0].yanked == "caf\xe9"
    assert parse_listing("app", b"\xef\xbb\xbf" + page.encode(), PAGE).releases


def test_the_projects_of_a_root_page() -> None:
    page = '<a href="../">..</a><a href="torch/">t</a><a href="/simple/My.App/?x">m</a><a href="Zope_x">z</a>'
    assert project_names(page) == {"torch", "My.App", "Zope_x"}


entries = st.lists(
    st.fixed_dictionaries(
        {"filename": st.sampled_from([WHEEL, "app-2.0.zip", "app-0.1.tar.gz", "app-latest.zip"])},
        optional={
            "requires-python": st.sampled_from([">=3.9", "<4,>3", "nonsense \"&' <>"]),
            "yanked": st.sampled_from(["bad", 'worse & "quoted" <b>']),
            "core-metadata": st.sampled_from([{"sha256": SHA}, True]),
            "hashes": st.just({"sha256": SHA}),
        },
    ),
    unique_by=lambda entry: str(entry["filename"]),
)


@given(entries)
def test_both_forms_say_the_same(files: list[dict[str, Any]]) -> None:
    anchors = ""
    for file in files:
        file["url"] = f"https://files.example/{file['filename']}"
        file.setdefault("hashes", {})
        fragment = f"#sha256={SHA}" if file["hashes"] else ""
        shown = {"href": file["url"] + fragment}
        for name in ("requires-python", "yanked"):
            if name in file:
                shown[f"data-{name}"] = file[name]
        if "core-metadata" in file:
            shown["data-core-metadata"] = "true" if file["core-metadata"] is True else f"sha256={SHA}"
        attributes = " ".join(f'{name}="{html.escape(value)}"' for name, value in shown.items())
        anchors += f"<a {attributes}>{file['filename']}</a><br/>\n"
    as_json = parse_listing("app", json.dumps({"files": files}).encode(), PAGE)
    as_html = listing(f"<!DOCTYPE html><html>{anchors}</html>")
    # How files are written may count for the digest, and for what is kept of them.
    assert as_html._replace(digest="", kept=b"") == as_json._replace(digest="", kept=b"")


@given(st.binary(max_size=200))
def test_noise_is_refused_or_harmless(noise: bytes) -> None:
    with suppress(IndexUnavailable):
        assert parse_listing("app", noise, PAGE, "text/html").project == "app"
