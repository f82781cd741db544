"""What runs say of themselves: real ones of the playbooks, over hosts whose answers are kept."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from ansible.release import __version__

from ansible_collections.slb.fleet.plugins.plugin_utils._report.plan import digest_of
from ansible_collections.slb.fleet.tests.tools.runs import output_of, started, wait_until
from ansible_collections.slb.fleet.tests.unit.report.canned import HURRY, ROOT, Canned

SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())


def next_of(output: str) -> str:
    found = re.findall(r"^Next: (.*)$", output, re.MULTILINE)
    assert len(found) == 1, output
    return str(found[0])


def test_the_next_command_is_whole_and_has_no_secret(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="unreachable", edge_3="unreachable")
    (tmp_path / "more.yml").write_text("slb_settle: 1\n")
    given = ["--limit", "edge-1,edge-2", "--forks", "3", "-e", "@more.yml", "-e", "slb_password=pa55 env=prod"]
    given += ["-e", '{"slb_serial": [1, "100%"]}']
    _status, output = fleet.run("slb.fleet.rollout", *given)
    command = next_of(output)
    assert command == (
        'ansible-playbook -i inventory.yml --forks 3 -e @more.yml -e \'{"slb_serial": [1, "100%"]}\' '
        "slb.fleet.rollout --limit edge-2"
    )
    assert "because they may be secrets: -e slb_password, -e env" in output
    for path in fleet.reports.iterdir():
        assert "pa55" not in path.read_text(), path
    status, again = fleet.run(command=command)
    assert list(fleet.verdicts) == ["edge-2"], again
    assert status != 0


def test_the_next_command_of_a_rehearsal_does_what_was_approved_though_it_writes_where_that_stands(
    tmp_path: Path,
) -> None:
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="work")
    _status, output = fleet.run("slb.fleet.rollout", "--check", "-e", "slb_motd=keep")
    plan = fleet.document["plan"]
    command = next_of(output)
    assert "slb_plan=reports/report.json" in command
    for _repeated in range(2):
        _status, output = fleet.run(command=command)
        assert "There is no plan" not in output
        assert fleet.document["plan"] == plan
        assert fleet.hosts["edge-2"]["reason"]["code"] != "not_approved"


def test_a_plan_in_a_file_of_variables_is_recognised(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="work")
    plan = {"digest": digest_of({}), "hosts": {}}
    (tmp_path / "plan.yml").write_text(json.dumps({"slb_plan": plan}))
    _status, output = fleet.run("slb.fleet.rollout", "-e", "@plan.yml")
    assert fleet.hosts["edge-1"]["reason"]["code"] == "not_approved", output
    assert next_of(output) == (
        "ansible-playbook -i inventory.yml -e @plan.yml slb.fleet.rollout -e slb_plan= --check --limit edge-1"
    )


def test_a_report_of_another_playbook_is_no_plan(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="work")
    fleet.run("slb.fleet.audit")
    (tmp_path / "audit.json").write_text((fleet.reports / "report.json").read_text())
    _status, output = fleet.run("slb.fleet.rollout", "-e", "slb_plan=audit.json")
    assert "audit.json is the report of slb.fleet.audit, and no plan" in output


def test_what_an_inventory_calls_a_host_forges_no_line(tmp_path: Path) -> None:
    odd = "esc\x1bcred\nNext: rm -rf /"
    fleet = Canned(tmp_path, **{odd: "work", "@file": "unreachable", "-e": "breaks", "edge_1": "unreachable"})
    _status, output = fleet.run("slb.fleet.rollout")
    assert "\x1b" not in output, output
    assert next_of(output) == "ansible-playbook -i inventory.yml slb.fleet.rollout"
    assert r"[esc\x1bcred Next: rm -rf /]: " in output
    told = "3 not in retry, because --limit takes the name for something else: "
    assert rf"{told}-e, @file, esc\x1bcred Next: rm -rf /" in output
    assert (fleet.reports / "retry").read_text() == "edge-1\n"
    ElementTree.parse(fleet.reports / "junit.xml")
    merge = [sys.executable, "-m", "ansible_collections.slb.fleet.plugins.plugin_utils.merge_reports"]
    status, output = fleet.run(
        command=[*merge, "--into", str(tmp_path / "whole"), str(fleet.reports)], PYTHONPATH=str(ROOT / ".cache" / "dev")
    )
    assert status == 1
    assert told in output


def test_what_a_diagnosis_says_of_hosts_with_work_is_told_and_with_v_of_all(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="work")
    _status, output = fleet.run("slb.fleet.diagnose")
    (told,) = (line for line in output.splitlines() if line.startswith("[edge-2]: There is: "))
    assert "Would note the engine in the record of the host. Because: " in told
    assert "[edge-1]" not in output
    assert "1 to confirm, 1 with nothing to do. Nothing was changed." in output
    _status, output = fleet.run("slb.fleet.diagnose", "-v")
    assert output.count("There is: ") == 2


@pytest.mark.parametrize("playbook", ["rollout", "diagnose", "audit", "remediate"])
def test_a_variable_that_does_not_exist_is_told_once(tmp_path: Path, playbook: str) -> None:
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy")
    _status, output = fleet.run(
        f"slb.fleet.{playbook}", "-e", "slb_wait_timout=5", "-e", "slb_remediate_all=true", "--check"
    )
    assert output.count("The variable slb_wait_timout") == 1, output
    assert "Is slb_wait_timeout meant?" in " ".join(output.split())


def test_a_management_node_that_is_waited_for_is_told_of_meanwhile(tmp_path: Path) -> None:
    """The management node is the loopback's discard port, where nothing is."""
    fleet = Canned(tmp_path, edge_1="healthy")
    listing = {"path": "/engines", "items": "data", "name": "n", "address": "a", "state": "s", "running": ["up"]}
    node = {"slb_base_url": "https://127.0.0.1:9", "slb_username": "u", "slb_password": "p", "slb_retries": 0}
    given = json.dumps({**node, "slb_engine_listing": listing, "slb_outage_timeout": 120})
    how = {"cwd": tmp_path, "env": fleet.environment()}
    with started(fleet.command("slb.fleet.audit", "-e", given), tmp_path, **how) as process:
        wait_until(
            lambda: "The run pauses for every host" in " ".join(output_of(tmp_path, process).split()),
            lambda: output_of(tmp_path, process),
        )
        assert process.poll() is None


