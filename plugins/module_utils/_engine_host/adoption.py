# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adopt interfaces into NetworkManager and release them. An adoption that is not confirmed is rolled back by a timer.

``/run/slb-fleet/<token>/`` has the state of a change. The file ``armed`` in it is renamed to ``confirmed`` or to
``rolled_back``: the rename is atomic, so only one of the controller and the timer succeeds. A reboot empties /run, and
with it unsaved profiles, timer and script.
"""

import contextlib
import fnmatch
import glob
import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import interfaces, rollback
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.interfaces import Interface, NetworkState, nmcli
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system import commands, files, folders, processes, waiting
from ansible_collections.slb.fleet.plugins.module_utils._system.locks import FOLDER as CHANGES
from ansible_collections.slb.fleet.plugins.module_utils._system.locks import locked

ADOPTED = "/var/lib/slb-fleet/interfaces.json"
_PROFILES = "/etc/NetworkManager/system-connections"
_SERVICE = "org.freedesktop.NetworkManager"
_KEEP_FOREIGN = "1"  # flag of Reapply since NetworkManager 1.42: addresses of other programs stay
_ACTIVATION_SECONDS = 30
_RESTORE_SECONDS = 30
_ROLLBACK_SECONDS = 120
_ZONE_SECONDS = 30  # it is slow, and slower on a busy host
_NOT_OURS = ("not adopted by this collection", "Nothing to release.")
_BY_HAND = "Adopt this host's interfaces by hand."
_LEAVE = "Leave it to that program, or stop the program."
_SEE_JOURNAL = "See `journalctl --unit NetworkManager` on the host."


class Wanted(NamedTuple):
    """The options of the module. Times are in seconds."""

    interfaces: List[str]
    allow_unmatched: bool
    dhcp_timeout: int
    confirm_timeout: int
    token: str

    @property
    def seconds(self) -> int:
        """Return after how long the timer rolls the change back if it is not confirmed."""
        return self.dhcp_timeout + _ACTIVATION_SECONDS + self.confirm_timeout


def adopt(wanted: Wanted, check_mode: bool) -> Result:
    """Adopt interfaces. Unless it is check mode, the change waits for ``confirm``. Raises FleetError."""
    with locked("lock", 1, check_mode):
        rolled_back = _roll_back_stale(check_mode)
        network = _gather_network()
        chosen, reasons, failed = interfaces.choose(network, wanted.interfaces, wanted.allow_unmatched)
        if failed:
            raise _not_adopted(failed, reasons, network)
        has_default_route = bool(network.default_routes)
        has_ipv6 = {interface.name: _read_ipv6(interface.name).get("disable_ipv6") != "1" for interface in chosen}
        settings = {
            name: make_profile(_zone(name), wanted.dhcp_timeout, has_default_route, has_ipv6[name]) for name in has_ipv6
        }
        if chosen:
            _check_profiles_can_change()
        adopted: List[Dict[str, Any]] = [
            {"name": interface.name, "mac": interface.mac, "settings": settings[interface.name]} for interface in chosen
        ]
        values: Dict[str, Any] = {"rolled_back": rolled_back}
        if chosen and not check_mode:
            try:
                up, removed = _change(wanted, network, chosen, settings)
            except Exception as error:
                folder = os.path.join(CHANGES, wanted.token)
                if not os.path.exists(os.path.join(folder, "armed")):
                    raise
                known = error if isinstance(error, FleetError) else FleetError("", repr(error), _BY_HAND)
                raise _roll_back(folder, known.summary.rstrip("."), known.fix) from error
            reasons.update(removed)
            adopted = [{**interface, **up[interface["name"]]} for interface in adopted if interface["name"] in up]
            if adopted:
                values["token"] = wanted.token
        left_alone = [
            _skipped(interface, reasons[interface.name])
            for interface in network.interfaces
            if interface.name in reasons
        ]
        values.update(adopted=adopted, left_alone=left_alone)
        after = {interface["name"]: interface["settings"] for interface in adopted}
        diff = {
            "before": {interface.name: {"state": interface.state} for interface in chosen if interface.name in after},
            "after": after,
        }
        return Result(bool(adopted or rolled_back), values, diff)


def make_profile(zone: str, dhcp_timeout: int, has_default_route: bool, has_ipv6: bool = True) -> Dict[str, str]:
    """Return the settings of the profile of an interface.

    On a host that has a default route, a lease brings nothing but the address and its subnet.
    """
    settings = {"ipv4.dhcp-timeout": str(dhcp_timeout + 15), "ethernet.cloned-mac-address": "preserve"}
    if zone:
        settings["connection.zone"] = zone
    # What NetworkManager does not manage, it does not flush either.
    settings["ipv6.method"] = "ignore" if has_ipv6 else "disabled"
    if has_default_route:
        settings.update(
            {f"ipv4.{setting}": "yes" for setting in ("never-default", "ignore-auto-dns", "ignore-auto-routes")}
        )
    return settings


def confirm(token: str, check_mode: bool) -> Result:
    """Save the profiles of a change (check mode has none). Raises FleetError if it was rolled back. Idempotent."""
    folder = os.path.join(CHANGES, token)
    with locked("lock", 1, check_mode):
        if check_mode or os.path.exists(os.path.join(folder, "confirmed")):
            return Result(False, {})
        try:
            with open(os.path.join(folder, "change.json")) as stream:
                change = json.load(stream)
        except OSError:
            raise FleetError("rolled_back", f"Change {token} unknown on this host.", "Run again.") from None
        if not os.path.exists(os.path.join(folder, "armed")):
            raise FleetError("rolled_back", "Change rolled back: not confirmed in time.", "Run again.")
        _check(folder, change)
        before = _read_adopted()
        adopted = dict(before)
        try:
            for each in change["interfaces"].values():
                lasting = ("connection.autoconnect", "yes", "ipv4.dhcp-timeout", each["dhcp_timeout"])
                nmcli("connection", "modify", "uuid", each["uuid"], *lasting)
            profiles = interfaces.gather_network().profiles
            for name, each in change["interfaces"].items():
                adopted[name] = {**each, "keyfile": _lines_of_profile(each["uuid"], profiles)}
            _write_adopted(adopted)
            os.rename(os.path.join(folder, "armed"), os.path.join(folder, "confirmed"))
        except (FleetError, FileNotFoundError):
            if os.path.exists(os.path.join(folder, "armed")):
                raise
            _write_adopted(before)
            raise FleetError("rolled_back", "Change rolled back: not confirmed in time.", "Run again.") from None
        _systemctl("stop", f"slb-fleet-{token}.timer")
    return Result(True, {})


def release(wanted: List[str], check_mode: bool) -> Result:
    """Delete the profiles that ``adopt`` made. Raises FleetError if one of them was changed or is in use."""
    with locked("lock", 1, check_mode):
        rolled_back = _roll_back_stale(check_mode)
        adopted = _read_adopted()
        try:
            network = _gather_network()
        except FleetError:
            if adopted or not all("*" in item for item in wanted):
                raise
            # Nothing was adopted on a host without NetworkManager.
            return Result(bool(rolled_back), {"released": [], "left_alone": [], "rolled_back": rolled_back})
        if adopted:
            _check_profiles_can_change()
        released: List[Dict[str, Any]] = []
        refused: Dict[str, interfaces.Reason] = {}
        present = [interface.name for interface in interfaces.matching(network, wanted)]
        left_alone = [_skipped(each, _NOT_OURS) for each in network.interfaces if each.name in {*present} - {*adopted}]
        # Also of one that was removed or renamed: its profile would connect it when it returns.
        absent = sorted(adopted.keys() - {interface.name for interface in network.interfaces})
        gone = [name for name in absent if any(fnmatch.fnmatchcase(name, item) for item in wanted)]
        for name in [*(name for name in present if name in adopted), *gone]:
            ours = adopted[name]
            path = next((profile.path for profile in network.profiles if profile.uuid == ours["uuid"]), "")
            device = _find_device(name, ours["uuid"], network)
            reason = _why_not_released(device, ours, network) if path else None
            if reason is None and not check_mode:
                reason = _release(device, ours, path)
            if reason is not None:
                refused[name] = reason
                continue
            released.append({"name": name, "uuid": ours["uuid"], "was_deleted": not path})
            if not check_mode:
                del adopted[name]
                _write_adopted(adopted)
        missing = [each for each in wanted if not (interfaces.matching(network, [each]) or fnmatch.filter(gone, each))]
        if missing or refused:
            # Also for a pattern: what was adopted remains.
            raise _not_adopted([*missing, *refused], refused, network, "released", released=released)
        diff = {"before": {interface["name"]: interface["uuid"] for interface in released}, "after": {}}
        values = {"released": released, "left_alone": left_alone, "rolled_back": rolled_back}
        return Result(bool(released or rolled_back), values, diff)


def _change(
    wanted: Wanted, network: NetworkState, chosen: List[Interface], settings: Dict[str, Dict[str, str]]
) -> Tuple[Dict[str, Dict[str, Any]], Dict[str, interfaces.Reason]]:
    """Make the profiles, arm the timer, bring the interfaces up side by side, and compare the rest of the host.

    Return UUID and addresses of each adopted one, and why others were removed. Raises FleetError after a rollback.
    """
    if not os.path.isdir("/run/systemd/system"):
        raise FleetError("rollback_impossible", "Adoption refused: no systemd on the host.", "Adopt by hand.")
    folder = os.path.join(CHANGES, wanted.token)
    change = _make_profiles(folder, wanted, network, chosen, settings)
    entries = change["interfaces"]

    def bring_up(interface: Interface) -> Optional[interfaces.Reason]:
        return _bring_up(interface.name, entries[interface.name], wanted.dhcp_timeout)

    with ThreadPoolExecutor(len(chosen)) as side_by_side:
        reasons = dict(zip([interface.name for interface in chosen], side_by_side.map(bring_up, chosen)))
    troubles = {name: (f"did not come up: {reason[0]}", reason[1]) for name, reason in reasons.items() if reason}
    troubles.update(_find_troubles(reasons.keys() - troubles.keys(), interfaces.gather_network()))
    for interface in chosen:
        if interface.name in troubles and interfaces.is_named(interface, wanted.interfaces):
            why, fix = troubles[interface.name]
            raise _roll_back(folder, f"{interface.name} {why}", fix)
    if len(troubles) == len(chosen):
        _roll_back(folder, "no interface is left")
        return {}, troubles
    if troubles:
        _delete_profiles({name: entries.pop(name) for name in troubles})
        _write_change(folder, change)
    after = [interface for interface in _check(folder, change).interfaces if interface.name in entries]
    up = {each.name: {"uuid": entries[each.name]["uuid"], "addresses": each.global_addresses} for each in after}
    return up, troubles


def _make_profiles(
    folder: str, wanted: Wanted, network: NetworkState, chosen: List[Interface], settings: Dict[str, Dict[str, str]]
) -> Dict[str, Any]:
    """Make the profiles and arm the timer; return what a rollback restores. If it fails, nothing has changed."""
    os.mkdir(folder, 0o700)
    # When NetworkManager stops asking for a lease, it removes addresses of other programs: not during a rollback.
    dhcp_timeout = wanted.seconds + _ROLLBACK_SECONDS
    entries: Dict[str, Dict[str, Any]] = {}
    try:
        for interface in chosen:
            entries[interface.name] = {
                "zone": settings[interface.name].get("connection.zone", ""),
                "was_up": interface.is_up,
                "had_link_local": any(address.get("scope") == "link" for address in interface.addresses),
                "ipv6": _read_ipv6(interface.name),
                "dhcp_timeout": settings[interface.name]["ipv4.dhcp-timeout"],
                "uuid": _add_profile(interface.name, settings[interface.name], dhcp_timeout),
            }
        change = {
            "interfaces": entries,
            "others": sorted(network.others(set(entries))),
            "default_routes": sorted(network.default_routes),
        }
        _arm(folder, change, wanted)
    except BaseException:
        for entry in entries.values():
            with contextlib.suppress(FleetError):
                nmcli("connection", "delete", "uuid", entry["uuid"])
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return change


def _delete_profiles(entries: Dict[str, Dict[str, Any]]) -> None:
    """Delete the profiles of interfaces, and restore what a profile does not hold. Raises FleetError."""
    script = rollback.deletion_script(CHANGES, entries)
    if commands.attempt(["sh", "-c", script], 4 * _RESTORE_SECONDS * len(entries)).rc != 0:
        uuids = ", ".join(entry["uuid"] for entry in entries.values())
        raise FleetError("nmcli_failed", f"Profile {uuids} not deleted.", _SEE_JOURNAL)


def _find_device(name: str, uuid: str, network: NetworkState) -> Optional[Interface]:
    """Return the interface that uses the profile, or that has the name and uses none. One of another profile stays."""
    devices = [each for each in network.interfaces if each.uuid == uuid or (each.name == name and not each.uuid)]
    return next(iter(sorted(devices, key=lambda each: each.uuid != uuid)), None)


def _release(device: Optional[Interface], entry: Dict[str, Any], path: str) -> Optional[interfaces.Reason]:
    """Delete the profile in the file ``path``; if a person has deleted it, restore the rest. Return why it remains."""
    if device is None:
        if path:
            nmcli("connection", "delete", "uuid", entry["uuid"])
    elif not path:
        commands.attempt(["sh", "-c", rollback.restoring_script({device.name: entry})], _RESTORE_SECONDS)
    else:
        _delete_profiles({device.name: entry})
    if os.path.exists(path):
        return f"its file remains ({path}), and would connect it again after a boot", f"Remove {path}, then run again."
    return None


def _check_profiles_can_change() -> None:
    """Raise FleetError if NetworkManager cannot write its profiles, in its own mount namespace."""
    running = [pid for pid in processes.pids() if processes.read(pid, "comm").strip() == "NetworkManager"]
    for root in [f"/proc/{pid}/root" for pid in running if processes.owner(pid) == 0]:
        with contextlib.suppress(OSError):
            is_read_only = os.statvfs(root + _PROFILES).f_flag & os.ST_RDONLY
            if is_read_only or files.is_fixed(root + _PROFILES):
                summary = f"Profiles cannot be changed: {_PROFILES} is read-only for NetworkManager."
                fix = "Make it writable (mount, chattr, ReadOnlyPaths= of NetworkManager.service), then run again."
                raise FleetError("profiles_read_only", summary, fix)


def _write_change(folder: str, change: Dict[str, Any]) -> str:
    """Write the change and the script that rolls it back, and return the path of the script."""
    files.write_atomically(os.path.join(folder, "change.json"), json.dumps(change))
    script = os.path.join(folder, "roll_back")
    files.write_atomically(script, rollback.make_script(folder, change["interfaces"]))
    return script


def _arm(folder: str, change: Dict[str, Any], wanted: Wanted) -> None:
    script = _write_change(folder, change)
    files.write_atomically(os.path.join(folder, "armed"), "")
    timer = ["systemd-run", "--collect", f"--on-active={wanted.seconds}", "--timer-property=AccuracySec=100ms"]
    done = commands.attempt([*timer, "--unit", f"slb-fleet-{wanted.token}", "/bin/sh", script], 10)
    if done.rc != 0:
        raise FleetError("rollback_impossible", f"Timer for the rollback not set: {done.words}.", "Repair systemd.")


def _bring_up(name: str, entry: Dict[str, Any], dhcp_timeout: int) -> Optional[interfaces.Reason]:
    """Return why the interface is not up; None if it is. Without a lease it is up without an address.

    As the vendor's procedure: `nmcli d connect`, and if nothing answers, the method off and `nmcli d reapply`.
    """
    uuid = entry["uuid"]
    up = ("connection", "up", "uuid", uuid, "ifname", name)
    foreign = interfaces.read_addresses(name)
    if foreign:  # an activation would remove it
        return f"has {interfaces.cidr(foreign[0])} of another program", _LEAVE
    with contextlib.suppress(FleetError):
        nmcli("--wait", str(dhcp_timeout), *up, seconds=dhcp_timeout + interfaces.NMCLI_SECONDS)
    try:
        if not _is_connected(name, uuid):
            nmcli("connection", "modify", "--temporary", "uuid", uuid, "ipv4.method", "disabled")
            trouble = _apply_without_address(name, up)
            if trouble:
                return trouble
        if not waiting.wait_for(lambda: _is_connected(name, uuid), 10, 0.5):
            return "NetworkManager does not report the interface as connected", _SEE_JOURNAL
    except FleetError as error:
        return error.summary.rstrip("."), _SEE_JOURNAL
    # NetworkManager 1.30 switches forwarding off, and all versions have the kernel listen to routers, and restore what
    # disable_ipv6 was when they began to manage the interface.
    for key, value in entry["ipv6"].items():
        with contextlib.suppress(OSError), open(rollback.IPV6.format(name, key), "w") as stream:
            stream.write(value)
    return None


def _apply_without_address(name: str, up: Tuple[str, ...]) -> Optional[interfaces.Reason]:
    """Apply the profile without IPv4 to the device, and keep the addresses of other programs; return why it failed."""
    path = "".join(nmcli("-g", "GENERAL.DBUS-PATH", "device", "show", name))
    call = ["busctl", "call", _SERVICE, path, f"{_SERVICE}.Device", "Reapply", "a{sa{sv}}tu", "0", "0", _KEEP_FOREIGN]
    with contextlib.suppress(OSError):
        if commands.attempt(call, interfaces.NMCLI_SECONDS).rc == 0:
            return None
    before = interfaces.read_addresses(name)
    if before:
        return f"has {interfaces.cidr(before[0])} of another program", _LEAVE
    try:
        nmcli("device", "reapply", name)
    except FleetError:
        nmcli("--wait", "10", *up, seconds=10 + interfaces.NMCLI_SECONDS)
    return None


def _is_connected(name: str, uuid: str) -> bool:
    answer = nmcli("-g", "GENERAL.STATE,GENERAL.CON-UUID", "device", "show", name)
    return len(answer) == 2 and answer[0].startswith("100") and answer[1] == uuid


def _check(folder: str, change: Dict[str, Any]) -> NetworkState:
    """Return the new state. Raises FleetError ``network_changed``, after a rollback, if anything else has changed."""
    after, names = interfaces.gather_network(), set(change["interfaces"])
    lost = sorted(set(change["others"]) - after.others(names))
    new = sorted(after.default_routes - set(change["default_routes"])) if change["default_routes"] else []
    whys = [(f"{each} is gone", _BY_HAND) for each in lost] + [(f"{each} is new", _BY_HAND) for each in new]
    whys += [(f"{name} {why}", fix) for name, (why, fix) in _find_troubles(names, after).items()]
    if whys:
        raise _roll_back(folder, *whys[0])
    return after


def _find_troubles(names: Set[str], after: NetworkState) -> Dict[str, interfaces.Reason]:
    """Return why interfaces that came up are not kept, by name."""
    troubles: Dict[str, interfaces.Reason] = {}
    for interface in [interface for interface in after.interfaces if interface.name in names]:
        added, overlap = _added_addresses(interface), interfaces.find_overlap(interface.name, names, after)
        if added:
            troubles[interface.name] = f"got {added[0]} from another program", _LEAVE
        elif overlap:
            troubles[interface.name] = f"got {overlap}", "Correct the DHCP server, or adopt the interface by hand."
    return troubles


def _added_addresses(interface: Interface) -> List[str]:
    """Return the addresses that no lease and no router explains. Raises FleetError."""
    lasting = interface.lasting_addresses
    options = " ".join(nmcli("--fields", "DHCP4,DHCP6", "device", "show", interface.name)) if lasting else ""
    leased = re.findall(r"\bip6?_address = (\S+)", options.replace("\\", ""))
    return [address for address in lasting if address.partition("/")[0] not in leased]


def _roll_back(folder: str, why: str, fix: str = _BY_HAND) -> FleetError:
    """Roll the change back now, and return the error to raise."""
    if not _run_script(folder):
        return FleetError("network_changed", f"Adoption is being rolled back: {why}.", f"Wait for its end. {fix}")
    _systemctl("stop", f"slb-fleet-{os.path.basename(folder)}.timer")
    return FleetError("network_changed", f"Adoption rolled back: {why}.", fix)


def _run_script(folder: str) -> bool:
    """Return whether the script of a rollback has ended. systemd runs it, so that it outlives this module."""
    script, unit = os.path.join(folder, "roll_back"), f"slb-fleet-{os.path.basename(folder)}-now"
    run = ["systemd-run", "--collect", "--wait", "--unit", unit, "/bin/sh", script]
    done = commands.attempt(run, _ROLLBACK_SECONDS)
    if os.path.exists(os.path.join(folder, "armed")):  # systemd did not run it
        done = commands.attempt(["/bin/sh", script], _ROLLBACK_SECONDS)
    return not done.is_killed


def _roll_back_stale(check_mode: bool) -> List[str]:
    """Roll back changes whose timer is gone, and return their interfaces. Raises FleetError if a timer still runs."""
    rolled_back = []
    for folder in sorted(each.rstrip("/") for each in glob.glob(os.path.join(CHANGES, "*", ""))):
        token = os.path.basename(folder)
        is_stale = os.path.exists(os.path.join(folder, "armed"))
        # The first command of its script ends "armed", the others take their time.
        is_open = not os.path.exists(os.path.join(folder, "confirmed"))
        is_in_progress = is_open and _systemctl("is-active", f"slb-fleet-{token}*")
        if is_in_progress or (is_stale and not check_mode and not _run_script(folder)):
            fix = "Wait for its confirmation or rollback, then run again."
            raise FleetError("change_in_progress", "Another change of interfaces is in progress.", fix)
        if is_stale:
            with open(os.path.join(folder, "change.json")) as stream:
                rolled_back += sorted(json.load(stream)["interfaces"])
        if not check_mode:
            shutil.rmtree(folder, ignore_errors=True)
    return rolled_back


def _add_profile(name: str, settings: Dict[str, str], dhcp_timeout: int) -> str:
    settings = dict(settings, **{"ipv4.dhcp-timeout": str(dhcp_timeout)})
    words = [word for key in sorted(settings) for word in (key, settings[key])]
    added = ("connection", "add", "save", "no", "type", "ethernet", "con-name", name, "ifname", name)
    answer = "\n".join(nmcli(*added, "connection.autoconnect", "no", *words))
    uuid = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", answer)
    if uuid is None:
        raise FleetError("nmcli_failed", f"Profile of {name} not made: {answer!r}.", "Run `nmcli connection` there.")
    return uuid.group()


def _gather_network() -> NetworkState:
    """Return the state of the network. Raises FleetError if nothing can be changed."""
    network = interfaces.gather_network()
    if nmcli("networking") != ["enabled"]:
        raise FleetError("networking_disabled", "NetworkManager's networking is off.", "Run `nmcli networking on`.")
    return network


def _read_ipv6(name: str) -> Dict[str, str]:
    """Return the IPv6 settings of the kernel that NetworkManager changes, in the order to restore them."""
    keys = ("forwarding", "accept_ra", "addr_gen_mode", "disable_ipv6")
    values = {key: processes.read_file(rollback.IPV6.format(name, key)).strip() for key in keys}
    return {key: value for key, value in values.items() if value}


def _zone(name: str) -> str:
    """Return the firewalld zone to which the interface is bound; empty if there is none."""
    program = commands.find("firewall-cmd")
    if program is None:
        return ""
    done = commands.attempt([program, f"--get-zone-of-interface={name}"], _ZONE_SECONDS)
    if done.is_killed:
        raise FleetError(
            "network_not_read", f"Zone of {name} not read: firewall-cmd silent for {_ZONE_SECONDS} s.", "Run again."
        )
    return done.stdout.strip() if done.rc == 0 else ""


def _why_not_released(
    interface: Optional[Interface], ours: Dict[str, Any], network: NetworkState
) -> Optional[interfaces.Reason]:
    changed = sorted({*_lines_of_profile(ours["uuid"], network.profiles)} ^ {*ours["keyfile"]})
    if changed:
        fix = f"If it may go, run `nmcli connection delete uuid {ours['uuid']}` on the host, then run again."
        return f"its profile was changed since ({', '.join(changed[:5])})", fix
    if interface is None:
        return None
    if interface.port_of or interface.stacked:
        return (
            f"is used by {', '.join(sorted({*filter(None, [interface.port_of]), *interface.stacked}))}",
            "Remove it there first.",
        )
    added = _added_addresses(interface)
    if added:
        addresses = ", ".join(added)
        return (
            f"has addresses that were added ({addresses})",
            "Remove them first, in the web console or by `ip address del`.",
        )
    routes = interfaces.added_routes(interface, network)
    if routes:
        return f"has a route that was added ({routes[0]})", "Remove the route first, or keep the interface."
    if interface.name == network.over_ssh:
        return "carries the SSH connection", "Connect over another interface, then run again."
    if _has_only_default_route(interface.name, network.routes):
        return "has the only default route", "Give the host another default route, then run again."
    return None


def _has_only_default_route(name: str, routes: List[Dict[str, Any]]) -> bool:
    """Return whether the interface alone has a default route, of a family and a table. A router gives its own again."""
    own, other = (
        {
            (route.get("family"), route.get("table", "main"))
            for route in routes
            if route.get("dst") == "default"
            and route.get("type", "unicast") == "unicast"
            and (route.get("dev") == name) is is_own
            and not (is_own and route.get("protocol") == "ra")
        }
        for is_own in (True, False)
    )
    return bool(own - other)


def _lines_of_profile(uuid: str, profiles: List[interfaces.Profile]) -> List[str]:
    """Return the lines of a profile's file, without the time of its last use; none if the profile is gone."""
    path = next((profile.path for profile in profiles if profile.uuid == uuid), "")
    lines = processes.read_file(path).splitlines()
    return sorted(line for line in lines if line and not line.startswith("timestamp="))


