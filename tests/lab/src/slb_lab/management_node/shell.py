"""An interactive shell on a host, driven as a human would: type a command, read up to the prompt.

Before the first prompt comes whatever the host prints at login. The session searches for the prompt in a bounded
amount of output and time, so a long login banner breaks it: that is the point.
"""

import asyncio
import re
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncssh

LOGIN_SECONDS = 10.0
CLOSE_SECONDS = 2.0
PROMPT_SECONDS = 10.0
PROMPT_CHARACTERS = 4096
COMMAND_SECONDS = 60.0
COMMAND_CHARACTERS = 65536

_LOGIN_PROMPT = re.compile(r"[\w.-]+@[\w.-]+[^\n]*[#$] $")
_PROMPT = "slb-console> "
_OWN_PROMPT = re.compile(rf"(^|\n){_PROMPT}$")
_CONTROL_SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\r")

# Handshakes are what costs processor time here; this number at once.
_handshakes = asyncio.Semaphore(8)


class ConsoleError(Exception):
    """What ends a request or a deployment, in a sentence."""


class Shell:
    """Use ``open_shell``."""

    def __init__(self, address: str, process: asyncssh.SSHClientProcess[str]) -> None:
        self.address = address
        self._process = process

    async def set_up(self) -> None:
        """Wait for the host's prompt, then make it one that commands cannot print by accident."""
        await self._read_up_to(_LOGIN_PROMPT, PROMPT_SECONDS, PROMPT_CHARACTERS)
        self._type(f"stty -echo; unset PROMPT_COMMAND; PS1={shlex.quote(_PROMPT)}; export LC_ALL=C")
        await self._read_up_to(_OWN_PROMPT, PROMPT_SECONDS, PROMPT_CHARACTERS)

    async def run(self, *command: str) -> str:
        """Run a command that has to succeed; both its output streams, stripped. Raises ConsoleError."""
        self._type(f"{shlex.join(command)} 2>&1; printf '\\n%s\\n' $?")
        answer = await self._read_up_to(_OWN_PROMPT, COMMAND_SECONDS, COMMAND_CHARACTERS)
        output, _, status = answer.removesuffix(_PROMPT).strip().rpartition("\n")
        if status != "0":
            detail = f"{shlex.join(command)} ended with {status}, {output.strip()[-300:]}"
            raise ConsoleError(f"A command failed on {self.address}: {detail}.")
        return output.strip()

    def _type(self, line: str) -> None:
        self._process.stdin.write(line + "\n")

    async def _read_up_to(self, prompt: re.Pattern[str], seconds: float, characters: int) -> str:
        output = ""
        try:
            async with asyncio.timeout(seconds):
                while not prompt.search(output):
                    if len(output) >= characters:
                        raise self._no_prompt(f"not within the first {characters} characters of output")
                    received = await self._process.stdout.read(characters - len(output))
                    if not received:
                        raise self._no_prompt("the connection was closed")
                    output = _CONTROL_SEQUENCES.sub("", output + received)
        except TimeoutError:
            raise self._no_prompt(f"not within {seconds:g} seconds") from None
        except (OSError, asyncssh.Error) as error:
            raise self._no_prompt(str(error)) from error
        return output

    def _no_prompt(self, detail: str) -> ConsoleError:
        return ConsoleError(f"No shell prompt was found on {self.address}: {detail}.")


@asynccontextmanager
async def open_shell(address: str, private_key: Path) -> AsyncIterator[Shell]:
    """A shell of root that is ready for commands; raises ConsoleError."""
    try:
        async with _handshakes, asyncio.timeout(LOGIN_SECONDS):
            connection = await asyncssh.connect(
                address,
                config=None,
                known_hosts=None,  # The management node trusts each host that it deploys to.
                agent_path=None,
                username="root",
                client_keys=[str(private_key)],
            )
    except (OSError, asyncssh.Error) as error:
        detail = str(error).rstrip(".") or f"no answer within {LOGIN_SECONDS:g} seconds"
        raise ConsoleError(f"Cannot log in to {address} over SSH: {detail}.") from error
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            process = await connection.create_process(term_type="dumb", term_size=(1000, 50), errors="replace")
        shell = Shell(address, process)
        await shell.set_up()
        yield shell
    except (OSError, asyncssh.Error) as error:
        raise ConsoleError(f"The connection to {address} was lost: {error}.") from error
    finally:
        connection.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await connection.wait_closed()
        except TimeoutError:
            connection.abort()
