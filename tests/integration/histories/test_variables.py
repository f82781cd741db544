"""What is set wrongly for one host is that host's trouble; what is empty is not set; what nobody knows is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from estate import Estate, History
from fleet import ROOT
from runs import Run

WRONG: dict[str, tuple[str, Any]] = {
    "h1": ("slb_wait_timeout", "3m"),
    "h2": ("slb_unverified_engine", "destroy"),
    "h3": ("slb_engine_name", "{{ nobody_has_set_this }}"),
}
# Those without which no management node is known.
_NEEDED = ("slb_base_url", "slb_username", "slb_password", "slb_tls_fingerprint")
PLAYBOOKS = ("rollout", "diagnose", "remediate", "adopt_interfaces", "show_engine_list", "download_license")


def documented() -> list[str]:
    """Every variable that a role says it has."""
    specifications = (ROOT / "roles").glob("*/meta/argument_specs.yml")
    roles = [yaml.safe_load(path.read_text())["argument_specs"]["main"] for path in specifications]
    return sorted({name for role in roles for name in role["options"]} - {*_NEEDED})


@pytest.fixture(scope="module")
def license_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of one host, and not of the first one."""
    return tmp_path_factory.mktemp("license") / "license"


@pytest.fixture(scope="module")
def rollout(estate: Estate, license_file: Path) -> History:
    """The last two hosts have every variable, and each is empty."""
    estate.clean()
    hosts: dict[str, dict[str, Any]] = {name: {variable: value} for name, (variable, value) in WRONG.items()}
    hosts["h4"] = {"slb_license_dest": str(license_file)}
    hosts["h5"] = dict.fromkeys(documented())
    hosts["h6"] = dict.fromkeys(documented(), "")
    # Short waits are the estate's own; these two have the default ones.
    return estate.history("slb.fleet.rollout", hosts=hosts, slb_engin_name="west")


@pytest.mark.parametrize("host", WRONG)
def test_a_value_that_cannot_be_used_fails_its_host_by_name_with_the_remedy(rollout: History, host: str) -> None:
    assert rollout.run.report[host].startswith("failed"), rollout.run.output
    variable, value = WRONG[host]
    words = rollout.said(host)
    assert variable in words
    assert value.strip("{} ") in words
    assert "Correct it" in words
    assert host not in rollout.touched


def test_all_others_are_rolled_out(rollout: History) -> None:
    assert rollout.failed(*WRONG), rollout.run.output
    assert rollout.verified_by_console("h4")
    assert rollout.requests["install"] == 3


def test_a_license_that_one_host_wants_is_downloaded(rollout: History, license_file: Path) -> None:
    assert license_file.stat().st_size > 0, rollout.run.output
    assert rollout.requests["license"] == 1


@pytest.mark.parametrize("host", ["h5", "h6"])
def test_what_is_empty_is_not_set(estate: Estate, rollout: History, host: str) -> None:
    assert rollout.run.verified_by.get(host) == "host", rollout.run.output
    assert (estate[host].record["name"], estate[host].record["manage_ip"]) == (host, estate[host].host.address)


def test_a_misspelt_variable_is_said_once_with_the_nearest_known_one(rollout: History) -> None:
    warnings = [part for part in rollout.run.words.split("[WARNING]: ")[1:] if "slb_engin_name" in part]
    assert len(warnings) == 1, rollout.run.output
    assert "slb_engine_name" in warnings[0]


@pytest.fixture(scope="module")
def empty_plays(estate: Estate, rollout: History) -> list[Run]:
    """What plays read before they know a host is empty, too."""
    play_level = ("slb_hosts", "slb_serial", "slb_max_fail_percentage", "slb_license_dest", "slb_adopt_interfaces")
    return estate.at_once(
        *(
            lambda value=value: estate.play(
                "slb.fleet.rollout", "--limit", "h4", extra=dict.fromkeys(play_level, value)
            )
            for value in (None, "")
        )
    )


def test_variables_of_plays_that_are_empty_are_not_set(empty_plays: list[Run]) -> None:
    for run in empty_plays:
        assert run.status == 0, run.output
        assert run.verified_by.get("h4") == "engine_list"


# --- which hosts


@pytest.fixture(scope="module")
def nobody(estate: Estate, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Run]:
    """Each playbook, told to take hosts that there are not, and with an inventory that lacks the group."""
    path: Path = tmp_path_factory.mktemp("inventories") / "inventory.yml"
    path.write_text(yaml.safe_dump({"edges": {"hosts": {"h1": {"ansible_host": estate["h1"].host.address}}}}))
    arguments = {"slb_hosts": ("-e", "slb_hosts=edge"), "group": ()}
    asked = [(playbook, case) for playbook in PLAYBOOKS for case in arguments]
    runs = estate.at_once(
        *(
            lambda playbook=playbook, case=case: estate.play(
                f"slb.fleet.{playbook}", *arguments[case], inventory=path if case == "group" else None
            )
            for playbook, case in asked
        )
    )
    return dict(zip(asked, runs, strict=True))


@pytest.mark.parametrize("playbook", PLAYBOOKS)
@pytest.mark.parametrize(("case", "there"), [("slb_hosts", "engines"), ("group", "edges")])
def test_hosts_that_there_are_not_end_the_run_and_the_groups_are_named(
    nobody: dict[tuple[str, str], Run], playbook: str, case: str, there: str
) -> None:
    run = nobody[playbook, case]
    assert run.status != 0, run.output
    assert "No host matches" in run.words, run.output
    assert f"Groups that there are: {there}" in run.words


UNNAMED = ("all", "engines", "*", "engines[0:5]", "h*", "~h[0-9]", "")


@pytest.fixture(scope="module")
def unnamed(estate: Estate, rollout: History) -> dict[str, Run]:
    """In check mode, as this must not depend on it, and the hosts are used by other tests."""
    limits = [(["--limit", limit] if limit else []) for limit in UNNAMED]
    asked = [*limits, ["-e", "slb_hosts=engines"], ["-e", "slb_hosts=engines", "--limit", "all"]]
    before = estate.dump()
    runs = estate.at_once(*(lambda each=each: estate.play("slb.fleet.remediate", "--check", *each) for each in asked))
    assert estate.dump().hosts == before.hosts
    return dict(zip([*UNNAMED, "slb_hosts", "slb_hosts and all"], runs, strict=True))


# Shows a defect: a part of a group and patterns are taken for names.
@pytest.mark.parametrize("how", [*UNNAMED, "slb_hosts", "slb_hosts and all"])
def test_remediate_refuses_hosts_that_were_not_named(unnamed: dict[str, Run], how: str) -> None:
    """A part of a group, or a pattern, names no host: nobody has said of each that the console does not list it."""
    assert unnamed[how].status != 0, unnamed[how].output
    assert "--limit HOST" in unnamed[how].words
