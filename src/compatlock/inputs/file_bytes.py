"""Files that the user names, as bytes."""

from __future__ import annotations

from compatlock.errors import InputError, reason_of

STDIN = "<stdin>"
# What kinds of files a project's requirements stand in, for messages too.
PYPROJECT, SETUP_CFG, SCRIPT = "pyproject.toml", "setup.cfg", "script"
_LARGEST = 16 * 1024 * 1024


def kind_of(path: str) -> str:
    """Return which kind of project's file `path` is by its name, `""` when it is none."""
    name = path.replace("\\", "/").rpartition("/")[2]
    if name in (PYPROJECT, SETUP_CFG):
        return name
    return SCRIPT if name.endswith((".py", ".pyw")) else ""


def read_bytes(path: str, kind: str, *, is_stdin: bool = False) -> bytes:
    """Return the bytes of the file at `path`, or of standard input.

    Raises InputError when there is no such file, or when it cannot be a `kind` (words for messages).
    """
    shown = STDIN if is_stdin else path
    try:
        if is_stdin:
            import sys

            if sys.stdin is None:
                raise InputError(f"{shown} cannot be read: standard input is closed")
            data = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with open(path, "rb") as stream:
                data = stream.read(_LARGEST + 1)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory, not a {kind}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{shown} cannot be read: {reason_of(error)}") from None
    if len(data) > _LARGEST:
        raise InputError(f"{shown}: larger than {_LARGEST >> 20} MB, which is no {kind}")
    return data
