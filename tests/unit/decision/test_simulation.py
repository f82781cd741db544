"""Histories of one host in a model: runs that are killed at any step, people, and a management node with faults.

The model follows the design: what a run does for each action, and what each step writes first. The promises at the end
are checked without a look at the rules.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils.decision import decide
from ansible_collections.slb.fleet.plugins.plugin_utils.listed import Listed
from ansible_collections.slb.fleet.plugins.plugin_utils.state import (
    Container,
    Engine,
    Policy,
    Record,
    SetAside,
    State,
)

ENGINE = Engine("edge-1", "192.0.2.1", "https://console.example")
POLICY = Policy(wait_timeout=100, settle=5)


class KilledError(Exception):
    """The run was killed."""


@dataclass
class World:
    chance: random.Random
    has_list: bool
    now: float = 0
    containers: dict[str, dict[str, Any]] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)
    node: str = "none"
    live: str = ""
    """Id of the container of which the management node says that it runs."""
    requests: list[str] = field(default_factory=list)
    kill_in: int = 10**9
    ids: int = 0

    def step(self):
        """Any step can be the last of a run."""
        self.kill_in -= 1
        if self.kill_in < 0:
            raise KilledError

    def named(self, name):
        return next((each for each, box in self.containers.items() if box["name"] == name), None)

    def start_container(self, state="running"):
        self.ids += 1
        identity = f"c{self.ids}"
        self.containers[identity] = {"name": "slb", "state": state, "since": self.now, "policy": "always"}
        return identity

    def observe(self, requests):
        identity = self.named("slb")
        box = self.containers.get(identity or "")
        note, aside = self.record, self.record.get("aside")
        uptime = self.now - box["since"] if box and box["state"] == "running" else None
        aside = SetAside(aside["id"], aside["name"], exists=aside["id"] in self.containers) if aside else None
        shown = {"none": "not_listed"}.get(self.node, self.node)
        return State(
            ENGINE,
            Container(box["state"], identity, uptime=uptime) if box else Container(),
            Record(
                note.get("state", "none"),
                request_id=note.get("id"),
                engine=ENGINE if note else Engine(),
                age=self.now - note.get("at", 0),
                container_before=note.get("before"),
                last_verified=note.get("verified"),
                set_aside=aside,
            ),
            Listed(shown if self.has_list else "undescribed"),
            requests=requests,
        )

    # --- a run

    def run(self):
        """Does what a rollout does on one host. Returns the last action."""
        sent = 0
        for _poll in range(60):
            plan = decide(self.observe(sent), POLICY)
            if plan.action == "wait":
                self.now += 5
                continue
            if plan.action in ("none", "fail"):
                return plan.action
            if plan.action == "record":
                self.step()
                self.record = {**self.record, "state": "verified", "verified": self.named("slb")}
            elif plan.action == "restore":
                self.restore()
            else:
                sent += 1
                if not self.install(f"r{len(self.requests)}-{self.now}", plan.action):
                    return "rejected"
        return "wait"

    def install(self, request, action):
        identity = self.named("slb")
        assert (action == "replace") == (identity is not None)
        before = {key: value for key, value in self.record.items() if key != "previous"}
        aside = {"id": identity, **self.containers[identity]} if identity else None
        self.step()
        request_of_run = {"state": "preparing", "id": request, "at": self.now}
        self.record = {**before, **request_of_run, "aside": aside, "previous": before, "before": identity}
        if identity:
            self.step()
            self.stop(identity)
            self.step()
            self.containers[identity]["name"] = f"slb-leftover-{identity}"
            self.record["aside"]["name"] = "slb"
        self.step()
        self.record["state"] = "requested"
        self.step()
        recorded = (self.record.get("state"), self.record.get("id"))
        assert recorded == ("requested", request), "a request without its record"
        self.requests.append(request)
        accepted = self.node_accepts()
        self.step()
        if not accepted:
            self.restore()
        return accepted

    def stop(self, identity):
        is_live = identity == self.live and self.node == "running"
        assert not (is_live and self.has_list), "a live engine was stopped"
        self.containers[identity].update(state="exited", policy="no")

    def restore(self):
        self.step()
        self.record["state"] = "restoring"
        aside = self.record.get("aside")
        if aside and aside["id"] in self.containers and self.named("slb") in (None, aside["id"]):
            self.step()
            self.containers[aside["id"]].update(
                name="slb", state=aside["state"], policy=aside["policy"], since=self.now
            )
        self.step()
        self.record = self.record.get("previous") or {}

    def node_accepts(self):
        fault = self.chance.choice(["", "", "", "reject", "no engine", "dead engine"])
        if fault == "reject" or self.node in ("running", "deploying"):
            return False
        if fault == "no engine":
            self.node = "failed"
        elif self.named("slb") is None:
            identity = self.start_container("exited" if fault else "running")
            self.node, self.live = ("failed", "") if fault else ("running", identity)
        return True

    # --- what else happens

    def pass_time(self, seconds):
        self.now += seconds

    def disturb(self):
        identity = self.named("slb")
        event = self.chance.choice(["nothing", "time", "stopped", "removed", "updated", "leftover", "forgotten"])
        if event == "time":
            self.now += 1000
        elif event == "stopped" and identity:
            self.containers[identity]["state"] = "exited"
        elif event == "removed" and identity:
            del self.containers[identity]
        elif event == "updated" and identity and self.node == "running":
            del self.containers[identity]
            self.live = self.start_container()
        elif event == "leftover" and not identity and self.node == "none":
            self.start_container()
        elif event == "forgotten" and self.node == "failed":
            self.node = "none"


@pytest.mark.parametrize("has_list", [True, False], ids=["with list", "without list"])
def test_histories_keep_the_promises(has_list):
    ends = {}
    for seed in range(800):
        world = World(random.Random(seed), has_list)
        if world.chance.random() < 0.5:
            world.start_container(world.chance.choice(["running", "exited"]))
        for _run in range(world.chance.randrange(1, 5)):
            known = set(world.containers)
            world.kill_in = world.chance.choice([10**9, *range(12)])
            try:
                end = world.run()
            except KilledError:
                end = "killed"
            ends[end] = ends.get(end, 0) + 1
            assert known <= set(world.containers), f"{seed}: a run deleted a container"
            names = [box["name"] for box in world.containers.values()]
            assert len(names) == len(set(names)), (seed, world)
            world.disturb()
        assert len(set(world.requests)) == len(world.requests), (seed, world)
        # An undisturbed run ends what an interrupted one has begun.
        world.kill_in = 10**9
        world.now += 1000
        end = world.run()
        assert end in ("none", "fail", "rejected"), (seed, end, world)
        if world.record.get("state") in ("preparing", "restoring"):
            assert end == "fail" and world.named("slb") not in (None, world.record["aside"]["id"]), (seed, world)
    assert set(ends) >= {"none", "fail", "rejected", "killed"}, ends
