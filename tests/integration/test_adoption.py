"""Adoption on NetworkManager 1.30, 1.42 and 1.52: what is adopted stays, and nothing else of a host changes."""

import json
from typing import Any

import pytest
import yaml
from fleet import TOPOLOGY, Fleet
from nic_hosts import (
    across_a_reboot,
    across_a_restart,
    addresses,
    adopting,
    devices,
    differences,
    dump,
    end,
    everywhere,
    offered,
    on_each_host,
    require_restored,
    routes,
    shell,
)
from runs import kill, wait_until
from slb_lab.lab import Host

pytestmark = pytest.mark.usefixtures("reset_after")
SILENT, ANSWERED = "ens10", "ens11"
NICS = list(yaml.safe_load(TOPOLOGY.read_text())["hosts"]["trixie"]["nics"])
# NetworkManager tries the automatic profile of ens17 again and again.
STILL = [name for name in NICS if name != "ens17"]
CONNECTED = 'until nmcli -t -f DEVICE,STATE device | grep -q "^ens10:connected"; do sleep 0.1; done'


@pytest.fixture(scope="module")
def fleet(lab, tmp_path_factory):
    return Fleet(lab, tmp_path_factory.mktemp("adoption"), "bullseye", "bookworm", "trixie")


def module(fleet: Fleet, host: Host, *names: str, **options: Any) -> dict[str, Any]:
    return fleet.module(host.name, "interface", interfaces=list(names), **{"dhcp_timeout": 4, **options})


def given(host: Host) -> list[str]:
    """Return what the DHCP server gave."""
    return [each for each in addresses(host, ANSWERED) if not each.startswith("fe80")]


def reasons(result: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["reason"] for each in result["left_alone"]}


# The interface that is not released, and why: begin and end of it.
REFUSED = [
    (ANSWERED, "", *(f"ip address {verb} 192.0.2.7/24 dev {ANSWERED}" for verb in ("add", "del"))),
    (ANSWERED, "192.0.2.0", *(f"ip route {verb} 192.0.2.0/24 dev {ANSWERED}" for verb in ("add", "del"))),
    (ANSWERED, "br7", f"ip link add br7 type bridge; ip link set {ANSWERED} master br7", "ip link del br7"),
    (f"{SILENT}*", SILENT, *(f"nmcli connection modify {SILENT} connection.zone '{zone}'" for zone in ("other", ""))),
]


def test_adopted_interface_survives_a_reboot_and_is_released(fleet):
    before = {}

    def adopt(host):
        before[host.name] = dump(host, SILENT, ANSWERED)
        planned = fleet.module(host.name, "interface", check=True, interfaces=[SILENT, ANSWERED])
        assert [each["name"] for each in planned["adopted"]] == [SILENT, ANSWERED]
        assert differences(before[host.name], dump(host, SILENT, ANSWERED)) == {}
        result = module(fleet, host, SILENT, ANSWERED, dhcp_timeout=15)
        assert not result["failed"], result
        assert result["changed"]
        assert [each for each in addresses(host, SILENT) if not each.startswith("fe80")] == []
        shell(host, f"test -e /etc/NetworkManager/system-connections/{ANSWERED}.nmconnection")
        # On a busy machine, the DHCP server may answer after the adoption.
        wait_until(lambda: given(host), "an address from the DHCP server", 60)
        assert [each["addresses"] for each in result["adopted"]] in ([[], given(host)], [[], []])
        assert routes(host, ANSWERED) == ["10.77.2.0/24 via None"], "a host with a default route gets nothing else"
        wait_until(lambda: {SILENT, ANSWERED} <= set(offered(host)), "offered after the adoption", 60)
        assert not module(fleet, host, SILENT, ANSWERED)["changed"]
        # It removes the addresses of other programs, which the reboot brings back.
        shell(host, "nmcli networking off")
        assert module(fleet, host, SILENT)["code"] == "networking_disabled"
        shell(host, "nmcli networking on")

    def release(host):
        wait_until(lambda: {SILENT, ANSWERED} <= set(offered(host)), "offered after a reboot", 60)
        for name, word, begins, ends in REFUSED:
            shell(host, begins)
            refused = module(fleet, host, name, state="absent")
            assert (refused["code"], word in refused["msg"]) == ("interface_not_released", True), refused
            shell(host, ends)
            wait_until(lambda: ANSWERED in offered(host), f"offered after {ends}", 60)
        result = module(fleet, host, SILENT, ANSWERED, state="absent")
        assert not result["failed"], result
        assert [each["name"] for each in result["released"]] == [SILENT, ANSWERED], result
        again = module(fleet, host, SILENT, ANSWERED, state="absent")
        assert (again["failed"], again["changed"]) == (False, False), again
        require_restored(host, before[host.name], SILENT, ANSWERED, part=across_a_reboot)

    everywhere(fleet, adopt)
    everywhere(fleet, Host.reboot)
    everywhere(fleet, release)


