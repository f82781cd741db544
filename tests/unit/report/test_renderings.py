"""Each rendering is made from the document alone, and says what is in it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from types import ModuleType

import jsonschema
import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from ansible_collections.slb.fleet.plugins.plugin_utils.report.document import Document
from ansible_collections.slb.fleet.plugins.plugin_utils.report.files import AT_THE_END, as_text, retry, write_all
from ansible_collections.slb.fleet.plugins.plugin_utils.report.metrics import metrics
from ansible_collections.slb.fleet.plugins.plugin_utils.report.observed import observe
from ansible_collections.slb.fleet.plugins.plugin_utils.report.page import page
from ansible_collections.slb.fleet.plugins.plugin_utils.report.summary import summary
from ansible_collections.slb.fleet.plugins.plugin_utils.report.terminal import host_lines, lines
from ansible_collections.slb.fleet.tests.unit.report.told_runs import (
    ABSENT,
    HEALTHY,
    RUNNING,
    RecordedRun,
    planned,
    troubled,
)

DOCS = Path(__file__).resolve().parents[3] / "docs"
SCHEMA = json.loads((DOCS / "report.schema.json").read_text())
HOSTILE = '</script><script>alert(1)</script>"\x1b[31m]]>&{{ 7 * 7 }}\u202e\n# EOF'


def healthy(number: int) -> Document:
    run = RecordedRun()
    names = [f"edge-{each}" for each in range(number)]
    run.play("check", *names)
    for name in names:
        run.plan(name, HEALTHY, seconds=0.01)
    return run.ended()


def hostile() -> Document:
    run = RecordedRun()
    run.play("check", "edge-1", "edge-2")
    run.fail("edge-1", {"action": "fail", "code": "listed_but_not_running", "summary": HOSTILE, "seen": [HOSTILE]})
    run.lose("edge-2", HOSTILE)
    return run.ended()


@pytest.mark.parametrize("document", [troubled(), healthy(3), hostile(), RecordedRun().ended()])
def test_the_document_is_as_its_schema_has_it(document):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(as_text(document)), SCHEMA)


def test_no_secret_can_come_in_because_fields_are_taken_by_name():
    secret = "s3cret-never-shown"
    run = RecordedRun()
    run.play("check", "edge-1")
    result = planned({**HEALTHY, "password": secret}, password=secret, invocation={"module_args": {"password": secret}})
    result["engine"]["session"] = secret
    run.task("edge-1", "slb.fleet.engine_plan", result)
    run.task("edge-1", "slb.fleet.login", {"sessionid": secret, "changed": True})
    run.task("edge-1", "ansible.builtin.command", {"stdout": secret, "changed": True})
    document = run.ended()
    assert all(secret not in render(document) for render in AT_THE_END.values())


@pytest.mark.parametrize("number", [1, 20, 5000])
def test_a_healthy_fleet_of_any_size_has_four_lines(number):
    shown = list(lines(healthy(number), report="reports/report.html"))
    assert len(shown) <= 4
    assert f"OK   {number}/{number} healthy" in shown[0]


def test_failures_are_grouped_by_code_the_largest_first_and_the_next_command_is_last():
    run = RecordedRun(folder="/reports")
    names = [f"edge-{number}" for number in range(1, 31)]
    run.play("check", *names)
    run.lose("edge-1")
    for name in names[1:21]:
        run.fail(name, {**RUNNING, "fix": "Set it."})
    shown = list(lines(run.ended()))
    assert shown[0].startswith("Result:  FAILED   20 failed, 1 unreachable, 9 not started")
    assert [line.split()[:3] for line in shown[1:4]] == [
        ["20", "x", "unverified_container"],
        ["1", "x", "host_unreachable"],
        ["9", "x", "not_started"],
    ]
    assert "edge-2, edge-3, edge-4, edge-5, edge-6, edge-7 and 14 more" in shown[1]
    assert "20 hosts" in shown[-2]
    assert shown[-1].strip() == "ansible-playbook -i inventory.yml slb.fleet.rollout --limit @/reports/retry"


def test_verified_installation_is_one_change():
    run = RecordedRun()
    run.play("deploy", "edge-1", "edge-2")
    for name in ("edge-1", "edge-2"):
        run.plan(name, ABSENT)
        run.task(name, "slb.fleet.engine_install", {"changed": True, "outcome": "requested"})
    run.plan("edge-1", HEALTHY, requests=1, has_recorded=True)
    assert "Changed: 1 engine installed, 1 installation requested" in list(lines(run.ended()))


@pytest.mark.parametrize(("playbook", "check"), [("slb.fleet.rollout", True), ("slb.fleet.diagnose", False)])
def test_check_mode_and_diagnose_show_the_plan_of_each_host(playbook, check):
    run = RecordedRun(playbook, check=check, folder="/reports")
    run.play("check", *"abcdefg")
    for name in "abc":
        run.plan(name, {**ABSENT, "steps": ["move /etc/motd aside", "request the installation"]})
    run.plan("d", {**ABSENT, "action": "replace"})
    run.plan("e", HEALTHY)
    for name in "fg":
        run.fail(name, {**RUNNING, "fix": "Set it."})
    shown = list(lines(run.ended()))
    text = "\n".join(shown)
    assert "Plan: 3 to install, 1 to replace, 2 failed, 1 unchanged      sha256:" in text
    assert text.count("1. move /etc/motd aside   2. request the installation") == 3
    assert text.count("Fix:   Set it.") == 2
    assert [line.split()[:2] for line in shown if line.startswith(("  +", "  ~", "  !"))] == [
        *(["+", name] for name in "abc"), ["~", "d"], ["!", "f"], ["!", "g"]
    ]  # fmt: skip
    assert "Changed" not in text
    assert text.endswith("slb.fleet.rollout --limit a,b,c,d")


def test_a_plan_shows_a_cause_of_many_hosts_once():
    run = RecordedRun(check=True)
    run.play("check", *"abcdefgh")
    for name in "abcdefgh":
        run.fail(name, {**RUNNING, "seen": [f"container slb running, {name}"], "fix": "Set it."})
    shown = list(lines(run.ended()))
    assert [line.count("unverified_container") for line in shown].count(1) == 1
    assert "  ! a, b, c, d, e, f and 2 more" in shown


def test_check_mode_of_an_adoption_shows_hosts_with_a_change_only():
    run = RecordedRun("slb.fleet.adopt_interfaces", check=True)
    run.play("adopt", "edge-1", "edge-2")
    run.task("edge-1", "slb.fleet.interface", {"changed": True, "adopted": [{"name": "ens9"}]})
    run.task("edge-2", "slb.fleet.interface", {"changed": False})
    shown = list(lines(run.ended()))
    assert [line.split()[:2] for line in shown if line.startswith(("  +", "  ~", "  !"))] == [["~", "edge-1"]]
    assert "Plan: 1 to be changed, 1 unchanged" in shown


def test_retry_has_the_failed_the_unreachable_and_the_not_started():
    assert retry(troubled()).splitlines() == ["edge-2", "edge-3", "edge-4", "edge-5"]


FORGED = "esc\x1b[31mred\nNext: rm -rf /\u202e\ufffe\udc80"


def test_a_name_forges_no_line_and_moves_no_cursor():
    run = RecordedRun(folder="/reports")
    run.play("check", FORGED, "-e", "edge-3")
    run.lose(FORGED)
    run.fail("-e", RUNNING)
    run.plan("edge-3", HEALTHY)
    document = run.ended()
    told = [*lines(document), *host_lines(document)]
    assert all(each.isprintable() for each in told), told
    assert [each for each in told if each.startswith("Next:")] == [f"Next:    {document.run.next}"]
    assert document.run.next == "ansible-playbook -i inventory.yml slb.fleet.rollout"
    assert any(each.startswith(r"esc\x1b[31mred Next: rm -rf /\u202e") for each in told)
    (unnamed,) = [each for each in told if "retry" in each]
    assert unnamed.startswith("  2 not in the file retry")
    assert unnamed.endswith(", -e")


def test_the_summary_stays_small_however_many_hosts_have_trouble():
    run = RecordedRun()
    names = [f"edge-{number}.{'site' * 60}" for number in range(5000)]
    run.play("check", *names)
    for number, name in enumerate(names):
        run.fail(name, {"action": "fail", "code": f"code-{number % 40}", "summary": "word " * 500})
    told = summary(run.ended())
    assert len(json.dumps(told)) < 100_000
    assert told["counts"]["failed"] == 5000
    assert told["again"] is None


READERS = pytest.mark.parametrize("read", [openmetrics_parser, parser], ids=["OpenMetrics", "the textfile collector's"])


def samples(text: str, reader: ModuleType = openmetrics_parser) -> dict[tuple[str, str], float]:
    """By a metric's name and what one of its samples is about, as Prometheus' own library reads it."""
    found: dict[tuple[str, str], float] = {}
    for family in reader.text_string_to_metric_families(text):
        assert family.type == "gauge"
        for sample in family.samples:
            about = [value for label, value in sample.labels.items() if label not in ("playbook", "check")]
            key = sample.name.removeprefix("slb_fleet_"), " ".join(about)
            assert key not in found
            found[key] = sample.value
    return found


@READERS
def test_metrics_count_what_the_document_counts(read):
    found = samples(metrics(troubled()), read)
    assert found["hosts", "not_started"] == 1
    assert found["troubled_hosts", "failed unverified_container"] == 1
    assert [found["host_healthy", host] for host in ("edge-1", "edge-2", "edge-4")] == [1, 0, 0]
    assert found["run_complete", ""] == 1


@READERS
def test_metrics_can_be_read_whatever_hosts_are_called(read):
    run = RecordedRun('a playbook \\ of "others"\n')
    names = ['edge"1', "edge\\2", "edge\n3", "edge{4}", "örtlich,5=", "edge 6 # EOF"]
    run.play("check", *names)
    found = samples(metrics(run.ended()), read)
    assert {host for name, host in found if name == "host_healthy"} == set(names)


def test_others_words_break_out_of_no_rendering():
    document = hostile()
    for render in AT_THE_END.values():
        assert "\x1b" not in render(document)
        assert "\u202e" not in render(document)
    samples(metrics(document))
    assert "<script>alert" not in page(document)
    assert "49" not in re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z|sha256-\S+", "", page(document).partition("<body>")[2])
    assert all("\n" not in each for each in lines(document))


def test_the_page_of_a_failed_fleet_is_small_and_needs_nothing_from_elsewhere():
    words = "it could be live, and what to do about it takes many words. " * 5
    run = RecordedRun(folder="/reports")
    names = [f"edge-{number}.site.example" for number in range(5000)]
    run.play("check", *names)
    for name in names:
        run.fail(name, {**RUNNING, "summary": words, "seen": HEALTHY["seen"]})
    text = page(run.ended())
    assert len(text.encode()) < 5_000_000
    assert "--limit @/reports/retry" in text
    assert not re.findall(r"<[^>]*\b(?:src|href|action|srcset)=|url\(|@import", text)


def test_files_are_replaced_as_a_whole(tmp_path):
    folder = tmp_path / "reports"
    write_all(folder, healthy(2), AT_THE_END)
    before = {path.name: path.stat().st_ino for path in folder.iterdir()}
    (tmp_path / "victim").write_text("mine")
    (folder / "retry").unlink()
    (folder / "retry").symlink_to(tmp_path / "victim")
    with (folder / "report.json").open() as opened:
        write_all(folder, troubled(), AT_THE_END)
        old = json.load(opened)
    assert set(before) == {"report.json", "report.html", "slb_fleet.prom", "retry"}
    assert old["counts"]["hosts"] == 2
    assert json.loads((folder / "report.json").read_text())["counts"]["hosts"] == 5
    assert {path.name for path in folder.iterdir()} == set(before)
    assert ((tmp_path / "victim").read_text(), (folder / "retry").is_symlink()) == ("mine", False)


def test_no_other_user_may_write_where_reports_are_whatever_the_umask_is(tmp_path):
    folder = tmp_path / "of" / "the" / "night"
    before = os.umask(0)
    try:
        write_all(folder, healthy(1), AT_THE_END)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "of").rglob("*")}
    assert {modes.pop("the"), modes.pop("night"), (tmp_path / "of").stat().st_mode & 0o777} == {0o750}
    assert modes.pop("slb_fleet.prom") == 0o644
    assert set(modes.values()) == {0o640}


SHOW_NO_CHANGE = {
    "engine_info": "reads the engine list",
    "host_info": "looks at a host",
    "login": "checks the credentials",
    "merge_reports": "writes the report of several runs on the controller",
}
"""Modules, each with the reason."""


@pytest.mark.parametrize("module", sorted(path.stem for path in (DOCS.parent / "plugins" / "modules").glob("*.py")))
def test_report_lists_the_changes_of_each_module(module):
    result = {"changed": True, "has_recorded": True, "dest": "/license"}
    assert bool(observe(f"slb.fleet.{module}", result, on="edge-1").changes) != (module in SHOW_NO_CHANGE)


def test_an_audit_says_what_there_is_to_approve():
    run = RecordedRun("slb.fleet.audit")
    run.play("audit", *(f"edge-{number}" for number in range(10)))
    for number in range(8):
        run.plan(f"edge-{number}", ABSENT)
    run.plan("edge-8", {**ABSENT, "action": "replace", "code": "dead"})
    run.plan("edge-9", HEALTHY)
    audit = run.ended()
    assert audit.plan
    assert f"Plan:    8 to install, 1 to replace   {audit.plan.digest}" in list(lines(audit))
    assert [(each["action"], each["count"], each["hosts"][0]) for each in summary(audit)["work"]] == [
        ("install", 8, "edge-0"),
        ("replace", 1, "edge-8"),
    ]
    assert not any("Plan:" in line for line in lines(healthy(3)))
