"""The operator who reads a reason and does what it says, knowing what a person sees on the host and in the console.

A remedy is done only where the reason's words name it, and only where it makes sense in this world. So a reason that
names no way out, or the wrong one, leaves its host as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from ansible_collections.slb.fleet.tests.unit.simulation.driver import Course
from ansible_collections.slb.fleet.tests.unit.simulation.simulated_host import ENGINE, Container
from ansible_collections.slb.fleet.tests.unit.simulation.simulated_node import Entry, Node
from ansible_collections.slb.fleet.tests.unit.simulation.world import Line, World

_MOST_CORRECTIONS = 6
"""Of one line of the inventory; after that, the operator tries what else the reason says."""


class Operator:
    """``policy`` is the fleet's, in which the operator may set something."""

    def __init__(self, world: World, policy: dict[str, object]) -> None:
        self._world = world
        self._policy = policy
        self.to_remediate: list[Line] = []
        self._corrected: Counter[Line] = Counter()
        self._failed: Counter[Line] = Counter()
        """How often the same thing has failed: who sees it again asks why."""
        self._started: list[Container] = []
        self._ran_again: set[Line] = set()
        """Listed as running when it was looked at: whoever is told again that it failed believes that."""
        self.has_mended = False
        """Whether anything was done since the last run, which may have helped another host, too."""

    def mend(self, line: Line, course: Course) -> list[str]:
        """What was done about a host that failed."""
        if course.failure:
            return list(self._mend_connection(line, course.failure))
        reason = course.decision.reason
        for words, remedy in _REMEDIES:
            if re.search(words, reason, re.IGNORECASE):
                done = remedy(self, line)
                if done:
                    self.has_mended = True
                    return [done]
        if self.has_mended or re.search(r"again|wait", reason, re.IGNORECASE):
            return ["runs it again"]
        return []

    def _mend_connection(self, line: Line, failure: str) -> Iterator[str]:
        host = line.host
        if not host.is_up:
            host.switch_on()
            yield "powers the host on"
        if host.cut_off:
            host.cut_off = ""
            yield "mends the network"
        for words, remedy in _REMEDIES:
            if re.search(words, failure, re.IGNORECASE) and (done := remedy(self, line)):
                yield done
                return
        yield "runs it again"

    # What a person sees.

    def _node(self, line: Line) -> Node:
        return self._world.node(line)

    def _entries(self, line: Line) -> list[Entry]:
        """Of its name or address."""
        return [one for one in self._node(line).entries if one.name == line.name or one.address == line.address]

    def _is_live(self, line: Line) -> bool:
        return self._serves(line.host.engine)

    def _serves(self, container: Container | None) -> bool:
        """Who looks for a minute sees that one crashes again and again, whatever it is at the moment."""
        return self._world.is_live(container) and not (container and container.crashes_after)

    def _is_right(self, line: Line) -> bool:
        """Whether the console has the engine that runs here as the inventory has it."""
        entry = self._world.entry(line)
        return self._is_live(line) and entry is line.host.engine.entry and line.host.address == line.address

    # Remedies.

    def record(self, line: Line) -> str | None:
        if isinstance(line.host.record, str):
            if any(one.host is line.host for node in self._world.nodes.values() for one in node.deployments):
                self._world.pass_time(600)
            line.host.record = None
            return "removes the damaged record"
        return None

    def disk(self, line: Line) -> str | None:
        if line.host.disk:
            line.host.disk = ""
            return "makes room"
        return None

    def root(self, line: Line) -> str | None:
        if not line.host.root:
            line.host.root = True
            return "sets become"
        return None

    def rename(self, line: Line) -> str | None:
        """What the record proves has another name, which a person has given it."""
        host = line.host
        name = host.named(host.record["container_id"]) if isinstance(host.record, dict) else None
        if name is None or name == ENGINE:
            return None
        if host.engine is None:
            host.containers[ENGINE] = host.containers.pop(name)
            return f"renames {name} to {ENGINE}"
        if self._is_live(line) or not self._serves(host.containers[name]):
            del host.containers[name]
            return f"removes {name}, which serves nobody"
        host.stop(host.engine)
        host.containers[ENGINE] = host.containers.pop(name)
        return f"removes {ENGINE}, which serves nobody, and renames {name} to {ENGINE}"

    def swapped(self, line: Line) -> str | None:
        """The record proves the container for another engine: the inventory is wrong, or else the record is."""
        done = self.inventory(line)
        if done is None and isinstance(line.host.record, dict):
            line.host.record = None
            done = "finds the inventory right, and removes the record"
        return done

    def runtime(self, line: Line) -> str | None:
        if line.host.runtime_is_down:
            line.host.runtime_is_down = False
            return "starts docker"
        return None

    def port(self, line: Line) -> str | None:
        if line.host.foreign_port:
            line.host.foreign_port = False
            return "frees the port"
        return None

    def listing(self, line: Line) -> str | None:
        """The list is compared with the console, and its description or the console's account is corrected."""
        node = self._node(line)
        if not node.is_up:
            node.is_up = True
            return "brings the management node back"
        if node.lie:
            node.lie = ""
            return "corrects the description of the list"
        return None

    def refresh(self, line: Line) -> str | None:
        for entry in self._entries(line):
            if entry.is_stuck:
                entry.is_stuck = False
                return "refreshes the console"
            if entry.state == "deploying":
                self._world.pass_time(300)
                if entry.state != "deploying":
                    return "waits for the deployment"
                self._node(line).forget(entry)
                return "ends the deployment in the console"
        return None

    def inventory(self, line: Line) -> str | None:
        if line.host.cut_off:
            line.host.cut_off = ""
            return "mends the network between the management node and the host"
        self._corrected[line] += 1
        return self._correct(line) if self._corrected[line] <= _MOST_CORRECTIONS else None

    def take_back(self, line: Line) -> str | None:
        if line.unrecorded != "adopt":
            return None
        line.unrecorded = ""
        return "takes slb_unverified_engine: adopt back"

    def _correct(self, line: Line) -> str | None:
        world, node = self._world, self._node(line)
        engine = line.host.engine
        done = self._tell_apart(line)
        if done:
            return done
        if engine and self._is_live(line):
            done = self._follow_console(line, engine.entry)
            if done:
                return done
        done = self._correct_console(line)
        if done:
            return done
        rivals = [
            one
            for one in world.lines
            if one is not line and ((one.url == line.url and one.name == line.name) or one.address == line.address)
        ]
        strangers = [one for one in rivals if one.address == line.address != one.host.address]
        if strangers and line.host.address == line.address:
            return self._make_way(line, strangers[0])
        if rivals and self._is_right(line):
            return self._make_way(line, rivals[0])
        if any(one.host is line.host for one in rivals):
            world.lines.remove(line)
            return "takes the copied line out of the inventory"
        elsewhere = [one for one in self._entries(line) if one not in (node.entry(line.name, line.address),)]
        doubles = [one for one in world.hosts if one.address == line.address and one is not line.host]
        if line.host.address != line.address or doubles or any(one.address == line.address for one in rivals):
            if any(other.address == line.host.address and other is not line.host for other in world.hosts):
                line.host.address = world.new_address()
            line.address = line.host.address
            if any(one.name == line.name for one in rivals):
                line.name = self._new_name()
            return f"corrects the inventory: {line.name} {line.address}"
        if any(one.name == line.name for one in rivals):
            line.name = self._new_name()
            return f"corrects the inventory: {line.name} {line.address}"
        for entry in elsewhere:
            if entry.address == line.address:
                if any(one.name == entry.name and one.url == line.url for one in world.lines if one is not line):
                    node.forget(entry)
                    return f"removes {entry.name} {entry.address} in the console"
                line.name = entry.name
                return f"corrects the inventory: {line.name} {line.address}"
            owner = world.at(entry.address)
            if owner is not None and owner is not line.host:
                line.name = self._new_name()
                return f"corrects the inventory: {line.name} {line.address}"
        return None

    def _make_way(self, line: Line, rival: Line) -> str:
        """This line is as the console has it: it is the other one that was copied."""
        if rival.host is line.host:
            self._world.lines.remove(rival)
            return f"takes the copied line {rival.label} out of the inventory"
        if rival.host.address == line.address:
            rival.host.address = self._world.new_address()
        rival.address = rival.host.address
        if rival.name == line.name:
            rival.name = self._new_name()
        return f"corrects the inventory of {rival.label}: {rival.name} {rival.address}"

    def _follow_console(self, line: Line, entry: Entry) -> str | None:
        """The engine runs here, and the console has it under another name, or on another management node."""
        if entry.address != line.host.address:
            for url, other in self._world.nodes.items():
                if entry in other.entries and url != line.url:
                    line.url = url
                    return f"corrects the inventory: {line.label} is of {url}"
            return None
        for url, other in self._world.nodes.items():
            wants = (entry.name, entry.address, url)
            others = [one for one in self._world.lines if one is not line]
            takers = [
                one for one in others if one.address == entry.address or (one.name == entry.name and one.url == url)
            ]
            # Where it is a copied line that has taken them, that one has to make way.
            is_taken = any(self._is_right(one) for one in takers)
            if entry in other.entries and len(takers) == 1 and self._are_crossed(line, takers[0], entry, url):
                taker = takers[0]
                line.host, taker.host = taker.host, line.host
                line.address, taker.address = line.host.address, taker.host.address
                return f"swaps the addresses of {line.label} and {taker.label} in the inventory"
            if entry in other.entries and line.wants != wants and not is_taken:
                line.name, line.address, line.url = wants
                return f"corrects the inventory: {entry.name} {entry.address} {url}"
        return None

    def _are_crossed(self, line: Line, other: Line, entry: Entry, url: str) -> bool:
        """Whether the engine that runs here is the one that the other line is about."""
        is_others = (other.name, other.url) == (entry.name, url) and line.name != entry.name
        return is_others and line.host.address != other.host.address and line.address != other.address

    def _correct_console(self, line: Line) -> str | None:
        """An engine whose host has moved is at its new address, for the console as well."""
        node, engine = self._node(line), line.host.engine
        here = [engine.entry] if engine and engine.entry in node.entries else []
        for entry in [*self._entries(line), *here]:
            if entry.host is None or entry.host.address == entry.address:
                continue
            if any(one.address == entry.host.address for one in node.entries):
                node.forget(entry)
                return f"removes {entry.name} {entry.address} in the console"
            before, entry.address = entry.address, entry.host.address
            return f"corrects {entry.name} in the console from {before} to {entry.address}"
        return None

    def _tell_apart(self, line: Line) -> str | None:
        """Two engines that have one name in the console: this host's gets the name that the inventory has for it."""
        entries = self._node(line).entries
        here = [one for one in entries if one.address == line.address and one.name != line.name]
        for entry in here:
            is_double = any(one.name == entry.name for one in entries if one is not entry)
            if is_double and all(one.name != line.name for one in entries):
                before, entry.name = entry.name, line.name
                return f"renames {before} {entry.address} to {entry.name} in the console"
        return None

    def _new_name(self) -> str:
        return f"n{self._world.chance.randrange(10_000)}"

    def start(self, line: Line) -> str | None:
        host, engine = line.host, line.host.engine
        if engine and host.state in ("exited", "paused", "created"):
            if engine in self._started and engine.crashes_after:
                return self.remove(line)  # it has ended again, and the reason has named another way
            self._started.append(engine)
            host.start(engine)
            return "starts the container"
        return None

    def start_aside(self, line: Line) -> str | None:
        """What lies aside and is the console's engine is put back by hand."""
        host = line.host
        engine = host.engine
        if engine is not None and engine.entry is not None:
            return None
        for name, container in host.containers.items():
            if host.state == "running" and not self._world.is_live(container):
                continue
            is_consoles = any(entry.container is container for entry in self._node(line).entries)
            if is_consoles and not container.crashes_after:
                del host.containers[name]
                if engine is not None:
                    host.stop(engine)
                host.containers[ENGINE] = container
                if container.held:
                    container.policy = "always"
                    host.start(container)
                return "puts the container back by hand"
        return None

    def remove(self, line: Line) -> str | None:
        """Removes in the console what is in the way there and serves nobody."""
        node = self._node(line)
        for entry in self._entries(line):
            is_here = entry.host is line.host or entry.address != line.address
            if not is_here or not self._serves(entry.container):
                node.forget(entry)
                return f"removes {entry.name} {entry.address} in the console"
        return None

    def adopt(self, line: Line) -> str | None:
        if line.host.engine is None:
            return None
        if any(self._node(line).word(one) == "deploying" for one in self._entries(line)):
            return self.refresh(line)  # that is neither of the two that are asked about
        word = "adopt" if self._is_live(line) else "replace"
        if line.unrecorded == word:
            return None
        line.unrecorded = word
        return f"sets slb_unverified_engine: {word}"

    def connections(self, line: Line) -> str | None:
        if self._is_live(line) or line.allow_established:
            return None
        line.allow_established = True
        return "sets slb_allow_established"

    def leftovers(self, line: Line) -> str | None:
        if self._is_live(line) or line.remove_leftovers:
            return None
        line.remove_leftovers = True
        return "sets slb_remove_leftovers"

    def more(self, line: Line) -> str | None:
        if self._is_live(line) or self._policy["max_replaced"] == "100%":
            return None
        self._policy["max_replaced"] = "100%"
        return "sets slb_max_replaced: 100%"

    def empty(self, line: Line) -> str | None:
        node = self._node(line)
        if node.entries and not node.lie:
            return "sees that the list shows engines by now, and runs it again"
        if self._policy["may_be_empty"] or node.lie:
            return None
        self._policy["may_be_empty"] = True
        return "sets slb_engine_list_may_be_empty"

    def remove_failed(self, line: Line) -> str | None:
        """The entry that failed is in the way: it goes, and then the container, where it serves nobody."""
        entry = self._node(line).entry(line.name, line.address)
        if entry is None:
            return None
        if self._node(line).word(entry) == "running" and line not in self._ran_again:
            self._ran_again.add(line)
            return "sees that the console lists it as running by now, and runs it again"
        if done := self._ask_why(line):
            return done
        self._node(line).forget(entry)
        done = self.remediate(line)
        return f"removes {entry.name} {entry.address} in the console" + (f", {done}" if done else "")

    def clear(self, line: Line) -> str | None:
        """What the console has of the engine serves nobody: it goes there, and then the container."""
        entry = self._node(line).entry(line.name, line.address)
        if entry and self._node(line).word(entry) == "failed" and (done := self._ask_why(line)):
            return done
        removed = self.remove(line)
        done = self.remediate(line) if removed else None
        return f"{removed}, {done}" if done else removed

    def _ask_why(self, line: Line) -> str | None:
        """Who sees for the second time that a deployment has failed reads the console's notice of it."""
        self._failed[line] += 1
        done = self.inventory(line) if self._failed[line] > 1 else None
        return f"{done}, as the console's notice of the failure has it" if done else None

    def remediate(self, line: Line) -> str | None:
        if self._is_live(line) or line.host.engine is None:
            return None
        self.to_remediate.append(line)
        return "remediates it"


