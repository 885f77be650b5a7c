"""Stored views as packages."""

from __future__ import annotations

import pytest

from compatlock.index.stored_view import Answers, FileKeys, Versions, package_of, with_project
from compatlock.index.view import Candidate, Hidden, View, encode_view
from compatlock.model.listing import File


def test_keys_are_cut_from_one_text() -> None:
    keys = FileKeys("a" * 20 + "b" * 20 + "c" * 20)
    assert len(keys) == 3
    assert [keys[0], keys[2], keys[-1]] == ["a" * 20, "c" * 20, "c" * 20]
    assert keys[1:] == ["b" * 20, "c" * 20]
    assert list(keys) == ["a" * 20, "b" * 20, "c" * 20]
    with pytest.raises(IndexError):
        keys[3]


def test_versions_are_looked_up_in_one_text() -> None:
    words = ["2.0", "1.10", "1.1", "1.0"]
    for prepared in ([], [0], [3, 3], [3, 2, 1, 0, 3]):
        versions = Versions(" ".join(words), 4)
        assert [versions[i] for i in prepared] == [words[i] for i in prepared]
        assert [versions.index(word) for word in words] == [0, 1, 2, 3]
        assert (versions[0], versions[-1], len(versions)) == ("2.0", "1.0", 4)
        for unknown in ("1", "0", "1.11", ""):
            with pytest.raises(ValueError, match="is none of them"):
                versions.index(unknown)
    assert (versions[1:3], [*versions], "1.1" in versions) == (["1.10", "1.1"], words, True)
    with pytest.raises(ValueError, match="is not in list"):
        versions.index("2.0", 1)
    with pytest.raises(IndexError):
        Versions("", 0)[0]
    many = [f"{n}.0" for n in range(20)]
    versions = Versions(" ".join(many), 20)
    assert [versions[n] for n in range(19, -1, -1)] == many[::-1]


def test_a_view_comes_back_as_a_package() -> None:
    numbers = [0, 1, 2, 5, 7, 8]
    view = View(
        tuple(
            Candidate(n, f"{9 - n}.0", (File(f"a-{n}.whl", "", f"{n:064}"),), None if n == 5 else n)
            for n in numbers
        ),
        (Hidden("9.1", "python", ">=4\n"),),
    )
    gates = {0: "yanked", 4: "pre-release"}
    gated = tuple(each._replace(gate=gates.get(i, "")) for i, each in enumerate(view.candidates))
    view = view._replace(candidates=gated)
    stored = with_project(encode_view(view), found=True, status="", reason="")
    answers = {">1": (0, 0, 8), "<0": (0,)}
    package, status = package_of("a", stored, compute=answers.__getitem__, prerelease="explicit")
    assert (package.found, status) == (True, ("", ""))
    assert [*package.versions] == ["9.0", "8.0", "7.0", "4.0", "2.0", "1.0"]
    assert list(package.positions) == numbers
    assert list(package.times) == [0, 1, 2, None, 7, 8]
    assert (package.times[3], package.times[4:], len(package.times)) == (None, [7, 8], 6)
    assert package.gates == {0: "yanked", 4: "pre-release"}
    assert package.newest_hidden == ("9.1", "python", ">=4\n")
    assert package.file_keys[4] == f"{7:064}"[:20]
    assert package.runs(">1") == ((0, 5),)
    assert package.runs("<0") == ()


@pytest.mark.parametrize("gates", [{}, {1: "yanked"}, {0: "pre-release", 12: "pre-release"}])
def test_gates_of_one_kind(gates: dict[int, str]) -> None:
    candidates = [
        Candidate(n, f"{20 - n}", (File("a", "", f"{n:064}"),), n, gates.get(n, "")) for n in range(13)
    ]
    stored = with_project(encode_view(View(tuple(candidates), ())), found=True, status="", reason="")
    package, _ = package_of("a", stored, compute=lambda _: (0,), prerelease="explicit")
    assert package.gates == gates


def test_positions_in_one_range() -> None:
    view = View(tuple(Candidate(n, str(9 - n), (File("a", "", f"{n:064}"),), None) for n in (3, 4, 5)), ())
    stored = with_project(encode_view(view), found=True, status="archived", reason="two\nlines")
    package, status = package_of("a", stored, compute=lambda _: (0, 0, 5), prerelease="explicit")
    assert status == ("archived", "two\nlines")
    assert list(package.positions) == [3, 4, 5]
    assert list(package.times) == [None, None, None]
    assert package.runs(">4") == ((0, 2),)


def test_a_project_without_candidates() -> None:
    stored = with_project(encode_view(View((), ())), found=False, status="", reason="")
    package, _ = package_of("a", stored, compute=lambda _: (0,), prerelease="explicit")
    assert (package.size, package.found, list(package.file_keys), list(package.times)) == (0, False, [], [])


# Answered specifiers


class Asked:
    """Answers each specifier by its length, and keeps in mind what it was asked."""

    def __init__(self) -> None:
        self.specifiers: list[str] = []

    def __call__(self, specifier: str) -> tuple[int, ...]:
        self.specifiers.append(specifier)
        return (0, 0, len(specifier))


def test_what_was_answered_before_is_not_answered_again() -> None:
    asked = Asked()
    first = Answers("", asked)
    assert [first.answer(text) for text in (">=1", ">=1", "<2,>=1")] == [(0, 0, 3), (0, 0, 3), (0, 0, 6)]
    stored = first.take_new()
    assert stored == "\n>=1\t0 0 3\n<2,>=1\t0 0 6\n"
    second = Answers(stored, asked)
    assert [second.answer(text) for text in (">=1", "<2,>=1", "=1", "2,>=1")] == [
        (0, 0, n) for n in (3, 6, 2, 5)
    ]
    assert asked.specifiers == [">=1", "<2,>=1", "=1", "2,>=1"]
    assert second.take_new() == f"{stored}=1\t0 0 2\n2,>=1\t0 0 5\n"


def test_only_what_is_new_is_to_be_stored() -> None:
    answers = Answers("", Asked())
    assert answers.take_new() is None
    answers.answer(">1")
    assert answers.take_new() is not None
    answers.answer(">1")
    assert answers.take_new() is None


def test_an_answer_without_runs() -> None:
    answers = Answers("\n<0\t0\n", Asked())
    assert answers.answer("<0") == (0,)


def test_specifiers_that_do_not_fit_into_a_line_are_answered_each_time() -> None:
    asked = Asked()
    answers = Answers("", asked)
    assert answers.answer("===a\t0\n") == (0, 0, 7)
    assert answers.take_new() is None
    assert Answers("", asked).answer("===a\t0\n") == (0, 0, 7)
    assert len(asked.specifiers) == 2
