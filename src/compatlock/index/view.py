"""How one target sees one project: which releases are candidates, which are hidden, and why.

A view is a pure function of the listing, the target and the policy; it is stored so that a warm run
needs neither tags nor specifiers.
"""

from __future__ import annotations

import json
from hashlib import sha256

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from compatlock.index.stored_view import GATES, KEY_LENGTH
from compatlock.index.tags import TagRanks, build_number
from compatlock.index.wheel_platforms import wheels_fit
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.package import PRERELEASE, YANKED
from compatlock.model.policy import AS_OTHERS, NEVER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.model.listing import File, Listing, Release
    from compatlock.model.policy import Policy, Rules
    from compatlock.model.target import Target

# Why a release is hidden from a target.
DATE = "date"
UNDATED = "undated"
PYTHON = "python"
TAGS = "tags"
NATIVE = "native"
NO_BINARY = "no-binary"
ONLY_BINARY = "only-binary"
NO_PRERELEASE = "pre-release"
NO_YANKED = "no-yanked"
# Of a release that is not even in the listing, because none of its files can be used.
UNUSABLE = "unusable"


class Hidden(NamedTuple):
    """A release that is no candidate: `reason` is one of the constants above, `detail` the bound at fault,
    `position` its index in the full list of releases."""

    version: str
    reason: str
    detail: str = ""
    position: int = 0


class Candidate(NamedTuple):
    """A release that may be chosen: the files that the target could install, best first, and its gate or
    `""`. The metadata of the best file speaks for the release."""

    position: int
    version: str
    files: tuple[File, ...]
    time: int | None
    gate: str = ""

    @property
    def file(self) -> File:
        """The file that an installer would take."""
        return self.files[0]


class View(NamedTuple):
    """The candidates of a project, newest first, and its hidden releases."""

    candidates: tuple[Candidate, ...]
    hidden: tuple[Hidden, ...]

    def newest_hidden(self) -> Hidden | None:
        """The newest final release that only the target keeps from being the newest candidate, if any."""
        newest = min((c.position for c in self.candidates if not c.gate), default=None)
        if newest is None:
            return None
        above = [h for h in self.hidden if h.position < newest and h.reason in (PYTHON, TAGS, NATIVE)]
        final = [h for h in above if not _is_prerelease(h.version)]
        return min(final, key=lambda h: h.position, default=None)


class _Draft(NamedTuple):
    """A candidate, unless it is a `native` build and the project has wheels that fit."""

    candidate: Candidate
    native: bool


def _is_prerelease(version: str) -> bool:
    # Of most versions this is plain to see, in a tenth of the time.
    return not version.replace(".", "").isdigit() and Version(version).is_prerelease


def file_key(file: File) -> str:
    """Identifies a file's content in the store: by hash, else by all that the index says of it."""
    if file.sha256:
        return file.sha256[:KEY_LENGTH]
    identity = f"{file.filename}\n{file.url}\n{file.size}\n{file.upload_time}"
    return sha256(identity.encode()).hexdigest()[:KEY_LENGTH]


