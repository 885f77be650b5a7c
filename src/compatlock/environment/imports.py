"""Import modules in the Python of an environment, each in a process of its own, and tell how that went."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile

from compatlock.model.display import one_line, without_credentials
from compatlock.model.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Seconds for one import. Large libraries on a slow disk, imported for the first time, take minutes.
TIMEOUT = 300.0
_DONE = b"compatlock: imported"
# What an import leaves running, or breaks at the exit, is not what is asked: the process ends at once. That
# it came so far it says in a file, as its streams may have been replaced, and some modules exit with 0.
_CODE = (
    "import importlib, os, sys\n"
    "importlib.import_module(sys.argv[1])\n"
    f"os.write(os.open(sys.argv[2], os.O_WRONLY), {_DONE!r})\n"
    "os._exit(0)\n"
)
_LONGEST = 300


class ImportResult(NamedTuple):
    """How the import of a module went: `error` is the last line of what was said, `""` when it worked."""

    module: str
    error: str = ""


def try_imports(program: str, modules: Iterable[str], *, timeout: float = TIMEOUT) -> Iterator[ImportResult]:
    """Import `modules` with the Python `program`, one after another, each within `timeout` seconds. The
    process has neither the user's own packages nor the current folder on its path (`python -I`)."""
    for module in modules:
        yield ImportResult(module, _error(program, module, timeout))


def _error(program: str, module: str, timeout: float) -> str:
    # Files and not pipes: a process that the import started may hold those open.
    with tempfile.TemporaryFile() as said, tempfile.TemporaryDirectory() as folder:
        done = os.path.join(folder, "done")
        with open(done, "wb"):
            pass
        try:
            process = subprocess.Popen(
                [program, "-I", "-c", _CODE, module, done],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                cwd=folder,
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            return f"{program} cannot be run: {error.strerror or error}"
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            return f"it takes longer than {timeout:g} seconds"
        finally:
            _end(process)
        with open(done, "rb") as mark:
            if mark.read() == _DONE:
                return ""
        said.seek(0)
        return _last_line(said.read().decode("utf-8", "replace")) or _ended(code)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop the process, if it still runs, and what it started."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def _last_line(text: str) -> str:
    line = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
    line = without_credentials(one_line(line))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def _ended(code: int) -> str:
    if code >= 0:
        return f"the process ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"the process was ended by {name}"
