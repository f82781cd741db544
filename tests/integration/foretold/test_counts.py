"""What a run costs, counted: tasks and SSH round trips of a host, and what the management node is asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fleet import Fleet
from scenes import DESCRIBED
from wards import Case, Wards

HERE = Path(__file__).parent
LICENSE_PLAYS = {"Download the license"}
MOST_TASKS, MOST_TRIPS = 9, 7
# A container that has to run for long gives the management node time to list its engine: a look at a host whose engine
# is not listed yet is one more trip, and how many of them there are hangs on how fast the node is.
POLICY = {"slb_settle": 15, "slb_wait_timeout": 120}
CLEAN = Case("absent", "install", "There is no engine")


@dataclass(frozen=True)
class Cost:
    """By host: executed tasks, those of the license's play apart, and calls of ssh. ``asked``: of the node."""

    tasks: dict[str, int]
    trips: dict[str, int]
    asked: dict[str, int]
    calls: str = field(compare=False, default="")


class Counted(Fleet):
    """Counts what its runs cost."""

    def __init__(self, wards: Wards, folder: Path) -> None:
        self.lab, self.inventory, self._wards, self._folder = wards.fleet.lab, wards.fleet.inventory, wards, folder
        for name in ("ssh", "sftp", "scp"):
            (folder / name).symlink_to(HERE / "counted-ssh")

    def environment(self) -> dict[str, str]:  # type: ignore[override]
        return {
            **super().environment(),
            "ANSIBLE_CALLBACK_PLUGINS": str(HERE / "callback_plugins"),
            "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report,count_tasks",
            "COUNT_TASKS_TO": str(self._folder / "tasks"),
            "COUNT_SSH_IN": str(self._folder / "calls"),
            **{f"ANSIBLE_{name.upper()}_EXECUTABLE": str(self._folder / name) for name in ("ssh", "sftp", "scp")},
        }

    def cost(self, *arguments: str, **variables: Any) -> Cost:
        """Of a rollout that ends well."""
        calls = self._folder / "calls"
        calls.write_text("")
        self._wards.node.reset_counters()
        run = self.play("slb.fleet.rollout", *arguments, variables={"slb_serial": "100%", **variables})
        assert run.status == 0, run.output
        counts: dict[str, dict[str, int]] = json.loads((self._folder / "tasks").read_text())
        every = {host: sum(play.get(host, 0) for play in counts.values()) for host in run.recap}
        shown = {host: of["ok"] + of["skipped"] + of["failed"] for host, of in run.recap.items()}
        assert every == shown, "the callback and the recap count the same"
        own = [play for name, play in counts.items() if name not in LICENSE_PLAYS]
        state = self._wards.node.state()
        return Cost(
            {host: sum(play.get(host, 0) for play in own) for host in run.recap},
            {host: calls.read_text().count(f" {self._wards[host].host.address} ") for host in run.recap},
            {what: number for what, number in state["counters"].items() if number},
            calls.read_text(),
        )


@pytest.fixture(scope="module")
def counted(wards: Wards, tmp_path_factory: pytest.TempPathFactory) -> Counted:
    return Counted(wards, tmp_path_factory.mktemp("counted"))


@pytest.mark.parametrize("variables", [{}, DESCRIBED], ids=["without a list", "with a list"])
def test_what_a_clean_host_and_a_healthy_one_cost(wards: Wards, counted: Counted, variables: dict[str, Any]) -> None:
    names = wards.names[:3]
    wards.prepare(dict.fromkeys(wards.names, CLEAN), POLICY)
    cost = counted.cost("--limit", ",".join(names), **variables)
    assert set(cost.tasks) == set(names)
    assert max(cost.tasks.values()) <= MOST_TASKS, cost
    assert max(cost.trips.values()) <= MOST_TRIPS, f"{cost.trips}\n{cost.calls}"
    assert (cost.asked["login"], cost.asked["install"]) == (1, len(names)), cost

    again = counted.cost("--limit", ",".join(names), **variables)
    assert again.tasks == again.trips == dict.fromkeys(names, 1), again
    assert again.asked == ({"login": 1, "engines": 1} if variables else {}), again


def test_a_license_that_is_asked_for_costs_the_hosts_nothing(wards: Wards, counted: Counted, tmp_path: Path) -> None:
    names = wards.names[:3]
    cost = counted.cost("--limit", ",".join(names), slb_license_dest=str(tmp_path / "license"))
    assert cost.tasks == cost.trips == dict.fromkeys(names, 1), cost
    assert (tmp_path / "license").stat().st_size
    assert cost.asked["login"] == 1, cost
