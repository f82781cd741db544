"""Each job template with survey answers as AWX sends them: unsafe texts, questions left open, and hostile answers."""

import json
import os
import re

import pytest
from fake_node import INSTALL, PASSWORD
from launches import ANSWERED, APPROVED, APPROVED_PLAN, SURVEYS, playbook_of, sent, with_variables
from rollouts import environment, inventory, rollout

HOSTS = {"edge-1", "edge-2"}


def launches():
    """Of each template: nothing answered, as the API and as the page sends it, and each choice chosen once."""
    found = []
    for template, questions in SURVEYS.items():
        if template == "download_license":
            continue
        needed = {question["variable"] for question in questions if question["required"]}
        opened = {name: value for name, value in ANSWERED[template].items() if name in needed}
        found.append(pytest.param(template, opened, id=f"{template}-open"))
        texts = {each["variable"]: "" for each in questions if each["type"] == "text"}
        if not texts.keys() <= opened.keys():
            found.append(pytest.param(template, {**texts, **opened}, id=f"{template}-empty"))
        choices = {question["variable"]: question["choices"] for question in questions if "choices" in question}
        for number in range(max(map(len, choices.values()), default=1)):
            chosen = {name: each[number % len(each)] for name, each in choices.items()}
            found.append(pytest.param(template, {**ANSWERED[template], **chosen}, id=f"{template}-{number}"))
    return found


@pytest.mark.parametrize(("template", "answers"), launches())
def test_template_runs_with_the_answers_of_its_survey(start, controller, template, answers):
    server, playbook = start(), playbook_of(template)
    states = dict.fromkeys(HOSTS, "verified" if playbook == "audit" else "")
    hosts = inventory(server, controller.folder / "hosts", 2, states)
    options = with_variables(controller.folder, sent(template, answers))
    seen = rollout(controller, hosts, *options, playbook=playbook)
    assert seen.run.status == 0, seen.run.output[-3000:]
    assert {host["name"] for host in seen.document["hosts"]} == ({"edge-1"} if answers.get("slb_hosts") else HOSTS)
    assert "unknown: it has no effect" not in seen.run.words
    assert server.seen[INSTALL] == (len(seen.document["hosts"]) if template.startswith("rollout") else 0)


@pytest.mark.parametrize(
    "variables",
    [
        {"slb_canary": "edge-2"},
        {"slb_canary": "edge-2", "slb_hosts": "", "slb_serial": " "},
        {"slb_canary": "edge-2", "slb_hosts": "!edge-1", "slb_serial": " 1, 50% "},
        {"slb_canary": "edge-2", "slb_hosts": "edge-1:edge-2"},
        {"slb_hosts": "edge-2,engines"},
    ],
)
def test_canary_is_deployed_first(start, controller, variables):
    server = start()
    hosts = inventory(server, controller.folder / "hosts", 3)
    seen = rollout(controller, hosts, *with_variables(controller.folder, variables))
    assert json.loads(server.to(INSTALL)[0].body)["name"] == "edge-2", seen.run.output[-3000:]
    assert (seen.run.status, seen.counts) == (0, {"healthy": len(seen.document["hosts"])})


def test_plan_of_the_audit_is_done_after_the_approval(start, controller):
    server = start()
    replace = {"slb_unverified_engine": "replace", "slb_stop_timeout": 1}
    hosts = inventory(server, controller.folder / "hosts", 2, {"edge-1": "live"}, **replace)
    audit = rollout(controller, hosts, "-e", "awx_job_id=7", playbook="audit", ANSIBLE_SHOW_CUSTOM_STATS="1")
    assert audit.run.status == 2
    found = re.search(r"RUN: (\{.*\})", audit.run.output)
    assert found, audit.run.output[-3000:]
    artifacts = json.loads(found[1])
    assert artifacts["slb_fleet_7"]["plan"].startswith("sha256:")

    options = with_variables(controller.folder, {**artifacts, "slb_approved_plan": APPROVED_PLAN})
    done = rollout(controller, hosts, *options, "-e", "awx_job_id=8")
    assert done.run.status == 0, done.run.output[-3000:]
    assert server.seen[INSTALL] == 2
    assert APPROVED not in SURVEYS


