# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shell scripts that roll back an adoption of interfaces, also if NetworkManager is stopped or frozen."""

import shlex
from typing import Any, Dict, List

IPV6 = "/proc/sys/net/ipv6/conf/{}/{}"
_MASTER = "/sys/class/net/{}/master"
_UPPER = "/sys/class/net/{}/upper_*"
_WAIT = """\
timeout -k 1 5 sh -c 'until nmcli -g GENERAL.STATE device show "$0" | grep -q "^[123]0 "; do sleep 1; done' {}"""
_SCRIPT = """\
# Roll back a change of network interfaces that was not confirmed. Run by a timer of systemd, or by the module.
cd {folder} || exit 1
mv armed rolled_back || exit 0
{nmcli}
deleted=yes
{free}
if [ $deleted = no ]; then
    # NetworkManager is stopped or frozen: it must not find the profiles when it returns.
    running=no
    if systemctl is-active --quiet NetworkManager; then
        running=yes
        systemctl kill --signal=KILL NetworkManager
        timeout 20 systemctl stop NetworkManager
    fi
    for uuid in {uuids}; do
        grep -ls "^uuid=$uuid" /run/NetworkManager/system-connections/* /etc/NetworkManager/system-connections/* |
            while IFS= read -r file; do rm -f "$file"; done
    done
    [ $running = no ] || timeout 60 systemctl start NetworkManager
fi
{restore}
"""
_NMCLI = 'nm() { timeout -k 1 8 nmcli "$@" 2>/dev/null; }'
_PATIENT_NMCLI = _NMCLI.replace(" 8 ", " 20 ")  # no timer waits, and a busy host is slow
# To delete an active profile, and "reapply", remove addresses that other programs have set, such as a virtual one.
_FREE = """\
free() {
    # Else the kernel removes with a lease's address the later ones of its subnet, such as a virtual one.
    promote=/proc/sys/net/ipv4/conf/$1/promote_secondaries
    promoted=$(cat "$promote") && echo 1 >"$promote"
    leased=dynamic  # if NetworkManager does not answer: what a lease has brought has an end
    if shown=$(nm -t -f DHCP4 device show "$1"); then
        leased=$(printf '%s' "$shown" | sed -n 's/.*[]:]ip_address = /to /p')
    fi
    # 10: there is no such device or profile
    if nm device set "$1" managed no || [ $? = 10 ]; then
        nm connection delete uuid "$2" >/dev/null || [ $? = 10 ] || deleted=no
    else
        deleted=no
    fi
    [ -z "$leased" ] || ip -o -4 address show dev "$1" $leased | awk '{print $4}' |
        while IFS= read -r address; do ip address del "$address" dev "$1"; done
    nm device set "$1" managed yes
    [ -z "$promoted" ] || echo "$promoted" >"$promote"
}"""
_LINK_LOCAL = """own=$(printf 'fe80::%02x%s:%sff:fe%s:%s%s' $((0x$1 ^ 2)) "$2" "$3" "$4" "$5" "$6")"""


def make_script(folder: str, changed: Dict[str, Dict[str, Any]]) -> str:
    """Return the shell script that rolls the change back, also if NetworkManager is stopped or frozen."""
    return _SCRIPT.format(
        folder=shlex.quote(folder),
        nmcli=_NMCLI,
        uuids=" ".join(entry["uuid"] for entry in changed.values()),
        free=_free_script(changed),
        restore=restoring_script(changed),
    )


def deletion_script(folder: str, entries: Dict[str, Dict[str, Any]]) -> str:
    """Return the shell script that deletes profiles now. It fails if NetworkManager does not delete them."""
    begin = [f"cd {shlex.quote(folder)} || exit 1", _PATIENT_NMCLI, "deleted=yes"]
    return "\n".join([*begin, _free_script(entries), restoring_script(entries), "[ $deleted = yes ]"])


def _free_script(entries: Dict[str, Dict[str, Any]]) -> str:
    """Return a shell script that deletes profiles and removes what a lease has brought, and nothing else."""
    calls = [f"free {shlex.quote(name)} {entry['uuid']}" for name, entry in entries.items()]
    return "\n".join([_FREE, *calls])


def restoring_script(entries: Dict[str, Dict[str, Any]]) -> str:
    """Return the shell script that restores what a profile does not hold, by interface."""
    lines: List[str] = []
    values: List[str] = []
    for name, entry in entries.items():
        quoted = shlex.quote(name)
        lines.append(_WAIT.format(quoted))
        if not entry["was_up"]:
            # Not what another device has come to use: that could cut the host off.
            unused = f"[ ! -e {shlex.quote(_MASTER.format(name))} ] && ! ls -d {_UPPER.format(quoted)} >/dev/null 2>&1"
            lines.append(f"{unused} && ip link set dev {quoted} down")
        if not entry["had_link_local"]:
            # The kernel makes it of the MAC address when NetworkManager lets the device go.
            lines += [f"set -- $(tr : ' ' </sys/class/net/{quoted}/address)", _LINK_LOCAL]
            lines.append(f'ip -6 address del "$own/64" dev {quoted} 2>/dev/null')
        if entry["zone"]:
            zone = shlex.quote(entry["zone"])
            lines.append(f"timeout 8 firewall-cmd --zone={zone} --change-interface={quoted}")
        values += [f"put {value} {shlex.quote(IPV6.format(name, key))}" for key, value in entry["ipv6"].items()]
    if values:
        # NetworkManager 1.30 writes disable_ipv6 again up to 2 s after the device is disconnected.
        put = 'put() { [ "$(cat "$2")" = "$1" ] || echo "$1" >"$2"; }'
        lines += [put, "for pause in 2 1; do", "sleep $pause", *values, "done"]
    # An interface with a route is not adopted, so each one of a router came since.
    lines += [f"ip -6 route flush dev {shlex.quote(name)} proto ra 2>/dev/null" for name in entries]
    return "\n".join(lines)
