"""Which interfaces are adopted, why the others are not, and the profile; from output of `ip` and `nmcli`."""

import json
import subprocess

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import adoption, claims, interfaces, rollback
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_networkmanager import (
    SSH,
    link,
    shown,
)

LINK_LOCAL = {"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link"}
UUID = "97ba0a7a-6000-45f4-8b37-a3ad22bce7f4"


LINKS = [
    link("lo", 1, link_type="loopback", addr_info=[{"family": "inet", "local": "127.0.0.1", "prefixlen": 8}]),
    link("eth0", 2, addr_info=[SSH, LINK_LOCAL]),
    link("ens9", 3, addr_info=[LINK_LOCAL]),
    link("ens10", 4, flags=["NO-CARRIER", "UP"]),
    link("br0", 5, linkinfo={"info_kind": "bridge"}),
    link("ens11", 6, master="br0"),
    link("ens12", 7, addr_info=[dict(SSH, local="203.0.113.9")]),
    link("ens13", 8),
    link("veth1a2b", 9, linkinfo={"info_kind": "veth"}),
    {},
]
DEVICES = "\n".join(
    [
        *(shown(name, "unmanaged") for name in ("lo", "veth1a2b")),
        shown("eth0", "connected", "Wired: one \\\\ two", UUID),
        *(shown(name, "disconnected") for name in ("ens9", "ens11", "ens12", "ens13")),
        shown("ens10", "unavailable"),
        shown("br0", "connected (externally)", "br0", "c0"),
    ]
)
BINDINGS = f"""connection.uuid:{UUID}
connection.interface-name:{{}}
802-3-ethernet.mac-address:{{}}
connection.autoconnect:{{}}
"""
CONNECTIONS = f"{UUID}:802-3-ethernet:/etc/NetworkManager/system-connections/one:Wired\\: one \\\\ two\n"
ROUTES = [{"dst": "default", "gateway": "198.51.100.1", "dev": "eth0"}, {"dst": "192.0.2.0/24", "dev": "ens13"}]


