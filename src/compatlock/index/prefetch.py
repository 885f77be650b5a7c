"""What is worth asking an index next, as its answers arrive: a search would ask for it a round trip later."""

from __future__ import annotations

from compatlock.index.indexes import split_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.index.supply import Supply
    from compatlock.model.dependencies import Dependencies
    from compatlock.model.listing import File, Listing
    from compatlock.model.metadata import Metadata
    from compatlock.model.package import Package

    _Requests = tuple[list[tuple[str, str]], list[tuple[str, File]]]


# In bytes: larger wheels may have directories of megabytes, too many for a guess that may change.
_LARGE = 32 * 1024 * 1024


class Batch:
    """One concurrent fetch, with what it is worth to ask for as answers arrive: the metadata of a new
    package's newest candidate and of the newest within what is asked of it so far, the listings of what these
    need, also for the extras that are asked of them."""

    def __init__(self, supply: Supply) -> None:
        self._supply = supply
        self._asked_names: set[str] = set()
        self._asked_files: dict[str, tuple[str, int]] = {}
        self._extras: dict[str, set[str]] = {}
        self._bounds: dict[str, set[str]] = {}
        for root in supply.expected:
            self._extras.setdefault(root.name, set()).update(root.extras)
            if root.specifier:
                self._bounds.setdefault(root.name, set()).add(root.specifier)

    def ask(self, names: Iterable[str], releases: Iterable[tuple[str, int]]) -> _Requests:
        """The requests for what is neither at hand nor under way."""
        listings = []
        for name in names:
            if name not in self._asked_names:
                self._asked_names.add(name)
                listings.append((self._supply.request_key(name), self._supply.etag(name)))
        files = []
        for name, index in releases:
            file = self._supply.file_of(name, index)
            if file.filename not in self._asked_files:
                self._asked_files[file.filename] = (name, index)
                files.append((self._supply.request_key(name), file))
        return listings, files

    def on_listing(self, key: str, listing: Listing | None, etag: str) -> _Requests:
        """Take a listing (None: unchanged); what to ask next."""
        name, _ = split_key(key)
        if not self._supply.take_listing(name, listing, etag):
            elsewhere = self._supply.missing_packages([name])
            if elsewhere:
                self._asked_names.discard(name)
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

    def on_metadata(self, key: str, file: File, metadata: Metadata) -> _Requests:
        """Take the metadata of a file; what to ask next."""
        name, _ = split_key(key)
        index = self._asked_files[file.filename][1]
        return self._follow(name, self._supply.take_metadata(name, index, metadata))

    def _within_bounds(self, package: Package) -> list[tuple[str, int]]:
        """The newest ordinary candidate within all that is asked of a package so far, if there is one."""
        bounds = self._bounds.get(package.name, ())
        within = (i for i in range(package.size) if i not in package.gates)
        newest = next((i for i in within if all(package.admits(bound, i) for bound in bounds)), None)
        return [] if newest is None else [(package.name, newest)]

    def _worth_a_guess(self, releases: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those of the releases that are not read yet, and not large."""
        missing = self._supply.missing_dependencies(releases)
        return [release for release in missing if self._supply.file_of(*release).size <= _LARGE]

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
        unasked = [n for n in needed if n not in self._asked_names]
        missing = self._supply.missing_packages(unasked)
        listed = [self._supply.package(n) for n in needed if self._supply.is_listed(n)]
        newest = [release for package in listed for release in self._within_bounds(package)]
        return self.ask(missing, self._worth_a_guess(newest))
