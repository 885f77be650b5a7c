"""Metadata from builds: what the backend says, limits of time and surroundings, and what is refused."""

from __future__ import annotations

import io
import os
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from compatlock.environment.build_metadata import BuildTools, built_metadata, read_build_system
from compatlock.environment.build_process import Deadline, Recorder, environment_for_hooks
from compatlock.environment.uv import UvSettings
from compatlock.errors import BuildFailed
from compatlock.model.building import Sdist
from compatlock.model.index import Indexes
from tests.support.artifacts import core_metadata
from tests.support.buildable import SYSTEM, buildable

TOOLS = BuildTools(sys.executable, UvSettings(Indexes(), offline=True), timeout=60)


def sdist(data: bytes, filename: str = "a-1.0.tar.gz") -> Sdist:
    return Sdist("a", "1.0", filename, data)


def refused(data: bytes, tools: BuildTools = TOOLS, filename: str = "a-1.0.tar.gz") -> BuildFailed:
    with pytest.raises(BuildFailed) as caught:
        built_metadata(sdist(data, filename), tools)
    return caught.value


def test_the_backend_is_asked() -> None:
    metadata, output = built_metadata(sdist(buildable("a", "1.0", requires=["b>=2"])), TOOLS)
    assert metadata == core_metadata("a", "1.0", requires=["b>=2"])
    assert "preparing the metadata of a" in output


def test_a_backend_that_only_builds_wheels() -> None:
    backend = (
        "import os, zipfile\n"
        "def build_wheel(folder, config_settings=None, metadata_directory=None):\n"
        "    with zipfile.ZipFile(os.path.join(folder, 'a-1.0-py3-none-any.whl'), 'w') as wheel:\n"
        f"        wheel.writestr('a-1.0.dist-info/METADATA', {core_metadata('a', '1.0', requires=['c'])!r})\n"
        "        wheel.writestr('a-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0')\n"
        "    return 'a-1.0-py3-none-any.whl'\n"
    )
    metadata, _ = built_metadata(sdist(buildable("a", "1.0", backend=backend)), TOOLS)
    assert b"Requires-Dist: c" in metadata


def test_an_sdist_that_is_a_zip() -> None:
    data = io.BytesIO()
    packed_data = io.BytesIO(buildable("a", "1.0", requires=["z"]))
    with tarfile.open(fileobj=packed_data) as packed, zipfile.ZipFile(data, "w") as archive:
        for member in packed.getmembers():
            file = packed.extractfile(member)
            if file is not None:
                archive.writestr(member.name, file.read())
    metadata, _ = built_metadata(sdist(data.getvalue(), "a-1.0.zip"), TOOLS)
    assert b"Requires-Dist: z" in metadata


