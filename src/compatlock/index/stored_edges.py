"""The stored form of a release's dependencies, made so that reading it costs little.

On the warm path: a run reads some 300 releases with 3,000 dependencies, three of four of them of extras
that nobody asks for. A dependency is a line `name specifier extra,extra url`, trailing empty fields left
out; none of the fields can hold white space.
"""

from __future__ import annotations

from collections.abc import Mapping

from compatlock.model.dependencies import Dependencies, Dependency

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any


class LazyExtras(Mapping[str, tuple[Dependency, ...]]):
    """The dependencies of extras, each decoded when it is asked for."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts
        self._decoded: dict[str, tuple[Dependency, ...]] = {}

    def __getitem__(self, extra: str) -> tuple[Dependency, ...]:
        found = self._decoded.get(extra)
        if found is None:
            found = self._decoded[extra] = _decode(self._texts[extra])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def encode_dependencies(release: Dependencies) -> list[Any]:
    """The stored form, as JSON values."""
    return [
        _encode(release.base),
        {extra: _encode(dependencies) for extra, dependencies in release.extras.items()},
        " ".join(release.provides),
        release.source,
        release.problem,
        release.repaired,
    ]


def decode_dependencies(stored: list[Any]) -> Dependencies:
    """The dependencies that `encode_dependencies` stored."""
    base, extras, provides, source, problem, repaired = stored
    return Dependencies(
        _decode(base), LazyExtras(extras), tuple(provides.split()), source, problem, tuple(repaired)
    )


def _encode(dependencies: Iterable[Dependency]) -> str:
    return "\n".join(map(_line, dependencies))


def _line(dependency: Dependency) -> str:
    name, specifier, extras, url = dependency
    return f"{name} {specifier} {','.join(extras)} {url}".rstrip()


def _decode(text: str) -> tuple[Dependency, ...]:
    return tuple(map(_dependency, text.split("\n"))) if text else ()


def _dependency(line: str) -> Dependency:
    name, *more = line.split(" ", 3)
    if not more:
        return Dependency(name)
    if len(more) == 1:
        return Dependency(name, more[0])
    return Dependency(name, more[0], tuple(more[1].split(",")) if more[1] else (), "".join(more[2:]))
