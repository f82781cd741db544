"""One interface's trouble is that interface's, and what DHCP offers one takes nothing from the host."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from fleet import Fleet
from nic_hosts import addresses, devices, eventually, everywhere, routes, shell, topology
from slb_lab.lab import Host

HALVES, WHOLE, VANISHES, STAYS, LATER, FOREIGN, WATCHED, ADVERTISED = (f"ens{number}" for number in range(10, 18))
# The kernel lets a name hold what ends a name in NetworkManager's configuration.
ODD = "e5@x;,*"
NICS: dict[str, dict[str, Any]] = {
    name: {"kind": "no_address"} for name in (HALVES, WHOLE, VANISHES, STAYS, LATER, FOREIGN, ADVERTISED)
}
NICS[WATCHED] = {"kind": "external"}
DHCP_SECONDS = 20
# An address, a default route, both halves of one in classless routes, a name server and an MTU.
DHCP = """
setsid dnsmasq --conf-file=/dev/null --port=0 --bind-interfaces --interface={nic} --except-interface=lo --user=root \
    --dhcp-range={net}.50,{net}.60,1h --dhcp-leasefile=/run/{nic}.leases --pid-file=/run/{nic}.pid \
    --dhcp-option=3,{net}.1 --dhcp-option=6,192.0.2.53 --dhcp-option=26,1300 \
    --dhcp-option=121,0.0.0.0/1,{net}.1,128.0.0.0/1,{net}.1,0.0.0.0/0,{net}.1,10.123.0.0/16,{net}.1
