"""The summary on the terminal: short, grouped, with the next command last."""

import json
from dataclasses import replace

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import CHANGES, Change, HostEntry
from ansible_collections.slb.fleet.plugins.plugin_utils._report.summary import summary
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import fitted, host_lines, lines
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report import told_runs as told


@pytest.mark.parametrize("number", [1, 20, 5000])
def test_a_healthy_fleet_of_any_size_has_four_lines(number):
    shown = list(lines(told.healthy(number), report="reports/report.html"))
    assert len(shown) <= 4
    assert f"OK   {number}/{number} healthy" in shown[0]


def test_failures_are_grouped_by_code_and_next_is_last():
    run = told.RecordedRun(folder="/reports")
    names = [f"edge-{number}" for number in range(1, 31)]
    run.play("check", *names)
    run.lose("edge-1")
    for name in names[1:21]:
        run.fail(name, {**told.RUNNING, "fix": "Set it."})
    shown = list(lines(run.ended()))
    assert shown[0].startswith("Result:  FAILED   20 failed, 1 unreachable, 9 not started")
    assert [line.split()[:3] for line in shown[1:4]] == [
        ["20", "x", "unverified_container"],
        ["1", "x", "host_unreachable"],
        ["9", "x", "not_started"],
    ]
    assert "edge-2, edge-3, edge-4, edge-5, edge-6, edge-7 and 14 more" in shown[1]
    assert "20 hosts" in shown[-2]
    first = "ansible-playbook -i inventory.yml slb.fleet.rollout --limit edge-1,edge-2,"
    assert shown[-1].strip().startswith(first)


def test_verified_installation_is_one_change():
    run = told.RecordedRun().play("deploy", "edge-1", "edge-2")
    for name in ("edge-1", "edge-2"):
        run.plan(name, told.ABSENT)
        run.task(name, "slb.fleet.engine_install", {"changed": True, "outcome": "requested"})
    run.plan("edge-1", told.HEALTHY, requests=1, has_recorded=True)
    assert "Changed: 1 installation requested, 1 engine installed" in list(lines(run.ended()))


@pytest.mark.parametrize(("playbook", "check"), [("slb.fleet.rollout", True), ("slb.fleet.diagnose", False)])
def test_check_mode_and_diagnose_show_the_plan_of_each_host(playbook, check):
    run = told.RecordedRun(playbook, check=check, folder="/reports").play("check", *"abcdefg")
    for name in "abc":
        run.plan(name, {**told.ABSENT, "steps": ["move /etc/motd aside", "request the installation"]})
    run.plan("d", {**told.ABSENT, "action": "replace"})
    run.plan("e", told.HEALTHY)
    for name in "fg":
        run.fail(name, {**told.RUNNING, "fix": "Set it."})
    shown = list(lines(run.ended()))
    text = "\n".join(shown)
    assert "Plan: 3 to install, 1 to replace, 2 failed, 1 healthy      sha256:" in text
    assert text.count("1. move /etc/motd aside   2. request the installation") == 3
    assert text.count("Fix:   Set it.") == 2
    assert [line.split()[:2] for line in shown if line.startswith(("  +", "  ~", "  !"))] == [
        *(["+", name] for name in "abc"), ["~", "d"], ["!", "f"], ["!", "g"]
    ]  # fmt: skip
    assert "Changed" not in text
    assert text.endswith("slb.fleet.rollout --limit a,b,c,d")


@pytest.mark.parametrize("word", ["retire", "set aside"])
def test_plan_of_a_retirement_installs_nothing(word):
    run = told.RecordedRun("slb.fleet.retire" if word == "retire" else "slb.fleet.remediate", check=True)
    run.play("retire", "edge-1", "edge-2")
    run.plan("edge-1", {**told.ABSENT, "action": "replace", "summary": "Container slb is running."})
    run.task("edge-1", "slb.fleet.engine_record", {"changed": True, "record": {"state": "none"}})
    run.plan("edge-2", {**told.ABSENT, "steps": ["remove the record"]})
    shown = list(lines(run.ended()))
    assert [" ".join(line.split()) for line in shown if "edge-" in line or "1." in line] == [
        f"~ edge-1 {word} Container slb is running.",
        "1. deployment record removed",
        f"Next: ansible-playbook -i inventory.yml {run.ended().run.playbook} --limit edge-1",
    ]
    assert f"Plan: 1 to {word}, 1 unchanged" in "\n".join(shown)


def test_a_plan_shows_a_cause_of_many_hosts_once():
    run = told.RecordedRun(check=True).play("check", *"abcdefgh")
    for name in "abcdefgh":
        run.fail(name, {**told.RUNNING, "seen": [f"container slb running, {name}"], "fix": "Set it."})
    shown = list(lines(run.ended()))
    assert shown[-2] == "Next: fix 8 hosts as shown, then"
    assert [line.count("unverified_container") for line in shown].count(1) == 1
    assert "  ! a, b, c, d, e, f and 2 more" in shown


