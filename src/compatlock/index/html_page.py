"""Reading the Simple API's HTML pages (PEP 503, 592, 629, 658, 714, 792) into the shape of its JSON form."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import unquote, urljoin

from compatlock.model.named_tuple import NamedTuple

_DISTRIBUTIONS = (".whl", ".tar.gz", ".zip", ".tar.bz2", ".tgz", ".egg", ".exe", ".msi", ".rpm", ".tar.xz")
_META = ("pypi:repository-version", "pypi:project-status", "pypi:project-status-reason")
# PEP 714 renamed the attribute; indexes still send the older one.
_METADATA_ATTRIBUTES = ("data-core-metadata", "data-dist-info-metadata")


class Page(NamedTuple):
    """A project's page: `files` as in the JSON form, their URLs still relative to `base`; `api`, `status` and
    `status_reason` are `""` when the page does not tell. `is_index` is False for a page of some other kind
    (a login form, a greeting)."""

    base: str
    files: list[dict[str, object]]
    api: str
    status: str
    status_reason: str
    is_index: bool


def parse_page(text: str, page_url: str) -> Page:
    """Read the page that `page_url` answered with. Never raises: HTML can always be read somehow."""
    parser = _Parser()
    parser.feed(text)
    parser.close()
    base = page_url
    if parser.base:
        try:
            base = urljoin(page_url, parser.base)
        except ValueError:
            pass
    entries = [entry for attributes in parser.anchors if (entry := _entry(attributes)) is not None]
    api, status, reason = (parser.meta.get(name, "") for name in _META)
    known = any(str(entry["filename"]).lower().endswith(_DISTRIBUTIONS) for entry in entries)
    empty = parser.is_html and not entries and not parser.is_active
    return Page(base, entries, api, status, reason, bool(api) or known or empty)


def project_names(text: str) -> set[str]:
    """The projects that the root page of an index names, as written there; none for a page with more than
    links, which is of some other kind."""
    parser = _Parser()
    parser.feed(text)
    parser.close()
    if parser.is_active:
        return set()
    paths = (_path(attributes.get("href")) for attributes in parser.anchors)
    return {unquote(path.rstrip("/").rpartition("/")[2]) for path in paths} - {"", ".", ".."}


class _Parser(HTMLParser):
    """Collects the attributes of all anchors, and what else tells about the page."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: list[dict[str, str | None]] = []
        self.base = ""
        self.meta: dict[str, str] = {}
        self.is_html = False
        self.is_active = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_html = True
        if tag == "a":
            self.anchors.append(dict(reversed(attrs)))
        elif tag == "base":
            self.base = self.base or dict(attrs).get("href") or ""
        elif tag == "meta":
            attributes = dict(attrs)
            self.meta.setdefault(attributes.get("name") or "", attributes.get("content") or "")
        elif tag in ("form", "input", "frameset", "iframe", "script"):
            self.is_active = True

    def handle_decl(self, decl: str) -> None:
        self.is_html = self.is_html or decl.lower().startswith("doctype html")


def _path(href: str | None) -> str:
    return (href or "").partition("#")[0].partition("?")[0].strip()


def _entry(attributes: dict[str, str | None]) -> dict[str, object] | None:
    """The file that an anchor leads to; None for one that leads to a folder or into the page itself."""
    href = (attributes.get("href") or "").strip()
    filename = unquote(_path(href).rpartition("/")[2])
    if filename in ("", ".", ".."):
        return None
    entry: dict[str, object] = {"filename": filename, "url": href, "hashes": _hashes(href.partition("#")[2])}
    if attributes.get("data-requires-python"):
        entry["requires-python"] = attributes["data-requires-python"]
    if "data-yanked" in attributes:
        entry["yanked"] = attributes["data-yanked"] or True
    for name in _METADATA_ATTRIBUTES:
        if name in attributes:
            value = attributes[name] or ""
            entry["core-metadata"] = value != "false" and (_hashes(value) or True)
            break
    return entry


def _hashes(text: str) -> dict[str, str]:
    """The hashes of a URL's fragment, or of an attribute: `sha256=...`."""
    parts = (part.partition("=") for part in text.split("&"))
    return {name: value for name, _, value in parts if value}
