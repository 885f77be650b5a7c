"""Reading the Simple API's answer for one project: JSON (PEP 691, 700, 592, 714, 792), or HTML (PEP 503).

Listings run to megabytes, so every distinct name and version text is parsed once, and file names are
split by hand instead of by `packaging.utils.parse_wheel_filename`, which also builds the tags.
"""

from __future__ import annotations

import hashlib
import json
import re
from operator import itemgetter

from packaging.version import InvalidVersion, Version

from compatlock.errors import IndexUnavailable
from compatlock.index.compression import packed, unpacked_listing
from compatlock.index.file_entries import UnusableError, file_of, files_of
from compatlock.index.stored_listing import deflate, encode_files
from compatlock.index.uniform import UniformAnswer, read_uniform
from compatlock.model.display import excerpt, redact
from compatlock.model.listing import QUARANTINED, STATUSES, File, Listing, Release, Skipped
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise

SDIST_SUFFIXES = (".tar.gz", ".zip", ".tar.bz2", ".tgz")

_OTHER_KINDS = (".egg", ".exe", ".msi", ".rpm", ".deb", ".dmg", ".tar.xz", ".tar.z", ".tar")
_NAME = itemgetter(0)
_FILENAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!~-]*\Z")
# Name, version, an optional build tag, which begins with a digit, and three tags.
_NOT_OURS = "not a file of "
_WHEEL = re.compile(r"([A-Za-z0-9][\w.]*)-([\w.+!]+)(?:-\d[\w.]*)?(?:-[\w.]+){3}\.whl\Z", re.ASCII)


def parse_listing(
    project: str, body: bytes, page_url: str, content_type: str = "", is_packed: bool = False
) -> Listing:
    """Digest the index's answer `body`, in gzip's form if it `is_packed`, for `project`; relative file URLs
    are resolved against `page_url`.

    `content_type` (the header's value) decides between JSON and HTML; without a telling one, the body's first
    character does. A file that cannot be used (another project's, an invalid name or version, an unsupported
    kind) is in `skipped` with the reason; so are all files of a quarantined project. The result does not
    depend on the order of files in the answer, but for what is kept of it, and the digest.

    Raises IndexUnavailable when the body is not such an answer at all, or one about another project, and
    PackedError.
    """
    sent = body
    if is_packed:
        body = unpacked_listing(sent)
    is_html = _is_html(body, content_type)
    answer = (_html if is_html else _json)(project, body, page_url, content_type)
    if answer.api.partition(".")[0] != "1":
        raise IndexUnavailable(
            f"`{redact(page_url)}` answers in version {answer.api} of the Simple API; only 1.x is understood",
            hints=["use a newer compatlock, or another index (--default-index)"],
        )
    releases, skipped = _sort(project, answer)
    if is_html and not releases and skipped and all(each.reason.startswith(_NOT_OURS) for each in skipped):
        # JSON says whose list it is; of HTML only the files tell.
        other = excerpt(skipped[0].filename, 60)
        raise _no_listing(project, page_url, f"those of another one, such as `{other}`")
    if answer.uniform is not None:
        content = answer.uniform.text.encode()
        kept = sent if is_packed else packed(body)
    else:
        content = encode_files(releases)
        kept = deflate(content)
    return Listing(
        normalise(project),
        releases,
        tuple(sorted(skipped)),
        True,
        _digest(releases, content, answer.status, answer.reason),
        answer.status,
        answer.reason,
        kept,
    )


def releases_of(project: str, uniform: UniformAnswer) -> tuple[Release, ...]:
    """The releases in an answer that `parse_listing` found to be a good one."""
    releases, _ = _sort(project, _Answer([], "", "", "", "", uniform))
    return releases


class _Answer(NamedTuple):
    """What both forms of an answer say; URLs of `files` are relative to `base`. Those of a uniform one are
    there only."""

    files: list[dict[str, object]]
    base: str
    api: str
    status: str
    reason: str
    uniform: UniformAnswer | None = None