@pytest.mark.long
def test_a_reboot_undoes_what_is_not_confirmed(fleet):
    before = {host.name: dump(host, SILENT) for host in fleet.hosts.values()}

    def adopt(host):
        with adopting(fleet, host, names=[SILENT], confirm_timeout=600) as controller:
            kill(controller)
            shell(host, CONNECTED)

    everywhere(fleet, adopt)
    everywhere(fleet, Host.reboot)
    everywhere(fleet, lambda host: require_restored(host, before[host.name], SILENT, part=across_a_reboot))


REASONS = {
    **{"ens9": "keepalived", SILENT: "profile own", ANSWERED: "carrier", "ens13": "interface-name:ens13"},
    **{"ens14": "interface-name:ens14", "ens15": "offered already", "ens16": "interfaces.d/ens16:1", "eth0": "SSH"},
}


@on_each_host
def test_everything_else_is_left_alone_with_the_reason(fleet, host):
    shell(host, "mkdir -p /etc/keepalived; echo 'vrrp_instance a { interface ens9 }' >/etc/keepalived/a.conf")
    add = "nmcli connection add type ethernet ifname '*' autoconnect no con-name"
    shell(host, f"{add} own match.interface-name ens10; {add} unbound")
    shell(host, "ip link add br9 type bridge; ip -n lan link set ens11 down; ip link set eth0 up")
    wait_until(lambda: devices(host)[ANSWERED] == "unavailable", "no carrier", 30)
    try:
        before = dump(host, *STILL)
        seen = reasons(module(fleet, host, "*", check=True))
        for name, word in REASONS.items():
            assert word in seen[name], seen[name]
        assert "unbound" not in str(seen)
        # NetworkManager of a busy machine may not answer in time; the module says so.
        for name in ("ens13", "ens99"):
            wait_until(lambda name=name: module(fleet, host, name)["code"] == "interface_not_adopted", name, 120)
        assert {"lo", "docker0", "br9", "ens19"} <= seen.keys()
        require_restored(host, before, *STILL)
    finally:
        shell(host, "nmcli connection delete own unbound; ip link del br9; rm -r /etc/keepalived")
        shell(host, "ip -n lan link set ens11 up")
    wait_until(lambda: devices(host)[ANSWERED] == "disconnected", "a carrier", 30)
    # As netplan writes it: a second profile would win after a reboot.
    written = f"/run/NetworkManager/system-connections/netplan-{SILENT}.nmconnection"
    lines = f"[connection]\\nid=netplan-{SILENT}\\ntype=ethernet\\ninterface-name={SILENT}\\nautoconnect=false\\n"
    shell(host, f"mkdir -p $(dirname {written}); printf '{lines}' >{written}; chmod 600 {written}")
    shell(host, "nmcli connection reload; ip route add 198.51.100.0/24 nexthop dev ens9 nexthop dev ens11")
    try:
        seen = reasons(module(fleet, host, "*", check=True))
    finally:
        shell(host, f"rm {written}; nmcli connection reload; ip route del 198.51.100.0/24")
    for name, word in ((SILENT, f"netplan-{SILENT}"), ("ens9", "198.51.100.0/24"), (ANSWERED, "198.51.100.0/24")):
        assert word in seen[name], seen[name]
    shell(host, "systemctl stop NetworkManager")
    assert module(fleet, host, SILENT)["code"] == "networkmanager_unavailable"
    shell(host, "systemctl start NetworkManager; systemctl kill --signal=STOP NetworkManager")
    assert module(fleet, host, SILENT)["code"] == "networkmanager_unavailable"
    shell(host, "systemctl kill --signal=CONT NetworkManager")
    wait_until(lambda: devices(host).get(SILENT) == "disconnected", "ready again", 60)


