"""What is worth asking an index next, as its answers arrive: a search would ask for it a round trip later."""

from __future__ import annotations

from itertools import islice

from compatlock.index.indexes import split_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compatlock.index.supply import Supply
    from compatlock.model.dependencies import Dependencies
    from compatlock.model.listing import File, Listing
    from compatlock.model.metadata import Metadata
    from compatlock.model.package import Package

    _Requests = tuple[list[tuple[str, str]], list[tuple[str, File]]]


# In bytes: larger wheels may have directories of megabytes, too many for a guess that may change.
_LARGE = 32 * 1024 * 1024
# A search that goes down the releases of a package reads 2, 4, 8, ... at once. So many times as many as it
# reads then, up to so many, are read after them: it mostly goes on.
_STEPS = 2
_MOST_STEPS = 64


class UnderWay:
    """What a supply asked the network for, and has not been given yet."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        # By the name of the file: the candidate, and the digest of the listing that its index is of.
        self.files: dict[str, tuple[str, int, str]] = {}
        # Files that are asked for only because they come after others.
        self.steps: set[str] = set()

    def clear(self) -> None:
        """Forget it all: it was given up."""
        for each in (self.names, self.files, self.steps):
            each.clear()


class Batch:
    """What a search waits for, and what it is worth to ask for as answers arrive: the metadata of a new
    package's newest candidate and of the newest within what is asked of it so far, the listings of what these
    need, also for the extras that are asked of them. Nobody waits for a guess: it may still be under way when
    the next batch begins."""

    def __init__(self, supply: Supply, under_way: UnderWay) -> None:
        self._supply = supply
        self._under_way = under_way
        self._names: tuple[str, ...] = ()
        self._files: tuple[str, ...] = ()
        self._extras: dict[str, set[str]] = {}
        self._bounds: dict[str, set[str]] = {}
        for root in supply.expected:
            self._extras.setdefault(root.name, set()).update(root.extras)
            if root.specifier:
                self._bounds.setdefault(root.name, set()).add(root.specifier)

    def want(self, names: Sequence[str], releases: Sequence[tuple[str, int]]) -> _Requests:
        """The requests for what a search waits for, as far as it is not under way."""
        files = [self._supply.file_of(*release).filename for release in releases]
        self._names, self._files = tuple(names), tuple(files)
        self._under_way.steps.difference_update(files)
        listings, metadata = self.ask(names, releases)
        # What was under way before needs no steps: it was one.
        fresh = {file.filename for _, file in metadata}
        going = [release for release, filename in zip(releases, files, strict=True) if filename in fresh]
        steps = self.ask((), self._next_steps(going))[1]
        self._under_way.steps.update(file.filename for _, file in steps)
        return listings, metadata + steps

    def is_complete(self) -> bool:
        """Whether all that is waited for is there."""
        under_way = self._under_way
        return under_way.names.isdisjoint(self._names) and not any(f in under_way.files for f in self._files)

    def ask(self, names: Iterable[str], releases: Iterable[tuple[str, int]]) -> _Requests:
        """The requests for what is not at hand, as far as it is not under way."""
        supply, under_way = self._supply, self._under_way
        listings = []
        for name in names:
            if name not in under_way.names:
                under_way.names.add(name)
                listings.append((supply.request_key(name), supply.etag(name)))
        files = []
        for name, index in releases:
            file = supply.file_of(name, index)
            if file.filename not in under_way.files:
                under_way.files[file.filename] = (name, index, supply.digest(name))
                files.append((supply.request_key(name), file))
        return listings, files

    def on_listing(self, key: str, listing: Listing | None, etag: str) -> _Requests:
        """Take a listing (None: unchanged); what to ask next."""
        name, _ = split_key(key)
        self._under_way.names.discard(name)
        if not self._supply.take_listing(name, listing, etag):
            elsewhere = self._supply.missing_packages([name])
            if elsewhere:
                return self.ask(elsewhere, ())
        package = self._supply.package(name)
        newest = package.newest()
        likely = [(name, newest)] if newest < package.size else []
        within = [release for release in self._within_bounds(package) if release not in likely]
        missing = [*self._supply.missing_dependencies(likely), *self._worth_a_guess(within)]
        listings, files = self.ask((), missing)
        for _, index in (*likely, *within):
            known = self._supply.known_dependencies(name, index)
            if known is not None:
                more = self._follow(name, known)
                listings, files = listings + more[0], files + more[1]
        return listings, files

    def on_metadata(self, _key: str, file: File, metadata: Metadata) -> _Requests:
        """Take the metadata of a file; what to ask next."""
        name, index, digest = self._under_way.files.pop(file.filename)
        is_step = file.filename in self._under_way.steps
        self._under_way.steps.discard(file.filename)
        if self._supply.digest(name) != digest:
            return [], []  # The listing is another one by now, and the index, too.
        release = self._supply.take_metadata(name, index, metadata)
        return ([], []) if is_step else self._follow(name, release)

    def _next_steps(self, releases: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        """What a search that goes down the releases of a package would read next, after these."""
        by_name: dict[str, list[int]] = {}
        for name, index in releases:
            by_name.setdefault(name, []).append(index)
        found: list[tuple[str, int]] = []
        for name, indexes in by_name.items():
            if len(indexes) > 1:
                package = self._supply.package(name)
                last, only_gated = max(indexes), package.newest() in package.gates
                older = (i for i in range(last + 1, package.size) if only_gated or i not in package.gates)
                count = min(_STEPS * len(indexes), _MOST_STEPS)
                found += [(name, index) for index in islice(older, count)]
        return self._worth_a_guess(found)

    def _within_bounds(self, package: Package) -> list[tuple[str, int]]:
        """The newest ordinary candidate within all that is asked of a package so far, if there is one."""
        newest = package.newest_within(self._bounds.get(package.name, ()))
        return [] if newest is None else [(package.name, newest)]

    def _worth_a_guess(self, releases: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those of the releases that are not read yet, and of which that takes little."""
        missing = self._supply.missing_dependencies(releases)
        files = ((release, self._supply.file_of(*release)) for release in missing)
        return [release for release, file in files if file.metadata or file.size <= _LARGE]

    def _follow(self, name: str, release: Dependencies) -> _Requests:
        """Ask for the listings of what a release and the extras asked of it need, and for the metadata of the
        newest that it allows."""
        needed: dict[str, None] = {}
        jobs = [(name, release, extra) for extra in ("", *self._extras.get(name, ()))]
        while jobs:
            name, release, extra = jobs.pop()
            for dependency in release.of(extra):
                needed[dependency.name] = None
                if dependency.specifier:
                    self._bounds.setdefault(dependency.name, set()).add(dependency.specifier)
                asked = self._extras.setdefault(dependency.name, set())
                for new in set(dependency.extras) - asked:
                    asked.add(new)
                    known = self._supply.newest_dependencies(dependency.name)
                    if known is not None:
                        jobs.append((dependency.name, known, new))
        missing = self._supply.missing_packages(n for n in needed if n not in self._under_way.names)
        listed = [self._supply.package(n) for n in needed if self._supply.is_listed(n)]
        newest = [release for package in listed for release in self._within_bounds(package)]
        return self.ask(missing, self._worth_a_guess(newest))
