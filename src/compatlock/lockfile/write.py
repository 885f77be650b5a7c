"""Write a file whole or not at all."""

from __future__ import annotations

import os
import stat

from compatlock.errors import InputError


def write_atomically(path: str, text: str) -> None:
    """Make `text`, as UTF-8 with its line ends, the content of the file at `path`: see
    `write_bytes_atomically`."""
    write_bytes_atomically(path, text.encode("utf-8", "backslashreplace"))


def write_bytes_atomically(path: str, data: bytes) -> None:
    """Make `data` the content of the file at `path`.

    The old content stays until the new one is on the disk. An existing file keeps its mode, a link
    stays a link. What is no regular file (a terminal, a pipe) is written directly. Raises InputError,
    naming `path`, when it cannot be written; the old content is then untouched.
    """
    try:
        target = os.path.realpath(path)
        try:
            # Not of the target: that of /dev/stdout may be a pipe, which has no path.
            mode: int | None = os.stat(path).st_mode
        except FileNotFoundError:
            mode = None
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "wb") as stream:
                stream.write(data)
            return
        _replace(target, data, mode)
    except FileNotFoundError:
        raise InputError(f"{path} cannot be written: there is no such directory") from None
    except IsADirectoryError:
        raise InputError(f"{path} cannot be written: it is a directory") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{path} cannot be written: {reason}") from None


def _replace(target: str, data: bytes, mode: int | None) -> None:
    """Write `data` beside `target` and move it there; raises OSError and leaves nothing behind."""
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".compatlock-{os.urandom(8).hex()}.tmp")
    # 0o666 less the umask, as for any new file; tempfile would make it private.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with open(descriptor, "wb") as stream:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Make the new name durable too, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
