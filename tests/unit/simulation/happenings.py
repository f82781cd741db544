"""What happens in an operator's world, by hand, by mistake and by misfortune. Each tells what it did, or None."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

from ansible_collections.slb.fleet.tests.unit.simulation.simulated_host import DAMAGED, ENGINE, Host
from ansible_collections.slb.fleet.tests.unit.simulation.simulated_node import LIES, Entry, Node
from ansible_collections.slb.fleet.tests.unit.simulation.world import Line, World

Happening = Callable[[World], "str | None"]


def _line(world: World) -> Line:
    return world.chance.choice(world.lines)


def _node(world: World) -> Node:
    return world.chance.choice(list(world.nodes.values()))


def _touch(host: Host) -> None:
    host.touched += 1


def clone_host(world: World) -> str | None:
    """Record, containers and all; at a new address or at the same, with a line of its own or a copied one."""
    if len(world.lines) >= 7:
        return None
    line, chance = _line(world), world.chance
    host = line.host.backup()
    host.label, host.is_up, host.cut_off = f"h{len(world.hosts) + 1}", True, ""
    host.address = world.new_address() if chance.random() < 0.8 else line.host.address
    for container in host.containers.values():
        container.entry = None
    host.reboot()
    world.hosts.append(host)
    label = f"e{len(world.lines) + 1}"
    name = line.name if chance.random() < 0.25 else label
    address = line.address if chance.random() < 0.25 else host.address
    world.lines.append(Line(label, name, address, line.url, host))
    return f"{line.host.label} cloned to {host.label} at {host.address}, inventory {label}: {name} {address}"


def copied_line(world: World) -> str | None:
    if len(world.lines) >= 7:
        return None
    line, label = _line(world), f"e{len(world.lines) + 1}"
    which = world.chance.choice(["all", "name", "address"])
    host = line.host if which != "name" else Host(f"h{len(world.hosts) + 1}", world.new_address(), world.clock)
    if which == "name":
        world.hosts.append(host)
    name = line.name if which != "address" else label
    world.lines.append(Line(label, name, host.address if which == "name" else line.address, line.url, host))
    return f"line {line.label} copied to {label} ({which})"


def move_engine(world: World) -> str | None:
    """Its disk goes into another machine, at that machine's address; the inventory follows or not."""
    one, other = _line(world), _line(world)
    if one.host is other.host or one.host.engine is None:
        return None
    other.host.restore_disk(one.host)
    for name in list(one.host.containers):
        container = one.host.containers.pop(name)
        entry = container.entry
        container.entry = None
        if entry and entry.container is container:
            moved = other.host.containers.get(name)
            entry.host, entry.container = other.host, moved
            if moved:
                moved.entry = entry
    world.relink(other.host)
    one.host.record, one.host.note = None, None
    one.host.forgotten += 1
    _touch(one.host)
    _touch(other.host)
    if world.chance.random() < 0.5:
        one.host, other.host = other.host, one.host
        one.address, other.address = one.host.address, other.host.address
        return f"the engine of {one.label} moved to {one.host.label}, inventory follows"
    return f"the disk of {one.host.label} moved to {other.host.label}, inventory stays"


def swap_hosts(world: World) -> str | None:
    """Each has the other's address by now."""
    one, other = _line(world), _line(world)
    if one.host is other.host:
        return None
    first, second = one.host, other.host
    first.address, second.address = second.address, first.address
    if world.chance.random() < 0.5:
        one.host, other.host = second, first
    else:
        one.address, other.address = first.address, second.address
    for host in (first, second):
        host.reboot()
        _touch(host)
    return f"{first.label} and {second.label} swapped addresses"


def rename_in_inventory(world: World) -> str:
    line = _line(world)
    line.name = f"x{world.chance.randrange(100)}"
    return f"inventory: {line.label} shall be called {line.name}"


def rename_in_console(world: World) -> str | None:
    node = _node(world)
    if not node.entries:
        return None
    entry = world.chance.choice(node.entries)
    before, entry.name = entry.name, f"y{world.chance.randrange(100)}"
    return f"console: {before} renamed to {entry.name}"


def change_address(world: World) -> str:
    """The host moves to another address; the inventory follows, the console sometimes."""
    line, chance = _line(world), world.chance
    host = line.host
    before, host.address = host.address, world.new_address()
    follows = chance.choice(["inventory", "inventory and console", "both, and the name"])
    for each in world.lines:
        if each.host is host:
            each.address = host.address
    if follows == "inventory and console":
        for node in world.nodes.values():
            for entry in node.entries:
                if entry.address == before:
                    entry.address = host.address
    if follows == "both, and the name":
        line.name = f"x{chance.randrange(100)}"
    _touch(host)
    return f"{host.label} moved from {before} to {host.address} ({follows})"


def other_node(world: World) -> str | None:
    others = list(world.nodes)
    line = _line(world)
    others.remove(line.url)
    if not others:
        return None
    lines = world.lines if world.chance.random() < 0.3 else [line]
    for each in lines:
        each.url = others[0]
    return f"slb_base_url of {', '.join(each.label for each in lines)} is {others[0]} now"


