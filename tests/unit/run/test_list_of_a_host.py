"""A fetch of the engine list that fails shows nothing about an engine."""

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils import fleet_host
from ansible_collections.slb.fleet.plugins.plugin_utils.fleet_host import FleetHost
from ansible_collections.slb.fleet.plugins.plugin_utils.listed import Excerpt
from ansible_collections.slb.fleet.plugins.plugin_utils.reservations import Reservations
from ansible_collections.slb.fleet.tests.unit.run.test_fleet_host import CONTAINER, LIST, facts


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Return the plan of a host with this container, after a fetch with this result."""

    def make(fetch, container, **variables):
        monkeypatch.setattr(fleet_host, "fetch_excerpt", fetch)
        known = {"inventory_hostname": "edge-1", "ansible_host": "192.0.2.1", "ansible_play_hosts_all": ["edge-1"]}
        known |= {"slb_base_url": "https://console.example", "slb_username": "u", "slb_password": "p"}
        known |= {"slb_engine_list": LIST, **variables}
        host = FleetHost.from_variables(known, Templar(loader=DataLoader(), variables=known))
        host.reservations = Reservations(tmp_path)
        host.fetch_list()
        return host.plan(facts(1, engine_container={**CONTAINER, "state": container}), is_compared=True)

    return make


def failed(*_arguments):
    raise FleetError("engine_list_unavailable", "Engine list unavailable: HTTP 503.", "Run again.")


def empty(*_arguments):
    return Excerpt(0)


@pytest.mark.parametrize("may_be_empty", [True, False])
@pytest.mark.parametrize("container", ["running", "exited", "absent"])
def test_failed_fetch_changes_nothing(plan, container, may_be_empty):
    made = plan(failed, container, slb_engine_list_may_be_empty=may_be_empty)
    assert (made.action, made.code) == ("fail", "engine_list_unavailable")


@pytest.mark.parametrize(
    ("may_be_empty", "expected"), [(False, ("fail", "engine_list_empty")), (True, ("replace", "leftover"))]
)
def test_empty_list_is_accepted_if_the_user_says_so(plan, may_be_empty, expected):
    made = plan(empty, "running", slb_engine_list_may_be_empty=may_be_empty)
    assert (made.action, made.code) == expected


ENGINES = [{"name": f"edge-{number}", "address": f"192.0.2.{number}"} for number in (4, 3, 2, 1)]


@pytest.fixture
def unknown(tmp_path, monkeypatch):
    """Return the engines that a run with edge-1 reports as unknown."""

    def report(engines=ENGINES, limit="all", **variables):
        class Cache:
            def __init__(self, _connection):
                pass

            def engines(self, _engine_list):
                return engines if isinstance(engines, list) else engines()

        monkeypatch.setattr(fleet_host, "RunCache", Cache)
        known = {"inventory_hostname": "edge-1", "ansible_host": "192.0.2.1", "ansible_limit": limit}
        known |= {"slb_base_url": "https://console.example", "slb_username": "u", "slb_password": "p"}
        known |= {"slb_engine_list": LIST, **variables}
        host = FleetHost.from_variables(known, Templar(loader=DataLoader(), variables=known))
        host.reservations = Reservations(tmp_path)
        host.reserve()
        return host.unknown_engines()

    return report


def test_engines_that_no_host_wants_are_reported_once(unknown):
    assert unknown() == ["edge-2 (192.0.2.2)", "edge-3 (192.0.2.3)", "edge-4 (192.0.2.4)"]
    assert unknown() == []


@pytest.mark.parametrize(
    "case",
    [{"slb_engine_list": None}, {"limit": "edge-1"}, {"engines": failed}, {"slb_engine_list": None, "limit": "edge-1"}],
    ids=["no list", "limit", "failed fetch", "no list, limit"],
)
def test_engines_are_unknown_only_to_a_whole_run(unknown, case):
    assert unknown(**case) == []


def test_engine_with_a_name_or_address_of_the_run_is_known(unknown):
    moved = [dict(ENGINES[3], address="192.0.2.77"), dict(ENGINES[3], name="west-1")]
    assert unknown(moved) == []
