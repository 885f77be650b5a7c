"""Platform names, as uv spells them, and what they mean for markers and wheel tags."""

from __future__ import annotations

import re

from compatlock.errors import InputError
from compatlock.model.named_tuple import NamedTuple

# uv's short names stand for these.
ALIASES = {
    "linux": "x86_64-manylinux_2_28",
    "windows": "x86_64-pc-windows-msvc",
    "macos": "aarch64-apple-darwin",
    "x86_64-unknown-linux-gnu": "x86_64-manylinux_2_28",
    "aarch64-unknown-linux-gnu": "aarch64-manylinux_2_28",
    "riscv64-unknown-linux": "riscv64-manylinux_2_39",
}

# As texts, of which a run needs one or two: compiling them all takes longer than the rest of this module.
_MANYLINUX = r"(x86_64|aarch64|i686|ppc64le|s390x|riscv64|armv7l)-manylinux(?:_2_(\d+)|(2014|2010|1))\Z"
_MUSL = r"(x86_64|aarch64)-(?:unknown-linux-musl|musllinux_1_(\d+))\Z"
_DARWIN = r"(x86_64|aarch64)-apple-darwin(?:-(\d+)\.(\d+))?\Z"
_WINDOWS = r"(x86_64|aarch64|i686)-pc-windows-msvc\Z"
_LEGACY_GLIBC = {"2014": 17, "2010": 12, "1": 5}
_WINDOWS_MACHINES = {
    "x86_64": ("AMD64", "win_amd64"),
    "aarch64": ("ARM64", "win_arm64"),
    "i686": ("x86", "win32"),
}

KNOWN = (
    "linux, windows, macos, x86_64-manylinux_2_28 (any _2_N, or manylinux2014), aarch64-manylinux_2_28, "
    "x86_64-unknown-linux-gnu, x86_64-unknown-linux-musl, aarch64-unknown-linux-musl, aarch64-apple-darwin, "
    "x86_64-apple-darwin, x86_64-pc-windows-msvc, aarch64-pc-windows-msvc, i686-pc-windows-msvc"
)


class Platform(NamedTuple):
    """What a platform name means. `family` is manylinux, musllinux, macos or windows; `floor` the libc or
    system version `(major, minor)`; `tag_machine` the machine as wheel tags spell it."""

    name: str
    family: str
    machine: str
    tag_machine: str
    floor: tuple[int, int]

    @property
    def markers(self) -> dict[str, str]:
        """The platform's part of the marker environment (PEP 508)."""
        system, sys_platform, os_name = {
            "macos": ("Darwin", "darwin", "posix"),
            "windows": ("Windows", "win32", "nt"),
        }.get(self.family, ("Linux", "linux", "posix"))
        return {
            "os_name": os_name,
            "sys_platform": sys_platform,
            "platform_system": system,
            "platform_machine": self.machine,
            "platform_release": "",
            "platform_version": "",
        }


def parse_platform(name: str) -> Platform:
    """Parse a platform name. Raises InputError for an unknown one, with those that are known."""
    full = ALIASES.get(name, name)
    if match := re.match(_MANYLINUX, full):
        minor = int(match[2]) if match[2] else _LEGACY_GLIBC[match[3]]
        return Platform(full, "manylinux", match[1], match[1], (2, minor))
    if match := re.match(_MUSL, full):
        return Platform(full, "musllinux", match[1], match[1], (1, int(match[2] or 2)))
    if match := re.match(_DARWIN, full):
        machine = "arm64" if match[1] == "aarch64" else "x86_64"
        floor = (int(match[2]), int(match[3])) if match[2] else (13, 0)
        return Platform(full, "macos", machine, machine, floor)
    if match := re.match(_WINDOWS, full):
        machine, tag = _WINDOWS_MACHINES[match[1]]
        return Platform(full, "windows", machine, tag, (0, 0))
    raise InputError(f"unknown platform `{name}`", hints=[f"known: {KNOWN}"])


def running_platform() -> str:
    """Name of the platform that this interpreter runs on. Raises InputError where it has no name."""
    import os
    import sys

    if sys.platform == "win32":
        machine = os.environ.get("PROCESSOR_ARCHITECTURE", "AMD64").upper()
        return {"AMD64": "x86_64", "ARM64": "aarch64", "X86": "i686"}.get(
            machine, "x86_64"
        ) + "-pc-windows-msvc"
    machine = os.uname().machine
    if sys.platform == "darwin":
        import platform

        major, minor = [*platform.mac_ver()[0].split("."), "0"][:2]
        return f"{'aarch64' if machine == 'arm64' else machine}-apple-darwin-{major}.{minor}"
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        libc = ""
    if match := re.match(r"glibc 2\.(\d+)", libc):
        return f"{machine}-manylinux_2_{match[1]}"
    return f"{machine}-unknown-linux-musl"