"""


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    return make_fleet("nic-each", topology(NICS))


def adopt(fleet: Fleet, host: Host, *names: str, check: bool = False, **options: Any) -> dict[str, Any]:
    return fleet.module(host.name, "interface", check, interfaces=list(names), dhcp_timeout=DHCP_SECONDS, **options)


def names(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["name"] for entry in entries]


def serve_dhcp(host: Host, nic: str) -> str:
    net = f"10.77.{list(NICS).index(nic) + 1}"
    shell(host, f"nsenter --net=/run/netns/lan sh -c '{DHCP.format(nic=nic, net=net)}' >/dev/null 2>&1 </dev/null &")
    return net


def ways(host: Host) -> list[str]:
    """How the host gets to places of either half of the world."""
    return [shell(host, f"ip -o route get {place}").split(" uid")[0] for place in ("8.8.8.8", "192.0.2.200")]


def test_where_the_host_has_its_way_out_dhcp_brings_an_address_and_its_subnet_and_nothing_else(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        resolver = shell(host, "cat /etc/resolv.conf")
        shell(host, "echo '# no name server' > /etc/resolv.conf")
        before, mtu = ways(host), shell(host, f"cat /sys/class/net/{HALVES}/mtu")
        net = serve_dhcp(host, HALVES)
        adopted = adopt(fleet, host, HALVES)
        nameless = shell(host, "cat /etc/resolv.conf")
        shell(host, f"cat > /etc/resolv.conf <<'EOF'\n{resolver}EOF")
        assert names(adopted["adopted"]) == [HALVES], adopted
        assert any(each.startswith(f"{net}.") for each in addresses(host, HALVES)), addresses(host, HALVES)
        ours = [each.split()[0] for each in routes(host, HALVES) if "." in each.split()[0]]
        assert ours == [f"{net}.0/24"]
        assert ways(host) == before
        assert "nameserver" not in nameless
        assert shell(host, f"cat /sys/class/net/{HALVES}/mtu") == mtu

    everywhere(fleet, scenario)


def test_unless_the_operator_says_so(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        before = ways(host)
        net = serve_dhcp(host, WHOLE)
        adopted = adopt(fleet, host, WHOLE, whole_lease=True)
        assert names(adopted["adopted"]) == [WHOLE], adopted
        assert f"10.123.0.0/16 via {net}.1" in " ".join(routes(host, WHOLE))
        assert all(f"dev {WHOLE}" in way for way in ways(host))
        returned = adopt(fleet, host, WHOLE, state="absent")
        assert names(returned["given_back"]) == [WHOLE], returned
        assert ways(host) == before

    everywhere(fleet, scenario)


def test_one_of_three_that_vanishes_while_they_wait_keeps_the_others_from_nothing(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        shell(host, "rm -rf /run/slb-fleet/interfaces/status.json")
        script = f"""
            until grep -qs '"state": "armed"' /run/slb-fleet/interfaces/status.json &&
                  nmcli -t -f DEVICE,STATE device | grep -q '{LATER}:connecting'; do sleep 0.1; done
            ip link delete {VANISHES}
        """
        command = ["docker", "exec", host.container, "timeout", "180", "sh", "-c", script]
        with subprocess.Popen(command) as vanishing:
            adopted = adopt(fleet, host, STAYS, VANISHES, LATER)
            assert vanishing.wait(180) == 0
        assert names(adopted["adopted"]) == [STAYS, LATER], adopted
        (why,) = [each["reason"] for each in adopted["left_alone"] if each["name"] == VANISHES]
        assert "vanished" in why
        assert VANISHES not in shell(host, "nmcli -g NAME connection; ls /run/NetworkManager/system-connections")

    everywhere(fleet, scenario)


def test_a_profile_of_its_name_for_another_device_is_not_its_profile(fleet: Fleet) -> None:
    """Check mode and the run say the same."""

    def scenario(host: Host) -> None:
        foreign = f"type ethernet ifname {FOREIGN} con-name {FOREIGN} mac 52:54:00:00:00:01"
        shell(host, f"nmcli connection add {foreign} autoconnect no")
        planned = adopt(fleet, host, FOREIGN, check=True)
        adopted = adopt(fleet, host, FOREIGN)
        assert names(planned["adopted"]) == names(adopted["adopted"]) == [FOREIGN], adopted
        assert adopted["adopted"][0]["profile_is_new"] is planned["adopted"][0]["profile_is_new"] is True

    everywhere(fleet, scenario)


def test_a_name_that_would_mean_other_devices_is_not_written_into_the_configuration(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        shell(host, f"ip link set {WATCHED} down; ip link set {WATCHED} name '{ODD}'; ip link set '{ODD}' up")
        shell(host, f"ip address add 10.88.0.2/24 dev '{ODD}'")
        eventually(lambda: devices(host).get(ODD, "").startswith("connected"), 20, "it is watched")
        others = {name: state for name, state in devices(host).items() if name != ODD}
        adopted = adopt(fleet, host, shell(host, f"cat '/sys/class/net/{ODD}/address'").strip(), lift_unmanaged=True)
        assert names(adopted["adopted"]) == [ODD], adopted
        assert "cannot be written" in " ".join(adopted["adopted"][0]["notes"])
        assert "10.88.0.2/24" in addresses(host, ODD)
        assert "slb-fleet" not in shell(host, "ls /etc/NetworkManager/conf.d")
        assert {name: state for name, state in devices(host).items() if name != ODD} == others

    everywhere(fleet, scenario)


def test_control_by_a_profile_in_memory_alone_is_made_to_last(fleet: Fleet) -> None:
    def scenario(host: Host) -> None:
        settings = "ipv4.method manual ipv4.addresses 10.89.0.2/24 ipv6.method ignore"
        add = f"nmcli connection add save no type ethernet ifname {ADVERTISED} con-name left autoconnect no {settings}"
        shell(host, f"{add} && nmcli connection up left")
        adopted = adopt(fleet, host, ADVERTISED)
        assert names(adopted["adopted"]) == [ADVERTISED], adopted
        assert "left.nmconnection" in shell(host, "ls /etc/NetworkManager/system-connections")
        assert not adopt(fleet, host, ADVERTISED)["changed"]

    everywhere(fleet, scenario)


def test_many_misspelt_names_are_one_remark(fleet: Fleet) -> None:
    host = next(iter(fleet.lab.hosts.values()))
    misspelt = adopt(fleet, host, *(f"esn{number}" for number in range(199)))
    (remark,) = misspelt["remarks"]
    assert "'esn0'" in remark and "any of 189 others" in remark


def test_a_variable_that_is_misspelt_is_told_before_all_interfaces_are_taken_for_meant(fleet: Fleet) -> None:
    done = fleet.play("slb.fleet.adopt_interfaces", "--check", variables={"slb_interface": ["ens9"]})
    assert "slb_interface (of" in done.output and "Is slb_interfaces meant?" in " ".join(done.output.split()), (
        done.output
    )
