"""A package index on the loopback interface, with made-up projects, for tests of everything that asks one.

with IndexServer() as server:
    server.add("app", "1.0", requires=["lib>=2"], extras={"fast": ["speed"]})
    server.add("lib", "2.0", sdist=True, upload_time="2026-01-01T00:00:00Z")
    lock(..., index_url=server.url)
    assert server.count("/simple/app/") == 1
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import random
import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from tests.support.artifacts import build_sdist, build_wheel, core_metadata, sdist_filename, wheel_filename

SideFiles = Literal["advertised", "unadvertised", "none"]
Ranges = Literal["full", "no-suffix", "none", "wrong"]
Forms = Literal["both", "json", "html"]
Fault = Literal["", "truncate", "cut", "reset", "stall", "drip"]

_JSON = "application/vnd.pypi.simple.v1+json"
_HTML = "application/vnd.pypi.simple.v1+html"
_MODIFIED = "Mon, 30 Nov 2026 07:28:00 GMT"


class Seen(NamedTuple):
    """A request that the server received; `range` is its Range header, `headers` have lower-case names."""

    method: str
    path: str
    range: str
    headers: Mapping[str, str]


class _Fault(NamedTuple):
    """What happens to requests for paths that end in `path`, `times` more times."""

    path: str
    times: int
    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes | None = None
    kind: Fault = ""
    seconds: float = 0.0


class IndexServer:
    """A Simple index (PEP 503, 691, 700, 714) at `url`; files are below `/files/`.

    `side_files` says whether wheels have PEP 658 metadata files and the listing tells so; `ranges` is
    how range requests are served (`no-suffix`: `bytes=-N` is answered with 501; `wrong`: other bytes are sent
    than those asked for); `etags` whether listings carry one, `modified` whether they carry the time of their
    last change; `forms` which forms of listings there are (406 for others); `tls` names the files of a
    certificate and its key. With a `login` (`user:password`) everything else is answered with 401. `requests`
    is the log of everything received.
    """

    def __init__(
        self,
        *,
        side_files: SideFiles = "advertised",
        ranges: Ranges = "full",
        etags: bool = True,
        modified: bool = False,
        forms: Forms = "both",
        login: str = "",
        tls: tuple[str, str] | None = None,
    ) -> None:
        self.side_files = side_files
        self.ranges = ranges
        self.etags = etags
        self.modified = modified
        self.forms = forms
        self.login = login
        self.status: dict[str, str] = {}
        self.requests: list[Seen] = []
        self.files: dict[str, bytes] = {}
        self._entries: dict[str, list[dict[str, Any]]] = {}
        self._faults: list[_Fault] = []
        self._lock = threading.Lock()
        self._http = _Server(self)
        self._scheme = "http"
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
            self._scheme = "https"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def root(self) -> str:
        """The server's own URL, without a "/" at the end."""
        return f"{self._scheme}://127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        """The index URL."""
        return f"{self.root}/simple/"

    def __enter__(self) -> IndexServer:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    # What the index holds

    def add(
        self,
        project: str,
        version: str,
        *,
        requires: Iterable[str] = (),
        extras: Mapping[str, Iterable[str]] | None = None,
        requires_python: str = "",
        tags: Iterable[str] = ("py3-none-any",),
        build: str = "",
        sdist: bool = False,
        upload_time: str = "",
        yanked: bool | str = False,
        metadata_version: str = "2.1",
        dynamic: Iterable[str] = (),
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        """Add a release: a wheel for each of `tags` (none if empty), and an sdist if asked for.

        `upload_time` is ISO 8601 as indexes send it; `files` are the contents of its wheels.
        """
        metadata = core_metadata(
            project,
            version,
            requires=requires,
            extras=extras,
            requires_python=requires_python,
            metadata_version=metadata_version,
            dynamic=dynamic,
        )
        details: dict[str, Any] = {"yanked": yanked}
        if requires_python:
            details["requires-python"] = requires_python
        if upload_time:
            details["upload-time"] = upload_time
        for tag in tags:
            wheel = build_wheel(project, version, metadata, tag=tag, files=files)
            filename = wheel_filename(project, version, tag, build)
            self.add_file(project, filename, wheel, metadata=metadata, **details)
        if sdist:
            data = build_sdist(project, version, metadata)
            self.add_file(project, sdist_filename(project, version), data, **details)

    def add_project(self, project: str) -> None:
        """Add a project without releases."""
        self._entries.setdefault(_normalised(project), [])

    def add_file(
        self, project: str, filename: str, data: bytes, *, metadata: bytes | None = None, **details: Any
    ) -> None:
        """Add one file with the given bytes; `details` are further keys of its entry in the listing
        (with "-" for "_" as needed, through `**{"upload-time": ...}`) or replace the usual ones."""
        path = f"/files/{filename}"
        entry: dict[str, Any] = {
            "filename": filename,
            "url": f"../..{path}",
            "hashes": {"sha256": _sha256(data)},
            "size": len(data),
            "yanked": False,
        }
        if metadata is not None and self.side_files != "none":
            self.files[f"{path}.metadata"] = metadata
            if self.side_files == "advertised":
                entry["core-metadata"] = {"sha256": _sha256(metadata)}
        entry.update(details)
        self.files[path] = data
        with self._lock:
            self._entries.setdefault(_normalised(project), []).append(entry)

    def sha256(self, filename: str) -> str:
        """The hash of a file's content."""
        return _sha256(self.files[f"/files/{filename}"])

    def edit(self, filename: str, **details: Any) -> None:
        """Change keys of a file's entry in the listing; None removes one. `_` in a key stands for `-`."""
        for entries in self._entries.values():
            for entry in entries:
                if entry["filename"] == filename:
                    for key, value in details.items():
                        entry[key.replace("_", "-")] = value
                        if value is None:
                            del entry[key.replace("_", "-")]

    def remove(self, filename: str) -> None:
        """Take a file out of the listing (its bytes stay)."""
        for entries in self._entries.values():
            entries[:] = [entry for entry in entries if entry["filename"] != filename]

    def shuffle(self, seed: int) -> None:
        """Put the files of each listing into a random order."""
        for entries in self._entries.values():
            random.Random(seed).shuffle(entries)

    # What goes wrong

    def fail(
        self, path: str, *, status: int = 503, times: int = 1, headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer the next `times` requests for paths that end in `path` with `status` and no content."""
        self._faults.append(_Fault(path, times, status, headers or {}, b""))

    def replace(
        self, path: str, body: bytes, *, times: int = 1, headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer the next `times` requests for paths that end in `path` with these bytes."""
        self._faults.append(_Fault(path, times, 200, headers or {}, body))

    def redirect(self, path: str, to: str, *, status: int = 302, times: int = 1) -> None:
        """Send the next `times` requests for paths that end in `path` elsewhere."""
        self.fail(path, status=status, times=times, headers={"Location": to})

    def truncate(self, path: str, *, times: int = 1) -> None:
        """Break the connection in the middle of the next `times` answers for paths that end in `path`."""
        self._faults.append(_Fault(path, times, kind="truncate"))

    def disturb(self, path: str, kind: Fault, *, times: int = 1, seconds: float = 0.0) -> None:
        """Disturb the next `times` answers for paths that end in `path`: `truncate` them; `cut` them without
        having told their length; `reset` the connection; `stall` for `seconds` before the answer; `drip` a
        byte every `seconds`."""
        self._faults.append(_Fault(path, times, kind=kind, seconds=seconds))

    # What was asked

    def count(self, path: str = "", method: str = "") -> int:
        """How many requests there were for paths that end in `path` (all by default)."""
        seen = list(self.requests)
        return sum(one.path.endswith(path) and one.method.startswith(method) for one in seen)

    def listing(self, project: str) -> bytes | None:
        """The JSON answer for one project (normalised name), None when it is unknown."""
        with self._lock:
            entries = self._entries.get(project)
            if entries is None:
                return None
            answer: dict[str, Any] = {"meta": {"api-version": "1.1"}, "name": project, "files": entries}
            if project in self.status:
                answer["project-status"] = {"status": self.status[project]}
            return json.dumps(answer).encode()

    def page(self, project: str) -> bytes | None:
        """The HTML answer for one project."""
        with self._lock:
            entries = self._entries.get(project)
            if entries is None:
                return None
            anchors = "".join(_anchor(entry) for entry in entries)
            return f"<!DOCTYPE html><html><body>\n{anchors}</body></html>\n".encode()

    @property
    def root_page(self) -> bytes:
        """The list of all projects, as HTML."""
        anchors = "".join(f'<a href="{name}/">{name}</a><br>\n' for name in sorted(self._entries))
        return f"<!DOCTYPE html><html><body>\n{anchors}</body></html>\n".encode()

    def take_fault(self, path: str) -> _Fault | None:
        """The fault that the next request for `path` meets, if any; it counts as spent."""
        with self._lock:
            for place, fault in enumerate(self._faults):
                if fault.times > 0 and path.endswith(fault.path):
                    self._faults[place] = fault._replace(times=fault.times - 1)
                    return fault
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, index: IndexServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.index = index

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients may go away in the middle of an answer: that is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Header and body in one packet: two small ones wait for each other's acknowledgement.
    wbufsize = -1
    server: _Server
    _fault: _Fault | None = None

    def do_GET(self) -> None:
        self._serve()

    def do_HEAD(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _serve(self) -> None:
        index = self.server.index
        headers = {name.lower(): value for name, value in self.headers.items()}
        index.requests.append(Seen(self.command, self.path, headers.get("range", ""), headers))
        fault = self._fault = index.take_fault(self.path)
        if fault is not None and fault.kind == "stall":
            time.sleep(fault.seconds)
        if fault is not None and fault.kind == "reset":
            # Closing with unsent data thrown away sends a reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        basic = base64.b64encode(index.login.encode()).decode()
        if fault is not None and fault.body is not None:
            self._send(fault.status, fault.body, {"Content-Type": "application/json", **fault.headers})
        elif index.login and headers.get("authorization") != f"Basic {basic}":
            self._send(401, b"", {"WWW-Authenticate": 'Basic realm="index"'})
        elif self.path.startswith("/simple/"):
            self._send_listing(index, headers)
        else:
            self._send_file(index, headers)

    def _send_listing(self, index: IndexServer, headers: Mapping[str, str]) -> None:
        project = self.path.removeprefix("/simple/").rstrip("/")
        accepted = headers.get("accept", "")
        kind = _JSON if index.forms != "html" and _JSON in accepted else _HTML
        if (index.forms == "json" and kind != _JSON) or (kind == _HTML and "html" not in accepted):
            self._send(406, b"")
            return
        body = index.listing(project) if kind == _JSON else index.page(project)
        if not project:
            kind, body = _HTML, index.root_page
        if body is None:
            self._send(404, b"")
            return
        sent = {"Content-Type": kind}
        if index.etags:
            sent["ETag"] = f'"{_sha256(body)[:16]}"'
        if index.modified:
            sent["Last-Modified"] = _MODIFIED
        unchanged = index.etags and headers.get("if-none-match") == sent["ETag"]
        if unchanged or (index.modified and headers.get("if-modified-since") == _MODIFIED):
            self._send(304, b"", sent)
            return
        self._send(200, body, sent)

    def _send_file(self, index: IndexServer, headers: Mapping[str, str]) -> None:
        data = index.files.get(unquote(self.path))
        if data is None:
            self._send(404, b"")
            return
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", headers.get("range", ""))
        if match is None or index.ranges == "none":
            self._send(200, data)
        elif not match[1] and index.ranges == "no-suffix":
            self._send(501, b"")
        else:
            start = int(match[1]) if match[1] else max(0, len(data) - int(match[2]))
            end = min(len(data), int(match[2]) + 1) if match[1] and match[2] else len(data)
            if start >= end:
                self._send(416, b"", {"Content-Range": f"bytes */{len(data)}"})
                return
            if index.ranges == "wrong":
                start, end = start // 2, start // 2 + end - start
            part = {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}"}
            self._send(206, data[start:end], part)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        kind = self._fault.kind if self._fault is not None else ""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if kind != "cut":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.close_connection = self.close_connection or kind in ("truncate", "cut", "drip")
        if self.command == "HEAD":
            return
        if kind in ("truncate", "cut"):
            body = body[: len(body) // 2]
        if kind == "drip" and self._fault is not None:
            for place in range(len(body)):
                self.wfile.write(body[place : place + 1])
                self.wfile.flush()
                time.sleep(self._fault.seconds)
            return
        self.wfile.write(body)


def _anchor(entry: Mapping[str, Any]) -> str:
    """An entry of the JSON form as a link of the HTML form (PEP 503, 592, 658)."""
    digest = entry.get("hashes", {}).get("sha256")
    shown = {"href": entry["url"] + (f"#sha256={digest}" if digest else "")}
    if entry.get("requires-python"):
        shown["data-requires-python"] = entry["requires-python"]
    if entry.get("yanked"):
        shown["data-yanked"] = "" if entry["yanked"] is True else entry["yanked"]
    if entry.get("core-metadata"):
        shown["data-core-metadata"] = f"sha256={entry['core-metadata']['sha256']}"
    attributes = " ".join(f'{name}="{html.escape(value)}"' for name, value in shown.items())
    return f"<a {attributes}>{entry['filename']}</a><br>\n"


def _normalised(project: str) -> str:
    return re.sub(r"[-_.]+", "-", project).lower()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
