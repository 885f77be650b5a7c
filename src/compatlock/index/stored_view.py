"""From a view's stored form (`index.view.encode_view`) to a package, for runs that need not make the view.

On the warm path: some 200 views are read in a run, so that lists are only made of what is looked at, and
JSON stands only where text can be anything, which is rare.
"""

from __future__ import annotations

from collections.abc import Sequence

from compatlock.model.json_text import loads
from compatlock.model.package import PRERELEASE, YANKED, Package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, overload

_FEW = 4
KEY_LENGTH = 20  # of a file's key, see `index.view.file_key`
GATES = {"p": PRERELEASE, "y": YANKED}

# What there is to say of most projects: the index has it, and gives it no status.
_ORDINARY: list[Any] = [True, "", ""]


class FileKeys(Sequence[str]):
    """The keys of the candidates' files, joined in one text."""

    def __init__(self, text: str) -> None:
        self._text = text

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> str: ...

        @overload
        def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        start = index * KEY_LENGTH
        if not 0 <= start < len(self._text):
            start = range(len(self))[index] * KEY_LENGTH
        return self._text[start : start + KEY_LENGTH]

    def __len__(self) -> int:
        return len(self._text) // KEY_LENGTH


class Versions(Sequence[str]):
    """The versions of the candidates; they are all split only when more than a few are looked at."""

    def __init__(self, text: str, size: int) -> None:
        self._text = text
        self._size = size
        self._known: dict[int, str] = {}
        self._versions: list[str] | None = None

    def _all(self) -> list[str]:
        if self._versions is None:
            self._versions = self._text.split(" ") if self._text else []
        return self._versions

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> str: ...

        @overload
        def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice) or not 0 <= index < self._size:
            return self._all()[index]
        known = self._known.get(index)
        if known is None:
            one = self._versions is None and len(self._known) < _FEW
            known = self._text.split(" ", index + 1)[index] if one else self._all()[index]
            self._known[index] = known
        return known

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return self._size

    def __str__(self) -> str:
        return self._text

    def index(self, version: str, *bounds: int) -> int:
        """Which candidate has a version. Raises ValueError."""
        if bounds:
            return self._all().index(version, *bounds)
        at = f" {self._text} ".find(f" {version} ")
        if at < 0:
            raise ValueError(f"{version} is none of them")
        return self._text.count(" ", 0, at)


class Times(Sequence["int | None"]):
    """The upload times of the candidates, parsed when the first is looked at."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._times: list[int | None] | None = None

    def _all(self) -> list[int | None]:
        if self._times is None:
            texts = self._text.split(" ")
            self._times = [*map(int, texts)] if all(texts) else [int(t) if t else None for t in texts]
        return self._times

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> int | None: ...

        @overload
        def __getitem__(self, index: slice) -> list[int | None]: ...

    def __getitem__(self, index: int | slice) -> int | list[int | None] | None:
        return self._all()[index]

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


class Answers:
    """Specifiers answered over a project's full list of releases: from what was answered before, or else by
    `compute` (see `index.specifiers.answer`).

    `text` is their stored form, looked into instead of read, since a project can have hundreds: lines
    `SPECIFIER<tab>FLAGS LO HI LO HI ...`, with a line end before and after each; `""` for nothing.
    """

    __slots__ = ("_compute", "_new", "_text")

    def __init__(self, text: str, compute: Callable[[str], tuple[int, ...]]) -> None:
        self._text = text
        self._compute = compute
        self._new: dict[str, tuple[int, ...]] = {}

    def answer(self, specifier: str) -> tuple[int, ...]:
        """`(flags, lo, hi, lo, hi, ...)`."""
        found = self._text.find(f"\n{specifier}\t")
        if found >= 0:
            start = found + len(specifier) + 2
            return tuple(map(int, self._text[start : self._text.index("\n", start)].split(" ")))
        known = self._new.get(specifier)
        if known is None:
            known = self._new[specifier] = self._compute(specifier)
        return known

    def take_new(self) -> str | None:
        """The stored form, if anything was answered anew since this was asked last."""
        if not self._new:
            return None
        lines = [
            f"{specifier}\t{' '.join(map(str, answer))}\n"
            for specifier, answer in self._new.items()
            # No specifier of PEP 440 has them, but there are others.
            if "\t" not in specifier and "\n" not in specifier
        ]
        self._new.clear()
        if not lines:
            return None
        self._text = "".join((self._text or "\n", *lines))
        return self._text


def package_of(
    name: str, view: str, *, compute: Callable[[str], tuple[int, ...]], prerelease: str
) -> tuple[Package, tuple[str, str]]:
    """The package that a stored view describes, and the status of its project; `compute` answers specifiers,
    `prerelease` is the policy's mode."""
    # Not split into lines: that looks at each character, and most of them nobody asks for.
    first = view.index("\n")
    second = view.index("\n", first + 1)
    third = view.index("\n", second + 1)
    fourth = view.index("\n", third + 1)
    positions, gates, hidden = view[first + 1 : second].split("\t")
    versions, times, file_keys = view[second + 1 : third], view[third + 1 : fourth], view[fourth + 1 :]
    found, *status = loads(view[:first]) if first else _ORDINARY
    package = Package(
        name,
        Versions(versions, len(file_keys) // KEY_LENGTH),
        positions=_positions(positions),
        times=Times(times) if versions else (),
        gates={int(gate[:-1]): GATES[gate[-1]] for gate in gates.split(" ")} if gates else {},
        file_keys=FileKeys(file_keys),
        full_runs={},
        compute=compute,
        found=found,
        newest_hidden=loads(hidden) if hidden else (),
        prerelease=prerelease,
    )
    return package, (status[0], status[1])


def with_project(view: str, *, found: bool, status: str, reason: str) -> str:
    """The stored form of a view, after a line for what the index says of the project as a whole."""
    about = [found, status, reason]
    if about == _ORDINARY:
        return f"\n{view}"
    import json

    return f"{json.dumps(about)}\n{view}"


def _positions(bounds: str) -> Sequence[int]:
    """The numbers within half-open ranges `lo hi lo hi ...`."""
    ends = [*map(int, bounds.split())]
    if len(ends) == 2:
        return range(ends[0], ends[1])
    positions: list[int] = []
    for low, high in zip(ends[::2], ends[1::2], strict=True):
        positions += range(low, high)
    return positions
