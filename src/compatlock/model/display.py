"""Text to show, safely: on one line, of bounded length, without credentials; counts and lists in words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

# What stands in the place of what must not be shown.
HIDDEN = "****"

_SCANNED = 4000
# As texts: most runs show no URL. A scheme, perhaps cut off, what is before the first separator, the rest.
_URL = r"([A-Za-z0-9+.-]*://)([^/?#\s]*)(\S*)"
# A host with an optional port. What is none, before a later "@", is a password with a "/", "?" or "#" in it.
_HOST = r"(?:\[[^\]]*\]|[^:\[\]]*)(?::\d+)?\Z"
# A user and the begin of a password with blanks in it: what follows the ":" is no port. Few words, few steps.
_BLANKS = r"(://)[^\s/?#@:\[\]]*:(?!\d+(?:[\s/?#]|\Z))[^\s@]*(?:[ \t]+[^\s@]+){0,4}[ \t]+[^\s@]*@"
_OF_PLAIN_WORDS = "_@%+=:,./-"
# What a message has after a URL is no part of its query.
_AFTER = "`'\":,;"


def without_credentials(text: str) -> str:
    """Return `text` with the user part and the query of every URL in it as ``****``.

    A user part that is not written as a URL demands (a password with "/" or blanks in it) is hidden too.
    """
    if "://" not in text or not ("@" in text or "?" in text):
        return text
    import re

    if "@" in text:
        text = re.sub(_BLANKS, rf"\1{HIDDEN}@", text)
    return re.sub(_URL, _hide, text)


def _hide(match: re.Match[str]) -> str:
    import re

    scheme, authority, rest = match.groups()
    if "@" in authority:
        authority = f"{HIDDEN}@{authority.rpartition('@')[2]}"
        if rest.startswith("//") and "@" in rest:  # one URL was pasted into another
            rest = rest.rpartition("@")[2]
    elif "@" in rest and not re.match(_HOST, authority):
        authority, rest = f"{HIDDEN}@", rest.rpartition("@")[2]
    path, question, query = rest.partition("?")
    if "#" in path:
        return f"{scheme}{authority}{rest}"
    after = query[len(query.rstrip(_AFTER)) :]
    fragment = "#" + query.partition("#")[2] if "#" in query else after
    return f"{scheme}{authority}{path}{question}{HIDDEN if query else ''}{fragment}"


def redact(url: str) -> str:
    """Return a single `url`, however wrong it is written, without what may be secret: the user part, the
    query (signatures of links) and the fragment."""
    if "://" not in url and "@" in url:
        return f"{HIDDEN}@{url.rpartition('@')[2]}".partition("?")[0].partition("#")[0]
    shown = without_credentials(url).partition("#")[0]
    import re

    match = re.match(_URL, shown)
    if match is not None and "@" not in shown and ":" in match[2] and not re.match(_HOST, match[2]):
        return f"{match[1]}{HIDDEN}{match[3]}"  # the begin of a URL with a blank in its password, perhaps
    return shown


def public_url(url: str) -> str:
    """Return `url` as it may stand in files that people share and install from: without the user part, and
    without what belongs to one answer of the index, the query (signatures) and the fragment (hashes)."""
    if "@" not in url and "?" not in url and "#" not in url:
        return url
    import re

    match = re.match(_URL, url)
    if match is not None:
        scheme, authority, rest = match.groups()
        if "@" in rest and "@" not in authority and not re.match(_HOST, authority):
            authority, rest = "", rest.rpartition("@")[2]
        url = f"{scheme}{authority.rpartition('@')[2]}{rest}"
    return url.partition("#")[0].partition("?")[0]


def one_line(text: str) -> str:
    """Return `text` with every run of white space, all sorts of line ends included, as one space."""
    return " ".join(text.split())


def printable(text: str) -> str:
    """Return `text` with every character that is not printable (terminal controls too) as its escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def excerpt(text: str, limit: int = 120) -> str:
    """Return `text` to be quoted in a message: one line, printable, no credentials, `limit` characters."""
    line = without_credentials(one_line(text[:_SCANNED]))
    line = printable(line)
    return line if len(line) <= limit else line[: limit - 3] + "..."


def quote(word: str) -> str:
    """Return `word` as one of a shell's command line, as `shlex.quote` does (which takes 1 ms to import)."""
    is_plain = word.isascii() and all(c.isalnum() or c in _OF_PLAIN_WORDS for c in word)
    return word if word and is_plain else "'" + word.replace("'", "'\"'\"'") + "'"


def counted(number: int, unit: str) -> str:
    """Return `1 package`, `2 packages`."""
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def listed(texts: Sequence[str], conjunction: str = "and") -> str:
    """Return `a, b and c`."""
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {conjunction} {texts[-1]}"
