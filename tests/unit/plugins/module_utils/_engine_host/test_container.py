"""Commands of Docker and Podman are scripts on a private PATH here: what they print, and what is concluded."""

import contextlib
import json
import os
import subprocess

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import container, runtimes
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import waiting
from ansible_collections.slb.fleet.tests.unit.errors import code_of
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_files import Files

IDENTITY = "c0ffee" * 10


def inspected(status="exited", pid=0, **values):
    """Return the answer to ``container inspect``."""
    item = {
        "Id": IDENTITY,
        "Name": "/slb",
        "Config": {"Image": "slb:1", "Labels": None},
        "HostConfig": {"RestartPolicy": {"Name": "always"}, "NetworkMode": "host"},
        "State": {"Status": status, "Pid": pid, "ExitCode": 1, "StartedAt": "2026-11-20T13:14:00Z"},
    }
    return json.dumps([{**item, **values}])


HANGS = "{ echo >>hung; /bin/sleep 60; }"
INSPECT_HANGS = f"[ $1 = ps ] && echo c1 slb || {HANGS}"
FOUND, NOTHING = f"echo '{inspected()}'", "[ $1 = ps ]"


@pytest.fixture
def programs(tmp_path, monkeypatch):
    monkeypatch.setattr(runtimes.commands, "_SEARCH_PATH", "")
    monkeypatch.setattr(container.processes, "pids", list)
    monkeypatch.setattr(runtimes, "_DOCKER_SOCKET", str(tmp_path / "docker.sock"))
    monkeypatch.setattr(runtimes, "_DOCKER_PID", str(tmp_path / "docker.pid"))
    monkeypatch.setattr(runtimes, "find_obstacle", lambda runtime: None)
    monkeypatch.setattr(container, "INTERVAL", 0.01)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(folder, name, script):
    """Write a command that gets its words without the options --host and --remote."""
    (folder / name).write_text(f"#!/bin/sh\nshift {2 if name == 'docker' else 1}\n{script}\n")
    (folder / name).chmod(0o755)


def process_seven(monkeypatch, **files):
    """Let the host have one process, with these files of /proc."""
    monkeypatch.setattr(container.processes, "pids", lambda: [7])
    monkeypatch.setattr(container.processes, "find", lambda pid: container.processes.Process(pid, "S", 1, 1))
    monkeypatch.setattr(container.processes, "read", lambda pid, name: {"status": "Uid:\t0\n", **files}.get(name, ""))


@contextlib.contextmanager
def process(parent):
    """Run a process whose parent has the text ``parent`` on its command line."""
    script = "/bin/sleep 60 & echo $!; wait"
    with subprocess.Popen(["/bin/sh", "-c", script, "conmon", parent], stdout=subprocess.PIPE, text=True) as shim:
        pid = int(shim.stdout.readline())
        try:
            yield pid
        finally:
            os.kill(pid, 9)


@pytest.mark.parametrize(("counts", "state"), [("1 2", "restarting"), ("1 1 1", "unknown")])
def test_crash_loop_whose_process_has_ended_at_each_reading(programs, counts, state):
    """Another start at each reading is a restart; the same one is a runtime that is wrong."""
    for number, count in enumerate(counts.split()):
        (programs / f"reading{number}").write_text(inspected("running", 2**22 + 1, RestartCount=int(count)))
    script = f"cd {programs}; for file in reading*; do /bin/cat $file && /bin/rm $file && exit; done"
    program(programs, "podman", script)
    assert container.find_container().state == state


def test_find_running_container(programs, monkeypatch):
    with process(IDENTITY) as pid:
        program(programs, "podman", f"echo '{inspected('running', pid)}'")
        seen = container.find_container()
        assert (seen.state, seen.runtime, seen.id, seen.restart_policy) == ("running", "podman", IDENTITY, "always")
        assert (0 <= (seen.uptime or -1) < 30, "pid" in seen.summary()) == (True, False)
        # The start of a process is known to a hundredth of a second.
        monkeypatch.setattr(container.clock, "uptime", lambda: 0.0)
        assert container.find_container().uptime == 0


