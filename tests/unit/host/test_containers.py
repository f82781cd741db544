"""What the runtimes' command lines say, and what is made of it. Real containers are looked at in the lab's tests."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
import yaml

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._host import containers, engine_container
from ansible_collections.slb.fleet.plugins.modules import host_info


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-20T13:14:00.5Z", 1795180440.5),
        ("2026-11-20T13:14:00.123456789Z", 1795180440.123456789),
        ("2026-11-20T15:14:00+02:00", 1795180440.0),
        ("2026-11-20 08:14:00.5 -0500 EST", 1795180440.5),
        ("0001-01-01T00:00:00Z", None),
    ],
)
def test_time_stamps_of_docker_and_podman(text: str, seconds: float | None) -> None:
    assert containers.parse_time(text) == seconds


ITEM = (
    '{"Id":"c1","Config":{"Image":"slb:1"},"HostConfig":{"RestartPolicy":{"Name":"always"},"NetworkMode":"host"},'
    '"State":{"Status":"running","Pid":7,"ExitCode":0,"StartedAt":"2026-11-20T13:14:00Z"}}'
)


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A search path of its own: a daemon that hangs or lies cannot be had for real."""
    monkeypatch.setattr(containers.commands, "_SEARCH_PATH", "")
    monkeypatch.setattr(containers, "_SOCKETS", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_without_a_runtime_there_is_no_container(programs: Path) -> None:
    assert containers.look().state == "absent"


def test_look_asks_only_the_runtime_of_this_machine(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST"):
        monkeypatch.setenv(name, "tcp://198.51.100.7:2375")
    program(
        programs,
        "docker",
        'case "$DOCKER_HOST$DOCKER_CONTEXT$CONTAINER_HOST" in unix:///var/run/docker.sock) ;; *) exit 1 ;; esac\n'
        f"[ $2 = inspect ] && echo '[{ITEM}]'",
    )
    assert containers.look().state == "running"


def test_look_exited_between_two_starts_is_restarting(programs: Path) -> None:
    exited, restarting = (ITEM.replace('"running"', f'"{state}"') for state in ("exited", "restarting"))
    seen = programs / "seen"
    program(
        programs,
        "docker",
        f"[ $2 = inspect ] || {{ echo c1; exit; }}\n"
        f"if [ -e {seen} ]; then echo '[{restarting}]'; else : >{seen}; echo '[{exited}]'; fi",
    )
    assert containers.look().state == "restarting"


def test_a_daemon_that_does_not_answer_is_unknown_not_absent(programs: Path) -> None:
    program(programs, "docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    seen = containers.look()
    assert seen.state == "unknown"
    assert "Cannot connect" in str(seen.why)


@pytest.mark.parametrize(("of", "named"), [("docker", "Docker"), ("podman", "Podman")])
def test_a_daemon_without_its_command_is_unknown_not_absent(
    programs: Path, monkeypatch: pytest.MonkeyPatch, of: str, named: str
) -> None:
    monkeypatch.setattr(containers, "_SOCKETS", {of: (str(programs),)})
    seen = containers.look()
    assert (seen.state, seen.why) == ("unknown", f"a {named} daemon's socket is there, but no {of} command")


def test_a_daemon_that_hangs_is_unknown_in_bounded_time(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "_ANSWER_SECONDS", 0.2)
    program(programs, "docker", "/bin/sleep 60")
    assert containers.look().state == "unknown"


def test_a_state_that_nobody_knows_is_unknown(programs: Path) -> None:
    program(programs, "docker", f"echo '[{ITEM.replace('running', 'removing')}]'")
    seen = containers.look()
    assert (seen.state, seen.why) == ("unknown", "docker calls its state removing")


def test_one_that_was_told_to_stop_runs_until_it_has(programs: Path) -> None:
    program(programs, "podman", f"echo '[{ITEM.replace('running', 'stopping')}]'")
    seen = containers.look()
    assert (seen.state, seen.stopping) == ("running", True)


def test_runtimes_that_disagree_are_unknown(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("docker", "podman", "other"):
        program(programs, name, f"echo '[{ITEM.replace('c1', name)}]'")
    assert containers.look().why == "Docker and Podman both have a container of this name"
    monkeypatch.setattr(containers, "PROGRAMS", ("other", "docker"))
    seen = containers.look()
    assert (seen.state, seen.why) == ("unknown", "Other and Docker both have a container of this name")


def test_of_two_containers_of_one_name_one_has_to_go(programs: Path) -> None:
    """Both runtimes answer: there is nothing to bring back."""
    for name in ("docker", "podman"):
        program(programs, name, f"echo '[{ITEM.replace('c1', name)}]'")
    with pytest.raises(
        HostError, match=r"a container of this name\. Nothing was changed. Remove or rename one of the two"
    ):
        engine_container.stopped(None, None, True, 1, False, "operator", check_mode=True)


@pytest.mark.parametrize("state", ["removing", "improper"])
def test_a_state_that_nobody_knows_is_looked_at_on_the_host(programs: Path, state: str) -> None:
    program(programs, "podman", f"echo '[{ITEM.replace('running', state)}]'")
    with pytest.raises(HostError, match=rf"its state {state}\. .*`podman ps --all`.*`podman rm --force slb`"):
        engine_container.stopped(None, None, True, 1, False, "operator", check_mode=True)


def test_a_name_that_podmans_storage_holds_is_not_free(programs: Path) -> None:
    """As buildah takes it: no install succeeds there, and filters of podman do not hold for it."""
    listing = "echo other Storage; echo slb Storage"
    program(programs, "podman", f'[ $1 = ps ] || exit 125; case "$*" in *--external*) {listing};; esac')
    seen = containers.look()
    assert (seen.state, "buildah" in str(seen.why)) == ("unknown", True)
    with pytest.raises(HostError, match="`podman rm slb`"):
        engine_container.stopped(None, None, True, 1, False, "operator", check_mode=True)
    program(programs, "podman", '[ $1 = ps ] || exit 125; case "$*" in *--external*) echo other Storage;; esac')
    assert containers.look().state == "absent"
    program(programs, "podman", '[ $1 = ps ] || exit 125; case "$*" in *--external*) exit 125;; esac')
    assert containers.look().state == "absent", "an old Podman does not have the option"


def test_the_words_of_a_runtime_end_once(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "_ANSWER_SECONDS", 0.2)
    for script in ("/bin/sleep 60", "echo It is broken. >&2; exit 1"):
        program(programs, "docker", script)
        with pytest.raises(HostError) as raised:
            engine_container.stopped(None, None, True, 1, False, "operator", check_mode=True)
        assert ".." not in str(raised.value)


def test_two_commands_for_the_same_containers_agree(programs: Path) -> None:
    for name in ("docker", "podman"):
        program(programs, name, f"echo '[{ITEM}]'")
    assert containers.look().state == "running"


@pytest.mark.parametrize("of", ["engine_container", "set_aside"])
def test_the_docs_of_the_look_name_each_runtime(of: str) -> None:
    said = yaml.safe_load(host_info.RETURN)["slb_host"]["contains"][of]["contains"]["runtime"]["description"]
    assert re.findall(r"V\((\w+)\)", said) == list(containers.PROGRAMS)


def test_a_runtime_outside_of_a_short_path_is_found_and_run(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(programs, "docker", f"echo '[{ITEM}]'")
    monkeypatch.setattr(containers.commands, "_SEARCH_PATH", str(programs))
    monkeypatch.setenv("PATH", "/nowhere")
    seen = containers.look()
    assert (seen.state, seen.runtime, seen.why) == ("running", "docker", None)


PODMAN_DOCKER = """[ -e /etc/containers/nodocker ] || \\
echo "Emulate Docker CLI using podman. Create /etc/containers/nodocker to quiet msg." >&2
exec {podman} "$@\""""


@pytest.mark.parametrize("kind", ["script", "link"])
def test_a_docker_that_is_podmans_is_podman(programs: Path, kind: str) -> None:
    """As the package podman-docker has it: what Podman cannot do, that command cannot do either."""
    program(programs, "podman", f"echo '[{ITEM}]'")
    if kind == "script":
        program(programs, "docker", PODMAN_DOCKER.format(podman=programs / "podman"))
    else:
        (programs / "docker").symlink_to("podman")
    assert containers.installed() == ["podman"]
    assert containers.look().runtime == "podman"


@pytest.mark.parametrize("script", ['exec /opt/docker/docker "$@"', '# not podman "$@"\nexec /opt/docker "$@"'])
def test_a_docker_that_is_a_script_is_not_podmans_for_that(programs: Path, script: str) -> None:
    program(programs, "docker", script)
    program(programs, "podman", "[ $1 = ps ]")
    assert containers.installed() == ["docker", "podman"]
    (programs / "docker").write_bytes(b"\x7fELF podman $@")
    assert containers.installed() == ["docker", "podman"]


def test_what_was_seen_with_a_command_that_is_gone_is_seen_with_the_one_that_is_there(programs: Path) -> None:
    program(programs, "podman", f"[ $3 = c1 ] && echo '[{ITEM}]'")
    seen = containers.inspect("docker", "c1")
    assert (seen.state, seen.runtime) == ("running", "podman")
    gone = containers.inspect("docker", "c2")
    assert gone.state == "unknown", "another runtime does not know what Docker had"


def test_podman_alone_is_used(programs: Path) -> None:
    program(programs, "podman", f"echo '[{ITEM}]'")
    seen = containers.look()
    assert (seen.state, seen.runtime, seen.restart_policy) == ("running", "podman", "always")


def test_the_uptime_does_not_follow_a_clock_that_was_set_back() -> None:
    running = containers.Container("running", pid=os.getpid(), started_at=time.time() + 7200)
    assert 0 <= containers.uptime(running) < 7200
    assert containers.uptime(running._replace(pid=None, started_at=time.time() - 60)) == pytest.approx(60, abs=1)
    assert containers.uptime(running._replace(state="exited")) is None


def test_what_only_root_sees_is_said_to_be_denied(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    program(programs, "docker", "echo 'Got permission denied while trying to connect' >&2; exit 1")
    assert str(containers.look().why).startswith("permission denied")
    program(programs, "docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    assert "permission denied" not in str(containers.look().why)
    closed = programs / "docker.sock"
    closed.touch()
    monkeypatch.setattr(containers, "_SOCKETS", {"docker": (str(closed),)})
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(closed))
    assert str(containers.look().why).startswith("permission denied")
    (programs / "docker").rename(programs / "podman")
    assert "permission denied" not in str(containers.look().why)


def test_a_user_who_sees_no_container_of_podman_may_not_see_those_of_root(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(programs, "podman", "[ $1 = ps ]")
    assert containers.look().state == "absent"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    seen = containers.look()
    assert seen.state == "unknown"
    assert str(seen.why).startswith("permission denied")


def test_one_that_deletes_itself_and_the_limit_of_restarts_are_seen(programs: Path) -> None:
    item = ITEM.replace('"Name":"always"', '"Name":"on-failure","MaximumRetryCount":3')
    program(programs, "docker", "echo '[{}]'".format(item.replace('"NetworkMode"', '"AutoRemove":true,"NetworkMode"')))
    seen = containers.look()
    assert (seen.auto_remove, seen.restart_policy, seen.whole_restart_policy) == (True, "on-failure", "on-failure:3")
    assert seen.summary()["auto_remove"] is True
    program(programs, "docker", f"echo '[{ITEM}]'")
    assert containers.look().auto_remove is False


def test_a_free_name_is_not_sought_without_end(programs: Path) -> None:
    program(programs, "docker", "exit 1")
    with pytest.raises(HostError, match="Bring the container runtime back"):
        containers.free_name("docker", "slb-leftover-x")


def test_a_container_that_is_made_while_we_look_is_seen(programs: Path, tmp_path: Path) -> None:
    """The first question comes before it is there, the second one after."""
    made = tmp_path / "made"
    script = f"""case $1 in
container) [ -e {made} ] && echo '[{ITEM}]' || {{ echo 'no such container' >&2; exit 1; }};;
ps) : > {made}; echo c1;;
esac"""
    program(programs, "docker", script)
    assert containers.look().state == "running"
