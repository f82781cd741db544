# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A management node of its own for each test."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from .node_process import SILENT, NodeProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .client import Client


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """The host that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        yield server


@pytest.fixture
def node(tmp_path: Path, silent: socket.socket) -> Iterator[NodeProcess]:
    credential = {"username": "root", "password": "not the password"}
    credentials = [credential | {"id": 1}, credential | {"id": SILENT, "port": silent.getsockname()[1]}]
    process = NodeProcess(tmp_path, credentials=credentials)
    process.start()
    yield process
    process.kill()


@pytest.fixture
def client(node: NodeProcess) -> Client:
    """Not logged in."""
    return node.client()


@pytest.fixture
def admin(client: Client) -> Client:
    """Logged in."""
    assert client.login().status_code == 200
    return client