def test_running_container_whose_process_is_a_zombie_is_unknown(programs, monkeypatch):
    """Its shim hangs, so that its end is not noticed."""
    monkeypatch.setattr(runtimes, "find_processes_of", lambda identity: set())
    script = "/bin/sleep 60 & echo $!; kill -STOP $$"
    with subprocess.Popen(["/bin/sh", "-c", script, "shim", IDENTITY], stdout=subprocess.PIPE, text=True) as shim:
        try:
            pid = int(shim.stdout.readline())
            assert waiting.wait_for(lambda: container.processes.find(shim.pid).state == "T", 60)
            os.kill(pid, 9)
            assert waiting.wait_for(lambda: container.processes.find(pid).state == "Z", 60)
            program(programs, "podman", f"echo '{inspected('running', pid)}'")
            assert container.find_container().state == "unknown"
        finally:
            shim.kill()


CHECK = {"Test": ["CMD", "true"], "Interval": 5 * 10**9, "Timeout": 10**9, "Retries": 2}
LOG = [{"ExitCode": 1, "Output": "of an earlier check"}, {"ExitCode": 1, "Output": "first\nlast line\n"}]


@pytest.mark.parametrize("key", ["Health", "Healthcheck"], ids=["docker", "podman-3"])
@pytest.mark.parametrize(
    ("runtime", "health", "check", "uptime", "state", "output"),
    [
        ("docker", None, None, 9, None, None),
        ("podman", {"Status": ""}, None, 9, None, None),  # Podman 4.3
        ("docker", {"Status": "healthy", "Log": LOG}, CHECK, 9, "healthy", "last line"),
        ("docker", {"Status": "unhealthy", "Log": LOG}, CHECK, 9, "unhealthy", "last line"),
        # The log may be of the run before.
        ("docker", {"Status": "starting", "Log": LOG}, CHECK, 9, "starting", None),
        ("docker", {"Status": "starting", "Log": None}, CHECK, 17, "starting", None),
        ("docker", {"Status": "starting", "Log": None}, CHECK, 19, "silent", None),
        ("docker", {"Status": "starting"}, {**CHECK, "StartPeriod": 60 * 10**9}, 77, "starting", None),
        ("docker", {"Status": "starting"}, {"Test": ["CMD", "true"]}, 239, "starting", None),
        ("docker", {"Status": "starting"}, {"Test": ["CMD", "true"]}, 241, "silent", None),
        ("podman", {"Status": "starting"}, {"Test": ["CMD", "true"]}, 1, "silent", None),  # --health-interval=disable
    ],
)
def test_find_reads_the_health_check(programs, monkeypatch, runtime, health, check, uptime, state, output, key):
    now = {"Status": "running", "Pid": 7, "ExitCode": 0, "StartedAt": "2026-11-20T13:14:00.1Z", key: health}
    answer = inspected(State=now, Config={"Image": "slb:1", "Healthcheck": check})
    program(programs, runtime, f"cat <<'END'\n{answer}\nEND")
    monkeypatch.setenv("PATH", f"{programs}:/bin")
    monkeypatch.setattr(runtimes, "installed", lambda: [runtime])
    monkeypatch.setattr(container, "_is_here", lambda seen: True)
    monkeypatch.setattr(container.clock, "uptime", lambda: 1000.0)
    found = container.processes.Process(7, "S", 1, (1000 - uptime) * 100)
    monkeypatch.setattr(container.processes, "find", lambda pid: found)
    seen = container.find_container()
    assert (seen.state, seen.health, seen.health_output) == ("running", state, output), seen


BUILDAH = '[ $1 = ps ] || exit 125; case "$*" in *--external*) '
MADE_MEANWHILE = f"case $1 in container) [ -e made ] && {FOUND} || exit 1;; ps) : >made; echo c1 other,slb;; esac"
RESTARTING = f"[ -e second ] && echo '{inspected('restarting')}' || {{ : >second; {FOUND}; }}"
STARTED = f"[ -e second ] && echo '{inspected(RestartCount=1)}' || {{ : >second; {FOUND}; }}"


