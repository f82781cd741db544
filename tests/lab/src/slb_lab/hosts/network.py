"""A host's additional network interfaces: the files from which the host makes them again at each boot.

Each is a veth whose other end has the same name in the host's network namespace ``lan``. The NIC number K of a host
is in 10.77.K.0/24 and fd77:0:0:K::/64: its LAN end is .1, itself, if it has addresses, .2; behind the LAN end there
is 10.99.K.1 and fd99:0:0:K::1.
"""

from slb_lab.topology import HostSpec, NicSpec

_WITH_KERNEL_ADDRESSES = ("static", "external")


def network_files(host: HostSpec) -> dict[str, str]:
    """The files for a HOST's NICs, by path; none if it has none."""
    if not host.nics:
        return {}
    numbered = [(number, name, nic) for number, (name, nic) in enumerate(host.nics.items(), start=1)]
    here = [line for number, name, nic in numbered for line in _host_end(number, name, nic)]
    there = [line for number, name, _ in numbered for line in _lan_end(number, name)]
    made = {
        "etc/slb-lab/nics.batch": _lines(here),
        "etc/slb-lab/lan.batch": _lines(["link set lo up", *there]),
        "etc/NetworkManager/conf.d/20-slb-lab-nics.conf": _networkmanager(host.nics),
    }
    servers = []
    for number, name, nic in numbered:
        if nic.kind == "ifupdown":
            made[f"etc/network/interfaces.d/{name}"] = _ifupdown(number, name)
        if nic.dhcp != "none":
            made[f"etc/slb-lab/dhcp-{name}"] = f"RANGE=10.77.{number}.100,10.77.{number}.199\n"
            servers.append(f"slb-lab-dhcp@{name}.service")
    if servers:
        made["etc/systemd/system/slb-lab-nics.service.d/dhcp.conf"] = f"[Unit]\nWants={' '.join(servers)}\n"
    return made


def _host_end(number: int, name: str, nic: NicSpec) -> list[str]:
    lines = [f"link add {name} type veth peer name {name} netns lan"]
    if nic.kind != "ifupdown":
        lines.append(f"link set {name} up")
    if nic.kind in _WITH_KERNEL_ADDRESSES:
        lines += [
            f"address add 10.77.{number}.2/24 dev {name}",
            f"address add fd77:0:0:{number}::2/64 dev {name} nodad",
            f"route add 10.99.{number}.0/24 via 10.77.{number}.1 dev {name}",
            f"route add fd99:0:0:{number}::/64 via fd77:0:0:{number}::1 dev {name}",
        ]
    return lines


def _lan_end(number: int, name: str) -> list[str]:
    return [
        f"link set {name} up",
        f"address add 10.77.{number}.1/24 dev {name}",
        f"address add fd77:0:0:{number}::1/64 dev {name} nodad",
        f"address add 10.99.{number}.1/32 dev lo",
        f"address add fd99:0:0:{number}::1/128 dev lo",
    ]


def _networkmanager(nics: dict[str, NicSpec]) -> str:
    """As administrators and images write it. One that is only unmanaged may still be connected."""
    automatic = "".join(f",except:interface-name:{name}" for name, nic in nics.items() if nic.kind == "auto_profile")
    strictly = ",".join(f"interface-name:{name}" for name, nic in nics.items() if nic.kind == "strictly_unmanaged")
    lines = ["[main]", f"no-auto-default=*{automatic}"]
    if strictly:
        lines += ["[keyfile]", f"unmanaged-devices={strictly}"]
    for name, nic in nics.items():
        if nic.kind in ("unmanaged", "static"):
            lines += [f"[device-{name}]", f"match-device=interface-name:{name}", "managed=0"]
    return _lines(lines)


def _ifupdown(number: int, name: str) -> str:
    return _lines(
        [
            f"auto {name}",
            f"iface {name} inet static",
            f"    address 10.77.{number}.2/24",
            f"    up ip route add 10.99.{number}.0/24 via 10.77.{number}.1 dev {name}",
            f"iface {name} inet6 static",
            f"    address fd77:0:0:{number}::2/64",
            "    dad-attempts 0",
        ]
    )


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
