"""A model of an engine host: its clocks, containers and disk, what a look gives, and what the modules do there.

What a module does on the host is a generator: each ``yield`` is a moment at which it may be killed.
"""

from __future__ import annotations

from collections.abc import Generator
from copy import copy
from dataclasses import dataclass, field
from typing import Any

EPOCH = 1_800_000_000.0
ENGINE = "slb"
ASIDE = f"{ENGINE}-leftover-"
DAMAGED = "/etc/ansible/facts.d/slb_engine.fact cannot be read: Expecting value: line 1 column 1 (char 0)"
_LONGEST_PAUSE = 60.0
_RUNS = ("running", "restarting", "paused")


class RefusedError(Exception):
    """A module refuses, in words, and has changed nothing that it did not have to."""


class UnreachableError(Exception):
    """SSH gave nothing back. What was under way on the host may have been done or not."""


@dataclass
class Clock:
    """``now`` is true time, in seconds, which nobody sets."""

    now: float = 0.0


@dataclass(eq=False)
class Container:
    """``crashes_after``: seconds that its process lives each time.

    ``entry`` is known to the world alone: the console's entry whose engine is in this container.
    """

    id: str
    began: float
    """When its process, or the first of its crash loop, was started, in true time."""
    started_at: float | None
    """The same by the host's clock, as it was then; None if it was never started."""
    policy: str = "always"
    auto_remove: bool = False
    crashes_after: float | None = None
    established: int = 0
    held: str | None = None
    """created, paused or exited: a state in which it stays. Otherwise it runs, or crashes again and again."""
    entry: Any = None
    by_hand: bool = False
    """A person has made it, or has asked a management node for it."""

    def at(self, now: float) -> tuple[str, float, int]:
        """State, age of its process and the number of its restarts, as a runtime with growing pauses has it."""
        age = now - self.began
        if self.held or self.crashes_after is None:
            return self.held or "running", age, 0
        if self.policy == "no":
            return ("running" if age < self.crashes_after else "exited"), age, 0
        pause, count = 0.1, 0
        while age >= self.crashes_after:
            age -= self.crashes_after
            count += 1
            if age < pause:
                return "restarting", age, count
            age -= pause
            pause = min(2 * pause, _LONGEST_PAUSE)
        return "running", age, count


