"""The formats of lock files: which one a file has, and how it is written and read.

A format's module is imported when the format is used: this runs on every lock.
"""

from __future__ import annotations

from compatlock.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.model.lock import Lock, OlderPin

REQUIREMENTS = "requirements"
PYLOCK = "pylock"
JSON = "json"
FORMATS = (REQUIREMENTS, PYLOCK, JSON)
# Read only: the uv binary writes it.
UV = "uv"

STDOUT = "-"
_STANDARD_NAMES = {REQUIREMENTS: "requirements.lock", PYLOCK: "pylock.toml", JSON: "lock.json"}


def standard_name(asked: str = "") -> str:
    """Return the name of a lock file in a format, a requirements file unless asked otherwise."""
    return _STANDARD_NAMES.get(asked, _STANDARD_NAMES[REQUIREMENTS])


def format_of(path: str, asked: str = "") -> str:
    """Return the format for the lock file at `path` (`-` is standard output), one of FORMATS.

    Without `asked`, the name decides: `pylock.toml` and `pylock.NAME.toml` (PEP 751), `.json`, and a
    requirements file otherwise. Raises InputError for an unknown format, and for a TOML file or a pylock
    whose name installers would not know it by.
    """
    if asked and asked not in FORMATS:
        raise InputError(f"unknown format `{asked}`", hints=[f"known: {', '.join(FORMATS)}"])
    name = path.replace("\\", "/").rpartition("/")[2]
    is_pylock = _is_pylock(name)
    if asked == PYLOCK and path != STDOUT and not is_pylock:
        raise InputError(_misnamed(path))
    if asked:
        return asked
    if is_pylock:
        return PYLOCK
    if name.lower().endswith(".toml"):
        raise InputError(
            _misnamed(path), hints=["for another format under this name, say so: `--format requirements`"]
        )
    if name == "uv.lock":
        return UV
    return JSON if name.lower().endswith(".json") else REQUIREMENTS


def _is_pylock(name: str) -> bool:
    """Whether installers know a file by its name: `pylock.toml` or `pylock.NAME.toml` (PEP 751)."""
    start, *middle, end = name.split(".") if "." in name else (name, "")
    return (start, end) == ("pylock", "toml") and (not middle or (len(middle) == 1 and middle[0] != ""))


def render_as(fmt: str, lock: Lock, tool_version: str, path: str) -> str:
    """Return the text of `lock` in format `fmt`, to stand at `path`. Raises what the format's writer does."""
    if fmt == UV:
        hints = ["write a requirements.lock or a pylock.toml"]
        raise InputError(f"{path}: a uv.lock is written by uv, not by compatlock", hints=hints)
    shown = _STANDARD_NAMES[fmt] if path == STDOUT else path
    if fmt == PYLOCK:
        from compatlock.lockfile.pylock import render_pylock

        return render_pylock(lock, tool_version=tool_version, path=shown)
    if fmt == JSON:
        import json

        from compatlock.lockfile.lock_json import to_json
        from compatlock.lockfile.origins import without_line_numbers

        return json.dumps(to_json(without_line_numbers(lock)), indent=2) + "\n"
    from compatlock.lockfile.requirements_lock import render

    return render(lock, tool_version=tool_version, path=shown)


def read_pins_of(path: str, text: str, asked: str = "") -> tuple[OlderPin, ...]:
    """Return what the lock file at `path` with content `text` pins, for each target that its markers tell.

    Requirements files and those of other tools are read tolerantly. Raises InputError, naming `path`, for
    TOML that is none, and for JSON that is no lock: what is there may be something else.
    """
    if not text.strip():
        return ()
    fmt = format_of(path, asked)
    if fmt == PYLOCK:
        from compatlock.lockfile.pylock_read import read_pylock_pins

        return read_pylock_pins(text, path)
    if fmt == JSON:
        return _json_pins(path, text)
    if fmt == UV:
        from compatlock.lockfile.uv_lock_read import read_uv_pins

        return read_uv_pins(text, path)
    from compatlock.lockfile.requirements_lock import read_pins

    return read_pins(text)


def says_the_same(fmt: str, old: str, new: str, path: str) -> bool:
    """Whether two texts of a lock file at `path` are the same but for what changes with every upload to the
    index: its state, how far pins are behind, and remarks on that. A text that cannot be read differs."""
    if old == new:
        return True
    if fmt == REQUIREMENTS:
        from compatlock.lockfile.requirements_lock import lasting_lines

        return lasting_lines(old) == lasting_lines(new)
    try:
        return _lasting(fmt, old, path) == _lasting(fmt, new, path)
    except (InputError, ValueError, RecursionError):
        return False


def _lasting(fmt: str, text: str, path: str) -> Lock:
    if fmt == PYLOCK:
        from compatlock.lockfile.pylock_read import read_pylock

        lock = read_pylock(text, path)
    else:
        import json

        from compatlock.lockfile.lock_json import from_json

        lock = from_json(json.loads(text))
    pins = (p._replace(newest="", lag_days=0, lag_releases=0, held_by=(), notes=()) for p in lock.pins)
    return lock._replace(pins=tuple(pins), index_state="", objective=(), notes=())


def _json_pins(path: str, text: str) -> tuple[OlderPin, ...]:
    import json

    from compatlock.lockfile.lock_json import from_json

    try:
        lock = from_json(json.loads(text))
    except (ValueError, RecursionError):
        problem = "not valid JSON"
    except InputError as error:
        problem = error.message
    else:
        return lock.older_pins
    raise InputError(
        f"{path} is not a lock of compatlock ({problem})",
        hints=["write to another file, or remove this one"],
    )


def _misnamed(path: str) -> str:
    return f"{path}: a lock in TOML is named pylock.toml or pylock.NAME.toml (PEP 751)"
