"""CUDA: which majors a target runs, and which a release was built for.

For the solver CUDA is one package, `__cuda` (no project can have this name), whose releases are the majors.
It is always there, in one version for the whole set of packages; it has no lag, is not counted and never
pinned. Facts of kind `cuda` bind releases to some of its versions; they are never soft.

A fact speaks of *files*. One with a local version says itself what it was built for: `+cu128` is CUDA 12,
`+cpu` or `+rocm6.4` is none, and no fact counts. The facts that come with compatlock were read from the files
of the public index, so they hold for the default index (which may be a mirror of it). Further indexes are
there because their files are built differently: of those only the user's own facts, and what an audit read
off them, tell.
"""

from __future__ import annotations

from compatlock.errors import InputError
from compatlock.model.display import listed
from compatlock.model.package import Package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from compatlock.model.fact import Fact
    from compatlock.model.package import Runs
    from compatlock.model.platforms import Platform

CUDA = "__cuda"

# The oldest Linux driver that runs programs built for a CUDA major (minor-version compatibility).
# Source: docs.nvidia.com/deploy/cuda-compatibility, "Minor Version Compatibility", read on 2026-11-30.
OLDEST_DRIVERS = {"13": (580, 65, 6), "12": (525, 60, 13), "11": (450, 80, 2)}
MAJORS = tuple(OLDEST_DRIVERS)  # newest first

AUTO = "auto"

_CUDA = r"(\d{1,2})(?:\.(\d{1,2}))?\Z"
_DRIVER = r"(\d{3})(?:\.(\d{1,3}))?(?:\.(\d{1,3}))?\Z"
_LOCAL = r"(?:\A|[^a-z])cu(1\d)"
# Longer operators first.
_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "==": int.__eq__,
    "!=": int.__ne__,
    ">=": int.__ge__,
    "<=": int.__le__,
    ">": int.__gt__,
    "<": int.__lt__,
}


def majors_within(bound: str) -> tuple[str, ...]:
    """The majors within a bound on `__cuda` such as `==12.*`, `>=12` or `!=11`, newest first; `""` is all of
    them. Raises ValueError for anything else: facts are about majors only."""
    clauses = [_clause(text.strip()) for text in bound.split(",") if text.strip()]
    return tuple(m for m in MAJORS if all(_COMPARED[operator](int(m), n) for operator, n in clauses))


def _clause(text: str) -> tuple[str, int]:
    operator = next((known for known in _COMPARED if text.startswith(known)), "")
    number = text.removeprefix(operator).lstrip()
    if operator in ("==", "!="):
        number = number.removesuffix(".*")
    if not operator or not number.isdecimal() or len(number) > 2:
        raise ValueError(f"`{text}` does not bound CUDA majors (write `==12.*` or `>=13`)")
    return operator, int(number)


def exactly(majors: Iterable[str]) -> str:
    """The bound on `__cuda` that these majors, which follow each other, are within."""
    known = [major for major in MAJORS if major in majors]
    if not known:
        return "<0"
    return f"=={known[0]}.*" if len(known) == 1 else f">={known[-1]},<={known[0]}"


def cuda_package() -> Package:
    """`__cuda` as a package."""
    count = len(MAJORS)
    return Package(
        CUDA,
        MAJORS,
        positions=range(count),
        times=(None,) * count,
        gates={},
        file_keys=("",) * count,
        full_runs={},
        compute=_runs,
    )


def _runs(bound: str) -> tuple[int, ...]:
    runs = [0]
    for index in (MAJORS.index(major) for major in majors_within(bound)):
        if len(runs) > 1 and runs[-1] == index:
            runs[-1] += 1
        else:
            runs += (index, index + 1)
    return tuple(runs)


# What a target runs


def check_cuda(text: str) -> str:
    """A CUDA version of the user's as it is kept: `12` or `12.8`. Raises InputError for anything else."""
    import re

    match = re.match(_CUDA, text)
    if match is None:
        raise InputError(
            f"`{text}` is no CUDA version",
            hints=["write `--cuda 12.8`, the highest that the target runs, or `--cuda auto`"],
        )
    if match[1] not in MAJORS:
        raise InputError(
            f"nothing is known of CUDA {text}",
            hints=[
                f"known are {listed(MAJORS[::-1])}; what runs a newer one runs these: `--cuda {MAJORS[0]}`"
            ],
        )
    return text