def back_up(world: World) -> str:
    host = _line(world).host
    host.older, host.older_at = host.backup(), world.clock.now
    return f"{host.label} backed up"


def restore_host(world: World) -> str | None:
    saved = [host for host in world.hosts if host.older]
    if not saved:
        return None
    host = world.chance.choice(saved)
    assert host.older is not None
    is_snapshot = host.older.is_up and host.is_up and world.chance.random() < 0.4
    if is_snapshot:
        host.go_back_to(host.older, host.older_at)
    else:
        host.restore_disk(host.older)
    world.relink(host)
    _touch(host)
    return f"{host.label} {'goes on from its snapshot' if is_snapshot else 'restored from its backup'}"


def back_up_node(world: World) -> str:
    node = _node(world)
    node.older = [copy(entry) for entry in node.entries]
    return f"{node.url} backed up"


def restore_node(world: World) -> str | None:
    saved = [node for node in world.nodes.values() if node.older is not None]
    if not saved:
        return None
    node = world.chance.choice(saved)
    node.restart()
    for entry in list(node.entries):
        node.forget(entry)
    for entry in node.older or []:
        restored = copy(entry)
        restored.host = world.at(entry.address)
        restored.container = restored.host.engine if restored.host and restored.state == "running" else None
        if restored.container:
            if restored.container.entry is not None:
                restored.container = None
            else:
                restored.container.entry = restored
        if restored.state == "deploying":
            restored.state = "failed"
        node.entries.append(restored)
    return f"{node.url} restored from its backup"


def remove_in_console(world: World) -> str | None:
    node = _node(world)
    if not node.entries:
        return None
    entry = world.chance.choice(node.entries)
    node.forget(entry)
    if entry.host:
        _touch(entry.host)
    return f"console: {entry.name} removed"


def add_in_console(world: World) -> str:
    line = _line(world)
    name = line.name if world.chance.random() < 0.8 else f"z{world.chance.randrange(100)}"
    return f"console: {name} at {line.address} added by hand: {world.node(line).install(name, line.address, '')}"


def by_hand(world: World) -> str | None:
    """What a person does with docker."""
    host, chance = _line(world).host, world.chance
    engine = host.engine
    _touch(host)
    if engine is None:
        act = chance.choice(["run", "start leftover"])
        if act == "run":
            host.start_engine(crashes_after=chance.choice([None, None, 0.1]), by_hand=True)
        elif host.containers:
            name = chance.choice(list(host.containers))
            host.start(host.containers[name])
            if chance.random() < 0.5:
                host.containers[ENGINE] = host.containers.pop(name)
        else:
            return None
        return f"docker on {host.label}: {act}"
    acts = ["stop", "stop", "start", "pause", "rm", "connect", "policy", "rm leftovers", "create", "rename"]
    act = chance.choice(acts)
    if act == "stop":
        host.stop(engine)
    elif act == "start":
        if engine.held:
            host.start(engine)
    elif act == "pause":
        if engine.held is None:
            engine.held, engine.established = "paused", 0
    elif act == "rm":
        host.stop(engine)
        host.containers.pop(ENGINE, None)
    elif act == "connect":
        engine.established = 3 if host.state == "running" else 0
    elif act == "policy":
        engine.policy = "no"
    elif act == "rm leftovers":
        host.containers = {ENGINE: engine}
    elif act == "create":
        host.stop(engine)
        host.containers.pop(ENGINE, None)
        host.start_engine(held="created")
        host.containers[ENGINE].started_at = None
    else:
        host.containers[f"slb-mine-{host.made}-{len(host.containers)}"] = host.containers.pop(ENGINE)
    return f"docker on {host.label}: {act}"


def reboot(world: World) -> str:
    host = _line(world).host
    host.reboot()
    _touch(host)
    return f"{host.label} booted"


def set_clock(world: World) -> str:
    host = _line(world).host
    by = world.chance.choice([-40_000_000.0, -7200.0, -60.0, 60.0, 7200.0, 40_000_000.0])
    host.skew += by
    return f"clock of {host.label} set by {by:.0f} s"


def disk(world: World) -> str:
    host = _line(world).host
    host.disk = "" if host.disk else world.chance.choice(["full", "read-only"])
    _touch(host)
    return f"disk of {host.label}: {host.disk or 'mended'}"


def runtime(world: World) -> str:
    host = _line(world).host
    host.runtime_is_down = not host.runtime_is_down
    _touch(host)
    return f"docker of {host.label} is {'down' if host.runtime_is_down else 'back'}"


def port(world: World) -> str | None:
    host = _line(world).host
    if host.engine:
        return None
    host.foreign_port = not host.foreign_port
    _touch(host)
    return f"a port on {host.label} is {'taken' if host.foreign_port else 'free'}"