@pytest.fixture
def host(tmp_path, monkeypatch):
    """Commands that print files: what is in `ip`, `devices` and so on can be replaced."""
    files = {
        "address": json.dumps(LINKS),
        "routes": json.dumps(ROUTES),
        "routes6": "",
        "devices": DEVICES,
        "connections": CONNECTIONS,
        "bindings": BINDINGS.format("eth0", "", "yes"),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    scripts = {
        "ip": 'case "$*" in *address*) cat address;; *-6*) cat routes6;; *) cat routes;; esac',
        "nmcli": 'case "$*" in *GENERAL.DEVICE*) cat devices;; *"show uuid"*) cat bindings;; *) cat connections;; esac',
    }
    for name, script in scripts.items():
        command = tmp_path / "bin" / name
        command.parent.mkdir(exist_ok=True)
        command.write_text(f"#!/bin/sh\ncd {tmp_path}\n{script}\n")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    return tmp_path


def choose(*wanted):
    """Return the names of the chosen interfaces, and the reasons for those that are not."""
    chosen, reasons, _failed = interfaces.choose(interfaces.gather_network(), list(wanted) or ["*"])
    return [each.name for each in chosen], reasons


OTHER = UUID.replace("97", "00")
GENERATED = {"generated": "[connection]\nid=Wired connection 1\n[.nmmeta]\nnm-generated=true\n"}
KEPT = {"generated": "[connection]\nid=Wired connection 1\n"}
CONNECTING = {
    "devices": f"{DEVICES}\n{shown('ens9', 'connecting', 'Wired connection 1', OTHER)}",
    "connections": f"{OTHER}:802-3-ethernet:HOST/generated:Wired connection 1\n",
    "bindings": BINDINGS.format("ens9", "", "yes").replace(UUID, OTHER),
}


def unmanaged(reason):
    return {"devices": f"{DEVICES}\n{shown('ens9', 'unmanaged', reason=reason)}"}


def profile_in(file):
    return {"bindings": BINDINGS.format("ens9", "", "yes"), "connections": f"{UUID}:802-3-ethernet:{file}:one\n"}


def printed(status):
    text = "[keyfile]\nunmanaged-devices=interface-name:ens9"
    return {"bin/NetworkManager": f"#!/bin/sh\necho '{text}'\nexit {status}\n"}


@pytest.mark.parametrize(
    ("files", "reasons"),
    [
        *((profile_in(file), [file]) for file in ("/run/NetworkManager/netplan-ens9", "/etc/NetworkManager/x")),
        ({**profile_in("HOST/generated"), **GENERATED}, None),
        # In NetworkManager's default configuration, a fresh interface has a profile at once, and it is tried for ever.
        ({**CONNECTING, **GENERATED}, None),
        ({**CONNECTING, **KEPT}, ["Wired connection 1"]),
        ({"devices": f"{DEVICES}\n{shown('ens9', 'connecting', 'netplan-ens9', UUID)}"}, ["netplan-ens9"]),
        ({"bindings": BINDINGS.format("", "", "yes")}, None),  # of another interface, and bound to nothing
        ({"connections": ""}, None),
        (unmanaged("74 (The device is unmanaged by user decision)"), ["not managed by Net", "by user decision"]),
        (unmanaged("0 (No reason given)"), ["not managed by NetworkManager"]),
        (printed(0), ["interface-name:ens9"]),
        (printed(1), None),
        ({"frr/one.conf": "interface ens9\n", "frr/two.conf/x": ""}, ["HOST/frr/one.conf:1"]),
    ],
)
def test_choose_skips_an_interface_with_the_reason(host, monkeypatch, files, reasons):
    monkeypatch.setattr(claims, "_FILES", (f"{host}/frr/*.conf",))
    for name, text in files.items():
        (host / name).parent.mkdir(parents=True, exist_ok=True)
        (host / name).write_text(text.replace("HOST", str(host)))
        (host / name).chmod(0o755)
    chosen, found = choose("ens9")
    assert chosen == ([] if reasons else ["ens9"]), found
    assert not reasons or not [each for each in reasons if each.replace("HOST", str(host)) not in found["ens9"][0]]
    assert "No reason" not in str(found)


def test_choose_only_what_has_no_address(host):
    chosen, reasons = choose()
    assert chosen == ["ens9"]
    assert reasons.keys() == {"lo", "eth0", "ens10", "br0", "ens11", "ens12", "ens13", "veth1a2b"}
    words = {"ens12": "203.0.113.9/24", "ens13": "192.0.2.0/24", "eth0": "Wired: one \\ two"}
    assert [name for name, word in words.items() if word not in reasons[name][0]] == []


def test_ssh_is_the_first_reason_of_a_virtual_interface(host):
    seen = interfaces.gather_network()
    virtual = next(each for each in seen.interfaces if each.name == "ens9")._replace(is_physical=False)
    for over_ssh, reason in (("ens9", "carries the SSH connection"), (None, "not a physical device")):
        _chosen, reasons, _failed = interfaces.choose(seen._replace(interfaces=[virtual], over_ssh=over_ssh), [])
        assert reasons["ens9"][0] == reason


@pytest.mark.parametrize(
    ("wanted", "chosen", "failed"),
    [
        (["ens9"], ["ens9"], []),
        (["52:54:00:00:00:03"], ["ens9"], []),
        (["52:54:*"], ["ens9"], []),
        (["eth0", "ens9"], ["ens9"], []),
        (["ens9", "ens10"], ["ens9"], ["ens10"]),
        (["ens*", "52:54:00:00:00:04"], ["ens9"], ["ens10"]),
        (["ens77", "ens9"], ["ens9"], ["ens77"]),
        (["ens7*", "ens*"], ["ens9"], ["ens7*"]),
        ([], [], []),
    ],
)
def test_choose_fails_a_host_for_what_is_missing(host, wanted, chosen, failed):
    found, _reasons, troubles = interfaces.choose(interfaces.gather_network(), wanted)
    assert ([each.name for each in found], troubles) == (chosen, failed)
    _found, _reasons, troubles = interfaces.choose(interfaces.gather_network(), wanted, True)
    assert troubles == [item for item in failed if "*" not in item]


ENS9 = {"ens9", "52:54:00:00:00:0c", "virtio_net", "ethernet"}
CLAIMS = [  # file, text, line that mentions ens9 (other name enp0s9), or None
    ("/etc/network/interfaces", "auto lo ens9\niface lo inet loopback\n", 1),
    ("/etc/network/interfaces", "iface br0 inet static\n  bridge_ports ens9\n", 2),
    ("/etc/network/interfaces.d/a", "iface bond0 inet dhcp\n  bond-slaves eth1 enp0s9\n", 2),
    ("/etc/network/interfaces.d/a", "allow-hotplug /ens*\n", 1),
    ("/etc/network/interfaces", "iface ens90 inet dhcp\n# ens9", None),
    ("/etc/network/interfaces", "iface ens9.7 inet dhcp\n", None),
    ("/etc/network/interfaces.d/a.dpkg-old", "iface ens9 inet dhcp\n", None),
    ("/etc/netplan/a.yaml", "network:\n  ethernets:\n    ens9: {dhcp4: true}\n", 3),
    ("/etc/netplan/a.yaml", "match: {macaddress: '52:54:00:00:00:0C'}\n", 1),
    ("/etc/systemd/network/a.network", "[Match]\nName=en*\n", 2),
    ("/etc/systemd/network/a.network", "[Match]\nName=*\n", 2),
    ("/etc/systemd/network/a.network", "[Match]\nName=ens9\n[Link]\nUnmanaged=yes\n", None),
    ("/etc/systemd/network/a.link", "[Match]\nOriginalName=ens9\n", None),
    ("/etc/keepalived/a.conf", "vrrp_instance a { interface enp0s9 }", 1),
    ("/etc/keepalived/a.conf", "! interface ens9\n# ens9\ninterface ens90", None),
    ("/etc/frr/frr.conf", "interface ens9\n", 1),
    ("/etc/bird/bird.conf", 'protocol ospf { /* ens9 */ area 0 { interface "ens9"; } }', 1),
    ("/etc/bird/bird.conf", "// ens9\n/* ens9 */\n", None),
    ("/etc/dhcpcd.conf", "interface ens9\n", 1),
    ("/etc/hostapd/a.conf", "interface=ens9\n", 1),
    ("/etc/dnsmasq.d/a", "interface=ens9\n", 1),
    ("/etc/systemd/system/a.service", "ExecStart=/sbin/ip link set ens9 up\n", 1),
    ("/etc/systemd/system/a.timer", "OnCalendar=*:0/5\n", None),
    ("/etc/rc.local", "ifconfig ens9 up\n", 1),
]


@pytest.mark.parametrize(("path", "text", "line"), CLAIMS, ids=lambda value: str(value)[:40])
def test_file_that_mentions_an_interface_is_named(tmp_path, monkeypatch, path, text, line):
    monkeypatch.setattr(claims, "_FILES", [f"{tmp_path}{each}" for each in claims._FILES])
    monkeypatch.setattr(claims.commands, "find", lambda _name: None)
    file = tmp_path / path.lstrip("/")
    file.parent.mkdir(parents=True)
    file.write_text(text)
    found = claims.find_claim(claims.read_files(), ["ens9", "enp0s9", "52:54:00:00:00:0c"], 3)
    assert found == (f"{file}:{line}" if line else None)


@pytest.mark.parametrize(("state", "is_claimed"), [("configured", True), ("configuring", True), ("unmanaged", False)])
def test_link_that_networkd_configures_is_named(state, is_claimed):
    files = {"/run/systemd/netif/links/3": f"# x\nADMIN_STATE={state}\n"}
    assert bool(claims.find_claim(files, ["ens9"], 3)) == is_claimed
    assert claims.find_claim(files, ["ens9"], 33) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[keyfile]\nunmanaged-devices=interface-name:ens9", 1),
        ("[keyfile]\nunmanaged-devices=none\n[keyfile]\nunmanaged-devices=interface-name:ens9", 3),
        ("[keyfile]\nunmanaged-devices=interface-name:ens*;interface-name:eth0", 1),
        ("[keyfile]\nunmanaged-devices=mac:52:54:00:00:00:0C", 1),
        ("[keyfile]\nunmanaged-devices=driver:virtio_net", 1),
        ("[keyfile]\nunmanaged-devices=*,except:type:wifi,except:type:gsm", 1),
        ("[keyfile]\nunmanaged-devices=except:interface-name:eth0", 1),
        ("[keyfile]\nunmanaged-devices=*,except:interface-name:ens9", None),
        ("[keyfile]\nunmanaged-devices=interface-name:ens10", None),
        ("[device-a]\nmatch-device=interface-name:ens9\nmanaged=0", 1),
        ("[device]\nmanaged=false", 1),
        ("[device-a]\nmatch-device=interface-name:ens9\nmanaged=1\n[device-b]\nmanaged=0\n", None),
        ("[device-b]\nmanaged=0\n[device-a]\nmatch-device=interface-name:ens9\nmanaged=1\n", 1),
        ("[device-a]\nmatch-device=interface-name:eth0\nmanaged=0\n", None),
        ("[main]\nplugins=keyfile", None),
    ],
)
def test_configuration_that_excludes_an_interface_is_quoted(text, line):
    assert claims.find_exclusion(text, ENS9) == (text.splitlines()[line] if line else None)


