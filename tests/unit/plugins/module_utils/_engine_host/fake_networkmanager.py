"""A host with NetworkManager: what the commands of an adoption show and change."""

import fnmatch
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import adoption, interfaces
from ansible_collections.slb.fleet.plugins.module_utils._system import commands, folders, locks
from ansible_collections.slb.fleet.plugins.module_utils._system.commands import Completed

UUID = "97ba0a7a-6000-45f4-8b37-a3ad22bce{:03x}"
UP = ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"]
SSH = {"family": "inet", "local": "198.51.100.7", "prefixlen": 24, "scope": "global"}
LEASE = {"family": "inet", "local": "192.0.2.50", "prefixlen": 24, "scope": "global", "dynamic": True}
DEFAULT = {"dst": "default", "gateway": "198.51.100.1", "dev": "eth0"}


def link(name: str, ifindex: int, **more: Any) -> dict[str, Any]:
    """Return one interface as `ip -json address` shows it."""
    known = {"ifindex": ifindex, "ifname": name, "flags": UP, "mtu": 1500, "link_type": "ether", "addr_info": []}
    return {**known, "address": f"52:54:00:00:00:{ifindex:02x}", **more}


CODES = {"unmanaged": 10, "unavailable": 20, "disconnected": 30, "connecting": 70, "connected": 100}


def shown(name: str, state: str, connection: str = "", uuid: str = "", reason: str = "0 (No reason given)") -> str:
    """Return a device as `nmcli -t device show` prints it."""
    values = {"DEVICE": name, "STATE": f"{CODES[state.partition(' ')[0]]} ({state})", "REASON": reason}
    values.update({"CONNECTION": connection, "CON-UUID": uuid})
    return "".join(f"GENERAL.{key}:{value}\n" for key, value in values.items())


@dataclass
class Device:
    state: str = "disconnected"
    uuid: str = ""
    addresses: list[dict[str, Any]] = field(default_factory=list)
    flags: list[str] = field(default_factory=lambda: list(UP))
    lease: str = ""


