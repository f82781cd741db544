"""A name that no host has is told in words of ours, also where Ansible is set to fail at it by itself."""

from __future__ import annotations

from typing import Any

import pytest
from ansible import constants
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader

from ansible_collections.slb.fleet.plugins.lookup import hosts


class HostVars:
    """Of one host, as Ansible gives them to a play."""

    def __init__(self, **variables: Any) -> None:
        self._variables = variables

    def raw_get(self, host: str) -> dict[str, Any]:
        assert host == "edge-1"
        return self._variables


@pytest.fixture
def lookup(monkeypatch: pytest.MonkeyPatch) -> hosts.LookupModule:
    lookup = hosts.LookupModule(loader=DataLoader())
    monkeypatch.setattr(lookup, "set_options", lambda **_given: None)
    monkeypatch.setattr(lookup, "get_option", lambda name: name == "in_batches")
    return lookup


GROUPS = {"all": ["edge-1"], "ungrouped": [], "engines": ["edge-1"]}


@pytest.mark.parametrize("mismatch", ["ignore", "warning", "error"])
def test_what_matches_nothing_is_told_with_the_groups_that_there_are(
    monkeypatch: pytest.MonkeyPatch, lookup: hosts.LookupModule, mismatch: str
) -> None:
    monkeypatch.setattr(constants, "HOST_PATTERN_MISMATCH", mismatch)
    assert lookup.run(["engines"], {"groups": GROUPS}) == ["engines"]
    with pytest.raises(AnsibleError, match=r"No host matches 'nobody'.* Groups that there are: engines\. "):
        lookup.run(["nobody"], {"groups": GROUPS})


@pytest.mark.parametrize("name", ["slb_serial", "slb_batch_max", "slb_canary", "slb_slice", "slb_max_fail_percentage"])
def test_a_variable_of_a_run_is_refused_where_it_would_have_no_effect(lookup: hosts.LookupModule, name: str) -> None:
    of_host = {"groups": GROUPS, "hostvars": HostVars(**{name: 1})}
    with pytest.raises(AnsibleError, match=f"{name} is a variable of edge-1, and would have no effect"):
        lookup.run(["engines"], of_host)
    assert lookup.run(["engines"], {**of_host, name: "2"}) == ["engines"], "the run says something else"
    assert lookup.run(["engines"], {"groups": GROUPS, "hostvars": HostVars(**{name: " "})}) == ["engines"]


@pytest.mark.parametrize("limit", [-1, "150%", 1.5, True, "some"])
def test_a_budget_that_is_none_is_told_before_anything_is_done(lookup: hosts.LookupModule, limit: object) -> None:
    for known in ({"slb_max_fail_hosts": limit}, {"hostvars": HostVars(slb_max_fail_hosts=limit)}):
        with pytest.raises(AnsibleError, match=r"slb_max_fail_hosts has the value .* not a number of hosts"):
            lookup.run(["engines"], {"groups": GROUPS, **known})
    for given in (0, "10%", "", "{{ of_another }}"):
        assert lookup.run(["engines"], {"groups": GROUPS, "slb_max_fail_hosts": given}) == ["engines"]


def test_what_a_host_says_of_itself_ends_no_run(lookup: hosts.LookupModule) -> None:
    lie = {"slb_serial": 1, "slb_max_fail_hosts": -1}
    said = {"groups": GROUPS, "hostvars": HostVars(ansible_facts=lie, **lie)}
    assert lookup.run(["engines"], said) == ["engines"]
