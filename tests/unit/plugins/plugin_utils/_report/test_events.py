"""What a report takes from the command line."""

import pytest
from ansible import context
from ansible.module_utils.common.collections import ImmutableDict

from ansible_collections.slb.fleet.plugins.plugin_utils._report.events import run_of


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("slb_serial=1,10%", "slb_serial=1,10%"),
        ("@site.yml", "@site.yml"),
        ("slb_password=of the node", "..."),
        ("slb_password=secret", "slb_password=..."),
        ("slb_headers={x:1}", "slb_headers=..."),
        ("ansible_become_password=secret", "..."),
        ('{"slb_password": "secret"}', "..."),
        ("slb_hosts=a slb_password=secret", "..."),
        ("slb_approved_plan=" + "x" * 200, "slb_approved_plan=..."),
        ("slb_hosts=\x1b[2J", "slb_hosts=..."),
    ],
)
def test_run_shows_extra_variables_without_secrets(monkeypatch, given, shown):
    monkeypatch.setattr(context, "CLIARGS", ImmutableDict(extra_vars=(given,)))
    assert run_of("slb.fleet.rollout", {}).extra_vars == (shown,)
