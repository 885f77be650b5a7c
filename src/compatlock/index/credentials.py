"""Who the user is to an index's server: by the index's URL, netrc, or a keyring when the server asks."""

from __future__ import annotations

import asyncio
import netrc
import os
from base64 import b64encode
from collections.abc import Callable, Iterable
from urllib.parse import unquote, urlsplit

from compatlock.index.keyring import ask_keyring
from compatlock.model.index import PackageIndex
from compatlock.model.secret import Secret

KeyringQuestion = Callable[[Iterable[str], "str | None"], "tuple[str, Secret] | None"]


class Netrc:
    """The user's netrc file: the one that NETRC names, else ~/.netrc or ~/_netrc. Read when first needed."""

    def __init__(self) -> None:
        self.problem = ""
        self._file: netrc.netrc | None = None
        self._is_read = False

    def find(self, host: str, *, default: bool) -> tuple[str, Secret] | None:
        """The login and password for a host; those of the file's default entry only if `default` is True."""
        if not self._is_read:
            self._is_read = True
            self._read()
        if self._file is None or not host or (host not in self._file.hosts and not default):
            return None
        login, account, password = self._file.authenticators(host) or ("", "", "")
        return (login or account or "", Secret(password)) if password else None

    def _read(self) -> None:
        named = os.environ.get("NETRC")
        paths = [named] if named else [os.path.expanduser(path) for path in ("~/.netrc", "~/_netrc")]
        for path in paths:
            try:
                self._file = netrc.netrc(path)
            except FileNotFoundError:
                continue
            except netrc.NetrcParseError as error:
                # What it quotes may be a password.
                self.problem = f"{path} cannot be used: it is not understood near line {error.lineno}"
            except (OSError, UnicodeDecodeError) as error:
                self.problem = f"{path} cannot be used: {type(error).__name__}"
            return


class Credentials:
    """Credentials of one index. Those of its URL and of the keyring go to the index's own origin only; those
    of netrc to the host they are for, but not over http unless that is how the user named the index.

    `keyring` answers for services and a user, see `ask_keyring`. For one event loop.
    """

    def __init__(
        self, index: PackageIndex, netrc: Netrc | None = None, keyring: KeyringQuestion = ask_keyring
    ) -> None:
        self._url = index.url
        self._origin = origin(index.url)
        self._netrc = netrc or Netrc()
        self._keyring = keyring
        self._user, self._password = _split(index.login)
        self._asked: asyncio.Task[tuple[str, Secret] | None] | None = None
        self._kept: tuple[str, Secret] | None = None

    def header(self, url: str) -> Secret | None:
        """The value of the Authorization header for a request to `url`; None for no such header."""
        scheme, host, _ = place = origin(url)
        own = place == self._origin
        if own and self._kept is not None:
            return _basic(*self._kept)
        if own and self._user is not None and self._password is not None:
            return _basic(self._user, self._password)
        if own or scheme == "https":
            found = self._netrc.find(host, default=own)
            if found is not None and (not own or self._user in (None, found[0])):
                return _basic(*found)
        # A user without a password may be a token.
        return _basic(self._user, Secret("")) if own and self._user is not None else None

    async def challenged(self, url: str, sent: Secret | None) -> bool:
        """Whether there are other credentials for `url` than the header `sent`, which its server refused. The
        keyring is asked, once."""
        if origin(url) != self._origin:
            return False
        if self._asked is None:
            services = (self._url, self._url.rstrip("/"), urlsplit(self._url).netloc)
            self._asked = asyncio.ensure_future(asyncio.to_thread(self._keyring, services, self._user))
        self._kept = await asyncio.shield(self._asked)
        return self.header(url) != sent

    def advice(self, url: str) -> str:
        """What a user can do whose request to `url` was refused."""
        if self._netrc.problem:
            return f"repair the netrc file: {self._netrc.problem}"
        if origin(url) != self._origin:
            return "that host is not the index's own: give credentials for it in a netrc file"
        if self.header(url) is not None:
            return "the server refused the credentials given for this index: check them"
        return "give credentials: in the index URL (https://user:password@host/), a netrc file or a keyring"


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of a URL: where credentials may go. An invalid URL has an empty one."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", "", None
    return parts.scheme, parts.hostname or "", port


def _split(login: Secret | None) -> tuple[str | None, Secret | None]:
    if login is None:
        return None, None
    user, colon, password = login.reveal().partition(":")
    return unquote(user), Secret(unquote(password)) if colon else None


def _basic(user: str, password: Secret) -> Secret:
    return Secret("Basic " + b64encode(f"{user}:{password.reveal()}".encode()).decode())
