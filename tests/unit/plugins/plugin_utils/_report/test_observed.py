"""What a result of a module shows of a host."""

from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._report.observed import observe

DOCS = Path(__file__).resolve().parents[5] / "docs"

SHOW_NO_CHANGE = {
    "_engine_list_report": "shows the engine list, or proposes its configuration",
    "engine_info": "reads the engine list",
    "host_info": "gathers facts about a host",
    "login": "checks the credentials",
    "merge_reports": "writes the report of several runs on the controller",
}
"""Modules, each with the reason."""


@pytest.mark.parametrize("module", sorted(path.stem for path in (DOCS.parent / "plugins" / "modules").glob("*.py")))
def test_report_lists_the_changes_of_each_module(module):
    result = {"changed": True, "has_recorded": True, "dest": "/license"}
    assert bool(observe(f"slb.fleet.{module}", result, on="edge-1").changes) != (module in SHOW_NO_CHANGE)


@pytest.mark.parametrize("is_failed", [False, True])
def test_released_interfaces_count_if_another_one_stays(is_failed):
    result = {"released": [{"name": "ens9"}], **({"failed": True} if is_failed else {"changed": True})}
    assert [each.code for each in observe("slb.fleet.interface", result).changes] == ["interfaces_released"]


# Scripts and alerts use these words of report.json.
CODES = [
    ("engine_container", {"started": True}, "engine_started"),
    ("engine_install", {"outcome": "requested"}, "install_requested"),
    ("engine_install", {"outcome": "unknown"}, "install_unknown"),
    ("engine_plan", {"has_recorded": True}, "record_verified"),
    ("engine_plan", {"has_recorded": True, "has_deleted": True}, "record_verified container_deleted"),
    ("engine_record", {"record": {"state": "none"}}, "record_removed"),
    ("interface", {"adopted": [{"name": "ens9"}]}, "interfaces_adopted"),
    ("license", {"dest": "/x"}, "license_downloaded"),
    ("motd", {"moved": True, "restored": False}, "motd_aside"),
    ("motd", {"moved": False, "restored": True}, "motd_restored"),
]


@pytest.mark.parametrize(("module", "values", "codes"), CODES)
def test_code_of_a_change_stays(module, values, codes):
    changes = observe(f"slb.fleet.{module}", {"changed": True, **values}).changes
    assert " ".join(each.code for each in changes) == codes


@pytest.mark.parametrize(("on", "place"), [("", "/license"), ("store", "store:/license")])
def test_license_on_a_delegated_host_is_listed_with_the_host(on, place):
    (change,) = observe("slb.fleet.license", {"changed": True, "dest": "/license"}, on).changes
    assert change.text == f"license downloaded to {place}"


NO_REASON = "Ansible gives no reason; -vvv shows its output."
UNEXPECTED = {"msg": "Unexpected failure during module execution: ", "exception": "Traceback:\nAssertionError"}
CRASHED = {"msg": "MODULE FAILURE\nSee stdout/stderr", "module_stderr": "Traceback:\n  x\nOSError: full\n"}


@pytest.mark.parametrize(
    ("result", "summary"),
    [
        ({}, NO_REASON),
        ({"msg": "Task failed.", "exception": "(traceback unavailable)"}, NO_REASON),
        (UNEXPECTED, "AssertionError"),
        (CRASHED, "OSError: full"),
    ],
)
def test_observe_failure_without_a_message_has_a_cause(result, summary):
    assert observe("ansible.builtin.copy", {"failed": True, **result}).summary == f"Task failed: {summary}"
