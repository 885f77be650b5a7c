"""Checks of lock files: defects of their text, hashes, several targets, other Pythons than the project's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import compatlock
from compatlock.api.check.lock import covers, first_python
from compatlock.model.report import DEFECT, DUPLICATE, ERROR, HASH, MISSING, STALE, VERSION, WARNING
from tests.support.index_server import IndexServer

LINUX = compatlock.Target("3.12", "linux")
WHEEL = 'wheels = [{ name = "click-8.1.7-py3-none-any.whl", url = "https://files.index.example/c.whl", %s }]'
HASHED = WHEEL % f'hashes = {{ sha256 = "{"a" * 64}" }}'
HEAD = 'lock-version = "1.0"\ncreated-by = "hand"\n\n'


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def check(index: IndexServer, cache: Path, path: Path, **options: object) -> compatlock.Report:
    given = {"target": LINUX, "shipped_facts": False, "cache_dir": cache, "index_url": index.url, **options}
    return compatlock.check(path, **given)  # type: ignore[arg-type]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def told(report: compatlock.Report, path: Path) -> list[tuple[str, str]]:
    """The kinds and texts of a report's errors, the file by its name only."""
    return [(f.kind, f.text.replace(str(path), path.name)) for f in report.errors]


def test_all_defects_of_a_pylock_are_told_with_their_lines(
    index: IndexServer, cache: Path, tmp_path: Path
) -> None:
    index.add("click", "8.1.7")
    path = write(
        tmp_path / "pylock.toml",
        'lock-version = "1.0"\ncreated-by = "hand"\n\n[[packages]]\nname = "click"\nversion = "8.1.7"\n'
        'marker = ""\nindex = "https://index.example/simple"\n',
    )
    report = check(index, cache, path)
    assert told(report, path) == [
        (DEFECT, "pylock.toml:7: the marker of click is empty"),
        (DEFECT, "pylock.toml:4: click has no wheels, sdist or other source: there is nothing to install"),
    ]
    assert report.errors[0].origin == f"{path}:7"
    assert report.errors[0].hints == ("leave the key out for a package of all environments",)
    # Other readers of the file stop there, and say the same.
    with pytest.raises(compatlock.InputError, match=r"pylock\.toml:7: the marker of click is empty"):
        compatlock.audit(path, index_url=index.url, cache_dir=cache)


@pytest.mark.parametrize(
    ("packages", "expected"),
    [
        (f'name = "click"\nversion = "8.1.7"\n{HASHED}\n', []),
        (
            f'name = "click"\nversion = "8.1.7"\n{HASHED}\nmarker = "python_version > 3"\n',
            [(DEFECT, "pylock.toml:8: the marker of click is no marker (PEP 508): `python_version > 3`")],
        ),
        (
            'name = "click"\nversion = "8.1.7"\nwheels = [\n'
            '  { name = "click-8.1.7-py3-none-any.whl", url = "https://files.index.example/c.whl" },\n]\n',
            [(HASH, "pylock.toml:8: click-8.1.7-py3-none-any.whl has no hash")],
        ),
        (
            'name = "click"\nversion = "8.1.7"\n' + WHEEL % 'hashes = { sha256 = "abc" }',
            [(HASH, "pylock.toml:7: click-8.1.7-py3-none-any.whl has a SHA-256 that is none: `abc`")],
        ),
        (
            f'name = "click"\nversion = "8.1.7"\ndependencies = [{{ name = "colorama" }}]\n{HASHED}\n',
            [(MISSING, "pylock.toml:7: click needs colorama, which the file does not have")],
        ),
        (
            f'name = "click"\nversion = "8.1.7"\n{HASHED}\n\n[[packages]]\nname = "click"\n'
            f'version = "8.1.7"\n{HASHED}\nmarker = "os_name == \'nt\'"\n',
            [(DUPLICATE, "pylock.toml:9: click is there twice, and no marker says which holds when")],
        ),
        (
            f'name = "Click"\nversion = "8.1.7"\n{HASHED}\n',
            [(DEFECT, "pylock.toml:5: `name` of Click: Name 'Click' is not normalized")],
        ),
        (
            f'name = "click"\nversion = "banana"\n{HASHED}\n',
            [(DEFECT, "pylock.toml:6: `version` of click: Invalid version: 'banana'")],
        ),
    ],
)
def test_defects_of_a_pylock(
    index: IndexServer, cache: Path, tmp_path: Path, packages: str, expected: list[tuple[str, str]]
) -> None:
    path = write(tmp_path / "pylock.toml", f"{HEAD}[[packages]]\n{packages}")
    index.add_project("click")
    assert told(check(index, cache, path), path) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('created-by = "hand"\npackages = []\n', "pylock.toml: Missing required value"),
        ('lock-version = "9"\ncreated-by = "x"\npackages = []\n', "pylock.toml:1: "),
        ('lock-version = "1.0"\ncreated-by = "x"\n', "pylock.toml: it has no `packages`"),
        (
            'lock-version = "1.0"\nenvironments = [""]\ncreated-by = "x"\npackages = []\n',
            "pylock.toml:2: a marker of `environments` is empty",
        ),
    ],
)
def test_defects_of_a_pylock_as_a_whole(
    index: IndexServer, cache: Path, tmp_path: Path, head: str, expected: str
) -> None:
    path = write(tmp_path / "pylock.toml", head)
    (found,) = told(check(index, cache, path), path)
    assert found[1].startswith(expected)


