"""Events of a job: AWX shows at most 4,000 of them."""

from types import SimpleNamespace

import ansible_runner
import pytest
import yaml
from rollouts import environment, inventory

from ansible_collections.slb.fleet.tests.awx.launches import ROOT

HOSTS = 4


# A healthy host needs no management node.
NODE = SimpleNamespace(base_url="https://127.0.0.1:9", certificate=SimpleNamespace(fingerprint="0" * 64))


@pytest.mark.parametrize("playbook", ["rollout", "diagnose", "audit"])
def test_healthy_job_of_4_hosts_makes_at_most_30_events(tmp_path, playbook):
    hosts = inventory(NODE, tmp_path / "hosts", HOSTS, {f"edge-{number}": "verified" for number in range(1, HOSTS + 1)})
    for name, content in (("inventory/hosts.yml", hosts), ("env/extravars", {"awx_job_id": 7})):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(yaml.safe_dump(content))
    variables = {**environment(tmp_path / "reports"), "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".cache" / "dev")}
    done = ansible_runner.run(
        private_data_dir=str(tmp_path), project_dir=str(ROOT / "examples" / "awx"), playbook=f"{playbook}.yml",
        envvars={**variables, "ANSIBLE_HOME": str(tmp_path / "home")}, quiet=True,
    )  # fmt: skip
    events = list(done.events)
    shown = "\n".join(event["stdout"] for event in events)
    assert done.rc == 0, shown
    assert ("4 healthy" if playbook == "diagnose" else "4/4 healthy") in shown
    assert events[-1]["counter"] == len(events) <= 30, shown
    # AWX shows the lines of the events that have some.
    assert sum(len(event["stdout"].split("\r\n")) for event in events if event["stdout"]) <= 40, shown
    if playbook == "diagnose":
        return
    (stats,) = (event["event_data"] for event in events if event["event"] == "playbook_on_stats")
    assert stats["artifact_data"]["slb_fleet_7"]["complete"]
    assert stats["artifact_data"]["slb_fleet_7"]["counts"]["healthy"] == HOSTS
