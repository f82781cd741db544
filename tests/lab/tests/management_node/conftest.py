# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A management node of its own for each test."""

import socket

import pytest

from .node_process import SILENT, NodeProcess


@pytest.fixture
def silent():
    """The host that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        yield server


@pytest.fixture
def node(tmp_path, silent):
    credential = {"username": "root", "password": "not the password"}
    credentials = [credential | {"id": 1}, credential | {"id": SILENT, "port": silent.getsockname()[1]}]
    process = NodeProcess(tmp_path, credentials=credentials)
    process.start()
    yield process
    process.kill()


@pytest.fixture
def client(node):
    """Not logged in."""
    return node.client()


@pytest.fixture
def admin(client):
    """Logged in."""
    assert client.login().status_code == 200
    return client
