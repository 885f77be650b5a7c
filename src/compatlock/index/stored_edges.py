"""The stored form of a release's dependencies, made so that reading it costs little.

On the warm path: a run reads some 300 releases with 3,000 dependencies, three of four of them of extras
that nobody asks for. A text of blocks with an empty line between them: `SOURCE<tab>EXTRAS<tab>JSON` (the JSON
only where there is a problem or a repaired line), the base dependencies, and for each extra that adds some,
a line with its name and theirs. A dependency is a line `name specifier extra,extra url`, trailing empty
fields left out; none of the fields can hold white space.
"""

from __future__ import annotations

from collections.abc import Mapping

from compatlock.model.dependencies import Dependencies, Dependency
from compatlock.model.json_text import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class LazyExtras(Mapping[str, tuple[Dependency, ...]]):
    """The dependencies of extras, each decoded when it is asked for."""

    def __init__(self, blocks: str) -> None:
        self._blocks = blocks
        self._texts: dict[str, str] | None = None
        self._decoded: dict[str, tuple[Dependency, ...]] = {}

    def _read(self) -> dict[str, str]:
        if self._texts is None:
            parts = [block.partition("\n") for block in self._blocks.split("\n\n") if block]
            self._texts = {extra: text for extra, _, text in parts}
        return self._texts

    def __getitem__(self, extra: str) -> tuple[Dependency, ...]:
        found = self._decoded.get(extra)
        if found is None:
            found = self._decoded[extra] = _decode(self._read()[extra])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def encode_dependencies(release: Dependencies) -> str:
    """The stored form."""
    about = ""
    if release.problem or release.repaired:
        import json

        about = json.dumps([release.problem, release.repaired])
    extras = ["\n".join((extra, *map(_line, each))) for extra, each in release.extras.items()]
    head = "\t".join((release.source, " ".join(release.provides), about))
    return "\n\n".join((head, "\n".join(map(_line, release.base)), *extras))


def decode_dependencies(stored: str) -> Dependencies:
    """The dependencies that `encode_dependencies` stored."""
    head, _, blocks = stored.partition("\n\n")
    base, _, extras = blocks.partition("\n\n")
    source, provides, about = head.split("\t")
    problem, repaired = loads(about) if about else ("", ())
    return Dependencies(
        _decode(base), LazyExtras(extras), tuple(provides.split()), source, problem, tuple(repaired)
    )


def _line(dependency: Dependency) -> str:
    name, specifier, extras, url = dependency
    return f"{name} {specifier} {','.join(extras)} {url}".rstrip()


def _decode(text: str) -> tuple[Dependency, ...]:
    return tuple([_dependency(line) for line in text.split("\n")]) if text else ()


def _dependency(line: str) -> Dependency:
    name, _, more = line.partition(" ")
    if " " not in more:
        return Dependency(name, more)
    specifier, extras, *url = more.split(" ")
    return Dependency(name, specifier, tuple(extras.split(",")) if extras else (), "".join(url))
