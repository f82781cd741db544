"""The modules of engine hosts on real containers: all states, kills, users without rights, full disks."""

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from fleet import RECORD, Fleet
from runs import wait_until

pytestmark = pytest.mark.long
HOST = "bookworm"
RUN = "docker run --detach --name slb --network host"
SERVE = "slb:1 /bin/httpd -f -p 8000"
FACTS = "/etc/ansible/facts.d"
ENGINE = {"name": "edge-1", "manage_ip": "192.0.2.11", "base_url": "https://node.example.com"}
Shell = Callable[[str], str]


@pytest.fixture(scope="module")
def fleet(lab, tmp_path_factory):
    return Fleet(lab, tmp_path_factory.mktemp("modules"), HOST)


@pytest.fixture
def shell(fleet):
    """Runs a line on the host, which has no container before and afterwards."""

    def shell(line):
        return fleet.shell(HOST, line)

    clean = f"rm -f /usr/local/bin/docker {RECORD}; docker ps -aq | xargs -r docker rm --force"
    shell(clean)
    yield shell
    shell(clean)


def names(shell: Shell) -> dict[str, str]:
    return dict(line.split() for line in shell("docker ps --all --format '{{.Names}} {{.State}}'").splitlines())


def facts(fleet: Fleet) -> dict[str, Any]:
    answer = fleet.module(HOST, "host_info", subset=["engine_container", "record"])
    return dict(answer["slb_host"])


def set_aside(fleet: Fleet, *, check: bool = False, **options: Any) -> dict[str, Any]:
    return fleet.module(HOST, "engine_container", check, state="set_aside", stop_timeout=1, **ENGINE, **options)


def restore(fleet: Fleet, **options: Any) -> dict[str, Any]:
    return fleet.module(HOST, "engine_container", state="restored", **options)


@pytest.mark.parametrize("wanted", ["created", "running", "restarting", "paused", "exited"])
def test_set_aside_and_restored_in_any_state(fleet, shell, wanted):
    command = "/bin/false" if wanted == "restarting" else "/bin/httpd -f -p 8000"
    verb = "docker create --name slb --network host" if wanted == "created" else RUN
    identity = shell(f"{verb} --restart always slb:1 {command}")
    shell({"paused": "docker pause slb", "exited": "docker kill slb"}.get(wanted, "true"))
    seen: dict[str, Any] = {}

    def is_seen():
        seen.update(facts(fleet)["engine_container"])
        return bool(seen["state"] == wanted)

    wait_until(is_seen, lambda: str(seen), 60)
    assert (seen["id"], seen["restart_policy"]) == (identity, "always")

    assert set_aside(fleet, check=True, container_id=identity)["changed"]
    assert list(names(shell)) == ["slb"]
    done = set_aside(fleet, container_id=identity)
    assert done["changed"], done
    assert names(shell) == {done["set_aside_as"]: "created" if wanted == "created" else "exited"}
    policy = f"docker inspect --format '{{{{.HostConfig.RestartPolicy.Name}}}}' {identity}"
    assert shell(policy) == "no"
    assert facts(fleet)["record"]["set_aside"]["exists"] is True
    assert not set_aside(fleet)["changed"]

    restored = restore(fleet)
    assert (restored["changed"], restored["restored"]) == (True, True), restored
    assert (list(names(shell)), shell(policy)) == (["slb"], "always")
    assert wanted == "restarting" or names(shell)["slb"] == wanted
    assert facts(fleet)["record"]["state"] == "none"
    assert not restore(fleet)["changed"]


def kill_at(shell: Shell, verb: str) -> None:
    """From now on, a module that runs docker with this verb is killed before docker does anything."""
    script = f'#!/bin/sh\\ncase " $* " in *" {verb} "*) kill -9 $PPID; exit 1;; esac\\nexec /usr/bin/docker "$@"\\n'
    shell(f"printf '{script}' >/usr/local/bin/docker; chmod 755 /usr/local/bin/docker")