@dataclass(eq=False)
class Host:
    label: str
    address: str
    clock: Clock
    containers: dict[str, Container] = field(default_factory=dict)
    record: dict[str, Any] | str | None = None
    """A text is a damaged one."""
    note: dict[str, Any] | None = None
    """set-aside.json"""
    boot: int = 1
    boots: int = 1
    """How many there have been, of which a snapshot may bring an earlier one back."""
    booted: float = 0.0
    skew: float = 0.0
    """What somebody has set the host's clock forward by."""
    is_up: bool = True
    frozen_at: float | None = None
    """Since when its virtual machine has been paused; it is not up then."""
    cut_off: str = ""
    """From whom the network keeps it: from the controller, or from the management node."""
    runtime_is_down: bool = False
    disk: str = ""
    """Why nothing can be written, if so."""
    root: bool = True
    facts_are_shared: bool = False
    """The owner lets the user that runs write in facts.d without root; /var/lib/slb-fleet is root's alone."""
    foreign_port: bool = False
    own: str = "seen"
    """Whether a look shows its own addresses: seen, unseen, or NAT (none of them is the one that it is reached at)."""
    made: int = 0
    writes: int = 0
    """How often a module has changed anything."""
    touched: int = 0
    """How often somebody else has: the operator, or the management node."""
    forgotten: int = 0
    """How often a person has taken the record away, so that nobody can know what was asked for."""
    older: Host | None = None
    older_at: float = 0.0

    @property
    def wall(self) -> float:
        return EPOCH + self.clock.now + self.skew

    @property
    def uptime(self) -> float:
        return self.clock.now - self.booted

    @property
    def boot_id(self) -> str:
        return f"{self.label}-boot-{self.boot}"

    @property
    def engine(self) -> Container | None:
        """The container slb, as it is by now: one that deletes itself may be gone."""
        engine = self.containers.get(ENGINE)
        if engine and engine.auto_remove and self.state_of(engine) == "exited":
            del self.containers[ENGINE]
            return None
        return engine

    @property
    def state(self) -> str:
        engine = self.engine
        return self.state_of(engine) if engine else "absent"

    def state_of(self, container: Container) -> str:
        return container.at(self.clock.now)[0]

    def named(self, container_id: str) -> str | None:
        for name, container in self.containers.items():
            if container.id == container_id:
                return name
        return None

    def is_live(self, container: Container) -> bool:
        """Whether it serves as an engine of a console now, whatever any list shows."""
        entry = container.entry
        return (
            entry is not None and entry.container is container and self.is_up and self.state_of(container) == "running"
        )

    # What the runtime, the operator and the management node do.

    def start_engine(self, **kind: Any) -> Container:
        self.made += 1
        made = Container(f"{self.label}-c{self.made}", self.clock.now, self.wall, **kind)
        self.containers[ENGINE] = made
        return made

    def start(self, container: Container) -> None:
        container.held, container.began, container.started_at = None, self.clock.now, self.wall

    def stop(self, container: Container) -> None:
        if container.held != "created":
            container.held = "exited"
        container.established = 0
        if container.auto_remove:
            self.remove(container)

    def remove(self, container: Container) -> None:
        name = self.named(container.id)
        if name:
            del self.containers[name]

    def reboot(self) -> None:
        self.boots += 1
        self.boot, self.booted, self.runtime_is_down = self.boots, self.clock.now, False
        self.frozen_at = None
        for container in list(self.containers.values()):
            container.established = 0
            if container.held == "created" or (container.held == "exited" and container.policy != "always"):
                continue
            if container.policy == "no":
                self.stop(container)
            else:
                self.start(container)

    def switch_on(self) -> None:
        """It boots; or, where it was paused, it goes on where it was, and none of its clocks has gone on."""
        self.is_up = True
        if self.frozen_at is None:
            self.reboot()
            return
        lost, self.frozen_at = self.clock.now - self.frozen_at, None
        self._stand_still(lost)

    def _stand_still(self, lost: float) -> None:
        self.booted += lost
        self.skew -= lost
        for container in self.containers.values():
            container.began += lost
            container.established = 0

    def backup(self) -> Host:
        """A copy of its disk."""
        taken = copy(self)
        taken.containers = {name: copy(container) for name, container in self.containers.items()}
        taken.record = dict(self.record) if isinstance(self.record, dict) else self.record
        taken.note = dict(self.note) if self.note else None
        taken.older = None
        return taken

    def restore_disk(self, taken: Host) -> None:
        """Takes the disk of ``taken`` and is booted; whose engines run in it now, the world has to say."""
        kept = taken.backup()
        self.containers, self.record, self.note = kept.containers, kept.record, kept.note
        self.made = max(self.made, kept.made)
        self.forgotten += 1
        self.reboot()

    def go_back_to(self, taken: Host, taken_at: float) -> None:
        """A snapshot of a virtual machine, with its memory: it goes on as it was, within the boot of then."""
        self.restore_disk(taken)
        kept = taken.backup()
        self.containers = kept.containers
        self.boot, self.booted, self.skew, self.runtime_is_down = (
            kept.boot,
            kept.booted,
            kept.skew,
            kept.runtime_is_down,
        )
        self._stand_still(self.clock.now - taken_at)

    # What a look gives.

    def look(self) -> dict[str, Any]:
        return {
            "engine_container": self._look_at_engine(),
            "record": self._look_at_record(),
            "set_aside": self._look_aside(),
            "set_aside_unwritable": self._unwritable_note,
            "root": self.root,
            "addresses": self._look_at_addresses(),
            "ports": [{"port": 8000, "pid": 217, "process": "python3", "engine": False}] if self.foreign_port else [],
            "motd": {},
            "interfaces": [],
            "observed_at": self.wall,
        }

    def _look_at_addresses(self) -> list[str] | None:
        inside = f"192.168.0.{self.label[1:]}"
        return {"seen": [self.address, inside], "unseen": None, "NAT": [inside]}[self.own]

    def _look_at_engine(self) -> dict[str, Any]:
        if self.runtime_is_down:
            return _engine("unknown", why="docker does not answer", runtime="docker")
        container = self.engine
        if container is None:
            return _engine("absent", runtime="docker")
        state, age, restarts = container.at(self.clock.now)
        # A process that was restarted began at a time that is known from the age; the first one's was noted.
        started_at = self.wall - age if restarts else container.started_at
        return _engine(
            state,
            runtime="docker",
            id=container.id,
            image="slb:1",
            started_at=started_at,
            exit_code=0 if state in ("running", "created") else 137,
            restart_policy=container.policy,
            restart_count=restarts,
            uptime=age if state == "running" else None,
            established=self._established(container, state),
            auto_remove=container.auto_remove,
            after_request=self.started_after_request(container, state, age, started_at),
        )

    def _established(self, container: Container, state: str) -> int | None:
        """Whose connections they are is seen in its processes, and those are root's."""
        if state not in ("running", "paused"):
            return 0
        return container.established if self.root else None

    def started_after_request(
        self, container: Container, state: str, age: float, started_at: float | None
    ) -> bool | None:
        record = self.record
        if not isinstance(record, dict) or started_at is None:
            return None
        if self.root and self.note and self.note["id"] == container.id:
            return False  # it was put back, which is not what was asked for
        if record["boot_id"] == self.boot_id and state in ("running", "paused"):
            return bool(self.uptime - age >= record["uptime"])
        return bool(started_at >= record["requested_at"])

    def _look_at_record(self) -> dict[str, Any]:
        unwritable = self._unwritable_record
        if self.record is None:
            return {"state": "none", "unwritable": unwritable}
        if isinstance(self.record, str):
            return {"state": "invalid", "why": self.record, "unwritable": unwritable}
        seen = dict(self.record, age=self.age(), unwritable=unwritable)
        engine_id = self.engine.id if self.engine else None
        if self.record["state"] == "verified" and engine_id != self.record["container_id"]:
            name = None if self.runtime_is_down else self.named(self.record["container_id"])
            seen["container_name"] = name if name and not name.startswith(ASIDE) else None
        return seen

    @property
    def _unwritable_record(self) -> str | None:
        if self.disk:
            return f"the file system of /etc/ansible/facts.d is {self.disk}"
        if not self.root and not self.facts_are_shared:
            return "this user has no permission to write in /etc/ansible/facts.d"
        return None

    @property
    def _unwritable_note(self) -> str | None:
        if not self.root:
            return "/var/lib/slb-fleet/set-aside.json cannot be looked at: Permission denied"
        return f"the file system of /var/lib/slb-fleet is {self.disk}" if self.disk else None

    def age(self) -> float:
        """Seconds since the request of the record, as far as the host can know."""
        assert isinstance(self.record, dict)
        return self._age(self.record, self.record["requested_at"])

    def _age(self, noted: dict[str, Any], at: float) -> float:
        if noted["boot_id"] == self.boot_id:
            return max(0.0, self.uptime - float(noted["uptime"]))
        return max(self.uptime, self.wall - at)

    def _look_aside(self) -> dict[str, Any] | None:
        if self.note is None or not self.root:
            return None
        name = self.named(self.note["id"])
        exists = None if self.runtime_is_down else name is not None
        keys = ("id", "runtime", "state", "restart_policy", "because", "at", "mistaken", "going_back")
        shown = {key: self.note[key] for key in keys}
        age = self._age(self.note, self.note["at"])
        return dict(shown, name=name or self.note["name"], age=age, exists=exists)

    # What the modules do.

    def take_aside(
        self, container_id: str | None, state: str, allow_established: bool, remove: bool, because: str
    ) -> Generator[str, None, None]:
        """engine_container state=stopped. Says ``stop`` right before the container is stopped."""
        seen = self._usable()
        if seen is None:
            return
        now_it_is = self.state_of(seen)
        if seen.id != container_id:
            raise RefusedError("the container slb is another one than was decided about")
        if state in ("created", "exited") and now_it_is not in ("created", "exited"):
            raise RefusedError("somebody has started it since")
        if seen.auto_remove and now_it_is in _RUNS and not remove:
            raise RefusedError("it would delete itself: slb_remove_leftovers")
        established = 0 if allow_established else self._established(seen, now_it_is)
        if established is None:
            raise RefusedError("established connections cannot be seen without root: become")
        if established:
            raise RefusedError("it carries established connections: slb_allow_established")
        if self.note and because == "list" and self.note["mistaken"] and self.note["id"] == seen.id:
            raise RefusedError("it was put back before, because the list was wrong")
        for unwritable in (self._unwritable_record, self._unwritable_note):
            if unwritable:
                raise RefusedError(f"cannot be written: {unwritable}")
        yield "begin"
        earlier, policy = self.note, seen.policy
        self.note = noted = self._note_of(seen, now_it_is, because)
        self.writes += 1
        try:
            yield "noted"
            seen.policy = "no"
            yield "stop"
            if self.state_of(seen) in _RUNS:
                self.stop(seen)
            yield "stopped"
            name = self._out_of_the_way(seen, remove)
        except RefusedError:
            if now_it_is in _RUNS:
                for _ in self._steps_back(seen, noted):
                    pass
            if self.named(seen.id) == ENGINE and (self.state_of(seen), seen.policy) == (now_it_is, policy):
                self.note = earlier  # nothing was changed
            raise
        yield "named"
        if remove:
            self.note = None
        elif name and not self.disk:
            self.note["name"] = name

    def _note_of(self, container: Container, state: str, because: str) -> dict[str, Any]:
        policy, earlier = container.policy, self.note
        is_unfinished = earlier is not None and (earlier["going_back"] or not earlier["mistaken"])
        if earlier is not None and is_unfinished and (earlier["id"], earlier["name"]) == (container.id, ENGINE):
            # The same move, killed half-way: what the note says of the container holds.
            state = state if state == "paused" or earlier["state"] in ("exited", "created") else earlier["state"]
            policy = earlier["restart_policy"] if policy == "no" else policy
            because = earlier["because"] if because in ("ended", "record") else because
        return {
            "id": container.id,
            "name": ENGINE,
            "runtime": "docker",
            "state": state,
            "restart_policy": policy,
            "because": because,
            "mistaken": False,
            "going_back": False,
            "at": self.wall,
            "boot_id": self.boot_id,
            "uptime": self.uptime,
        }

    def _out_of_the_way(self, container: Container, remove: bool) -> str | None:
        """Its new name, if it has one."""
        name = self.named(container.id)
        if name != ENGINE:
            return name
        del self.containers[ENGINE]
        if remove:
            return None
        name = f"{ASIDE}{len(self.containers)}-{container.id}-{self.clock.now:.0f}"
        self.containers[name] = container
        return name

    def put_back(self, mistaken: bool, decided_about: float) -> Generator[str, None, None]:
        """engine_container state=restored: the name comes last. ``mistaken``: what took it out of the way was wrong."""
        current = self._usable()
        is_pending = isinstance(self.record, dict) and self.record["state"] == "requested"
        if is_pending and abs(self.record["requested_at"] - decided_about) >= 0.001:
            raise RefusedError("the record is of another request by now: somebody else deploys")
        if self.note is not None and not self.root:
            raise RefusedError("what was taken out of the way cannot be read: only root can put it back: become")
        note = self.note
        if note is None:
            return
        name = self.named(note["id"])
        aside = self.containers[name] if name else None
        mistaken = mistaken or note["mistaken"]
        is_ended = mistaken and not note["going_back"]
        if is_ended and aside and current is aside and self._is_back(aside, note):
            return
        if current is not None and current is not aside:
            raise RefusedError("the name slb is taken by another container")
        if aside is None:
            raise RefusedError("the container that was put aside is gone")
        yield "begin"
        if isinstance(self.record, dict) and self.record["state"] == "requested":
            self.withdraw(self.record["requested_at"])
            yield "withdrawn"
        self.writes += 1
        if not self.disk:
            self.note = {**note, "name": ENGINE, "mistaken": mistaken, "going_back": True}
        yield "noted"
        yield from self._steps_back(aside, note)
        if not mistaken:
            self._unlink(self._unwritable_note)
            self.note = None
        elif self.disk:
            raise RefusedError(f"the note of what was put back cannot be written: {self._unwritable_note}")
        else:
            self.note = {**note, "name": ENGINE, "mistaken": True, "going_back": False}

    def _steps_back(self, container: Container, note: dict[str, Any]) -> Generator[str, None, None]:
        if note["state"] in _RUNS and self.state_of(container) not in _RUNS:
            self.start(container)
        yield "started"
        if note["state"] == "paused":
            container.held = "paused"
        elif note["state"] in _RUNS and container.held == "paused":
            container.held = None
        yield "paused"
        name = self.named(container.id)
        if name is None or (name != ENGINE and ENGINE in self.containers):
            raise RefusedError("docker rename fails: somebody else works on this host")
        if name != ENGINE:
            self.containers[ENGINE] = self.containers.pop(name)
        yield "named"
        container.policy = note["restart_policy"]
        yield "policy"

    def _is_back(self, container: Container, note: dict[str, Any]) -> bool:
        state, was = self.state_of(container), note["state"]
        if container.policy != note["restart_policy"] or self.named(container.id) != ENGINE:
            return False
        return was not in _RUNS or (state in _RUNS and (state == "paused") == (was == "paused"))

    def note_pending(
        self, name: str, address: str, base_url: str, attempt: int, decided_about: float, absent: bool
    ) -> None:
        """engine_record state=pending."""
        before = self.record["requested_at"] if isinstance(self.record, dict) else 0
        if abs(before - decided_about) >= 0.001:
            raise RefusedError("the record is not what was decided about: somebody else deploys")
        if absent and self._usable() is not None:
            raise RefusedError("a container slb is there by now: nobody asked; run again to look anew")
        self._write(
            {
                **self._fresh(name, address, base_url),
                "state": "requested",
                "attempt": attempt,
                "container_id": None,
                "verified_by": None,
            }
        )

    def note_confirmed(
        self, name: str, address: str, base_url: str, container_id: str, verified_by: str
    ) -> Generator[str, None, None]:
        """engine_record state=confirmed. What was taken out of the way for this engine stays there."""
        proof = {
            "state": "verified",
            "container_id": container_id,
            "verified_by": verified_by,
            "name": name,
            "manage_ip": address,
            "base_url": base_url,
        }
        before = self.record if isinstance(self.record, dict) else None
        if not before or any(before.get(key) != value for key, value in proof.items()):
            is_ours = before and all(before[key] == proof[key] for key in ("name", "manage_ip", "base_url"))
            request = dict(before) if before and is_ours else self._fresh(name, address, base_url)
            self._write({**request, **proof})
        yield "noted"
        if self.note and self.root:  # without root, nobody sees that there is one
            self._unlink(self._unwritable_note)
            self.note = None
            self.writes += 1

    def withdraw(self, requested_at: float) -> None:
        """engine_record state=absent: of nobody's request but this one."""
        if isinstance(self.record, dict) and abs(self.record["requested_at"] - requested_at) < 0.001:
            self._unlink(self._unwritable_record)
            self.record = None
            self.writes += 1

    def _fresh(self, name: str, address: str, base_url: str) -> dict[str, Any]:
        return {
            "name": name,
            "manage_ip": address,
            "base_url": base_url,
            "requested_at": self.wall,
            "boot_id": self.boot_id,
            "uptime": self.uptime,
            "attempt": 1,
        }

    def _write(self, record: dict[str, Any]) -> None:
        if self._unwritable_record:
            raise RefusedError(f"the record cannot be written: {self._unwritable_record}")
        self.record = record
        self.writes += 1

    def _unlink(self, unwritable: str | None) -> None:
        """A full disk does not mind."""
        if unwritable and self.disk != "full":
            raise RefusedError(f"a note cannot be taken away: {unwritable}")

    def _usable(self) -> Container | None:
        if self.runtime_is_down:
            raise RefusedError("the state of the container slb is unknown: bring the container runtime back")
        return self.engine


_NOTHING: dict[str, Any] = {
    "state": "absent",
    "name": ENGINE,
    "runtime": None,
    "id": None,
    "image": None,
    "started_at": None,
    "exit_code": None,
    "restart_policy": None,
    "restart_count": 0,
    "why": None,
    "uptime": None,
    "established": None,
    "auto_remove": False,
    "after_request": None,
}


def _engine(state: str, **seen: Any) -> dict[str, Any]:
    return {**_NOTHING, "state": state, **seen}
