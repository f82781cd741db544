# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, as its users call it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from runs import wait_until
from slb_lab import docker

SLB_LAB = Path(sys.executable).with_name("slb-lab")
NAME = f"cli-{os.getpid()}"
ONE_HOST = "hosts: {edge-1: {release: bookworm}}\n"


def slb_lab(*arguments, status=0, timeout=120):
    outcome = subprocess.run([SLB_LAB, *arguments], capture_output=True, text=True, timeout=timeout, check=False)
    assert outcome.returncode == status, outcome.stdout + outcome.stderr
    assert "Traceback" not in outcome.stderr
    return outcome.stdout if status == 0 else outcome.stderr


def docker_objects(name):
    labelled = ["--quiet", "--filter", f"label=slb-lab={name}"]
    return docker.run(["ps", "--all", *labelled]) + docker.run(["network", "ls", *labelled])


def processes_with(text):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        if text.encode() in command:
            found.append(command)
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as environment:
        home = tmp_path_factory.mktemp("state") / "labs"
        environment.setenv("SLB_LAB_HOME", str(home))
        environment.chdir(tmp_path_factory.mktemp("work"))
        yield home


@pytest.fixture(scope="module")
def lab(home):
    Path("one.yml").write_text(ONE_HOST)
    try:
        slb_lab("up", "--name", NAME, "--file", "one.yml")
        yield NAME
    finally:
        slb_lab("down", "--name", NAME)


def test_status_says_what_is_there(lab):
    status = json.loads(slb_lab("status", "--name", lab, "--json"))
    (host,) = status["hosts"]
    assert (host["host"], host["release"], host["state"], host["engine_container"]) == (
        "edge-1", "bookworm", "running", "none",
    )  # fmt: skip
    assert status["management_node"]["state"] == "running"
    assert "edge-1" in slb_lab("status", "--name", lab)


def test_inventory_is_for_its_owner_alone(lab):
    printed = slb_lab("inventory", "--name", lab)
    assert slb_lab("inventory", "--name", lab, "--output", "inventory.yml") == ""
    assert Path("inventory.yml").read_text() == printed
    assert Path("inventory.yml").stat().st_mode & 0o777 == 0o600
    assert yaml.safe_load(printed)["engines"]["vars"]["slb_base_url"].startswith("https://127.0.0.1:")


def test_exec_hands_on_output_and_exit_status(lab):
    assert slb_lab("exec", "--name", lab, "edge-1", "--", "hostname") == "edge-1\n"
    slb_lab("exec", "--name", lab, "edge-1", "--", "sh", "-c", "exit 7", status=7)
    assert "has no host 'edge-9'" in slb_lab("exec", "--name", lab, "edge-9", "--", "true", status=1)


def test_faults_are_set_kept_and_cleared(lab):
    assert "stuck_front_end=true\n" in slb_lab("fault", "--name", lab, "stuck_front_end=true", "language=zh")
    slb_lab("fault", "--name", lab, "slow_accept_seconds=2")
    shown = slb_lab("fault", "--name", lab)
    assert "stuck_front_end=true\n" in shown
    assert "language=zh\n" in shown
    assert "stuck_front_end=false\n" in slb_lab("fault", "--name", lab, "--clear")
    assert "'stuck' is not KEY=VALUE" in slb_lab("fault", "--name", lab, "stuck", status=2)
    refused = slb_lab("fault", "--name", lab, "stuck=true", status=1)
    assert "stuck" in refused
    assert "stuck_front_end" in refused


def test_console_prints_who_may_log_in(lab):
    printed = slb_lab("console", "--name", lab)
    password = yaml.safe_load(slb_lab("inventory", "--name", lab))["engines"]["vars"]["slb_password"]
    assert f"password: {password}\n" in printed


def test_up_brings_a_crashed_management_node_back_at_the_same_address(lab, home):
    url = json.loads(slb_lab("status", "--name", lab, "--json"))["management_node"]["base_url"]
    pid = int((home / lab / "management_node" / "pid").read_text())
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not processes_with(str(home / lab)), "it has died", 10)
    assert json.loads(slb_lab("status", "--name", lab, "--json"))["management_node"]["state"] == "stopped"
    slb_lab("up", "--name", lab)
    assert json.loads(slb_lab("status", "--name", lab, "--json"))["management_node"] == {
        "state": "running", "base_url": url,
    }  # fmt: skip


def test_an_interrupted_up_ends_soon_and_can_be_run_again_beside_another_lab(lab, home):
    other = f"{NAME}-b"
    up = subprocess.Popen(
        [SLB_LAB, "up", "--name", other, "--file", "one.yml"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # What a shell starts in the background ignores the interrupt, and so would all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    assert any("starting (bookworm" in line for line in up.stdout)
    up.send_signal(signal.SIGINT)
    up.communicate(timeout=15)
    assert up.returncode == 1
    slb_lab("up", "--name", other)
    slb_lab("down", "--name", other)
    assert docker_objects(other) == ""
    assert not (home / other).exists()
    assert processes_with(str(home / other)) == []
    assert slb_lab("exec", "--name", lab, "edge-1", "--", "hostname") == "edge-1\n"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["up", "--name", "No_Lab"], 1, "'No_Lab' cannot be used"),
        (["up", "--name", "absent", "--file", "absent.yml"], 1, "absent.yml cannot be read"),
        (["status", "--name", "absent"], 1, "There is no lab 'absent'"),
        (["inventory", "--name", "absent"], 1, "slb-lab up --name absent"),
        (["exec", "edge-1"], 2, "COMMAND"),
        (["upp"], 2, "No such command 'upp'"),
    ],
)
def test_bad_input_gets_one_clear_sentence(home, arguments, status, said):
    assert said in slb_lab(*arguments, status=status)
    assert not (home / "absent").exists()


def test_a_lab_that_another_folder_keeps_is_left_alone(lab, monkeypatch, tmp_path):
    monkeypatch.setenv("SLB_LAB_HOME", str(tmp_path / "elsewhere"))
    for command in (["up", "--file", "one.yml"], ["down"]):
        assert "is there already" in slb_lab(*command, "--name", lab, status=1)
    assert not (tmp_path / "elsewhere").exists()
    assert docker_objects(lab) != ""


def test_down_of_nothing_is_content(home):
    assert "gone" in slb_lab("down", "--name", "absent")


def test_without_docker_the_error_says_what_to_do(home, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    Path("one.yml").write_text(ONE_HOST)
    assert "docker-engine up" in slb_lab("up", "--name", "absent", "--file", "one.yml", status=1)
