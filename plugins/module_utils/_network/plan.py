# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How each chosen interface is to be adopted. Pure."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from ansible_collections.slb.fleet.plugins.module_utils._network import (
    kernel,
    kernel_commands,
    kernel_state,
    kinds,
    profile,
)
from ansible_collections.slb.fleet.plugins.module_utils._network.interfaces import Interface
from ansible_collections.slb.fleet.plugins.module_utils._network.kernel import Nic
from ansible_collections.slb.fleet.plugins.module_utils._network.kernel_state import State
from ansible_collections.slb.fleet.plugins.module_utils._network.kinds import Settings
from ansible_collections.slb.fleet.plugins.module_utils._network.nmcli import Profile
from ansible_collections.slb.fleet.plugins.module_utils._network.profile import Surroundings
from ansible_collections.slb.fleet.plugins.module_utils._network.resolver import Resolver
from ansible_collections.slb.fleet.plugins.module_utils._network.unmanaged import (
    UNWRITABLE,
    Cause,
    can_be_written,
    lift_path,
    lifting,
)

# From then on NetworkManager can be told to use the profile even where it finds the interface configured at boot.
_KEEPS_PROFILE = [1, 34]
# Those before give IPv6 addresses in the opposite order, the source address among them.
_KEEPS_ORDER = [1, 36]
_AUTOCONNECT = "connection.autoconnect"
_HIGHEST_PRIORITY = 999
_BY_HAND = "3"
# Redirects, the kernel, by hand, static, what a router advertises, DHCP: not what a routing daemon may take away again.
_PROTOCOLS = ("0", "1", "2", _BY_HAND, "4", "9", "16")
# A default route may also come in halves, which outdo it without replacing it.
_WAYS_OUT = ("default", "0.0.0.0/1", "128.0.0.0/1", "::/1", "8000::/1")


class Plan(NamedTuple):
    """What will be done with one interface.

    ``kind``: NetworkManager's word for it.
    ``offered``: it is under control already, and all there is to do is to make that last beyond the next boot.
    ``dhcp``: it has no address and waits for one. ``settings``: nmcli's properties; empty to take the profile as it is.
    ``unanswered``: those for when no DHCP server answers; empty where the profile must stay as it is even then.
    ``profile``: the existing profile that is used; None to make one. ``lift``: path and content of the file that makes
    NetworkManager take it. ``at_boot``: nmcli's properties by which NetworkManager will start its profile.
    ``returns_at_boot``: it will be under control by it after a reboot, too; ``notes``: for people.
    """

    name: str
    mac: str
    kind: str
    offered: bool
    dhcp: bool
    settings: Settings
    unanswered: Settings
    profile: Optional[Profile]
    lift: Optional[Tuple[str, str]]
    at_boot: Settings
    returns_at_boot: bool
    notes: List[str]

    @property
    def keeps(self) -> bool:
        """Whether its profile is to carry what it has."""
        return bool(self.settings) and not self.dhcp

    def summary(self, timeout: float) -> Dict[str, Any]:
        """What diffs show."""
        present = [self.settings[key] for key in ("ipv4.addresses", "ipv6.addresses") if self.settings.get(key)]
        how = "the profile as it is" if not self.settings else f"keeps {', '.join(present) or 'its settings'}"
        if self.offered:
            how = "stays as it is, and will be under control after a reboot, too"
        elif self.dhcp:
            then = "then without an address" if self.unanswered else "and unless it is answered all stays as it is"
            how = f"DHCP for {timeout:g} seconds, {then}"
        summary: Dict[str, Any] = {
            "profile": self.profile.name if self.profile else self.name,
            "profile_is_new": self.profile is None,
            "how": how,
            "settings": {
                key: value for key, value in {**self.settings, **self.at_boot}.items() if value not in ("", "no", "-1")
            },
        }
        if self.lift is not None:
            summary["writes"] = self.lift[0]
        return dict(summary, notes=self.notes) if self.notes else summary


class Host(NamedTuple):
    """What of the host a plan depends on. ``version``: NetworkManager's; ``routes`` and ``nics``: all there are.

    ``resolver``: name servers that an interface may have to carry; ``has_name_servers``: whoever keeps them.
    ``overruled``: what would keep NetworkManager from interfaces that it has by a profile in memory, by their names.
    """

    version: List[int]
    routes: List[Dict[str, Any]]
    profiles: List[Profile]
    resolver: Resolver
    has_name_servers: bool
    nics: List[Nic]
    overruled: Dict[str, Cause]


class Policy(NamedTuple):
    """What was asked for, for all interfaces. ``whole_lease``: all that DHCP offers, whatever the host has."""

    dhcp_timeout: float
    lift_unmanaged: bool
    whole_lease: bool


