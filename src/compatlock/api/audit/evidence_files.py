"""Which files of an index the evidence of facts is about: of all releases, whatever a target can install."""

from __future__ import annotations

import re

from compatlock.api.audit.artefacts import locked_file
from compatlock.index.tags import TagRanks, build_number
from compatlock.model.names import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.index.supply import Supply
    from compatlock.model.listing import File, Release
    from compatlock.model.lock import LockedFile

# The member that the metadata of a release are in, wherever that is.
METADATA = "METADATA"

# Extension modules say for which interpreter and machine they are: `x.cpython-310-x86_64-linux-gnu.so`.
_EXTENSION = re.compile(r"\.cpython-(\d)(\d+)[a-z]*-(\w+)-linux-gnu\.so\Z")


class EvidenceFiles:
    """The releases and files of an index, as claims name them. The supply's target only decides between
    several wheels of a release. Its methods raise as `Supply.packages`."""

    def __init__(self, supply: Supply) -> None:
        self._supply = supply
        self._ranks = TagRanks(supply.target)
        self._machine = supply.target.parsed_platform.tag_machine
        self._releases: dict[str, dict[str, Release]] = {}

    def load(self, packages: Iterable[str]) -> None:
        """Read the listings of packages, in one batch."""
        names = list(dict.fromkeys(packages))
        self._supply.packages(names)
        for name in names:
            if name not in self._releases:
                listing = self._supply.listing(name)
                releases = listing.releases if listing else ()
                cut = self._supply.policy.rules(name).exclude_newer
                self._releases[name] = {r.version: _in_time(r, cut) for r in releases}

    def versions(self, package: str, member: str = "") -> list[str]:
        """The releases of a package, newest first, that are not yanked and have a wheel which could have
        `member`."""
        self.load([package])
        return [
            version
            for version, release in self._releases[package].items()
            if any(file.yanked is None for file in release.files) and self._best(release, member)
        ]

    def all_versions(self, package: str) -> list[str]:
        """All releases of a package that have a file, newest first."""
        self.load([package])
        return [version for version, release in self._releases[package].items() if release.files]

    def spelled(self, package: str, version: str) -> str:
        """A version as the index spells it; as it is if the index has none like it."""
        from packaging.utils import canonicalize_version

        self.load([package])
        if version in self._releases[package]:
            return version
        asked = canonicalize_version(version)
        return next((v for v in self._releases[package] if canonicalize_version(v) == asked), version)

    def file(self, package: str, version: str, member: str = "") -> LockedFile | str:
        """The wheel of a release that could have `member`, or why there is none. Metadata are in source
        distributions, too."""
        self.load([package])
        release = self._releases[package].get(version)
        if release is None or not release.files:
            return f"the index has no {package} {version}"
        best = self._best(release, member)
        if best is not None:
            return locked_file(best)
        if not any(file.is_wheel for file in release.files):
            if member == METADATA:
                return locked_file(release.files[0])
            return f"{package} {version} has only a source distribution, which is not looked into"
        return f"{package} {version} has no wheel that could have `{member}`"

    def any_file(self, package: str, version: str) -> LockedFile | None:
        """The wheel of a release, or the source distribution where there is none."""
        self.load([package])
        release = self._releases[package].get(version)
        if release is None or not release.files:
            return None
        return locked_file(self._best(release, "") or release.files[0])

    def named(self, filename: str) -> LockedFile | str:
        """The file of a name, or why it cannot be looked into."""
        package = package_of(filename)
        if not package:
            return f"{filename} is the name of neither a wheel nor a source distribution"
        self.load([package])
        for release in self._releases[package].values():
            for file in release.files:
                if file.filename == filename:
                    return locked_file(file)
        return f"the index has no {filename}"

    def _best(self, release: Release, member: str) -> File | None:
        wheels = [file for file in release.files if file.is_wheel]
        extension = _EXTENSION.search(member)
        if extension:
            interpreter, machine = f"cp{extension[1]}{extension[2]}", extension[3]
            wheels = [file for file in wheels if _is_for(file.filename, interpreter, machine)]
        return max(wheels, key=self._worth, default=None)

    def _worth(self, file: File) -> tuple[bool, int, bool, tuple[int, str], tuple[int, ...], str]:
        """The better, the higher: what the target would take, else what is for its machine, for the newest
        Python."""
        rank = self._ranks.rank_of_wheel(file.filename)
        name = file.filename
        is_near = name.endswith("-any.whl") or ("-manylinux" in name and self._machine in name)
        python = max((int(n) for n in re.findall(r"cp3(\d+)", name)), default=0)
        return rank is not None, -(rank or 0), is_near, build_number(name), (python,), name


def _in_time(release: Release, cut: int | None) -> Release:
    """A release without the files that were uploaded after a time, or have none."""
    if cut is None:
        return release
    files = (f for f in release.files if f.upload_time is not None and f.upload_time <= cut)
    return release._replace(files=tuple(files))


def package_of(filename: str) -> str:
    """The normalised name in the file name of a wheel or a source distribution, `""` for other names."""
    if is_sdist(filename):
        return normalise(filename.rpartition("-")[0])
    return normalise(filename.partition("-")[0]) if filename.endswith(".whl") else ""


def is_sdist(filename: str) -> bool:
    """Whether a file name is that of a source distribution."""
    return filename.endswith((".tar.gz", ".tgz", ".tar.bz2", ".zip"))


def _is_for(filename: str, interpreter: str, machine: str) -> bool:
    """Whether a wheel's tags name an interpreter, and Linux on a machine."""
    *_, python, _, platform = filename.removesuffix(".whl").split("-")
    is_gnu = "manylinux" in platform or platform.startswith("linux_")
    return interpreter in python.split(".") and is_gnu and platform.endswith(machine)
