"""The modules on a host with real Podman and no Docker: 5.4 in each run, 3.0 and 4.3 in the thorough ones."""

from contextlib import ExitStack

import pytest
from fleet import RECORD, Fleet, OneHost
from slb_lab.lab import Lab
from slb_lab.topology import Topology

SERVE = "slb:1 /bin/httpd -f -p 8000"
QUADLET = "[Container]\nImage=localhost/slb:1\nContainerName=slb\nNetwork=host\nExec=/bin/httpd -f -p 8000\n"
NO_RECORD = f"test -e {RECORD} || echo none"
UNITS = {
    "slb.service": f"printf '{QUADLET}' >/etc/containers/systemd/slb.container",
    "container-slb.service": f"""podman create --name slb --network host {SERVE}
        cd /etc/systemd/system && podman generate systemd --new --name --files slb && podman rm slb""",
}
STOP_UNIT = """systemctl stop {unit}
    rm -f /etc/containers/systemd/slb.container /etc/systemd/system/{unit}; systemctl daemon-reload"""
# A mount of /proc is denied to a user in a container of Docker: with --pid host, Podman needs none.
ROOTLESS = f"""id ops || useradd --create-home ops; loginctl enable-linger ops
    until [ -d /run/user/$(id -u ops)/systemd ]; do sleep 0.2; done; cp /usr/local/lib/slb-lab/engine.tar /home/ops
    as_user() {{ systemd-run --quiet --uid ops --pipe --wait --setenv XDG_RUNTIME_DIR=/run/user/$(id -u ops) \
        --working-directory /home/ops "$@"; }}
    as_user podman import --quiet engine.tar slb:1
    as_user podman run --detach --name slb --pid host --network host {SERVE}"""


