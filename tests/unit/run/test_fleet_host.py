"""One host in the light of the others: conflicts, the limit of replacements, and the login banner."""

from types import SimpleNamespace

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.slb.fleet.plugins.action import engine_plan
from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils import fleet_host
from ansible_collections.slb.fleet.plugins.plugin_utils.fleet_host import FleetHost
from ansible_collections.slb.fleet.plugins.plugin_utils.listed import Excerpt
from ansible_collections.slb.fleet.plugins.plugin_utils.reservations import Reservations

CONTAINER = {
    **dict.fromkeys(("exit_code", "manager", "why", "image"), None),
    **{"state": "running", "id": "c1", "runtime": "docker", "uptime": 100.0, "restart_count": 0, "auto_remove": False},
    **{"connections": 0, "peers": [], "outbound": 0},
}


def facts(number, **more):
    rest = {"root": True, "running_leftovers": [], "machine": f"m{number}", "addresses": [f"192.0.2.{number}"]}
    return {"engine_container": CONTAINER, "record": {"state": "none"}, **rest, **more}


def host(folder, number, size=4, **variables):
    known = {
        "inventory_hostname": f"edge-{number}",
        "ansible_host": f"192.0.2.{number}",
        "ansible_play_hosts_all": ["x"] * size,
        **{"slb_base_url": "https://console.example", "slb_username": "u", "slb_password": "p"},
        **{f"slb_{name}": value for name, value in variables.items()},
    }
    made = FleetHost.from_variables(known, Templar(loader=DataLoader(), variables=known))
    made.reservations = Reservations(folder)
    return made


LIST = {"path": "/engines", "name": "n", "address": "a", "state": "s", "running": ["up"]}


@pytest.mark.parametrize(("limit", "blocked"), [("10%", True), ("50%", True), ("75%", False), (3, False), (0, True)])
def test_replacements_are_limited_over_the_whole_run(tmp_path, monkeypatch, limit, blocked):
    monkeypatch.setattr(fleet_host, "fetch_excerpt", lambda *_arguments: Excerpt(5))
    hosts = [host(tmp_path, number, engine_list=LIST, max_replaced=limit) for number in (1, 2, 3)]
    for each in hosts:
        each.fetch_list()
    checked = [each.plan(facts(number)) for number, each in enumerate(hosts, 1)]
    assert [plan.code for plan in checked] == ["leftover"] * 3
    compared = [each.plan(facts(number), is_compared=True) for number, each in enumerate(hosts, 1)]
    assert [plan.code == "replace_limit_exceeded" for plan in compared] == [blocked] * 3
    assert len({(plan.summary, plan.fix) for plan in compared}) == (1 if blocked else 3), (
        "a shared cause has one wording"
    )


def test_percentage_is_of_the_hosts_of_the_run(tmp_path, monkeypatch):
    """The plays after the check have fewer hosts."""
    monkeypatch.setattr(fleet_host, "fetch_excerpt", lambda *_arguments: Excerpt(5))
    for number, size in ((1, 20), (2, 20), (1, 2)):
        checked = host(tmp_path, number, size=size, engine_list=LIST)
        checked.fetch_list()
        checked.plan(facts(number))
    compared = checked.plan(facts(1), is_compared=True)
    assert compared.code == "leftover"


def test_engine_that_starts_after_the_fetch_is_not_missing(tmp_path, monkeypatch):
    """Facts are gathered after the fetch: an engine that is deployed in between runs, and is still listed so."""
    world = {"listed": "deploying", "container": "absent"}
    entry = {"name": "edge-1", "address": "192.0.2.1"}
    monkeypatch.setattr(
        fleet_host, "fetch_excerpt", lambda *_unused: Excerpt(1, ({**entry, "state": world["listed"]},))
    )

    class Action(engine_plan.ActionModule):
        def __init__(self):
            self._task = SimpleNamespace(args={}, check_mode=False, get_ds=dict, action="", resolved_action="")
            self._loader, self._templar = DataLoader(), None

        def on_host(self, *_arguments, **_more):
            found = facts(1, engine_container={**CONTAINER, "state": world["container"]})
            world.update(listed="running", container="running")
            return {"slb_host": found}

    made = host(tmp_path, 1, engine_list=LIST)
    monkeypatch.setattr(engine_plan.FleetHost, "from_variables", lambda *_unused, **_more: made)
    assert Action().act({})["plan"]["code"] == "deploying_in_engine_list"


def test_two_hosts_with_one_name_address_or_machine_are_blocked(tmp_path):
    first, second = host(tmp_path, 1), host(tmp_path, 2, engine_name="edge-1")
    for each in (first, second):
        each.reserve()
    second.reserve()
    first.reserve()
    assert first.plan(facts(1)).code == second.plan(facts(2)).code == "duplicate_engine"
    third, fourth = host(tmp_path, 3), host(tmp_path, 4)
    third.plan(facts(3, machine="same"))
    assert fourth.plan(facts(4, machine="same")).code == "duplicate_engine"


@pytest.mark.parametrize(
    ("sources", "moves"),
    [
        ([("/etc/motd", 286)], False),
        ([("/etc/motd", 600)], True),
        ([("/etc/motd", 286), ("/run/motd.dynamic", 9000)], False),
        ([("/etc/motd", 286), ("/etc/motd.d/x", 9000)], False),
        ([("/etc/motd", 400), ("/etc/motd.d/x", 200)], True),
        ([("/etc/motd.d/x", 9000), ("/etc/update-motd.d (2 scripts)", None)], False),
    ],
)
def test_moves_banner_only_if_that_helps(tmp_path, sources, moves):
    named = [{"source": source, "bytes": size} for source, size in sources]
    motd = {"path": "/etc/motd", "target": None, "sources": named, "bytes": sum(size or 0 for _name, size in sources)}
    assert host(tmp_path, 1).moves_banner({"motd": motd}) is moves
    assert host(tmp_path, 1, motd="keep").moves_banner({"motd": motd}) is False


@pytest.mark.parametrize(("wait", "is_valid"), [(80, True), (79.9, False)])
def test_wait_shorter_than_a_call_and_a_minute_is_refused(tmp_path, wait, is_valid):
    def read():
        return host(tmp_path, 1, timeout=10, retries=1, wait_timeout=wait)

    if is_valid:
        assert read().policy.wait_timeout == wait
        return
    with pytest.raises(FleetError, match=r"slb_wait_timeout.*slb_timeout.*slb_retries") as caught:
        read()
    assert caught.value.code == "invalid_variable"
