# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything about a few interfaces that an adoption may change, and how it is put back."""

import contextlib
import os
from typing import Any, Dict, List, Optional, Set, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._network import (
    identity,
    ip_commands,
    kernel,
    kernel_again,
    kernel_state,
    kernel_way_back,
    nmcli,
    profile_files,
    resolver,
)
from ansible_collections.slb.fleet.plugins.module_utils._network.unmanaged import lift_path
from ansible_collections.slb.fleet.plugins.module_utils._system.files import file_errors, sweep, write_atomically
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

Snapshot = Dict[str, Any]
"""Plain data: ``kernel``, ``identities``, ``uppers``, ``rules``, ``devices``, ``profiles``, ``uuids``, ``files``,
``notes`` and ``resolver``.

``kernel`` has the interfaces themselves and those that are made on top of each, which ``uppers`` names: a VLAN loses
its routes when the link below it goes down. ``rules`` is None where they are none of its business.
"""

_BEGINNING_SECONDS = 15
# It may wait half a minute for a router.
_ACTIVATION_SECONDS = 40
_GETS_ADDRESSES = "connecting (getting IP configuration)"
_RELEASE_SECONDS = 10
_LET_GO, _LETS_GO = "disconnected", "deactivating"
_WATCH_SECONDS = 3
_FILE_MODE = 0o644
_PRIVATE_MODE = 0o600


def take(names: List[str], uuids: List[str], files: List[str], notes: List[str]) -> Snapshot:
    """``uuids``: profiles that will be changed; ``files``: those that will be written or removed. Raises HostError.

    ``notes``: the files in which it is kept what the interfaces were before their adoption.
    """
    devices = nmcli.devices()
    profiles = nmcli.profiles()
    active = {devices[name].uuid for name in names if name in devices}
    # One that is bound by MAC address names no interface.
    kept = [profile for profile in profiles if profile.interface in names or profile.uuid in active | set(uuids)]
    # NetworkManager makes it anew when it watches the interface again. Brought back, it would be one that stays.
    watched = [device.uuid for device in devices.values() if device.external]
    kept = [profile for profile in kept if not (profile.uuid in watched and profile.in_memory)]
    nics = kernel.nics()
    above = kernel.uppers(names, nics)
    states = kernel_state.read(names + above)
    boot = identity.this_boot()
    return {
        "kernel": {name: states[name] for name in names + above if name in states},
        "identities": {nic.name: identity.of(nic, boot) for nic in nics if nic.name in names + above},
        "uppers": {name: kernel.uppers([name], nics) for name in names},
        "rules": kernel.rules(),
        "devices": {name: _device(devices[name]) for name in names if name in devices},
        "profiles": {profile.uuid: {"path": profile.path, "content": _content(profile.path)} for profile in kept},
        "uuids": sorted(profile.uuid for profile in profiles),
        "files": {path: _content(path) for path in files},
        "notes": {path: _content(path) for path in notes},
        "resolver": resolver.read(),
    }


def part(snapshot: Snapshot, name: str, uuids: List[str], files: List[str]) -> Snapshot:
    """What of a snapshot is about the one interface ``name``, without those on top of it."""
    return dict(
        snapshot,
        kernel={key: value for key, value in snapshot["kernel"].items() if key == name},
        identities={key: value for key, value in _identities(snapshot).items() if key == name},
        uppers={},
        rules=None,
        devices={key: value for key, value in snapshot["devices"].items() if key == name},
        profiles={key: value for key, value in snapshot["profiles"].items() if key in uuids},
        files={key: value for key, value in snapshot["files"].items() if key in files},
        notes={},
    )


def with_uppers(own: Snapshot, present: Snapshot, name: str) -> Snapshot:
    """The same with what the interfaces on top of ``name`` have in another snapshot, so that they lose nothing."""
    above = [upper for upper in present["uppers"].get(name, []) if upper in present["kernel"]]
    kept = dict(own["kernel"], **{upper: present["kernel"][upper] for upper in above})
    known = dict(_identities(own), **{upper: identity_of(upper, present) for upper in above})
    return dict(own, kernel=kept, identities=known, uppers={name: above})