@pytest.mark.parametrize("verb", ["update", "stop", "rename", "start"])
def test_killed_step_is_restored_by_the_next_run(fleet, shell, verb):
    identity = shell(f"{RUN} --restart on-failure:3 {SERVE}")
    if verb == "start":
        set_aside(fleet)
        kill_at(shell, verb)
        assert restore(fleet)["failed"]
    else:
        kill_at(shell, verb)
        assert set_aside(fleet)["failed"]
    shell("rm /usr/local/bin/docker")
    assert facts(fleet)["record"]["state"] in ("preparing", "restoring")
    restored = restore(fleet)
    # A stop that was killed may still be carried out: the run waits for the grace period that Docker has.
    assert restored.get("code") == ("replacement_in_progress" if verb == "stop" else None), restored
    wait_until(lambda: not restore(fleet)["failed"], "the restored container", 300)
    assert names(shell) == {"slb": "running"}
    form = "{{.Id}} {{.HostConfig.RestartPolicy.Name}}:{{.HostConfig.RestartPolicy.MaximumRetryCount}}"
    assert shell(f"docker inspect --format '{form}' slb") == f"{identity} on-failure:3"
    assert facts(fleet)["record"]["state"] == "none"


@pytest.mark.parametrize("network", ["--network host", "--publish 8000:8000"], ids=["host", "bridge"])
def test_container_with_connections_is_not_stopped(fleet, shell, network):
    shell(f"docker run --detach --name slb {network} {SERVE}")
    # It begins again until the engine serves, which waits 60 s for a request: one connection is always open.
    opens = "s.append(socket.create_connection(('127.0.0.1', 8000))); s[-1].send(b'GET /'); time.sleep(5)"
    client = f"import socket, time\ns = []\nwhile True: {opens}"
    unit, again = f"client-{time.monotonic_ns()}", ("--property=Restart=always", "--property=RestartSec=3")
    fleet.hosts[HOST].exec(["systemd-run", "--unit", unit, *again, "python3", "-c", client])
    wait_until(lambda: bool(facts(fleet)["engine_container"]["connections"]), "a connection", 60)
    refused = set_aside(fleet)
    assert (refused["failed"], refused["code"]) == (True, "container_in_use"), refused
    assert names(shell) == {"slb": "running"}
    assert set_aside(fleet, allow_established=True)["changed"]
    shell(f"systemctl stop {unit}")


def as_user(fleet: Fleet, folder: Path, name: str, options: str) -> Fleet:
    """The same host, by another user."""
    make = f"useradd -m {options} {name} && cp -r /root/.ssh /home/{name}/ && chown -R {name}: /home/{name}"
    fleet.shell(HOST, f"id {name} || ({make})")
    other = Fleet(fleet.lab, folder, HOST)
    inventory = yaml.safe_load(other.inventory.read_text())
    inventory["engines"]["vars"]["ansible_user"] = name
    other.inventory.write_text(yaml.safe_dump(inventory))
    return other


@pytest.mark.parametrize(("name", "options"), [("ops", "-G docker"), ("guest", "")])
def test_user_without_root_changes_nothing(fleet, shell, tmp_path, name, options):
    shell(f"{RUN} {SERVE}")
    user = as_user(fleet, tmp_path, name, options)
    seen = facts(user)
    assert (seen["root"], seen["engine_container"]["state"]) == (False, "unknown")
    refused = set_aside(user)
    assert (refused["failed"], refused["code"]) == (True, "permission_denied"), refused
    assert names(shell) == {"slb": "running"}


def test_stopped_daemon_is_unknown_and_nothing_is_done(fleet):
    host = fleet.hosts[HOST]
    # The socket stays active: a command of Docker would start the daemon and its containers.
    host.exec(["systemctl", "stop", "docker.service"])
    try:
        assert facts(fleet)["engine_container"]["state"] == "unknown"
        assert set_aside(fleet)["code"] == "container_state_unknown"
        assert "inactive" in host.exec(["sh", "-c", "systemctl is-active docker.service || true"]).stdout
    finally:
        host.exec(["systemctl", "start", "docker.service"])


def test_container_under_another_data_root_is_unknown(fleet, shell):
    shell(f"cp /etc/docker/daemon.json /root; docker run --detach --name slb --network host {SERVE}")
    move = 'sed -i \'s|}|, "data-root": "/var/lib/docker2"}|\' /etc/docker/daemon.json'
    restart = "systemctl stop docker.service docker.socket; {change}; systemctl start docker"
    shell("sed -i 's/}/, \"live-restore\": true}/' /etc/docker/daemon.json; systemctl reload docker; sleep 1")
    try:
        shell(restart.format(change=move))
        assert facts(fleet)["engine_container"]["state"] == "unknown"
        assert set_aside(fleet)["code"] == "container_state_unknown"
    finally:
        shell(restart.format(change="cp /root/daemon.json /etc/docker"))
        shell("rm -rf /var/lib/docker2; docker rm --force slb")


