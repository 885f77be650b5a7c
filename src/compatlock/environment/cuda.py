"""The NVIDIA driver of the running machine: what `nvidia-smi` says, else the driver's own library (NVML)."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess

from compatlock.errors import InputError

_QUERY = ("--query-gpu=driver_version", "--format=csv,noheader")
_VERSION = r"\d{3}(?:\.\d{1,3}){0,2}\Z"
_SECONDS = 20
_LIBRARY = "libnvidia-ml.so.1"
# The longest version that NVML gives, and its code for success.
_LENGTH = 80
_SUCCESS = 0


def running_driver(program: str = "nvidia-smi", library: str = _LIBRARY) -> str:
    """Return the version of the running machine's NVIDIA driver, such as `570.133.20`.

    `program` is asked first, then `library` is loaded. Raises InputError, with what was tried, when neither
    tells.
    """
    tried = []
    for ask, source in ((_by_program, program), (_by_library, library)):
        version, problem = ask(source)
        if version:
            return version
        tried.append(problem)
    raise InputError(
        f"no NVIDIA driver was found on this machine: {'; '.join(tried)}",
        hints=["say what the target runs: `--driver 570` or `--cuda 12.8`"],
    )


def _by_program(program: str) -> tuple[str, str]:
    """The driver's version, or what is in the way."""
    path = shutil.which(program)
    if path is None:
        return "", f"`{program}` is not there"
    try:
        run = subprocess.run(
            [path, *_QUERY],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        return "", f"`{program}` does not answer"
    except OSError as error:
        return "", f"`{program}` cannot be run ({error.strerror or error})"
    if run.returncode:
        return "", f"`{program}` fails ({_first_line(run.stdout + run.stderr) or run.returncode})"
    # A line for each GPU, all with the same driver.
    return _checked(_first_line(run.stdout), f"`{program}`")


def _by_library(library: str) -> tuple[str, str]:
    try:
        nvml = ctypes.CDLL(library)
        start, ask, stop = nvml.nvmlInit_v2, nvml.nvmlSystemGetDriverVersion, nvml.nvmlShutdown
    except (OSError, AttributeError):
        return "", f"{library} cannot be loaded"
    code = start()
    if code != _SUCCESS:
        return "", f"{library} cannot be started (NVML error {code})"
    try:
        text = ctypes.create_string_buffer(_LENGTH)
        code = ask(text, ctypes.c_uint(_LENGTH))
    finally:
        stop()
    if code != _SUCCESS:
        return "", f"{library} does not tell the driver (NVML error {code})"
    return _checked(text.value.decode("ascii", "replace"), library)


def _checked(text: str, source: str) -> tuple[str, str]:
    if re.match(_VERSION, text):
        return text, ""
    return "", f"{source} says `{text[:40]}`, which is no version" if text else f"{source} names no driver"


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