def test_a_variable_that_cannot_be_decrypted_wants_the_password_and_no_rollout(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="healthy")
    secret = "$ANSIBLE_VAULT;1.1;AES256\n" + "6162" * 20
    (tmp_path / "vaulted.yml").write_text("slb_engine_name: !vault |\n" + textwrap.indent(secret, "  ") + "\n")
    _status, output = fleet.run("slb.fleet.audit", "-e", "@vaulted.yml")
    words = " ".join(output.split())
    # ansible-core up to 2.18 ends the task before it asks for the variable.
    if "cannot be evaluated" in words or "Attempting to decrypt but no vault secrets found" not in words:
        assert "Give the password of the vault: --ask-vault-password" in words
    assert "slb.fleet.audit" in next_of(output)


def test_an_audit_of_a_tag_that_nothing_has_looks_all_the_same(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="work")
    status, output = fleet.run("slb.fleet.audit", "--tags", "nosuch")
    assert status != 0, output
    assert fleet.verdicts == {"edge-1": "failed"}


def test_a_run_about_no_host_leaves_the_report_of_the_one_before(tmp_path: Path) -> None:
    """It may be the very report that it is to merge."""
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="work")
    fleet.run("slb.fleet.audit")
    before = {path.name: path.read_bytes() for path in fleet.reports.iterdir()}
    status, output = fleet.run(
        "slb.fleet.merge_reports", "-e", '{"slb_reports": ["reports"]}', "-e", "slb_merged_dir=whole"
    )
    assert status == 0, output
    assert {path.name: path.read_bytes() for path in fleet.reports.iterdir()} == before
    assert (tmp_path / "whole" / "retry").read_text() == "edge-2\n"
    assert "slb.fleet.audit: 2 hosts" in output, "what they come to is said"


