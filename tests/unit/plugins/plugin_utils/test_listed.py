"""The state of an engine in the engine list: its name at its address, and nothing else, is that engine."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import Gap
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import engine_table, is_another_machine, listed


def entry(name="edge-1", address="192.0.2.11", state="running", word="up"):
    return {"name": name, "address": address, "state": state, "console_state": word}


OTHER = entry("edge-2", "192.0.2.12")

CASES = [
    ("listed", [OTHER, entry()], "running", ""),
    ("failed", [entry(state="failed")], "failed", ""),
    ("gone", [OTHER], "not_listed", ""),
    ("none at all", [], "empty", "the permissions of the user"),
    ("its name at another address", [entry(address="192.0.2.99")], "elsewhere", "at 192.0.2.99, and not"),
    ("another name at its address", [entry("west-2")], "other_name", "lists west-2 at 192.0.2.11"),
    ("a longer name at its address", [entry("edge-10")], "other_name", "lists edge-10 at 192.0.2.11"),
    ("both", [entry(), entry("west-2")], "unknown", "several engines"),
    ("twice, in different states", [entry(), entry(state="failed")], "unknown", "several engines"),
    ("twice, alike", [entry(), entry()], "running", ""),
    ("here, and its name elsewhere", [entry(address="192.0.2.99"), entry()], "running", ""),
    ("failed here, and elsewhere", [entry(address="192.0.2.99"), entry(state="failed")], "elsewhere", "it has failed"),
    ("in an unmapped state", [entry(state="unmapped", word="Up")], "unknown", "'Up'"),
    ("under the name of its host", [entry(address="edge-1.lan")], "unknown", "edge-1.lan"),
    ("without an address", [entry(address="")], "unknown", "edge-1 at ''"),
    ("without an address, deploying", [entry(address="0.0.0.0", state="deploying")], "unknown", "0.0.0.0"),
    ("failed here, and without an address", [entry(state="failed"), entry(address="")], "unknown", "edge-1 at ''"),
    ("elsewhere, and without an address", [entry(address="192.0.2.99"), entry(address="-")], "unknown", "'-'"),
    ("another one without an address", [OTHER, entry("edge-3", "")], "unknown", "''"),
    ("another one under the name of its host", [entry("edge-2", "edge-2.lan")], "unknown", "edge-2.lan"),
]


ABOUT_NO_ENGINE = ("gone", "none at all", "another one under the name of its host", "another one without an address")


@pytest.mark.parametrize(("case", "engines", "state", "words"), CASES, ids=[case[0] for case in CASES])
def test_state_of_an_engine(case, engines, state, words):
    found = listed(engines, "edge-1", "192.0.2.11")
    assert (found.state, words in found.words) == (state, True), found
    assert found.is_about_it == (case not in ABOUT_NO_ENGINE)


@pytest.mark.parametrize(
    ("engines", "kind", "state"),
    [
        ([OTHER], "unproven", "incomplete"),
        ([OTHER], "part", "incomplete"),
        ([OTHER], "old", "incomplete"),
        ([], "unproven", "empty"),
        ([], "part", "incomplete"),
        ([], "old", "incomplete"),
        *(([OTHER, entry()], kind, "running") for kind in ("unproven", "part", "old")),
        *(([entry(state="deploying")], kind, "deploying") for kind in ("unproven", "part", "old")),
        *(([entry("west-2")], kind, "other_name") for kind in ("unproven", "part", "old")),
        ([entry(state="failed")], "unproven", "failed"),
        ([entry(state="failed")], "part", "failed"),
        ([entry(state="failed")], "old", "incomplete"),
    ],
)
def test_state_in_a_list_that_proves_no_absence(engines, kind, state):
    found = listed(engines, "edge-1", "192.0.2.11", Gap(kind, "why", "how"))
    assert found.state == state
    assert (found.words, found.fix) == ("why", "how") or state != "incomplete"


def test_name_instead_of_an_address_is_unknown():
    found = listed([OTHER], "edge-1", "edge-1.lan")
    assert (found.state, found.is_about_it) == ("unknown", False)
    assert "'edge-1.lan' is not an IP address" in found.words


@pytest.mark.parametrize("address", ["300.1.1.1", "1.2.3", "01.2.3.4", "1.2.3.4.5", "::g", "edge-1.lan", "", "::"])
def test_listed_name_instead_of_an_address_is_unknown(address):
    assert not is_another_machine(address, ["192.0.2.11"])
    assert is_another_machine("192.0.2.12", ["192.0.2.11", "2001:db8::1"])
    assert not is_another_machine("2001:DB8:0::1", ["192.0.2.11", "2001:db8::1"])
    assert not is_another_machine("192.0.2.12", [])
    assert listed([entry("edge-2", address)], "edge-1", "192.0.2.11").state == "unknown"


def test_engine_table_shows_each_engine_and_each_host_once():
    engines = [entry(), entry("ghost", "192.0.2.99", "failed", "error"), entry("edge-3", "192.0.2.13")]
    hosts = {"h1": ("edge-1", "192.0.2.11"), "h2": ("edge-2", "192.0.2.12"), "h3": ("edge-3", "192.0.2.33")}
    _head, *rows = engine_table(engines, hosts)
    assert [(row.split()[0], row.split()[4], " yes" in row) for row in rows] == [
        ("edge-1", "h1", True),
        ("ghost", "-", False),
        ("edge-3", "h3", False),
        ("edge-2", "h2", False),
    ]
