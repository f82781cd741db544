"""The inventory plugin: hosts of the engine list, their groups and variables, and the cache."""

import contextlib
import json
import re

import pytest
from ansible import constants
from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import inventory_loader
from fake_node import LOGIN, PASSWORD, answer, for_session
from scenarios import ENGINE_LIST, LIST, options_of

NAME = "slb.fleet.engines"


def item(name, address="192.0.2.1", state="up"):
    return {"n": name, "ip": address, "st": state}


@pytest.fixture
def read(start, tmp_path, monkeypatch):
    """Return the inventory of these items, the warnings or the error, and the node."""
    monkeypatch.chdir(tmp_path)
    # A node of an earlier test may have had this port: its session is no longer known.
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))

    def run(items, node=None, **options):
        node = node or start({LIST: [for_session(answer(200, json.dumps({"items": items})))]})
        path = tmp_path / "a_slb_engines.yml"
        path.write_text(json.dumps({"plugin": NAME, **options_of(node), "engine_list": ENGINE_LIST, **options}))
        inventory, plugin, said = InventoryData(), inventory_loader.get(NAME), list[str]()
        monkeypatch.setattr(plugin.display, "warning", said.append)
        try:
            loader = DataLoader()
            loader.set_basedir(str(tmp_path))
            plugin.parse(inventory, loader, str(path), cache=True)
            with contextlib.suppress(AttributeError):  # as ansible-core calls it
                plugin.update_cache_if_changed()
        except AnsibleParserError as error:
            said.append(str(error))
        inventory.reconcile_inventory()
        assert PASSWORD not in str(said)
        return inventory, "\n".join(said), node

    return run


def variables(inventory, host):
    return {key: value for key, value in inventory.hosts[host].vars.items() if not key.startswith("inventory_")}


def members(inventory, group):
    return [host.name for host in inventory.groups[group].get_hosts()]


def test_engines_are_hosts(read):
    found, _, node = read([item("edge-1", "192.0.2.1/24"), item("edge-2", "2001:DB8::2", "odd")])
    assert members(found, "engines") == ["edge-1", "edge-2"]
    assert variables(found, "edge-1") == {
        "slb_engine_name": "edge-1",
        "slb_manage_ip": "192.0.2.1",
        "ansible_host": "192.0.2.1",
        "slb_engine_state": "running",
    }
    assert variables(found, "edge-2")["slb_engine_state"] == "unmapped"
    assert node.seen == {LOGIN: 1, LIST: 1}


NO_HOSTS = [
    *(item(name) for name in ("{{ 1 + 1 }}", "a b", "../x", "edge[1:9]", "localhost", "all", "engines", "", "x" * 200)),
    *(item("edge-2", address) for address in ("edge-2.lan", "127.0.0.1", "{{ x }}")),
]


@pytest.mark.parametrize("other", NO_HOSTS, ids=str)
def test_engine_that_cannot_be_a_host_is_skipped(read, other):
    found, said, _ = read([item("edge-1"), other])
    assert list(found.hosts) == ["edge-1"]
    assert "skipped" in said


def test_engine_at_several_addresses_is_skipped(read):
    found, _, _ = read([item("edge-1"), item("edge-2"), item("edge-2", "192.0.2.9"), item("edge-1")])
    assert list(found.hosts) == ["edge-1"]


def test_groups_and_variables_can_be_composed(read):
    found, _, _ = read(
        [item("edge-1"), item("edge-2", state="odd")],
        compose={"slb_user_credential_id": "7"},
        groups={"to_check": "slb_engine_state != 'running'"},
        keyed_groups=[{"prefix": "console", "key": "slb_engine_state"}, {"prefix": "ip", "key": "slb_manage_ip"}],
        strict=True,
    )
    assert members(found, "to_check") == ["edge-2"]
    assert members(found, "console_running") == ["edge-1"]
    assert members(found, "ip_192_0_2_1") == ["edge-1", "edge-2"]
    assert variables(found, "edge-1")["slb_user_credential_id"] == 7


@pytest.mark.parametrize(
    ("option", "value", "cause"),
    [
        ("keyed_groups", [{"key": "slb_engine_name"}], "prefix"),
        ("password", 342391, "number"),
        ("engine_list", None, "missing"),
        ("group", "all", "'all'"),
        ("group", "a b", "'a b'"),
        ("engine_lsit", {}, "unknown"),
        ("username", True, "boolean"),
        ("tls_fingerprint", "", "fingerprint"),
    ],
)
def test_unusable_option_is_an_error(read, option, value, cause):
    found, said, node = read([item("edge-1")], **{option: value})
    assert not found.hosts
    assert re.search(rf"Option {option} (invalid|missing)\b", said), said
    assert cause in said
    assert "342391" not in said
    assert node.connections == 0


@pytest.mark.parametrize(
    ("filters", "hosts"),
    [
        ([{"exclude": "slb_engine_state == 'failed'"}], ["edge-1", "lab-1"]),
        ([{"include": "inventory_hostname is match('edge-')"}, {"exclude": True}], ["edge-1", "edge-2"]),
        (
            [{"exclude": "slb_manage_ip == '192.0.2.1'"}, {"include": "ansible_host == '192.0.2.1'"}],
            ["edge-2", "lab-1"],
        ),
        ([{"include": False}], ["edge-1", "edge-2", "lab-1"]),
    ],
)
def test_filters_select_engines_in_order(read, filters, hosts):
    items = [item("edge-1"), item("edge-2", "192.0.2.2", "down"), item("lab-1", "192.0.2.3")]
    found, said, _ = read(items, filters=filters, engine_list={**ENGINE_LIST, "failed": ["down"]})
    assert (members(found, "engines"), said) == (hosts, "")


@pytest.mark.parametrize(
    "filters", [[{"exclude": "no_such_name"}], [{"without": "x"}], [{"include": "1", "exclude": "1"}]]
)
def test_filter_that_is_unusable_is_an_error(read, filters):
    found, said, _ = read([item("edge-1")], filters=filters)
    assert "Option filters invalid" in said
    assert not found.hosts


def test_empty_list_is_an_error(read):
    assert "empty" in read([])[1]
    assert "empty" not in read([], may_be_empty=True)[1]


def test_cache_is_used(read, tmp_path):
    options = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(tmp_path / "cache")}
    first, _, node = read([item("edge-1")], **options)
    second, _, _ = read([], node=node, **options)
    assert list(first.hosts) == list(second.hosts) == ["edge-1"]
    assert node.seen[LIST] == 1
    assert PASSWORD not in next((tmp_path / "cache").iterdir()).read_text()


def test_options_may_be_templates(read, tmp_path):
    (tmp_path / "list.json").write_text(json.dumps(ENGINE_LIST))
    found, said, _ = read([item("edge-1")], engine_list="{{ lookup('file', 'list.json') | from_json }}")
    assert members(found, "engines") == ["edge-1"], said
