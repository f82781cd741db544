"""A name that no host has is told in words of ours, also where Ansible is set to fail at it by itself."""

from __future__ import annotations

import pytest
from ansible import constants
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader

from ansible_collections.slb.fleet.plugins.lookup import hosts

GROUPS = {"all": ["edge-1"], "ungrouped": [], "engines": ["edge-1"]}


@pytest.mark.parametrize("mismatch", ["ignore", "warning", "error"])
def test_what_matches_nothing_is_told_with_the_groups_that_there_are(
    monkeypatch: pytest.MonkeyPatch, mismatch: str
) -> None:
    monkeypatch.setattr(constants, "HOST_PATTERN_MISMATCH", mismatch)
    lookup = hosts.LookupModule(loader=DataLoader())
    monkeypatch.setattr(lookup, "set_options", lambda **_given: None)
    monkeypatch.setattr(lookup, "get_option", lambda _name: False)
    assert lookup.run(["engines"], {"groups": GROUPS}) == ["engines"]
    with pytest.raises(AnsibleError, match=r"No host matches 'nobody'.* Groups that there are: engines\. "):
        lookup.run(["nobody"], {"groups": GROUPS})
