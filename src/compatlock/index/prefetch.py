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

    _Requests = tuple[list[tuple[str, str]], list[tuple[str, File]]]


class Batch:
    """One concurrent fetch, with what it is worth to ask for as answers arrive: the metadata of a new
    package's newest candidate, the listings of what that needs, also for the extras that are asked of it."""

    def __init__(self, supply: Supply) -> None:
        self._supply = supply
        self._asked_names: set[str] = set()
        self._asked_files: dict[str, tuple[str, int]] = {}
        self._extras: dict[str, set[str]] = {}

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
        missing = self._supply.missing_dependencies(likely)
        known = self._supply.newest_dependencies(name) if likely and not missing else None
        if known is not None:
            return self._follow(name, known)
        return self.ask((), missing)

    def on_metadata(self, key: str, file: File, metadata: Metadata) -> _Requests:
        """Take the metadata of a file; what to ask next."""
        name, _ = split_key(key)
        index = self._asked_files[file.filename][1]
        return self._follow(name, self._supply.take_metadata(name, index, metadata))

    def _follow(self, name: str, release: Dependencies) -> _Requests:
        """Ask for the listings of what a release and the extras asked of it need."""
        needed: dict[str, None] = {}
        jobs = [(name, release, extra) for extra in ("", *self._extras.get(name, ()))]
        while jobs:
            name, release, extra = jobs.pop()
            for dependency in release.of(extra):
                needed[dependency.name] = None
                asked = self._extras.setdefault(dependency.name, set())
                for new in set(dependency.extras) - asked:
                    asked.add(new)
                    known = self._supply.newest_dependencies(dependency.name)
                    if known is not None:
                        jobs.append((dependency.name, known, new))
        unasked = [n for n in needed if n not in self._asked_names]
        return self.ask(self._supply.missing_packages(unasked), ())