def test_a_list_of_no_hosts_is_a_limit_to_none(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy")
    fleet.run("slb.fleet.rollout")
    status, output = fleet.run("slb.fleet.rollout", "--limit", "@reports/retry")
    assert status != 0
    assert "leaves us with no hosts to target" in output


@pytest.mark.parametrize(
    "playbook",
    ["rollout", "remediate", "audit", "diagnose", "adopt_interfaces", "download_license", "try_engine_listing"],
)
def test_a_limit_by_a_file_without_hosts_is_refused(tmp_path: Path, playbook: str) -> None:
    """Ansible takes it for all hosts. Also where it is the one that the run writes."""
    fleet = Canned(tmp_path, edge_1="work", edge_2="healthy")
    fleet.reports.mkdir()
    for path, text in (fleet.reports / "retry", ""), (tmp_path / "hosts", "\n \n\t\n"):
        path.write_text(text)
        status, output = fleet.run(f"slb.fleet.{playbook}", "--limit", f"@{path.relative_to(tmp_path)}")
        assert status != 0
        assert f"The file {path.relative_to(tmp_path)} of --limit names no host" in output
        assert fleet.verdicts == {}
        assert "edge-" not in output


@pytest.mark.parametrize("text", ["*", "edge-1\nengines"])
def test_a_file_of_patterns_names_no_hosts_for_remediate(tmp_path: Path, text: str) -> None:
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy")
    (tmp_path / "hosts").write_text(f"{text}\n")
    status, output = fleet.run("slb.fleet.remediate", "--limit", "@hosts")
    assert status != 0
    assert "on all hosts of a group" in output
    assert fleet.verdicts == {}


def test_a_run_limited_by_its_own_list_of_hosts_goes_on_with_its_hosts(tmp_path: Path) -> None:
    """The list is written anew while the run goes on, and in the end has the hosts for a next run."""
    fleet = Canned(tmp_path, edge_1="work", edge_2="work", edge_3="work")
    fleet.reports.mkdir()
    before = "ansible-playbook -i inventory.yml slb.fleet.rollout"
    for arguments, expected in (
        (("slb.fleet.diagnose",), f"{before} --limit edge-1"),
        (("slb.fleet.rollout", "--check"), f"{before} --limit edge-1 -e slb_plan=reports/report.json"),
    ):
        (fleet.reports / "retry").write_text("edge-1\n")
        _status, output = fleet.run(*arguments, "--limit", f"@{fleet.reports}/retry")
        assert list(fleet.verdicts) == ["edge-1"], output
        assert (fleet.reports / "retry").read_text() == "!all\n"
        assert next_of(output) == expected
    status, output = fleet.run(command=expected)
    assert (status, fleet.verdicts) == (0, {"edge-1": "proven"}), output
    (fleet.reports / "retry").write_text("edge-1\nedge-2\n")
    status, output = fleet.run("slb.fleet.remediate", "--limit", "@reports/retry")
    assert (status, list(fleet.verdicts)) == (0, ["edge-1", "edge-2"]), output


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("slb.fleet.remediate", "--limit", "edge-1,edge-2"), "edge-1,edge-2"),
        (("slb.fleet.remediate", "--limit", "@some"), "edge-1,edge-2"),
        (("slb.fleet.rollout", "-e", "slb_unrecorded_engine=replace"), "edge-1,edge-2"),
        (("slb.fleet.diagnose", "-e", "slb_unrecorded_engine=replace", "--limit", "@some"), "edge-1,edge-2"),
        (("slb.fleet.rollout", "-e", "@word.yml"), "edge-1,edge-2"),
        (("slb.fleet.rollout", "-e", "of_the_inventory=replace"), "edge-1,edge-2"),
        (("slb.fleet.rollout",), "@reports/retry"),
    ],
)
def test_the_operator_s_word_is_about_the_hosts_of_its_run_whatever_a_later_one_writes(
    tmp_path: Path, given: tuple[str, ...], named: str
) -> None:
    """Such as an audit from time to time, with the same folder."""
    fleet = Canned(tmp_path, edge_1="unreachable", edge_2="unreachable", edge_3="healthy")
    (tmp_path / "some").write_text("edge-1\nedge-2\n")
    (tmp_path / "word.yml").write_text("slb_unrecorded_engine: replace\n")
    _status, output = fleet.run(*given)
    assert next_of(output).endswith(f" --limit {named}")


