"""The modules of engine hosts on real containers: all states, kills, users without rights, full disks."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from fleet import RECORD, Fleet, OneHost
from runs import wait_until

pytestmark = pytest.mark.long
HOST = "bookworm"
RUN = "docker run --detach --name slb --network host"
SERVE = "slb:1 /bin/httpd -f -p 8000"
FACTS = "/etc/ansible/facts.d"


class Docker(OneHost):
    """The modules of the collection on a host with Docker."""

    @property
    def names(self) -> dict[str, str]:
        """The state of each container by its name."""
        lines = self.shell("docker ps --all --format '{{.Names}} {{.State}}'").splitlines()
        return dict(line.split() for line in lines)


@pytest.fixture(scope="module")
def fleet(lab, tmp_path_factory):
    return Fleet(lab, tmp_path_factory.mktemp("modules"), HOST)


@pytest.fixture
def host(fleet):
    """The host without a container, before and afterwards."""
    host = Docker(fleet, HOST)
    clean = f"rm -f /usr/local/bin/docker {RECORD}; docker ps -aq | xargs -r docker rm --force"
    host.shell(clean)
    yield host
    host.shell(clean)


@pytest.mark.parametrize("wanted", ["created", "running", "restarting", "paused", "exited"])
def test_set_aside_and_restored_in_any_state(host, wanted):
    command = "/bin/false" if wanted == "restarting" else "/bin/httpd -f -p 8000"
    verb = "docker create --name slb --network host" if wanted == "created" else RUN
    identity = host.shell(f"{verb} --restart always slb:1 {command}")
    host.shell({"paused": "docker pause slb", "exited": "docker kill slb"}.get(wanted, "true"))
    seen = host.wait_for(wanted)
    assert (seen["id"], seen["restart_policy"]) == (identity, "always")

    assert host.set_aside(check=True, container_id=identity)["changed"]
    assert list(host.names) == ["slb"]
    done = host.set_aside(container_id=identity)
    assert done["changed"], done
    assert host.names == {done["set_aside_as"]: "created" if wanted == "created" else "exited"}
    policy = f"docker inspect --format '{{{{.HostConfig.RestartPolicy.Name}}}}' {identity}"
    assert host.shell(policy) == "no"
    assert host.facts()["record"]["set_aside"]["exists"] is True
    assert not host.set_aside()["changed"]

    restored = host.restore()
    assert (restored["changed"], restored["restored"]) == (True, True), restored
    assert (list(host.names), host.shell(policy)) == (["slb"], "always")
    assert wanted == "restarting" or host.names["slb"] == wanted
    assert host.facts()["record"]["state"] == "none"
    assert not host.restore()["changed"]


def kill_at(host: OneHost, verb: str) -> None:
    """From now on, a module that runs docker with this verb is killed before docker does anything."""
    script = f'#!/bin/sh\\ncase " $* " in *" {verb} "*) kill -9 $PPID; exit 1;; esac\\nexec /usr/bin/docker "$@"\\n'
    host.shell(f"printf '{script}' >/usr/local/bin/docker; chmod 755 /usr/local/bin/docker")


@pytest.mark.parametrize("verb", ["update", "stop", "rename", "start"])
def test_killed_step_is_restored_by_the_next_run(host, verb):
    identity = host.shell(f"{RUN} --restart on-failure:3 {SERVE}")
    if verb == "start":
        host.set_aside()
        kill_at(host, verb)
        assert host.restore()["failed"]
    else:
        kill_at(host, verb)
        assert host.set_aside()["failed"]
    host.shell("rm /usr/local/bin/docker")
    assert host.facts()["record"]["state"] in ("preparing", "restoring")
    restored = host.restore()
    # A stop that was killed may still be carried out: the run waits for the grace period that Docker has.
    assert restored.get("code") == ("replacement_in_progress" if verb == "stop" else None), restored
    wait_until(lambda: not host.restore()["failed"], "the restored container", 300)
    assert host.names == {"slb": "running"}
    form = "{{.Id}} {{.HostConfig.RestartPolicy.Name}}:{{.HostConfig.RestartPolicy.MaximumRetryCount}}"
    assert host.shell(f"docker inspect --format '{form}' slb") == f"{identity} on-failure:3"
    assert host.facts()["record"]["state"] == "none"


@pytest.mark.parametrize("network", ["--network host", "--publish 8000:8000"], ids=["host", "bridge"])
def test_container_with_connections_is_not_stopped(host, network):
    host.shell(f"docker run --detach --name slb {network} {SERVE}")
    # It begins again until the engine serves, which waits 60 s for a request: one connection is always open.
    opens = "s.append(socket.create_connection(('127.0.0.1', 8000))); s[-1].send(b'GET /'); time.sleep(5)"
    client = f"import socket, time\ns = []\nwhile True: {opens}"
    unit, again = f"client-{time.monotonic_ns()}", ("--property=Restart=always", "--property=RestartSec=3")
    host.fleet.hosts[HOST].exec(["systemd-run", "--unit", unit, *again, "python3", "-c", client])
    wait_until(lambda: bool(host.facts()["engine_container"]["connections"]), "a connection", 60)
    refused = host.set_aside()
    assert (refused["failed"], refused["code"]) == (True, "container_in_use"), refused
    assert host.names == {"slb": "running"}
    assert host.set_aside(allow_established=True)["changed"]
    host.shell(f"systemctl stop {unit}")


def as_user(fleet: Fleet, folder: Path, name: str, options: str) -> OneHost:
    """The same host, by another user."""
    make = f"useradd -m {options} {name} && cp -r /root/.ssh /home/{name}/ && chown -R {name}: /home/{name}"
    fleet.shell(HOST, f"id {name} || ({make})")
    other = Fleet(fleet.lab, folder, HOST)
    inventory = yaml.safe_load(other.inventory.read_text())
    inventory["engines"]["vars"]["ansible_user"] = name
    other.inventory.write_text(yaml.safe_dump(inventory))
    return OneHost(other, HOST)


@pytest.mark.parametrize(("name", "options"), [("ops", "-G docker"), ("guest", "")])
def test_user_without_root_changes_nothing(host, tmp_path, name, options):
    host.shell(f"{RUN} {SERVE}")
    user = as_user(host.fleet, tmp_path, name, options)
    seen = user.facts()
    assert (seen["root"], seen["engine_container"]["state"]) == (False, "unknown")
    refused = user.set_aside()
    assert (refused["failed"], refused["code"]) == (True, "permission_denied"), refused
    assert host.names == {"slb": "running"}


def test_stopped_daemon_is_unknown_and_nothing_is_done(host):
    # The socket stays active: a command of Docker would start the daemon and its containers.
    host.shell("systemctl stop docker.service")
    try:
        assert host.facts()["engine_container"]["state"] == "unknown"
        assert host.set_aside()["code"] == "container_state_unknown"
        assert host.shell("systemctl is-active docker.service || true") == "inactive"
    finally:
        host.shell("systemctl start docker.service")


def test_container_under_another_data_root_is_unknown(host):
    host.shell(f"cp /etc/docker/daemon.json /root; docker run --detach --name slb --network host {SERVE}")
    move = 'sed -i \'s|}|, "data-root": "/var/lib/docker2"}|\' /etc/docker/daemon.json'
    restart = "systemctl stop docker.service docker.socket; {change}; systemctl start docker"
    host.shell("sed -i 's/}/, \"live-restore\": true}/' /etc/docker/daemon.json; systemctl reload docker; sleep 1")
    try:
        host.shell(restart.format(change=move))
        assert host.facts()["engine_container"]["state"] == "unknown"
        assert host.set_aside()["code"] == "container_state_unknown"
    finally:
        host.shell(restart.format(change="cp /root/daemon.json /etc/docker"))
        host.shell("rm -rf /var/lib/docker2; docker rm --force slb")


def test_container_of_a_second_daemon_is_unknown(host):
    second, started = "docker --host unix:///run/docker2.sock", "systemd-run --unit docker2 dockerd"
    host.shell(
        f"{started} --bridge docker0 --iptables=false --host unix:///run/docker2.sock --data-root /var/lib/docker2 "
        "--exec-root /run/docker2 --pidfile /run/docker2.pid"
    )
    try:
        wait_until(lambda: host.shell(f"{second} info >/dev/null 2>&1 && echo up || true"), "the second daemon", 60)
        host.shell(f"docker save slb:1 | {second} load; {second} run --detach --name slb --network host {SERVE}")
        seen = host.facts()["engine_container"]
        assert (seen["state"], "dockerd" in seen["fix"]) == ("unknown", True), seen
        assert host.set_aside()["code"] == "container_state_unknown"
    finally:
        host.shell(f"{second} rm --force slb; systemctl stop docker2; rm -rf /var/lib/docker2")


def test_container_whose_health_check_fails_is_unhealthy(host):
    check = "--health-cmd 'echo port 8000 refused; false' --health-interval 1s --health-retries 1"
    host.shell(f"{RUN} {check} {SERVE}")
    wait_until(lambda: host.facts()["engine_container"]["health"] == "unhealthy", "the health check", 60)
    assert "port 8000 refused" in host.facts()["engine_container"]["health_output"]


FREEZE = """
group=$(sed -n 's/^[0-9]*:freezer://p; s/^0:://p' /proc/{pid}/cgroup | head -1)
if [ -e /sys/fs/cgroup/freezer ]; then echo FROZEN >/sys/fs/cgroup/freezer$group/freezer.state
else echo 1 >/sys/fs/cgroup$group/cgroup.freeze; fi"""


@pytest.mark.parametrize("halt", ["kill -STOP {pid}", FREEZE], ids=["stopped", "frozen"])
def test_engine_that_does_nothing_is_unknown_until_its_fix(host, halt):
    host.shell(f"{RUN} {SERVE}")
    host.shell(halt.format(pid=host.shell("docker inspect --format '{{.State.Pid}}' slb")))
    seen = host.facts()["engine_container"]
    assert (seen["state"], host.set_aside()["code"]) == ("unknown", "container_state_unknown"), seen
    host.shell(seen["fix"].split("`")[1])  # as a person types it
    assert host.facts()["engine_container"]["state"] == "running"


def test_leftover_that_runs_beside_the_engine_is_seen(host):
    host.shell(f"{RUN} {SERVE}")
    name = host.set_aside()["set_aside_as"]
    host.shell(f"{RUN} slb:1 /bin/httpd -f -p 8001; docker start {name}")
    assert host.facts()["running_leftovers"] == [name]


def test_systemd_unit_that_runs_the_container_is_named(host):
    unit = f"[Service]\\nExecStartPre=-/usr/bin/docker rm -f slb\\nExecStart=/usr/bin/docker run --name slb {SERVE}"
    host.shell(f"printf '{unit}\\nRestart=always\\n' >/usr/lib/systemd/system/vendor.service; systemctl daemon-reload")
    host.shell("systemctl start vendor")
    try:
        wait_until(lambda: host.names.get("slb") == "running", "the container of the unit", 60)
        assert "vendor.service" in host.facts()["engine_container"]["manager"]
        refused = host.set_aside()
        assert refused["code"] == "managed_by_systemd", refused
        assert host.names == {"slb": "running"}
    finally:
        host.shell("docker kill slb; systemctl kill --signal KILL vendor; systemctl stop vendor")
        host.shell("rm /usr/lib/systemd/system/vendor.service; systemctl daemon-reload")


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
def test_fix_of_a_manager_keeps_the_container_away(host, manager):
    host.shell(MANAGERS[manager])
    try:
        wait_until(lambda: host.names.get("slb") == "running", "the container of the manager", 60)
        refused = host.set_aside()
        assert refused["code"] == ("managed_by_other" if manager in OTHERS else "managed_by_systemd"), refused
        # What a person reads there, and types. A transient unit is gone with its timer, before it is stopped.
        written = r"`([^`]+)`|move (\S+) to another folder|from (\S+):(\d+)"
        for command, moved, edited, line in re.findall(written, refused["fix"]):
            edit = f"sed -i {line}d {edited}" if edited else f"mv {moved} /root"
            host.shell(f"{command or edit} || true")
        done = host.set_aside()
        assert (done["failed"], done["changed"]) == (False, manager != "swarm"), done
        # What the next start of the host would start.
        host.shell("systemctl daemon-reload; systemctl start rc-local || true")
        host.shell("! systemctl is-enabled vendor || systemctl start vendor; sleep 4")
        assert "slb" not in host.names
    finally:
        host.shell(CLEAN)


def test_container_that_cannot_be_restored_is_not_stopped(host):
    host.shell(f"echo key >/root/key; {RUN} --volume /root/key:/key {SERVE}; rm /root/key")
    refused = host.set_aside()
    assert (refused["code"], "/root/key" in refused["msg"]) == ("container_not_restorable", True), refused
    assert host.names == {"slb": "running"}


def test_two_runs_at_once_set_aside_once(host):
    identity = host.shell(f"{RUN} {SERVE}")
    with ThreadPoolExecutor(2) as both:
        results = list(both.map(lambda _unused: host.set_aside(), range(2)))
    assert sorted(result["changed"] for result in results) == [False, True], results
    assert host.restore()["restored"]
    assert host.shell("docker inspect --format '{{.Id}}' slb") == identity


@pytest.mark.parametrize("trouble", ["full", "read-only"])
def test_record_that_cannot_be_written_stops_nothing(host, trouble):
    host.shell(f"{RUN} {SERVE}; mkdir -p {FACTS}; mount -t tmpfs -o size=64k,mode=0755 none {FACTS}")
    try:
        host.shell(
            f"cat /dev/zero >{FACTS}/filler 2>/dev/null || true"
            if trouble == "full"
            else f"mount -o remount,ro {FACTS}"
        )
        assert bool(host.facts()["record"]["unwritable"]) == (trouble == "read-only")
        refused = host.set_aside()
        assert refused["code"] == "record_not_writable", refused
        assert host.names == {"slb": "running"}
    finally:
        host.shell(f"umount {FACTS}")