@pytest.mark.parametrize(
    ("scripts", "state"),
    [
        ({}, "absent"),
        ({"docker": FOUND}, "exited"),
        ({"docker": FOUND, "podman": FOUND}, "exited"),
        ({"docker": FOUND, "podman": f"echo '{inspected(Id='c2')}'"}, "unknown"),
        ({"docker": MADE_MEANWHILE}, "exited"),
        # Between two starts of a crash loop, Docker reports "exited".
        ({"docker": RESTARTING}, "restarting"),
        ({"podman": STARTED}, "restarting"),
        # Other containers; Podman's filter finds the first one for ^/?slb$.
        ({"podman": "[ $1 = ps ] && printf '%s\\n' 'c1 old-slb' 'c2 slb-backend' 'c3 pod/slb'"}, "absent"),
        # The name is in the storage of Podman, without a container; an old Podman does not know the option.
        ({"podman": BUILDAH + "echo slb Storage;; esac"}, "unknown"),
        ({"podman": BUILDAH + "echo other Storage;; esac"}, "absent"),
        ({"podman": BUILDAH + "exit 125;; esac"}, "absent"),
        ({"docker": "echo 'Cannot connect to the Docker daemon' >&2; exit 1"}, "unknown"),
        ({"docker": HANGS}, "unknown"),
        ({"docker": INSPECT_HANGS}, "unknown"),
        ({"docker": f"echo '{inspected('removing')}'"}, "unknown"),
        ({"docker": "echo '[{}]'"}, "unknown"),
        ({"docker": "echo '[7]'"}, "unknown"),
        # As if the socket was forwarded: the process is another one here, or does not exist.
        ({"docker": f"echo '{inspected('running', os.getpid())}'"}, "unknown"),
        ({"docker": f"echo '{inspected('running', 2**22 + 1)}'"}, "unknown"),
    ],
)
def test_find_container(programs, monkeypatch, scripts, state):
    hangs = any(HANGS in script for script in scripts.values())
    if hangs:
        monkeypatch.setattr(runtimes, "ANSWER_SECONDS", 1)
    monkeypatch.chdir(programs)
    for name, script in scripts.items():
        program(programs, name, script)
    seen = container.find_container()
    assert (seen.state, bool(seen.why), bool(seen.fix)) == (state, state == "unknown", state == "unknown"), seen
    assert not hangs or (programs / "hung").read_text() == "\n", "the first killed command ends the reading"
    if state == "unknown":
        assert code_of(container.known, seen) == "container_state_unknown"
    else:
        assert container.known(seen) is seen


@pytest.mark.parametrize(
    ("state", "cgroup", "files", "found"),
    [
        ("S", "0::/slb.scope", {"slb.scope/cgroup.events": "populated 1\nfrozen 0\n"}, "running"),
        ("S", "0::/slb.scope", {"slb.scope/cgroup.events": "populated 1\nfrozen 1\n"}, "unknown"),
        ("S", "7:freezer:/slb\n0::/", {"freezer/slb/freezer.state": "FROZEN\n"}, "unknown"),
        ("S", "7:freezer:/slb\n0::/", {"freezer/slb/freezer.state": "THAWED\n"}, "running"),
        ("S", "7:freezer:/gone", {}, "running"),
        ("S", "7:freezer:/slb\n0::/a", {"unified/a/cgroup.events": "frozen 1\n"}, "unknown"),
        ("t", "", {}, "running"),  # a debugger has it
        ("T", "", {}, "unknown"),
    ],
)
def test_running_engine_that_is_halted_is_unknown(programs, monkeypatch, state, cgroup, files, found):
    for name, content in files.items():
        (programs / name).parent.mkdir(parents=True, exist_ok=True)
        (programs / name).write_text(content)
    program(programs, "docker", f"echo '{inspected('running', 7)}'")
    process_seven(monkeypatch, cgroup=cgroup)
    monkeypatch.setattr(container.processes, "CGROUPS", str(programs))
    monkeypatch.setattr(container.processes, "find", lambda pid: container.processes.Process(pid, state, 1, 1))
    monkeypatch.setattr(container, "_is_here", lambda seen: True)
    seen = container.find_container()
    assert (seen.state, bool(seen.fix)) == (found, found == "unknown"), seen


