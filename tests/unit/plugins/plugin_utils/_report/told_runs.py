"""A run as the callback records it: events in, a document out."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Document, Run, RunStatus
from ansible_collections.slb.fleet.plugins.plugin_utils._report.observed import observe
from ansible_collections.slb.fleet.plugins.plugin_utils._report.recorder import Ending, Recorder

PLAN, INSTALL = "slb.fleet.engine_plan", "slb.fleet.engine_install"
NODE = "https://console.example"
HEALTHY = {
    "action": "none",
    "code": "healthy",
    "summary": "The engine runs in the container that the record names.",
    "verified_by": "engine_list",
    "seen": ["container slb running for 70 s", "deployment record verified", "engine list running"],
}
ABSENT = {
    "action": "install",
    "code": "not_installed",
    "summary": "There is no engine on the host.",
    "seen": ["absent"],
}
RUNNING = {
    "action": "fail",
    "code": "unverified_container",
    "summary": "The container slb runs, and nothing verifies it.",
}


def planned(plan: dict[str, Any], host: str = "edge-1", requests: int = 0, **more: Any) -> dict[str, Any]:
    """Return a result of engine_plan."""
    has_work = plan["action"] not in ("none", "fail")
    return {
        "changed": False,
        "plan": plan,
        "engine": {"name": host, "manage_ip": "192.0.2.11", "base_url": NODE},
        "requests": requests,
        **({"work": f"{plan['action']}: {host} 192.0.2.11 {NODE}"} if has_work else {}),
        **more,
    }


class RecordedRun:
    """One run. ``now``: seconds since its begin, which was on a day at noon."""

    def __init__(self, playbook: str = "slb.fleet.rollout", folder: str = "", check: bool = False, **run: Any) -> None:
        noon = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)
        facts = {"inventory": ("-i", "inventory.yml"), **run}
        self.recorder = Recorder(Run(playbook, check, **facts), folder, noon, 0.0)
        self.now, self._task = 0.0, 0

    def play(self, name: str, *hosts: str, batch: tuple[str, ...] | None = None) -> RecordedRun:
        self.recorder.play(name, hosts, hosts if batch is None else batch, self.now)
        return self

    def start(self, host: str, *, is_step: bool = False) -> None:
        """Start a task that does not end."""
        self.recorder.start(host, "unfinished", self.now, is_step=is_step)

    def task(self, host: str, module: str, result: dict[str, Any], seconds: float = 1, ending: Ending = "ok") -> None:
        self._task += 1
        self.recorder.start(host, str(self._task), self.now)
        self.now += seconds
        self.recorder.end(host, str(self._task), ending, observe(module, result), self.now)

    def plan(self, host: str, plan: dict[str, Any], seconds: float = 1, **more: Any) -> None:
        self.task(host, PLAN, planned(plan, host, **more), seconds)

    def fail(self, host: str, plan: dict[str, Any]) -> None:
        """Let the plan of a host be one that fails, and the task that follows repeat it, as the playbooks do."""
        self.plan(host, plan)
        message = f"{plan['summary']} {plan.get('fix', '')}"
        self.task(host, "ansible.builtin.fail", {"failed": True, "msg": message}, ending="failed")

    def lose(self, host: str, message: str = "Connection timed out") -> None:
        self.task(host, PLAN, {"msg": message, "unreachable": True}, 10, "unreachable")

    def ended(self, status: RunStatus = "finished") -> Document:
        self.recorder.finish(status, self.now)
        return self.recorder.document(self.now)

    def so_far(self) -> Document:
        return self.recorder.document(self.now)


def troubled() -> Document:
    """Return the document of a run with a host of each status."""
    run = RecordedRun().play("check", "edge-1", "edge-2", "edge-3", "edge-4")
    run.plan("edge-1", HEALTHY)
    run.fail("edge-2", RUNNING)
    run.lose("edge-3")
    run.plan("edge-4", ABSENT)
    run.play("deploy", "edge-4", "edge-5", batch=("edge-5",))
    run.task("edge-5", PLAN, {"failed": True, "msg": "The host's answer cannot be used."}, ending="failed")
    return run.ended()


HOSTILE = '</script><script>alert(1)</script>"\x1b[31m]]>&{{ 7 * 7 }}\u202e\n# EOF'


def healthy(number: int) -> Document:
    run = RecordedRun()
    names = [f"edge-{each}" for each in range(number)]
    run.play("check", *names)
    for name in names:
        run.plan(name, HEALTHY, seconds=0.01)
    return run.ended()


def hostile() -> Document:
    run = RecordedRun().play("check", "edge-1", "edge-2")
    run.fail("edge-1", {"action": "fail", "code": "listed_but_not_running", "summary": HOSTILE, "seen": [HOSTILE]})
    run.lose("edge-2", HOSTILE)
    return run.ended()
