"""Six engine hosts and one management node: what histories are made of, and dumps of all that there is."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from fleet import BIN, Fleet
from runs import Run, output_of, started, wait_until
from sites import LISTING, RECORD, Site, said
from slb_lab.lab import Lab
from slb_lab.management import ManagementNode

NOTE = "/var/lib/slb-fleet/set-aside.json"
_OF_THE_GROUP = {
    "slb_engine_list": LISTING,
    "slb_wait_timeout": 12,
    "slb_settle": 1,
    "slb_stop_timeout": 1,
}
# Read by the plays, before there is a host whose variables they could heed.
_OF_THE_PLAYS = {"slb_serial": "100%"}
_CLEAN = """
for place in /etc/ansible/facts.d/* /etc/ansible/facts.d /etc/ansible /var/lib/slb-fleet; do
    while umount $place; do :; done
    chattr -R -i $place
done 2>/dev/null
rm -f /usr/local/bin/docker
docker ps -q --filter status=paused | xargs -r docker unpause >/dev/null
docker ps -aq | xargs -r docker rm --force >/dev/null
systemctl stop 'test-*' 2>/dev/null
rm -rf /etc/ansible /var/lib/slb-fleet /etc/motd /etc/motd.bak*
"""
_DUMP = """
import glob, json, os, subprocess
def said(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
ids = said("docker", "ps", "--all", "--quiet", "--no-trunc").split()
inspected = json.loads(said("docker", "inspect", *ids)) if ids else []
containers = {
    each["Id"][:12]: {
        "name": each["Name"].lstrip("/"),
        "state": each["State"]["Status"],
        "policy": each["HostConfig"]["RestartPolicy"]["Name"],
        "started": each["State"]["StartedAt"],
    }
    for each in inspected
}
files = {}
for pattern in ("/etc/ansible/**", "/var/lib/slb-fleet/**", "/etc/motd*"):
    for path in glob.glob(pattern, recursive=True):
        if os.path.isfile(path):
            files[path] = [oct(os.stat(path).st_mode), open(path).read()]
print(json.dumps({"containers": containers, "files": files}))
"""


@dataclass(frozen=True)
class HostDump:
    """``containers``: by id, with name, state, restart policy and start. ``files``: mode and content by path."""

    containers: dict[str, dict[str, str]]
    files: dict[str, list[str]]

    def is_back_from(self, before: HostDump) -> bool:
        """Whether all is as it was, but for when containers were started, and a note that stopping one was wrong."""
        unchanged = {key: {**each, "started": ""} for key, each in self.containers.items()} == {
            key: {**each, "started": ""} for key, each in before.containers.items()
        }
        others = {path: content for path, content in self.files.items() if path != NOTE}
        note = json.loads(self.files[NOTE][1]) if NOTE in self.files else {"mistaken": True}
        return unchanged and note["mistaken"] and others == before.files


@dataclass(frozen=True)
class Dump:
    """All that there is. ``engines``: the node's rows by name, without what moves by itself; ``requests``: counted."""

    hosts: dict[str, HostDump]
    engines: dict[str, dict[str, Any]]
    requests: dict[str, int]


@dataclass(frozen=True)
class History:
    """A run of a playbook, and what there was before and after it."""

    run: Run
    before: Dump
    after: Dump

    @property
    def requests(self) -> dict[str, int]:
        """What the management node was asked, by kind, where it was."""
        more = {kind: number - self.before.requests.get(kind, 0) for kind, number in self.after.requests.items()}
        return {kind: number for kind, number in more.items() if number}

    @property
    def touched(self) -> dict[str, tuple[HostDump, HostDump]]:
        """The hosts on which anything at all is otherwise, with both dumps."""
        both = ((name, self.before.hosts[name], dump) for name, dump in self.after.hosts.items())
        return {name: (earlier, later) for name, earlier, later in both if earlier != later}

    def said(self, host: str) -> str:
        """All that the run said about this host, its line in the report included."""
        return f"{said(self.run, host)} {self.run.report.get(host, '')}"

    def failed(self, *names: str) -> bool:
        """Whether the run failed for exactly these hosts, which includes those that could not be reached."""
        words = ("failed", "unreachable")
        return self.run.status != 0 and {h for h, line in self.run.report.items() if line.startswith(words)} == {*names}

    def verified_by_console(self, *names: str) -> bool:
        return all(self.run.verified_by.get(name) == "engine_list" for name in names)


class Steps:
    """A run that asks before each task, so that the moment between two tasks is the same in every run."""

    def __init__(self, process: subprocess.Popen[bytes], said: Callable[[], str]) -> None:
        self._process, self.said = process, said
        self._answered = 0

    def go_on_until(self, task: str) -> None:
        """Lets it do all tasks up to the one whose name holds these words, which it does not do."""

        def has_come() -> bool:
            # Each question is printed once more, with asterisks, when it was answered.
            questions = re.findall(
                r"^Perform task: (.*) \(N\)o\/\(y\)es\/\(c\)ontinue: (?!\*)", self.said(), re.MULTILINE
            )
            if len(questions) > self._answered:
                if task in questions[self._answered]:
                    return True
                self._answer("y")
            assert self._process.poll() is None, f"it ended before {task!r}: {self.said()}"
            return False

        wait_until(has_come, lambda: f"{task!r}, but {self.said()}", 120)

    def go_on(self) -> None:
        """Lets it do the task before which it stopped."""
        self._answer("y")

    def go_on_to_the_end(self) -> Run:
        self._answer("c")
        self._process.wait(180)
        return Run(self._process.returncode, self.said())

    def _answer(self, letter: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{letter}\n".encode())
        self._process.stdin.flush()
        self._answered += 1


def as_node_of(node: ManagementNode) -> dict[str, Any]:
    """A host's variables where this is its management node."""
    return {"slb_base_url": node.base_url, "slb_password": node.password, "slb_tls_fingerprint": node.tls_fingerprint}


class Member(Site):
    """One of the hosts. It shares the management node with the others."""

    @property
    def listed(self) -> list[str]:
        return [engine["status"] for engine in self.node.state()["engines"] if engine["address"] == self.host.address]

    def clean(self) -> None:
        self.host.exec(["sh", "-c", _CLEAN])

    def dump(self) -> HostDump:
        return HostDump(**json.loads(self.host.exec(["python3", "-c", _DUMP]).stdout))

    @property
    def note(self) -> dict[str, Any]:
        """What the collection says it took out of the way; empty if there is none."""
        text = self.file(NOTE)
        return dict(json.loads(text)) if text else {}

    @property
    def policy(self) -> str:
        return self.docker("inspect", "--format", "{{.HostConfig.RestartPolicy.Name}}", "slb")

    def alter_record(self, **fields: Any) -> None:
        """Fields of the record that are None are taken away."""
        altered = {key: value for key, value in (self.record | fields).items() if value is not None}
        self.write(RECORD, json.dumps(altered, indent=2, sort_keys=True) + "\n")

    def run_unlisted(self) -> str:
        """A container slb that the management node knows nothing of; its id."""
        return self.run_container()


class Estate:
    """The hosts, the management node, and Ansible's commands against them."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.fleet = Fleet(lab, folder)
        self.lab, self.node, self._folder = lab, lab.management_node, folder
        self._records: dict[str, dict[str, Any]] = {}
        self._members = {name: Member(host, self.node) for name, host in lab.hosts.items()}

    def __getitem__(self, name: str) -> Member:
        return self._members[name]

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    @property
    def names(self) -> list[str]:
        return list(self._members)

    def make_leftover(self, *names: str) -> None:
        """These hosts, or all, have a container that runs, of which neither a record nor the node knows."""
        self.clean(*names)
        self._each(Member.run_unlisted, names)

    def another_node(self, name: str) -> ManagementNode:
        """One more management node, which knows no engine; started."""
        (self._folder / name).mkdir(mode=0o700)
        node = ManagementNode(self._folder / name)
        node.configure(self.lab.topology, self.lab.folder.private_key)
        node.start()
        return node

    @contextmanager
    def node_frozen(self) -> Iterator[None]:
        """The management node's machine takes connections, and nobody answers there."""
        process = int((self.lab.folder.management_node / "pid").read_text())
        os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(process, signal.SIGCONT)

    @staticmethod
    def reconfigure(node: ManagementNode, **settings: object) -> None:
        """As an administrator does: whoever is logged in has to log in anew."""
        node.stop()
        path = node.certificate.parent / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))
        node.start()

    # --- what there is

    def dump(self) -> Dump:
        state = self.node.state()
        hosts = dict(zip(self._members, self._each(Member.dump), strict=True))
        shown = ("address", "status", "listed")
        engines = {each["name"]: {key: each[key] for key in shown} for each in state["engines"]}
        return Dump(hosts, engines, state["counters"])

    def in_database(self, statement: str, *values: object, node: ManagementNode | None = None) -> list[tuple[Any, ...]]:
        """What an administrator of the management node could do to its engines, past its interface."""
        folder = self.lab.folder.management_node if node is None else node.certificate.parent
        with closing(sqlite3.connect(folder / "engines.sqlite", timeout=10, isolation_level=None)) as database:
            return database.execute(statement, values).fetchall()

    # --- what happens to it

    def clean(self, *names: str) -> None:
        """These hosts, or all, are as if no engine had ever been there, and the node knows nothing of them."""
        self.node.start()
        self.node.set_faults({})
        self._each(Member.clean, names)
        for member in self._chosen(names):
            self.in_database("DELETE FROM engines WHERE name = ? OR address = ?", member.name, member.host.address)

    def make_verified(self, *names: str) -> None:
        """These hosts, or all, have an engine that the list shows, and a record as a run has written it."""
        if not self._records:
            self._deploy_once()
        self.clean(*names)
        self._each(self._repeat_deployment, names)

    def _deploy_once(self) -> None:
        self.clean()
        run = self.play("slb.fleet.rollout")
        for member in self:
            proof = member.is_verified(by="engine_list")
            assert proof, f"{member.name}: {proof}\n{run.output}"
        self._records = {member.name: member.record for member in self}

    def _repeat_deployment(self, member: Member) -> None:
        """As the node and the collection did it for this host the first time, in a fraction of the time."""
        uptime = float(member.file("/proc/uptime").split()[0])
        now = time.time()
        fresh = {"uptime": uptime, "requested_at": now, "verified_at": now + 1}
        self.list_engine(member.name, member.host.address)
        member.write(RECORD, json.dumps(self._records[member.name] | fresh | {"container_id": member.run_container()}))
        member.host.exec(["chmod", "0644", RECORD])

    def list_engine(self, name: str, address: str, status: str = "running", node: ManagementNode | None = None) -> None:
        row = (name, address, 1, status, 1)
        statement = "INSERT OR REPLACE INTO engines (name, address, credential, status, listed) VALUES (?, ?, ?, ?, ?)"
        self.in_database(statement, *row, node=node)

    def alter_engine(self, name: str, **columns: object) -> None:
        for column, value in columns.items():
            self.in_database(f"UPDATE engines SET {column} = ? WHERE name = ?", value, name)

    def forget_engine(self, name: str) -> None:
        self.in_database("DELETE FROM engines WHERE name = ?", name)

    def at_once(self, *steps: Callable[[], object]) -> list[Any]:
        with ThreadPoolExecutor(max_workers=max(1, len(steps))) as workers:
            return [future.result() for future in [workers.submit(step) for step in steps]]

    def _each(self, step: Callable[[Member], Any], names: Iterable[str] = ()) -> list[Any]:
        with ThreadPoolExecutor(max_workers=6) as workers:
            return list(workers.map(step, self._chosen(names)))

    def _chosen(self, names: Iterable[str]) -> list[Member]:
        return [self[name] for name in names] or list(self)

    # --- runs

    def history(
        self,
        playbook: str,
        *arguments: str,
        elsewhere: Iterable[str] = (),
        may_lose: Iterable[str] = (),
        **variables: Any,
    ) -> History:
        """Runs a playbook, dumps all before and after, and sees what has to hold whatever happens.

        ``elsewhere``: hosts whose engines another management node lists. ``may_lose``: hosts of which the operator has
        said that containers may be deleted.
        """
        before = self.dump()
        run = self.play(playbook, *arguments, **variables)
        history = History(run, before, self.dump())
        self.see_that_nothing_was_lost(history, {*may_lose})
        self.see_that_claims_are_true(history, variables.get("hosts") or {}, {*elsewhere})
        return history

    def see_that_nothing_was_lost(self, history: History, may_lose: set[str]) -> None:
        for name, dump in history.before.hosts.items():
            if name in may_lose:
                continue
            for identifier, container in dump.containers.items():
                later = history.after.hosts[name].containers.get(identifier)
                assert later is not None, f"{name}: {container} was deleted.\n{history.run.output}"
                if container["state"] == "running" != later["state"]:
                    assert later["name"].startswith("slb-leftover-"), f"{name}: {later}\n{history.run.output}"

    def see_that_claims_are_true(
        self, history: History, hosts: Mapping[str, Mapping[str, Any]], elsewhere: set[str]
    ) -> None:
        for name, by in history.run.verified_by.items():
            if by != "engine_list" or name in elsewhere:
                continue
            address = hosts.get(name, {}).get("ansible_host", self[name].host.address)
            address = hosts.get(name, {}).get("slb_manage_ip") or address
            engine = history.after.engines.get(hosts.get(name, {}).get("slb_engine_name") or name)
            assert engine == {"address": address, "status": "running", "listed": True}, history.run.output
            assert "running" in [
                each["state"] for each in history.after.hosts[name].containers.values() if each["name"] == "slb"
            ], history.run.output

    def play(self, playbook: str, *arguments: str, timeout: float = 240, **variables: Any) -> Run:
        """Runs a playbook to its end; ``variables`` as ``started`` takes them."""
        with self.started(playbook, *arguments, **variables) as process:
            process.wait(timeout)
            return Run(process.returncode, self.output_of(process))

    @contextmanager
    def started(
        self,
        playbook: str,
        *arguments: str,
        hosts: Mapping[str, Mapping[str, Any]] | None = None,
        extra: Mapping[str, Any] | None = None,
        asks: bool = False,
        inventory: Path | None = None,
        **group: Any,
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Starts a playbook in a process group of its own, killed at the end if it still runs.

        ``hosts``: variables of single hosts. ``group``: of all of them. ``extra``: of the command line.
        ``asks``: whether it can be answered on its standard input. ``inventory``: in place of the estate's.
        """
        inventories = (
            [f"-i{inventory}"]
            if inventory
            else [f"-i{self.fleet.inventory}", f"-i{self._inventory(hosts or {}, group)}"]
        )
        options = ["-e", json.dumps(_OF_THE_PLAYS | dict(extra or {}))]
        command = [BIN / "ansible-playbook", "--forks=6", *inventories, playbook, *arguments, *options]
        stdin = subprocess.PIPE if asks else subprocess.DEVNULL
        with started(command, self._folder, stdin, env=self.fleet.environment()) as process:
            yield process

    @contextmanager
    def stepping(self, playbook: str, *arguments: str, **variables: Any) -> Iterator[Steps]:
        """Starts a playbook that stops before each task, as Ansible's own ``--step`` does, and is killed at the end."""
        with self.started(playbook, "--step", *arguments, asks=True, **variables) as process:
            yield Steps(process, lambda: self.output_of(process))

    def kill_before(self, task: str, playbook: str, *arguments: str, **variables: Any) -> str:
        """Runs a playbook and kills it, with all its processes, when the named task would come next; what it said."""
        with self.stepping(playbook, *arguments, **variables) as steps:
            steps.go_on_until(task)
            return steps.said()

    def kill_in(self, task: str, playbook: str, *names: str, **variables: Any) -> None:
        """Runs a playbook for each of these hosts and kills it in the named task, when the host has its note of the
        request and before the node can have the request.
        """
        with ExitStack() as after, ExitStack() as runs:
            all_steps = [runs.enter_context(self.stepping(playbook, "--limit", name, **variables)) for name in names]
            self.at_once(*(lambda steps=steps: steps.go_on_until(task) for steps in all_steps))
            after.enter_context(self.node_frozen())
            for name, steps in zip(names, all_steps, strict=True):
                steps.go_on()
                wait_until(lambda name=name: self[name].record.get("state") == "requested", "the note of the request")

    def output_of(self, process: subprocess.Popen[bytes]) -> str:
        return output_of(self._folder, process)

    def _inventory(self, hosts: Mapping[str, Mapping[str, Any]], group: Mapping[str, Any]) -> Path:
        path = self._folder / f"{time.monotonic_ns()}.yml"
        content = {"hosts": {name: dict(hosts.get(name, {})) for name in self._members}, "vars": _OF_THE_GROUP | group}
        path.write_text(yaml.safe_dump({"engines": content}))
        path.chmod(0o600)
        return path
