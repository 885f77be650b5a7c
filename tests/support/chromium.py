"""Headless Chromium, driven over the pipes of its DevTools protocol: no port, no further library."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SECONDS = 60

# Gives the browser its pipes where it looks for them, at 3 and 4, and becomes it.
_LAUNCH = """
import os, sys
for ours, theirs in zip(sys.argv[1:3], (3, 4)):
    os.dup2(int(ours), theirs)
os.execvp(sys.argv[3], sys.argv[3:])
"""

_KEYS = {
    "Enter": 13,
    "Escape": 27,
    " ": 32,
    "PageUp": 33,
    "PageDown": 34,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
_TEXTS = {"Enter": "\r", " ": " "}
CONTROL = 2


def find_chromium() -> str | None:
    """The browser's program, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One tab. `complaints` are errors and warnings of its console, `requests` the addresses it asked for."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection
        self.complaints: list[str] = []
        self.requests: list[str] = []
        connection.listener = self._hear
        target = connection.call("Target.createTarget", url="about:blank")["targetId"]
        attached = connection.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """What a method of the protocol returns."""
        return self._connection.call(method, self._session, **parameters)

    def resize(self, width: int, height: int, *, touch: bool = False, scale: float = 1) -> None:
        """The size of the window in CSS pixels; `touch` makes it a phone's."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=touch,
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)

    def prefer(self, scheme: str, media: str = "") -> None:
        """`light` or `dark`, as the system would say; `media` is `print` or the screen."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def open(self, address: str) -> None:
        """Load a page and wait for it."""
        self.call("Page.navigate", url="about:blank")
        self.complaints.clear()
        self.requests.clear()
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"]["exception"].get("description", answer))
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _SECONDS
        while not self.evaluate(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def press(self, *keys: str, modifiers: int = 0) -> None:
        """Press keys, one after the other, by their names in DOM events."""
        for key in keys:
            code = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": _KEYS[key]}
            text = {"text": _TEXTS[key]} if key in _TEXTS else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", modifiers=modifiers, **code, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", modifiers=modifiers, **code)

    def point(self, selector: str) -> tuple[float, float]:
        """Move the pointer over an element; its middle."""
        box = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y = self.evaluate(f"(b => [b.x + b.width / 2, b.y + b.height / 2])({box})")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def click(self, selector: str) -> None:
        """Click an element that is in sight."""
        x, y = self.point(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def tap(self, selector: str) -> None:
        """Touch an element that is in sight."""
        box = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y = self.evaluate(f"(b => [b.x + b.width / 2, b.y + b.height / 2])({box})")
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def screenshot(self, path: Path) -> None:
        """What is seen, as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def _hear(self, message: dict[str, Any]) -> None:
        method, parameters = message["method"], message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(parameters["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


class _Connection:
    """Messages over two pipes, ended by a zero byte each."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to = os.fdopen(to_browser, "wb", buffering=0)
        self._from = os.fdopen(from_browser, "rb")
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._last = 0
        self.listener: Any = None
        threading.Thread(target=self._read, daemon=True).start()

    def call(self, method: str, session: str = "", **parameters: Any) -> Any:
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._to.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._messages.get(timeout=_SECONDS)
            if answer is None:
                raise ConnectionError("the browser has gone")
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer and self.listener is not None:
                self.listener(answer)

    def close(self) -> None:
        self._to.close()

    def _read(self) -> None:
        waiting = b""
        while chunk := self._from.read1(1 << 16):
            *whole, waiting = (waiting + chunk).split(b"\0")
            for message in whole:
                self._messages.put(json.loads(message))
        self._messages.put(None)


@contextmanager
def browse(program: str, profile: Path) -> Iterator[Page]:
    """A browser with one page, ended with the block."""
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    inherited = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (theirs_in, theirs_out)]
    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-pipe",
        "--hide-scrollbars",
    ]
    options += [
        "--no-first-run",
        "--disable-extensions",
        "--disable-background-networking",
        "--disable-dev-shm-usage",
    ]
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            _LAUNCH,
            *map(str, inherited),
            program,
            *options,
            f"--user-data-dir={profile}",
        ],
        pass_fds=inherited,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for fd in (theirs_in, theirs_out, *inherited):
        os.close(fd)
    connection = _Connection(ours_out, ours_in)
    try:
        yield Page(connection)
        connection.call("Browser.close")
    finally:
        connection.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
