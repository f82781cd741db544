"""SSH dies before or after call N of a replacement: the next run repairs, and nothing is requested twice."""

from pathlib import Path

import pytest
from sites import LISTED, Site

pytestmark = pytest.mark.long
CALLS = 12
"""SSH calls of a replacement: checks, preparation, mark, verification, record, and some in reserve."""
SCRIPT = """#!/bin/sh
# Counts the calls that run something; call {call} dies {moment} its work.
case " $* " in *" -O "*) exec ssh "$@";; esac
number=$(($(cat {counter} 2>/dev/null || echo 0) + 1))
echo $number >{counter}
test $number = {call} || exec ssh "$@"
test {moment} = before || ssh "$@" >/dev/null 2>&1
kill -PIPE $$
"""
FAULTS = [(call, moment) for call in range(1, CALLS + 1) for moment in ("before", "after")]


def _break_ssh(folder: Path, site: Site, call: int, moment: str) -> str:
    script, counter = folder / f"ssh-{site.name}", folder / f"calls-{site.name}"
    counter.unlink(missing_ok=True)
    script.write_text(SCRIPT.format(call=call, moment=moment, counter=counter))
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize("faults", [FAULTS[start : start + 4] for start in range(0, len(FAULTS), 4)], ids=str)
def test_replacement_with_a_lost_connection(sites, tmp_path, faults):
    sites.prepare({site.name: lambda site: site.run_container() for site in sites})
    before = {site.name: site.engine for site in sites}
    broken = {
        site.name: {"ansible_ssh_executable": _break_ssh(tmp_path, site, *fault)}
        for site, fault in zip(sites, faults, strict=True)
    }
    first = sites.play("slb.fleet.rollout", variables=broken, **LISTED)
    for site in sites:
        is_as_before = site.engine == before[site.name] and site.containers["slb"] == "running"
        is_recorded = site.record.get("state") in ("preparing", "prepared", "requested", "restoring", "verified")
        assert is_as_before or is_recorded, f"{site.name} {broken}: {first.output}"
    again = sites.play("slb.fleet.rollout", **LISTED)
    assert again.status == 0, again.output
    for site in sites:
        assert site.is_verified(by="engine_list"), again.output
        assert site.requests["install"] == 1, f"{site.name}: {first.output}"
        assert site.leftovers == ["exited"]


def test_healthy_host_costs_one_connection_and_one_fetch(sites, tmp_path):
    for site in sites:
        site.node.reset_counters()
    before = sites.seen()
    broken = {site.name: {"ansible_ssh_executable": _break_ssh(tmp_path, site, 99, "before")} for site in sites}
    healthy = sites.play("slb.fleet.rollout", variables=broken, **LISTED)
    assert healthy.status == 0, healthy.output
    assert [(tmp_path / f"calls-{site.name}").read_text().strip() for site in sites] == ["1"] * 4
    assert set(healthy.of("ok").values()) == {1}, healthy.output
    assert set(healthy.of("changed").values()) == {0}
    assert sites.seen() == before
    for site in sites:
        assert {name: number for name, number in site.requests.items() if number} == {"login": 1, "engines": 1}
