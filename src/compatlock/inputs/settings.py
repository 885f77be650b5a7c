"""Where settings come from: the command line, then the environment (COMPATLOCK_, UV_, PIP_), then pip's
configuration files, then the default. The first that gives a setting decides it alone."""

from __future__ import annotations

import os

from compatlock.errors import InputError
from compatlock.inputs.pip_config import read_pip_config
from compatlock.model.display import printable, redact
from compatlock.model.index import Indexes, PackageIndex, assign, parse_index, split_name
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.policy import ALL, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DEFAULT = "default"
TIMEOUT = 30.0

# Variables in the order in which they count. Those of one line belong together.
DEFAULT_INDEX_VARIABLES = ("COMPATLOCK_DEFAULT_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
INDEX_VARIABLES = (("COMPATLOCK_INDEX",), ("UV_INDEX", "UV_EXTRA_INDEX_URL"), ("PIP_EXTRA_INDEX_URL",))

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
# What other tools are told and what cannot be done here, so that nobody wonders.
_IGNORED = {
    "UV_FIND_LINKS": "only indexes can be asked",
    "PIP_FIND_LINKS": "only indexes can be asked",
    "UV_NO_INDEX": "use --offline to ask no index",
    "PIP_NO_INDEX": "use --offline to ask no index",
    "PIP_TRUSTED_HOST": "certificates are always checked; --cert names further authorities",
    "UV_INSECURE_HOST": "certificates are always checked; --cert names further authorities",
}


class Settings(NamedTuple):
    """The settings of a run. `sources` tells for each where it is from; `notes` what was left out, and why.

    `indexes` are the indexes to ask; `cache_dir` is `""` for the user's cache folder; `exclude_newer` is a
    timestamp, date, `none` or `""`; `cert` a PEM file with further certificate authorities, or `""`;
    `timeout` is in seconds for every wait for a server; `cuda` and `driver` are what the target runs, or
    `""`. For the policies see `api.options.LockOptions`.
    """

    indexes: Indexes = Indexes()
    cache_dir: str = ""
    offline: bool = False
    exclude_newer: str = ""
    cert: str = ""
    timeout: float = TIMEOUT
    cuda: str = ""
    driver: str = ""
    exclude_newer_package: tuple[str, ...] = ()
    prerelease: str = ""
    prerelease_package: tuple[str, ...] = ()
    allow_yanked: tuple[str, ...] = ()
    no_yanked: bool = False
    allow_builds: tuple[str, ...] = ()
    sources: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()


def read_settings(
    *,
    default_index: str = "",
    indexes: Sequence[str] = (),
    index_for: Sequence[str] = (),
    cache_dir: str = "",
    offline: bool = False,
    exclude_newer: str | Sequence[str] = "",
    cert: str = "",
    cuda: str = "",
    driver: str = "",
    prerelease: Sequence[str] = (),
    allow_yanked: Sequence[str] = (),
    no_yanked: bool = False,
    allow_builds: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Gather the settings; the arguments are what the command line says, empty where it says nothing.

    Raises InputError for a value that cannot be used, with its origin.
    """
    reader = _Reader(os.environ if environ is None else environ)
    default, extra = reader.default_index(default_index), reader.extra_indexes(indexes)
    asked_cuda, asked_driver = reader.cuda(cuda, driver)
    cut, own_cuts = reader.policy("exclude_newer", exclude_newer)
    mode, own_modes = reader.policy("prerelease", prerelease)
    return Settings(
        Indexes(default, extra, reader.assigned(index_for, extra)),
        reader.text("cache_dir", cache_dir, "COMPATLOCK_CACHE_DIR"),
        reader.switch("offline", offline),
        cut,
        reader.cert(cert),
        reader.timeout(),
        asked_cuda,
        asked_driver,
        own_cuts,
        mode,
        own_modes,
        reader.words("allow_yanked", allow_yanked),
        reader.switch("no_yanked", no_yanked),
        reader.builds(allow_builds),
        reader.sources,
        tuple(reader.remarks()),
    )


class _Reader:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self.sources: dict[str, str] = {}
        self._notes: list[str] = []
        self._environ = environ
        self._pip = read_pip_config(environ)

    def _variable(self, name: str) -> str:
        """An empty variable is one that is not set."""
        return self._environ.get(name, "").strip()

    def _file(self, key: str) -> tuple[str, str]:
        """What pip's files say, and which does."""
        text, source = self._pip.get(key, ("", ""))
        return text.strip(), source

    # Indexes

    def default_index(self, given: str) -> PackageIndex:
        variables = [(self._variable(name), name) for name in DEFAULT_INDEX_VARIABLES]
        for text, origin in ((given, "--default-index"), *variables, self._file("index-url")):
            index = self._index(text, origin)
            if index is not None:
                self.sources["default_index"] = origin
                return index
        self.sources["default_index"] = DEFAULT
        return PackageIndex()

    def extra_indexes(self, given: Sequence[str]) -> tuple[PackageIndex, ...]:
        text, source = self._file("extra-index-url")
        for candidates in (
            [(text, "--index") for text in given],
            *(
                [(text, name) for name in names for text in self._variable(name).split()]
                for names in INDEX_VARIABLES
            ),
            [(url, source) for url in text.split()],
        ):
            found = [(self._index(text, origin), origin) for text, origin in candidates]
            origins = dict.fromkeys(origin for index, origin in found if index is not None)
            if origins:
                self.sources["indexes"] = ", ".join(origins)
                return tuple(index for index, _ in found if index is not None)
        self.sources["indexes"] = DEFAULT
        return ()

    def _index(self, text: str, origin: str) -> PackageIndex | None:
        """The index that a text names; None for one of another tool that is not on the web."""
        if not text:
            return None
        if not origin.startswith(("--", "COMPATLOCK_")) and not _is_on_the_web(text):
            shown = printable(redact(text))
            self._notes.append(f"`{shown}` ({origin}) is left out: only http and https URLs can be asked")
            return None
        index = parse_index(text, origin)
        return index if index.login is not None or not index.name else self._with_login(index)

    def _with_login(self, index: PackageIndex) -> PackageIndex:
        """A named index with the credentials that variables hold for it, as uv has them."""
        name = "".join(c if c.isalnum() else "_" for c in index.name.upper())
        for tool in ("COMPATLOCK", "UV"):
            user, password = (
                self._environ.get(f"{tool}_INDEX_{name}_{part}", "") for part in ("USERNAME", "PASSWORD")
            )
            if user or password:
                from urllib.parse import quote

                from compatlock.model.secret import Secret

                return index._replace(login=Secret(f"{quote(user, safe='')}:{quote(password, safe='')}"))
        return index

    def assigned(
        self, given: Sequence[str], extra: tuple[PackageIndex, ...]
    ) -> tuple[tuple[str, PackageIndex], ...]:
        origin = "--index-for"
        if not given:
            given, origin = self._variable("COMPATLOCK_INDEX_FOR").split(), "COMPATLOCK_INDEX_FOR"
        self.sources["index_for"] = origin if given else DEFAULT
        return assign(given, extra, origin)

    # The others

    def text(self, setting: str, given: str, variable: str) -> str:
        value = given or self._variable(variable)
        option = "--" + setting.replace("_", "-")
        self.sources[setting] = option if given else variable if value else DEFAULT
        return value

    def words(self, setting: str, given: Sequence[str]) -> tuple[str, ...]:
        """What a repeatable option says; in its variable there are commas between the words."""
        variable = f"COMPATLOCK_{setting.upper()}"
        words = tuple(given) or tuple(filter(None, map(str.strip, self._variable(variable).split(","))))
        option = "--" + setting.replace("_", "-")
        self.sources[setting] = option if given else variable if words else DEFAULT
        return words

    def policy(self, setting: str, given: str | Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """A policy for all packages, and those for one: the command line may give either."""
        asked, own = split(given)
        general, own_of_variable = split(self.words(setting, ()))
        source = self.sources.pop(setting)
        option = "--" + setting.replace("_", "-")
        self.sources[setting] = option if asked else source if general else DEFAULT
        of_one = option if own else source if own_of_variable else DEFAULT
        self.sources[f"{setting}_package"] = of_one
        return asked or general, own or own_of_variable

    def builds(self, given: Sequence[str]) -> tuple[str, ...]:
        """The packages that may be built; its variable may also be 1 or 0."""
        words = self.words("allow_builds", given)
        if not given and len(words) == 1 and words[0].lower() in (*_TRUE, *_FALSE):
            return (ALL,) if words[0].lower() in _TRUE else ()
        return words

    def switch(self, setting: str, given: bool) -> bool:
        option, variable = "--" + setting.replace("_", "-"), f"COMPATLOCK_{setting.upper()}"
        word = self._variable(variable).lower()
        self.sources[setting] = option if given else variable if word else DEFAULT
        if not given and word and word not in (*_TRUE, *_FALSE):
            raise InputError(f"{variable} is `{printable(word)}`", hints=["set it to 1 or 0"])
        return given or word in _TRUE

    def cert(self, given: str) -> str:
        variables = [(self._variable(name), name) for name in ("COMPATLOCK_CERT", "PIP_CERT")]
        for text, origin in ((given, "--cert"), *variables, self._file("cert")):
            if text:
                self.sources["cert"] = origin
                return os.path.expanduser(text)
        self.sources["cert"] = DEFAULT
        return ""

    def cuda(self, cuda: str, driver: str) -> tuple[str, str]:
        """The target's CUDA and driver: whoever names one of them speaks for both."""
        if not cuda and not driver:
            return self.text("cuda", "", "COMPATLOCK_CUDA"), self.text("driver", "", "COMPATLOCK_DRIVER")
        self.sources.update(cuda="--cuda" if cuda else DEFAULT, driver="--driver" if driver else DEFAULT)
        return cuda, driver

    def timeout(self) -> float:
        variable = "COMPATLOCK_TIMEOUT"
        text = self._variable(variable)
        self.sources["timeout"] = variable if text else DEFAULT
        if not text:
            return TIMEOUT
        import re

        if not re.fullmatch(r"\d{1,6}(\.\d*)?", text, re.ASCII) or not float(text):
            raise InputError(
                f"{variable} is `{printable(text)}`", hints=["set it to a number of seconds, such as 60"]
            )
        return float(text)

    def remarks(self) -> Iterable[str]:
        """What was left out, each once."""
        seen = {name: name for name in _IGNORED if self._variable(name).lower() not in ("", *_FALSE)}
        for key in ("find-links", "no-index", "trusted-host"):
            text, source = self._file(key)
            if text and text.lower() not in _FALSE:
                seen["PIP_" + key.upper().replace("-", "_")] = source
        notes = [*self._notes, *(f"{source} is left out: {_IGNORED[name]}" for name, source in seen.items())]
        if self._variable("UV_INDEX_STRATEGY") not in ("", "first-index"):
            notes.append("UV_INDEX_STRATEGY is left out: a project is that of the first index that has it")
        return dict.fromkeys(notes)


def _is_on_the_web(text: str) -> bool:
    """Whether `URL` or `NAME=URL` names a web server."""
    return split_name(text)[1].lower().startswith(("https://", "http://"))
