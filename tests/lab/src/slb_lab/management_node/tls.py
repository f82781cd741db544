"""The self-signed certificate: made once, kept in the state folder."""

import hashlib
import ipaddress
import ssl
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from slb_lab.folder import write


def server_context(state: Path) -> ssl.SSLContext:
    """TLS as this management node offers it; makes the key and the certificate where they are missing."""
    certificate, key = _certificate_path(state), state / "tls.key"
    # The certificate is written last: where it is, its key is there too.
    if not certificate.exists():
        _make(certificate, key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def fingerprint(state: Path) -> str:
    """SHA-256 of the certificate in DER form, in lower-case hex."""
    der = ssl.PEM_cert_to_DER_cert(_certificate_path(state).read_text(encoding="ascii"))
    return hashlib.sha256(der).hexdigest()


def _certificate_path(state: Path) -> Path:
    return state / "tls.crt"


def _make(certificate: Path, key: Path) -> None:
    private_key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    addresses = [x509.IPAddress(ipaddress.ip_address(a)) for a in ("127.0.0.1", "::1")]
    now = datetime.now(timezone.utc)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private_key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=3650))
        .add_extension(x509.SubjectAlternativeName([*addresses, x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(private_key, hashes.SHA256())
    )
    write(
        key,
        private_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
    )
    write(certificate, signed.public_bytes(serialization.Encoding.PEM))
