"""Where nothing safe can be done, nothing is done; and diagnose, --check and rollout say the same."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sites import SERVE, Site, Sites, said

OPERATOR: dict[str, dict[str, Any]] = {
    "bookworm-1": {"slb_unverified_engine": "adopt"},
    "trixie-1": {"slb_unverified_engine": "replace"},
    "bullseye-2": {"slb_unverified_engine": "replace", "slb_allow_established": True},
}


def serve_a_client(site: Site) -> None:
    site.run_container()
    site.connect_a_client()


@pytest.fixture(scope="module")
def prepared(sites):
    """Which container was there when the runs began, by host."""
    sites.prepare(
        {
            "bullseye-1": lambda site: site.run_container(),
            "bookworm-1": lambda site: site.run_container(),
            "trixie-1": serve_a_client,
            "bullseye-2": serve_a_client,
            "bookworm-2": lambda site: site.hold_the_port(),
            "trixie-2": lambda site: site.run_container("other", *SERVE),
        }
    )
    return {site.name: site.engine for site in sites}


def what_is_there(sites: Sites) -> dict[str, object]:
    return {site.name: (site.containers, site.engine, site.record, site.file("/etc/motd")) for site in sites}


@pytest.fixture(scope="module")
def predicted(sites, prepared):
    """What diagnose and the check mode of rollout say; neither may change anything."""
    before = what_is_there(sites)
    with ThreadPoolExecutor() as both:
        diagnosis = both.submit(sites.play, "slb.fleet.diagnose", variables=OPERATOR)
        checked = sites.play("slb.fleet.rollout", "--check", variables=OPERATOR)
        diagnosed = diagnosis.result()
    assert what_is_there(sites) == before
    assert [site.requests.get("install", 0) for site in sites] == [0] * 6
    return diagnosed, checked


@pytest.fixture(scope="module")
def rollout(sites, predicted):
    return sites.play("slb.fleet.rollout", variables=OPERATOR)


def test_diagnose_and_check_mode_say_what_rollout_then_decides(sites, predicted, rollout):
    diagnosed, checked = predicted
    for site in sites:
        assert checked.report[site.name].split()[0] == diagnosed.report[site.name].split()[0], checked.output
    assert [rollout.of("failed")[name] for name in ("bullseye-1", "trixie-1")] == [1, 1], rollout.output


def test_an_unrecorded_engine_is_left_alone(sites, prepared, rollout):
    site = sites["bullseye-1"]
    assert "slb_unverified_engine: adopt" in said(rollout, site.name), rollout.output
    assert (site.engine, site.record) == (prepared[site.name], {})
    assert site.containers == {"slb": "running"}


def test_an_unrecorded_engine_is_adopted_on_the_operators_word(sites, prepared, rollout):
    site = sites["bookworm-1"]
    assert site.is_verified(by="host"), rollout.output
    assert site.engine == prepared[site.name]
    assert not site.requests.get("install")


def test_an_engine_with_connections_is_not_replaced(sites, prepared, rollout):
    site = sites["trixie-1"]
    assert "slb_allow_established: true" in said(rollout, site.name), rollout.output
    assert (site.engine, site.containers) == (prepared[site.name], {"slb": "running"})


def test_an_engine_with_connections_is_replaced_where_this_host_is_said_to_allow_it(sites, prepared, rollout):
    site = sites["bullseye-2"]
    assert site.is_verified(by="host"), rollout.output
    assert (site.engine != prepared[site.name], site.leftovers) == (True, ["exited"])


@pytest.mark.parametrize(("host", "process"), [("bookworm-2", "python3"), ("trixie-2", "httpd")])
def test_who_holds_the_port_is_named_and_left_alone(sites, rollout, host, process):
    site = sites[host]
    assert f"8000 ({process})" in said(rollout, host), rollout.output
    assert site.record == {}, "the rejected request is not recorded any more"
    assert site.containers == ({"other": "running"} if host == "trixie-2" else {})
    assert site.host.exec(["curl", "-s", "-o", "/dev/null", "http://127.0.0.1:8000/"]).returncode == 0
