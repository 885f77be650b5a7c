"""Which releases and files may be considered at all."""

from __future__ import annotations

from typing import NamedTuple

PRERELEASE_MODES = ("if-necessary-or-explicit", "allow", "disallow", "if-necessary", "explicit")
ALL = ":all:"

# Which versions are the best: the newest, the oldest, or the oldest of what is asked for and the newest of
# what that needs (uv's names).
HIGHEST, LOWEST, LOWEST_DIRECT = RESOLUTIONS = ("highest", "lowest", "lowest-direct")


class Policy(NamedTuple):
    """Policies of one run.

    exclude_newer: files uploaded after this time (seconds since the epoch) do not exist; None: no cut
    prerelease:    one of PRERELEASE_MODES (uv's names); the first follows the version-specifier standard
    no_binary:     packages whose wheels may not be used (`:all:` for every package)
    only_binary:   packages whose source distributions may not be used
    """

    exclude_newer: int | None = None
    prerelease: str = PRERELEASE_MODES[0]
    no_binary: tuple[str, ...] = ()
    only_binary: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Identifies the policy in caches. Not hashed: hashlib's import takes 3 ms of a warm run."""
        cut = "" if self.exclude_newer is None else str(self.exclude_newer)
        return ";".join((cut, self.prerelease, ",".join(self.no_binary), ",".join(self.only_binary)))

    def forbids_wheels(self, package: str) -> bool:
        """Whether `--no-binary` rules out the package's wheels: by name, or for all that `--only-binary` does
        not name."""
        return package in self.no_binary or (ALL in self.no_binary and package not in self.only_binary)

    def forbids_sdists(self, package: str) -> bool:
        """Whether `--only-binary` rules out the package's source distributions, likewise."""
        return package in self.only_binary or (ALL in self.only_binary and package not in self.no_binary)