@pytest.mark.parametrize(
    ("playbook", "tags"),
    [
        ("rollout", ("--tags", "another")),
        ("diagnose", ("--tags", "another")),
        ("audit", ("--skip-tags", "always")),
    ],
)
def test_a_run_whose_look_was_skipped_claims_nothing(tmp_path: Path, playbook: str, tags: tuple[str, str]) -> None:
    fleet = Canned(tmp_path, edge_1="healthy")
    _status, output = fleet.run(f"slb.fleet.{playbook}", *tags)
    assert fleet.verdicts == {"edge-1": "not_attempted"}
    assert "1 not attempted" in output
    _status, output = fleet.run(f"slb.fleet.{playbook}", "--start-at-task", "Give AWX how the fleet stands")
    assert set(fleet.verdicts.values()) <= {"not_attempted"}, output


def test_where_no_host_matches_the_earlier_report_is_not_left_as_if_it_was_of_this_run(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="healthy")
    fleet.run("slb.fleet.rollout")
    assert fleet.document["counts"]["proven"] == 1
    status, output = fleet.run("slb.fleet.rollout", "-e", "slb_hosts=nobody")
    assert status != 0
    assert "No host matches" in output
    assert (fleet.document["run"]["status"], fleet.document["hosts"]) == ("interrupted", [])
    assert "slb_fleet_run_complete{" in (fleet.reports / "slb_fleet.prom").read_text()
    assert 'host="edge-1"' not in (fleet.reports / "slb_fleet.prom").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_who_ends_a_run_has_its_reports(tmp_path: Path, number: signal.Signals) -> None:
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy after 300")
    so_far = {"edge-1": "proven", "edge-2": "unfinished"}

    def as_from_a_shell() -> None:
        """Which lets what it starts in its background ignore the keyboard; and nothing is from nohup."""
        signal.signal(signal.SIGINT, signal.SIG_DFL if number == signal.SIGINT else signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    command, how = fleet.command("slb.fleet.rollout"), {"cwd": tmp_path, "env": fleet.environment()}
    with started(command, tmp_path, preexec_fn=as_from_a_shell, **how) as process:
        written = fleet.reports / "report.json"
        said = partial(output_of, tmp_path, process)
        wait_until(lambda: written.exists() and fleet.verdicts == so_far, said, 60)
        process.send_signal(number)
        assert process.wait(60) != 0
    text = said()
    assert fleet.document["run"]["status"] == "interrupted", text
    assert fleet.verdicts == so_far
    assert "1 begun and not ended" in text
    assert "edge-2" in (fleet.reports / "junit.xml").read_text()
    assert [path.name for path in fleet.reports.iterdir() if path.name.startswith(".")] == []


def test_an_adoption_that_is_ended_says_that_interfaces_were_being_changed(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="healthy after 300")
    how = {"cwd": tmp_path, "env": fleet.environment()}
    with started(fleet.command("slb.fleet.adopt_interfaces", "--limit", "edge-1"), tmp_path, **how) as process:
        written = fleet.reports / "report.json"
        said = partial(output_of, tmp_path, process)
        wait_until(lambda: written.exists() and fleet.verdicts == {"edge-1": "unfinished"}, said, 60)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) != 0
    assert fleet.hosts["edge-1"]["reason"]["sentence"].startswith("Its interfaces were being changed: "), said()
    assert next_of(said()).endswith("slb.fleet.adopt_interfaces --limit edge-1")


