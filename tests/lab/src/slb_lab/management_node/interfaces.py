"""Which interfaces of a host the console offers: those that NetworkManager there really controls."""

import asyncio
import re

import asyncssh

from slb_lab.management_node import messages
from slb_lab.management_node.config import Credential
from slb_lab.management_node.errors import ConsoleError
from slb_lab.management_node.shell import connect

_QUERY = "LC_ALL=C nmcli -t -f DEVICE,STATE,CONNECTION device"
_QUERY_SECONDS = 15.0


async def selectable(address: str, credential: Credential) -> list[str]:
    """Names of the interfaces that can be selected, sorted. Raises ConsoleError."""
    async with connect(address, credential) as connection:
        try:
            async with asyncio.timeout(_QUERY_SECONDS):
                answer = await connection.run(_QUERY, check=True)
        except asyncssh.ProcessError as error:
            detail = f"nmcli ended with {error.exit_status}, {str(error.stderr).strip()}"
            raise ConsoleError(messages.COMMAND_FAILED, address=address, detail=detail) from error
        except (OSError, asyncssh.Error) as error:
            detail = str(error) or f"nmcli did not end within {_QUERY_SECONDS:g} seconds"
            raise ConsoleError(messages.COMMAND_FAILED, address=address, detail=detail) from error
    return parse(str(answer.stdout))


def parse(table: str) -> list[str]:
    """Interfaces with an active connection of NetworkManager's own, from nmcli's terse table.

    One that is "connected (externally)" is only watched by NetworkManager, one that still waits for DHCP is
    not connected yet: neither counts.
    """
    rows = (_fields(line) for line in table.splitlines())
    return sorted(device for device, state, connection in rows if state == "connected" and connection)


def _fields(line: str) -> tuple[str, str, str]:
    device, state, connection = (re.sub(r"\\(.)", r"\1", field) for field in re.split(r"(?<!\\):", line, maxsplit=2))
    return device, state, connection