@on_each_host
def test_networkd_a_route_and_a_bridge_are_reasons(fleet, host):
    before = dump(host, *STILL)
    index = {name: shell(host, f"cat /sys/class/net/{name}/ifindex").strip() for name in NICS}
    networkd = f"/run/systemd/netif/links/{index[ANSWERED]}"
    shell(host, f"mkdir -p $(dirname {networkd}); nmcli device set {SILENT} managed no")
    shell(host, f"echo ADMIN_STATE=configured >{networkd}; ip route add 192.0.2.0/24 dev ens9")
    shell(host, "ip link add br8 type bridge; ip link add port8 type veth peer name peer8")
    shell(host, "ip link set port8 master br8")
    try:
        seen = reasons(module(fleet, host, "*", check=True))
    finally:
        shell(host, "ip link del port8; ip link del br8; ip route del 192.0.2.0/24 dev ens9")
        shell(host, f"rm {networkd}; nmcli device set {SILENT} managed yes")
    wait_until(lambda: devices(host)[SILENT] == "disconnected", "managed again", 30)
    for name, word in ((SILENT, "not managed"), (ANSWERED, "networkd"), ("ens9", "192.0.2.0/24"), ("port8", "br8")):
        assert word in seen[name], seen[name]
    assert "physical" in reasons(module(fleet, host, check=True))["ens9"]
    require_restored(host, before, *STILL)


@on_each_host
def test_a_host_without_a_default_route_takes_the_whole_lease(fleet, host):
    route = shell(host, "ip route show default").strip()
    shell(host, f"ip route del {route}")
    try:
        result = module(fleet, host, ANSWERED, dhcp_timeout=60)
        assert not result["failed"], result
        wait_until(lambda: "default via 10.77.2.1" in routes(host, ANSWERED), "a default route", 60)
        refused = module(fleet, host, ANSWERED, state="absent")
        assert refused["code"] == "interface_not_released", refused
    finally:
        shell(host, f"ip route add {route}")
    assert module(fleet, host, ANSWERED, state="absent")["changed"]
    assert routes(host, ANSWERED) == []


@on_each_host
def test_an_automatic_profile_does_not_prevent_an_adoption(fleet, host):
    # NetworkManager tries this profile again and again, and sometimes calls it connected.
    shell(host, "nmcli device disconnect ens17", check=False)
    result = module(fleet, host, "ens17")
    assert result["adopted"], result
    assert "ens17" in offered(host)
    released = module(fleet, host, "ens17", state="absent")
    assert released["changed"], released


@on_each_host
def test_a_matched_interface_that_stays_down_is_removed(fleet, host):
    before = dump(host, SILENT, ANSWERED)
    with adopting(fleet, host, names=["ens1[01]"], dhcp_timeout=15, confirm_timeout=120) as controller:
        shell(host, f"nmcli connection delete {SILENT}")
        assert "did not come up" in end(fleet, controller, 0)
    assert ANSWERED in offered(host)
    assert SILENT not in offered(host)
    assert module(fleet, host, ANSWERED, state="absent")["changed"]
    require_restored(host, before, SILENT, ANSWERED)


@pytest.mark.parametrize("seconds", [0, 4], ids=["fast", "slow"])
@on_each_host
def test_an_address_of_another_program_rolls_back(fleet, host, seconds):
    """As VRRP does, once, while the adoption waits for DHCP: no step of the adoption removes it."""
    slow = f'#!/bin/sh\\nsleep {seconds}\\nexec /usr/bin/nmcli "$@"\\n'
    before = dump(host, SILENT, ANSWERED)
    shell(host, f"printf '{slow}' >/usr/local/bin/nmcli; chmod +x /usr/local/bin/nmcli")
    with adopting(fleet, host, names=[SILENT, ANSWERED], dhcp_timeout=15, confirm_timeout=120) as controller:
        until = "until /usr/bin/nmcli -g GENERAL.STATE device show {} | grep -q ^{}; do sleep 0.1; done"
        shell(host, f"{until.format(SILENT, 70)}; {until.format(ANSWERED, 100)}")
        shell(host, f"ip address add 192.0.2.9/24 dev {SILENT}; ip address add 10.77.2.50/24 dev {ANSWERED}")
        assert "192.0.2.9/24" in end(fleet, controller, 2)
    shell(host, "rm /usr/local/bin/nmcli")
    assert "192.0.2.9/24" in addresses(host, SILENT)
    assert given(host) == ["10.77.2.50/24"], "also one of the lease's subnet stays, and the lease's does not"
    # NetworkManager calls the interface "connected (externally)".
    for name, address in ((SILENT, "192.0.2.9/24"), (ANSWERED, "10.77.2.50/24")):
        shell(host, f"ip address del {address} dev {name}; nmcli connection delete {name}", check=False)
    require_restored(host, before, SILENT, ANSWERED)


