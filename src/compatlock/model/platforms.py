"""Platform names, as uv spells them, and what they mean for markers and wheel tags."""

from __future__ import annotations

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

_LINUX_MACHINES = ("x86_64", "aarch64", "i686", "ppc64le", "s390x", "riscv64", "armv7l")
# Those of musl and of macOS.
_TWO_MACHINES = ("x86_64", "aarch64")
_GLIBC, _MUSL = "manylinux_2_", "musllinux_1_"
_LEGACY_GLIBC = {"manylinux2014": 17, "manylinux2010": 12, "manylinux1": 5}
_ANY_MUSL, _OLDEST_MUSL = "unknown-linux-musl", 2
_MACOS, _OLDEST_MACOS = "apple-darwin", (13, 0)
_WINDOWS = "pc-windows-msvc"
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
    machine, _, system = full.partition("-")
    if machine in _LINUX_MACHINES and (glibc := _glibc(system)) is not None:
        return Platform(full, "manylinux", machine, machine, (2, glibc))
    if machine in _TWO_MACHINES and (musl := _musl(system)) is not None:
        return Platform(full, "musllinux", machine, machine, (1, musl))
    if machine in _TWO_MACHINES and (macos := _macos(system)) is not None:
        known = "arm64" if machine == "aarch64" else machine
        return Platform(full, "macos", known, known, macos)
    if machine in _WINDOWS_MACHINES and system == _WINDOWS:
        known, tag = _WINDOWS_MACHINES[machine]
        return Platform(full, "windows", known, tag, (0, 0))
    raise InputError(f"unknown platform `{name}`", hints=[f"known: {KNOWN}"])


def _glibc(system: str) -> int | None:
    """The N of glibc 2.N that a system promises, None when that is no glibc system."""
    if system in _LEGACY_GLIBC:
        return _LEGACY_GLIBC[system]
    return _number(system.removeprefix(_GLIBC)) if system.startswith(_GLIBC) else None


def _musl(system: str) -> int | None:
    """The N of musl 1.N that a system promises, None when that is no musl system."""
    if system == _ANY_MUSL:
        return _OLDEST_MUSL
    return _number(system.removeprefix(_MUSL)) if system.startswith(_MUSL) else None


def _macos(system: str) -> tuple[int, int] | None:
    """The oldest macOS that a system promises, None when that is not macOS."""
    if system == _MACOS:
        return _OLDEST_MACOS
    name, _, version = system.rpartition("-")
    major, _, minor = version.partition(".")
    if name != _MACOS or not major.isdecimal() or not minor.isdecimal():
        return None
    return int(major), int(minor)


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


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
    name, _, version = libc.partition(" 2.")
    minor = version.partition(".")[0]
    if name == "glibc" and minor.isdecimal():
        return f"{machine}-{_GLIBC}{minor}"
    return f"{machine}-unknown-linux-musl"