def test_find_asks_only_the_runtime_of_this_machine(programs, monkeypatch):
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST"):
        monkeypatch.setenv(name, "tcp://198.51.100.7:2375")
    for socket in ("docker.sock", "other.sock"):
        check = f'[ "$1 $2" = "--host unix://{programs}/{socket}" ] && [ -z "$DOCKER_HOST$DOCKER_CONTEXT" ] || exit 1'
        (programs / "docker").write_text(f"#!/bin/sh\n{check}\n{FOUND}\n")
        (programs / "docker").chmod(0o755)
        assert container.find_container().state == "exited"
        # The next socket is one that dockerd has as an option.
        (programs / "other.sock").touch()
        command = f"/usr/bin/dockerd\0-H\0fd://\0--host=unix://{programs}/other.sock\0"
        process_seven(monkeypatch, cmdline=command, comm="dockerd\n")


@pytest.mark.parametrize(("left", "state"), [(0, "exited"), (2, "exited"), (99, "unknown")])
def test_find_exited_has_no_process(programs, monkeypatch, left, state):
    """The runtime reports exited: with live-restore, the container may run under another daemon."""
    program(programs, "docker", FOUND)
    counts = iter([True] * left)
    monkeypatch.setattr(container, "_END_SECONDS", 0.1)
    monkeypatch.setattr(container.processes, "pids", lambda: [7])
    monkeypatch.setattr(
        container.processes, "read", lambda pid, name: f"0::/{IDENTITY}" * (name == "cgroup" and next(counts, False))
    )
    seen = container.find_container()
    assert (seen.state, seen.id, bool(seen.fix)) == (state, IDENTITY, state == "unknown")
    assert ("process 7 " in str(seen.why)) == (state == "unknown")


def test_find_exited_names_a_process_that_stays(programs, monkeypatch):
    program(programs, "docker", FOUND)
    left = iter([{60, 61}])
    monkeypatch.setattr(runtimes, "find_processes_of", lambda identity: next(left, {61, 70}))
    monkeypatch.setattr(container, "_END_SECONDS", 0)
    assert "process 61 " in str(container.find_container().why)


@pytest.mark.parametrize("name", ["dockerd", "conmon", "podman"])
def test_find_runtime_process_without_command_is_unknown(programs, monkeypatch, name):
    process_seven(monkeypatch, comm=f"{name}\n", status="NSpid:\t7\t1\nUid:\t0\n")
    assert container.find_container().state == "absent", "it is the process of a container"
    process_seven(monkeypatch, comm=f"{name}\n")
    command, other = ("podman", "docker") if name in ("conmon", "podman") else ("docker", "podman")
    assert container.find_container().state == "unknown"
    program(programs, other, NOTHING)
    assert container.find_container().state == "unknown"
    program(programs, command, NOTHING)
    assert container.find_container().state == "absent"


def test_find_nothing_without_a_whole_list_is_unknown(programs, monkeypatch):
    """No container slb is listed, and the list of all containers fails."""

    def find_unlisted(_list_ids):
        raise FleetError("runtime_error", "List of podman failed.", "Repair it.")

    program(programs, "podman", NOTHING)
    monkeypatch.setattr(runtimes, "find_unlisted", find_unlisted)
    seen = container.find_container()
    assert (seen.state, seen.why, seen.fix) == ("unknown", "List of podman failed", "Repair it.")


def test_find_socket_without_command_is_unknown(programs):
    (programs / "docker.sock").touch()
    assert container.find_container().state == "unknown"
    program(programs, "podman", NOTHING)
    assert container.find_container().state == "unknown"
    (programs / "docker.sock").unlink()
    (programs / "docker.sock").symlink_to("podman.sock")
    (programs / "podman.sock").touch()
    assert container.find_container().state == "absent", "the package podman-docker makes this link"


def test_find_command_outside_of_a_short_path(programs, monkeypatch):
    program(programs, "docker", FOUND)
    monkeypatch.setattr(runtimes.commands, "_SEARCH_PATH", str(programs))
    monkeypatch.setenv("PATH", "/nowhere")
    assert container.find_container().state == "exited"


