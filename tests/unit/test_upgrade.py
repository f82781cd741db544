"""What version 0.1.0 leaves on hosts is understood, or it is said what to do.

The state is left by that version's own code, from the artifact that is built of its commit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._host import motd, record
from ansible_collections.slb.fleet.plugins.module_utils._network import giving_back, history, transaction
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import EngineIdentity, Policy
from ansible_collections.slb.fleet.plugins.plugin_utils._fate import fate
from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Progress
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore
from ansible_collections.slb.fleet.tests.unit.network.shown import inet, route, state

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "74399c12b720"
NODE = "https://console.example"
ENGINE = EngineIdentity("edge-1", "192.0.2.11", NODE)
LISTED = {"name": "edge-1", "address": "192.0.2.11", "state": "running", "console_state": "up"}
OTHER = {"name": "far-away", "address": "198.51.100.1", "state": "running", "console_state": "up"}
Leave = Callable[[str], None]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collection as 0.1.0 had it, built into its artifact and unpacked from it."""
    folder = tmp_path_factory.mktemp("old")
    if subprocess.run(["git", "-C", ROOT, "cat-file", "-e", COMMIT], capture_output=True, check=False).returncode:
        pytest.skip("This tree is a copy without the history that has 0.1.0.")
    source, place = folder / "source", folder / "ansible_collections" / "slb" / "fleet"
    source.mkdir()
    place.mkdir(parents=True)
    packed = subprocess.run(["git", "-C", ROOT, "archive", COMMIT], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", source], input=packed, check=True)
    build = [
        sys.executable,
        "-m",
        "ansible.cli.galaxy",
        "collection",
        "build",
        str(source),
        "--output-path",
        str(folder),
    ]
    subprocess.run(build, env={**os.environ, "ANSIBLE_HOME": str(folder)}, capture_output=True, check=True)
    with tarfile.open(folder / "slb-fleet-0.1.0.tar.gz") as artifact:
        artifact.extractall(place, filter="data")
    return folder


@pytest.fixture
def leave(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Leave:
    """Runs a program with the code of 0.1.0, whose folders are below ``tmp_path``, as ours are then, too."""
    monkeypatch.setattr(record, "PATH", str(tmp_path / "facts.d" / "slb_engine.fact"))
    monkeypatch.setattr(history, "FOLDER", str(tmp_path / "lib"))
    monkeypatch.setattr(transaction, "FOLDER", str(tmp_path / "run"))
    for folder in "facts.d", "lib", "run":
        (tmp_path / folder).mkdir(mode=0o700)
    head = f"""
from ansible_collections.slb.fleet.plugins.module_utils._host import motd, record
from ansible_collections.slb.fleet.plugins.module_utils._network import history, resolver, transaction
record.PATH, history.FOLDER, transaction.FOLDER = {record.PATH!r}, {history.FOLDER!r}, {transaction.FOLDER!r}
"""

    def run(program: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(installed)}
        subprocess.run([sys.executable, "-c", head + program], env=environment, cwd=tmp_path, check=True)

    return run


def decide(container: dict[str, Any], *reading: dict[str, Any]) -> Decision:
    """About a host with the record that lies there now; without a reading, the list is not described."""
    running = {"state": "running", "id": "c1", "uptime": 900.0, "established": 0, "after_request": None}
    seen = {"engine_container": {**running, **container}, "record": record.read(), "ports": [], "set_aside": None}
    described = list(reading) or None
    return fate("edge-1", seen, ENGINE, described, Policy(), Progress(), RunStore.in_memory(), None, False)


CONFIRMED = """
record.pending("edge-1", "192.0.2.11", 1, False)
record.confirmed("edge-1", "192.0.2.11", "c1", "console", False)
"""


def test_a_proof_is_completed_where_the_list_shows_the_engine(leave: Leave) -> None:
    leave(CONFIRMED)
    assert record.read()["base_url"] is None
    decided = decide({}, LISTED)
    assert (decided.action, decided.verified_by) == ("confirm", "console")
    record.confirmed("edge-1", "192.0.2.11", NODE, "c1", "console", False)
    assert decide({}, LISTED).action == "nothing"


def test_a_proof_that_names_no_management_node_stops_nothing_and_says_what_to_do(leave: Leave) -> None:
    leave(CONFIRMED)
    decided = decide({})
    assert decided.action == "fail"
    assert "slb_unrecorded_engine" in decided.reason


def test_a_proven_engine_that_the_list_lacks_is_not_stopped(leave: Leave) -> None:
    leave(CONFIRMED)
    assert decide({}, OTHER).action == "fail"


def test_the_wait_of_a_run_that_was_killed_after_its_request_is_joined(leave: Leave) -> None:
    leave('record.pending("edge-1", "192.0.2.11", 1, False)')
    decided = decide({"state": "absent", "id": None}, OTHER)
    assert decided.action == "wait", decided.reason


@pytest.mark.parametrize("killed", [False, True])
def test_a_message_that_was_moved_aside_comes_back(leave: Leave, tmp_path: Path, killed: bool) -> None:
    message = tmp_path / "motd"
    message.write_text("long\n" * 400)
    # Killed between the new name and the end of the old one: both are there, for one file.
    paths = f"{str(message)!r}, {f'{message}.bak'!r}"
    half = f"import os; motd._note({paths}); os.link({paths})"
    leave(half if killed else f"motd.aside({str(message)!r}, False)")
    assert motd.restored(str(message), None, False).changed
    assert message.read_text() == "long\n" * 400
    assert not Path(f"{message}.bak").exists()


def test_an_adopted_interface_can_be_given_back(leave: Leave) -> None:
    before = {
        "kernel": {"ens9": state([inet("10.9.0.2/24")], [route("10.9.0.0/24")])},
        "uppers": {"ens9": []},
        "devices": {"ens9": {"state": "unmanaged", "managed": False, "uuid": ""}},
        "profiles": {},
        "uuids": [],
        "files": {},
        "resolver": None,
    }
    leave(f"""
import json
transaction.write("snapshot.json", json.loads({json.dumps(before)!r}))
history.remember({{"name": "ens9", "uuid": "u1", "files": [], "made": True, "returns_at_boot": False}})
""")
    note = history.of("ens9")
    assert note is not None
    assert (note["uuid"], note["made"], history.passing()) == ("u1", True, ["ens9"])
    assert giving_back._former("ens9", note) == {"state": "unmanaged", "addresses": ["10.9.0.2/24"]}


def test_a_change_of_interfaces_that_was_under_way_is_known(leave: Leave) -> None:
    leave("""transaction.set_status({"token": "t", "state": transaction.APPLIED, "deadline": 1.0, "armed_at": 0.0})""")
    status = transaction.status()
    assert status is not None
    assert (status["token"], status["state"] in transaction.UNDECIDED) == ("t", True)