@pytest.mark.parametrize(
    ("artifact", "code"),
    [
        ({"playbook": "slb.fleet.audit", "plan": "sha256:" + "0" * 64}, "not_in_approved_plan"),
        ({"playbook": "slb.fleet.audit", "plan": None}, "approved_plan_invalid"),
        ({}, "approved_plan_invalid"),
    ],
    ids=["another fleet", "no plan", "no artifact"],
)
def test_without_the_approved_plan_nothing_is_done(start, controller, artifact, code):
    server = start()
    variables = {"slb_fleet_7": artifact, "slb_approved_plan": APPROVED_PLAN, "slb_hosts": ""}
    options = with_variables(controller.folder, variables)
    hosts = inventory(server, controller.folder / "hosts", 2, slb_license_dest=str(controller.folder / "license"))
    rejected = rollout(controller, hosts, *options, "-e", "awx_job_id=8")
    assert rejected.run.status == 2
    assert {host["code"] for host in rejected.document["hosts"]} == {code}
    assert server.seen[INSTALL] == 0
    assert not (controller.folder / "license").exists()


READ = "{{{{ lookup('ansible.builtin.file', lookup('ansible.builtin.env', 'SLB_PASSWORD_FILE')) }}}}"
WRITE = "{{{{ lookup('ansible.builtin.pipe', 'touch {folder}/made') }}}}"
SLOW = "~(e|e)*(.*.*.*.*.*.*.*.*.*.*)*$x"
SECRET_FILE, ENVIRONMENT = "{folder}/secret/password", "/proc/self/environ"
HOSTILE = [
    *(("slb_hosts", each) for each in ("localhost", "edge-1,127.0.0.1", "outside.example,", WRITE, f"@{SECRET_FILE}")),
    ("slb_hosts", SLOW),
    *(("limit", each) for each in ("localhost", WRITE, f"@{ENVIRONMENT}")),
    *(("slb_serial", READ), ("slb_max_fail_percentage", READ), ("slb_interfaces", READ)),
    *(("slb_approved_plan", each) for each in (READ, SECRET_FILE, ENVIRONMENT)),
]
HOSTILE_LAUNCHES = [
    ("adopt_interfaces" if name == "slb_interfaces" else "rollout", name, text) for name, text in HOSTILE
]
HOSTILE_LAUNCHES += [
    (template, name, f"localhost,{WRITE}" if name == "slb_hosts" else READ)
    for template, questions in SURVEYS.items()
    for name in (question["variable"] for question in questions if question["type"] == "text")
    if (template, name) not in {(each, name) for each, name, _text in HOSTILE_LAUNCHES}
]


@pytest.mark.parametrize(("template", "name", "value"), HOSTILE_LAUNCHES)
def test_hostile_launch_gains_nothing(start, controller, template, name, value):
    """At the highest verbosity, which a launch may choose, too."""
    server, folder = start(), controller.folder
    for each in ("secret", "bin"):
        (folder / each).mkdir()
    (folder / "secret" / "password").write_text(f"{PASSWORD}\n")
    (folder / "bin" / "ssh").write_text(f"#!/bin/sh\necho contacted >>{folder}/contacted\n")
    (folder / "bin" / "ssh").chmod(0o700)
    hosts = inventory(server, folder / "hosts", 2, slb_password="", slb_stop_timeout=1)
    text = value.format(folder=folder)
    needed = {each["variable"]: "edge-1" for each in SURVEYS[template] if each["required"]}
    answers = sent(template, needed if name == "limit" else {**needed, name: text})
    options = [*with_variables(folder, answers), *(["--limit", text] if name == "limit" else []), "-vvvvv"]
    play = [{"ansible.builtin.import_playbook": f"slb.fleet.{playbook_of(template)}"}]
    given = {**environment(folder / "reports"), "SLB_PASSWORD_FILE": str(folder / "secret" / "password")}
    done = controller.run(play, hosts, *options, **given, PATH=f"{folder / 'bin'}:{os.environ['PATH']}")
    assert "ansible-playbook" in done.output
    written = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "secret"]
    for shown in (done.output, *(path.read_text(errors="replace") for path in written)):
        assert PASSWORD not in shown
    assert not (folder / "made").exists()
    assert not (folder / "contacted").exists()
    assert "LOCAL CONNECTION" not in done.output
    assert {json.loads(each.body)["name"] for each in server.to(INSTALL)} <= HOSTS