def test_all_defects_of_a_requirements_lock_are_told_with_their_lines(
    index: IndexServer, cache: Path, tmp_path: Path
) -> None:
    for name in ("app", "lib", "loose", "odd", "bare"):
        index.add(name, "1.0")
    digest = index.sha256("app-1.0-py3-none-any.whl")
    path = write(
        tmp_path / "requirements.lock",
        f"app==1.0 \\\n    --hash=sha256:{digest}\n"
        f"lib==1.0 ; \\\n    --hash=sha256:{index.sha256('lib-1.0-py3-none-any.whl')}\n"
        "loose>=1 \\\n    --hash=sha256:00\n"
        f"odd==1.0 ; python_version > 3 --hash=sha256:{index.sha256('odd-1.0-py3-none-any.whl')}\n"
        "bare==1.0\n",
    )
    assert told(check(index, cache, path), path) == [
        (DEFECT, "requirements.lock:3: the marker of lib is empty"),
        (HASH, "requirements.lock:5: loose has a hash that is none: `sha256:00`"),
        (
            DEFECT,
            "requirements.lock:5: loose>=1 is not pinned with `==`, which installers refuse in a file with "
            "hashes",
        ),
        (DEFECT, "requirements.lock:7: the marker of odd is no marker (PEP 508): `python_version > 3`"),
        (
            HASH,
            "requirements.lock:8: bare has no hash, and installers refuse a file in which only some packages "
            "have one",
        ),
    ]


def test_a_freeze_needs_no_hashes_and_a_lock_of_ours_without_any_only_warns(
    index: IndexServer, cache: Path, tmp_path: Path
) -> None:
    index.add("app", "1.0")
    assert check(index, cache, write(tmp_path / "freeze.txt", "app==1.0\n")).findings == ()
    index.edit("app-1.0-py3-none-any.whl", hashes={})
    lock = compatlock.lock(["app"], index_url=index.url, target=LINUX, cache=False, shipped_facts=False)
    for name in ("requirements.lock", "lock.json"):
        compatlock.write(lock, tmp_path / name)
        (found,) = check(index, cache, tmp_path / name).findings
        assert (found.kind, found.severity) == (HASH, WARNING)


@pytest.mark.parametrize("name", ["requirements.lock", "pylock.toml", "lock.json"])
def test_a_file_that_was_replaced_on_the_index(
    index: IndexServer, cache: Path, tmp_path: Path, name: str
) -> None:
    index.add("app", "1.0")
    lock = compatlock.lock(["app"], index_url=index.url, target=LINUX, cache=False, shipped_facts=False)
    compatlock.write(lock, tmp_path / name)
    assert check(index, cache, tmp_path / name).findings == ()
    index.edit("app-1.0-py3-none-any.whl", hashes={"sha256": "b" * 64})
    (found,) = check(index, tmp_path / "other", tmp_path / name).errors
    assert (found.kind, found.package) == (HASH, "app")
    assert found.text == "no file of app 1.0 that the target could install has one of its hashes"


def test_a_replaced_file_is_told_once_for_all_targets(
    index: IndexServer, cache: Path, tmp_path: Path
) -> None:
    index.add("app", "1.0")
    path = tmp_path / "requirements.lock"
    targets = ["3.11@linux", "3.12@linux", "3.12@macos"]
    lock = compatlock.lock(["app"], index_url=index.url, targets=targets, cache=False, shipped_facts=False)
    compatlock.write(lock, path)
    index.edit("app-1.0-py3-none-any.whl", hashes={"sha256": "b" * 64})
    (found,) = check(index, cache, path, target=compatlock.Target()).errors
    assert found.kind == HASH
    assert found.remarks == (f"the index has app-1.0-py3-none-any.whl with {'b' * 16}...",)


