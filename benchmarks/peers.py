"""The tools that are compared: how each is installed, what it is asked, and how its answer is read.

All get the same lines, the same index, Python 3.12 and Linux on x86_64 with glibc 2.34, as far as they can
be told: what differs is said in `Tool.differs`, and stands in the report.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

# tomli is tomllib for Python 3.10
tomllib: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

PYTHON_VERSION = "3.12"
PLATFORM = "x86_64-manylinux_2_34"

_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)
_GLIBC = (*range(34, 16, -1), 12, 5)


class Asked(NamedTuple):
    """One run: the requirement lines, further options that compatlock and uv know, the folder to work in, the
    cache to use, the index, whether it may be asked, a file with the authority that it is trusted by, and
    whether it is to be asked again about what the cache holds."""

    requirements: tuple[str, ...]
    options: tuple[str, ...]
    folder: Path
    cache: Path
    url: str
    offline: bool
    authority: str = ""
    refresh: bool = False

    @property
    def lines(self) -> Path:
        """The requirements file, written."""
        path = self.folder / "requirements.in"
        path.write_text("".join(f"{line}\n" for line in self.requirements), encoding="utf-8")
        return path


class Tool(NamedTuple):
    """`packages` are what to install of the index, the tool's own first. `command(program, asked)` is what to
    run, `environment` what it needs to know besides; `pins(asked)` reads the answer. `has_offline`: whether a
    warm run can be forbidden to ask the index."""

    name: str
    packages: tuple[str, ...]
    command: Callable[[str, Asked], list[str]]
    pins: Callable[[Asked], dict[str, str]]
    differs: str = ""
    environment: Callable[[Asked], dict[str, str]] = lambda _asked: {}
    has_offline: bool = False


def normalised(name: str) -> str:
    """A project's name as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _lock(asked: Asked) -> Path:
    return asked.folder / "answer.lock"


def _pins_of_lines(asked: Asked) -> dict[str, str]:
    text = _lock(asked).read_text(encoding="utf-8")
    return {normalised(name): version for name, version in _PIN.findall(text)}


def _common(asked: Asked) -> list[str]:
    return [
        str(asked.lines), "-o", str(_lock(asked)), "--cache-dir", str(asked.cache), "-q", "--python-version",
        PYTHON_VERSION, "--python-platform", PLATFORM, *asked.options,
        *(["--offline"] if asked.offline else []),
    ]  # fmt: skip


# uv believes a listing for ten minutes, whatever the index says, unless its settings say otherwise.
# (`--refresh` would have it ask for the metadata of wheels as well, which never changes.)
_UV_SETTINGS = '[[index]]\nurl = "{url}"\ndefault = true\ncache-control = {{ api = "max-age=0" }}\n'


def _compatlock(program: str, asked: Asked) -> list[str]:
    # As with most indexes, the system's authorities are read; here another one as well.
    authority = ["--cert", asked.authority] if asked.authority else []
    # It believes a listing for ten minutes, too.
    refresh = ["--refresh"] if asked.refresh else []
    index = ["--default-index", asked.url]
    return [program, "lock", *_common(asked), *index, "--max-lag", "none", *authority, *refresh]


def _uv(program: str, asked: Asked) -> list[str]:
    settings = asked.folder / "uv.toml"
    settings.write_text(_UV_SETTINGS.format(url=asked.url), encoding="utf-8")
    return [
        program, "pip", "compile", "--generate-hashes", "--config-file", str(settings), "--python",
        sys.executable, "--no-python-downloads", *_common(asked),
    ]  # fmt: skip


def _target_of_pip() -> list[str]:
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in _GLIBC]
    platforms += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"]
    target = ["--only-binary", ":all:", "--implementation", "cp", "--python-version", PYTHON_VERSION]
    return target + [word for platform in platforms for word in ("--platform", platform)]


def _pip(program: str, asked: Asked) -> list[str]:
    report = asked.folder / "answer.json"
    return [
        program, "install", "--dry-run", "--ignore-installed", "--quiet", "--report", str(report),
        "--index-url", asked.url, "--cache-dir", str(asked.cache), *_target_of_pip(), "-r", str(asked.lines),
    ]  # fmt: skip


def _pins_of_pip(asked: Asked) -> dict[str, str]:
    report = json.loads((asked.folder / "answer.json").read_text(encoding="utf-8"))
    found = (one["metadata"] for one in report["install"])
    return {normalised(each["name"]): each["version"] for each in found}


def _pip_compile(program: str, asked: Asked) -> list[str]:
    return [
        program, "--generate-hashes", "--quiet", "--no-config", "--strip-extras", "--index-url", asked.url,
        "--cache-dir", str(asked.cache), "-o", str(_lock(asked)), str(asked.lines),
    ]  # fmt: skip


def _project(asked: Asked, python: str, tables: str) -> None:
    lines = json.dumps(list(asked.requirements))
    text = (
        f'[project]\nname = "problem"\nversion = "0"\nrequires-python = "{python}"\ndependencies = {lines}\n'
    )
    (asked.folder / "pyproject.toml").write_text(f"{text}\n{tables}", encoding="utf-8")