def test_profile_on_a_routed_host_brings_an_address_only():
    plain = {"ipv4.dhcp-timeout": "25", "ipv6.method": "ignore", "ethernet.cloned-mac-address": "preserve"}
    assert adoption.make_profile("", 10, False) == plain
    settings = adoption.make_profile("internal", 10, True)
    assert settings["connection.zone"] == "internal"
    assert settings["ipv4.never-default"] == settings["ipv4.ignore-auto-routes"] == "yes"


def test_rollback_script_quotes_and_restores(tmp_path):
    changed = {
        "ens9": {"uuid": UUID, "zone": "a b", "was_up": False, "had_link_local": False, "ipv6": {"accept_ra": "0"}}
    }
    script = rollback.make_script(str(tmp_path), changed)
    put = "put 0 /proc/sys/net/ipv6/conf/ens9/accept_ra"
    for words in ("--zone='a b'", "ip link set dev ens9 down", put, f"free ens9 {UUID}", "/sys/class/net/ens9/address"):
        assert words in script
    assert "address flush" not in script
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize(("route", "is_compared"), [("fe80::/64", False), ("default", True), ("2001:db8::/64", True)])
def test_link_local_change_elsewhere_is_no_change(host, route, is_compared):
    """An interface that waits for DHCP in vain loses its link-local address again and again."""
    before = interfaces.gather_network().others({"ens9"})
    links = [{**each, "addr_info": []} if each.get("ifname") == "ens10" else each for each in LINKS]
    links[1] = {**links[1], "addr_info": [SSH]}
    (host / "address").write_text(json.dumps(links))
    (host / "routes6").write_text(json.dumps([{"dst": route, "dev": "ens10", "protocol": "kernel"}]))
    assert (interfaces.gather_network().others({"ens9"}) != before) == is_compared