def test_a_hash_whose_requirement_is_gone(index: IndexServer, cache: Path, tmp_path: Path) -> None:
    index.add("app", "1.0")
    path = tmp_path / "requirements.lock"
    lock = compatlock.lock(["app"], index_url=index.url, target=LINUX, cache=False, shipped_facts=False)
    compatlock.write(lock, path)
    path.write_text(f"{path.read_text()}    --hash=sha256:{'a' * 64}\n", encoding="utf-8")
    line = len(path.read_text().splitlines())
    (found,) = check(index, cache, path).errors
    assert (found.kind, found.origin) == (HASH, f"{path}:{line}")
    assert "belongs to no package" in found.text


@pytest.mark.parametrize("name", ["requirements.lock", "pylock.toml", "lock.json"])
def test_a_lock_for_several_targets_is_checked_for_each(
    index: IndexServer, cache: Path, tmp_path: Path, name: str
) -> None:
    index.add("app", "1.0", requires=["lib", "win; sys_platform == 'win32'"])
    index.add("lib", "1.0")
    index.add("lib", "2.0", requires_python=">=3.12")
    index.add("win", "1.0")
    lock = compatlock.lock(
        ["app"],
        index_url=index.url,
        targets=["3.11@linux", "3.12@linux", "3.12@windows"],
        cache_dir=cache,
        shipped_facts=False,
    )
    path = tmp_path / name
    compatlock.write(lock, path)
    assert 'marker = "' in path.read_text() or ";" in path.read_text() or '"marker": "' in path.read_text()
    whole = check(index, cache, path, target=None)
    assert (whole.findings, whole.target, whole.checked) == ((), "3 targets", 3)
    one = check(index, cache, path, target=compatlock.Target(platform="windows"))
    assert (one.findings, one.target) == ((), "CPython 3.12.0 on x86_64-pc-windows-msvc")
    # A defect does not make it a lock for this machine.
    if name == "pylock.toml":
        text = path.read_text()
        path.write_text(re.sub(r'marker = ".*"', 'marker = ""', text))
        assert check(index, cache, path, target=None).checked == 3
    # What only one target needs is missing for that one.
    pins = tuple(pin for pin in lock.pins if pin.name != "win")
    compatlock.write(lock._replace(pins=pins), path)
    (found,) = check(index, cache, path, target=None).errors
    assert (found.kind, found.text) == (MISSING, "app 1.0 needs win, which is missing")
    assert found.remarks == ("for CPython 3.12.0 on x86_64-pc-windows-msvc",)


def test_a_pylock_may_hold_what_is_from_no_index(index: IndexServer, cache: Path, tmp_path: Path) -> None:
    index.add("click", "8.1.7", requires=["tool>=2"])
    digest = index.sha256("click-8.1.7-py3-none-any.whl")
    path = write(
        tmp_path / "pylock.toml",
        f'{HEAD}[[packages]]\nname = "click"\nversion = "8.1.7"\n{HASHED.replace("a" * 64, digest)}\n\n'
        '[[packages]]\nname = "tool"\narchive = { url = "https://files.index.example/tool.tar.gz", '
        f'hashes = {{ sha256 = "{"a" * 64}" }} }}\n',
    )
    report = check(index, cache, path)
    assert (report.findings, report.checked) == ((), 2)
    assert report.notes == (
        f"{path}: tool is not a version from an index; lock again",
        f"{path}:9: tool has no version, and what it needs is not known",
    )


UV_LOCK = """\
version = 1
revision = 5
requires-python = "==3.11.*"

[[package]]
name = "click"
version = "8.1.7"
source = { registry = "https://index.example/simple" }

[[package]]
name = "stale"
version = "0"
source = { virtual = "." }
dependencies = [{ name = "click" }]
"""
PROJECT = '[project]\nname = "stale"\nversion = "0"\nrequires-python = "%s"\ndependencies = ["click%s"]\n'


