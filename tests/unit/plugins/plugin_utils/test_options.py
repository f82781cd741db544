"""Messages for users of playbooks name variables."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import invalid, missing
from ansible_collections.slb.fleet.plugins.plugin_utils._options import in_variables, refuse_facts


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (invalid("manage_ip", "it is not an address", "Correct it."), "Variable slb_manage_ip invalid"),
        (invalid("name", "it is empty", "Choose another name."), "Variable slb_engine_name invalid"),
        (missing("base_url"), "Set slb_base_url or SLB_BASE_URL."),
        (missing("engine_list.state"), "Set slb_engine_list.state."),
        (
            FleetError("x", "Login rejected.", "Correct username and password."),
            "Correct slb_username and slb_password.",
        ),
        (
            FleetError("x", "No trust.", "Set tls_fingerprint: ab, or ca_path."),
            "Set slb_tls_fingerprint: ab, or slb_ca_path.",
        ),
    ],
)
def test_in_variables(error, words):
    named = in_variables(error)
    assert words in str(named)
    assert str(in_variables(named)) == str(named)


@pytest.mark.parametrize("fact", ["slb_base_url", "__slb_failure", "awx_job_id", "host", "inventory_hostname"])
def test_refuse_facts(fact):
    refuse_facts({"ansible_facts": {"distribution": "Debian"}}, ["ansible_host"])
    with pytest.raises(FleetError) as caught:
        refuse_facts({"ansible_facts": {fact: "x"}}, ["ansible_host"])
    assert caught.value.code == "variable_from_facts"