def test_the_environment_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backend sees none of the modules of the one who builds, nor credentials; the network is far."""
    monkeypatch.setenv("GITHUB_TOKEN", "hunter2")
    monkeypatch.setenv("UV_INDEX_MINE_PASSWORD", "hunter2")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    first = (
        "import urllib.request\n"
        "assert sys.prefix != sys.base_prefix\n"
        "assert 'hunter2' not in os.environ.values(), os.environ\n"
        "try:\n    import compatlock\nexcept ImportError:\n    pass\nelse:\n    raise RuntimeError('leaky')\n"
        "try:\n    urllib.request.urlopen('http://127.0.0.2:1/', timeout=5)\n"
        "except OSError as error:\n    print('unreachable:', error)\n"
    )
    _, output = built_metadata(sdist(buildable("a", "1.0", first=first)), TOOLS)
    assert "unreachable:" in output


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    built_metadata(sdist(buildable("a", "1.0")), TOOLS)
    refused(buildable("a", "1.0", first="raise RuntimeError('no')"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"first": "raise RuntimeError('no compiler')"}, "no compiler"),
        ({"first": "import torch_of_nobody"}, "torch_of_nobody"),
        ({"first": "sys.exit(3)"}, "exit code 3"),
        (
            {"system": SYSTEM.replace('"backend"', '"absent"')},
            "its build backend `absent` cannot be imported",
        ),
        ({"system": "[build-system]\nrequires = 3\n"}, "`requires` is no array of texts"),
        ({"system": '[build-system]\nbuild-backend = "x"\n'}, "has no `requires`"),
        ({"system": "[build-system\n"}, "pyproject.toml"),
        ({"system": SYSTEM.replace('["."]', '[".."]')}, "paths must be inside source tree"),
        ({"metadata": core_metadata("b", "1.0")}, "it makes a wheel of b 1.0"),
        ({"metadata": core_metadata("a", "1.1")}, "it makes a wheel of a 1.1"),
        ({"metadata": b"Nothing: 1\n"}, "it makes a wheel of ? ?"),
        ({"backend": "def prepare_metadata_for_build_wheel(*args): return 5\n"}, "gives no metadata"),
    ],
)
def test_builds_that_fail(given: dict[str, str], problem: str) -> None:
    error = refused(buildable("a", "1.0", **given))  # type: ignore[arg-type]
    assert problem in f"{error.message}\n{error.output}"


def test_what_a_failed_build_said_is_kept() -> None:
    error = refused(buildable("a", "1.0", first="print('checking for gcc')\nraise RuntimeError('none')"))
    assert "checking for gcc" in error.output
    assert error.message == "RuntimeError: none"


@pytest.mark.skipif(sys.platform == "win32", reason="groups of processes of other systems")
def test_a_build_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    marker = tmp_path / "late"
    late = f"import time; time.sleep(4); open({str(marker)!r}, 'w')"
    first = (
        f"import subprocess\nsubprocess.Popen([sys.executable, '-c', {late!r}])\nimport time\ntime.sleep(60)"
    )
    began = time.monotonic()
    error = refused(buildable("a", "1.0", first=first), TOOLS._replace(timeout=2.5))
    assert "it took longer than 2.5 seconds" in error.message
    assert time.monotonic() - began < 20
    time.sleep(2.5)
    assert not marker.exists()


def test_build_requirements_come_from_the_indexes_only() -> None:
    system = SYSTEM.replace("[]", '["compatlock-backend-of-nobody"]', 1)
    error = refused(buildable("a", "1.0", system=system))
    assert "compatlock-backend-of-nobody" in error.output


@pytest.mark.parametrize(
    ("data", "filename"),
    [(b"no archive", "a-1.0.tar.gz"), (b"no archive", "a-1.0.zip"), (b"", "a-1.0.tar.gz")],
)
def test_what_is_no_archive(data: bytes, filename: str) -> None:
    assert "cannot be unpacked" in refused(data, filename=filename).message


def tar(*names: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO(b""))
    return data.getvalue()


def test_members_that_lead_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert "cannot be unpacked" in refused(tar("a-1.0/setup.py", "../../../evil")).message
    assert "not one folder" in refused(tar("a-1.0/x", "b/y")).message
    assert "not one folder" in refused(tar("x")).message
    assert "neither a pyproject.toml nor a setup.py" in refused(tar("a-1.0/x")).message
    assert not list(tmp_path.rglob("evil"))


def test_how_a_project_is_built(tmp_path: Path) -> None:
    (tmp_path / "setup.py").touch()
    assert read_build_system(str(tmp_path)).backend == "setuptools.build_meta:__legacy__"
    (tmp_path / "pyproject.toml").write_text("[tool.x]\n")
    assert read_build_system(str(tmp_path)).requires == ("setuptools>=40.8.0",)
    (tmp_path / "pyproject.toml").write_text('[build-system]\nrequires = ["flit_core"]\n')
    assert read_build_system(str(tmp_path)) == (("flit_core",), "setuptools.build_meta:__legacy__", ())


def test_the_variables_of_hooks() -> None:
    given = {
        "PATH": "/bin", "HOME": "/home/x", "CC": "clang", "PYTHONPATH": "/x", "UV_INDEX_URL": "y",
        "no_proxy": "*",
        "AWS_SECRET_ACCESS_KEY": "s", "npm_token": "s", "PIP_INDEX_URL": "https://u:p@index.example/",
    }  # fmt: skip
    found = environment_for_hooks(os.path.join("/env", "bin"), given)
    assert {name: found.get(name) for name in given} == {
        **dict.fromkeys(given), "PATH": f"{os.path.join('/env', 'bin')}{os.pathsep}/bin", "HOME": "/home/x",
        "CC": "clang",
    }  # fmt: skip
    assert found["https_proxy"] == found["HTTPS_PROXY"] == "http://127.0.0.1:9"


def test_only_the_end_of_much_output_is_kept() -> None:
    recorder = Recorder(Deadline(60))
    program = "print('x' * 300000); print('the end')"
    recorder.run([sys.executable, "-c", program], cwd=".", env=dict(os.environ))
    assert len(recorder.output) <= 100_000
    assert recorder.output.endswith("the end\n")
    with pytest.raises(BuildFailed, match="cannot be run"):
        recorder.run(["no-such-program-of-anybody"], cwd=".", env={})
