"""A replay in a process of its own, and the certificate that it is trusted by."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

_ROOT = Path(__file__).resolve().parents[1]
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


class Certificate(NamedTuple):
    """Files in PEM format: an authority, and the certificate for 127.0.0.1 that it signed, with its key."""

    authority: str
    file: str
    key: str


def make_certificate(folder: Path) -> Certificate:
    """Make a throw-away authority and its certificate, with openssl. Raises SystemExit when that fails."""
    names = {name: str(folder / name) for name in ("ca.pem", "ca.key", "request", "extensions", "pem", "key")}
    (folder / "extensions").write_text(
        "subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=critical,CA:FALSE\n"
        "keyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\nauthorityKeyIdentifier=keyid\n",
        encoding="utf-8",
    )
    commands = (
        ["req", "-x509", *_KEY, "-days", "2", "-subj", "/CN=replay authority", "-keyout", names["ca.key"],
         "-out", names["ca.pem"], "-addext", "keyUsage=critical,keyCertSign"],
        ["req", "-new", *_KEY, "-subj", "/CN=127.0.0.1", "-keyout", names["key"], "-out", names["request"]],
        ["x509", "-req", "-in", names["request"], "-CA", names["ca.pem"], "-CAkey", names["ca.key"],
         "-CAcreateserial", "-days", "2", "-extfile", names["extensions"], "-out", names["pem"]],
    )  # fmt: skip
    for command in commands:
        try:
            subprocess.run(["openssl", *command], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(f"openssl cannot make a certificate: {error}") from None
    return Certificate(names["ca.pem"], names["pem"], names["key"])


class Server:
    """A replay in a process of its own, at `url` (the root of a Simple index). With a certificate it speaks
    TLS, and HTTP/2 to those who can; `latency` is in milliseconds, for every answer. With `record`, what is
    missing is read of the real index, and `around` older releases with each."""

    def __init__(
        self,
        snapshot: str | Path,
        *,
        record: bool = False,
        around: int = 0,
        certificate: Certificate | None = None,
        latency: float = 0.0,
    ) -> None:
        command = [sys.executable, "-m", "benchmarks.replay", str(snapshot), "--latency", str(latency)]
        command += ["--record", "--around", str(around)] if record else []
        command += ["--certificate", certificate.file, certificate.key] if certificate else []
        inherited = os.environ.get("PYTHONPATH")
        paths = os.pathsep.join([str(_ROOT), *([inherited] if inherited else [])])
        self.certificate = certificate
        self._context = ssl.create_default_context(cafile=certificate.authority) if certificate else None
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
        )
        assert self._process.stdout is not None
        self.root = self._process.stdout.readline().strip()
        if not self.root:
            raise RuntimeError(f"{' '.join(command)} did not start")
        self.url = f"{self.root}/simple/"

    def get(self, path: str) -> bytes:
        """The body of an answer."""
        with urllib.request.urlopen(self.root + path, context=self._context) as answer:
            body: bytes = answer.read()
            return body

    def stats(self) -> dict[str, int]:
        """Requests, bytes sent and requests for what is not there, since the last time."""
        found: dict[str, int] = json.loads(self.get("/-/stats"))
        return found

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
