# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a stop, a kill and a restart leave, and what bad configurations say."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from .node_process import NOBODY, SILENT

if TYPE_CHECKING:
    from pathlib import Path

    from .client import Client
    from .node_process import NodeProcess


def test_sigterm_ends_it_cleanly(node: NodeProcess) -> None:
    assert node.terminate() == 0


@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_a_restart_keeps_engines_address_and_certificate_but_no_session(
    node: NodeProcess, admin: Client, end: str
) -> None:
    admin.install("edge-1", NOBODY)
    before = admin.ended("edge-1")
    ready = node.ready()

    getattr(node, end)()
    node.start()

    assert {k: v for k, v in node.ready().items() if k != "pid"} == {k: v for k, v in ready.items() if k != "pid"}
    assert admin.license().status_code == 302
    admin.login()
    assert admin.engines()["edge-1"] == before


@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_a_deployment_under_way_is_failed_after_a_restart(node: NodeProcess, admin: Client, end: str) -> None:
    admin.faults(errors="later")
    admin.install("edge-1", "127.0.0.1", credential=SILENT)
    assert admin.engines()["edge-1"]["status"] == "deploying"

    getattr(node, end)()
    node.start()

    admin.login()
    item = admin.engines()["edge-1"]
    assert item["status"] == "failed"
    assert item["message"] == "The management node was restarted during the deployment."


def test_faults_are_off_after_a_restart(node: NodeProcess, client: Client) -> None:
    client.faults(errors_5xx=50)
    node.kill()
    node.start()

    assert client.login().status_code == 200


def test_what_it_keeps_is_for_its_owner_alone(node: NodeProcess) -> None:
    for name in ("tls.key", "ready.json"):
        assert stat.S_IMODE((node.state / name).stat().st_mode) == 0o600


def test_no_secret_is_logged(node: NodeProcess, admin: Client) -> None:
    admin.install("edge-1", NOBODY)
    admin.ended("edge-1")
    node.terminate()

    cookie = admin.session.cookies["sessionid"]
    assert "edge-1" in node.log()
    for secret in ("correct horse", "not the password", cookie):
        assert secret not in node.log()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"port": "high"}, "port: "),
        ({"language": "fr"}, "language: "),
        ({"languages": "en"}, "languages: "),
        ({"credentials": [{"id": 1, "username": "root"}]}, "give either 'private_key' or 'password'"),
        ({"engine": {"port": 0}}, "engine.port: "),
    ],
)
def test_a_bad_configuration_is_named_in_one_line(tmp_path: Path, change: dict[str, object], said: str) -> None:
    good = {"state": str(tmp_path), "username": "admin", "password": "secret-1", "credentials": [], "license": "x"}
    config = tmp_path / "config.json"
    config.write_text(json.dumps(good | change), encoding="utf-8")

    outcome = _run(config)

    assert outcome.returncode == 1
    assert outcome.stderr.startswith(f"The configuration {config} cannot be used. ")
    assert said in outcome.stderr
    assert "secret-1" not in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_a_port_that_is_taken_is_said(node: NodeProcess, tmp_path: Path) -> None:
    taken = int(node.ready()["base_url"].rpartition(":")[2])
    config = tmp_path / "second.json"
    config.write_text(json.dumps(json.loads(node.config.read_bytes()) | {"port": taken}), encoding="utf-8")

    outcome = _run(config)

    assert outcome.returncode == 1
    assert f"Cannot listen on 127.0.0.1, port {taken}: " in outcome.stderr
    assert "Traceback" not in outcome.stderr


def _run(config: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "slb_lab.management_node", str(config)],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
