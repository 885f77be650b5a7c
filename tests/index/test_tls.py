"""TLS: servers are trusted by the system's authorities and those that the user names."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from compatlock.errors import IndexUnavailable, InputError
from compatlock.index import tls, transport
from compatlock.index.client import IndexClient
from compatlock.index.transport import Transport
from tests.support.index_server import IndexServer

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates with openssl")


def make_certificate(folder: Path, name: str) -> tuple[str, str]:
    """A self-signed certificate for a server and its key, as files."""
    certificate, key = str(folder / "cert.pem"), str(folder / "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=loopback",
         "-keyout", key, "-out", certificate, "-addext", f"subjectAltName={name}"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return certificate, key


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return make_certificate(tmp_path_factory.mktemp("tls"), "IP:127.0.0.1")


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_BACK_OFF", 0.001)


@pytest.fixture
def server(certificate: tuple[str, str]) -> Iterator[IndexServer]:
    with IndexServer(tls=certificate) as running:
        running.add("app", "1.0")
        yield running


def releases(url: str, cert: str = "") -> int:
    async def main() -> int:
        client = IndexClient(url, transport=Transport(cert=cert))
        try:
            listing, _ = await client.listing("app")
            assert listing is not None
            return len(listing.releases)
        finally:
            await client.aclose()

    return asyncio.run(main())


def failure(url: str, cert: str = "") -> IndexUnavailable:
    with pytest.raises(IndexUnavailable) as caught:
        releases(url, cert)
    return caught.value


def test_an_unknown_authority_is_refused_at_once(server: IndexServer) -> None:
    error = failure(server.url)
    assert "CERTIFICATE_VERIFY_FAILED" in error.message
    assert "SSL_CERT_FILE" in error.hints[0]
    assert server.count() == 0


def test_the_environment_names_authorities(
    server: IndexServer, certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
    assert releases(server.url) == 1


def test_a_setting_names_further_authorities(server: IndexServer, certificate: tuple[str, str]) -> None:
    assert releases(server.url, certificate[0]) == 1


def test_a_certificate_of_another_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = make_certificate(tmp_path, "DNS:other.example")
    monkeypatch.setenv("SSL_CERT_FILE", pair[0])
    with IndexServer(tls=pair) as server:
        assert failure(server.url).hints == (
            "the certificate is another server's: check the host in the URL",
        )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "[SSL: CERTIFICATE_VERIFY_FAILED] ... certificate has expired",
            "has expired",
        ),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] ... certificate is not yet valid", "clock is wrong"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] ... unable to get local issuer certificate", "SSL_CERT_FILE"),
        ("[SSL: WRONG_VERSION_NUMBER] wrong version number", "https or http?"),
        ("Connection refused", ""),
    ],
)
def test_advice(text: str, hint: str) -> None:
    assert hint in tls.advice(text)
    assert bool(tls.advice(text)) == bool(hint)


def test_http_at_the_port_of_https() -> None:
    with IndexServer() as server:
        assert "https or http?" in failure(server.url.replace("http://", "https://")).hints[0]


def test_a_redirect_to_http_is_refused(server: IndexServer, certificate: tuple[str, str]) -> None:
    with IndexServer() as other:
        other.add("app", "1.0")
        server.redirect("/simple/app/", f"{other.url}app/")
        error = failure(server.url, certificate[0])
        assert other.count() == 0
    assert f"`{server.url}app/` redirects to `{other.url}app/`, which is not secured" in error.message
    assert error.hints


@pytest.mark.parametrize("contents", [None, "nonsense"])
def test_authorities_that_cannot_be_read(tmp_path: Path, contents: str | None) -> None:
    path = tmp_path / "ca.pem"
    if contents is not None:
        path.write_text(contents)
    with pytest.raises(InputError, match=f"the certificate authorities in {path} cannot be used"):
        tls.trust(str(path))


def test_the_systems_own_authorities_are_not_read_twice(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", None)
    assert tls.trust(certificate[0]).cert_store_stats()["x509_ca"] == 1


def test_a_folder_of_authorities(tmp_path: Path) -> None:
    assert isinstance(tls.trust(str(tmp_path)), ssl.SSLContext)


def test_a_python_without_authorities_gets_those_of_its_http_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.setattr(ssl, "create_default_context", lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    monkeypatch.setattr(
        ssl, "get_default_verify_paths", lambda: ssl.DefaultVerifyPaths("", "", "", "", "", "")
    )
    assert tls.trust().cert_store_stats()["x509_ca"] > 50