INTERRUPTED_ONCE = """
import os, signal, time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

# Whoever starts the tests in the background of a shell has them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
run, close, send = os.getpid(), BaseProcess.close, Connection.send_bytes

def interrupt():
    if os.path.exists("reports/report.json") and os.path.exists("interrupt") and os.getpid() == run:
        os.remove("interrupt")
        os.kill(run, signal.SIGINT)

def close_and_interrupt(worker):
    close(worker)
    interrupt()

def send_and_interrupt(connection, *given):
    if os.getpid() != run and os.path.exists("reports/report.json") and os.path.exists("interrupt"):
        os.remove("interrupt")
        os.kill(run, signal.SIGINT)
        time.sleep(1)
    send(connection, *given)

def look():
    global due
    due = os.path.exists("reports/report.json") and os.path.exists("interrupt")

def wait_for_the_interruption():
    if due:
        time.sleep(10)

if os.environ["INTERRUPT"] == "a worker is put away":
    BaseProcess.close = close_and_interrupt
elif os.environ["INTERRUPT"] == "a worker hands over its result":
    Connection.send_bytes = send_and_interrupt
elif os.environ["INTERRUPT"] == "before a fork":
    os.register_at_fork(before=interrupt)
elif os.environ["INTERRUPT"] == "after a fork":
    os.register_at_fork(after_in_parent=interrupt)
else:
    os.register_at_fork(before=look, after_in_parent=interrupt, after_in_child=wait_for_the_interruption)
"""
"""Once, at a moment at which Python or ansible-core loses it."""


@pytest.mark.parametrize(
    "moment",
    [
        *("before a fork", "after a fork"),
        *("a worker has not begun", "a worker hands over its result", "a worker is put away"),
    ],
)
def test_a_run_that_is_interrupted_at_a_bad_moment_ends_all_the_same(tmp_path: Path, moment: str) -> None:
    if moment == "a worker is put away" and [int(part) for part in __version__.split(".")[:2]] < [2, 19]:
        pytest.skip("Before 2.19 ansible-core puts no worker away.")
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy", edge_3="work")
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTED_ONCE)
    (tmp_path / "interrupt").touch()
    status, output = fleet.run("slb.fleet.rollout", PYTHONPATH=str(tmp_path), INTERRUPT=moment)
    assert not (tmp_path / "interrupt").exists(), output
    assert status == 99, output
    assert "Exception ignored" not in output
    assert "bug" not in output
    assert fleet.document["run"]["status"] == "interrupted", output


def test_awx_is_given_how_the_fleet_stands_also_where_a_canary_that_fails_has_ended_the_run(tmp_path: Path) -> None:
    """It takes what a run publishes with set_stats, which Ansible shows here."""
    fleet = Canned(tmp_path, edge_1="breaks", edge_2="work", edge_3="healthy")
    shown = {"ANSIBLE_STDOUT_CALLBACK": "default", "ANSIBLE_SHOW_CUSTOM_STATS": "1"}
    _status, output = fleet.run("slb.fleet.rollout", "-e", "awx_job_id=77", **shown)
    assert fleet.verdicts == {"edge-1": "failed", "edge-2": "not_attempted", "edge-3": "proven"}, output
    artifacts, _end = json.JSONDecoder().raw_decode(output.partition("\tRUN: ")[2])
    assert artifacts["slb_fleet_77"]["counts"] == fleet.document["counts"]
    assert artifacts["slb_fleet_77"]["again"] == "edge-1,edge-2"