def merged(snapshots: Dict[str, Snapshot], resolver_content: Optional[str]) -> Snapshot:
    """One that is about all these interfaces. What one of them had counts for more than what is on top of another."""
    together: Snapshot = {"uuids": [], "notes": {}, "rules": None, "resolver": resolver_content}
    for key in ("devices", "profiles", "files"):
        together[key] = {name: value for each in snapshots.values() for name, value in each[key].items()}
    together["uppers"] = {
        name: [upper for upper in each["uppers"].get(name, []) if upper not in snapshots]
        for name, each in snapshots.items()
    }
    together["kernel"] = {name: each["kernel"][name] for name, each in snapshots.items()}
    together["identities"] = {name: identity_of(name, each) for name, each in snapshots.items()}
    for each in snapshots.values():
        together["kernel"] = {**each["kernel"], **together["kernel"]}
        together["identities"] = {**_identities(each), **together["identities"]}
    return together


def identity_of(name: str, snapshot: Snapshot) -> Optional[identity.Identity]:
    """None where an earlier version noted none."""
    return _identities(snapshot).get(name)


def _identities(snapshot: Snapshot) -> Dict[str, Any]:
    return dict(snapshot.get("identities", {}))


def _as_called_now(snapshot: Snapshot) -> Snapshot:
    """The same with the names that the interfaces have now, and without those that are not there. Raises HostError."""
    known = _identities(snapshot)
    if not known:
        return snapshot
    nics, boot = kernel.nics(), identity.this_boot()
    names = {name: identity.name_now(name, known.get(name), nics, boot) for name in snapshot["kernel"]}
    if all(new == name for name, new in names.items()):
        return snapshot

    def called(things: Dict[str, Any]) -> Dict[str, Any]:
        return {str(names[name]): thing for name, thing in things.items() if names.get(name)}

    def there(above: List[str]) -> List[str]:
        return [str(names[upper]) for upper in above if names.get(upper)]

    states = {name: kernel_state.renamed(state, names) for name, state in called(snapshot["kernel"]).items()}
    above = {name: there(each) for name, each in called(snapshot.get("uppers", {})).items()}
    return dict(snapshot, kernel=states, devices=called(snapshot["devices"]), uppers=above)


def made_since(snapshot: Snapshot) -> List[str]:
    """The profiles of these interfaces that were not there when the snapshot was taken. Raises HostError.

    Not those that NetworkManager makes of an interface that it watches, or is to watch again: they alone are bound to
    a MAC address, where there is a device behind it.
    """
    names = _own(snapshot)
    watched = [device.uuid for device in nmcli.devices().values() if device.external]
    return [
        profile.uuid
        for profile in nmcli.profiles()
        if profile.interface in names and profile.uuid not in [*snapshot["uuids"], *watched] and not profile.mac
    ]


def put_lost_back(snapshot: Snapshot) -> None:
    """At once, the addresses and routes that are gone: all that a host needs to be reached. Never raises.

    Nothing is taken away but NetworkManager's new rules, and it is not asked itself: it may need long, or never answer.
    What fails here is tried again with the rest, and said then.
    """
    with _noted([]):
        now = _as_called_now(snapshot)
        kernel_way_back.put_lost_back(now["kernel"], now.get("rules"), _rules_of_profiles(now))