@on_each_host
def test_a_lease_that_overlaps_another_network_rolls_back(fleet, host):
    via = shell(host, "ip route show default").split()[2]
    shell(host, f"ip route add 10.77.2.128/25 via {via} dev eth0")
    try:
        before = dump(host, ANSWERED)
        refused = module(fleet, host, ANSWERED, dhcp_timeout=60)
        assert refused["code"] == "network_changed", refused
        assert "10.77.2.0/24, which overlaps 10.77.2.128/25 of eth0" in refused["msg"]
        require_restored(host, before, ANSWERED)
        assert "overlaps" in reasons(module(fleet, host, f"{ANSWERED}*", dhcp_timeout=60))[ANSWERED]
        require_restored(host, before, ANSWERED)
    finally:
        shell(host, f"ip route del 10.77.2.128/25 via {via} dev eth0")


def wait_for_roll_back(host):
    active = "systemctl is-active 'slb-fleet-*.service' | grep -q activ"
    host.exec(["sh", "-c", f"while {active}; do sleep 0.2; done"], timeout=180)


@pytest.mark.parametrize("is_off", [False, True], ids=["forwarding", "disabled"])
@on_each_host
def test_ipv6_settings_of_the_kernel_stay(fleet, host, is_off):
    """NetworkManager 1.30 changes them at each activation, and again after the profile is deleted."""
    expected = {"forwarding": "1", "accept_ra": "0", "disable_ipv6": str(int(is_off))}

    def settings(host, name):
        return {key: shell(host, f"cat /proc/sys/net/ipv6/conf/{name}/{key}").strip() for key in expected}

    original = {name: settings(host, name) for name in (SILENT, ANSWERED)}
    try:
        for name in original:
            for key, value in expected.items():
                shell(host, f"echo {value} >/proc/sys/net/ipv6/conf/{name}/{key}")
        before = dump(host, SILENT, ANSWERED)
        result = module(fleet, host, SILENT, ANSWERED, dhcp_timeout=15)
        assert not result["failed"], result
        assert [settings(host, name) for name in original] == [expected, expected]
        assert module(fleet, host, SILENT, ANSWERED, state="absent")["changed"]
        assert [settings(host, name) for name in original] == [expected, expected]
        require_restored(host, before, SILENT, ANSWERED)
        with adopting(fleet, host, names=[SILENT]) as controller:
            kill(controller)
            shell(host, CONNECTED)
        require_restored(host, before, SILENT, ANSWERED)
        wait_for_roll_back(host)  # it may write the values once more
    finally:
        for name, values in original.items():
            for key, value in values.items():
                shell(host, f"echo {value} >/proc/sys/net/ipv6/conf/{name}/{key}")


@pytest.mark.parametrize("trouble", ["none", "stopped", "frozen"])
@on_each_host
def test_what_a_killed_controller_left_is_rolled_back(fleet, host, trouble):
    """Nothing of it comes back when NetworkManager returns."""
    begins, ends = {
        "none": ("true", "true"),
        "stopped": ("systemctl stop NetworkManager", "systemctl start NetworkManager"),
        "frozen": ("systemctl kill --signal=STOP NetworkManager", "systemctl kill --signal=CONT NetworkManager"),
    }[trouble]
    before = dump(host, SILENT, ANSWERED)
    with adopting(fleet, host, names=[SILENT, ANSWERED]) as controller:
        kill(controller)
        shell(host, f"{CONNECTED}; {begins}")
        rolled_back = "ls /run/slb-fleet/*/rolled_back >/dev/null 2>&1"
        host.exec(["sh", "-c", f"until {rolled_back}; do sleep 0.2; done"], timeout=180)
        wait_for_roll_back(host)
    shell(host, ends)
    wait_until(lambda: devices(host).get(SILENT) == "disconnected", "NetworkManager is back", 60)
    require_restored(host, before, SILENT, ANSWERED, part=across_a_restart if trouble == "stopped" else dict)
    (token,) = shell(host, "cd /run/slb-fleet && ls -d */").split("/")[:1]
    late = fleet.module(host.name, "_engine_step", step="confirm", request_id=token)
    assert late["code"] == "rolled_back", late


