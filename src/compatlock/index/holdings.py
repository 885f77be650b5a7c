"""What the store holds of an index, as a target sees it: the universe that is served to the search.

A warm run touches only this: packages and dependencies come out ready-made. What the store holds in another
form is evaluated for the target, and stored.
"""

from __future__ import annotations

from compatlock.errors import NotCached
from compatlock.index.stored_edges import decode_dependencies, encode_dependencies
from compatlock.index.stored_view import Answers, package_of, with_project
from compatlock.model.dependencies import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
    from typing import Any, TypeVar

    from compatlock.index.compile import Compiler
    from compatlock.index.indexes import IndexSet
    from compatlock.index.sent_listing import SentView
    from compatlock.index.store import PackageRow, Store
    from compatlock.index.view import Hidden, View, Viewer
    from compatlock.model.dependencies import Dependencies
    from compatlock.model.index import PackageIndex
    from compatlock.model.listing import File, Listing, Skipped
    from compatlock.model.metadata import Metadata
    from compatlock.model.package import Package
    from compatlock.model.policy import Policy
    from compatlock.model.target import Target

    _Row = TypeVar("_Row")


class CacheChanged(NotCached):
    """The store no longer holds what a run relies on: another process replaced it, or it is damaged. The
    run has to begin again."""


class Holdings:
    """What is held of one index, or of several, for one target and policy.

    `now` is in seconds since the epoch; a listing is believed for `max_age` seconds, and with None, which is
    offline, for ever.
    """

    def __init__(
        self,
        store: Store,
        indexes: IndexSet,
        target: Target,
        policy: Policy,
        now: int,
        max_age: int | None,
    ) -> None:
        self.indexes = indexes
        # Where packages are from or, while that is not known, where to ask for them next; 0 if not here.
        self._positions: dict[str, int] = {}
        self.target = target
        self.policy = policy
        self._store = store
        self._now = now
        self._max_age = max_age
        # What is stored of a package goes by the policy of that package: few have one of their own.
        self._view_key = f"{target.key}/{policy.rules().key}"
        self._view_keys = {name: f"{target.key}/{policy.rules(name).key}" for name in policy.named}
        self._prereleases = dict(policy.prerelease_for)
        self._packages: dict[str, Package] = {}
        self._digests: dict[str, str] = {}
        # Packages whose listing is from an earlier run.
        self._believed: set[str] = set()
        self._dependencies: dict[tuple[str, int], Dependencies] = {}
        self._installable: dict[tuple[str, int], list[File]] = {}
        self._answers: dict[str, Answers] = {}
        self._versions: dict[str, list[str]] = {}
        self._statuses: dict[str, tuple[str, str]] = {}
        # The views that this run made itself: they still have the files.
        self._views: dict[str, View] = {}
        # Those that the second process made, until somebody looks at them.
        self._sent: dict[str, SentView] = {}
        # Under which key the metadata of a candidate is that was built for it.
        self._built: dict[tuple[str, int], str] = {}
        self._viewer: Viewer | None = None
        self._compiler: Compiler | None = None

    @property
    def memo(self) -> MutableMapping[str, str]:
        """What was derived before, as text, from run to run."""
        return self._store.memo

    # Packages

    def missing_packages(self, names: Iterable[str]) -> list[str]:
        """Those of the packages that only the network can give."""
        unread = [n for n in names if n not in self._packages]
        if unread:
            found, unknown = self.indexes.locate(unread, self._look, self._is_fresh)
            self._positions.update((name, position) for name, position in unknown.items() if position)
            for name, (position, row) in found.items():
                if position:
                    self._positions[name] = position
                self._load_package(name, row)
                if row.fetched < self._now:
                    self._believed.add(name)
        return [n for n in unread if n not in self._packages]

    def _look(self, source: str, names: list[str]) -> dict[str, PackageRow]:
        return self._by_view(names, lambda key, some: self._store.packages(source, key, some))

    def _view_key_of(self, name: str) -> str:
        return self._view_keys.get(name, self._view_key)

    def _by_view(
        self, names: Sequence[str], ask: Callable[[str, list[str]], dict[str, _Row]]
    ) -> dict[str, _Row]:
        """What `ask` answers for the names under each key of their views."""
        others = [n for n in names if n not in self._view_keys] if self._view_keys else list(names)
        found = ask(self._view_key, others) if others else {}
        for name in names if len(others) < len(names) else ():
            if name in self._view_keys:
                found.update(ask(self._view_keys[name], [name]))
        return found

    def _is_fresh(self, row: PackageRow) -> bool:
        return self._max_age is None or 0 <= self._now - row.fetched <= self._max_age

    def _position(self, name: str) -> int:
        return self._positions.get(name, 0)

    def source_of(self, name: str) -> str:
        """How the store names the index that a package is from."""
        return self.indexes.source(self._position(name))

    def index_of(self, name: str) -> PackageIndex:
        """The index that a package is from."""
        return self.indexes.all[self._position(name)]

    def is_elsewhere(self, name: str) -> bool:
        """Whether a package is from another index than the default one."""
        return self.index_of(name) != self.indexes.default

    def status(self, name: str) -> tuple[str, str]:
        """What the index says of a project as a whole (PEP 792), and why: `("archived", "...")`; empty texts
        when it says nothing."""
        return self._statuses.get(name, ("", ""))

    def _load_package(self, name: str, row: PackageRow) -> bool:
        """Take a package as the store has it; False when the store has lost it."""
        if row.view is not None:
            if self._digests.get(name, row.digest) != row.digest:
                for of_another_listing in (self._versions, self._views, self._sent):
                    of_another_listing.pop(name, None)
            self._add_package(name, row.digest, row.view, row.runs or "")
            return True
        listing = self._store.listing(self.source_of(name), name)
        if listing is not None:
            self._take_package(listing)
        return listing is not None

    def _take_package(self, listing: Listing) -> None:
        """Take a package of which the whole listing is at hand."""
        from compatlock.index.sent_listing import versions_of

        name = listing.project
        self._add_package(name, listing.digest, self._make_view(listing), "")
        self._versions[name] = versions_of(listing)

    def _make_view(self, listing: Listing) -> str:
        from compatlock.index.sent_listing import sent_view
        from compatlock.index.view import encode_view

        sent = sent_view(listing, self.target, self.policy)
        if sent is not None:
            self._views.pop(listing.project, None)
            self._sent[listing.project], encoded = sent, sent.encoded
        else:
            self._sent.pop(listing.project, None)
            view = self._views[listing.project] = self.viewer.view(listing)
            encoded = encode_view(view)
        status, reason = listing.status, listing.status_reason
        encoded = with_project(encoded, found=listing.found, status=status, reason=reason)
        source = self.source_of(listing.project)
        key = self._view_key_of(listing.project)
        self._store.put_view(source, key, listing.project, listing.digest, encoded)
        return encoded

    def _view(self, name: str) -> View:
        """The view of a package of this run, with all files."""
        view = self._views.get(name)
        if view is None and name in self._sent:
            view = self._views[name] = self._sent[name].unpacked()
        if view is None:
            listing = self._store.listing(self.source_of(name), name)
            if listing is None or listing.digest != self._digests[name]:
                raise self._lost(name)
            view = self._views[name] = self.viewer.view(listing)
        return view

    @property
    def viewer(self) -> Viewer:
        """What judges files for the target; made when first needed."""
        if self._viewer is None:
            from compatlock.index.view import Viewer

            self._viewer = Viewer(self.target, self.policy)
        return self._viewer

    def _add_package(self, name: str, digest: str, view: str, runs: str) -> None:
        answers = self._answers[name] = Answers(runs, lambda specifier: self._answer(name, specifier))
        prerelease = self._prereleases.get(name, self.policy.prerelease)
        package, status = package_of(name, view, compute=answers.answer, prerelease=prerelease)
        self._packages[name] = package
        self._digests[name] = digest
        if status[0]:
            self._statuses[name] = status

    def _answer(self, name: str, specifier: str) -> tuple[int, ...]:
        from compatlock.index.specifiers import answer

        versions = self._versions.get(name)
        if versions is None:
            versions = self._store.versions(self.source_of(name), name, self._digests[name])
            if versions is None:
                raise self._lost(name)
            self._versions[name] = versions
        return answer(specifier, versions)

    def _lost(self, name: str) -> CacheChanged:
        return CacheChanged(
            f"the cache lost what it held about {name}", hints=["run again, without `--offline`"]
        )

    # Dependencies

    def missing_dependencies(self, releases: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those of the candidates whose dependencies only the network can give."""
        unread = [r for r in releases if r not in self._dependencies]
        by_source: dict[str, dict[tuple[str, int], str]] = {}
        for name, index in unread:
            keys = by_source.setdefault(self.source_of(name), {})
            keys[name, index] = self._packages[name].file_keys[index]
        for source, keys in by_source.items():
            rows = self._store.edges(source, self.target.key, [*keys.values()])
            for release, key in keys.items():
                row = rows.get(key)
                known = decode_dependencies(row) if row is not None else self._compile_stored(source, key)
                # A file that was not there may have come back.
                if known is not None and (known.source != MISSING or self._max_age is None):
                    self._dependencies[release] = known
        return [r for r in unread if r not in self._dependencies]

    def _compile_stored(self, source: str, key: str) -> Dependencies | None:
        fields = self._store.metadata(source, key)
        return None if fields is None else self._compile(source, key, _metadata(fields))

    def _compile(self, source: str, key: str, metadata: Metadata) -> Dependencies:
        if self._compiler is None:
            from compatlock.index.compile import Compiler

            self._compiler = Compiler(self.target)
        release = self._compiler.compile(metadata)
        self._store.put_edges(source, self.target.key, key, encode_dependencies(release))
        return release

    def digest(self, name: str) -> str:
        """What identifies the listing of a package at hand; `""` for others."""
        return self._digests.get(name, "")

    def is_listed(self, name: str) -> bool:
        """Whether this run has the package already."""
        return name in self._packages

    def known_dependencies(self, name: str, index: int) -> Dependencies | None:
        """The dependencies of a candidate, if this run has read them."""
        return self._dependencies.get((name, index))

    def newest_dependencies(self, name: str) -> Dependencies | None:
        """The dependencies of a package's newest candidate, if this run has read them."""
        package = self._packages.get(name)
        return self._dependencies.get((name, package.newest())) if package is not None else None

    def file_of(self, name: str, index: int) -> File:
        """The file whose metadata speaks for a candidate."""
        return self._files(name, index)[0]

    def _files(self, name: str, index: int) -> tuple[File, ...]:
        """The files of a candidate that the target could install, best first."""
        sent = self._sent.get(name)
        return sent.files(index) if sent is not None else self._view(name).candidates[index].files

    def is_compiled(self, name: str, index: int) -> bool:
        """Whether an installer would take a wheel for a platform."""
        filename = self.file_of(name, index).filename
        return filename.endswith(".whl") and not filename.endswith("-any.whl")

    # At the end of a run

    def installable_files(self, releases: Mapping[str, int]) -> dict[str, list[File]]:
        """The files of candidates, `{package: index}`, that the target could install, best first."""
        unread = [release for release in releases.items() if release not in self._installable]
        wanted = {n: (self._packages[n].versions[i], self._digests[n]) for n, i in unread}
        found: dict[str, list[File]] = {}
        for source in dict.fromkeys(map(self.source_of, wanted)):
            there = {name: release for name, release in wanted.items() if self.source_of(name) == source}
            found.update(self._installable_stored(source, there))
        for name, index in unread:
            files = found.get(name)
            if files is None:
                files = list(self._files(name, index))
                source = self.source_of(name)
                self._store.put_installable(source, self._view_key_of(name), name, *wanted[name], files)
            self._installable[name, index] = files
        return {name: self._installable[name, index] for name, index in releases.items()}

    def _installable_stored(
        self, source: str, releases: Mapping[str, tuple[str, str]]
    ) -> dict[str, list[File]]:
        return self._by_view(
            list(releases),
            lambda key, names: self._store.installable(source, key, {n: releases[n] for n in names}),
        )

    def hidden(self, name: str) -> tuple[Hidden, ...]:
        """The releases of a project that are no candidates, each with the reason."""
        return self._view(name).hidden

    def skipped(self, name: str) -> tuple[Skipped, ...]:
        """The files in the index's answer for a project that cannot be used, each with the reason."""
        digest = self._digests.get(name)
        return () if digest is None else self._store.skipped(self.source_of(name), name, digest)

    def listing(self, name: str) -> Listing | None:
        """The stored listing of a project."""
        return self._store.listing(self.source_of(name), name)

    def listings_read(self) -> Iterator[Listing]:
        """The listings of all projects that this run looked at."""
        for name in sorted(self._packages):
            listing = self.listing(name)
            if listing is not None:
                yield listing

    def metadata_read(self) -> Iterator[tuple[str, File, Metadata]]:
        """The metadata of all candidates that this run looked at: project, file, metadata."""
        for name, index in sorted(self._dependencies):
            key = self._built.get((name, index)) or self._packages[name].file_keys[index]
            fields = self._store.metadata(self.source_of(name), key)
            if fields is not None:
                yield name, self.file_of(name, index), _metadata(fields)

    def save(self) -> None:
        """Store what was derived during the run."""
        for name, answers in self._answers.items():
            runs = answers.take_new()
            if runs is not None:
                self._store.put_runs(self.source_of(name), name, self._digests[name], runs)
        self._store.flush()


def _metadata(fields: list[Any]) -> Metadata:
    from compatlock.model.metadata import Metadata

    requires_dist, provides_extra, *rest = fields
    return Metadata(tuple(requires_dist), tuple(provides_extra), *rest)