def put_back(snapshot: Snapshot, doomed: Optional[List[str]] = None) -> List[str]:
    """Restores what the snapshot holds. Never raises, never stops half-way.

    ``doomed``: profiles to remove; where none are named, those that were made since. Whatever fails, the kernel's
    addresses and routes come last and do not need NetworkManager: where it is away, it gets nothing but its files
    back, and has to be told the rest when it has returned. Returns what could not be put back, in sentences.
    """
    troubles: List[str] = []
    now = snapshot
    with _noted(troubles):
        now = _as_called_now(snapshot)
    ways: Dict[str, Any] = dict.fromkeys(_above(now), kernel_again.with_lost)
    begun: List[str] = []
    watched: List[str] = []
    for path, content in snapshot["files"].items():
        with _noted(troubles):
            _put_file_back(path, content)
    with _noted(troubles):
        _put_notes_back(snapshot)
    with _noted(troubles):
        _sweep(snapshot)
    try:
        nmcli.require_sign_of_life()
        begun = _put_networkmanager_back(snapshot, now, doomed, troubles)
        ways.update(dict.fromkeys(begun, kernel_again.with_what_came_since))
        watched = _watched(now)
    except nmcli.NoAnswerError as error:
        troubles.append(f"NetworkManager was not told that this change is undone. {error}")
        with _noted(troubles):
            _put_profile_files_back(snapshot, doomed)
    with _noted(troubles):
        troubles += kernel_way_back.put_rules_back(snapshot.get("rules"), _rules_of_profiles(snapshot))
    words: List[str] = []
    with _noted(troubles):
        words = kernel_way_back.put_back(now["kernel"], ways)
    with _noted(troubles):
        coming = _not_connected([name for name in begun if now["devices"][name]["state"] == "connected"])
        if coming:
            # Not before that is it done with the addresses.
            wait_for(lambda: not _not_connected(coming), _ACTIVATION_SECONDS)
            troubles += [
                f"NetworkManager does not take {name} back: it is not connected." for name in _not_connected(coming)
            ]
            words = kernel_way_back.put_back(now["kernel"], ways)
    with _noted(troubles):
        unseen = _let_go(watched)
        if unseen:
            _have_them_seen(unseen)
            words = kernel_way_back.put_back(now["kernel"], ways)
    troubles += words
    with _noted(troubles):
        _put_resolver_back(snapshot["resolver"])
    return troubles


def not_watched_again(snapshot: Snapshot) -> List[str]:
    """In sentences, which interfaces NetworkManager does not see any more. Never raises."""
    words: List[str] = []
    with _noted(words):
        unseen = _let_go(_watched(_as_called_now(snapshot)))
        words += [f"NetworkManager does not watch {name} again, as it did before." for name in unseen]
    return words


def _watched(snapshot: Snapshot) -> List[str]:
    return [name for name, former in snapshot["devices"].items() if former["state"] == nmcli.WATCHED]


def _put_networkmanager_back(
    snapshot: Snapshot, now: Snapshot, doomed: Optional[List[str]], troubles: List[str]
) -> List[str]:
    """``now``: the same with the names that the interfaces have now, while profiles are for those that they had.

    Raises NoAnswerError as soon as it does not answer. Returns the interfaces that it has again, or is about to.
    """
    with _noted_of_networkmanager(troubles):
        if snapshot["files"]:  # they may have come back while it was away
            nmcli.command(["general", "reload", "conf"])
    with _noted_of_networkmanager(troubles):
        gone = made_since(snapshot) if doomed is None else doomed
        nmcli.delete(gone)
        profile_files.remove(gone)
    touched = list(snapshot["profiles"])
    with _noted_of_networkmanager(troubles):
        touched = _put_profiles_back(snapshot["profiles"])
    above = _above(now)
    return [
        name
        for name in now["kernel"]
        if name not in above
        and _put_device_back(name, now["devices"].get(name), lift_path(name) in now["files"], touched, troubles)
    ]


def _rules_of_profiles(snapshot: Snapshot) -> kernel_way_back.OfProfiles:
    contents = [profile["content"] or "" for profile in snapshot["profiles"].values()]
    return [rule for content in contents for rule in profile_files.rules_of(content)]


def _above(snapshot: Snapshot) -> Set[str]:
    return {upper for uppers in snapshot.get("uppers", {}).values() for upper in uppers}


def _own(snapshot: Snapshot) -> Set[str]:
    return set(snapshot["kernel"]) - _above(snapshot)