def test_container_of_a_second_daemon_is_unknown(fleet, shell):
    second, started = "docker --host unix:///run/docker2.sock", "systemd-run --unit docker2 dockerd"
    shell(
        f"{started} --bridge docker0 --iptables=false --host unix:///run/docker2.sock --data-root /var/lib/docker2 "
        "--exec-root /run/docker2 --pidfile /run/docker2.pid"
    )
    try:
        wait_until(lambda: shell(f"{second} info >/dev/null 2>&1 && echo up || true"), "the second daemon", 60)
        shell(f"docker save slb:1 | {second} load; {second} run --detach --name slb --network host {SERVE}")
        seen = facts(fleet)["engine_container"]
        assert (seen["state"], "dockerd" in seen["fix"]) == ("unknown", True), seen
        assert set_aside(fleet)["code"] == "container_state_unknown"
    finally:
        shell(f"{second} rm --force slb; systemctl stop docker2; rm -rf /var/lib/docker2")


def test_container_whose_health_check_fails_is_unhealthy(fleet, shell):
    check = "--health-cmd 'echo port 8000 refused; false' --health-interval 1s --health-retries 1"
    shell(f"{RUN} {check} {SERVE}")
    wait_until(lambda: facts(fleet)["engine_container"]["health"] == "unhealthy", "the health check", 60)
    assert "port 8000 refused" in facts(fleet)["engine_container"]["health_output"]


FREEZE = """
group=$(sed -n 's/^[0-9]*:freezer://p; s/^0:://p' /proc/{pid}/cgroup | head -1)
if [ -e /sys/fs/cgroup/freezer ]; then echo FROZEN >/sys/fs/cgroup/freezer$group/freezer.state
else echo 1 >/sys/fs/cgroup$group/cgroup.freeze; fi"""


@pytest.mark.parametrize("halt", ["kill -STOP {pid}", FREEZE], ids=["stopped", "frozen"])
def test_engine_that_does_nothing_is_unknown_until_its_fix(fleet, shell, halt):
    shell(f"{RUN} {SERVE}")
    shell(halt.format(pid=shell("docker inspect --format '{{.State.Pid}}' slb")))
    seen = facts(fleet)["engine_container"]
    assert (seen["state"], set_aside(fleet)["code"]) == ("unknown", "container_state_unknown"), seen
    shell(seen["fix"].split("`")[1])  # as a person types it
    assert facts(fleet)["engine_container"]["state"] == "running"


def test_leftover_that_runs_beside_the_engine_is_seen(fleet, shell):
    shell(f"{RUN} {SERVE}")
    name = set_aside(fleet)["set_aside_as"]
    shell(f"{RUN} slb:1 /bin/httpd -f -p 8001; docker start {name}")
    assert facts(fleet)["running_leftovers"] == [name]


def test_systemd_unit_that_runs_the_container_is_named(fleet, shell):
    unit = f"[Service]\\nExecStartPre=-/usr/bin/docker rm -f slb\\nExecStart=/usr/bin/docker run --name slb {SERVE}"
    shell(f"printf '{unit}\\nRestart=always\\n' >/usr/lib/systemd/system/vendor.service; systemctl daemon-reload")
    shell("systemctl start vendor")
    try:
        wait_until(lambda: names(shell).get("slb") == "running", "the container of the unit", 60)
        assert "vendor.service" in facts(fleet)["engine_container"]["manager"]
        refused = set_aside(fleet)
        assert refused["code"] == "managed_by_systemd", refused
        assert names(shell) == {"slb": "running"}
    finally:
        shell("docker kill slb; systemctl kill --signal KILL vendor; systemctl stop vendor")
        shell("rm /usr/lib/systemd/system/vendor.service; systemctl daemon-reload")


