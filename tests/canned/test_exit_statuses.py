"""The exit status of each playbook, by the state of its host: docs/operations.md has the table."""

import pytest

from ansible_collections.slb.fleet.tests.canned.canned import Canned

NAMED, WRONG = ("--limit", "edge-1"), ("-e", "slb_settle=-1")
STATUSES = {
    ("diagnose",): {"healthy": 0, "work": 0, "fails": 2, "unreachable": 4},
    ("audit",): {"healthy": 0, "work": 2, "fails": 2, "unreachable": 4},
    ("rollout", "--check"): {"healthy": 0, "work": 0, "fails": 2, "unreachable": 4},
    ("rollout",): {"healthy": 0, "work": 0, "breaks": 2, "fails": 2, "unreachable": 4},
    ("remediate", *NAMED): {"healthy": 0, "unreachable": 4},
    ("remediate", *NAMED, *WRONG): {"healthy": 2},
    ("retire", *NAMED): {"healthy": 0, "unreachable": 4},
    ("retire", *NAMED, *WRONG): {"healthy": 2},
    ("adopt_interfaces",): {"healthy": 0, "unreachable": 4},
    # Of these, nothing that they need is set.
    **{(name,): {"healthy": 2} for name in ("download_license", "show_engine_list", "merge_reports", "awx_setup")},
}


@pytest.mark.parametrize(
    ("arguments", "state", "status"),
    [(arguments, state, status) for arguments, of in STATUSES.items() for state, status in of.items()],
)
def test_exit_status_tells_whether_a_host_needs_attention(tmp_path, arguments, state, status):
    playbook, *options = arguments
    found, output = Canned(tmp_path, edge_1=state).run(f"slb.fleet.{playbook}", *options)
    assert found == status, output