def make(interface: Interface, state: State, host: Host, policy: Policy) -> Union[Plan, str]:
    """The plan for one interface, or why there is none."""
    nic, kind = interface.nic, kinds.of(interface.nic)
    of_kind = kind.settings(nic)
    if isinstance(of_kind, str):
        return of_kind
    used = existing_profile(interface, host.profiles)
    at_boot, in_the_way = _start_at_boot(interface, used, host.profiles)
    if interface.offered and used is not None and used.fleeting:
        # Who has connected it overruled what keeps it unmanaged; the next boot knows nothing of that.
        lift, returns, notes = _at_boot(
            interface._replace(unmanaged=host.overruled.get(nic.name)), used.method == "manual", host, policy
        )
        returns, notes = returns and not in_the_way, notes + in_the_way
        return Plan(nic.name, nic.mac, kind.word, True, False, {}, {}, used, lift, at_boot, returns, notes)
    if interface.offered and not can_be_written(nic.name):
        return f"it is under control until the next boot, and {UNWRITABLE}"
    if interface.offered:
        if used is not None and used.method == "manual" and host.version < _KEEPS_PROFILE:
            return "it is under control until the next boot, and this NetworkManager is too old to make that last"
        kept = (lift_path(nic.name), lifting(nic.name, None))
        returns = not in_the_way
        return Plan(nic.name, nic.mac, kind.word, True, False, {}, {}, used, kept, at_boot, returns, in_the_way)
    own = kernel_state.substance(state)
    configured = bool(own["addresses"] or own["routes"])
    trouble = _trouble_with_kernel(nic.name, state, host) or _trouble_with_profile(interface, used, configured)
    if trouble:
        return trouble
    settings = _settings(interface, of_kind, state, host, used, configured, policy)
    lost = profile.without_a_place(_name_servers(interface, host), settings) if configured else []
    lift, returns, notes = _at_boot(interface, configured, host, policy)
    return Plan(
        name=nic.name,
        mac=nic.mac,
        kind=kind.word,
        offered=False,
        dhcp=not configured and (used is None or used.method == "auto"),
        settings=settings,
        unanswered={} if used is not None and used.own else profile.without_address(),
        profile=used,
        lift=lift,
        at_boot=at_boot,
        returns_at_boot=returns and not in_the_way,
        notes=[_note_on(server) for server in lost] + notes + in_the_way,
    )


def _start_at_boot(
    interface: Interface, used: Optional[Profile], profiles: List[Profile]
) -> Tuple[Settings, List[str]]:
    """What its profile has to say so that NetworkManager starts it at boot, and what stands against that all the same.

    Of several that may be used on a device it starts the one of the highest priority.
    """
    in_the_way = []
    if used is not None and used.permissions:
        in_the_way.append(
            f"after a reboot, NetworkManager starts its profile {used.name} only when somebody is logged in for whom it"
            f" is ({used.permissions}); without connection.permissions it would be for everybody"
        )
    others = [each for each in _suitable(interface, profiles) if each.autoconnect and each != used]
    rival = max(others, key=lambda each: each.priority, default=None)
    if rival is None or rival.priority < (used.priority if used is not None else 0):
        return {_AUTOCONNECT: "yes"}, in_the_way
    if rival.priority >= _HIGHEST_PRIORITY:
        in_the_way.append(
            f"after a reboot, NetworkManager may start the profile {rival.name} in its place: none can have a higher"
            " connection.autoconnect-priority; give that one a lower one"
        )
    priority = min(rival.priority + 1, _HIGHEST_PRIORITY)
    return {_AUTOCONNECT: "yes", f"{_AUTOCONNECT}-priority": str(priority)}, in_the_way


def _at_boot(
    interface: Interface, configured: bool, host: Host, policy: Policy
) -> Tuple[Optional[Tuple[str, str]], bool, List[str]]:
    """What lifts what stands against it, whether NetworkManager will take it then, and what is to be said of that."""
    cause, name = interface.unmanaged, interface.nic.name
    obstacle = _obstacle_at_boot(interface, configured)
    liftable = (cause is None or cause.liftable or cause.name == "runtime") and can_be_written(name)
    lifted = policy.lift_unmanaged and obstacle is not None and liftable
    returns = obstacle is None or (lifted and (not configured or host.version >= _KEEPS_PROFILE))
    lift = (lift_path(name), lifting(name, cause)) if lifted else None
    return lift, returns, _notes(name, obstacle, lifted, returns)