def _skipped(interface: Interface, reason: interfaces.Reason) -> Dict[str, Any]:
    return {"name": interface.name, "reason": reason[0], "fix": reason[1], "never_adopted": interface.is_never_adopted}


def _not_adopted(
    items: List[str], reasons: Dict[str, interfaces.Reason], network: NetworkState, what: str = "adopted", **values: Any
) -> FleetError:
    present = ", ".join(interface.name for interface in network.interfaces if not interface.is_never_adopted)
    why, fix = reasons.get(items[0], ("no such interface", f"Correct slb_interfaces. Present: {present or 'none'}."))
    more = f" ({len(items) - 1} more)" if items[1:] else ""
    return FleetError(f"interface_not_{what}", f"Interface {items[0]} not {what}: {why}{more}.", fix, **values)


def _read_adopted() -> Dict[str, Dict[str, Any]]:
    try:
        with open(ADOPTED) as stream:
            adopted: Dict[str, Dict[str, Any]] = json.load(stream)
            return adopted
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise FleetError("record_invalid", f"{ADOPTED} not read: {error}.", "Repair or remove that file.") from None


def _write_adopted(adopted: Dict[str, Dict[str, Any]]) -> None:
    with files.file_errors(ADOPTED):
        folders.make_ours(os.path.dirname(ADOPTED))
    files.write_atomically(ADOPTED, json.dumps(adopted, indent=1, sort_keys=True))


def _systemctl(*arguments: str) -> bool:
    return commands.attempt(["systemctl", *arguments], 15).rc == 0
