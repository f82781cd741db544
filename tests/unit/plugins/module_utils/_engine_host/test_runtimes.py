"""What the kernel shows of the runtimes: whether one may be asked, and containers that none lists."""

import itertools
import os

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import container, gather, runtimes
from ansible_collections.slb.fleet.plugins.module_utils._system import commands
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_processes import (
    FakeProcess,
    FakeProcesses,
)

ID, OTHER = "a1" * 32, "b2" * 32
SYSTEMD = FakeProcess("systemd", "/sbin/init", parent=0, sockets=(7,))
DOCKERD = FakeProcess("dockerd", "/usr/sbin/dockerd -H fd://", sockets=(7,))


def shim(identity=ID, namespace="moby", **values):
    command = f"/usr/bin/containerd-shim-runc-v2 -namespace {namespace} -id {identity} -address /run/containerd.sock"
    return FakeProcess("containerd-shim-runc-v2", command, **values)


def conmon(identity=ID, name="slb", program="podman", **values):
    command = f"/usr/bin/conmon --api-version 1 -c {identity} -u {identity} -n {name} --exit-command /usr/bin/{program}"
    return FakeProcess("conmon", command, **values)


@pytest.fixture
def host(tmp_path, monkeypatch):
    """Return a host with systemd and a dockerd that listens, and no container."""
    socket = tmp_path / "docker.sock"
    socket.touch()
    fake = FakeProcesses({1: SYSTEMD, 50: DOCKERD}, {str(socket): {7}})
    fake.connect(monkeypatch)
    fake.asked, fake.ids = [], [OTHER]
    monkeypatch.setattr(runtimes, "_DOCKER_SOCKET", str(socket))
    monkeypatch.setattr(runtimes, "_DOCKER_PID", str(tmp_path / "docker.pid"))
    monkeypatch.setattr(runtimes, "_PODMAN_CONFIGURATION", (str(tmp_path / "etc" / "containers.conf"),))
    monkeypatch.setattr(runtimes, "_SECOND_LOOK_SECONDS", 0)
    monkeypatch.setattr(container, "_END_SECONDS", 0)
    monkeypatch.setattr(container, "INTERVAL", 0)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(runtimes.os, "geteuid", lambda: 0)
    monkeypatch.setattr(commands, "find", lambda name: "/usr/bin/docker" if name == "docker" else None)

    def attempt(argv, timeout):
        fake.asked.append(argv)
        words = "\n".join(f"{each} other" if "--format" in argv else each for each in fake.ids) if "ps" in argv else ""
        return commands.Completed(0 if "ps" in argv else 1, words, "")

    monkeypatch.setattr(commands, "attempt", attempt)
    return fake


def test_absent_without_monitors_asks_two_commands(host):
    assert container.find_container().state == "absent"
    assert len(host.asked) == 2


CASES = ["plain", "not mounted", "with a slash", "mounted later", "another file", "deleted file", "silent"]


@pytest.mark.parametrize("case", CASES)
def test_storage_below_a_disk_that_is_not_mounted_is_unknown(host, tmp_path, monkeypatch, case):
    """After a power failure, Docker may start on the empty folder."""
    root = tmp_path / "docker"
    root.mkdir()
    place = {"not mounted": root, "with a slash": f"{root}/"}.get(case, "/none")
    (tmp_path / "fstab").write_text(f"UUID=1 {place} ext4 nofail 0 2\n")
    monkeypatch.setattr(runtimes.mounts, "FSTAB", str(tmp_path / "fstab"))

    def attempt(argv, timeout):
        is_killed = case == "silent" and "info" in argv
        return commands.Completed(int("inspect" in argv), f"{root}\n" if "info" in argv else "", "", is_killed)

    monkeypatch.setattr(commands, "attempt", attempt)
    host.running = {1: SYSTEMD, os.getpid(): DOCKERD}
    with (root / "metadata.db").open("w"):
        if case == "mounted later":
            exists = os.path.exists
            monkeypatch.setattr(os.path, "exists", lambda path: "metadata.db" not in str(path) and exists(path))
        elif case == "another file":  # a folder of the same disk may be mounted
            monkeypatch.setattr(os.path, "samefile", lambda *_files: False)
        elif case == "deleted file":
            (root / "metadata.db").unlink()
        seen = gather.gather_facts()["engine_container"]
        # The steps do not ask: what they set aside can be restored.
        assert container.find_container().state == "absent"
    is_known = case in ("plain", "deleted file")
    assert (seen["state"], bool(seen["fix"])) == ("absent" if is_known else "unknown", not is_known), seen


