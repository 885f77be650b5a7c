"""What stands in the way of hidden releases."""

from __future__ import annotations

from compatlock.api.why.obstacles import obstacles
from compatlock.index.store import Store
from compatlock.index.supply import Supply
from compatlock.index.view import Hidden
from compatlock.model.listing import File, Listing, Release
from compatlock.model.policy import Policy
from compatlock.model.target import Target

LINUX = Target("3.12.0", "x86_64-manylinux_2_28")


def wheel(version: str, tag: str, **fields: object) -> File:
    name = f"a-{version}-{tag}.whl"
    file = File(name, f"https://index.example/{name}", upload_time=1_000_000)
    return file._replace(**fields)  # type: ignore[arg-type]


LISTING = Listing(
    "a",
    (
        Release("7.0", (wheel("7.0", "py3-none-any", upload_time=86_400 * 20_000),)),
        Release("6.0", (wheel("6.0", "py3-none-any", requires_python=">=3.13"),)),
        Release(
            "5.0",
            (
                wheel("5.0", "cp312-cp312-manylinux_2_34_x86_64"),
                File("a-5.0.tar.gz", "https://index.example/a-5.0.tar.gz", upload_time=1_000_000),
            ),
        ),
        Release(
            "4.0",
            (
                wheel("4.0", "cp312-cp312-manylinux_2_31_x86_64", requires_python=">=3.13"),
                wheel("4.0", "cp312-cp312-manylinux_2_39_x86_64"),
            ),
        ),
        Release(
            "3.0", (wheel("3.0", "py3-none-any", yanked=""), wheel("3.0", "py2-none-any", yanked="oops"))
        ),
        Release("2.0", (wheel("2.0", "py3-none-any"),)),
        Release("1.0", (wheel("1.0", "cp312-cp312-win_amd64", yanked="late"),)),
    ),
    digest="d",
)


def supply() -> Supply:
    store = Store(None)
    supply = Supply(store, "memory", LINUX, Policy(exclude_newer=86_400 * 10_000), None)
    store.put_listing(supply.source_of(LISTING.project), LISTING, "", 0)
    store.flush()
    return supply


def test_hidden_releases_with_what_can_be_done() -> None:
    assert [(h.version, h.reason, h.detail) for h in obstacles(supply(), "a")] == [
        ("7.0", "date", "2024-10-04"),
        ("6.0", "python", ">=3.13"),
        ("5.0", "native", "x86_64-manylinux_2_34"),
        ("4.0", "tags", "x86_64-manylinux_2_39"),
        ("3.0", "yanked", "oops"),
        ("1.0", "tags", "only for Windows x86_64"),
    ]


def test_a_project_that_nothing_is_known_of() -> None:
    assert obstacles(supply(), "b") == ()


def test_details_are_texts_of_hidden() -> None:
    assert all(isinstance(h, Hidden) for h in obstacles(supply(), "a"))
