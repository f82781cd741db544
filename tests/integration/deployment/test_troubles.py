"""Troubles of hosts, management nodes and engine lists, four in each rollout; diagnose and --check say the same."""

import inspect

import pytest
from sites import LISTED, SERVE, Site

pytestmark = pytest.mark.long


def list_is_stuck_at_deploying(site: Site):
    site.node.set_faults({"stuck_front_end": True})
    run = yield LISTED
    assert run.failed
    assert (site.containers, site.record["state"]) == ({"slb": "running"}, "requested")


def failed_deployment_that_is_not_listed_is_left_alone(site: Site):
    site.break_the_first_deployment({"fail_half_way": "unlisted"})
    run = yield LISTED
    assert run.failed
    assert (site.containers, site.requests["install"]) == ({"slb": "running"}, 1)


def failed_deployment_that_is_listed_is_replaced_once(site: Site):
    site.break_the_first_deployment({"fail_half_way": "listed"})
    yield LISTED
    assert site.is_verified(by="engine_list")
    assert (site.leftovers, site.listed, site.requests["install"]) == (["exited"], ["running"], 2)


def crashing_engine_is_tried_twice(site: Site):
    site.node.set_faults({"engine_crashes": True})
    run = yield {}
    assert run.failed
    assert site.requests["install"] == 2
    assert site.leftovers == ["exited"], "the first attempt's container, set aside and not deleted"


def lost_answer_to_a_request_that_was_carried_out(site: Site):
    site.node.set_faults({"install_answer_lost": True})
    yield {}
    assert site.is_verified(by="host")
    assert (site.listed, site.requests["install"]) == (["running"], 1)


def deployment_that_fails_afterwards_is_tried_twice(site: Site):
    site.hold_the_port()
    site.node.set_faults({"errors": "later"})
    run = yield {}
    assert site.requests["install"] == 2
    assert "No further request is sent in this run" in run.said


def engine_that_exists_only_in_the_console_is_said_in_whatever_language(site: Site):
    site.a_person_deploys()
    site.runtime("rm", "--force", "slb")
    site.node.set_faults({"language": "zh"})
    run = yield {}
    assert "Engine exists at the management node" in run.said
    assert site.containers == {}


def deployment_of_a_person_is_not_touched(site: Site):
    site.a_person_deploys(600)
    run = yield {}
    assert run.failed
    assert (site.record, site.leftovers) == ({}, [])
    assert site.requests["install"] == 2, "the person's, and ours, which got the answer that the engine exists"


def engine_of_a_person_is_recorded_and_left_alone(site: Site):
    site.a_person_deploys()
    before = site.engine
    yield LISTED
    assert site.is_verified(by="engine_list")
    assert (site.engine, site.requests["install"]) == (before, 1)


def hostname_is_changed_where_that_is_asked_for(site: Site):
    yield {"slb_is_change_hostname": True, "slb_engine_name": "edge-of-the-world"}
    assert site.is_verified(by="host")
    assert site.host.exec(["hostname"]).stdout.strip() == site.record["name"] == "edge-of-the-world"


def banner_that_was_moved_aside_is_brought_back(site: Site):
    banner = site.make_motd_noisy()
    yield {"slb_motd_after": "restored"}
    assert site.is_verified(by="host")
    assert site.file("/etc/motd") == banner
    assert site.host.exec(["ls", "/etc/motd.slb-fleet"], check=False).returncode != 0


def running_container_that_is_not_listed_is_a_leftover(site: Site):
    site.run_container()
    before = site.engine
    yield LISTED
    assert site.is_verified(by="engine_list")
    assert (site.leftovers, site.engine == before) == (["exited"], False)


def listed_engine_without_a_container_is_said_and_left_alone(site: Site):
    site.a_person_deploys()
    site.runtime("rm", "--force", "slb")
    run = yield LISTED
    assert run.failed
    assert (site.containers, site.requests["install"]) == ({}, 1)


def management_node_that_is_down_is_said_and_leaves_nothing(site: Site):
    site.node.kill()
    run = yield {}
    assert (run.predicted, run.failed) == ("failed", True)
    assert site.node.base_url in run.said
    assert (site.containers, site.record) == ({}, {})


def process_at_the_port_is_named_in_whatever_language_the_error_is(site: Site):
    site.hold_the_port()
    site.node.set_faults({"language": "zh"})
    run = yield {}
    assert "8000 (python3)" in run.said
    assert (site.containers, site.record, site.requests["install"]) == ({}, {}, 1)
    assert site.host.exec(["curl", "-s", "-o", "/dev/null", "http://127.0.0.1:8000/"]).returncode == 0


def other_container_at_the_port_is_named_and_left_alone(site: Site):
    site.run_container("other", *SERVE)
    run = yield {}
    assert "8000 (httpd, container " in run.said
    assert (site.containers, site.record) == ({"other": "running"}, {}), "the rejected request is not recorded any more"


# In this order: each host of the lab meets every fourth one.
SCENARIOS = [each for each in list(globals().values()) if inspect.isgeneratorfunction(each)]
FOURS = [SCENARIOS[start : start + 4] for start in range(0, len(SCENARIOS), 4)]


@pytest.mark.parametrize("scenarios", FOURS, ids=lambda scenarios: scenarios[0].__name__)
def test_trouble_on_each_host(sites, scenarios):
    sites.meet(scenarios)
