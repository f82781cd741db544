"""Hosts behind one management node, brought into the situations of the table, and whole dumps of what there is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import yaml
from fleet import Fleet
from runs import Run, wait_until
from sites import RECORD, Site

LONG_AGO = 100_000.0
_CLEAN = f"""
rm -f /usr/local/bin/docker
for folder in /etc/ansible/facts.d /var/lib/slb-fleet; do
    while umount $folder 2>/dev/null; do :; done
done
docker ps -aq | xargs -r docker rm --force >/dev/null
systemctl stop 'test-*' 2>/dev/null
rm -rf {RECORD} /var/lib/slb-fleet /etc/motd.bak*
: > /etc/motd
"""
_NOTE = """
import json, os, sys, time
path, noted, age = sys.argv[1], json.loads(sys.argv[2]), float(sys.argv[3])
with open("/proc/sys/kernel/random/boot_id") as stream:
    noted["boot_id"] = stream.read().strip()
# Of an earlier request where the machine has not been up for so long, in another boot.
noted["uptime"] = time.clock_gettime(7) - age
if noted["uptime"] < 0:
    noted["boot_id"], noted["uptime"] = "an earlier one", 1.0
noted["requested_at"] = time.time() - age
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "w") as stream:
    json.dump(noted, stream)
"""
_FORM = "{{.Id}} {{.Name}} {{.State.Status}} {{.State.StartedAt}} {{json .HostConfig.RestartPolicy}}"
_DUMP = f"""
/usr/bin/docker ps --all --quiet --no-trunc | sort | xargs -r /usr/bin/docker inspect --format '{_FORM}'
for place in /etc/ansible /var/lib/slb-fleet /etc/motd*; do
    [ -e $place ] || continue
    find $place -printf '%p %y %m %u %s %T@ %l\\n' | sort
    find $place -type f -exec sha256sum {{}} + | sort
done
"""


class Ward(Site):
    """One host. Its management node is that of all the others, too."""

    def clean(self) -> None:
        self.host.exec(["sh", "-c", _CLEAN])

    def dump(self) -> str:
        """All that a run could change on the host."""
        return self.host.exec(["sh", "-c", _DUMP]).stdout

    def note(self, state: str, age: float = LONG_AGO, **noted: Any) -> None:
        """Writes the record, of a request that is ``age`` seconds old."""
        wanted = {"name": self.name, "manage_ip": self.host.address, "base_url": self.node.base_url}
        known = {**wanted, "state": state, "container_id": None, "verified_by": None, **noted}
        self.host.exec(["python3", "-c", _NOTE, RECORD, json.dumps(known), str(age)])

    def exit(self) -> None:
        self.docker("kill", "slb")

    def run_and_exit(self) -> None:
        self.run_container()
        self.exit()

    def prove(self) -> None:
        self.run_container()
        self.note("verified", container_id=self.engine, verified_by="host", verified_at=1.0)

    def restart_by_itself(self) -> None:
        """Until its runtime has started it again."""
        state = "{{.State.StartedAt}} {{.State.Status}} {{.State.Pid}} {{.State.Error}}"

        def seen() -> list[str]:
            return self.docker("inspect", "--format", state, "slb").split(maxsplit=3)

        started, _, pid, *_ = seen()
        self.host.exec(["kill", "-9", pid])
        wait_until(lambda: seen()[0] != started and seen()[1] == "running", lambda: f"{seen()}, not started again", 60)

    def be_listed(self, status: str, name: str = "", address: str = "") -> None:
        """In the database of the management node: how it came to be there does not matter here."""
        node = self.node
        with closing(sqlite3.connect(node._folder / "engines.sqlite", timeout=20, isolation_level=None)) as database:
            database.execute(
                "INSERT INTO engines (name, address, credential, status) VALUES (?, ?, 1, ?)",
                (name or self.name, address or self.host.address, status),
            )


@dataclass(frozen=True)
class Case:
    """A row of the table: how it comes about, what is decided, and what is said of it.

    ``variables``: of the host. ``again``: what passes with time is brought about again before the real run.
    ``is_restless``: its runtime restarts the container meanwhile.
    """

    row: str
    action: str
    words: str
    bring_about: Callable[[Ward], object] = lambda ward: None
    variables: Mapping[str, Any] = field(default_factory=dict)
    again: Callable[[Ward], object] = lambda ward: None
    is_restless: bool = False


class Wards:
    """All hosts of the lab, and one scene after the other played on them."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet, self.node = fleet, fleet.lab.management_node
        self._wards = {name: Ward(host, self.node) for name, host in fleet.lab.hosts.items()}
        self._inventory = yaml.safe_load(fleet.inventory.read_text())

    def __getitem__(self, host: str) -> Ward:
        return self._wards[host]

    @property
    def names(self) -> list[str]:
        return list(self._wards)

    def each(self, step: Callable[[Ward], Any], hosts: list[str] | None = None) -> dict[str, Any]:
        names = self.names if hosts is None else hosts
        with ThreadPoolExecutor(max_workers=5) as workers:
            return dict(zip(names, workers.map(lambda name: step(self._wards[name]), names), strict=True))

    def clean(self) -> None:
        self.each(Ward.clean)
        for engine in self.node.state()["engines"]:
            self.node.forget(engine["name"])
        self.node.set_faults({})
        self.node.reset_counters()

    def prepare(self, cases: Mapping[str, Case], variables: Mapping[str, Any]) -> None:
        """Brings the hosts into their situations. ``variables``: of all hosts, those of a case go before."""
        self.clean()
        self.each(lambda ward: cases[ward.name].bring_about(ward), list(cases))
        inventory = json.loads(json.dumps(self._inventory))
        group = inventory["engines"]
        group["vars"].update(variables)
        group["hosts"] = {name: {**group["hosts"][name], **cases[name].variables} for name in cases}
        self.fleet.inventory.write_text(yaml.safe_dump(inventory))

    def bring_about_again(self, cases: Mapping[str, Case]) -> None:
        self.each(lambda ward: cases[ward.name].again(ward), list(cases))

    def dumps(self, cases: Mapping[str, Case]) -> dict[str, str]:
        """Of each host, and of the management node. What the runtime itself goes on doing is left out."""

        def dump(ward: Ward) -> str:
            seen = ward.dump()
            if not cases[ward.name].is_restless:
                return seen
            return "\n".join(line for line in seen.splitlines() if not line[:64].isalnum())

        state = self.node.state()
        asked = {"engines": state["engines"], "install": state["counters"].get("install", 0)}
        return {**self.each(dump, list(cases)), "the management node": json.dumps(asked)}

    def play(self, playbook: str, *arguments: str) -> Run:
        return self.fleet.play(playbook, "--forks=10", *arguments, timeout=180)