def put_files_back(snapshot: Snapshot) -> List[str]:
    """What a shutdown does not undo by itself, as it does addresses and what is in memory. Never raises."""
    troubles: List[str] = []
    for path, content in snapshot["files"].items():
        with _noted(troubles):
            _write_or_remove(path, content, _FILE_MODE)
    with _noted(troubles):
        _put_notes_back(snapshot)
    with _noted(troubles):
        _sweep(snapshot)
    for path in _files_made_since(snapshot):
        with _noted(troubles):
            _write_or_remove(path, None, _PRIVATE_MODE)
    for profile in snapshot["profiles"].values():
        with _noted(troubles):
            # Giving an interface back removes or rewrites its profile on disk.
            if _is_on_disk(profile) and _content(profile["path"]) != profile["content"]:
                _write_or_remove(profile["path"], profile["content"], _PRIVATE_MODE)
    with _noted(troubles):
        _put_resolver_back(snapshot["resolver"])
    return troubles


def _files_made_since(snapshot: Snapshot) -> List[str]:
    """As ``made_since``, where NetworkManager cannot be asked: the files."""
    return [
        profile.path
        for profile in profile_files.present()
        if profile.interface in _own(snapshot)
        and profile.uuid not in snapshot["uuids"]
        and not (profile.mac or profile.watching)
    ]


def _is_on_disk(profile: Dict[str, Any]) -> bool:
    return profile["content"] is not None and not profile["path"].startswith("/run/")


@contextlib.contextmanager
def _noted(troubles: List[str]) -> Any:
    try:
        yield
    except Exception as error:
        troubles.append(_words(error))


@contextlib.contextmanager
def _noted_of_networkmanager(troubles: List[str]) -> Any:
    """The same, but where it is away, whatever else would be asked of it is not waited for."""
    try:
        yield
    except nmcli.NoAnswerError:
        raise
    except Exception as error:
        troubles.append(_words(error))


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, FleetError) else repr(error)


def _device(device: nmcli.Device) -> Dict[str, Any]:
    active = device.uuid if not device.external and device.state != "disconnected" else None
    return {"state": device.state, "uuid": active}


