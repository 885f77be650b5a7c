"""Public projects' requirements, and reports about odd files: every file is read, and locks or says why not.

The facts of the files are in the shared folder; the files are written here in the style that each has there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import compatlock
from compatlock.api.targets import UNIVERSAL
from compatlock.inputs.pyproject import ProjectSelection
from compatlock.inputs.requirement_line import parse_constraints, parse_requirements
from compatlock.inputs.sources import read_sources
from compatlock.model.target import Target
from tests.support.command import Cli, pins_of
from tests.support.index_server import IndexServer
from tests.support.real_index import DATE
from tests.support.shared import needed

FILES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(needed("files").glob("*.json"))}
CASES = needed("cases")
WITHOUT_URLS = [name for name in FILES if name != "textgen-webui-full"]
# What the projects say beside their dependencies.
OPTIONS = {"axolotl-requirements": "--extra-index-url https://wheels.example/cu118/\n"}
PYTHONS = {"whisperx-pyproject": ">=3.10, <3.14"}


def line(fact: dict[str, str]) -> str:
    """A dependency as it would stand in a file."""
    marker = f" ; {fact['marker']}" if fact.get("marker") else ""
    if "kind" in fact:
        version, tag = fact["specifier"].removeprefix("=="), fact["kind"].split(" ", 1)[1].replace(" ", "-")
        tag = tag if tag.count("-") == 2 else f"py3-none-{tag}" if tag.count("-") == 0 else f"cp313-{tag}"
        return f"https://wheels.example/{fact['name']}-{version}-{tag}.whl{marker}"
    return f"{fact['name']}{fact['specifier']}{marker}"


def groups(name: str) -> dict[str, list[str]]:
    """The lines of a file by group, `""` for those of no group."""
    found: dict[str, list[str]] = {"": []}
    for fact in FILES[name]["dependencies"]:
        found.setdefault(fact.get("group", ""), []).append(line(fact))
    return found


def write(name: str, folder: Path, options: str = "") -> str:
    """Write the file of a project, as what it is there (a setup.py as a setup.cfg); return its path."""
    own, extras = groups(name)[""], {}
    for group, lines in groups(name).items():
        kind, _, extra = group.partition(":")
        if kind == "extra":
            extras[extra] = lines
    if name.endswith("pyproject"):
        overrides = groups(name).get("uv.override-dependencies", [])
        path = folder / "pyproject.toml"
        path.write_text(
            f'[project]\nname = "p"\nrequires-python = "{PYTHONS[name]}"\ndependencies = {json.dumps(own)}\n'
            + "[project.optional-dependencies]\n"
            + "".join(f"{extra} = {json.dumps(lines)}\n" for extra, lines in extras.items())
            + f"[tool.uv]\noverride-dependencies = {json.dumps(overrides)}\n"
        )
    elif name.endswith("setup-py"):
        path = folder / "setup.cfg"
        rows = [
            "[options]",
            "install_requires =",
            *(f"    {text}" for text in own),
            "[options.extras_require]",
        ]
        for extra, lines in extras.items():
            rows += [f"{extra} =", *(f"    {text}" for text in lines)]
        path.write_text("\n".join(rows) + "\n")
    else:
        path = folder / "requirements.txt"
        text = "\r\n".join(f"{text}  # from {name}" for text in own)
        path.write_bytes(f"{options}# START\r\n{text}\r\n# END\r\n".encode())
    return str(path)


@pytest.mark.parametrize("name", WITHOUT_URLS)
def test_a_file_is_read(name: str, tmp_path: Path) -> None:
    path = write(name, tmp_path, OPTIONS.get(name, ""))
    wanted = ProjectSelection(all_extras=True) if "requirements" not in path else None
    found = read_sources([path], wanted=wanted)
    parsed = parse_requirements(found.lines)
    lines = [text for group, lines in groups(name).items() if not group.startswith("uv.") for text in lines]
    expected = [Requirement(text) for text in lines]
    assert sorted({(p.name, frozenset(p.extras), p.specifier, p.marker) for p in parsed}) == sorted(
        {
            (canonicalize_name(e.name), frozenset(e.extras), str(e.specifier), str(e.marker or ""))
            for e in expected
        }
    )
    assert all(re.search(r":\d+", origin) for _, origin in found.lines)
    assert bool(found.settings.indexes) == (name in OPTIONS)
    assert len(found.settings.overrides) == len(groups(name).get("uv.override-dependencies", []))


def test_every_line_that_is_not_resolved_has_a_word(tmp_path: Path) -> None:
    name = "textgen-webui-full"
    path = write(name, tmp_path)
    with pytest.raises(compatlock.InputError) as caught:
        parse_requirements(read_sources([path]).lines)
    lines = Path(path).read_text("utf-8").splitlines()
    bad = [f"{path}:{n}" for n, text in enumerate(lines, 1) if text.startswith("https://")]
    said = caught.value.message.splitlines()
    assert [re.match(r".*?:\d+(?=: )", row)[0] for row in said] == bad  # type: ignore[index]
    assert all("a root URL is not supported yet; name a release on the index instead" in row for row in said)
    rest = [text for text in lines if not text.startswith("https://")]
    Path(path).write_text("\n".join(rest), encoding="utf-8")
    assert len(parse_requirements(read_sources([path]).lines)) == len(rest) - 2


def versions_for(texts: list[str]) -> dict[str, str]:
    """A version for each project that all of its lines admit."""
    specifiers: dict[str, SpecifierSet] = {}
    for text in texts:
        need = Requirement(text)
        name: str = canonicalize_name(need.name)
        specifiers[name] = specifiers.get(name, SpecifierSet()) & need.specifier
    found: dict[str, str] = {}
    for project, specifier in specifiers.items():
        named = [Version(each.version.removesuffix(".*")) for each in specifier]
        above = [Version(f"{v}.0.1") for v in named if str(v) == v.base_version]
        tried = [Version("0.1"), Version("1.0"), *named, *above]
        found[project] = str(next(v for v in sorted(tried) if specifier.contains(v, prereleases=True)))
    return found


@pytest.mark.parametrize("name", WITHOUT_URLS)
def test_a_file_locks(name: str, tmp_path: Path, cli: Cli, index: IndexServer) -> None:
    path = write(name, tmp_path)
    own = groups(name)[""]
    for project, version in versions_for(own).items():
        asked = [Requirement(text) for text in own]
        extras: dict[str, tuple[str, ...]] = {
            x: () for need in asked if canonicalize_name(need.name) == project for x in need.extras
        }
        index.add(project, version, extras=extras)
    python = ("--python-version", "3.12", "--python-platform", "linux", "--no-shipped-facts")
    run = cli("lock", path, "-o", "-", *python)
    assert run.code == 0, run.err
    environment = Target("3.12", "linux").resolved().marker_environment
    needs = [Requirement(text) for text in own]
    wanted = {canonicalize_name(n.name) for n in needs if not n.marker or n.marker.evaluate(environment)}
    assert set(pins_of(run.out)) == wanted


def test_an_override_drops_what_its_marker_excludes(tmp_path: Path, cli: Cli, index: IndexServer) -> None:
    """whisperX narrows torchcodec to the platforms that have wheels."""
    path = write("whisperx-pyproject", tmp_path)
    for project, version in versions_for(groups("whisperx-pyproject")[""]).items():
        requires = ["torchcodec>=0.5"] if project == "pyannote-audio" else []
        index.add(project, version, requires=requires)
    pins = {}
    for platform in ("linux", "aarch64-manylinux_2_28"):
        run = cli("lock", path, "-o", "-", "--python-version", "3.12", "--python-platform", platform)
        pins[platform] = pins_of(run.out)
    assert set(pins["linux"]) - set(pins["aarch64-manylinux_2_28"]) == {"torchcodec", "triton"}


# Reports about odd files


def test_two_encodings(cli: Cli, index: IndexServer) -> None:
    index.add("click", "8.1.7")
    index.add("idna", "3.10")
    for name in ("requirements.in", "requirements-bom.in"):
        assert cli("lock", str(CASES / "req-utf16" / name), "-o", "requirements.lock").code == 0
        data = Path("requirements.lock").read_bytes()
        assert pins_of(data.decode("utf-8")) == {"click": "8.1.7", "idna": "3.10"}
        assert data.startswith(b"# ")
        Path("requirements.lock").unlink()


def test_a_wildcard_line(cli: Cli) -> None:
    path = str(CASES / "req-wildcard-line" / "requirements.in")
    run = cli("lock", path)
    assert run.code == 2
    assert [n for n in range(1, 9) if f"{path}:{n}:" in run.err] == [4, 5]
    assert "requests>=2.32.*" in run.err
    assert "`requests>=2.32`" in run.err


def test_constraints_with_extras(cli: Cli, index: IndexServer) -> None:
    folder = CASES / "constraints-with-extras"
    for version in ("2.31.0", "2.32.0"):
        index.add("requests", version, requires=["urllib3"], extras={"security": ["pyopenssl"]})
    for version in ("2.2.1", "2.3.0"):
        index.add("urllib3", version)
    index.add("pyopenssl", "1.0")
    run = cli("lock", str(folder / "requirements.in"), "-c", str(folder / "constraints.txt"))
    assert run.code == 0
    text = Path("requirements.lock").read_text("utf-8")
    assert pins_of(text) == {"requests": "2.31.0", "urllib3": "2.2.1"}
    assert "the extras of requests[security] are ignored: a constraint adds no package" in run.err
    # The lock itself can be what pip takes for constraints: none of its lines has extras.
    constraints = parse_constraints(read_sources([], ["requirements.lock"]).constraints)
    assert constraints.notes == ()


def check_two_torch(lock: compatlock.Lock) -> None:
    """Each machine has its line's version, and no marker holds for both."""
    pins = [pin for pin in lock.pins if pin.name == "torch"]
    assert sorted(pin.version for pin in pins) == ["2.3.0", "2.3.1"]
    assert all(pin.marker for pin in pins)
    for platform in UNIVERSAL:
        environment = Target("3.11", platform).resolved().marker_environment
        held = [pin.version for pin in pins if Marker(pin.marker).evaluate(environment)]
        assert held == ["2.3.0" if environment["platform_machine"] == "x86_64" else "2.3.1"]


