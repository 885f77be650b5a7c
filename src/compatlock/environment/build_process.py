"""Programs that a build runs: with a time limit, what they say kept, and little of the user's environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from compatlock.errors import BuildFailed
from compatlock.model.display import without_credentials

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# So much of what a program says is kept: its end, where the reason stands.
_KEPT = 100_000
# Nothing listens there: a build that asks the network fails at once instead of getting something else.
_NOWHERE = "http://127.0.0.1:9"
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy")
_SECRET = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY", "APIKEY", "PRIVATE_KEY")
_TOOLS = ("PYTHON", "PIP_", "UV_", "COMPATLOCK_", "VIRTUAL_ENV", "CONDA_", "TWINE_", "POETRY_", "PDM_")


class Deadline:
    """The seconds that all programs of a build may take together."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left, at least a moment."""
        return max(0.01, self._end - time.monotonic())


class Recorder:
    """Runs programs one after the other; `output` is what they said."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self.output = ""

    def run(self, command: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> None:
        """Run a program to its end. Raises BuildFailed when it fails or takes too long; it and what it
        started are ended then."""
        with tempfile.TemporaryFile() as said:
            code = self._run(command, cwd, env, said.fileno())
            size = said.seek(0, os.SEEK_END)
            said.seek(max(0, size - _KEPT))
            text = said.read().decode("utf-8", "replace")
        self.output = (self.output + without_credentials(text))[-_KEPT:]
        if code is None:
            problem = f"it took longer than {self._deadline.seconds:g} seconds"
            raise BuildFailed(problem, output=self.output)
        if code:
            raise BuildFailed(last_line(text) or f"exit code {code}", output=self.output)

    def _run(self, command: Sequence[str], cwd: str, env: Mapping[str, str], output: int) -> int | None:
        """The exit code, None when time is up."""
        try:
            process = subprocess.Popen(
                list(command),
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            problem = f"{command[0]} cannot be run: {error.strerror or error}"
            raise BuildFailed(problem, output=self.output) from None
        try:
            return process.wait(self._deadline.left)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)


def environment_for_hooks(bin_folder: str, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables for code of a package: without credentials, settings of tools, and a way to the network
    that programs take by themselves."""
    given = os.environ if environ is None else environ
    kept = {
        name: value
        for name, value in given.items()
        if not name.upper().startswith(_TOOLS)
        and not any(word in name.upper() for word in _SECRET)
        and not name.lower().endswith("_proxy")
    }
    for name in _PROXIES:
        kept[name] = kept[name.upper()] = _NOWHERE
    kept["PATH"] = os.pathsep.join(filter(None, (bin_folder, kept.get("PATH", ""))))
    kept["VIRTUAL_ENV"] = os.path.dirname(bin_folder)
    return {
        **kept,
        "PIP_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONUNBUFFERED": "1",
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and what it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        import signal

        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    process.wait()


def last_line(said: str) -> str:
    """The last line that says something, where programs tell why they fail."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return without_credentials(lines[-1]) if lines else ""