class Viewer:
    """Makes views for one target and policy."""

    def __init__(self, target: Target, policy: Policy) -> None:
        self._target = target
        self._python = Version(target.python)
        self._ranks = TagRanks(target)
        self._policy = policy
        self._named = policy.named
        self._rules_of_others = policy.rules()
        self._python_memo: dict[str, bool] = {}

    def accepts_python(self, requires_python: str) -> bool:
        """Whether a `Requires-Python` includes the target's Python, at both ends. An invalid one does not
        restrict (as pip and the index itself treat it)."""
        known = self._python_memo.get(requires_python)
        if known is None:
            try:
                known = SpecifierSet(requires_python).contains(self._python, prereleases=True)
            except InvalidSpecifier:
                known = True
            self._python_memo[requires_python] = known
        return known

    def view(self, listing: Listing) -> View:
        """The view of a project."""
        rules = self._rules(listing.project)
        drafts = [self._draft(rules, k, r) for k, r in enumerate(listing.releases)]
        # Only sdists to choose from in every release: then they are what the project offers.
        any_wheel = any(isinstance(d, _Draft) and d.candidate.file.is_wheel for d in drafts)
        candidates, hidden = [], []
        for draft in drafts:
            if isinstance(draft, Hidden):
                hidden.append(draft)
            elif any_wheel and draft.native and not rules.native:
                hidden.append(Hidden(draft.candidate.version, NATIVE, position=draft.candidate.position))
            else:
                candidates.append(draft.candidate)
        return self._detailed(View(tuple(candidates), tuple(hidden)), listing)

    def _detailed(self, view: View, listing: Listing) -> View:
        """The view with the platform that the newest hidden release is for as its detail."""
        newest = view.newest_hidden()
        if newest is None or newest.reason == PYTHON:
            return view
        files = listing.releases[newest.position].files
        wheels = [f.filename for f in files if f.is_wheel and self.accepts_python(f.requires_python)]
        detailed = newest._replace(detail=wheels_fit(wheels, self._target))
        return view._replace(hidden=tuple(detailed if h is newest else h for h in view.hidden))

    def _rules(self, project: str) -> Rules:
        return self._policy.rules(project) if project in self._named else self._rules_of_others

    def _draft(self, rules: Rules, position: int, release: Release) -> _Draft | Hidden:
        """What the release would be as a candidate, or why it is none whatever the others are."""
        files = _in_time(release.files, rules.exclude_newer)
        if not files:
            dated = any(f.upload_time is not None for f in release.files)
            return Hidden(release.version, DATE if dated else UNDATED, position=position)
        if rules.prerelease == "disallow" and _is_prerelease(release.version):
            return Hidden(release.version, NO_PRERELEASE, position=position)
        kept = [f for f in files if f.yanked is None]
        if rules.yanked == NEVER and not kept:
            return Hidden(release.version, NO_YANKED, position=position)
        for yanked, chosen in _choices(rules, files, kept):
            wheels, sdists = self._sort(rules, chosen)
            if wheels or sdists:
                times = [f.upload_time for f in files if f.upload_time is not None]
                time = min(times) if times else None
                gate = _gate(rules, release.version, yanked)
                candidate = Candidate(position, release.version, (*wheels, *sdists), time, gate)
                return _Draft(candidate, native=not wheels and rules.wheels and _has_native_wheels(chosen))
        return self._why_hidden(rules, release.version, files, kept)._replace(position=position)

    def _sort(self, rules: Rules, files: list[File]) -> tuple[list[File], list[File]]:
        wheels: list[tuple[int, tuple[int, str], File]] = []
        sdists = []
        takes_wheels, takes_sdists = rules.wheels, rules.sdists
        rank_of, accepts = self._ranks.rank_of_wheel, self.accepts_python
        for file in files:
            filename = file.filename
            if not filename.endswith(".whl"):
                if takes_sdists and accepts(file.requires_python):
                    sdists.append(file)
            elif takes_wheels:
                # Most wheels of a large project are for other platforms.
                rank = rank_of(filename)
                if rank is not None and accepts(file.requires_python):
                    wheels.append((rank, build_number(filename), file))
        # Installers take the best tag, then the highest build number (binary distribution format).
        wheels.sort(key=lambda entry: entry[2].filename)
        wheels.sort(key=lambda entry: entry[1], reverse=True)
        wheels.sort(key=lambda entry: entry[0])
        sdists.sort(key=lambda file: (not file.filename.endswith(".tar.gz"), file.filename))
        return [entry[2] for entry in wheels], sdists

    def _why_hidden(self, rules: Rules, version: str, files: list[File], kept: list[File]) -> Hidden:
        if rules.yanked == NEVER and any(self._sort(rules, files)):
            return Hidden(version, NO_YANKED)
        files = kept if rules.yanked == NEVER else files
        right_python = [f for f in files if self.accepts_python(f.requires_python)]
        if not right_python:
            return Hidden(version, PYTHON, files[0].requires_python)
        if not rules.wheels:
            return Hidden(version, NO_BINARY)
        if any(not f.is_wheel for f in right_python):
            return Hidden(version, ONLY_BINARY)
        return Hidden(version, TAGS)


def _in_time(files: tuple[File, ...], cut: int | None) -> list[File]:
    return [f for f in files if cut is None or ((time := f.upload_time) is not None and time <= cut)]


def _choices(rules: Rules, files: list[File], kept: list[File]) -> tuple[tuple[bool, list[File]], ...]:
    """The files among which an installer chooses, the first that has any; whether these make it yanked."""
    if len(kept) == len(files) or rules.yanked == AS_OTHERS:
        return ((False, files),)
    return ((False, kept),) if rules.yanked == NEVER else ((False, kept), (True, files))


def _gate(rules: Rules, version: str, yanked: bool) -> str:
    if yanked:
        return YANKED
    return PRERELEASE if rules.prerelease != "allow" and _is_prerelease(version) else ""


def _has_native_wheels(files: list[File]) -> bool:
    """Whether the release has wheels for platforms; those for any platform, but another Python, tell that
    building it is easy."""
    return any(f.is_wheel and not f.filename.endswith("-any.whl") for f in files)


def encode_view(view: View) -> str:
    """The stored form of a view's candidates, read by `index.stored_view`: a line with their positions, gates
    and the newest hidden release, one each with their versions, times and file keys."""
    candidates = view.candidates
    newest_hidden = view.newest_hidden()
    marks = {gate: mark for mark, gate in GATES.items()}
    head = (
        " ".join(map(str, _ranges(c.position for c in candidates))),
        " ".join(f"{i}{marks[c.gate]}" for i, c in enumerate(candidates) if c.gate),
        json.dumps(newest_hidden[:3]) if newest_hidden else "",
    )
    lines = (
        "\t".join(head),
        " ".join(c.version for c in candidates),
        " ".join("" if c.time is None else str(c.time) for c in candidates),
        "".join(file_key(c.file) for c in candidates),
    )
    return "\n".join(lines)


def _ranges(numbers: Iterable[int]) -> list[int]:
    """`[lo, hi, lo, hi, ...]`: ascending numbers as half-open ranges."""
    found: list[int] = []
    for number in numbers:
        if found and found[-1] == number:
            found[-1] = number + 1
        else:
            found += (number, number + 1)
    return found
