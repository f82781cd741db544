"""What version 0.1.0 leaves on hosts is understood, or it is said what to do.

The state is left by that version's own code, from the artifact that is built of its commit.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._host import (
    containers,
    engine_container,
    motd,
    record,
    set_aside,
)
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
    galaxy(folder, "build", str(source))
    with tarfile.open(folder / "slb-fleet-0.1.0.tar.gz") as artifact:
        artifact.extractall(place, filter="data")
    return folder


def galaxy(folder: Path, *words: str) -> None:
    """``folder``: where collections are installed."""
    surroundings = {**os.environ, "ANSIBLE_HOME": str(folder), "ANSIBLE_COLLECTIONS_PATH": str(folder)}
    command = [sys.executable, "-m", "ansible.cli.galaxy", "collection", *words]
    subprocess.run(command, env=surroundings, cwd=folder, capture_output=True, check=True)


@pytest.fixture
def leave(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Leave:
    """Runs a program with the code of 0.1.0, whose folders are below ``tmp_path``, as ours are then, too."""
    monkeypatch.setattr(record, "PATH", str(tmp_path / "facts.d" / "slb_engine.fact"))
    monkeypatch.setattr(set_aside, "PATH", str(tmp_path / "lib" / "set-aside.json"))
    monkeypatch.setattr(containers, "PROGRAMS", ("docker",))
    monkeypatch.setattr(history, "FOLDER", str(tmp_path / "lib"))
    monkeypatch.setattr(transaction, "FOLDER", str(tmp_path / "run"))
    for folder in "facts.d", "lib", "run":
        (tmp_path / folder).mkdir(mode=0o700)
    head = f"""
from ansible_collections.slb.fleet.plugins.module_utils._host import containers, engine_container, motd, record
from ansible_collections.slb.fleet.plugins.module_utils._network import history, resolver, transaction
record.PATH, history.FOLDER, transaction.FOLDER = {record.PATH!r}, {history.FOLDER!r}, {transaction.FOLDER!r}
containers._PROGRAMS = ("docker",)
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


# A container runtime as far as both versions ask it: its containers are a file, name by id, and what each is.
DOCKER = """
import json, sys
from pathlib import Path
kept = Path(__file__).with_suffix(".json")
there = json.loads(kept.read_text())
verb, rest, name = sys.argv[1], sys.argv[2:], sys.argv[-1]
found = [one for one in there if name in (one["Id"], one["Name"])]
if verb == "ps":
    of = rest[rest.index("--filter") + 1].replace("name=^/?", "")
    for one in there:
        if one["Name"] == of.rstrip("$") or (of[-1] != "$" and one["Name"].startswith(of)) or of == "id=" + one["Id"]:
            print(one["Id"] if "--quiet" in rest else one["Name"])
elif verb == "container":
    print(json.dumps(found))
    sys.exit(not found)
elif verb == "rename":
    next(one for one in there if one["Id"] == rest[0])["Name"] = name
elif verb == "update":
    found[0]["HostConfig"]["RestartPolicy"]["Name"] = rest[0].partition("=")[2]
else:
    found[0]["State"]["Status"] = {"stop": "exited", "start": "running"}[verb]
kept.write_text(json.dumps(there))
"""


@pytest.fixture
def run_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Gives the host one more container slb that runs, by its id."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "docker"
    program.write_text(f"#!{sys.executable}\n{DOCKER}")
    program.chmod(0o755)
    kept = program.with_suffix(".json")
    kept.write_text("[]")
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    def run(identity: str) -> None:
        state = {"Status": "running", "StartedAt": "2026-01-01T00:00:00Z", "ExitCode": 0, "Pid": 0}
        how = {"RestartPolicy": {"Name": "always", "MaximumRetryCount": 0}, "NetworkMode": "host", "AutoRemove": False}
        container = {"Id": identity, "Name": "slb", "State": state, "HostConfig": how, "Config": {"Image": "slb:1"}}
        kept.write_text(json.dumps([*json.loads(kept.read_text()), container]))

    return run


MOVED = "engine_container.stopped(None, None, True, 1, False, False)"


def test_a_container_that_was_moved_is_named_and_not_touched(
    leave: Leave, run_container: Callable[[str], None]
) -> None:
    run_container("c0")
    leave(MOVED)
    (moved,) = containers.names("slb-leftover-")
    assert (containers.look().state, set_aside.look()) == ("absent", None)
    assert decide({"state": "absent", "id": None}).action == "add"
    seen = engine_container.restored(False, False)
    assert (seen.changed, seen.values["leftovers"]) == (False, [moved])
    assert containers.inspect("docker", "c0").state == "exited"


def test_it_is_not_taken_for_one_that_is_moved_later(leave: Leave, run_container: Callable[[str], None]) -> None:
    run_container("c0")
    leave(MOVED)
    (moved,) = containers.names("slb-leftover-")
    run_container("c1")
    assert engine_container.stopped("c1", "running", True, 1, False, "operator", False).changed
    assert engine_container.restored(False, False).changed
    back, earlier = containers.look(), containers.inspect("docker", "c0")
    assert (back.id, back.state, back.restart_policy) == ("c1", "running", "always")
    assert (earlier.name, earlier.state, earlier.restart_policy) == (moved, "exited", "no")


def test_one_that_was_stopped_and_not_moved_any_more_is_moved(
    leave: Leave, run_container: Callable[[str], None]
) -> None:
    """The run was killed between the two."""
    run_container("c0")
    leave(f"""
containers._free_name = lambda *_: exit()
{MOVED}
""")
    assert containers.look().state == "exited"
    assert engine_container.stopped("c0", "exited", True, 1, False, "ended", False).changed
    assert containers.names("slb-leftover-")
    assert containers.look().state == "absent"


def test_what_is_said_of_it_is_where_the_docs_lead() -> None:
    upgrading = (ROOT / "docs" / "operations.md").read_text().split("## Upgrading")[1].split("\n## ")[0]
    assert "slb-leftover-" in upgrading
    (anchor,) = re.findall(r"\(healing\.md#([a-z-]+)\)", upgrading)
    titles = re.findall(r"^## (.*)$", (ROOT / "docs" / "healing.md").read_text(), re.MULTILINE)
    assert anchor in [re.sub(r"[^a-z -]", "", title.lower()).replace(" ", "-") for title in titles]


def test_the_command_of_the_docs_puts_the_new_version_in_its_place(installed: Path, tmp_path: Path) -> None:
    upgrading = (ROOT / "docs" / "operations.md").read_text().split("## Upgrading")[1]
    (typed,) = re.findall(r"^ansible-galaxy collection (.*)$", upgrading, re.MULTILINE)
    galaxy(tmp_path, "install", str(installed / "slb-fleet-0.1.0.tar.gz"))
    source = tmp_path / "source"
    (source / "plugins").mkdir(parents=True)
    (source / "README.md").touch()
    about = {"namespace": "slb", "name": "fleet", "version": "1.0.0", "readme": "README.md", "authors": ["us"]}
    (source / "galaxy.yml").write_text(json.dumps(about))
    galaxy(tmp_path, "build", str(source))
    galaxy(tmp_path, *typed.split())
    there = tmp_path / "ansible_collections" / "slb" / "fleet"
    assert json.loads((there / "MANIFEST.json").read_text())["collection_info"]["version"] == "1.0.0"
    assert not (there / "plugins" / "modules").exists(), "nothing of the old one is left"


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