@on_each_host
def test_adoption_without_fresh_connection_rolls_back(fleet, host):
    before = dump(host, SILENT)
    with adopting(fleet, host, names=[SILENT]) as controller:
        shell(host, "systemctl stop ssh.socket ssh.service 2>/dev/null; true")
        try:
            require_restored(host, before, SILENT)
            controller.wait(180)
        finally:
            shell(host, "systemctl start ssh.service")
        assert "not_confirmed" in end(fleet, controller, 2)


@on_each_host
def test_a_shared_connection_is_not_used_for_the_confirmation(fleet, host, monkeypatch):
    shared = "-o ControlMaster=auto -o ControlPersist=60 -o ControlPath=/tmp/slb-fleet-test-%C"
    monkeypatch.setenv("ANSIBLE_SSH_ARGS", shared)
    accepted = "journalctl --unit ssh.service --grep '^Accepted' --quiet | wc -l"
    before = int(shell(host, accepted))
    result = module(fleet, host, SILENT)
    assert not result["failed"], result
    wait_until(lambda: int(shell(host, accepted)) >= before + 2, "two connections in the journal", 60)
    assert int(shell(host, accepted)) == before + 2
    assert module(fleet, host, SILENT, state="absent")["changed"]


@on_each_host
def test_a_router_that_brings_a_default_route_is_rolled_back(fleet, host):
    """Without a lease the kernel listens to routers itself, unless NetworkManager was restarted before."""
    router = r"""
import contextlib, socket, struct, time
packet = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0)
with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as sender:
    sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
    while True:
        with contextlib.suppress(OSError):  # until its link is up, it has no address
            sender.sendto(packet, ("ff02::1", 0, 0, socket.if_nametoindex("ens10")))
        time.sleep(0.2)
"""
    before = dump(host, SILENT)
    with adopting(fleet, host, names=[SILENT], confirm_timeout=300) as controller:
        shell(host, "systemctl stop ssh.socket ssh.service 2>/dev/null; true")
        try:
            shell(host, CONNECTED)
            shell(host, f"ip netns exec lan python3 -c '{router}' >/dev/null 2>&1 & echo $! >/run/router.pid")
            has_route = "ip -6 route show default dev ens10 | grep -q via"
            # The module writes the value of before once, directly after the activation.
            listen = "echo 1 >/proc/sys/net/ipv6/conf/ens10/accept_ra"
            host.exec(["sh", "-c", f"until {has_route}; do {listen}; sleep 0.1; done"], timeout=240)
        finally:
            shell(host, "systemctl start ssh.service; kill $(cat /run/router.pid)")
        assert "network_changed" in end(fleet, controller, 2)
    require_restored(host, before, SILENT)


@on_each_host
def test_confirmation_beside_another_one_or_a_rollback(fleet, host):
    with adopting(fleet, host, names=[SILENT], confirm_timeout=600) as controller:
        host.exec(["flock", "/run/slb-fleet/lock", "sleep", "4"], timeout=180)
        end(fleet, controller, 0)
    assert module(fleet, host, SILENT, state="absent")["changed"]
    for delay in (0, 0.4, 0.8, 1.2):
        before = dump(host, SILENT)
        with adopting(fleet, host, names=[SILENT], confirm_timeout=600) as controller:
            kill(controller)
            shell(host, f"{CONNECTED}; flock /run/slb-fleet/lock true")
        (token,) = shell(host, "cd /run/slb-fleet && dirname */armed").split()
        script = f"sleep {delay}; sh /run/slb-fleet/{token}/roll_back"
        host.exec(["systemd-run", "--collect", "--unit", "at-the-same-time", "sh", "-c", script])
        result = fleet.module(host.name, "_engine_step", step="confirm", request_id=token)
        shell(host, "while systemctl is-active --quiet at-the-same-time; do sleep 0.1; done")
        if result["failed"]:
            assert result["code"] == "rolled_back", result
            shell(host, f"systemctl stop slb-fleet-{token}.timer")
            require_restored(host, before, SILENT)
        else:
            assert SILENT in offered(host)
            assert module(fleet, host, SILENT, state="absent")["changed"]
        assert not shell(host, "systemctl list-units --plain --no-legend 'slb-fleet-*'").strip()


