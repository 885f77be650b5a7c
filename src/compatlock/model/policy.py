"""Which releases and files may be considered at all."""

from __future__ import annotations

from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PRERELEASE_MODES = ("if-necessary-or-explicit", "allow", "disallow", "if-necessary", "explicit")
ALL = ":all:"

# Which versions are the best: the newest, the oldest, or the oldest of what is asked for and the newest of
# what that needs (uv's names).
HIGHEST, LOWEST, LOWEST_DIRECT = RESOLUTIONS = ("highest", "lowest", "lowest-direct")

# When a yanked release may be chosen: under an exact pin (PEP 592), as any other, or never.
PINNED, AS_OTHERS, NEVER = "", "yanked", "no-yanked"


# What lifts a cut in time.
NONE = "none"


def split(values: str | Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """The last value that is for every package, `""` for none, and those for one (`PKG=...`)."""
    given = [values] if isinstance(values, str) else list(values)
    return next((v for v in reversed(given) if "=" not in v), ""), tuple(v for v in given if "=" in v)


class Rules(NamedTuple):
    """What a policy says of one package.

    exclude_newer, prerelease: see `Policy`
    yanked:  PINNED, AS_OTHERS or NEVER
    wheels, sdists: whether they may be used
    native:  whether a release that has wheels, none of which fits, may be built from its sdist instead
    """

    exclude_newer: int | None = None
    prerelease: str = PRERELEASE_MODES[0]
    yanked: str = PINNED
    wheels: bool = True
    sdists: bool = True
    native: bool = False

    @property
    def key(self) -> str:
        """Identifies the rules in caches. Not hashed: hashlib's import takes 3 ms of a warm run."""
        cut = "" if self.exclude_newer is None else str(self.exclude_newer)
        words = [cut, self.prerelease, "" if self.wheels else "-wheels", "" if self.sdists else "-sdists"]
        words += filter(None, (self.yanked, "native" if self.native else ""))
        return ";".join(words)


class Policy(NamedTuple):
    """Policies of one run. Packages are named in normal form, in sorted order.

    exclude_newer: files uploaded after this time (seconds since the epoch) do not exist; None: no cut
    prerelease:    one of PRERELEASE_MODES (uv's names); the first follows the version-specifier standard
    no_binary:     packages whose wheels may not be used (`:all:` for every package)
    only_binary:   packages whose source distributions may not be used
    exclude_newer_for, prerelease_for: what holds for single packages instead
    allow_yanked:  packages whose yanked releases count as any other (`:all:`)
    no_yanked:     the yanked releases of all others may not be chosen, not even when pinned
    builds:        packages of which a release may be built from source though it has wheels for other
                   platforms
    """

    exclude_newer: int | None = None
    prerelease: str = PRERELEASE_MODES[0]
    no_binary: tuple[str, ...] = ()
    only_binary: tuple[str, ...] = ()
    exclude_newer_for: tuple[tuple[str, int | None], ...] = ()
    prerelease_for: tuple[tuple[str, str], ...] = ()
    allow_yanked: tuple[str, ...] = ()
    no_yanked: bool = False
    builds: tuple[str, ...] = ()

    @property
    def named(self) -> frozenset[str]:
        """The packages that have rules of their own."""
        pairs = (*self.exclude_newer_for, *self.prerelease_for)
        names = (*self.no_binary, *self.only_binary, *self.allow_yanked, *self.builds)
        return frozenset((*(name for name, _ in pairs), *names)) - {ALL}

    def rules(self, package: str = "") -> Rules:
        """What holds for a package; `""` is any that is not named."""
        yanked = NEVER if self.no_yanked else PINNED
        if package in self.allow_yanked or ALL in self.allow_yanked:
            yanked = AS_OTHERS
        return Rules(
            dict(self.exclude_newer_for).get(package, self.exclude_newer),
            dict(self.prerelease_for).get(package, self.prerelease),
            yanked,
            not self.forbids_wheels(package),
            not self.forbids_sdists(package),
            package in self.builds,
        )

    @property
    def key(self) -> str:
        """Identifies the whole policy in caches; what is stored of a package goes by its `Rules.key`."""
        own = (f"{name}:{self.rules(name).key}" for name in sorted(self.named))
        return " ".join((self.rules().key, *own))

    def forbids_wheels(self, package: str) -> bool:
        """Whether `--no-binary` rules out the package's wheels: by name, or for all that `--only-binary` does
        not name."""
        return package in self.no_binary or (ALL in self.no_binary and package not in self.only_binary)

    def forbids_sdists(self, package: str) -> bool:
        """Whether `--only-binary` rules out the package's source distributions, likewise."""
        return package in self.only_binary or (ALL in self.only_binary and package not in self.no_binary)