def _content(path: str) -> Optional[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read()
    except OSError:
        return None


def _put_resolver_back(content: Optional[str]) -> None:
    with file_errors(resolver.PATH):
        if content is not None and resolver.read() != content:
            resolver.write(content)


def _put_file_back(path: str, content: Optional[str]) -> None:
    if _content(path) != content:
        _write_or_remove(path, content, _FILE_MODE)


def _put_notes_back(snapshot: Snapshot) -> None:
    for path, content in snapshot.get("notes", {}).items():
        if _content(path) != content:
            _write_or_remove(path, content, _PRIVATE_MODE)


def _sweep(snapshot: Snapshot) -> None:
    """Of a module or a guard that was killed while it wrote one of these."""
    paths = [*snapshot["files"], *snapshot.get("notes", {})]
    paths += [profile["path"] for profile in snapshot["profiles"].values()]
    for path in paths:
        with file_errors(path):
            sweep(path)


def _put_profile_files_back(snapshot: Snapshot, doomed: Optional[List[str]]) -> None:
    """What it finds when it returns: nothing of an undone change may come alive again."""
    there = profile_files.present()
    gone = _files_made_since(snapshot) if doomed is None else [each.path for each in there if each.uuid in doomed]
    former = {uuid: profile for uuid, profile in snapshot["profiles"].items() if profile["content"] is not None}
    gone += [each.path for each in there if each.uuid in former and each.path != former[each.uuid]["path"]]
    for path in gone:
        _write_or_remove(path, None, _PRIVATE_MODE)
    for uuid, profile in former.items():
        _put_profile_file_back(uuid, profile)


def _put_profile_file_back(uuid: str, former: Dict[str, Any]) -> None:
    if _content(former["path"]) != former["content"]:
        _write_or_remove(former["path"], former["content"], _PRIVATE_MODE)
    profile_files.show(uuid)


def _put_profiles_back(profiles: Dict[str, Dict[str, Any]]) -> List[str]:
    """The UUIDs of those that were not as they had been."""
    paths = nmcli.profile_paths()
    touched: List[str] = []
    changed: List[str] = []
    for uuid, former in profiles.items():
        present = paths.get(uuid)
        if present and present != former["path"]:
            _write_or_remove(present, None, _PRIVATE_MODE)
            changed.append(uuid)
            touched.append(present)
        if former["content"] is not None and (present is None or _content(former["path"]) != former["content"]):
            _put_profile_file_back(uuid, former)
            changed.append(uuid)
            touched.append(former["path"])
    if touched:
        # Not "reload": NetworkManager 1.30 then takes over the interfaces that it merely watched.
        nmcli.command(["connection", "load", *touched])
    return changed


def _write_or_remove(path: str, content: Optional[str], mode: int) -> None:
    if content is not None:
        write_atomically(path, content, mode)
        return
    with file_errors(path), contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _put_device_back(
    name: str, former: Optional[Dict[str, Any]], lifted: bool, touched: List[str], troubles: List[str]
) -> bool:
    """Whether NetworkManager has it under control again, or is about to. ``lifted``: what kept it away had been."""
    if former is None:
        return False
    try:
        present = nmcli.devices().get(name)
        if present is None:
            return False  # it has vanished, and nothing of it is left to be put back
        if former["uuid"] is not None:
            unchanged = (present.uuid, present.state) == (former["uuid"], former["state"])
            if unchanged and former["uuid"] not in touched:
                return True  # activating it again would take away what others have added, such as a virtual address
            nmcli.up(former["uuid"], name, 0)
            wait_for(lambda: _has_begun(name, former), _BEGINNING_SECONDS)
            return True
        _have_it_released(name, former["state"], present, lifted)
    except nmcli.NoAnswerError:
        raise
    except Exception as error:
        troubles.append(f"NetworkManager does not take {name} back: {_words(error)}")
    return False


def _has_begun(name: str, former: Dict[str, Any]) -> bool:
    """First of all it takes away what is there, and from then on nothing any more."""
    present = nmcli.devices().get(name)
    states = ("connected", _GETS_ADDRESSES, former["state"])
    return present is None or (present.uuid == former["uuid"] and present.state in states)


def _not_connected(names: List[str]) -> List[str]:
    present = nmcli.devices() if names else {}
    return [name for name in names if name in present and not present[name].connected]


def _let_go(watched: List[str]) -> List[str]:
    """Those on which NetworkManager, once it has come to rest, does not see the addresses that there are."""

    def remaining(states: Tuple[str, ...]) -> List[str]:
        present = nmcli.devices()
        return [name for name in watched if name in present and present[name].state in states]

    if not watched:
        return []
    wait_for(lambda: not remaining((_LET_GO, _LETS_GO)), _WATCH_SECONDS)
    states = kernel_state.read(remaining((_LET_GO,)))
    return [name for name, state in states.items() if state["addresses"]]


def _have_them_seen(names: List[str]) -> None:
    """NetworkManager looks again when an address comes; the one that goes here comes back with the rest."""
    states = kernel_state.read(names)
    last = [(name, address) for name, state in states.items() for address in state["addresses"][-1:]]
    ip_commands.run([["address", "del", kernel.cidr(address), "dev", name] for name, address in last])


def _have_it_released(name: str, former: str, present: nmcli.Device, lifted: bool) -> None:
    """Raises HostError."""
    # That it once was allowed to take it NetworkManager remembers until the next boot, whatever keeps it away just now.
    if former == "unmanaged" and (lifted or not present.unmanaged):
        nmcli.command(["device", "set", name, "managed", "no"])
    elif former in ("disconnected", "unavailable", nmcli.WATCHED) and present.active:
        # Otherwise NetworkManager would give it its addresses again when the lease is renewed. What it then finds
        # on it makes it watch it again.
        nmcli.command(["--wait", str(_RELEASE_SECONDS), "device", "disconnect", name], _RELEASE_SECONDS)
    if former == "unavailable" and present.state != former:
        # It does not look for a carrier again by itself, and would not connect it when the cable is back.
        for managed in ("no", "yes"):
            nmcli.command(["device", "set", name, "managed", managed])
