"""Overlaps: what is overwritten, and what of it matters."""

from __future__ import annotations

import pytest

from compatlock.audit.overlap import check_overlap, overlap
from compatlock.model.fact import FactBound
from compatlock.model.finding import CERTAIN, POSSIBLE, Finding
from tests.support.sites import Releases


def releases(one: dict[str, str], other: dict[str, str], versions: tuple[str, str] = ("1", "2")) -> Releases:
    found = Releases()
    found.add("one", versions[0], one)
    found.add("other", versions[1], other)
    return found


def findings(
    one: dict[str, str], other: dict[str, str], *, versions: tuple[str, str] = ("1", "2")
) -> list[Finding]:
    found = releases(one, other, versions)
    return check_overlap(found.artefacts, *found.view())


def test_code_that_differs_is_certain() -> None:
    same = {"lib/__init__.py": "", "lib/same.py": "x = 1\n"}
    found = findings(
        {**same, "lib/a.py": "x = 1\n", "lib/core.so": "one"},
        {**same, "lib/a.py": "x = 2\n", "lib/core.so": "other", "lib/more.py": "y = 1\n"},
    )
    assert [(f.check, f.package, f.on, f.certainty) for f in found] == [("overlap", "one", "other", CERTAIN)]
    assert found[0].details == ("lib/a.py", "lib/core.so")
    assert [(p.package, p.version, p.member) for p in found[0].places] == [
        ("one", "1", "lib/a.py"),
        ("other", "2", "lib/a.py"),
    ]
    assert "2 files" in found[0].summary
    fact = found[0].fact
    assert fact is not None
    assert (fact.kind, fact.package, fact.on, fact.severity) == ("overlap", "one", "other", "error")
    assert fact.bounds == (FactBound("==1", "==2"),)


def test_builds_of_one_release_are_only_possible_and_make_a_soft_fact() -> None:
    files = {f"cv2/{n}.py": f"x = {n}\n" for n in range(20)}
    one = {**files, "cv2/cv2.so": "gui", **{f"cv2.libs/{n}.so": "" for n in range(20)}}
    other = {**files, "cv2/cv2.so": "none", **{f"cv2_headless.libs/{n}.so": "" for n in range(20)}}
    found = findings(one, other, versions=("4.1", "4.1"))
    assert [(f.certainty, f.fact.severity) for f in found if f.fact] == [(POSSIBLE, "degraded")]
    found = findings(one, other, versions=("4.1", "4.2"))
    assert [(f.certainty, f.fact.severity) for f in found if f.fact] == [(CERTAIN, "error")]


def test_who_requires_what_it_overwrites_means_to() -> None:
    layers = Releases()
    layers.add("libs-base", "1", {"lib/a.so": "12", "lib/b.py": ""})
    layers.add("libs-cu13", "2", {"lib/a.so": "13"}, "Libs_Base>=1")
    found = check_overlap(layers.artefacts, *layers.view())
    assert [(f.certainty, "libs-cu13 requires libs-base" in f.summary) for f in found] == [(POSSIBLE, True)]


def test_files_in_data_folders_are_compared_where_they_are_installed() -> None:
    found = findings(
        {"one-1.data/purelib/lib/a.py": "x = 1\n", "one-1.data/scripts/tool": "1"},
        {"other-2.data/platlib/lib/a.py": "x = 2\n", "lib/b.py": "", "other-2.data/scripts/tool": "2"},
    )
    assert [(f.certainty, f.details) for f in found] == [(CERTAIN, ("lib/a.py", "<prefix>/bin/tool"))]


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        ("tests/__init__.py", "x = 1", "x = 2"),
        ("lib/tests/test_a.py", "x = 1", "x = 2"),
        ("LICENSE.txt", "mine", "yours"),
        ("lib/README.md", "mine", "yours"),
        ("lib/py.typed", "", "partial"),
        ("build_backend.py", "x = 1", "x = 2"),
        ("lib/data.json", "1", "2"),
        ("one-1.data/scripts/tool", "1", "2"),
    ],
)
def test_what_nothing_imports_is_only_possible(path: str, one: str, other: str) -> None:
    found = findings({path: one}, {path.replace("one-1", "other-2"): other})
    assert [(f.certainty, f.fact) for f in found] == [(POSSIBLE, None)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("", "# the other's licence\n"),
        ('"""One."""\n', "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"),
        ("__import__('pkg_resources').declare_namespace(__name__)\n", ""),
        (
            "try:\n    import pkg_resources\n    pkg_resources.declare_namespace(__name__)\n"
            "except ImportError:\n    from pkgutil import extend_path\n"
            "    __path__ = extend_path(__path__, __name__)\n",
            "from pkgutil import extend_path\n__path__ = extend_path(__path__, __name__)\n",
        ),
        ("x = 1  # 2025\n", "x = 1  # 2026\n"),
    ],
)
def test_namespaces_and_comments_are_harmless(one: str, other: str) -> None:
    assert findings({"ns/__init__.py": one, "ns/a.py": ""}, {"ns/__init__.py": other, "ns/b.py": ""}) == []


def test_an_init_with_code_is_not_a_namespace() -> None:
    assert (
        findings({"ns/__init__.py": ""}, {"ns/__init__.py": "from ns.a import b\n"})[0].certainty == CERTAIN
    )


def test_three_owners_give_each_pair_that_differs() -> None:
    three = Releases()
    for name, value in (("c", 1), ("b", 2), ("a", 1)):
        three.add(name, "1", {"lib/a.py": f"x = {value}\n"})
    found = check_overlap(three.artefacts, *three.view())
    assert [(f.package, f.on) for f in found] == [("a", "b"), ("b", "c")]


def test_what_was_compared_is_remembered() -> None:
    found = releases({"lib/a.py": "x = 1  # one"}, {"lib/a.py": "x = 1  # other"})
    reader, observations = found.view()
    assert check_overlap(found.artefacts, reader, observations) == []
    assert len(reader.reads) == 2
    assert check_overlap(found.artefacts, reader, observations) == []
    assert len(reader.reads) == 2


def test_overlap_of_two_releases() -> None:
    found = releases(
        {"lib/a.py": "x = 1", "lib/b.py": ""}, {"lib/a.py": "x = 2", "lib/b.py": "", "tests/a.py": "1"}
    )
    one, other = found.artefacts
    shared = overlap(one, other, *found.view())
    assert shared is not None
    assert (shared.common, [c.path for c in shared.code], shared.data, shared.harmless) == (
        2,
        ["lib/a.py"],
        (),
        (),
    )
    gone = one._replace(file=one.file._replace(filename="gone-1-py3-none-any.whl"))
    assert overlap(gone, other, *found.view()) is None