@pytest.mark.parametrize(
    ("lease", "routes", "overlap"),
    [
        ("198.51.100.50/24", "[]", "198.51.100.0/24, which overlaps 198.51.100.0/24 of eth0"),
        ("198.50.1.2/15", "[]", "198.50.0.0/15, which overlaps 198.51.100.0/24 of eth0"),
        ("10.4.1.2/15", '[{"dst": "10.5.7.0/24", "gateway": "198.51.100.1", "dev": "eth0"}]', "of eth0"),
        ("10.4.1.2/24", '[{"dst": "10.0.0.0/8", "gateway": "198.51.100.1", "dev": "eth0"}]', "of eth0"),
        ("10.4.1.2/24", '[{"dst": "10.4.1.9", "dev": "eth0", "scope": "link"}]', "10.4.1.9/32 of eth0"),
        ("10.4.1.2/24", '[{"dst": "10.4.1.0/24", "dev": "ens10"}]', None),
        ("10.4.1.2/24", '[{"dst": "10.4.1.0/24", "dev": "eth0", "table": "7"}]', None),
        ("10.4.1.2/24", '[{"dst": "default", "dev": "eth0"}]', None),
        ("10.4.1.2/24", '[{"type": "unreachable", "dst": "10.0.0.0/8"}]', None),
        ("2001:db8::5/64", '[{"type": "blackhole", "dst": "2001:db8::/32", "dev": "lo"}]', None),
        ("2001:db8::5/64", '[{"dst": "2001:db8::/48", "dev": "eth0"}]', "of eth0"),
        ("2001:db8::5/128", '[{"dst": "fe80::/64", "dev": "eth0"}, {"dst": "fe80::/64", "dev": "ens9"}]', None),
        ("10.4.1.2/24", '[{"dst": "169.254.0.0/16", "dev": "eth0"}, {"dst": "169.254.0.0/16", "dev": "ens9"}]', None),
        ("10.4.1.2/24", '[{"dst": "224.0.0.0/4", "dev": "eth0"}, {"dst": "224.0.0.0/4", "dev": "ens9"}]', None),
    ],
)
def test_lease_that_overlaps_another_interface_is_named(host, lease, routes, overlap):
    address, length = lease.split("/")
    leased = {"family": "inet", "local": address, "prefixlen": int(length), "scope": "global", "dynamic": True}
    links = [{**each, "addr_info": [leased, LINK_LOCAL]} if each.get("ifname") == "ens9" else each for each in LINKS]
    virtual = {"family": "inet", "local": "10.4.1.77", "prefixlen": 32, "scope": "global"}
    links[0] = {**links[0], "addr_info": [virtual]}
    (host / "address").write_text(json.dumps(links))
    (host / "routes").write_text(routes)
    found = interfaces.find_overlap("ens9", {"ens9", "ens10"}, interfaces.gather_network())
    assert overlap in found if overlap else found is None


