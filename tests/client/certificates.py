"""Certificates for the fake management node: one CA, and leaves that are valid, expired or for another name."""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from pathlib import Path

_NOW = datetime.datetime.now(datetime.timezone.utc)
_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Certificate:
    """Files in PEM format. ``fingerprint``: SHA-256 of the certificate, as openssl prints it."""

    chain: Path
    key: Path

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(self.chain.read_text())).digest().hex(":").upper()


class Authority:
    """A CA; ``path`` is its certificate, for ``ca_path``."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._key = folder, ec.generate_private_key(ec.SECP256R1())
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        self.path = folder / "ca.pem"
        self._write(self.path, "Test CA", self._key, 1, usage)

    def certificate(self, label: str, names: str = "localhost 127.0.0.1 ::1", expired: bool = False) -> Certificate:
        key = ec.generate_private_key(ec.SECP256R1())
        found = Certificate(self._folder / f"{label}.pem", self._folder / f"{label}.key")
        alternatives = x509.SubjectAlternativeName([_general_name(name) for name in names.split()])
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        self._write(found.chain, label, key, -1 if expired else 1, alternatives, issuer)
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        found.key.write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
        return found

    def _write(
        self, path: Path, name: str, key: ec.EllipticCurvePrivateKey, days: int, *extensions: x509.ExtensionType
    ) -> None:
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test CA")]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(_NOW - 10 * _DAY)
            .not_valid_after(_NOW + days * _DAY)
            .add_extension(x509.BasicConstraints(ca=key is self._key, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.KeyUsage))
        path.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
