"""The whole simulated world: hosts, management nodes, the inventory; and what only the world knows."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ansible_collections.slb.fleet.tests.unit.simulation.simulated_host import DAMAGED, ENGINE, Clock, Container, Host
from ansible_collections.slb.fleet.tests.unit.simulation.simulated_node import Entry, Node


@dataclass(eq=False)
class Line:
    """A line of the inventory. ``host``: where its SSH address leads."""

    label: str
    name: str
    address: str
    url: str
    host: Host
    unrecorded: str = ""
    """What the operator has set for this host alone."""
    allow_established: bool = False
    remove_leftovers: bool = False

    @property
    def wants(self) -> tuple[str, str, str]:
        return self.name, self.address, self.url


class World:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.clock = Clock()
        self.hosts: list[Host] = []
        self.lines: list[Line] = []
        self.nodes: dict[str, Node] = {}
        self._addresses = 0
        for number in range(chance.choice([1, 1, 1, 2])):
            url = f"https://node{number + 1}.example"
            self.nodes[url] = Node(
                url,
                self.clock,
                self.at,
                is_described=chance.random() < 0.65,
                notices=chance.random() < 0.4,
                blocks_failed=chance.random() < 0.3,
                page=chance.choice([0, 1, 1, 2]),
                is_paged=chance.random() < 0.3,
            )
        for _ in range(chance.choice([2, 2, 2, 3, 3, 4, 5])):
            self.add_line()

    def at(self, address: str) -> Host | None:
        """Who answers there: of two hosts with one address, the first that is up."""
        for host in self.hosts:
            if host.address == address and host.is_up:
                return host
        return None

    def node(self, line: Line) -> Node:
        return self.nodes[line.url]

    def entry(self, line: Line) -> Entry | None:
        return self.node(line).entry(line.name, line.address)

    def new_address(self) -> str:
        self._addresses += 1
        return f"10.0.0.{self._addresses}"

    def add_line(self) -> Line:
        host = Host(f"h{len(self.hosts) + 1}", self.new_address(), self.clock)
        host.booted = -self.chance.choice([100.0, 10_000.0, 5_000_000.0])
        host.own = self.chance.choice(["seen"] * 18 + ["unseen", "NAT"])
        host.facts_are_shared = self.chance.random() < 0.5
        self.hosts.append(host)
        name = f"e{len(self.lines) + 1}"
        line = Line(name, name, host.address, self.chance.choice(list(self.nodes)), host)
        self.lines.append(line)
        return line

    def make_healthy(self, line: Line, record: str = "verified") -> None:
        """An engine that was deployed long ago. ``record``: confirmed, none or damaged."""
        host = line.host
        age = self.chance.choice([400.0, 40_000.0, 4_000_000.0])
        container = host.start_engine(policy=self.chance.choice(["always", "always", "unless-stopped", "no"]))
        container.began = max(host.booted + 20, -age)
        container.started_at = host.wall + container.began
        container.established = self.chance.choice([0, 0, 0, 2])
        container.auto_remove = self.chance.random() < 0.04
        if container.auto_remove:
            container.policy = "no"
        entry = Entry(line.name, line.address, "running", container, host)
        container.entry = entry
        self.node(line).entries.append(entry)
        if record == "verified":
            host.note_pending(line.name, line.address, line.url, 1, 0, absent=False)
            verified_by = "console" if self.node(line).is_described else "host"
            for _ in host.note_confirmed(line.name, line.address, line.url, container.id, verified_by):
                pass
            assert isinstance(host.record, dict)
            host.record["uptime"] = container.began - host.booted - 10
            host.record["requested_at"] = container.started_at - 10
        elif record == "damaged":
            host.record = DAMAGED
        host.writes = 0

    def is_live(self, container: Container | None) -> bool:
        """Whether it serves as the engine of an entry that a console has."""
        if container is None or container.entry is None or container.entry.host is None:
            return False
        return bool(container.entry.host.is_live(container))

    def relink(self, host: Host) -> None:
        """After its disk has become another one: which of its containers the consoles' engines are in."""
        for node in self.nodes.values():
            for entry in node.entries:
                if entry.host is host and entry.container and entry.container.id:
                    name = host.named(entry.container.id)
                    found = host.containers[name] if name else host.containers.get(ENGINE)
                    if found is not entry.container:
                        entry.container.entry = None
                        entry.container = found
                    if found:
                        found.entry = entry
        for container in host.containers.values():
            if container.entry is not None and container.entry.container is not container:
                container.entry = None

    # Time.

    def next_event(self) -> float | None:
        due = [event for node in self.nodes.values() if (event := node.next_event()) is not None]
        return min(due) if due else None

    def pass_time(self, seconds: float) -> None:
        """Lets time go by, with what the management nodes do in it."""
        end = self.clock.now + seconds
        for _ in range(1000):
            due = None
            for node in self.nodes.values():
                if node.deployments:
                    event = node.next_event()
                    if event is not None and event <= end and (due is None or event < due[0]):
                        due = event, node
            if due is None:
                break
            self.clock.now = max(self.clock.now, due[0])
            due[1].happen()
        self.clock.now = end

    def is_quiet(self) -> bool:
        """Whether nothing is under way that would change a sight by itself within a few seconds."""
        if any(node.deployments or node.is_shifting for node in self.nodes.values()):
            return False
        containers = [container for host in self.hosts for container in host.containers.values()]
        running = [one for one in containers if not one.held]
        return not any(one.crashes_after or self.clock.now - one.began < 20 for one in running)

    def picture(self) -> str:
        """One line for a story."""
        hosts = []
        for host in self.hosts:
            live = "*" if self.is_live(host.engine) else ""
            record = host.record["state"] if isinstance(host.record, dict) else "damaged" if host.record else "none"
            aside = f" aside={host.note['id']}({host.note['because']})" if host.note else ""
            off = "" if host.is_up else " OFF"
            off += f" CUT OFF from the {host.cut_off}" if host.cut_off else ""
            hosts.append(f"{host.label}@{host.address.rpartition('.')[2]} {host.state}{live} {record}{aside}{off}")
        lists = []
        for node in self.nodes.values():
            shown = " ".join(f"{one.name}@{one.address.rpartition('.')[2]}={node.word(one)}" for one in node.entries)
            how = "" if node.is_described else " undescribed"
            lists.append(f"{node.url[8:13]}[{shown}]{how}{' ' + node.lie if node.lie else ''}")
        return "; ".join(hosts) + " | " + "; ".join(lists)
