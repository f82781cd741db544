"""Commands of Docker and Podman are scripts on a private PATH here: what they print, and what is concluded."""

import contextlib
import json
import os
import subprocess
import time

import pytest

from ansible_collections.slb.fleet.plugins.module_utils.engine_host import container

IDENTITY = "c0ffee" * 10
ITEM = {
    "Id": IDENTITY,
    "Name": "/slb",
    "Config": {"Image": "slb:1", "Labels": None},
    "HostConfig": {"RestartPolicy": {"Name": "always"}, "NetworkMode": "host"},
    "State": {"Status": "exited", "Pid": 0, "ExitCode": 1, "StartedAt": "2026-11-20T13:14:00Z"},
}


def inspected(status="exited", pid=0, **values):
    return json.dumps([{**ITEM, **values, "State": {**ITEM["State"], "Status": status, "Pid": pid}}])


@pytest.fixture
def programs(tmp_path, monkeypatch):
    monkeypatch.setattr(container.commands, "_SEARCH_PATH", "")
    monkeypatch.setattr(container.processes, "pids", list)
    monkeypatch.setattr(container, "_DOCKER_SOCKET", str(tmp_path / "docker.sock"))
    monkeypatch.setattr(container, "_INTERVAL", 0.01)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(folder, name, script):
    """Write a command; a ``docker`` gets its words without the option --host."""
    path = folder / name
    shift = "shift 2\n" if name == "docker" else ""
    path.write_text(f"#!/bin/sh\n{shift}{script}\n")
    path.chmod(0o755)


@contextlib.contextmanager
def process(parent):
    """Run a process whose parent has the text ``parent`` on its command line."""
    script = "/bin/sleep 60 & echo $!; wait"
    with subprocess.Popen(["/bin/sh", "-c", script, "conmon", parent], stdout=subprocess.PIPE, text=True) as shim:
        assert shim.stdout
        pid = int(shim.stdout.readline())
        try:
            yield pid
        finally:
            os.kill(pid, 9)


def test_find_without_runtime_is_absent(programs):
    assert container.find_container().state == "absent"


def test_find_running_container(programs):
    with process(IDENTITY) as pid:
        program(programs, "podman", f"echo '{inspected('running', pid)}'")
        seen = container.find_container()
        assert (seen.state, seen.runtime, seen.id, seen.restart_policy) == ("running", "podman", IDENTITY, "always")
        assert 0 <= (seen.uptime or -1) < 30
        assert set(seen.summary()) >= {"state", "name", "why", "fix", "manager"}
        assert "pid" not in seen.summary()


def test_find_process_of_another_machine_is_unknown(programs):
    """As if the socket was forwarded from another machine: the number is free here, or of another process."""
    for pid in (os.getpid(), 2**22 + 1):
        program(programs, "docker", f"echo '{inspected('running', pid)}'")
        seen = container.find_container()
        assert seen.state == "unknown"
        assert "not on this machine" in str(seen.why)


def test_find_asks_only_the_runtime_of_this_machine(programs, monkeypatch):
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST"):
        monkeypatch.setenv(name, "tcp://198.51.100.7:2375")
    check = f'[ "$1 $2" = "--host unix://{programs}/docker.sock" ] && [ -z "$DOCKER_HOST$DOCKER_CONTEXT" ] || exit 1'
    (programs / "docker").write_text(f"#!/bin/sh\n{check}\necho '{inspected()}'\n")
    (programs / "docker").chmod(0o755)
    assert container.find_container().state == "exited"


def test_find_docker_socket_of_dockerd(programs, monkeypatch):
    (programs / "other.sock").touch()
    command = f"/usr/bin/dockerd\0-H\0fd://\0--host=unix://{programs}/other.sock\0"
    monkeypatch.setattr(container.processes, "pids", lambda: [7])
    monkeypatch.setattr(container.processes, "read", lambda pid, name: command if name == "cmdline" else "dockerd\n")
    (programs / "docker").write_text(f"#!/bin/sh\n[ $2 = unix://{programs}/other.sock ] && echo '{inspected()}'\n")
    (programs / "docker").chmod(0o755)
    assert container.find_container().state == "exited"


def test_find_exited_between_two_starts_is_restarting(programs):
    first = programs / "first"
    script = f"if [ -e {first} ]; then echo '{inspected('restarting')}'; else : >{first}; echo '{inspected()}'; fi"
    program(programs, "docker", script)
    assert container.find_container().state == "restarting"


