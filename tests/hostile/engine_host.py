"""Engine hosts over real SSH, on loopback: well-behaved ones, and ones that answer with whatever lie a test gives them.

One server for all; the user who logs in says which host is meant. No command is ever run: the server knows what Ansible
asks, a shell's few commands and modules whose payload holds their names and arguments, and makes up the answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import asyncssh
from engine_modules import Engine, arguments_in, module_in

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    Process = asyncssh.SSHServerProcess[bytes]
    Lie = Callable[["Ask", "Reply"], "Reply"]

# What Ansible asks of a shell, and sends nothing along with; everything else is a Python that gets a module to run.
_OF_A_SHELL = re.compile(r"umask 77|rm -f|chmod|\becho\b|command -v|AnsiballZ_|setfacl|chown")
_TEMPORARY = re.compile(r"echo (ansible-tmp-[\d.-]+)=")


@dataclass(frozen=True)
class Ask:
    """What a host is asked. ``module``: the name of the module that it is given, empty for a command of the shell."""

    host: str
    command: str
    module: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    number: int = 1
    """Which of the asks to this host for this module it is."""


@dataclass(frozen=True)
class Reply:
    """What a host answers. ``then``: what it does after that, and instead of ending."""

    stdout: bytes = b""
    stderr: bytes = b""
    status: int = 0
    signal: str = ""
    then: Callable[[Process], Awaitable[None]] | None = None


def result(values: Mapping[str, Any], status: int = 0) -> Reply:
    """As a module that ended prints it."""
    return Reply(json.dumps(values).encode() + b"\n", status=status)


# What older versions of ansible-core ask of a Python once they have found it.
_PLATFORM = result({"platform_dist_result": [], "osrelease_content": "ID=debian\nVERSION_ID=12"})


class EngineHosts:
    """``lies``: by the names of the hosts. Hosts that are not in it are well-behaved.

    ``verified_at``: by the names of those whose engines are healthy already, their management node. ``addresses``: of
    loopback, at all of which the server listens, on one port.
    """

    def __init__(
        self,
        folder: Path,
        lies: Mapping[str, Lie] | None = None,
        verified_at: Mapping[str, str] | None = None,
        addresses: tuple[str, ...] = ("127.0.0.1",),
    ) -> None:
        self._folder, self._addresses = folder, addresses
        self._lies = dict(lies or {})
        self._engines = {host: Engine(host, base_url) for host, base_url in (verified_at or {}).items()}
        self._files: dict[tuple[str, str], bytes] = {}
        self._asks: Counter[tuple[str, str]] = Counter()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> EngineHosts:
        self._folder.mkdir()
        self._key = asyncssh.generate_private_key("ssh-ed25519")
        host_key = asyncssh.generate_private_key("ssh-ed25519")
        self._key.write_private_key(self._folder / "key")
        (self._folder / "key").chmod(0o600)
        self._thread.start()
        self._servers: list[Any] = []
        self._port = 0
        for address in self._addresses:
            server = self._wait(
                asyncssh.create_server(
                    lambda: _Login(self._key), address, self._port, server_host_keys=[host_key],
                    process_factory=self._serve, encoding=None, keepalive_interval=0,
                )
            )  # fmt: skip
            self._servers.append(server)
            self._port = server.sockets[0].getsockname()[1]
        public = host_key.export_public_key().decode()
        known = "".join(f"[{address}]:{self._port} {public}" for address in self._addresses)
        (self._folder / "known_hosts").write_text(known)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._wait(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def variables(self, host: str) -> dict[str, Any]:
        """How Ansible reaches the host."""
        options = f"-F none -o UserKnownHostsFile={self._folder}/known_hosts -o StrictHostKeyChecking=yes"
        return {
            "ansible_connection": "ssh",
            "ansible_host": "127.0.0.1",
            "ansible_port": self._port,
            "ansible_user": host,
            "ansible_ssh_private_key_file": str(self._folder / "key"),
            # No connection outlives its task: what is left of a run is what should not be.
            "ansible_ssh_args": f"{options} -o ControlMaster=no -o IdentitiesOnly=yes",
        }

    def _wait(self, work: Awaitable[Any]) -> Any:
        async def done() -> Any:
            return await work

        return asyncio.run_coroutine_threadsafe(done(), self._loop).result(30)

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, process: Process) -> None:
        with contextlib.suppress(asyncssh.Error, OSError):
            reply = await self._reply(process)
            process.stderr.write(reply.stderr)
            process.stdout.write(reply.stdout)
            await process.stdout.drain()
            if reply.then:
                await reply.then(process)
            elif reply.signal:
                process.exit_with_signal(reply.signal)
            else:
                process.exit(reply.status)

    async def _reply(self, process: Process) -> Reply:
        host, command = process.get_extra_info("username"), process.command or ""
        payload = self._file_that_is_run(host, command)
        is_transfer = " of=" in command
        if not payload and (is_transfer or not _OF_A_SHELL.search(command)):
            payload = await process.stdin.read()
        if is_transfer:
            self._files[host, command.partition(" of=")[2].split()[0].strip("'\"")] = payload
            payload = b""
        ask = self._understood(host, command, payload)
        honest = _PLATFORM if b"platform_dist_result" in payload else self._honest(ask)
        return self._lies[host](ask, honest) if host in self._lies else honest

    def _file_that_is_run(self, host: str, command: str) -> bytes:
        if "chmod" in command or "rm -f" in command:
            return b""
        return next((file for (of, path), file in self._files.items() if of == host and path in command), b"")

    def _understood(self, host: str, command: str, payload: bytes) -> Ask:
        module = module_in(payload)
        self._asks[host, module] += 1
        return Ask(host, command, module, arguments_in(payload) if module else {}, self._asks[host, module])

    def _honest(self, ask: Ask) -> Reply:
        if ask.module:
            return result(self._engines.setdefault(ask.host, Engine(ask.host)).answer(ask.module, ask.arguments))
        if found := _TEMPORARY.search(ask.command):
            return Reply(f"{found[1]}=/home/{ask.host}/.ansible/tmp/{found[1]}\n".encode())
        if "command -v" in ask.command:
            platform = "PLATFORM\nLinux\n" if "PLATFORM" in ask.command else ""
            return Reply(f"{platform}FOUND\n/usr/bin/python3\nENDFOUND\n".encode())
        if "echo ~" in ask.command:
            return Reply(f"/home/{ask.host}\n".encode())
        return Reply()


class _Login(asyncssh.SSHServer):
    """Accept the key of the test for every user."""

    def __init__(self, key: asyncssh.SSHKey) -> None:
        self._public = key.public_data

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return key.public_data == self._public
