"""Reading the Simple API's answer for one project: JSON (PEP 691, 700, 592, 714, 792), or HTML (PEP 503).

Listings run to megabytes, so every distinct name and version text is parsed once, and file names are
split by hand instead of by `packaging.utils.parse_wheel_filename`, which also builds the tags.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit, urlunsplit

from packaging.version import InvalidVersion, Version

from compatlock.errors import IndexUnavailable
from compatlock.index.html_page import parse_page
from compatlock.index.stored_listing import encode_files
from compatlock.model.display import excerpt, redact
from compatlock.model.listing import QUARANTINED, STATUSES, File, Listing, Release, Skipped
from compatlock.model.names import normalise

SDIST_SUFFIXES = (".tar.gz", ".zip", ".tar.bz2", ".tgz")

_OTHER_KINDS = (".egg", ".exe", ".msi", ".rpm", ".deb", ".dmg", ".tar.xz", ".tar.z", ".tar")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_FILENAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!~-]*\Z")
# Name, version, an optional build tag, which begins with a digit, and three tags.
_WHEEL = re.compile(r"([A-Za-z0-9][\w.]*)-([\w.+!]+)(?:-\d[\w.]*)?(?:-[\w.]+){3}\.whl\Z", re.ASCII)
# Beside the form that PEP 700 prescribes, other clear ones.
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d*)?(?:Z|([+-])(\d\d):?(\d\d))?\Z", re.ASCII)
_EPOCH = datetime(1970, 1, 1)
# PEP 714 renamed the key; indexes still send the older ones.
_METADATA_KEYS = ("core-metadata", "data-dist-info-metadata", "dist-info-metadata")


def parse_listing(project: str, body: bytes, page_url: str, content_type: str = "") -> Listing:
    """Digest the index's answer `body` for `project`; relative file URLs are resolved against `page_url`.

    `content_type` (the header's value) decides between JSON and HTML; without a telling one, the body's first
    character does. A file that cannot be used (another project's, an invalid name or version, an unsupported
    kind) is in `skipped` with the reason; so are all files of a quarantined project. The result does not
    depend on the order of files in the answer.

    Raises IndexUnavailable when the body is not such an answer at all, or one about another project.
    """
    answer = (_html if _is_html(body, content_type) else _json)(project, body, page_url, content_type)
    if answer.api.partition(".")[0] != "1":
        raise IndexUnavailable(
            f"`{redact(page_url)}` answers in version {answer.api} of the Simple API; only 1.x is understood",
            hints=["use a newer compatlock, or another index (--default-index)"],
        )
    releases, skipped = _sort(project, answer)
    encoded = encode_files(releases)
    return Listing(
        normalise(project),
        releases,
        tuple(sorted(skipped)),
        True,
        _digest(releases, encoded, answer.status, answer.reason),
        answer.status,
        answer.reason,
        encoded,
    )


class _UnusableError(Exception):
    """One file of the listing cannot be used; the text is the reason."""


class _Answer(NamedTuple):
    """What both forms of an answer say; URLs of `files` are relative to `base`."""

    files: list[dict[str, object]]
    base: str
    api: str
    status: str
    reason: str


def _sort(project: str, answer: _Answer) -> tuple[tuple[Release, ...], list[Skipped]]:
    """The answer's releases, and its files that belong to none."""
    names = _Names(project)
    by_text: dict[str, list[File]] = {}
    skipped: list[Skipped] = []
    for entry in answer.files:
        filename = entry.get("filename") if isinstance(entry, dict) else None
        if not isinstance(filename, str):
            skipped.append(Skipped("", "an entry without a file name"))
            continue
        try:
            version = names.version(filename)
            file = _file(filename, entry, answer.base)
            if answer.status == QUARANTINED:
                raise _UnusableError(
                    f"the index holds the project in quarantine: {answer.reason or 'unsafe'}"
                )
        except _UnusableError as error:
            skipped.append(Skipped(filename, str(error)))
        else:
            by_text.setdefault(version, []).append(file)
    return _releases(by_text, names.versions, skipped), skipped


def _is_html(body: bytes, content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    if kind.endswith(("/json", "+json")):
        return False
    return kind.endswith(("/html", "+html")) or body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<"


def _json(project: str, body: bytes, page_url: str, _content_type: str) -> _Answer:
    try:
        answer = json.loads(body)
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
    status = answer.get("project-status")
    status, reason = (status.get("status"), status.get("reason")) if isinstance(status, dict) else ("", "")
    return _Answer(
        files,
        page_url,
        str(meta.get("api-version", "1.0")) if isinstance(meta, dict) else "1.0",
        *_status(status, reason),
    )


def _html(project: str, body: bytes, page_url: str, content_type: str) -> _Answer:
    charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", content_type, re.IGNORECASE | re.ASCII)
    try:
        text = body.decode(charset[1] if charset else "utf-8-sig", "replace")
    except LookupError:
        text = body.decode("utf-8-sig", "replace")
    page = parse_page(text, page_url)
    if not page.is_index:
        raise _no_listing(project, page_url, "a page that is no list of files (to log in, perhaps)")
    return _Answer(page.files, page.base, page.api or "1.0", *_status(page.status, page.status_reason))


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


class _Names:
    """From the file names of one project to versions, each distinct text parsed once."""

    def __init__(self, project: str) -> None:
        self.versions: dict[str, Version] = {}
        self._project = normalise(project)
        self._texts: dict[str, str] = {}
        self._wheels: dict[tuple[str, str], str] = {}
        self._tags: set[str] = set()
        self._is_ours: dict[str, bool] = {}

    def version(self, filename: str) -> str:
        """Return the canonical version of a wheel or sdist of this project, or raise _UnusableError."""
        name, _, rest = filename.partition("-")
        version, _, tags = rest.partition("-")
        # Most wheels differ from those before only in how they combine a version and tags.
        if tags in self._tags and (name, version) in self._wheels:
            return self._wheels[name, version]
        if _WHEEL.match(filename):
            known = self._wheels.get((name, version)) or self._wheel(name, version)
            self._tags.add(tags)
            return known
        if not _FILENAME.match(filename):
            raise _UnusableError("not a valid file name")
        for suffix in SDIST_SUFFIXES:
            if filename.endswith(suffix):
                return self._sdist(filename[: -len(suffix)])
        if filename.endswith(".whl"):
            raise _UnusableError("not a valid wheel name (PEP 427)")
        kind = next((kind for kind in _OTHER_KINDS if filename.lower().endswith(kind)), "")
        raise _UnusableError(f"{kind} files are not supported" if kind else "neither a wheel nor an sdist")

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
        raise _UnusableError(f"not a file of {self._project}")

    def _wheel(self, name: str, version: str) -> str:
        if "__" in name:
            raise _UnusableError("not a valid wheel name (PEP 427)")
        if normalise(name) != self._project:
            raise _UnusableError(f"not a file of {self._project}")
        known = self._wheels[name, version] = self._canonical(version)
        return known

    def _canonical(self, text: str) -> str:
        known = self._texts.get(text)
        if known is None:
            try:
                version = Version(text)
            except InvalidVersion:
                raise _UnusableError(f"`{text}` is not a valid version (PEP 440)") from None
            known = self._texts[text] = str(version)
            self.versions[known] = version
        return known


def _file(filename: str, entry: dict[str, object], page_url: str) -> File:
    """Build the File of one entry of the answer; what is malformed counts as not given."""
    size = entry.get("size")
    requires_python = entry.get("requires-python")
    yanked = entry.get("yanked")
    return File(
        filename,
        _url(entry.get("url"), page_url),
        _sha256(entry.get("hashes")),
        size if type(size) is int and size > 0 else 0,
        _epoch_seconds(entry.get("upload-time")),
        requires_python if isinstance(requires_python, str) else "",
        (yanked if isinstance(yanked, str) else "") if yanked else None,
        _side_file(entry),
    )


def _url(url: object, page_url: str) -> str:
    if not isinstance(url, str) or not url:
        raise _UnusableError("no URL")
    if "#" in url:
        url = url.partition("#")[0]
    if not url.startswith(("https://", "http://")):
        try:
            url = urljoin(page_url, url)
        except ValueError:
            url = ""
        if not url.startswith(("https://", "http://")):
            raise _UnusableError("its URL is neither http nor https")
    return _careful(url) if "@" in url or "[" in url or not url.isascii() else url


def _careful(url: str) -> str:
    """A valid URL without a user part: URLs of files are kept and written into locks, and credentials are
    given by the user, not by an index."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _UnusableError("its URL is invalid") from None
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _sha256(hashes: object) -> str:
    value = hashes.get("sha256") if isinstance(hashes, dict) else None
    return value if isinstance(value, str) and _SHA256.match(value) else ""


def _side_file(entry: dict[str, object]) -> str:
    for key in _METADATA_KEYS:
        if key in entry:
            value = entry[key]
            return (_sha256(value) or "?") if value else ""
    return ""


def _epoch_seconds(text: object) -> int | None:
    """Seconds since the epoch of an ISO 8601 time (UTC unless it says otherwise), fractions cut off."""
    if not isinstance(text, str):
        return None
    try:
        if len(text) == 27 and text[26] == "Z" and text[19] == ".":
            return _since_epoch(text[:19])
        match = _TIME.match(text)
        if match is None:
            return None
        offset = int(match[3]) * 3600 + int(match[4]) * 60 if match[2] else 0
        return _since_epoch(match[1]) + (offset if match[2] == "-" else -offset)
    except ValueError:
        return None


def _since_epoch(text: str) -> int:
    time = datetime.fromisoformat(text) - _EPOCH
    return time.days * 86_400 + time.seconds


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
    by_name = {file.filename: file for file in files}
    if len(by_name) < len(files):
        # Which of two is right cannot be known; choosing by content keeps the answer deterministic.
        by_name.clear()
        skipped.extend(
            Skipped(file.filename, "listed twice with different details")
            for file in sorted(files, key=repr)
            if by_name.setdefault(file.filename, file) != file
        )
    return tuple(by_name[name] for name in sorted(by_name))


def _digest(releases: tuple[Release, ...], encoded: bytes, *status: str) -> str:
    """Hash the releases in a form of their own, so that formatting and key order do not count, and what the
    index says of the project."""
    text = "\n".join([*(release.version for release in releases), *filter(None, status)])
    return hashlib.sha256(text.encode() + b"\n" + encoded).hexdigest()