@pytest.mark.parametrize(
    ("processes", "inodes"),
    [
        ({1: SYSTEMD}, {7}),  # docker.service is stopped, docker.socket listens
        ({1: SYSTEMD, 50: FakeProcess("dockerd", sockets=(8,))}, {7}),  # a second daemon has a socket of its own
        ({1: SYSTEMD, 50: FakeProcess("dockerd", sockets=(7,), user=1000)}, {7}),
        ({1: SYSTEMD, 50: FakeProcess("dockerd", sockets=(7,), inside=True)}, {7}),
        ({1: SYSTEMD, 50: FakeProcess("dockerd", sockets=(7,), parent=60), 60: shim()}, {7}),
        ({1: SYSTEMD, 50: DOCKERD}, set()),
        ({1: SYSTEMD, 50: DOCKERD}, {7, 9}),  # one of two sockets is unlinked
        ({1: FakeProcess("systemd"), 50: FakeProcess("haproxy", sockets=(7,))}, {7}),
    ],
)
def test_docker_is_not_asked_unless_a_dockerd_listens(host, processes, inodes):
    host.running = processes
    host.listening = dict.fromkeys(host.listening, inodes)
    seen = container.find_container()
    assert (seen.state, bool(seen.why), bool(seen.fix)) == ("unknown", True, True)
    assert host.asked == []


def test_docker_is_asked_by_the_daemon_of_its_file(host, tmp_path, monkeypatch):
    (tmp_path / "docker.pid").write_text("50")
    monkeypatch.setattr(runtimes.processes, "pids", lambda: pytest.fail("all processes are read"))
    assert runtimes.find_obstacle("docker") is None
    monkeypatch.setattr(runtimes.processes, "pids", lambda: [1, 50])
    (tmp_path / "docker.pid").write_text("1")
    assert runtimes.find_obstacle("docker") is None


@pytest.mark.parametrize(
    ("monitor", "state"),
    [
        (shim(OTHER), "absent"),
        (shim(), "unknown"),
        (FakeProcess("containerd-shim", f"containerd-shim -namespace moby -workdir /var/lib/moby/{ID}"), "unknown"),
        (FakeProcess("docker-containerd-shim", f"docker-containerd-shim {ID} /var/run/{ID} docker-runc"), "unknown"),
        (FakeProcess("docker-containerd-shim", f"docker-containerd-shim {OTHER} /run/{OTHER} docker-runc"), "absent"),
        (shim(namespace="k8s.io"), "absent"),
        (shim(inside=True), "absent"),
        (shim(user=1000), "unknown"),  # rootless Docker
        (shim(user=1000, is_of_root=False), "absent"),
        (conmon(), "unknown"),
        (conmon(program="crio"), "absent"),
        (conmon(user=1000), "unknown"),  # rootless Podman
        (conmon(user=1000, is_of_root=False), "absent"),
        (conmon(name="web", user=1000), "absent"),
        (FakeProcess("podman", user=1000), "absent"),
        (FakeProcess("dockerd", user=1000), "absent"),
        (FakeProcess("dockerd"), "unknown"),  # a second daemon
        (FakeProcess("dockerd", parent=51), "unknown"),
        (FakeProcess("dockerd", inside=True), "absent"),
    ],
)
def test_absent_needs_no_container_beside_the_runtime(host, monkeypatch, monitor, state):
    monkeypatch.setattr(commands, "find", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(runtimes, "_is_podman", lambda path: False)
    host.running[60] = monitor
    assert container.find_container().state == state


@pytest.mark.parametrize(("looks", "state"), [(1, "absent"), (2, "absent"), (9, "unknown")])
def test_absent_while_a_container_is_removed(host, monkeypatch, looks, state):
    """A monitor outlives its container for a moment: only one that stays raises an alarm."""
    host.running[60] = shim()
    look, calls = runtimes.processes.find, itertools.count()
    monkeypatch.setattr(
        runtimes.processes, "find", lambda pid: look(pid) if pid != 60 or next(calls) <= looks else None
    )
    assert container.find_container().state == state


def test_absent_waits_before_it_checks_again(host, monkeypatch):
    host.running[60] = shim()
    monkeypatch.setattr(runtimes.time, "sleep", lambda seconds: host.running.pop(60))
    assert container.find_container().state == "absent"


def test_podman_of_another_machine_is_not_asked(host, tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "find", lambda name: "/usr/bin/podman" if name == "podman" else None)
    host.running.pop(50)
    runtimes.os.unlink(runtimes._DOCKER_SOCKET)
    assert container.find_container().state == "absent"
    assert all(argv[:2] == ["podman", "--remote=false"] for argv in host.asked)
    for name in ("etc/containers.conf", ".config/containers/containers.conf.d/10.conf"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[engine]\n# remote = true\nremote = false\n")
        assert container.find_container().state == "absent"
        path.write_text("[engine]\n  remote=true # the other machine\n")
        host.asked.clear()
        seen = container.find_container()
        assert (seen.state, str(path) in str(seen.why), host.asked) == ("unknown", True, [])
        path.unlink()


def test_run_ignores_the_environment_of_root(monkeypatch):
    names = ("DOCKER_HOST", "CONTAINER_HOST", "CONTAINERS_CONF", "CONTAINERS_CONF_OVERRIDE", "XDG_CONFIG_HOME")
    for name in names:
        monkeypatch.setenv(name, "x")
    shown = commands.attempt(["env"], 5).stdout
    assert not [name for name in names if f"{name}=" in shown]
