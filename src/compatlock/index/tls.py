"""Which servers are trusted: those that the system trusts, and what to say when a handshake fails."""

from __future__ import annotations

import os
import ssl

from compatlock.errors import InputError

_ENVIRONMENT = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def trust(cert: str = "") -> ssl.SSLContext:
    """The system's trust, which SSL_CERT_FILE and SSL_CERT_DIR replace, and the authorities in `cert` (a PEM
    file, or a directory of them) as well. Raises InputError when that cannot be read."""
    context = ssl.create_default_context()
    if not _has_authorities(context):
        # A Python that was not built for this system and does not find the system's authorities.
        import certifi

        context.load_verify_locations(cafile=certifi.where())
    known = ssl.get_default_verify_paths().cafile
    if cert and not (known and os.path.realpath(cert) == os.path.realpath(known)):
        try:
            is_folder = os.path.isdir(cert)
            context.load_verify_locations(**{"capath" if is_folder else "cafile": cert})
        except OSError as error:
            raise InputError(
                f"the certificate authorities in {cert} cannot be used: {error.strerror or error}",
                hints=["name a file in PEM format (`compatlock config` shows where the setting is from)"],
            ) from None
    return context


def _has_authorities(context: ssl.SSLContext) -> bool:
    paths = ssl.get_default_verify_paths()
    if any(os.environ.get(name) for name in _ENVIRONMENT) or (paths.capath and _lists_any(paths.capath)):
        return True
    return context.cert_store_stats()["x509_ca"] > 0


def _lists_any(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(True for _ in entries)
    except OSError:
        return False


def is_final(failure: str) -> bool:
    """Whether a failed connection would fail again: the server's certificate is not accepted."""
    return "CERTIFICATE_VERIFY_FAILED" in failure


def advice(failure: str) -> str:
    """What to do about a failed handshake; `""` when the failure is of another kind."""
    if "CERTIFICATE_VERIFY_FAILED" in failure:
        if "expired" in failure or "not yet valid" in failure:
            return "the server's certificate has expired, or this machine's clock is wrong"
        if "ostname mismatch" in failure or "IP address mismatch" in failure:
            return "the certificate is another server's: check the host in the URL"
        return (
            "set SSL_CERT_FILE (or COMPATLOCK_CERT, beside the system's) to a PEM file with the certificate "
            "authorities that this network uses"
        )
    if "[SSL" in failure or "SSL:" in failure:
        return (
            "the server does not speak TLS as this machine does: check the URL (https or http?) and the port"
        )
    return ""
