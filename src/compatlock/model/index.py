"""A package index as the user names it: where it is, what it is called, and who the user is there."""

from __future__ import annotations

from compatlock.errors import InputError
from compatlock.model.display import printable, redact
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import is_word, normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from compatlock.model.secret import Secret

_OF_ADDRESSES = frozenset("0123456789abcdefABCDEF:.%")
_OF_NO_HOST = "[]\\"
_LAST_PORT = 65535


class PackageIndex(NamedTuple):
    """The root of a Simple API. `url` ends in "/" and holds no credentials; `""` is the public index.

    `name` is what the user calls it, or `""`. `login` is the user part of the URL as it was written there
    (`user`, `token` or `user:password`, percent-encoded).
    """

    url: str = ""
    name: str = ""
    login: Secret | None = None

    @property
    def written(self) -> str:
        """The index as options name it, with a mark where credentials were given; `""` is the public one."""
        hidden = self.url.replace("://", f"://{self.login}@", 1) if self.login is not None else self.url
        return f"{self.name}={hidden}" if self.name and hidden else hidden

    @property
    def shown(self) -> str:
        """The index for people."""
        return self.written or "the public index"


class Indexes(NamedTuple):
    """All indexes of a run. A project is that of the first of `extra`, then `default`, that has it. A project
    in `assigned` (pairs of a normalised name and an index) is asked for at its index only, and the indexes to
    which projects are assigned are asked for nothing else, unless they are also the default."""

    default: PackageIndex = PackageIndex()
    extra: tuple[PackageIndex, ...] = ()
    assigned: tuple[tuple[str, PackageIndex], ...] = ()


def parse_indexes(default: str = "", extra: Iterable[str] = (), index_for: Iterable[str] = ()) -> Indexes:
    """Read the indexes of a run as the options of `compatlock lock` name them. Raises InputError."""
    named = tuple(parse_index(text) for text in extra)
    return Indexes(parse_index(default) if default else PackageIndex(), named, assign(index_for, named))


def assign(
    texts: Iterable[str], extra: tuple[PackageIndex, ...], origin: str = ""
) -> tuple[tuple[str, PackageIndex], ...]:
    """Read `PROJECT[,PROJECT...]=NAME` or `=URL`; a NAME is that of one of `extra`. Raises InputError."""
    assigned: dict[str, PackageIndex] = {}
    given = f" (from {origin})" if origin else ""
    for text in texts:
        projects, _, place = (part.strip() for part in text.partition("="))
        names = [name.strip() for name in projects.split(",")]
        if not place or not all(is_word(name) and name[-1].isalnum() for name in names):
            raise InputError(
                f"`{printable(redact(text))}`{given} does not assign projects to an index",
                hints=[
                    "write PROJECT=NAME or PROJECT=URL, several projects with commas: torch,torchvision=cu128"
                ],
            )
        index = next((index for index in extra if index.name == place), None)
        if index is None and "://" not in place:
            raise InputError(
                f"`{printable(redact(text))}`{given}: no index is called `{printable(redact(place))}`",
                hints=[f"name one with `--index {printable(redact(place))}=URL`, or give the URL here"],
            )
        for name in names:
            assigned[normalise(name)] = index or parse_index(place, origin)
    return tuple(sorted(assigned.items(), key=lambda pair: pair[0]))


def parse_index(text: str, origin: str = "") -> PackageIndex:
    """Read `URL` or `NAME=URL`; `origin` (an option, a variable, a file) is for messages.

    Raises InputError unless it is the URL of a web server, without a query.
    """
    written = text.strip()
    name, url = split_name(written)
    scheme, separator, rest = url.partition("#")[0].partition("://")
    authority, _, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if not separator or scheme.lower() not in ("http", "https") or not _is_host(host):
        raise _invalid(written, origin, "it must begin with https:// or http://")
    if "?" in url or any(c.isspace() or not c.isprintable() for c in url):
        raise _invalid(written, origin, "it must have neither a query nor blanks")
    place = f"{scheme.lower()}://{host.lower()}/{path.rstrip('/')}".rstrip("/")
    return PackageIndex(f"{place}/", name, _login(user) if at else None)


def _login(user: str) -> Secret:
    from compatlock.model.secret import Secret

    return Secret(user)


def split_name(text: str) -> tuple[str, str]:
    """Split `NAME=URL` into the name and the URL; of a URL alone the name is `""`."""
    name, equals, url = text.partition("=")
    scheme, colon, _ = url.partition(":")
    is_scheme = scheme[:1].isalpha() and is_word(scheme, "+.-")
    return (name, url) if equals and is_word(name) and colon and is_scheme else ("", text)


def _is_host(text: str) -> bool:
    """Whether a text is a host, with a port or without: a name or an address, one of IPv6 in brackets."""
    if text.startswith("["):
        host, bracket, port = text[1:].partition("]")
        is_host = bool(host) and bool(bracket) and _OF_ADDRESSES.issuperset(host)
    else:
        host, colon, number = text.partition(":")
        port = colon + number
        is_host = bool(host) and not any(c.isspace() or c in _OF_NO_HOST for c in host)
    number = port.removeprefix(":")
    is_port = not port or (port[0] == ":" and number.isdecimal() and len(number) <= 5)
    return is_host and is_port and int(number or 0) <= _LAST_PORT


def _invalid(text: str, origin: str, why: str) -> InputError:
    given = f" (from {origin})" if origin else ""
    return InputError(
        f"`{printable(redact(text))}`{given} is not the URL of an index: {why}",
        hints=["give the root of a Simple index, such as https://index.example/simple/"],
    )
