"""A run, told as the callback is told of it: events in, a document out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, fields
from datetime import datetime, timezone
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Document, RunEntry, Status
from ansible_collections.slb.fleet.plugins.plugin_utils._report.gathering import Gathering
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import NextStep
from ansible_collections.slb.fleet.plugins.plugin_utils._report.seen import phase_of, seen
from ansible_collections.slb.fleet.plugins.plugin_utils._report.story import Ending

LOOK, INSTALL, STOP = "slb.fleet.engine_plan", "slb.fleet.engine", "slb.fleet.engine_container"
NODE = "https://console.example"
HEALTHY = {
    "action": "none",
    "code": "healthy",
    "summary": "The engine runs in the container that the record names, and the console lists it as running.",
    "verified_by": "engine_list",
    "seen": ["container slb running for 70 s", "deployment record verified", "engine list running"],
}
ABSENT = {
    "action": "install",
    "code": "not_installed",
    "summary": "There is no engine on the host.",
    "seen": ["absent"],
}
LIVE = {"action": "fail", "code": "unverified_container", "summary": "The container slb is running: it could be live."}


def decided(host_plan: dict[str, Any], host: str = "edge-1", requests: int = 0, **more: Any) -> dict:
    """As engine_plan returns it."""
    return {
        "changed": False,
        "plan": host_plan,
        "slb_host": {"engine_container": {"state": "absent"}},
        "engine": {"name": host, "manage_ip": "192.0.2.11", "base_url": NODE},
        "requests": requests,
        **(
            {}
            if host_plan["action"] in ("none", "fail")
            else {"work": f"{host_plan['action']}: {host} 192.0.2.11 {NODE}"}
        ),
        **more,
    }


class Happenings:
    """One run. Times are seconds since its begin, which was on a day at noon."""

    def __init__(
        self,
        playbook: str = "slb.fleet.rollout",
        check: bool = False,
        folder: str = "",
        inventory: tuple[str, ...] = ("-i", "inventory.yml"),
        step: NextStep | None = None,
        **facts: Any,
    ) -> None:
        facts = {"began": "", "updated": "", "ended": None, "seconds": 0, **facts}
        noon = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)
        step = step or NextStep(inventory, folder)
        run = RunEntry(playbook=playbook, check=check, status="running", **facts)
        self.gathering = Gathering(run, step, noon, 0.0)
        self.now, self._task, self._rounds = 0.0, 0, {}

    def play(self, name: str, *hosts: str, batch: tuple[str, ...] | None = None) -> None:
        self.gathering.play(name, hosts, hosts if batch is None else batch, self.now)

    def task(self, host: str, module: str, result: dict[str, Any], seconds: float = 1, ending: Ending = "ok") -> None:
        self._task += 1
        self.gathering.begin(host, str(self._task), module, self.now)
        self.now += seconds
        found = seen(module, result, self.gathering.check)
        phase = phase_of(module, result, self._rounds.get(host, 0))
        self.gathering.end(host, str(self._task), ending, found, phase, self.now)
        self._rounds[host] = found.rounds or self._rounds.get(host, 0)

    def look(self, host: str, host_plan: dict[str, Any], seconds: float = 1, **more: Any) -> None:
        self.task(host, LOOK, decided(host_plan, host, **more), seconds)

    def fail(self, host: str, host_plan: dict[str, Any], seconds: float = 1) -> None:
        self.task(host, LOOK, {"plan": host_plan, "failed": True, "msg": host_plan["summary"]}, seconds, "failed")

    def lose(self, host: str, words: str = "Connection timed out") -> None:
        self.task(host, LOOK, {"msg": words, "unreachable": True}, 10, "unreachable")

    def ended(self, status: Status = "finished") -> Document:
        self.gathering.finish(status, self.now)
        return self.gathering.document(self.now)

    def so_far(self) -> Document:
        return self.gathering.document(self.now)


def untold(entries: Iterable[Any]) -> list[str]:
    """The fields that say nothing in any of them, which are of one dataclass."""
    every = list(entries)
    return [
        field.name
        for field in fields(every[0])
        if all(getattr(each, field.name) in (None, "", (), {}, False, _default(field)) for each in every)
    ]


def _default(field: Any) -> Any:
    return None if field.default is MISSING else field.default


def troubled(folder: str = "") -> Document:
    """One host of each kind."""
    run = Happenings(folder=folder, management_nodes=())
    hosts = ("edge-1", "edge-2", "edge-3", "edge-4")
    run.play("look", *hosts)
    run.look("edge-1", HEALTHY)
    run.fail("edge-2", LIVE)
    run.lose("edge-3")
    run.look("edge-4", ABSENT)
    run.play("deploy", "edge-4", "edge-5", batch=("edge-5",))
    run.task("edge-5", LOOK, {"failed": True, "msg": "The host's answer cannot be used."}, ending="failed")
    return run.ended()