@pytest.mark.parametrize(("starts", "state"), [(8, "restarting"), (7, "exited")])
def test_find_exited_again_after_a_start(programs: Path, starts: int, state: str) -> None:
    first, before, after = programs / "first", inspected(RestartCount=7), inspected(RestartCount=starts)
    program(programs, "podman", f"if [ -e {first} ]; then echo '{after}'; else : >{first}; echo '{before}'; fi")
    assert container.find_container().state == state


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'Cannot connect to the Docker daemon' >&2; exit 1", "Cannot connect"),
        ("/bin/sleep 60", "no answer within 0.3 s"),
        (f"echo '{inspected('removing')}'", "reports the state removing"),
        ("echo '[{}]'", "unknown form"),
        ("echo '[7]'", "unknown form"),
    ],
)
def test_find_unclear_answer_is_unknown(programs, monkeypatch, script, why):
    monkeypatch.setattr(container, "_ANSWER_SECONDS", 0.3)
    program(programs, "docker", script)
    begin = time.monotonic()
    seen = container.find_container()
    assert (seen.state, why in str(seen.why)) == ("unknown", True), seen.why
    assert seen.fix
    assert container.unknown_state(seen).code == "container_state_unknown"
    assert time.monotonic() - begin < 30


@pytest.mark.parametrize("name", ["dockerd", "containerd", "conmon", "podman"])
def test_find_runtime_process_without_command_is_unknown(programs, monkeypatch, name):
    monkeypatch.setattr(container.processes, "pids", lambda: [7])
    monkeypatch.setattr(container.processes, "read", lambda pid, file: name + "\n" if file == "comm" else "")
    command = "podman" if name in ("conmon", "podman") else "docker"
    seen = container.find_container()
    assert (seen.state, f"command {command} was not found" in str(seen.why)) == ("unknown", True)
    other = "docker" if command == "podman" else "podman"
    program(programs, other, "[ $1 = ps ]")
    assert container.find_container().state == "unknown"
    program(programs, command, "[ $1 = ps ]")
    assert container.find_container().state == "absent"


def test_find_runtime_process_of_a_container_does_not_count(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"comm": "conmon\n", "status": "Name:\tconmon\nNSpid:\t7\t1\n"}
    monkeypatch.setattr(container.processes, "pids", lambda: [7])
    monkeypatch.setattr(container.processes, "read", lambda pid, file: files[file])
    assert container.find_container().state == "absent"
    files["status"] = "Name:\tconmon\nNSpid:\t7\n"
    assert container.find_container().state == "unknown"


@pytest.mark.parametrize(
    ("user", "name", "state"), [(1000, "slb", "unknown"), (0, "slb", "absent"), (1000, "x", "absent")]
)
def test_find_rootless_container_is_unknown(
    programs: Path, monkeypatch: pytest.MonkeyPatch, user: int, name: str, state: str
) -> None:
    program(programs, "podman", "[ $1 = ps ]")
    files = {"comm": "conmon\n", "status": f"NSpid:\t7\nUid:\t{user}\t{user}\n", "cmdline": f"conmon\0-n\0{name}\0"}
    monkeypatch.setattr(container.processes, "pids", lambda: [7])
    monkeypatch.setattr(container.processes, "read", lambda pid, file: files[file])
    assert container.find_container().state == state


def test_find_socket_without_command_is_unknown(programs: Path) -> None:
    (programs / "docker.sock").touch()
    assert container.find_container().state == "unknown"
    program(programs, "podman", "[ $1 = ps ]")
    assert container.find_container().state == "unknown"
    (programs / "docker.sock").unlink()
    (programs / "docker.sock").symlink_to("podman.sock")
    (programs / "podman.sock").touch()
    assert container.find_container().state == "absent", "the package podman-docker makes this link"


def test_find_two_containers_of_one_name_is_unknown(programs):
    program(programs, "docker", f"echo '{inspected()}'")
    program(programs, "podman", f"echo '{inspected()}'")
    assert container.find_container().state == "exited"
    program(programs, "podman", f"echo '{inspected(Id='c2')}'")
    assert "both have a container" in str(container.find_container().why)


def test_find_command_outside_of_a_short_path(programs, monkeypatch):
    program(programs, "docker", f"echo '{inspected()}'")
    monkeypatch.setattr(container.commands, "_SEARCH_PATH", str(programs))
    monkeypatch.setenv("PATH", "/nowhere")
    assert container.find_container().state == "exited"


def test_find_container_created_between_two_commands(programs):
    made = programs / "made"
    script = f"""case $1 in
container) [ -e {made} ] && echo '{inspected()}' || exit 1;;
ps) : >{made}; echo c1;;
esac"""
    program(programs, "docker", script)
    assert container.find_container().state == "exited"


def test_find_name_in_podmans_storage_is_unknown(programs):
    script = '[ $1 = ps ] || exit 125; case "$*" in *--external*) echo {} Storage;; esac'
    program(programs, "podman", script.format("slb"))
    assert "buildah" in str(container.find_container().why)
    program(programs, "podman", script.format("other"))
    assert container.find_container().state == "absent"
    program(programs, "podman", '[ $1 = ps ] || exit 125; case "$*" in *--external*) exit 125;; esac')
    assert container.find_container().state == "absent", "an old Podman does not know the option"


