"""Stored views as packages."""

from __future__ import annotations

import pytest

from compatlock.index.stored_view import FileKeys, package_of
from compatlock.index.view import Candidate, View, encode_view
from compatlock.model.listing import File


def test_keys_are_cut_from_one_text() -> None:
    keys = FileKeys("a" * 20 + "b" * 20 + "c" * 20)
    assert len(keys) == 3
    assert [keys[0], keys[2], keys[-1]] == ["a" * 20, "c" * 20, "c" * 20]
    assert keys[1:] == ["b" * 20, "c" * 20]
    assert list(keys) == ["a" * 20, "b" * 20, "c" * 20]
    with pytest.raises(IndexError):
        keys[3]


def test_a_view_comes_back_as_a_package() -> None:
    numbers = [0, 1, 2, 5, 7, 8]
    view = View(
        tuple(
            Candidate(n, f"{9 - n}.0", (File(f"a-{n}.whl", "", f"{n:064}"),), None if n == 5 else n)
            for n in numbers
        ),
        (),
    )
    view = view._replace(candidates=(view.candidates[0]._replace(gate="yanked"), *view.candidates[1:]))
    stored = {**encode_view(view), "e": True}
    assert stored["x"] == [0, 3, 5, 6, 7, 9]
    package = package_of("a", stored, {">1": (0, 0, 8)}, compute=lambda _: (0,), prerelease="explicit")
    assert package.versions == ["9.0", "8.0", "7.0", "4.0", "2.0", "1.0"]
    assert list(package.positions) == numbers
    assert list(package.times) == [0, 1, 2, None, 7, 8]
    assert (package.times[3], package.times[4:], len(package.times)) == (None, [7, 8], 6)
    assert package.gates == {0: "yanked"}
    assert package.file_keys[4] == f"{7:064}"[:20]
    assert package.runs(">1") == ((0, 5),)
    assert package.runs("<0") == ()


def test_positions_in_one_range() -> None:
    view = View(tuple(Candidate(n, str(9 - n), (File("a", "", f"{n:064}"),), None) for n in (3, 4, 5)), ())
    stored = {**encode_view(view), "e": True}
    package = package_of("a", stored, {}, compute=lambda _: (0, 0, 5), prerelease="explicit")
    assert list(package.positions) == [3, 4, 5]
    assert list(package.times) == [None, None, None]
    assert package.runs(">4") == ((0, 2),)


def test_a_project_without_candidates() -> None:
    stored = {**encode_view(View((), ())), "e": False}
    package = package_of("a", stored, {}, compute=lambda _: (0,), prerelease="explicit")
    assert (package.size, package.found, list(package.file_keys), list(package.times)) == (0, False, [], [])