def test_answer_of_ip_that_was_cut_is_read_again(host):
    whole = interfaces.gather_network()
    script = host / "bin" / "ip"
    cut = f'if [ ! -e {host}/cut ]; then touch {host}/cut; printf "[{{"; exit 1; fi'
    first, rest = script.read_text().split("\n", 1)
    script.write_text(f"{first}\n{cut}\n{rest}")
    assert interfaces.gather_network() == whole


@pytest.mark.parametrize("item", ["enp0s9", "enp0s*", "ens9"])
def test_interface_is_found_by_its_other_name(host, item):
    names = {"ens9": ["enp0s9"], "ens10": ["ethernet0"]}
    (host / "address").write_text(
        json.dumps([{**each, "altnames": names.get(each.get("ifname"), [])} for each in LINKS])
    )
    assert choose(item)[0] == ["ens9"]
    _chosen, reasons, failed = interfaces.choose(interfaces.gather_network(), ["ethernet0"])
    why, fix = interfaces.choose(interfaces.gather_network(), ["ens10"])[1]["ens10"]
    assert (failed, reasons["ens10"]) == (["ens10"], (f"{why} (also named ethernet0)", fix))


@pytest.mark.parametrize(
    ("server", "name"),
    [("192.0.2.5", "eth0"), ("::ffff:192.0.2.5", "eth0"), ("fe80::5%eth0", "eth0"), ("192.0.2.6", None)],
)
def test_interface_of_the_ssh_connection_is_found(host, monkeypatch, server, name):
    addresses = [{"family": "inet", "local": each, "prefixlen": 24} for each in ("192.0.2.5", "fe80::5")]
    links = [{**each, "addr_info": addresses if each.get("ifname") == "eth0" else []} for each in LINKS]
    (host / "address").write_text(json.dumps(links))
    environment = f"A=1\0SSH_CONNECTION=192.0.2.9 40000 {server} 22\0"
    monkeypatch.setattr(interfaces.processes, "ancestors", lambda _pid: [interfaces.processes.Process(7, "S", 1, 1)])
    monkeypatch.setattr(interfaces.processes, "read", lambda _pid, _name: environment)
    assert interfaces.gather_network().over_ssh == name


@pytest.mark.parametrize(
    ("binding", "match", "is_bound"),
    [
        (("ens9", "", "no"), "", True),
        (("eth0", r"52\:54\:00\:00\:00\:03", "yes"), "", False),
        (("", r"52\:54\:00\:00\:00\:03", "no"), "", True),
        (("", "52:54:00:00:00:03", "no"), "", True),
        (("", r"52\:54\:00\:00\:00\:04", "yes"), "", False),
        (("", "", "no"), "eth*,ens*", True),
        (("", "", "no"), "|ens9", True),
        (("", "", "no"), "&!eth*", True),
        (("", "", "yes"), "!ens9", False),
        (("", "", "yes"), "ens*,!ens9", False),
        (("", "", "yes"), "ens1*", False),
        (("", "", "yes"), "", True),
        (("", "", "no"), "", False),
    ],
)
def test_choose_skips_an_interface_to_which_a_profile_is_bound(host, binding, match, is_bound):
    lines = BINDINGS.format(*binding).replace(UUID, OTHER) + (f"match.interface-name:{match}\n" if match else "")
    (host / "bindings").write_text(f"{BINDINGS.format('eth0', '', 'yes')}\n{lines}")
    (host / "connections").write_text(f"{CONNECTIONS}{OTHER}:802-3-ethernet:/etc/NetworkManager/x:another\n")
    chosen, reasons = choose("ens9")
    assert ("another" in reasons["ens9"][0]) if is_bound else chosen == ["ens9"]