def _pdm(program: str, asked: Asked) -> list[str]:
    source = f'[[tool.pdm.source]]\nname = "pypi"\nurl = "{asked.url}"\nverify_ssl = false\n'
    _project(asked, ">=3.10", source)
    target = ["--python", f"=={PYTHON_VERSION}.*", "--platform", "manylinux_2_34_x86_64"]
    return [
        program, "lock", "--project", str(asked.folder), "--quiet", *target,
        "--implementation", "cpython",
    ]  # fmt: skip


def _poetry(program: str, asked: Asked) -> list[str]:
    source = f'[[tool.poetry.source]]\nname = "replay"\nurl = "{asked.url}"\npriority = "primary"\n'
    _project(asked, f"=={PYTHON_VERSION}.*", f"[tool.poetry]\npackage-mode = false\n\n{source}")
    return [program, "lock", "--directory", str(asked.folder), "--no-interaction", "--quiet"]


def _nab(program: str, asked: Asked) -> list[str]:
    index = f'[[tool.nab.indexes]]\nname = "replay"\nurl = "{asked.url}"\n'
    platform = 'platform = { id = "linux_x86_64", runs-on-libc = "2.34" }'
    target = f'[tool.nab.environment]\npython = "{PYTHON_VERSION}"\n{platform}\n'
    _project(asked, f"=={PYTHON_VERSION}.*", f"{index}\n{target}")
    return [
        program, "lock", str(asked.folder / "pyproject.toml"), "--format", "requirements",
        "--output", str(_lock(asked)), "--cache-dir", str(asked.cache), "--no-progress", "-q",
        *(["--offline"] if asked.offline else []),
    ]  # fmt: skip


def _pins_of_table(file: str) -> Callable[[Asked], dict[str, str]]:
    def pins(asked: Asked) -> dict[str, str]:
        table = tomllib.loads((asked.folder / file).read_text(encoding="utf-8"))
        return {normalised(each["name"]): each["version"] for each in table.get("package", [])}

    return pins


_OF_PIP = "wheels only; markers are those of the interpreter that it runs in; a warm run still asks the index"

_WARM_ASKS = "a warm run still asks the index"

TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "compatlock",
            (),
            _compatlock,
            _pins_of_lines,
            "with `--max-lag none`, since the others take answers of any age, too",
            has_offline=True,
        ),
        Tool("uv", ("uv",), _uv, _pins_of_lines, has_offline=True),
        Tool("pip", ("pip",), _pip, _pins_of_pip, f"`install --dry-run`, so no hashes; {_OF_PIP}"),
        Tool(
            "pip-compile",
            ("pip-tools",),
            _pip_compile,
            _pins_of_lines,
            f"of pip-tools; for the interpreter that it runs in; {_WARM_ASKS}",
        ),
        Tool("nab", ("nab",), _nab, _pins_of_lines, "builds nothing", has_offline=True),
        Tool(
            "pdm",
            # Its cache needs an older hishel than it asks for.
            ("pdm", "hishel<2"),
            _pdm,
            _pins_of_table("pdm.lock"),
            _WARM_ASKS,
            lambda asked: {"PDM_CACHE_DIR": str(asked.cache), "PDM_USE_VENV": "0"},
        ),
        Tool(
            "poetry",
            ("poetry",),
            _poetry,
            _pins_of_table("poetry.lock"),
            f"for all platforms at once; {_WARM_ASKS}",
            lambda asked: {"POETRY_CACHE_DIR": str(asked.cache)},
        ),
    )
}


def environment(tool: Tool, asked: Asked) -> dict[str, str]:
    """The environment for a run, without what configures tools on this machine."""
    dropped = ("PIP_", "UV_", "PDM_", "POETRY_", "PYTHON", "VIRTUAL_ENV", "COMPATLOCK_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    if asked.authority and tool.packages:
        kept.pop("SSL_CERT_DIR", None)
        for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"):
            kept[name] = asked.authority
    quiet = {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {**kept, **quiet, **tool.environment(asked)}


def program(tool: Tool, folder: Path) -> str:
    """The tool's program: compatlock's beside this interpreter, a peer's in an environment of its own below
    `folder`, where it is installed if it is not yet for this Python. Raises SystemExit when that is
    impossible."""
    if not tool.packages:
        found = shutil.which("compatlock", path=sysconfig.get_path("scripts"))
        if found is None:
            raise SystemExit("compatlock is not installed in this environment")
        return found
    place = folder / f"{tool.packages[0]}-py{sys.version_info[0]}.{sys.version_info[1]}"
    path = place / "bin" / tool.name
    if not (place / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--upgrade"]
        if subprocess.run([*pip, *tool.packages]).returncode or not path.exists():
            raise SystemExit(f"{tool.packages[0]} cannot be installed")
        (place / "installed").touch()
    return str(path)


def version(program: str) -> str:
    """The version that a tool tells."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    found = re.search(r"\d+(?:\.\w+)+", done.stdout)
    return found[0] if found else "?"