@dataclass
class FakeHost:
    """``failing``: parts of commands that fail. ``on_up``: called after an interface has come up."""

    folder: Path
    devices: dict[str, Device]
    has_lease: bool = True
    second_mac: str = ""
    failing: set[str] = field(default_factory=set)
    routes: list[dict[str, Any]] = field(default_factory=lambda: [dict(DEFAULT)])
    profiles: dict[str, dict[str, str]] = field(default_factory=dict)
    timers: set[str] = field(default_factory=set)
    shell: list[str] = field(default_factory=list)
    zone: str = ""
    networking: str = "enabled"
    has_systemd: bool = True
    has_read_only_profiles: bool = False
    on_up: Any = None

    def path(self, uuid: str) -> Path:
        is_saved = self.profiles[uuid]["connection.autoconnect"] == "yes"
        return (self.folder / "saved" if is_saved else Path("/run/NetworkManager/system-connections")) / uuid

    def attempt(self, argv: list[str], timeout: float) -> Completed:
        line = " ".join(argv)
        if any(part in line for part in self.failing):
            return Completed(4, "", "it failed")
        program, *words = argv
        answer = getattr(self, "_" + Path(program).name.replace("-", "_").lower())(words)
        if isinstance(answer, Completed):
            return answer
        return Completed(*((0, answer) if isinstance(answer, str) else (answer, "")), "")

    def _ip(self, words: list[str]) -> Any:
        if "address" in words:
            devices = enumerate(self.devices.items(), 2)
            links = [link(name, n, flags=each.flags, addr_info=each.addresses) for n, (name, each) in devices]
            return json.dumps([each for each in links if "dev" not in words or each["ifname"] == words[-1]])
        return json.dumps(self.routes) if "-4" in words else ""

    def _bridge(self, words: list[str]) -> str:
        macs = ["33:33:00:00:00:01", *([self.second_mac] if words[-1] == "ens9" and self.second_mac else [])]
        return json.dumps([{"mac": mac, "flags": ["self"], "state": "permanent"} for mac in macs])

    def _nmcli(self, words: list[str]) -> Any:
        assert words[:3] == ["--terse", "--escape", "yes"], words
        words = [word for word in words[3:] if word != "--temporary"]
        if words[0] == "--wait":
            words = words[2:]
        line = " ".join(words)
        if line == "networking":
            return self.networking
        if line.startswith("-f GENERAL.DEVICE"):
            return "\n\n".join(shown(name, each.state, "", each.uuid) for name, each in self.devices.items())
        if line.startswith("-g GENERAL.DBUS-PATH"):
            return f"/devices/{words[-1]}"
        if line.endswith("connection show"):
            return "".join(f"{uuid}:802-3-ethernet:{self.path(uuid)}:a name\n" for uuid in self.profiles) or "x:vpn::\n"
        if line.startswith("--fields DHCP4,DHCP6 device show"):
            device = self.devices[words[-1]]
            leased = [each["local"] for each in device.addresses if each == LEASE]
            return "\n".join([device.lease, *(f"DHCP4.OPTION[9]:ip_address = {each}" for each in leased)])
        if line.startswith("-g GENERAL"):
            device = self.devices[words[-1]]
            return f"{'100 (connected)' if device.state == 'connected' else '30 (disconnected)'}\n{device.uuid}"
        if line.startswith("--fields connection.uuid"):
            uuids = words[words.index("show") + 2 :: 2]
            if not set(uuids) <= set(self.profiles):
                return 10
            return "\n".join(
                f"connection.uuid:{uuid}\nconnection.interface-name:{self.profiles[uuid]['ifname']}\n" for uuid in uuids
            )
        if words[:2] == ["connection", "add"]:
            uuid = UUID.format(len(self.profiles))
            self.profiles[uuid] = dict(zip(words[4::2], words[5::2], strict=True))
            return f"Connection '{words[7]}' ({uuid}) successfully added."
        if words[:2] in (["connection", "up"], ["connection", "modify"]) and words[3] not in self.profiles:
            return 10
        if words[:2] == ["connection", "up"]:
            return self._up(words[3]) if self.has_lease or "ipv4.method" in self.profiles[words[3]] else 4
        if words[:2] == ["device", "reapply"]:
            return self._up(next(uuid for uuid, each in self.profiles.items() if each["ifname"] == words[2]))
        if words[:2] == ["connection", "delete"]:
            return self._delete(words[3])
        assert words[:2] == ["connection", "modify"], words
        self._modify(words[3], words[4:])
        return ""

    def _up(self, uuid: str) -> str:
        device = self.devices[self.profiles[uuid]["ifname"]]
        device.state, device.uuid = "connected", uuid
        device.addresses = [LEASE] if self.has_lease else []
        if self.on_up:
            self.on_up(self)
        return ""

    def _modify(self, uuid: str, words: list[str]) -> None:
        self.profiles[uuid].update(zip(words[::2], words[1::2], strict=True))
        path = self.path(uuid)
        if path.parent.name == "saved":
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(f"{key}={value}\n" for key, value in self.profiles[uuid].items()))

    def _delete(self, uuid: str) -> Any:
        profile = self.profiles.pop(uuid, None)
        if profile is None:
            return 10
        device = self.devices.get(profile["ifname"])
        if device and device.uuid == uuid:
            foreign = [each for each in device.addresses if not each.get("dynamic")]
            self.devices[profile["ifname"]] = Device(addresses=foreign)
        path = self.folder / "saved" / uuid
        if path.exists() and not self.has_read_only_profiles:
            path.unlink()
        return ""

    def _busctl(self, words: list[str]) -> Any:
        """Reapply with the flag that keeps addresses of other programs; NetworkManager before 1.42 refuses it."""
        return self._up(next(u for u, each in self.profiles.items() if words[2].endswith(each["ifname"])))

    def _systemd_run(self, words: list[str]) -> Any:
        unit = words[words.index("--unit") + 1]
        if "--wait" in words:
            self._sh(words[-1:])
            return Completed(0, "", "", is_killed=f"{unit}.service" in self.timers)
        self.timers.add(f"{unit}.timer")
        self.shell.append(" ".join(words))
        return ""

    def _systemctl(self, words: list[str]) -> Any:
        if words[0] == "is-active":
            return "active" if fnmatch.filter(self.timers, words[1]) else 3
        self.timers.discard(words[1])
        return ""

    def _firewall_cmd(self, words: list[str]) -> Any:
        return f"{self.zone}\n" if self.zone else 2

    def _networkmanager(self, words: list[str]) -> int:
        return 1

    def _sh(self, words: list[str]) -> str:
        """Run a command, or the script of a rollback as far as it concerns profiles."""
        if words[0] == "-c":
            self.shell.append(words[1])
            for uuid in re.findall(r"^free \S+ (\S+)$", words[1], re.MULTILINE):
                self._delete(uuid)
            return ""
        script = Path(words[0])
        armed = script.parent / "armed"
        if armed.exists():
            armed.rename(script.parent / "rolled_back")
            for uuid in [uuid for uuid in self.profiles if uuid in script.read_text()]:
                self._delete(uuid)
        return ""


def make_host(folder: Path, monkeypatch: Any) -> FakeHost:
    """Return a host with eth0, over which SSH comes, and ens9 and ens10, which have no address."""
    host = FakeHost(folder, {"eth0": Device("connected", "", [dict(SSH)]), "ens9": Device(), "ens10": Device()})
    exists, isdir = os.path.exists, os.path.isdir
    monkeypatch.setattr(os.path, "exists", lambda path: "/sys/class/net/e" in str(path) or exists(path))
    monkeypatch.setattr(
        os.path, "isdir", lambda path: host.has_systemd if path == "/run/systemd/system" else isdir(path)
    )
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(folders, "untrusted", lambda _folder: None)
    monkeypatch.setattr(commands, "find", lambda name: name)
    monkeypatch.setattr(commands, "attempt", host.attempt)
    monkeypatch.setattr(interfaces, "_find_ssh_interface", lambda _interfaces: "eth0")
    monkeypatch.setattr(adoption.waiting, "wait_for", lambda condition, *_times: condition())
    monkeypatch.setattr(adoption, "CHANGES", str(folder / "changes"))
    monkeypatch.setattr(locks, "FOLDER", str(folder / "changes"))
    monkeypatch.setattr(adoption, "ADOPTED", str(folder / "adopted" / "interfaces.json"))
    monkeypatch.setattr(adoption.rollback, "IPV6", str(folder / "{}-{}"))
    monkeypatch.setattr(adoption, "_check_profiles_can_change", lambda: None)
    return host