LOOP = "docker start slb || docker run --detach --name slb --network host slb:1 /bin/httpd -f -p 8000"
FOREGROUND = (
    "printf '[Service]\\n%bExecStartPre=-/usr/bin/docker rm -f slb\\nExecStart=/usr/bin/docker run --name %s "
    "--network host slb:1 /bin/httpd -f -p 8000\\nRestart=always\\nTimeoutStopSec=2\\n"
    "[Install]\\nWantedBy=multi-user.target\\n' "
)
UNIT = "/etc/systemd/system/vendor"
MANAGERS = {
    "init script": f"printf '#!/bin/sh\\n{LOOP}\\n' >/etc/init.d/vendor; chmod 755 /etc/init.d/vendor; "
    "update-rc.d vendor defaults; systemctl daemon-reload; systemctl start vendor",
    "rc.local": f"printf '#!/bin/sh\\n{LOOP}\\n' >/etc/rc.local; chmod 755 /etc/rc.local; "
    "systemctl daemon-reload; systemctl start rc-local",
    "timer": f"systemd-run --unit vendor --on-calendar '*:*:0/2' --timer-property AccuracySec=100ms sh -c '{LOOP}'",
    "template": f"{FOREGROUND} '' %i >{UNIT}@.service; systemctl daemon-reload; systemctl enable --now vendor@slb",
    "variable": f"{FOREGROUND} 'Environment=NAME=slb\\n' '${{NAME}}' >{UNIT}.service; systemctl daemon-reload; "
    "systemctl enable --now vendor",
    "swarm": "docker swarm init --advertise-addr 127.0.0.1; docker service create --detach --name vendor slb:1 "
    "/bin/httpd -f -p 8000; until docker rename $(docker ps --quiet) slb; do sleep 0.2; done",
}
OTHERS = ("rc.local", "swarm")
CLEAN = f"""docker swarm leave --force; systemctl disable --now vendor@slb vendor; systemctl stop vendor.timer rc-local
    rm -f /etc/rc.local /etc/init.d/vendor /root/vendor {UNIT}.service {UNIT}@.service; update-rc.d -f vendor remove
    systemctl daemon-reload"""


@pytest.mark.parametrize("manager", MANAGERS)
def test_fix_of_a_manager_keeps_the_container_away(fleet, shell, manager):
    shell(MANAGERS[manager])
    try:
        wait_until(lambda: names(shell).get("slb") == "running", "the container of the manager", 60)
        refused = set_aside(fleet)
        assert refused["code"] == ("managed_by_other" if manager in OTHERS else "managed_by_systemd"), refused
        # What a person reads there, and types. A transient unit is gone with its timer, before it is stopped.
        written = r"`([^`]+)`|move (\S+) to another folder|from (\S+):(\d+)"
        for command, moved, edited, line in re.findall(written, refused["fix"]):
            edit = f"sed -i {line}d {edited}" if edited else f"mv {moved} /root"
            shell(f"{command or edit} || true")
        done = set_aside(fleet)
        assert (done["failed"], done["changed"]) == (False, manager != "swarm"), done
        # What the next start of the host would start.
        shell("systemctl daemon-reload; systemctl start rc-local || true")
        shell("! systemctl is-enabled vendor || systemctl start vendor; sleep 4")
        assert "slb" not in names(shell)
    finally:
        shell(CLEAN)


def test_container_that_cannot_be_restored_is_not_stopped(fleet, shell):
    shell(f"echo key >/root/key; {RUN} --volume /root/key:/key {SERVE}; rm /root/key")
    refused = set_aside(fleet)
    assert (refused["code"], "/root/key" in refused["msg"]) == ("container_not_restorable", True), refused
    assert names(shell) == {"slb": "running"}


def test_two_runs_at_once_set_aside_once(fleet, shell):
    identity = shell(f"{RUN} {SERVE}")
    with ThreadPoolExecutor(2) as both:
        results = list(both.map(lambda _unused: set_aside(fleet), range(2)))
    assert sorted(result["changed"] for result in results) == [False, True], results
    assert restore(fleet)["restored"]
    assert shell("docker inspect --format '{{.Id}}' slb") == identity


@pytest.mark.parametrize("trouble", ["full", "read-only"])
def test_record_that_cannot_be_written_stops_nothing(fleet, shell, trouble):
    shell(f"{RUN} {SERVE}; mkdir -p {FACTS}; mount -t tmpfs -o size=64k,mode=0755 none {FACTS}")
    try:
        shell(
            f"cat /dev/zero >{FACTS}/filler 2>/dev/null || true"
            if trouble == "full"
            else f"mount -o remount,ro {FACTS}"
        )
        assert bool(facts(fleet)["record"]["unwritable"]) == (trouble == "read-only")
        refused = set_aside(fleet)
        assert refused["code"] == "record_not_writable", refused
        assert names(shell) == {"slb": "running"}
    finally:
        shell(f"umount {FACTS}")