def test_a_lock_for_other_pythons_than_the_project(index: IndexServer, cache: Path, tmp_path: Path) -> None:
    index.add("click", "8.1.7")
    lock = write(tmp_path / "uv.lock", UV_LOCK)
    project = write(tmp_path / "pyproject.toml", PROJECT % ("==3.12.*", "==8.1.7"))
    for offline in (False, True):
        report = check(index, cache / str(offline), lock, files=[project], target=None, offline=offline)
        (found,) = report.errors
        assert (found.kind, found.severity) == (STALE, ERROR)
        assert found.text == (
            f"{lock} is stale: it has requires-python ==3.11.*, and {project}:4 has requires-python ==3.12.*"
        )
        # What the index would tell beside that is no reason to fail.
        assert bool(report.notes) is offline
    write(project, PROJECT % ("==3.11.*", "==8.1.7"))
    # That it has no hashes is only a warning: a registry need not give them.
    assert [f.kind for f in check(index, cache, lock, files=[project], target=None).findings] == [HASH]
    write(project, PROJECT % ("==3.11.*", ">=9"))
    (found,) = check(index, cache, lock, files=[project], target=None).errors
    assert (found.kind, found.needs, found.found) == (VERSION, ">=9", "8.1.7")


@pytest.mark.parametrize("name", ["requirements.lock", "pylock.toml", "lock.json"])
def test_a_lock_of_ours_for_a_python_that_the_project_excludes(
    index: IndexServer, cache: Path, tmp_path: Path, name: str
) -> None:
    index.add("click", "8.1.7")
    lock = compatlock.lock(["click"], index_url=index.url, target=LINUX, cache=False, shipped_facts=False)
    compatlock.write(lock, tmp_path / name)
    project = write(tmp_path / "pyproject.toml", PROJECT % (">=3.13", ""))
    (found,) = check(index, cache, tmp_path / name, files=[project], target=None).errors
    assert found.text == (
        f"{tmp_path / name} is stale: it is for Python 3.12.0, and {project}:4 has requires-python >=3.13"
    )
    write(project, PROJECT % (">=3.12", ""))
    assert check(index, cache, tmp_path / name, files=[project], target=None).findings == ()


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ("==3.11.*", "==3.12.*", False),
        (">=3.10", ">=3.11,<3.13", True),
        (">=3.11", ">=3.10", False),
        (">=3.10.4", ">=3.10", False),
        (">=3.10", "", False),
        ("", ">=3.10", True),
        (">=3.10", "<3", False),
    ],
)
def test_ranges_of_pythons(outer: str, inner: str, expected: bool) -> None:
    assert covers(outer, inner) is expected


def test_the_python_to_check_a_lock_for() -> None:
    assert first_python("", "3.11.7") == first_python(">=3.10", "3.11.7") == "3.11.7"
    assert first_python(">=3.12,<3.14", "3.11.7") == "3.12.0"
    assert first_python("<3", "3.11.7") == ""


def test_the_index_that_a_lock_was_made_with_is_asked(
    index: IndexServer, cache: Path, tmp_path: Path
) -> None:
    index.add("app", "1.0")
    lock = compatlock.lock(["app"], index_url=index.url, target=LINUX, cache=False, shipped_facts=False)
    compatlock.write(lock, tmp_path / "requirements.lock")
    asked = index.count("/simple/app/")
    assert check(index, cache, tmp_path / "requirements.lock", index_url="").findings == ()
    assert index.count("/simple/app/") > asked


def test_the_targets_to_check_for_may_be_named(index: IndexServer, cache: Path, tmp_path: Path) -> None:
    """A lock of another tool does not say them."""
    index.add("app", "1.0", requires=["win; sys_platform == 'win32'", "old; python_version < '3.11'"])
    path = write(tmp_path / "freeze.txt", "app==1.0\n")
    project = write(tmp_path / "pyproject.toml", PROJECT.replace("click", "app") % (">=3.10,<3.12", ""))
    report = check(index, cache, path, target=None, targets=["3.12@linux", "3.12@windows"])
    assert [(f.on, f.remarks) for f in report.errors] == [
        ("win", ("for CPython 3.12.0 on x86_64-pc-windows-msvc",))
    ]
    report = check(index, cache, path, target=None, universal=True, files=[project])
    assert report.target == "8 targets"
    assert [(f.on, f.remarks) for f in report.errors] == [
        (
            "old",
            ("for CPython 3.10.0 on x86_64-manylinux_2_28 and 3 other targets",),
        ),
        (
            "win",
            ("for CPython 3.10.0 on x86_64-pc-windows-msvc and CPython 3.11.0 on x86_64-pc-windows-msvc",),
        ),
    ]
    (only,) = check(index, cache, path, target=None, targets=["windows"]).errors
    assert (only.on, only.remarks) == ("win", ())