def _sort(project: str, answer: _Answer) -> tuple[tuple[Release, ...], list[Skipped]]:
    """The answer's releases, and its files that belong to none."""
    names = Names(project)
    by_text: dict[str, list[File]] = {}
    skipped: list[Skipped] = []
    if answer.uniform is not None:
        files: list[File] | None = answer.uniform.files
    else:
        files = files_of(answer.files) if answer.status != QUARANTINED else None
    if files is not None:
        _group(files, names, by_text, skipped)
        return _releases(by_text, names.versions, skipped), skipped
    for entry in answer.files:
        filename = entry.get("filename") if isinstance(entry, dict) else None
        if not isinstance(filename, str):
            skipped.append(Skipped("", "an entry without a file name"))
            continue
        try:
            version = names.version(filename)
            file = file_of(filename, entry, answer.base)
            if answer.status == QUARANTINED:
                raise UnusableError(f"the index holds the project in quarantine: {answer.reason or 'unsafe'}")
        except UnusableError as error:
            skipped.append(Skipped(filename, str(error)))
        else:
            by_text.setdefault(version, []).append(file)
    return _releases(by_text, names.versions, skipped), skipped


def _group(files: list[File], names: Names, by_text: dict[str, list[File]], skipped: list[Skipped]) -> None:
    """Put files to their versions. Most follow one of the same version, with tags that others have too."""
    start, length, group = "/", 0, []
    for file in files:
        filename = file[0]
        if not filename.startswith(start) or filename[length:] not in names.tags:
            try:
                version = names.version(filename)
            except UnusableError as error:
                skipped.append(Skipped(filename, str(error)))
                continue
            group = by_text.setdefault(version, [])
            if filename.endswith(".whl"):
                length = filename.index("-", filename.index("-") + 1) + 1
                start = filename[:length]
            else:
                start = "/"
        group.append(file)