def two_torch(**options: Any) -> compatlock.Lock:
    return compatlock.lock(
        files=[CASES / "universal-two-torch" / "requirements.in"],
        target=Target("3.11"),
        universal=True,
        shipped_facts=False,
        **options,
    )


def test_two_pins_split_by_machine_stay_split(index: IndexServer) -> None:
    for version in ("2.3.0", "2.3.1"):
        index.add("torch", version)
    check_two_torch(two_torch(index_url=index.url, cache=False))


@pytest.mark.network
def test_two_real_pins_split_by_machine_stay_split(real_cache: Path) -> None:
    check_two_torch(two_torch(cache_dir=real_cache, exclude_newer=DATE, max_lag=["none"]))


@pytest.mark.network
@pytest.mark.parametrize("name", ["vllm-common", "openrlhf-requirements", "whisperx-pyproject"])
def test_a_real_project_locks_or_says_why_not(name: str, tmp_path: Path, real_cache: Path) -> None:
    path = write(name, tmp_path)
    lock, error = None, None
    try:
        lock = compatlock.lock(
            files=[path],
            target=Target("3.12", "x86_64-manylinux_2_34"),
            cache_dir=real_cache,
            exclude_newer=DATE,
        )
    except compatlock.NoSolution as refused:
        error = refused
    if lock is None:
        assert error is not None
        assert error.core is not None
        assert error.core.edges
        assert error.ways_out or error.hints
        return
    environment = Target("3.12", "linux").resolved().marker_environment
    for text in groups(name)[""]:
        need = Requirement(text)
        if not need.marker or need.marker.evaluate(environment):
            assert need.specifier.contains(lock.versions[canonicalize_name(need.name)], prereleases=True)