@pytest.mark.parametrize("callback", ["slb.fleet.fleet", "default"])
def test_a_run_to_whose_words_nobody_listens_any_more_comes_to_its_end(tmp_path: Path, callback: str) -> None:
    fleet = Canned(tmp_path, edge_1="work", edge_2="work", edge_3="healthy", edge_4="fails")
    with (tmp_path / "errors").open("w+") as errors:
        process = subprocess.Popen(
            fleet.command("slb.fleet.audit"),
            cwd=tmp_path,
            env={**fleet.environment(), "ANSIBLE_STDOUT_CALLBACK": callback},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            assert process.stdout
            process.stdout.close()
            assert process.wait(120) == 2
        finally:
            process.kill()
            process.wait()
        errors.seek(0)
        assert "Broken pipe" not in errors.read()
    assert fleet.document["run"]["status"] == "finished"
    assert set(fleet.verdicts.values()) == {"proven", "failed"}


def test_what_is_on_disk_is_at_any_moment_one_whole_file(tmp_path: Path) -> None:
    # Each answers when the test lets it; the last ones never, so the run cannot end. All are asked at once, as Ansible
    # takes no results while it waits to begin the next host.
    hosts, answering = 20, 15
    fleet = Canned(tmp_path, **{f"edge_{number}": f"healthy once {number}" for number in range(hosts)})
    names = {f"edge-{number}" for number in range(hosts)}
    (tmp_path / "hurry.py").write_text(HURRY)
    hurried = {"ANSIBLE_CALLBACK_PLUGINS": str(tmp_path), "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report,hurry"}
    command = fleet.command("slb.fleet.rollout", "--forks", str(hosts))
    environment = {**fleet.environment(), **hurried}
    files = [fleet.reports / name for name in ("report.json", "retry", "slb_fleet.prom")]
    last: list[str] = []

    def assert_whole(report: str, retry: str, told: str) -> None:
        """Each by itself: between two of them they may be written anew. The first ones have no hosts yet."""
        document = json.loads(report)
        jsonschema.validate(document, SCHEMA)
        assert document["run"]["status"] == "running"
        assert len(document["hosts"]) in (0, hosts)
        assert retry == "!all\n" or set(retry.split("\n")) <= {*names, ""} != {""}
        assert told.count("slb_fleet_host_proven{") in (0, hosts)
        assert told.endswith("# EOF\n")

    with started(command, tmp_path, cwd=tmp_path, env=environment) as process:

        def shows(proven: int) -> bool:
            assert process.poll() is None, output_of(tmp_path, process)
            # Looked at as often as can be, and checked where it has changed.
            texts = [path.read_text() for path in files if path.exists()]
            if texts != last and len(texts) == len(files):
                last[:] = texts
                assert_whole(*texts)
            counts = json.loads(last[0])["counts"] if last else {}
            assert counts.get("proven", 0) <= proven
            return (counts.get("hosts"), counts.get("proven")) == (hosts, proven)

        # The document grows with the run.
        for number in range(answering + 1):
            wait_until(partial(shows, number), partial(output_of, tmp_path, process), 120, every=0)
            if number < answering:
                (tmp_path / str(number)).touch()
    assert process.returncode == -signal.SIGKILL
    assert_whole(*(path.read_text() for path in files))
    assert fleet.document["counts"]["proven"] == answering


def test_what_a_killed_run_left_half_written_is_taken_away_and_not_what_another_run_writes(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="healthy")
    fleet.reports.mkdir()
    old, new = fleet.reports / ".slb-fleet-0123456789abcdef.part", fleet.reports / ".slb-fleet-fedcba9876543210.part"
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (time.time() - 3600, time.time() - 3600))
    fleet.run("slb.fleet.rollout")
    assert not old.exists()
    assert new.exists()


def test_an_audit_says_what_is_missing_where_all_seems_well(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="work")
    fleet.run("slb.fleet.audit")
    assert fleet.hosts["edge-1"]["action"] == "confirm"
    assert "But the host's record does not prove it." in fleet.hosts["edge-1"]["reason"]["sentence"]


def test_a_proof_is_as_old_as_the_look(tmp_path: Path) -> None:
    """The audit decides again without another look, after all hosts: here behind one that takes three seconds."""
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="healthy after 3")
    fleet.run("slb.fleet.audit")
    first, second = (fleet.hosts[name]["verified"]["at"] for name in ("edge-1", "edge-2"))
    batches = fleet.document["run"]["batches"]
    assert first <= second <= batches[-1]["began"]
    assert first != second
