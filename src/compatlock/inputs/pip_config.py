"""pip's configuration files: where they are, and what they say of indexes."""

from __future__ import annotations

import os
import sys

from compatlock.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What is of interest here, as pip's long options are called.
KEYS = ("index-url", "extra-index-url", "cert", "find-links", "no-index", "trusted-host")
# pip itself prefers what is said of one command to what is said of all.
_SECTIONS = ("global", "install")


def config_files(environ: Mapping[str, str]) -> list[str]:
    """Where pip looks for its configuration, the most important last: for all users, the user, the virtual
    environment, PIP_CONFIG_FILE (which replaces the user's; the null device replaces all)."""
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    files = list(_of_all_users(environ))
    if not named or not os.path.exists(named):
        files += _of_user(environ)
    name = "pip.ini" if os.name == "nt" else "pip.conf"
    return [*files, os.path.join(sys.prefix, name), *([named] if named else [])]


def _of_all_users(environ: Mapping[str, str]) -> Iterator[str]:
    if os.name == "nt":
        yield os.path.join(environ.get("PROGRAMDATA", "C:\\ProgramData"), "pip", "pip.ini")
    elif sys.platform == "darwin":
        yield "/Library/Application Support/pip/pip.conf"
    else:
        for folder in (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep):
            yield os.path.join(folder, "pip", "pip.conf")
        yield "/etc/pip.conf"


def _of_user(environ: Mapping[str, str]) -> list[str]:
    home = os.path.expanduser("~")
    if os.name == "nt":
        roaming = environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
        return [os.path.join(folder, "pip", "pip.ini") for folder in (home, roaming)]
    new = os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "pip")
    if sys.platform == "darwin":
        support = os.path.join(home, "Library", "Application Support", "pip")
        new = support if os.path.isdir(support) else os.path.join(home, ".config", "pip")
    return [os.path.join(home, ".pip", "pip.conf"), os.path.join(new, "pip.conf")]


def read_pip_config(environ: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """What the files say of KEYS: `{key: (value, file and section that it is from)}`. Files that do not exist
    are skipped.

    Raises InputError for one that cannot be read: an index that it names must not be silently replaced by
    the public one.
    """
    found: dict[str, dict[str, tuple[str, str]]] = {section: {} for section in _SECTIONS}
    for path in config_files(environ):
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                text = file.read()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            continue
        except OSError as error:
            raise _unreadable(path, str(error.strerror)) from None
        if any(key in text.lower().replace("_", "-") for key in KEYS):
            _parse(path, text, found)
    return {**found["global"], **found["install"]}


def _parse(path: str, text: str, found: dict[str, dict[str, tuple[str, str]]]) -> None:
    # Only here: most users have no such file.
    import configparser

    parser = configparser.RawConfigParser()
    try:
        parser.read_string(text)
    except configparser.Error as error:
        line = getattr(error, "lineno", None) or next(iter(getattr(error, "errors", ())), (0,))[0]
        # What the error quotes may hold a password.
        raise _unreadable(
            path, f"line {line} is not understood" if line else "it is not understood"
        ) from None
    for section in _SECTIONS:
        for name, value in parser.items(section) if parser.has_section(section) else ():
            key = name.lower().replace("_", "-").removeprefix("--")
            if key in KEYS and value.strip():
                found[section][key] = (value, f"{path} [{section}] {key}")


def _unreadable(path: str, why: str) -> InputError:
    return InputError(
        f"{path} cannot be used: {why}",
        hints=[f"repair it, or set PIP_CONFIG_FILE={os.devnull} to leave out pip's configuration"],
    )