@pytest.mark.long
@on_each_host
def test_release_of_a_renamed_interface_deletes_its_profile(fleet, host):
    """As after an upgrade of the distribution, which keeps the old name as another one. What uses it now stays."""
    before, old = dump(host, SILENT), f"dev lan10 altname {SILENT}"
    assert module(fleet, host, SILENT)["changed"]
    shell(host, f"nmcli connection down {SILENT}; ip link set {SILENT} down; ip link set {SILENT} name lan10")
    shell(host, f"ip link property add {old}; ip link set lan10 up")
    shell(
        host, "nmcli device set lan10 managed no; ip address add 192.0.2.5/24 dev lan10 valid_lft 900 preferred_lft 900"
    )
    released = module(fleet, host, "*", state="absent")
    stays = "192.0.2.5/24" in addresses(host, "lan10")
    shell(host, f"ip address del 192.0.2.5/24 dev lan10; ip link property del {old}; ip link set lan10 down")
    shell(host, f"ip link set lan10 name {SILENT}; ip link set {SILENT} up; nmcli device set {SILENT} managed yes")
    assert ([each["name"] for each in released["released"]], released["failed"], stays) == ([SILENT], False, True)
    wait_until(lambda: devices(host).get(SILENT) == "disconnected", "NetworkManager knows the name", 60)
    require_restored(host, before, SILENT)
    assert not module(fleet, host, "*", state="absent")["changed"]


@pytest.mark.long
def test_the_zone_of_firewalld_stays(fleet):
    host = fleet.hosts["trixie"]
    zone = f"firewall-cmd --get-zone-of-interface={SILENT}"
    shell(host, "systemctl start firewalld && firewall-cmd --zone=internal --change-interface=ens10")
    try:
        before = dump(host, SILENT)
        result = module(fleet, host, SILENT)
        assert not result["failed"], result
        assert shell(host, zone).strip() == "internal"
        assert module(fleet, host, SILENT, state="absent")["changed"]
        wait_until(lambda: shell(host, zone, check=False).strip() == "internal", "the zone after a release", 30)
        require_restored(host, before, SILENT)
        with adopting(fleet, host, names=[SILENT]) as controller:
            kill(controller)
        require_restored(host, before, SILENT)
        wait_until(lambda: shell(host, zone, check=False).strip() == "internal", "the zone after a rollback", 30)
    finally:
        shell(host, "systemctl stop firewalld")


@pytest.mark.long
def test_adoption_over_another_connection_changes_nothing(fleet):
    host = fleet.hosts["trixie"]
    before = dump(host, SILENT)
    variables = {"ansible_connection": "ansible.builtin.local", "names": [SILENT]}
    playbook = __file__.replace("test_adoption.py", "adopt.yml")
    run = fleet.play(playbook, "-l", host.name, "-e", json.dumps(variables))
    assert run.status == 2, run.output
    assert "connection_not_supported" in run.output
    assert differences(before, dump(host, SILENT)) == {}


@on_each_host
def test_profiles_that_cannot_be_written_are_seen_first(fleet, host):
    folder = "/etc/NetworkManager/system-connections"
    before = dump(host, SILENT)
    # In its own mount namespace, as on bullseye: a remount of the host does not reach it.
    enter = "nsenter --mount --target $(pidof NetworkManager)"
    read_only = f"{enter} sh -c 'mount --bind {folder} {folder} && mount -o remount,bind,ro {folder}'"
    shell(host, read_only)
    try:
        assert module(fleet, host, SILENT)["code"] == "profiles_read_only"
    finally:
        shell(host, f"{enter} umount {folder}")
    assert module(fleet, host, SILENT)["changed"]
    shell(host, read_only)
    try:
        assert module(fleet, host, SILENT, state="absent")["code"] == "profiles_read_only"
    finally:
        shell(host, f"{enter} umount {folder}")
    # A person has deleted the profile: the release restores the rest of what was noted.
    shell(host, f"nmcli connection delete {SILENT}")
    released = module(fleet, host, SILENT, state="absent")
    assert [each["was_deleted"] for each in released["released"]] == [True], released
    assert not module(fleet, host, SILENT, state="absent")["changed"]
    require_restored(host, before, SILENT)


@on_each_host
def test_random_addresses_of_the_hardware_are_not_used(fleet, host):
    conf = "/etc/NetworkManager/conf.d/99-random.conf"
    mac = shell(host, f"cat /sys/class/net/{SILENT}/address").strip()
    shell(host, f"printf '[connection]\\nethernet.cloned-mac-address=random\\n' >{conf}; nmcli general reload")
    try:
        assert module(fleet, host, SILENT)["changed"]
        assert shell(host, f"cat /sys/class/net/{SILENT}/address").strip() == mac
    finally:
        shell(host, f"rm {conf}; nmcli general reload")
    assert module(fleet, host, SILENT, state="absent")["changed"]
