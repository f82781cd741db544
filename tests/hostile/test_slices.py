"""A fleet that several executors share out: ansible-runner's transmit, worker and process, a folder for each slice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostile_server import INSTALL, LOGIN, answer, for_session
from rollouts import environment, inventory

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostile_server import Exchange, HostileServer

    from playbooks import Controller

SLICES, HOSTS = 3, 24
RUNNER = shutil.which("ansible-runner", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "ansible-runner"


class Slices:
    """Each in folders of its own, as on machines of their own; ``variables``: of all of them."""

    def __init__(self, controller: Controller, server: HostileServer, **variables: Any) -> None:
        self._controller, self._variables = controller, variables
        self._whole = inventory(server, controller.folder / "hosts", HOSTS)
        self.reports = [controller.folder / f"reports-{number}" for number in range(1, SLICES + 1)]

    def of(self, number: int) -> list[str]:
        """As AWX shares an inventory out: every third host."""
        return list(self._whole["engines"]["hosts"])[number - 1 :: SLICES]

    def run(self) -> list[str]:
        with ThreadPoolExecutor(SLICES) as side_by_side:
            return list(side_by_side.map(self._run, range(1, SLICES + 1)))

    def documents(self) -> list[dict[str, Any]]:
        return [json.loads((folder / "report.json").read_text()) for folder in self.reports]

    def _run(self, number: int) -> str:
        home = self._controller.folder / f"executor-{number}"
        sent, there, back = (home / name for name in ("sent", "there", "back"))
        for part in ("inventory", "project", "env"):
            (sent / part).mkdir(parents=True)
        there.mkdir()
        back.mkdir()
        own = {name: self._whole["engines"]["hosts"][name] for name in self.of(number)}
        (sent / "inventory" / "hosts.json").write_text(
            json.dumps({"engines": {**self._whole["engines"], "hosts": own}})
        )
        (sent / "project" / "site.yml").write_text("- import_playbook: slb.fleet.rollout\n")
        variables = {"slb_slice": f"{number}/{SLICES}", **self._variables}
        (sent / "env" / "extravars").write_text(json.dumps(variables))
        of_the_run = self._controller.environment(**environment(self.reports[number - 1]))
        of_the_run |= {"ANSIBLE_LOCAL_TEMP": str(home / "tmp"), "HOME": str(home), "TMPDIR": str(home)}
        (sent / "env" / "envvars").write_text(json.dumps({**of_the_run, "ANSIBLE_FORKS": "4"}))
        line = (
            f"{RUNNER} transmit {sent} -p site.yml | {RUNNER} worker --private-data-dir {there} "
            f"| {RUNNER} process {back}"
        )
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", line], env={**of_the_run, "PATH": path}, cwd=home, capture_output=True, text=True,
            timeout=300, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.stdout + done.stderr


def begun_by(server: HostileServer) -> list[str]:
    return [json.loads(request.body)["name"] for request in server.to(INSTALL)]


def test_slices_side_by_side_are_one_rollout(start: Callable[..., Any], controller: Controller) -> None:
    server = start()
    slices = Slices(controller, server, slb_canary="first_slice")
    said = slices.run()
    assert server.seen[LOGIN] == SLICES, "one login a slice"
    assert sorted(begun_by(server)) == sorted(name for number in range(1, SLICES + 1) for name in slices.of(number)), (
        said
    )
    documents = slices.documents()
    assert [document["counts"]["proven"] for document in documents] == [HOSTS // SLICES] * SLICES, said
    assert [document["run"]["slice"] for document in documents] == ["1/3", "2/3", "3/3"]
    of_the_rollout = [
        [batch["hosts"] for batch in document["run"]["batches"] if batch["play"].startswith("Roll out")]
        for document in documents
    ]
    assert of_the_rollout == [[1, 1, 6], [1, 7], [1, 7]], "10 % of eight hosts is one, and is no canary"
    whole = controller.folder / "whole"
    program = [sys.executable, "-m", "ansible_collections.slb.fleet.plugins.plugin_utils.merge_reports"]
    subprocess.run(
        [*program, "--into", whole, *slices.reports],
        env={**controller.environment(), "PYTHONPATH": controller.environment()["ANSIBLE_COLLECTIONS_PATH"]},
        check=True,
    )
    assert json.loads((whole / "report.json").read_text())["counts"]["proven"] == HOSTS
    assert (whole / "retry").read_text() == "!all\n"


def test_a_budget_of_the_whole_is_shared_out(start: Callable[..., Any], controller: Controller) -> None:
    """Each of three slices may lose one host. In the first two fail; the others go on to their end."""
    failing = {"edge-1", "edge-4"}

    def behave(exchange: Exchange) -> None:
        name = json.loads(exchange.request.body)["name"]
        answer(200, '{"code":1,"msg":"no room"}' if name in failing else '{"code":0,"msg":"started"}')(exchange)

    server = start({INSTALL: [for_session(behave)]})
    slices = Slices(controller, server, slb_max_fail_hosts=3, slb_serial=4)
    said = slices.run()
    counts = [document["counts"] for document in slices.documents()]
    assert [each["failed"] for each in counts] == [2, 0, 0], said
    assert [each["proven"] for each in counts] == [2, 8, 8], said
    assert "2 of 8 hosts have failed, and slb_max_fail_hosts allows 1 in this slice" in " ".join(said[0].split())
    assert [each["not_attempted"] for each in counts] == [4, 0, 0], "the second batch of the first slice"
    play = [{"ansible.builtin.import_playbook": "slb.fleet.merge_reports"}]
    reports = json.dumps({"slb_reports": [str(folder) for folder in slices.reports], "slb_merged_dir": "whole"})
    merged = controller.run(play, {"all": {"hosts": {"localhost": {}}}}, "-e", reports)
    merged.assert_ok()
    retry = (controller.folder / "whole" / "retry").read_text().split()
    assert set(retry) == failing | set(slices.of(1)[4:])