def power(world: World) -> str:
    host = _line(world).host
    _touch(host)
    if not host.is_up:
        host.switch_on()
        return f"{host.label} is up"
    host.is_up = False
    if world.chance.random() < 0.5:
        host.frozen_at = world.clock.now
    return f"{host.label} is {'off' if host.frozen_at is None else 'paused'}"


def network(world: World) -> str:
    host = _line(world).host
    host.cut_off = "" if host.cut_off else world.chance.choice(["controller", "management node"])
    _touch(host)
    return f"{host.label} is {'cut off from the ' + host.cut_off if host.cut_off else 'in the network again'}"


def reinstall(world: World) -> str:
    """The machine is made anew: what the consoles have of it is left."""
    host = _line(world).host
    for container in host.containers.values():
        container.entry = None
    for node in world.nodes.values():
        for entry in node.entries:
            if entry.host is host:
                entry.container = None
    host.containers, host.record, host.note, host.disk = {}, None, None, ""
    host.forgotten += 1
    host.reboot()
    _touch(host)
    return f"{host.label} is installed anew"


def upgrade(world: World) -> str | None:
    """The console makes an engine's container anew, as for another version."""
    node = _node(world)
    running = [one for one in node.entries if one.state == "running" and one.host and one.host.is_up]
    if not running:
        return None
    entry = world.chance.choice(running)
    host, before = entry.host, entry.container
    assert host is not None
    if before is None or host.engine is not before or host.cut_off or host.runtime_is_down or host.disk:
        return None
    host.stop(before)
    host.remove(before)
    before.entry = None
    entry.container = host.start_engine()
    entry.container.entry = entry
    _touch(host)
    return f"console: {entry.name} on {host.label} upgraded, its container is {entry.container.id} now"


def become(world: World) -> str:
    host = _line(world).host
    host.root = not host.root
    _touch(host)
    return f"{host.label} without become" if not host.root else f"{host.label} with become"


def record(world: World) -> str:
    host = _line(world).host
    what = world.chance.choice(["gone", "damaged"])
    _touch(host)
    host.record = None if what == "gone" else DAMAGED
    host.forgotten += 1
    return f"record of {host.label} {what}"


def lie(world: World) -> str:
    """The list shows something else from now on, or the truth again."""
    node = _node(world)
    node.lie = world.chance.choice(["", "", *LIES])
    others = [other for other in world.nodes.values() if other is not node]
    node.foreign = world.chance.choice(others) if others else None
    return f"list of {node.url}: {node.lie or 'true'}"


def describe(world: World) -> str:
    node = _node(world)
    node.is_described = not node.is_described
    return f"list of {node.url} is {'described' if node.is_described else 'not described any more'}"


def snapshot(world: World) -> str:
    node = _node(world)
    node.older = [copy(entry) for entry in node.entries]
    return f"copy of the list of {node.url} made"


def console_restarts(world: World) -> str:
    node = _node(world)
    node.restart()
    return f"{node.url} restarted"


def console_down(world: World) -> str:
    node = _node(world)
    node.is_up = not node.is_up
    return f"{node.url} is {'up' if node.is_up else 'down'}"


def stuck(world: World) -> str | None:
    node = _node(world)
    if not node.entries:
        return None
    entry: Entry = world.chance.choice(node.entries)
    entry.is_stuck = not entry.is_stuck
    return f"front end shows {entry.name} as {node.word(entry)}"


def set_variable(world: World) -> str | None:
    """What somebody sets for one host who did not like what the last run was about to do."""
    line, chance = _line(world), world.chance
    what = chance.choice(["name", "address", "unrecorded", "established", "leftovers", "back"])
    if what == "name":
        line.name = chance.choice([one.name for one in world.lines] + [f"x{chance.randrange(100)}"])
    elif what == "address":
        line.address = chance.choice([one.address for one in world.lines] + [line.host.address, "10.7.7.7"])
    elif what == "unrecorded":
        line.unrecorded = chance.choice(["adopt", "replace"])
    elif what == "established":
        line.allow_established = True
    elif what == "leftovers":
        line.remove_leftovers = True
    else:
        line.unrecorded, line.allow_established, line.remove_leftovers = "", False, False
    return f"inventory: {line.label} is {line.name} {line.address} {line.unrecorded} ({what} set)"


ANY_TIME: list[Happening] = [
    by_hand, by_hand, by_hand, add_in_console, remove_in_console, set_clock, set_clock, disk, runtime, port,
    lie, lie, lie, snapshot, console_restarts, console_down, stuck, reboot, power, back_up_node, restore_node,
    network, upgrade,
]  # fmt: skip
BETWEEN_RUNS: list[Happening] = [
    *ANY_TIME, clone_host, clone_host, copied_line, move_engine, swap_hosts, rename_in_inventory, rename_in_console,
    change_address, change_address, other_node, other_node, back_up, back_up, restore_host, restore_host,
    back_up_node, restore_node, become, record, record, describe, set_variable,
    reinstall,
]  # fmt: skip
