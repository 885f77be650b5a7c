"""From the entries of an index's answer to files.

Listings run to megabytes, so entries as the public index writes them are read column by column, which takes a
third of the time; one that is different in any way makes all of them be read one by one.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import partial
from operator import itemgetter
from typing import cast
from urllib.parse import urljoin, urlsplit, urlunsplit

from compatlock.model.listing import File
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_HASH = cast("Callable[[object], str]", itemgetter("sha256"))
# Beside the form that PEP 700 prescribes, other clear ones.
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d*)?(?:Z|([+-])(\d\d):?(\d\d))?\Z", re.ASCII)
_EPOCH = datetime(1970, 1, 1)
_SECOND = timedelta(seconds=1)
# PEP 714 renamed the key; indexes still send the older ones.
METADATA_KEYS = ("core-metadata", "data-dist-info-metadata", "dist-info-metadata")

_NEEDED = itemgetter("filename", "url", "hashes")
_OPTIONAL = ("size", "upload-time", "requires-python", "yanked")
_FIELDS = itemgetter("filename", "url", "hashes", *_OPTIONAL)
# Seconds into an hour, ":05:30"; made when first needed.
_WITHIN: dict[str, int] = {}

# Files from rows of their fields, without a call of Python code for each.
_files = cast("Callable[[Iterable[object]], File]", partial(tuple.__new__, File))


class UnusableError(Exception):
    """One file of the listing cannot be used; the text is the reason."""


class Columns(NamedTuple):
    """The fields of files, one column each: `times` as they are written or None, `yanked` and `side_files` as
    in `File`; but what is malformed was not looked for."""

    filenames: Sequence[Any]
    urls: Sequence[Any]
    sha256: Sequence[Any]
    sizes: Sequence[int]
    times: Sequence[Any]
    requires_python: Sequence[str]
    yanked: Sequence[str | None]
    side_files: Sequence[str]


def files_of(entries: list[dict[str, object]]) -> list[File] | None:
    """The files of the entries of an answer, all with absolute URLs and SHA-256; None when any entry is not
    as most are. `file_of` gives the same for each."""
    try:
        try:
            columns = [*zip(*map(_FIELDS, entries), strict=True)] or [()] * 7
            # With a key more than these, that of the metadata may be among them.
            has_metadata = set(map(len, entries)) != {7}
        except KeyError:  # No page is without the first three.
            columns = [*zip(*map(_NEEDED, entries), strict=True)]
            columns += [tuple([entry.get(key) for entry in entries]) for key in _OPTIONAL]
            has_metadata = True
        filenames, urls, hashes, sizes, times, bounds, yanks = columns
        size = len(entries)
        return files_in(
            Columns(
                filenames,
                urls,
                [*map(_HASH, hashes)],
                sizes if _are_sizes(sizes) else [v if type(v) is int and v > 0 else 0 for v in sizes],
                times,
                bounds
                if set(map(type, bounds)) <= {str}
                else [v if isinstance(v, str) else "" for v in bounds],
                [_yanked(v) if v else None for v in yanks] if any(yanks) else [None] * size,
                [*map(_side_file, entries)] if has_metadata else [""] * size,
            )
        )
    except (KeyError, TypeError, ValueError):
        return None


def files_in(columns: Columns) -> list[File] | None:
    """The files with these fields, all with absolute URLs and SHA-256; None when any is malformed."""
    try:
        filenames, urls, sums, sizes, times, bounds, yanked, side_files = columns
        marks = [mark for mark in side_files if mark and mark != "?"]
        if not (_are_plain(urls) and _are_hashes(sums) and _are_hashes(marks)):
            return None
        if not set(map(type, filenames)) <= {str}:
            return None
        rows = zip(filenames, urls, sums, sizes, _times(times), bounds, yanked, side_files, strict=True)
        return [*map(_files, rows)]
    except (KeyError, TypeError, ValueError):
        return None


def _are_plain(urls: Sequence[str]) -> bool:
    """Whether all are absolute and in the plainest form."""
    text = "\n".join(urls)
    secured = text.startswith("https://") + text.count("\nhttps://")
    # With a line break in one of them, there are more lines than URLs.
    is_each = secured == len(urls) == text.count("\n") + 1
    return is_each and text.isascii() and not any(mark in text for mark in "#@[")


def _are_sizes(sizes: tuple[Any, ...]) -> bool:
    """Whether all are numbers of bytes."""
    return set(map(type, sizes)) <= {int} and min(sizes, default=1) > 0


class _Hours(dict[str, int]):
    """Seconds from the epoch to hours, "2026-11-30T08": files of a release mostly share one."""

    def __missing__(self, text: str) -> int:
        self[text] = seconds = (datetime.fromisoformat(text + ":00:00") - _EPOCH) // _SECOND
        return seconds


def _times(texts: Sequence[Any]) -> list[int | None]:
    """Seconds since the epoch. Raises ValueError or KeyError for a text that only looks like a time."""
    hours = _Hours()
    if not _WITHIN:
        _WITHIN.update((f":{m:02}:{s:02}", 60 * m + s) for m in range(60) for s in range(60))
    if _are_usual(texts):
        return [hours[text[:13]] + _WITHIN[text[13:19]] for text in texts]
    return [
        hours[text[:13]] + _WITHIN[text[13:19]]
        if type(text) is str
        and text[-1:] == "Z"
        and (len(text) == 20 or (len(text) == 27 and text[19] == "."))
        else _epoch_seconds(text)
        for text in texts
    ]


def _are_usual(texts: Sequence[Any]) -> bool:
    """Whether all are times as the public index writes them, with six digits of a second."""
    if set(map(type, texts)) != {str} or set(map(len, texts)) != {27}:
        return False
    text, size = "".join(texts), len(texts)
    return text[19::27] == "." * size and text[26::27] == "Z" * size


def _are_hashes(texts: Sequence[str]) -> bool:
    """Whether all are what SHA-256 is written as."""
    text = "".join(texts)
    return set(map(len, texts)) <= {64} and bytes.fromhex(text).hex() == text


def file_of(filename: str, entry: dict[str, object], page_url: str) -> File:
    """Build the File of one entry of the answer; what is malformed counts as not given."""
    size = entry.get("size")
    requires_python = entry.get("requires-python")
    return File(
        filename,
        _url(entry.get("url"), page_url),
        _sha256(entry.get("hashes")),
        size if type(size) is int and size > 0 else 0,
        _epoch_seconds(entry.get("upload-time")),
        requires_python if isinstance(requires_python, str) else "",
        _yanked(entry.get("yanked")),
        _side_file(entry),
    )


def _url(url: object, page_url: str) -> str:
    if not isinstance(url, str) or not url:
        raise UnusableError("no URL")
    if "#" in url:
        url = url.partition("#")[0]
    if not url.startswith(("https://", "http://")):
        try:
            url = urljoin(page_url, url)
        except ValueError:
            url = ""
        if not url.startswith(("https://", "http://")):
            raise UnusableError("its URL is neither http nor https")
    return _careful(url) if "@" in url or "[" in url or not url.isascii() else url


def _careful(url: str) -> str:
    """A valid URL without a user part: URLs of files are kept and written into locks, and credentials are
    given by the user, not by an index."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise UnusableError("its URL is invalid") from None
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _sha256(hashes: object) -> str:
    value = hashes.get("sha256") if isinstance(hashes, dict) else None
    return value if isinstance(value, str) and _SHA256.match(value) else ""


def _yanked(value: object) -> str | None:
    return (value if isinstance(value, str) else "") if value else None


def _side_file(entry: dict[str, object]) -> str:
    for key in METADATA_KEYS:
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
