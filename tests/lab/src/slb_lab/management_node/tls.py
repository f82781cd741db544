"""The certificate: made once, kept in the state folder with its authority."""

import hashlib
import ssl
from pathlib import Path

import trustme

from slb_lab.folder import write


def server_context(state: Path) -> tuple[ssl.SSLContext, str]:
    """Return TLS as this management node offers it, and the SHA-256 of its certificate in lower-case hex."""
    authority, chain = state / "ca.pem", state / "tls.pem"
    # Key and certificate are written last: where they are, their authority is.
    if not chain.exists():
        made = trustme.CA()
        write(authority, made.cert_pem.bytes())
        write(chain, made.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    pem = chain.read_text(encoding="ascii")
    return context, hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN CERT") :])).hexdigest()
