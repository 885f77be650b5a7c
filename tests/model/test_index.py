"""Indexes as users name them."""

from __future__ import annotations

import pytest

from compatlock.errors import InputError
from compatlock.model.index import PackageIndex, assign, parse_index
from compatlock.model.secret import Secret


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("https://index.example/simple/", PackageIndex("https://index.example/simple/")),
        (" https://index.example/simple ", PackageIndex("https://index.example/simple/")),
        ("HTTP://Index.Example:8080", PackageIndex("http://index.example:8080/")),
        ("https://[::1]:8080/Simple//", PackageIndex("https://[::1]:8080/Simple/")),
        ("https://index.example/simple/#x", PackageIndex("https://index.example/simple/")),
        ("cu128=https://index.example/whl/cu128", PackageIndex("https://index.example/whl/cu128/", "cu128")),
        ("https://index.example/a=b/", PackageIndex("https://index.example/a=b/")),
        ("https://u:p%40@index.example/", PackageIndex("https://index.example/", "", Secret("u:p%40"))),
        ("a.b=https://token@index.example/", PackageIndex("https://index.example/", "a.b", Secret("token"))),
        ("https://a@b:c@index.example/", PackageIndex("https://index.example/", "", Secret("a@b:c"))),
    ],
)
def test_what_is_an_index(text: str, index: PackageIndex) -> None:
    assert parse_index(text) == index


@pytest.mark.parametrize(
    "text",
    [
        "",
        "index.example/simple",
        "file:///simple",
        "https://",
        "https:///simple",
        "https://u:hunter2@/simple",
        "https://u:hunter2@[x/",
        "https://u:hunter2@host:port/",
        "https://u:hunter2@host:99999/",
        "https://u:hun/ter2@host/",
        "u:hunter2@index.example/simple",
        "https://index.example/simple?token=hunter2",
        "https://index.example/sim ple",
        "https://index.example/\x1b[31m",
        "bad name=https://index.example/",
    ],
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(InputError, match="is not the URL of an index") as caught:
        parse_index(text, "UV_INDEX")
    assert "(from UV_INDEX)" in caught.value.message
    assert "hunter2" not in caught.value.message
    assert "ter2" not in caught.value.message
    assert caught.value.message.isprintable()


def test_how_an_index_is_shown() -> None:
    assert parse_index("https://index.example").shown == "https://index.example/"
    assert parse_index("a=https://u:hunter2@index.example").shown == "a=https://****@index.example/"
    assert PackageIndex().shown == "the public index"
    assert "hunter2" not in repr(parse_index("https://u:hunter2@index.example"))


CU128 = parse_index("cu128=https://u:hunter2@index.example/whl/cu128")


def test_projects_are_assigned_to_indexes() -> None:
    other = "https://other.example/simple/"
    assert assign([" torch , Torch_Vision = cu128", f"b={other}", "b=cu128", f"a={other}"], (CU128,)) == (
        ("a", PackageIndex(other)),
        ("b", CU128),
        ("torch", CU128),
        ("torch-vision", CU128),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("torch", "`torch` (from X) does not assign projects to an index"),
        ("torch=", "`torch=` (from X) does not assign projects to an index"),
        ("=cu128", "`=cu128` (from X) does not assign projects to an index"),
        ("a,,b=cu128", "`a,,b=cu128` (from X) does not assign projects to an index"),
        ("torch>=2=cu128", "`torch>=2=cu128` (from X) does not assign projects to an index"),
        ("torch=cu130", "`torch=cu130` (from X): no index is called `cu130`"),
        ("torch=ftp://u:hunter2@x.example/", "`ftp://****@x.example/` (from X) is not the URL of an index"),
        ("https://u:hunter2@x.example/", "`https://****@x.example/` (from X) does not assign projects"),
    ],
)
def test_assignments_that_are_none(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        assign([text], (CU128,), "X")
    assert caught.value.message.startswith(message)
    assert "hunter2" not in f"{caught.value.message}{caught.value.hints}"