def test_find_as_another_user_is_denied(programs, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    program(programs, "podman", "[ $1 = ps ]")
    assert container.unknown_state(container.find_container()).code == "permission_denied"
    (programs / "podman").unlink()
    program(programs, "docker", "exit 1")
    (programs / "docker.sock").touch(0o600)
    monkeypatch.setattr(os, "access", lambda path, mode: "docker.sock" not in str(path))
    assert container.unknown_state(container.find_container()).code == "permission_denied"


@pytest.mark.parametrize("kind", ["script", "link", "other script", "binary"])
def test_installed_docker_of_podman_is_podman(programs, kind):
    program(programs, "podman", "true")
    docker = programs / "docker"
    if kind == "link":
        docker.symlink_to("podman")
    else:
        scripts = {
            "script": b'#!/bin/sh\n[ -e /x ] || echo "using podman" >&2\nexec /usr/bin/podman "$@"\n',
            "other script": b'#!/bin/sh\n# not podman "$@"\nexec /opt/docker "$@"\n',
            "binary": b'\x7fELF podman "$@"',
        }
        docker.write_bytes(scripts[kind])
        docker.chmod(0o755)
    expected = ["podman"] if kind in ("script", "link") else ["docker", "podman"]
    assert container.installed() == expected


def test_inspect_with_a_missing_command(programs):
    program(programs, "podman", f"[ $3 = c1 ] && echo '{inspected(Id='c1')}'")
    assert container.inspect("docker", "c1").runtime == "podman"
    assert container.inspect("docker", "c2").state == "unknown", "Podman does not know Docker's containers"


@pytest.mark.parametrize(
    ("file", "text", "is_found"),
    [
        ("engine.service", "ExecStartPre=-/usr/bin/docker rm -f slb", True),
        ("engine.service", "ExecStart=/usr/bin/podman start slb", True),
        ("slb.service", "ExecStart=/usr/bin/docker run --name=%N image", True),
        ("slb.service.d/10.conf", "ExecStart=docker start -a %p", True),
        ("engine.container", "[Container]\nContainerName = slb\n", True),
        ("engine.container", "[Container]\nContainerName=slb2\n", False),
        ("engine.service", "ExecStart=/usr/bin/docker run --name web registry/slb:1", False),
        ("engine.service", "#ExecStart=docker start slb", False),
        ("engine.service", "Description=docker slb", False),
    ],
)
def test_find_manager_reads_unit_files(programs, monkeypatch, file, text, is_found):
    monkeypatch.setattr(container, "_UNIT_FOLDERS", (str(programs / "units"),))
    path = programs / "units" / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    manager = container.find_manager(container.Container("exited"))
    unit = file.split("/", maxsplit=1)[0].replace(".d", "")
    assert manager == (f"systemd unit {unit} ({path})" if is_found else None)


@pytest.mark.parametrize(
    ("words", "cgroup", "expected"),
    [
        (["/usr/bin/docker", "run", "--name", "slb", "x"], "0::/system.slice/e.service\n", "systemd unit e.service"),
        (["podman", "start", "-a", "slb"], "1:name=systemd:/system.slice/e.service\n", "systemd unit e.service"),
        (["docker", "run", "--name", "other", "x"], "0::/system.slice/e.service\n", None),
        (["docker", "start", "-a", "slb"], "0::/user.slice/user-0.slice/session-3.scope\n", None),
        (["vi", "start", "slb"], "0::/system.slice/e.service\n", None),
    ],
)
def test_find_manager_sees_a_process_of_a_unit(programs, monkeypatch, words, cgroup, expected):
    monkeypatch.setattr(container, "_UNIT_FOLDERS", (str(programs),))
    files = {"cmdline": "\0".join(words) + "\0", "cgroup": cgroup}
    monkeypatch.setattr(container.processes, "pids", lambda: [7])
    monkeypatch.setattr(container.processes, "read", lambda pid, name: files[name])
    assert container.find_manager(container.Container("running")) == expected


@pytest.mark.parametrize(
    ("label", "manager"),
    [
        ("com.docker.compose.project", "compose project y"),
        ("com.docker.swarm.service.name", "swarm service y"),
        ("io.kubernetes.pod.name", "Kubernetes pod y"),
        ("PODMAN_SYSTEMD_UNIT", "systemd unit y"),
    ],
)
def test_find_reads_the_manager_from_labels(programs, label, manager):
    config = {"Image": "slb:1", "Labels": {label: "y"}}
    program(programs, "docker", f"echo '{inspected(Config=config)}'")
    assert container.find_container().manager == manager