def _is_html(body: bytes, content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    if kind.endswith(("/json", "+json")):
        return False
    return kind.endswith(("/html", "+html")) or body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<"


def _json(project: str, body: bytes, page_url: str, _content_type: str) -> _Answer:
    uniform = read_uniform(body)
    if uniform is not None and _project_status(uniform.rest)[0] == QUARANTINED:
        uniform = None  # Each file is told that it cannot be used.
    try:
        answer = uniform.rest if uniform is not None else json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    files = answer.get("files") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or not isinstance(files, list):
        html = body.lstrip()[:1] == b"<"
        raise _no_listing(
            project, page_url, "an HTML page under the name of JSON" if html else "something else"
        )
    name = answer.get("name")
    if isinstance(name, str) and normalise(name) != normalise(project):
        raise _no_listing(project, page_url, f"those of `{excerpt(name, 60)}`")
    meta = answer.get("meta")
    return _Answer(
        files,
        page_url,
        str(meta.get("api-version", "1.0")) if isinstance(meta, dict) else "1.0",
        *_project_status(answer),
        uniform,
    )


def _html(project: str, body: bytes, page_url: str, content_type: str) -> _Answer:
    from compatlock.index.html_page import parse_page

    charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", content_type, re.IGNORECASE | re.ASCII)
    try:
        text = body.decode(charset[1] if charset else "utf-8-sig", "replace")
    except LookupError:
        text = body.decode("utf-8-sig", "replace")
    page = parse_page(text, page_url)
    if not page.is_index:
        raise _no_listing(project, page_url, "a page that is no list of files (to log in, perhaps)")
    return _Answer(page.files, page.base, page.api or "1.0", *_status(page.status, page.status_reason))


def _project_status(answer: dict[str, object]) -> tuple[str, str]:
    status = answer.get("project-status")
    return _status(status.get("status"), status.get("reason")) if isinstance(status, dict) else ("", "")


def _status(status: object, reason: object) -> tuple[str, str]:
    """A project's status and its reason (PEP 792); an active one, as a status that is not known, is `""`."""
    if not isinstance(status, str) or status not in STATUSES:
        return "", ""
    return status, excerpt(reason, 300) if isinstance(reason, str) else ""


def _no_listing(project: str, page_url: str, answered: str) -> IndexUnavailable:
    return IndexUnavailable(
        f"`{redact(page_url)}` should list the files of `{project}` but answered with {answered}",
        hints=[
            "check the index URL (--default-index, --index): it must be the root of a Simple index, "
            "and its credentials, if it needs any"
        ],
    )


class Names:
    """From the file names of one project to versions, each distinct text parsed once."""

    def __init__(self, project: str) -> None:
        self.versions: dict[str, Version] = {}
        self._project = normalise(project)
        self._texts: dict[str, str] = {}
        self._wheels: dict[tuple[str, str], str] = {}
        self.tags: set[str] = set()
        self._is_ours: dict[str, bool] = {}

    def version(self, filename: str) -> str:
        """Return the canonical version of a wheel or sdist of this project, or raise UnusableError."""
        name, _, rest = filename.partition("-")
        version, _, tags = rest.partition("-")
        # Most wheels differ from those before only in how they combine a version and tags.
        if tags in self.tags and (name, version) in self._wheels:
            return self._wheels[name, version]
        if _WHEEL.match(filename):
            known = self._wheels.get((name, version)) or self._wheel(name, version)
            self.tags.add(tags)
            return known
        if not _FILENAME.match(filename):
            raise UnusableError("not a valid file name")
        for suffix in SDIST_SUFFIXES:
            if filename.endswith(suffix):
                return self._sdist(filename[: -len(suffix)])
        if filename.endswith(".whl"):
            raise UnusableError("not a valid wheel name (PEP 427)")
        kind = next((kind for kind in _OTHER_KINDS if filename.lower().endswith(kind)), "")
        raise UnusableError(f"{kind} files are not supported" if kind else "neither a wheel nor an sdist")

    def _sdist(self, stem: str) -> str:
        # Sdists were named before the project's part had to be escaped, so it may hold dashes itself.
        end = stem.find("-")
        while end >= 0:
            name = stem[:end]
            ours = self._is_ours.get(name)
            if ours is None:
                ours = self._is_ours[name] = normalise(name) == self._project
            if ours and end + 1 < len(stem):
                return self._canonical(stem[end + 1 :])
            end = stem.find("-", end + 1)
        raise UnusableError(f"{_NOT_OURS}{self._project}")

    def _wheel(self, name: str, version: str) -> str:
        if "__" in name:
            raise UnusableError("not a valid wheel name (PEP 427)")
        if normalise(name) != self._project:
            raise UnusableError(f"{_NOT_OURS}{self._project}")
        known = self._wheels[name, version] = self._canonical(version)
        return known

    def _canonical(self, text: str) -> str:
        known = self._texts.get(text)
        if known is None:
            try:
                version = Version(text)
            except InvalidVersion:
                raise UnusableError(f"`{text}` is not a valid version (PEP 440)") from None
            known = self._texts[text] = str(version)
            self.versions[known] = version
        return known


def _releases(
    by_text: dict[str, list[File]], versions: dict[str, Version], skipped: list[Skipped]
) -> tuple[Release, ...]:
    """Group files by version, newest first. `1.0` and `1.0.0` are one release, under the shorter text."""
    groups: dict[Version, tuple[str, list[File]]] = {}
    for text in sorted(by_text, key=lambda text: (len(text), text)):
        version = versions[text]
        if version in groups:
            groups[version][1].extend(by_text[text])
        else:
            groups[version] = (text, by_text[text])
    newest_first = (groups[version] for version in sorted(groups, reverse=True))
    return tuple(Release(text, _distinct(files, skipped)) for text, files in newest_first)


def _distinct(files: list[File], skipped: list[Skipped]) -> tuple[File, ...]:
    """The files in the order of their names, each name once."""
    by_name: dict[str, File] = {}
    if len({file.filename for file in files}) < len(files):
        # Which of two is right cannot be known; choosing by content keeps the answer deterministic.
        skipped.extend(
            Skipped(file.filename, "listed twice with different details")
            for file in sorted(files, key=repr)
            if by_name.setdefault(file.filename, file) != file
        )
        files = [*by_name.values()]
    return tuple(sorted(files, key=_NAME))


def _digest(releases: tuple[Release, ...], content: bytes, *status: str) -> str:
    """Hash the releases, in a form of their own unless they are written as most are, and what the index says
    of the project."""
    text = "\n".join([*(release.version for release in releases), *filter(None, status)])
    return hashlib.sha256(text.encode() + b"\n" + content).hexdigest()