class Podman(OneHost):
    """The modules of the collection on the host with Podman."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__(fleet, "podman")
        major, minor = self.shell("podman --version").split()[-1].split(".")[:2]
        self.can_update, self.has_quadlet = ((int(major), int(minor)) >= since for since in ((5, 1), (4, 4)))

    @property
    def containers(self) -> dict[str, str]:
        return self.fleet.containers("podman")

    def run(self, options: str) -> str:
        """Run the container slb and return its id."""
        return self.shell(f"podman run --detach --name slb --network host {options}")


OLD = [pytest.param(release, marks=pytest.mark.long) for release in ("bullseye", "bookworm")]


@pytest.fixture(scope="module", params=["lab", *OLD])
def on_host(request, tmp_path_factory):
    with ExitStack() as used:
        if request.param == "lab":
            lab = request.getfixturevalue("lab")
        else:
            hosts = {"podman": {"release": request.param, "runtime": "podman"}}
            lab = used.enter_context(Lab.new("old-podman", Topology.model_validate({"hosts": hosts})))
        made = Podman(Fleet(lab, tmp_path_factory.mktemp("podman")))
        assert made.shell("command -v docker dockerd || echo none") == "none"
        made.shell("systemctl disable podman-restart.service || true")
        yield made


@pytest.fixture
def podman(on_host):
    """The host without a container, before and afterwards."""
    clean = f"podman stop --all --time 0; podman rm --all --force; rm -f {RECORD}"
    on_host.shell(clean)
    yield on_host
    on_host.shell(clean)


@pytest.mark.parametrize("policy", ["always", pytest.param("on-failure:3", marks=pytest.mark.long)])
def test_set_aside_and_restored(podman, policy):
    identity = podman.run(f"--restart {policy} {SERVE}")
    seen = podman.facts()["engine_container"]
    assert (seen["state"], seen["runtime"]) == ("running", "podman")
    assert (seen["id"], seen["restart_policy"]) == (identity, policy)
    kind = policy.partition(":")[0]

    aside = podman.set_aside()
    assert aside["changed"], aside
    assert aside["set_aside_as"].startswith("slb-leftover-")
    assert podman.containers == {aside["set_aside_as"]: f"exited {'no' if podman.can_update else kind}"}

    restored = podman.restore()
    assert (restored["changed"], restored["restored"]) == (True, True), restored
    assert podman.containers == {"slb": f"running {kind}"}
    form = "{{.Id}} {{.HostConfig.RestartPolicy.MaximumRetryCount}}"
    assert podman.shell(f"podman inspect --format '{form}' slb") == f"{identity} {policy.partition(':')[2] or 0}"
    assert podman.shell(NO_RECORD) == "none"


@pytest.mark.long
def test_other_container_whose_name_ends_in_slb(podman):
    podman.shell("podman create --name old-slb slb:1 /bin/true")
    assert podman.facts()["engine_container"]["state"] == "absent"
    podman.run(f"--restart always {SERVE}")
    assert podman.set_aside()["changed"]
    assert podman.restore()["changed"]
    assert podman.containers["slb"] == "running always"


@pytest.mark.long
def test_crash_loop_set_aside_stays_stopped(podman):
    podman.run("--restart always slb:1 /bin/false")
    assert podman.wait_for("restarting")["restart_count"] > 0
    aside = podman.set_aside()
    if not podman.can_update and not aside["changed"]:
        # `podman stop` seldom finds the process of such a loop alive; then the container must keep its name.
        assert aside["code"] == "container_command_failed", aside
        assert list(podman.containers) == ["slb"]
        return
    assert aside["changed"], aside
    starts = f"podman inspect --format '{{{{.RestartCount}}}} {{{{.State.StartedAt}}}}' {aside['set_aside_as']}"
    before = podman.shell(starts)
    assert podman.facts()["running_leftovers"] == []
    assert podman.shell(starts) == before


@pytest.mark.parametrize("unit", ["slb.service", pytest.param("container-slb.service", marks=pytest.mark.long)])
def test_container_of_a_unit_is_not_touched(podman, unit):
    if unit == "slb.service" and not podman.has_quadlet:
        pytest.skip("Podman before 4.4 has no Quadlet")
    podman.shell(f"mkdir -p /etc/containers/systemd && {UNITS[unit]} && systemctl daemon-reload")
    podman.shell(f"systemctl start {unit}")
    identity = podman.shell("podman inspect --format '{{.Id}}' slb")
    try:
        refused = podman.set_aside()
        assert (refused["failed"], refused["code"]) == (True, "managed_by_systemd"), refused
        assert f"by systemd unit {unit}" in refused["msg"]
        assert podman.shell("podman inspect --format '{{.Id}} {{.State.Status}}' slb") == f"{identity} running"
        assert podman.shell(NO_RECORD) == "none"
    finally:
        podman.shell(STOP_UNIT.format(unit=unit))


@pytest.mark.long
def test_rootless_container_is_reported_and_not_touched(podman):
    podman.shell(ROOTLESS)
    try:
        seen = podman.facts()["engine_container"]
        assert (seen["state"], "rootless" in seen["why"]) == ("unknown", True), seen
        refused = podman.set_aside()
        assert (refused["failed"], refused["code"]) == (True, "container_state_unknown"), refused
        assert "forwarding engine" in podman.shell("curl --silent http://127.0.0.1:8000/")
    finally:
        podman.shell("loginctl terminate-user ops; while id ops && ! userdel --remove ops; do sleep 0.2; done 2>&1")


@pytest.mark.parametrize("on_host", OLD, indirect=True)
def test_policy_that_podman_cannot_change_is_refused(podman):
    if podman.shell("systemctl list-unit-files podman-restart.service --no-legend || true") == "":
        pytest.skip("Podman 3.0 starts nothing at boot")
    podman.run(f"--restart always {SERVE}")
    podman.shell("systemctl enable podman-restart.service")
    try:
        refused = podman.set_aside()
        assert (refused["failed"], refused["code"]) == (True, "podman_too_old"), refused
        assert podman.containers == {"slb": "running always"}
    finally:
        podman.shell("systemctl disable podman-restart.service")
