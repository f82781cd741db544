"""A forwarding proxy that knows CONNECT only."""

import contextlib
import socket
import ssl
import threading
from dataclasses import dataclass, field

from certificates import Certificate


@dataclass
class Proxy:
    """``refuses``: it answers 407. ``certificate``: it uses TLS itself. ``heads``: of the CONNECT requests."""

    refuses: bool = False
    certificate: Certificate | None = None
    heads: list[bytes] = field(default_factory=list)

    def __enter__(self) -> "Proxy":
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), self._greeted(client) as client:
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(65536)
            self.heads.append(head)
            if self.refuses:
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
                return
            host, _, port = head.split()[1].decode().rpartition(":")
            with socket.create_connection((host.strip("[]"), int(port))) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_copy, args=(server, client), daemon=True)
                back.start()
                _copy(client, server)
                back.join(10)

    def _greeted(self, client: socket.socket) -> socket.socket:
        if self.certificate is None:
            return client
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate.chain, self.certificate.key)
        return context.wrap_socket(client, server_side=True)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