def test_check_mode_of_an_adoption_shows_changed_hosts_only():
    run = told.RecordedRun("slb.fleet.adopt_interfaces", check=True).play("adopt", "edge-1", "edge-2")
    run.task("edge-1", "slb.fleet.interface", {"changed": True, "adopted": [{"name": "ens9"}]})
    run.task("edge-2", "slb.fleet.interface", {"changed": False})
    shown = list(lines(run.ended()))
    assert [line.split()[:2] for line in shown if line.startswith(("  +", "  ~", "  !"))] == [["~", "edge-1"]]
    assert "Plan: 1 to be changed, 1 unchanged" in shown


WORDS = "word " * 16 + "end"


@pytest.mark.parametrize(
    ("line", "indent"),
    [
        (WORDS, 0),
        (f"            Fix:   {WORDS}", 19),
        (f"  ! edge-1  failed  code: {WORDS}", 20),
        (f"18:12:08  edge-7  FAILED  code: {WORDS}", 26),
        (f"Next:    ansible-playbook -i inventory.yml {WORDS}", None),
        ("Report:  " + "x" * 100, None),
    ],
)
def test_long_line_is_wrapped_at_its_text(line, indent):
    first, *others = fitted(line, 80).splitlines()
    assert (bool(others), fitted(line, 0)) == (indent is not None, line)
    assert {len(each) - len(each.lstrip()) for each in others} <= {indent}
    assert " ".join([first, *(each.strip() for each in others)]) == line
    assert indent is None or max(map(len, [first, *others])) <= 80


FORGED = "esc\x1b[31mred\nNext: rm -rf /\u202e\ufffe\udc80"


def test_a_name_forges_no_line_and_moves_no_cursor():
    run = told.RecordedRun(folder="/reports").play("check", FORGED, "-e", "edge-3")
    run.lose(FORGED)
    run.fail("-e", told.RUNNING)
    run.plan("edge-3", told.HEALTHY)
    document = run.ended()
    shown = [*lines(document), *host_lines(document)]
    assert all(each.isprintable() for each in shown), shown
    assert not [each for each in shown if each.startswith("Next:")]
    assert document.run.next == ""
    assert any(each.startswith(r"esc\x1b[31mred Next: rm -rf /\u202e") for each in shown)
    (unnamed,) = [each for each in shown if "retry" in each]
    assert unnamed.startswith("  2 not in Next and retry, because --limit cannot contain the name")
    assert unnamed.endswith(", -e")


def test_an_audit_says_what_there_is_to_approve():
    run = told.RecordedRun("slb.fleet.audit").play("audit", *(f"edge-{number}" for number in range(10)))
    for number in range(8):
        run.plan(f"edge-{number}", told.ABSENT)
    run.plan("edge-8", {**told.ABSENT, "action": "replace", "code": "dead"})
    run.plan("edge-9", told.HEALTHY)
    audit = run.ended()
    assert audit.plan
    assert f"Plan:    8 to install, 1 to replace   {audit.plan.digest}" in list(lines(audit))
    assert [(each["action"], each["count"], each["hosts"][0]) for each in summary(audit)["work"]] == [
        ("install", 8, "edge-0"),
        ("replace", 1, "edge-8"),
    ]
    assert not any("Plan:" in line for line in lines(told.healthy(3)))


def test_the_summary_stays_small_however_many_hosts_have_trouble():
    run = told.RecordedRun()
    names = [f"edge-{number}.{'site' * 60}" for number in range(5000)]
    run.play("check", *names)
    for number, name in enumerate(names):
        run.fail(name, {"action": "fail", "code": f"code-{number % 40}", "summary": "word " * 500})
    shown = summary(run.ended())
    assert len(json.dumps(shown)) < 100_000
    assert shown["counts"]["failed"] == 5000
    assert shown["again"] is None


@pytest.mark.parametrize(
    ("fixes", "fix"),
    [
        (["Start it.", "Start it."], "Start it."),
        (["Start edge-0.", "Start edge-1."], "1 of 2 hosts: Start edge-0."),
        (["Start edge-0.", "Check it.", "Check it."], "2 of 3 hosts: Check it."),
        (["", "", "Check it."], "1 of 3 hosts: Check it."),
        (["", ""], ""),
    ],
)
def test_summary_of_different_fixes_has_the_most_common(fixes, fix):
    run = told.RecordedRun().play("check", *(f"edge-{number}" for number, _fix in enumerate(fixes)))
    for number, text in enumerate(fixes):
        run.fail(f"edge-{number}", {"action": "fail", "code": "engine_stopped", "summary": "It stopped.", "fix": text})
    (group,) = summary(run.ended())["groups"]
    assert group["fix"] == fix


@pytest.mark.parametrize("code", sorted(CHANGES))
def test_each_change_is_counted(code):
    document = told.RecordedRun().ended()
    host = HostEntry("edge-1", "failed", changes=(Change(code, "x"),))
    shown = "\n".join(lines(replace(document, hosts=(host,))))
    assert "Changed: 1 " in shown
