"""Check mode tells the truth: it changes nothing, and what it says is what the real run then does first.

Each row of the table that a real host can be brought into is diagnosed and played with ``--check``, then for real.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest
from runs import Run
from scenes import DESCRIBED, REMEDIES, WITH_A_LIST, WITHOUT_A_LIST
from wards import Case, Wards

# Young requests and engines that have just come up last through the two runs that change nothing.
POLICY: dict[str, Any] = {"slb_settle": 1, "slb_wait_timeout": 12, "slb_stop_timeout": 1, "slb_attempts": 1}
AT_ONCE = ("-e", "slb_serial=100%")
LISTS = {"without a list": (WITHOUT_A_LIST, {}), "with a list": (WITH_A_LIST, DESCRIBED)}
LONG = {"what is wanted, and what restarts", "an empty list, and the budget"}
SCENES = [
    pytest.param(which, name, marks=[pytest.mark.long] * (name in LONG))
    for which, (scenes, _) in LISTS.items()
    for name in scenes
]
IN_WORDS = {
    "Nothing to do": "none",
    "Would note": "record",
    "Would wait": "wait",
    "Would ask": "install",
    "Would take": "replace",
    "Would change nothing": "fail",
}


class Said(NamedTuple):
    action: str
    reason: str


def counted(text: str) -> str:
    """Seconds pass, connections come and go."""
    return re.sub(r"\d+(\.\d+)?", "N", text)


def decided(run: Run, host: str) -> Said:
    """The last that was said of the host before anything was done about it."""
    before = run.output.partition("PLAY [Roll out forwarding engines")[0]
    line = rf"^\[{host}\]: ([a-z ]+): (.*)$|^(?:\[{host}\]: |fatal: \[{host}\]: )FAILED! => (.*)$"
    found = re.findall(line, before, re.MULTILINE)
    if not found:
        return Said("none", "")
    action, reason, failure = found[-1]
    if not failure:
        return Said(action, counted(reason))
    result = json.loads(failure)
    return Said("fail", counted(result["plan"]["reason"] if "plan" in result else result["msg"]))


def diagnosed(run: Run, host: str) -> Said:
    found = re.search(rf"^ok: \[{host}\] => (\{{\n    \"msg\".*?^\}})", run.output, re.MULTILINE | re.DOTALL)
    if not found:
        return decided(run, host)
    words = json.loads(found[1])["msg"]
    action = next(action for begin, action in IN_WORDS.items() if words[2].startswith(begin))
    reason = counted(words[3].removeprefix("Because: "))
    return Said(action, "" if action == "none" else reason)


def cases_of(wards: Wards, cases: list[Case]) -> dict[str, Case]:
    return dict(zip(wards.names, cases, strict=True))


def assert_equal(before: Mapping[str, str], after: Mapping[str, str], cases: Mapping[str, Case], what: str) -> None:
    changed = {
        f"{name} ({cases[name].row if name in cases else 'all'})": sorted(
            set(before[name].splitlines()) ^ set(after[name].splitlines())
        )
        for name in before
        if before[name] != after[name]
    }
    assert not changed, f"{what} changed {json.dumps(changed, indent=1)}"


def assert_says(run: Run, said: Mapping[str, Said], cases: Mapping[str, Case], playbook: str) -> None:
    """Each host what its row says, and it ends well unless one fails."""
    wrong = {
        f"{name} ({case.row})": said[name]
        for name, case in cases.items()
        if said[name].action != case.action or counted(case.words) not in said[name].reason
    }
    assert not wrong, f"{playbook} says {wrong}\n{run.output}"
    fails = {name for name, case in cases.items() if case.action == "fail"}
    assert {name for name, number in run.of("failed").items() if number} == fails, run.output
    assert (run.status == 0) == (not fails), run.output


@pytest.mark.parametrize(("which", "scene"), SCENES)
def test_a_rollout_is_foretold(wards: Wards, which: str, scene: str) -> None:
    scenes, variables = LISTS[which]
    cases = cases_of(wards, scenes[scene])
    budget = {"slb_max_replaced": 1} if "budget" in scene else {}
    wards.prepare(cases, POLICY | variables | budget)
    before = wards.dumps(cases)
    with ThreadPoolExecutor() as both:
        diagnosis = both.submit(wards.play, "slb.fleet.diagnose")
        checked = wards.play("slb.fleet.rollout", "--check", *AT_ONCE)
        diagnosis_run = diagnosis.result()
    assert_equal(before, wards.dumps(cases), cases, "check mode, or the diagnosis,")
    foretold = {name: decided(checked, name) for name in cases}
    assert_says(checked, foretold, cases, "rollout --check")
    assert {name: diagnosed(diagnosis_run, name) for name in cases} == foretold, diagnosis_run.output
    assert diagnosis_run.status == 0, diagnosis_run.output

    wards.bring_about_again(cases)
    real = wards.play("slb.fleet.rollout", *AT_ONCE)
    assert {name: decided(real, name) for name in cases} == foretold, f"{checked.output}\n\n{real.output}"
    after = wards.dumps(cases)
    idle = [name for name, said in foretold.items() if said.action in ("none", "fail")]
    assert_equal({name: before[name] for name in idle}, after, cases, "a run that does nothing")
    assert_done(wards, cases, before, real)


def assert_done(wards: Wards, cases: Mapping[str, Case], before: Mapping[str, str], run: Run) -> None:
    """What was said was done, as the world shows it."""
    asked = sum(case.action in ("install", "replace") for case in cases.values())
    assert wards.node.state()["counters"].get("install", 0) >= asked, run.output
    for name, case in cases.items():
        ward = wards[name]
        if case.action == "replace":
            assert ward.leftovers == [ward.containers[other] for other in ward.containers if other != "slb"]
            assert len(ward.leftovers) == 1, run.output
        if case.action == "record":
            assert (ward.record["state"], ward.record["container_id"]) == ("verified", ward.engine), run.output
            assert ward.engine in before[name], "the engine is the one that ran before"


def test_a_remedy_is_foretold(wards: Wards) -> None:
    cases = cases_of(wards, REMEDIES)
    wards.prepare(cases, POLICY | {"slb_wait_timeout": 120})
    before = wards.dumps(cases)
    named = ("--limit", ",".join(cases))
    checked = wards.play("slb.fleet.remediate", "--check", *named)
    assert_equal(before, wards.dumps(cases), cases, "check mode")
    foretold = {name: decided(checked, name) for name in cases}
    assert_says(checked, foretold, cases, "remediate --check")

    real = wards.play("slb.fleet.remediate", *named)
    assert {name: decided(real, name) for name in cases} == foretold, f"{checked.output}\n\n{real.output}"
    assert_says(real, foretold, cases, "remediate")
    after = wards.dumps(cases)
    idle = [name for name, said in foretold.items() if said.action in ("none", "fail", "wait")]
    assert_equal({name: before[name] for name in idle}, after, cases, "a run that does nothing")
    assert before["the management node"] == after["the management node"], "remediate asked for an install"
    for name, case in cases.items():
        if case.action == "replace":
            assert wards[name].leftovers == ["exited"], real.output
            assert "slb" not in wards[name].containers
