"""Certificates for the fake management node: one CA, and leaves that are valid, expired or for another name."""

import datetime
import hashlib
import ssl
from dataclasses import dataclass
from pathlib import Path

import trustme

_YESTERDAY = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)


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
        self._folder, self._ca = folder, trustme.CA()
        self.path = folder / "ca.pem"
        self._ca.cert_pem.write_to_path(self.path)

    def certificate(self, label: str, names: str = "localhost 127.0.0.1 ::1", expired: bool = False) -> Certificate:
        made = self._ca.issue_cert(*names.split(), not_after=_YESTERDAY if expired else None)
        found = Certificate(self._folder / f"{label}.pem", self._folder / f"{label}.key")
        made.cert_chain_pems[0].write_to_path(found.chain)
        made.private_key_pem.write_to_path(found.key)
        return found