def test_find_as_another_user_is_denied(programs, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for name in ("podman", "docker"):
        program(programs, name, "exit 1")
        assert code_of(container.known, container.find_container()) == "permission_denied"


@pytest.mark.parametrize(
    ("docker", "is_podman"),
    [
        (b'#!/bin/sh\n[ -e /x ] || echo "using podman" >&2\nexec /usr/bin/podman "$@"\n', True),
        (b'#!/bin/sh\n# not podman "$@"\nexec /opt/docker "$@"\n', False),
        (b'\x7fELF podman "$@"', False),
        ("link", True),
    ],
)
def test_installed_docker_of_podman_is_podman(programs, docker, is_podman):
    program(programs, "podman", "true")
    if docker == "link":
        (programs / "docker").symlink_to("podman")
    else:
        (programs / "docker").write_bytes(docker)
        (programs / "docker").chmod(0o755)
    assert runtimes.installed() == (["podman"] if is_podman else ["docker", "podman"])


def test_installed_docker_that_cannot_be_read_is_docker(programs, monkeypatch):
    monkeypatch.setattr(runtimes.commands, "find", lambda name: str(programs / name))
    assert runtimes.installed() == ["docker", "podman"]


IMAGE = '[{"Config": {"Labels": {"com.docker.compose.container-number": "1"}}}]'


@pytest.mark.parametrize(
    ("labels", "image", "manager"),
    [
        ({"com.docker.compose.container-number": "1", "com.docker.compose.project": "y"}, "[]", "compose project y"),
        ({"com.docker.compose.container-number": "2"}, IMAGE, "compose project 2"),
        # A copy of a container by `docker commit` has its labels, and an image that compose built those of the project.
        ({"com.docker.compose.container-number": "1"}, IMAGE, None),
        ({"com.docker.compose.project": "y", "com.docker.compose.service": "x"}, "[]", None),
    ],
)
def test_find_manager_ignores_the_labels_of_the_image(programs, tmp_path, monkeypatch, labels, image, manager):
    Files(tmp_path, monkeypatch)
    item = inspected(Image="sha256:1", Config={"Image": "slb:1", "Labels": labels})
    program(programs, "docker", f"[ $1 = image ] && echo '{image}' || echo '{item}'")
    found = container.find_manager(container.find_container())
    assert (found.words if found else None) == manager


UNKNOWN = "exit 1"


@pytest.mark.parametrize(
    ("scripts", "runtime", "state", "shown"),
    [
        ({}, None, "absent", None),
        ({}, "docker", "unknown", "docker"),
        ({"docker": NOTHING}, None, "absent", "docker"),
        ({"docker": NOTHING}, "docker", "absent", "docker"),
        ({"docker": NOTHING}, "podman", "unknown", "podman"),
        ({"docker": UNKNOWN}, "docker", "unknown", "docker"),
        ({"docker": UNKNOWN}, None, "unknown", "docker"),
        ({"docker": UNKNOWN, "podman": NOTHING}, None, "unknown", "docker"),
        ({"docker": NOTHING, "podman": UNKNOWN}, None, "unknown", "podman"),
        ({"docker": NOTHING, "podman": NOTHING}, None, "absent", "docker"),
        ({"docker": UNKNOWN, "podman": FOUND}, None, "exited", "podman"),
        ({"docker": UNKNOWN, "podman": FOUND}, "docker", "unknown", "docker"),
        ({"docker": FOUND, "podman": UNKNOWN}, "podman", "unknown", "podman"),
        # The command of its runtime is missing, and another one does not answer.
        ({"podman": UNKNOWN}, "docker", "unknown", "podman"),
        ({"podman": FOUND}, "docker", "exited", "podman"),
    ],
)
def test_inspect_asks_the_runtime_or_all(programs, scripts, runtime, state, shown):
    for name, script in scripts.items():
        program(programs, name, script)
    seen = container.inspect(runtime, "c1")
    assert (seen.state, seen.runtime, {bool(seen.why), bool(seen.fix)}) == (state, shown, {state == "unknown"})