def _settings(
    interface: Interface,
    of_kind: Settings,
    state: State,
    host: Host,
    used: Optional[Profile],
    configured: bool,
    policy: Policy,
) -> Settings:
    if configured:
        settings = profile.keeping(
            interface.nic.mac, state, _name_servers(interface, host), host.version < _KEEPS_ORDER
        )
        return profile.new(settings, of_kind) if used is None else profile.sparing_name_servers(settings)
    if used is not None:
        return {}
    # Those of other types, such as the default route to the host itself that a proxy has, lead nowhere.
    way_out = any(route.get("dst") in _WAYS_OUT and "type" not in route for route in host.routes)
    around = Surroundings(host.has_name_servers, way_out)
    if policy.whole_lease:
        around = Surroundings(False, False)
    return profile.new(profile.by_dhcp(state, policy.dhcp_timeout, around), of_kind)


def _name_servers(interface: Interface, host: Host) -> Resolver:
    """Those that the interface is to carry, as it did until now."""
    return host.resolver if interface.carries_default_route else Resolver([], [])


def _trouble_with_kernel(name: str, state: State, host: Host) -> Optional[str]:
    """Why what the interface has, or what is on top of it, could not be kept or brought back."""
    trouble = profile.unrepresentable(state)
    lost = kernel_commands.unreplayable(name, host.routes)
    if lost:
        trouble = f"its route to {', '.join(lost)} is of a kind that could not be brought back"
    for route in state["routes"]:
        if route.get("protocol", _BY_HAND) not in _PROTOCOLS:
            trouble = (
                f"the route to {route['dst']} belongs to a routing daemon (protocol {route['protocol']}); it would"
                " become a static one"
            )
    for route in state.get("elsewhere", []):
        if "nexthops" in route:
            trouble = (
                f"the route to {route['dst']} by way of another interface goes with its address {route['prefsrc']}"
            )
    for upper in kernel.uppers([name], host.nics):
        for destination in kernel_commands.unreplayable(upper, host.routes):
            trouble = f"the route to {destination} of {upper}, which is on top of it, could not be brought back"
    return f"what it has could not be kept: {trouble}" if trouble else None


def _trouble_with_profile(interface: Interface, used: Optional[Profile], configured: bool) -> Optional[str]:
    """Why the profile that is there can neither be used as it is nor be changed."""
    if used is None:
        return None
    if configured and "shared" in (used.method, used.method6):
        return f"its profile {used.name} shares its connection with others, and does not keep what it has"
    off = used.method == "disabled" and used.method6 in ("disabled", "ignore")
    if not configured and not off and interface.nic.carrier is False:
        return f"it has no carrier (no cable), and its profile {used.name} waits for one"
    return None


def _obstacle_at_boot(interface: Interface, configured: bool) -> Optional[str]:
    """Why NetworkManager would not take the interface at boot, although it has a profile for it."""
    if interface.unmanaged is not None and interface.unmanaged.name != "runtime":
        return f"NetworkManager leaves it alone: {interface.unmanaged.sentence}"
    if configured and not (interface.device is not None and interface.managed_by == "NetworkManager"):
        return "what gave it its addresses may do so before NetworkManager starts, which then only watches it"
    return None


def _note_on(server: str) -> str:
    return f"NetworkManager may drop the name server {server}: the interface has no address of its family to go with it"


def _notes(name: str, obstacle: Optional[str], lifted: bool, returns: bool) -> List[str]:
    notes = []
    if obstacle is not None and not returns:
        remedy = (
            "this NetworkManager is too old to be told otherwise, take that away"
            if lifted
            else "O(lift_unmanaged): true changes that"
        )
        if not can_be_written(name):
            remedy = UNWRITABLE
        notes.append(f"after a reboot, {obstacle}; {remedy}")
    return notes


def existing_profile(interface: Interface, profiles: List[Profile]) -> Optional[Profile]:
    """The profile that is made for this very interface: the active one, else the one NetworkManager would prefer."""
    device = interface.device
    active = device.uuid if device is not None and not device.external else None
    return max(
        (
            candidate
            for candidate in _suitable(interface, profiles)
            if not candidate.ports_of and (candidate.interface or candidate.mac)
        ),
        key=lambda candidate: (candidate.uuid == active, candidate.priority, candidate.used_at),
        default=None,
    )


def _suitable(interface: Interface, profiles: List[Profile]) -> List[Profile]:
    """All that NetworkManager may use on it, be they for any interface or for a port."""
    device = interface.device
    watched = device.uuid if device is not None and device.external else None
    return [
        candidate
        for candidate in profiles
        if candidate.type == kinds.of(interface.nic).profile
        and candidate.uuid != watched
        and candidate.interface in ("", interface.nic.name)
        # One that names another device's address, too, is for that device, whatever this one is called.
        and candidate.mac in ("", interface.nic.permanent_mac.lower(), interface.nic.mac.lower())
    ]
