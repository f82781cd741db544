"""The repair alone, for hosts that the operator has named."""

import pytest
from sites import Site, Sites, said

pytestmark = pytest.mark.long


def serve_a_client(site: Site) -> None:
    site.run_container()
    site.connect_a_client()


def be_forgotten(sites: Sites, site: Site) -> None:
    """Its engine is verified by the host, and the console does not list it: only the operator can know."""
    rollout = sites.play("slb.fleet.rollout", "--limit", site.name)
    assert site.is_verified(by="host"), rollout.output
    site.node.forget(site.name)


def test_remediate_repairs_named_hosts_and_requests_nothing(sites):
    leftover, busy, unnamed, forgotten = sites
    sites.prepare(
        {
            leftover.name: lambda site: (site.run_container(), site.make_motd_noisy()),
            busy.name: serve_a_client,
            unnamed.name: Site.run_container,
        }
    )
    be_forgotten(sites, forgotten)
    for whole_group in (sites.play("slb.fleet.remediate"), sites.play("slb.fleet.remediate", slb_hosts="engines")):
        assert whole_group.status != 0
        assert "--limit HOST" in whole_group.words
    assert [site.containers for site in sites] == [{"slb": "running"}] * 4, "nothing was touched"

    remediated = sites.play("slb.fleet.remediate", "--limit", f"{leftover.name},{busy.name},{forgotten.name}")
    for site in (leftover, forgotten):
        assert list(site.containers.values()) == site.leftovers == ["exited"], remediated.output
    assert leftover.file("/etc/motd") == ""
    assert leftover.file("/etc/motd.slb-fleet").count("\n") == 400
    assert "slb_allow_established: true" in said(remediated, busy.name), remediated.output
    assert busy.containers == unnamed.containers == {"slb": "running"}
    assert not leftover.requests.get("install")

    again = sites.play("slb.fleet.remediate", "--limit", leftover.name)
    assert (again.status, again.changed) == (0, 0), "a host without a container needs no repair"


def state_of_interface(site):
    return site.host.exec(["nmcli", "-g", "GENERAL.STATE", "device", "show", "ens10"]).stdout


def test_retired_host_keeps_nothing_of_the_collection(sites):
    idle, busy, other, empty = sites
    sites.prepare({idle.name: Site.make_motd_noisy, busy.name: serve_a_client, other.name: Site.run_container})
    adopts = {"slb_adopt_interfaces": True, "slb_interfaces": ["ens10"]}
    installed = sites.play("slb.fleet.rollout", "--limit", idle.name, **adopts)
    assert idle.is_verified(by="host"), installed.output
    assert idle.file("/etc/motd") == ""
    assert "100 (connected)" in state_of_interface(idle)
    names = ("--limit", f"{idle.name},{busy.name},{empty.name}")
    sites.play("slb.fleet.retire", *names, "--check")
    assert (idle.containers, idle.file("/etc/motd")) == ({"slb": "running"}, "")

    retired = sites.play("slb.fleet.retire", *names)
    assert list(idle.containers.values()) == idle.leftovers == ["exited"], retired.output
    assert idle.file("/etc/motd").count("\n") == 400
    assert idle.record == {}
    assert "30 (disconnected)" in state_of_interface(idle)
    assert "slb_allow_established: true" in said(retired, busy.name), retired.output
    assert busy.containers == other.containers == {"slb": "running"}
    again = sites.play("slb.fleet.retire", "--limit", f"{idle.name},{empty.name}")
    assert (again.status, again.changed) == (0, 0), again.output
    idle.node.forget(idle.name)
    installed = sites.play("slb.fleet.rollout", "--limit", idle.name)
    assert idle.is_verified(by="host"), installed.output


def test_stopped_engines_are_started_by_one_command(sites):
    *stopped, held = sites
    sites.prepare({})
    installed = sites.play("slb.fleet.rollout")
    assert all(site.is_verified(by="host") for site in sites), installed.output
    before = {site.name: site.engine for site in sites}
    for site in sites:
        site.runtime("stop", "--time", "1", "slb")
    refused = sites.play("slb.fleet.rollout")
    assert "engine_stopped" in refused.report[held.name], refused.output
    held.hold_the_port()

    planned = sites.play("slb.fleet.rollout", "--check", slb_stopped_engine="start")
    assert all(site.containers == {"slb": "exited"} for site in sites), planned.output
    started = sites.play("slb.fleet.rollout", slb_stopped_engine="start")
    assert all(site.is_verified(by="host") for site in stopped), started.output
    assert "container_not_started" in started.report[held.name], started.output
    assert {site.name: site.engine for site in sites} == before, "no engine was installed again"
    assert sum(site.requests["install"] for site in sites) == 4