Remedy = Callable[[Operator, Line], "str | None"]
_REMEDIES: list[tuple[str, Remedy]] = [
    (r"as failed\b.{0,20}remove it there", Operator.remove_failed),
    (r"have it removed on the management node", Operator.clear),
    (r"may be swapped", Operator.swapped),
    (r"disk|read-only|full|written", Operator.disk),
    (r"\broot\b|become|permission", Operator.root),
    (r"docker rename|podman rename", Operator.rename),
    (r"docker|podman|runtime|does not answer", Operator.runtime),
    (r"\blist|console|management node|listing|account", Operator.listing),
    (r"slb_engine\.fact|damaged", Operator.record),
    (r"\bport", Operator.port),
    (r"refresh|front end|progress|look at the deployment|stuck|deploying", Operator.refresh),
    (
        r"slb_engine_name|slb_manage_ip|inventory|base_url|another host|it is of|messages in the|occupied|"
        r"mend what it complains about|"
        r"what (it|the console) has of this engine",
        Operator.inventory,
    ),
    (
        r"no container|container slb on the host is absent|put.{0,20}back|restored|docker start|podman start|\bstart\b",
        Operator.start_aside,
    ),
    (r"\bstart (it|the|that)|docker start|unpause", Operator.start),
    (r"slb_allow_established|established", Operator.connections),
    (r"slb_remove_leftovers", Operator.leftovers),
    (r"slb_engine_list_may_be_empty", Operator.empty),
    (r"slb_max_replaced", Operator.more),
    (r"remediate", Operator.remediate),
    (r"take the word back", Operator.take_back),
    (r"slb_unverified_engine", Operator.adopt),
    (r"remove the engine there|(remove|delete)\b.{0,60}console|console.{0,80}(remove|delete)", Operator.remove),
]