def test_choose_names_one_of_two_profiles(host):
    lines = [BINDINGS.format("ens9", "", "no").replace(UUID, each) for each in (UUID, OTHER)]
    (host / "bindings").write_text("\n".join(lines))
    files = ((UUID, "/etc/x1:first"), (OTHER, "/etc/x2:second"))
    (host / "connections").write_text("".join(f"{uuid}:802-3-ethernet:{file}\n" for uuid, file in files))
    reason, fix = choose("ens9")[1]["ens9"]
    assert ("first" in reason, "/etc/x1" in reason, UUID in fix) == (True, True, True)


def test_profiles_that_disappear_twice_are_read_again(host):
    command = host / "bin" / "nmcli"
    gone = '*"show uuid"*) echo >>tries; [ $(wc -l <tries) -gt 2 ] || exit 10; cat bindings;;'
    command.write_text(command.read_text().replace('*"show uuid"*) cat bindings;;', gone))
    assert [each.uuid for each in interfaces.gather_network().profiles] == [UUID]


def test_device_on_top_of_an_interface_has_a_name(host, monkeypatch):
    monkeypatch.setattr(interfaces, "_UPPER", f"{host}/{{}}/upper_*")
    (host / "ens9" / "upper_ens9.7").mkdir(parents=True)
    assert {each.name: each.stacked for each in interfaces.gather_network().interfaces if each.stacked} == {
        "ens9": ("ens9.7",)
    }


def test_route_with_several_next_hops_is_a_route_of_each(host):
    hops = [{"gateway": "10.0.9.1", "dev": "ens9", "weight": 1, "flags": ["linkdown"]}, {"dev": "eth0", "flags": []}]
    (host / "routes").write_text(json.dumps([{"dst": "10.1.0.0/16", "nexthops": hops, "flags": []}]))
    seen = interfaces.gather_network()
    assert "(route 10.1.0.0/16 " in interfaces.choose(seen, ["*"])[1]["ens9"][0]
    assert not [line for line in seen.others(set()) if "linkdown" in line]


@pytest.mark.parametrize(
    ("route", "is_left"),
    [
        ({"dst": "10.99.1.0/24", "gateway": "10.77.1.1", "protocol": "boot"}, True),
        ({"dst": "10.99.1.0/24", "gateway": "10.77.1.1", "table": "100", "protocol": "static"}, True),
        ({"dst": "2001:db8:9::/48", "protocol": "bird"}, True),
        ({"dst": "10.99.1.0/24", "dev": "ens3", "protocol": "boot"}, False),
        ({"dst": "10.77.1.0/24", "protocol": "kernel"}, False),
        ({"dst": "default", "gateway": "10.77.1.1", "protocol": "dhcp"}, False),
        ({"dst": "2001:db8:7::/64", "protocol": "ra"}, False),
        ({"dst": "fe80::/64", "protocol": "static"}, False),
        ({"dst": "10.77.1.9", "table": "local", "protocol": "static"}, False),
    ],
)
def test_release_leaves_an_interface_that_is_used(host, monkeypatch, route, is_left):
    """By a route that was added, or by another device."""
    seen = interfaces.gather_network()
    each = next(each for each in seen.interfaces if each.name == "ens9")
    monkeypatch.setattr(adoption, "_lines_of_profile", lambda uuid, profiles: [])
    seen = seen._replace(routes=[*seen.routes, {"dst": "default", "dev": "ens3"}, {"dev": "ens9", **route}])
    ours = {"uuid": UUID, "keyfile": []}
    reason = adoption._why_not_released(each, ours, seen)
    assert bool(reason) is is_left, reason
    for more in ({"port_of": "br0"}, {"stacked": ("ens9.7",)}):
        assert "is used by" in adoption._why_not_released(each._replace(**more), ours, seen)[0]