def check_driver(text: str) -> str:
    """A driver version of the user's, as it is kept. Raises InputError for anything else, and for a driver
    that runs no CUDA that is known."""
    import re

    if re.match(_DRIVER, text) is None:
        raise InputError(
            f"`{text}` is no version of an NVIDIA driver",
            hints=["write `--driver 570` or `--driver 570.133.20`, as `nvidia-smi` shows it"],
        )
    if not majors_of_driver(text):
        oldest = ".".join(f"{n:02}" for n in OLDEST_DRIVERS[MAJORS[-1]])
        raise InputError(
            f"driver {text} runs no CUDA that is known",
            hints=[f"CUDA {MAJORS[-1]} needs driver {oldest} or newer"],
        )
    return text


def majors_of_driver(driver: str) -> tuple[str, ...]:
    """The CUDA majors that a Linux driver runs, newest first. A bare branch (`570`) is its newest release."""
    numbers = [int(number) for number in driver.split(".")]
    have = (*numbers, *([999] * 2 if len(numbers) == 1 else [0] * (3 - len(numbers))))
    return tuple(major for major, oldest in OLDEST_DRIVERS.items() if have >= oldest)


def majors_of_cuda(cuda: str) -> tuple[str, ...]:
    """The CUDA majors that a target runs whose highest CUDA is `cuda`, newest first."""
    return tuple(major for major in MAJORS if int(major) <= int(cuda.partition(".")[0]))


def branch_for(major: str) -> str:
    """The first driver branch that runs a CUDA major, such as `580`."""
    return str(OLDEST_DRIVERS[major][0])


def oldest_driver(major: str) -> str:
    """The oldest driver that runs a CUDA major, as NVIDIA writes it."""
    first, *rest = OLDEST_DRIVERS[major]
    return ".".join([str(first), *(f"{number:02}" for number in rest)])


# What releases are built for


def knows_files_for(platform: Platform) -> bool:
    """Whether facts about CUDA hold for a platform: they were read from the Linux x86_64 wheels."""
    return platform.family in ("manylinux", "musllinux") and platform.machine == "x86_64"


def local_majors(version: str) -> tuple[str, ...] | None:
    """The CUDA majors that the local version of a release allows, all of them for one that was built for no
    CUDA; None when it has no local version."""
    _, plus, local = version.partition("+")
    if not plus:
        return None
    import re

    match = re.search(_LOCAL, local)
    return (match[1],) if match is not None else MAJORS


def bound_runs(package: Package) -> Iterable[tuple[tuple[str, ...], int, int]]:
    """Runs `[lo, hi)` of candidates whose local versions bind them, each with the majors that it allows."""
    if "+" not in str(package.versions):
        return
    start, told = 0, None
    for index in range(package.size + 1):
        here = local_majors(package.versions[index]) if index < package.size else None
        if here != told:
            if told is not None and told != MAJORS:
                yield told, start, index
            start, told = index, here


def spoken_of(package: Package, runs: Runs) -> Runs:
    """Of runs of candidates those parts that facts speak of: the candidates without a local version."""
    if "+" not in str(package.versions):
        return runs
    plain = (i for low, high in runs for i in range(low, high) if "+" not in package.versions[i])
    found: list[tuple[int, int]] = []
    for index in plain:
        if found and found[-1][1] == index:
            found[-1] = (found[-1][0], index + 1)
        else:
            found.append((index, index + 1))
    return tuple(found)


class CudaRules:
    """Which CUDA majors each candidate allows by itself.

    facts:        facts of all kinds
    is_elsewhere: whether a package is from another index than the default one
    """

    def __init__(self, facts: Iterable[Fact], is_elsewhere: Callable[[str], bool]) -> None:
        self._facts: dict[str, list[Fact]] = {}
        self._is_elsewhere = is_elsewhere
        for fact in facts:
            if fact.kind == "cuda":
                self._facts.setdefault(fact.package, []).append(fact)

    def majors(self, package: Package, index: int) -> tuple[str, ...]:
        """The majors that a candidate allows, newest first."""
        local = local_majors(package.versions[index])
        if local is not None:
            return local
        facts = self._facts.get(package.name, [])
        if not facts:
            return MAJORS
        if self._is_elsewhere(package.name):
            facts = [fact for fact in facts if not fact.is_shipped]
        rows = (row for fact in facts for row in fact.bounds if package.admits(row.versions, index))
        allowed = [majors_within(row.bound) for row in rows]
        return tuple(major for major in MAJORS if all(major in majors for majors in allowed))
