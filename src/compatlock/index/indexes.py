"""Which of several indexes answers for a project: the first that has it, so that nobody can put a release
of somebody else's project before it by offering it on another index (dependency confusion).

The indexes are asked one after the other, and a later one only when those before it have said that they do
not have the project: the names of private projects are not told to public indexes.
"""

from __future__ import annotations

from compatlock.model.index import Indexes, PackageIndex, parse_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Protocol, TypeVar

    class Known(Protocol):
        """What the store knows of a project at one index."""

        @property
        def is_absent(self) -> bool:
            """Whether the index said that it does not have the project."""

    _Row = TypeVar("_Row", bound=Known)

# Stands for the public index in the store's keys, so that a warm run need not import the library that
# knows its address.
PUBLIC = "default"


class IndexSet:
    """The indexes of a run, by position: `all[k]` is the index at position k."""

    def __init__(self, indexes: Indexes) -> None:
        self.default = indexes.default
        # The same index twice answers twice the same: the first counts.
        assigned = {index.url for _, index in indexes.assigned}
        searched = [index for index in indexes.extra if index.url not in assigned] + [indexes.default]
        by_url = {index.url: index for index in reversed(searched)}
        general = list(dict.fromkeys(by_url[index.url] for index in searched))
        explicit = {index.url: index for _, index in indexes.assigned if index.url not in by_url}
        self.all: tuple[PackageIndex, ...] = (*general, *explicit.values())
        self._general = tuple(range(len(general)))
        positions = {index.url: position for position, index in enumerate(self.all)}
        self._assigned = {project: (positions[index.url],) for project, index in indexes.assigned}

    @property
    def is_single(self) -> bool:
        """Whether all projects are that of one index."""
        return len(self.all) == 1

    def order(self, project: str) -> tuple[int, ...]:
        """The positions at which to ask for a project (normalised name), in this order."""
        return self._assigned.get(project, self._general)

    def source(self, position: int) -> str:
        """How the store names an index. Its URL holds no credentials."""
        return self.all[position].url or PUBLIC

    def locate(
        self,
        projects: Iterable[str],
        look: Callable[[str, list[str]], Mapping[str, _Row]],
        is_fresh: Callable[[_Row], bool],
    ) -> tuple[dict[str, tuple[int, _Row]], dict[str, int]]:
        """Find projects in what is known already. `look(source, projects)` gives a row for each project that
        was asked for at an index, and a row that is not fresh counts as none.

        Returns where they are, `{project: (position, row)}` (a project that nobody has is at the last
        position, with the row of that), and where to ask next for the others, `{project: position}`.
        """
        found: dict[str, tuple[int, _Row]] = {}
        unknown: dict[str, int] = {}
        left = [(project, self.order(project)) for project in projects]
        while left:
            by_position: dict[int, list[str]] = {}
            for project, order in left:
                by_position.setdefault(order[0], []).append(project)
            rows = {place: look(self.source(place), names) for place, names in by_position.items()}
            absent = []
            for project, (position, *others) in left:
                row = rows[position].get(project)
                if row is None or not is_fresh(row):
                    unknown[project] = position
                elif row.is_absent and others:
                    absent.append((project, tuple(others)))
                else:
                    found[project] = (position, row)
            left = absent
        return found, unknown


def index_set_of(name: str) -> IndexSet:
    """The set of a single index: a URL, or another word that stands for one in the store; `""` is the public
    one. Raises InputError for a URL of another kind."""
    return IndexSet(Indexes(parse_index(name) if "://" in name else PackageIndex(name)))


def request_key(project: str, position: int) -> str:
    """How a request names a project at an index (see `Network.fetch`)."""
    return f"{project}@{position}" if position else project


def split_key(key: str) -> tuple[str, int]:
    """The project and the position of a request."""
    project, _, position = key.partition("@")
    return project, int(position or 0)
