"""What uv would install from a uv.lock, for a target and what is chosen of the project."""

from __future__ import annotations

import pytest

from compatlock.errors import InputError
from compatlock.lockfile.uv_lock_pins import Chosen, UvLock, differences
from compatlock.model.lock import Lock, LockedFile, Pin
from compatlock.model.target import Target

LINUX = Target("3.12", "linux").resolved()
MAC = Target("3.12", "macos").resolved()
REGISTRY = 'source = { registry = "https://index.example/simple/" }'
GPU = "extra == 'extra-4-demo-gpu' or extra != 'extra-4-demo-cpu'"
TEXT = f"""\
version = 1
revision = 3
requires-python = ">=3.10"
supported-markers = [
    "sys_platform == 'linux'",
    "python_full_version == '3.12.*' and sys_platform == 'darwin'",
]
conflicts = [[
    {{ package = "demo", extra = "cpu" }},
    {{ package = "demo", extra = "gpu" }},
]]

[[package]]
name = "demo"
version = "0"
source = {{ editable = "." }}
dependencies = [
    {{ name = "app", extra = ["fast"] }},
    {{ name = "fork", marker = "sys_platform != 'linux'" }},
    {{ name = "member" }},
]

[package.optional-dependencies]
all = [
    {{ name = "demo", extra = ["cpu"] }},
]
cpu = [
    {{ name = "torch", version = "1", {REGISTRY} }},
]
gpu = [
    {{ name = "torch", version = "2", {REGISTRY} }},
]

[package.dev-dependencies]
dev = [
    {{ name = "linter" }},
]

[[package]]
name = "member"
version = "0"
source = {{ editable = "packages/member" }}
dependencies = [
    {{ name = "extra-lib" }},
]

[[package]]
name = "app"
version = "1.0"
{REGISTRY}
dependencies = [
    {{ name = "torch", version = "1", {REGISTRY}, marker = "extra == 'extra-4-demo-cpu'" }},
    {{ name = "torch", version = "2", {REGISTRY}, marker = "{GPU}" }},
]
wheels = [
    {{ url = "https://index.example/app-1.0-py3-none-any.whl", hash = "sha256:aa", size = 1 }},
]

[package.optional-dependencies]
fast = [
    {{ name = "speed" }},
]

[[package]]
name = "fork"
version = "1"
{REGISTRY}
resolution-markers = ["sys_platform == 'linux'"]

[[package]]
name = "fork"
version = "2"
{REGISTRY}
resolution-markers = ["sys_platform == 'darwin'"]

[[package]]
name = "torch"
version = "1"
{REGISTRY}

[[package]]
name = "torch"
version = "2"
{REGISTRY}

[[package]]
name = "speed"
version = "3"
source = {{ git = "https://git.example/speed" }}

[[package]]
name = "linter"
version = "4"
{REGISTRY}

[[package]]
name = "extra-lib"
version = "5"
{REGISTRY}
"""
BASE = {"app": "1.0", "extra-lib": "5", "speed": "3"}


def installed(target: Target, chosen: Chosen = Chosen()) -> dict[str, str]:  # noqa: B008 - a value
    return {name: package.version for name, package in UvLock(TEXT).installed(target, chosen).items()}


def test_markers_and_forks() -> None:
    assert installed(LINUX) == {**BASE, "torch": "2"}
    assert installed(MAC) == {**BASE, "torch": "2", "fork": "2"}


def test_extras_and_groups() -> None:
    assert installed(LINUX, Chosen(extras=("cpu",))) == {**BASE, "torch": "1"}
    assert installed(LINUX, Chosen(extras=("all",))) == {**BASE, "torch": "1"}
    assert installed(LINUX, Chosen(extras=("gpu",), groups=("dev",))) == {**BASE, "torch": "2", "linter": "4"}
    assert installed(LINUX, Chosen(groups=None)) == {**BASE, "torch": "2", "linter": "4"}
    assert installed(LINUX, Chosen(groups=("dev",), project=False)) == {"linter": "4"}
    assert installed(LINUX, Chosen(places=("packages/member",))) == {"extra-lib": "5"}


def test_environments() -> None:
    lock = UvLock(TEXT)
    assert lock.supports(LINUX)
    assert lock.supports(MAC)
    assert not lock.supports(Target("3.13", "macos").resolved())
    assert not lock.supports(Target("3.12", "windows").resolved())
    assert lock.packages == {
        "app": ["1.0"], "fork": ["1", "2"], "torch": ["1", "2"], "speed": ["3"], "linter": ["4"],
        "extra-lib": ["5"],
    }  # fmt: skip


def test_differences() -> None:
    file = LockedFile("app-1.0-py3-none-any.whl", "bb")
    pins = (Pin("app", "1.0", (file,)), Pin("extra-lib", "6"), Pin("missing", "1"), Pin("speed", "3"))
    assert differences(Lock(pins, ()), LINUX, UvLock(TEXT), Chosen()) == (
        "app: app-1.0-py3-none-any.whl has another hash in uv.lock",
        "extra-lib is 6, and 5 in uv.lock",
        "missing 1 is not in uv.lock",
        "speed: uv.lock has it from git, not from an index",
        "torch 2 is in uv.lock, and not needed",
    )
    windows = Target("3.12", "windows").resolved()
    assert differences(Lock((), ()), windows, UvLock(TEXT), Chosen()) == (
        f"{windows}: none of the environments of uv.lock",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version = 2\n", "a uv.lock of version 2"),
        ("version = \n", "not valid TOML"),
        ("version = 1\npackage = 3\n", "`package` is expected to be a list"),
    ],
)
def test_no_uv_lock(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        UvLock(text)


def test_another_project() -> None:
    with pytest.raises(InputError, match=r"^there/uv\.lock: it is not about the project in its folder"):
        UvLock("version = 1\n", "there/uv.lock").installed(LINUX, Chosen())
