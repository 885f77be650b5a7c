"""Reading the Simple API's JSON answer for one project (PEP 691, 700, 592, 714).

Listings run to megabytes, so every distinct name and version text is parsed once, and file names are
split by hand instead of by `packaging.utils.parse_wheel_filename`, which also builds the tags.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from urllib.parse import urljoin

from packaging.version import InvalidVersion, Version

from compatlock.errors import IndexUnavailable
from compatlock.model.display import redact
from compatlock.model.listing import File, Listing, Release, Skipped
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


def parse_listing(project: str, body: bytes, page_url: str) -> Listing:
    """Digest the index's answer `body` for `project`; relative file URLs are resolved against `page_url`.

    A file that cannot be used (another project's, an invalid name or version, an unsupported kind) is
    in `skipped` with the reason. The result does not depend on the order of files in the answer.

    Raises IndexUnavailable when the body is not such an answer at all.
    """
    names = _Names(project)
    by_text: dict[str, list[File]] = {}
    skipped: list[Skipped] = []
    for entry in _entries(project, body, page_url):
        filename = entry.get("filename") if isinstance(entry, dict) else None
        if not isinstance(filename, str):
            skipped.append(Skipped("", "an entry without a file name"))
            continue
        try:
            version = names.version(filename)
            file = _file(filename, entry, page_url)
        except _UnusableError as error:
            skipped.append(Skipped(filename, str(error)))
        else:
            by_text.setdefault(version, []).append(file)
    releases = _releases(by_text, names.versions, skipped)
    return Listing(normalise(project), releases, tuple(sorted(skipped)), True, _digest(releases))


class _UnusableError(Exception):
    """One file of the listing cannot be used; the text is the reason."""


def _entries(project: str, body: bytes, page_url: str) -> list[dict[str, object]]:
    """Return the answer's `files`, or raise IndexUnavailable."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    files = answer.get("files") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or not isinstance(files, list):
        kind = "an HTML page" if body.lstrip()[:1] == b"<" else "something else"
        raise IndexUnavailable(
            f"`{redact(page_url)}` should list the files of `{project}` as JSON (PEP 691) "
            f"but answered with {kind}",
            hints=["check the index URL (--default-index): it must be the root of a Simple index with JSON"],
        )
    meta = answer.get("meta")
    api = str(meta.get("api-version", "1.0")) if isinstance(meta, dict) else "1.0"
    if api.partition(".")[0] != "1":
        raise IndexUnavailable(
            f"`{redact(page_url)}` answers in version {api} of the Simple API; only 1.x is understood",
            hints=["use a newer compatlock, or another index (--default-index)"],
        )
    return files


class _Names:
    """From the file names of one project to versions, each distinct text parsed once."""

    def __init__(self, project: str) -> None:
        self.versions: dict[str, Version] = {}
        self._project = normalise(project)
        self._texts: dict[str, str] = {}
        self._wheels: dict[tuple[str, str], str] = {}
        # Sdists were named before the project's part had to be escaped, so it may hold dashes itself.
        spelled = r"[-_.]+".join(re.escape(part) for part in self._project.split("-"))
        self._sdist = re.compile(rf"{spelled}-(.+)\Z", re.IGNORECASE | re.ASCII)

    def version(self, filename: str) -> str:
        """Return the canonical version of a wheel or sdist of this project, or raise _UnusableError."""
        wheel = _WHEEL.match(filename)
        if wheel is not None:
            name, version = wheel.group(1, 2)
            return self._wheels.get((name, version)) or self._wheel(name, version)
        if not _FILENAME.match(filename):
            raise _UnusableError("not a valid file name")
        for suffix in SDIST_SUFFIXES:
            if filename.endswith(suffix):
                match = self._sdist.match(filename[: -len(suffix)])
                if match is None:
                    raise _UnusableError(f"not a file of {self._project}")
                return self._canonical(match[1])
        if filename.endswith(".whl"):
            raise _UnusableError("not a valid wheel name (PEP 427)")
        kind = next((kind for kind in _OTHER_KINDS if filename.lower().endswith(kind)), "")
        raise _UnusableError(f"{kind} files are not supported" if kind else "neither a wheel nor an sdist")

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
    return url


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


def _digest(releases: tuple[Release, ...]) -> str:
    """Hash the releases in a form of their own (JSON), so that formatting and key order do not count."""
    return hashlib.sha256(json.dumps(releases, separators=(",", ":")).encode()).hexdigest()
