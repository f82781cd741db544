"""Everything that can be asked of a host's interfaces, in one go, as iproute2, the kernel and NetworkManager tell it.

Runs on the host: names as arguments, JSON on standard output. What belongs to one interface is under its name, all
else under "": one line for each thing, by what it is. Nothing here knows how an adoption works. With "--settled" it
looks until nothing moves any more, with "--kernel" it does not ask NetworkManager.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

# Of the host's own doing, or another way to say what the addresses say.
PASSING = ("ifindex", "link_index", "link_netnsid", "addr_info", "linkinfo", "stats", "operstate")
# What makes one route another.
KEY = ("type", "dst", "from", "gateway", "via", "table", "metric", "tos")
GENERATED, WATCHED = "nm-generated=true", "connected (externally)"


LONGEST_SECONDS = 60
PAUSE_SECONDS = 0.7


def main(options: set[str], names: list[str]) -> None:
    look = kernel if "--kernel" in options else everything
    last, found = None, look(names)
    deadline = time.monotonic() + LONGEST_SECONDS
    while "--settled" in options and (still(found) != last or connecting(found)) and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
        last, found = still(found), look(names)
    json.dump(found, sys.stdout)


def still(found: dict) -> dict:
    """Without what passes."""
    return {
        name: {key: value for key, value in things.items() if not value.startswith("until ")}
        for name, things in found.items()
    }


def connecting(found: dict) -> bool:
    """NetworkManager waits half a minute for a router."""
    return any(things.get("networkmanager state", "").startswith("connecting") for things in found.values())


def kernel(names: list[str]) -> dict:
    found: dict[str, dict[str, str]] = {name: {} for name in ["", *names]}
    links(found)
    routes(found)
    locks(found)
    rules(found)
    neighbours(found)
    settings(found)
    traffic_control(found)
    return found


def everything(names: list[str]) -> dict:
    found = kernel(names)
    networkmanager(found)
    files(found)
    return found


def run(*command: str) -> str:
    """Nothing where the release has no such command."""
    environment = dict(os.environ, LC_ALL="C")
    return subprocess.run(command, capture_output=True, check=False, text=True, env=environment).stdout


def shown(*command: str) -> list[dict]:
    # 5.9 writes an apostrophe as \', which is not JSON.
    text = re.sub(r"(?<!\\)((?:\\\\)*)\\'", r"\1'", run(*command))
    return [each for each in json.loads(text or "[]", strict=False) if each]


def words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def until(seconds: int) -> str:
    """A lifetime as the host's uptime at its end."""
    return "for ever" if seconds == 2**32 - 1 else "never" if not seconds else f"until {time.monotonic() + seconds:.0f}"


def links(found: dict) -> None:
    for link in shown("ip", "-details", "-json", "address", "show"):
        of = found.get(link["ifname"])
        if of is None:
            continue
        for key, value in link.items():
            if key not in PASSING:
                of[f"link {key}"] = words(value)
        for family in ("inet", "inet6"):
            own = [each for each in link["addr_info"] if each["family"] == family and not each.get("temporary")]
            of[f"order of {family}"] = " ".join(each["local"] for each in own)
            for each in own:
                name = f"address {each['local']}/{each['prefixlen']}"
                of[name] = "there"
                for key, value in each.items():
                    if key not in ("local", "prefixlen", "family", "tentative"):
                        of[f"{name} {key}"] = until(value) if key.endswith("_life_time") else words(value)
    for each in shown("ip", "-json", "token"):
        if each.get("ifname") in found:
            found[each["ifname"]]["token"] = each["token"]
    for each in shown("ip", "-json", "maddress"):
        for one in each["maddr"]:
            if one.get("static") and each["ifname"] in found:
                found[each["ifname"]][f"multicast address {one['link']}"] = "there"
            group = one.get("address", "224.0.0.")
            if not group.startswith(("224.0.0.", "ff01:", "ff02:")) and each["ifname"] in found:
                found[each["ifname"]][f"multicast group {group}"] = "there"


def routes(found: dict) -> None:
    for family in ("-4", "-6"):
        for route in shown("ip", family, "-N", "-details", "-json", "route", "show", "table", "all"):
            if (route.get("table"), route.get("protocol")) == ("255", "2"):
                continue  # what an address says
            hops = [route, *route.get("nexthops", [])]
            (of, *_) = [found[hop["dev"]] for hop in hops if hop.get("dev") in found] or [found[""]]
            if "expires" in route:
                route["expires"] = until(route["expires"])
            key = {
                name: route.get(name) for name in ("type", "dst", "from", "gateway", "via", "table", "metric", "tos")
            }
            name = f"route {family} {words({name: value for name, value in key.items() if value is not None})}"
            while name in of:
                name += " again"
            of[name] = "there"
            for attribute, value in route.items():
                if attribute not in key and attribute != "dev":
                    of[f"{name} {attribute}"] = words(value)


def locks(found: dict) -> None:
    """Which the machine-readable form does not say."""
    for family in ("-4", "-6"):
        for line in run("ip", family, "-N", "route", "show", "table", "all").splitlines():
            if " lock " in line:
                dev = line.partition(" dev ")[2].split(" ")[0]
                lasting = re.sub(r" expires \d+sec", " expires", line.strip())
                found.get(dev, found[""])[f"locked route {family} {lasting}"] = "there"


def rules(found: dict) -> None:
    for family in ("-4", "-6"):
        listed = shown("ip", family, "-N", "-details", "-json", "rule", "show")
        for rule in listed:
            found.get(rule.get("iif") or rule.get("oif"), found[""])[f"rule {family} {words(rule)}"] = "there"
        found[""][f"order of rules {family}"] = " ".join(words(rule).replace(" ", "") for rule in listed)


def neighbours(found: dict) -> None:
    lasting = {"PERMANENT", "NOARP"}
    for each in shown("ip", "-details", "-json", "neighbor", "show", "nud", "all"):
        multicast = each["dst"].startswith(("ff", "224.", "239."))
        kept = lasting & {*each.get("state", [])}
        if each.get("dev") in found and kept == {"NOARP"} and _is_the_kernels(each, found[each["dev"]]):
            continue
        if each.get("dev") in found and (kept or {"extern_learn", "managed"} & each.keys()) and not multicast:
            passing = ["dev", "used", "confirmed", "updated"]
            passing += [] if kept else ["state"]
            passing += ["lladdr", "router"] if "managed" in each else []
            of = {key: value for key, value in each.items() if key not in passing}
            found[each["dev"]][f"neighbour {each['dst']}"] = words({**of, "refcnt": 0, "probes": 0})
    for each in shown("ip", "-json", "neighbor", "show", "proxy"):
        if each.get("dev") in found:
            found[each["dev"]][f"proxy neighbour {each['dst']}"] = words(each)


def _is_the_kernels(neighbour: dict, of: dict[str, str]) -> bool:
    """Who was spoken to over an interface that asks nobody for an address has that of the interface itself.

    test_watched.py shows that.
    """
    return "NOARP" in of["link flags"] and neighbour.get("lladdr") == of["link address"]


def settings(found: dict) -> None:
    for name in found:
        for folder in Path("/proc/sys/net").glob(f"ipv[46]/*/{name}") if name else []:
            family, kind = folder.parts[4:6]
            for setting in folder.iterdir():
                with contextlib.suppress(OSError):  # such as a secret that is not set
                    key = f"{family} {'' if kind == 'conf' else kind + ' '}{setting.name}"
                    found[name][key] = setting.read_text().strip()


def traffic_control(found: dict) -> None:
    for each in shown("tc", "-json", "qdisc", "show"):
        name = each.pop("dev", "")
        if name not in found or not name:
            continue
        found[name][f"tc qdisc {each['kind']} {each['handle']}"] = words(each)
        if each["kind"] != "noqueue":
            found[name]["tc class"] = run("tc", "class", "show", "dev", name)
            found[name]["tc filter"] = run("tc", "filter", "show", "dev", name)


def devices() -> list[list[str]]:
    """Name, UUID of the profile in use, and state of each."""
    fields = "DEVICE,CON-UUID,STATE"
    return [line.rsplit(":", 2) for line in run("nmcli", "-t", "-f", fields, "device").splitlines()]


def networkmanager(found: dict) -> None:
    for name, _uuid, state in devices():
        if name in found and name:
            alike = state in ("unavailable", WATCHED) and unplugged(found[name])
            found[name]["networkmanager state"] = "left to others" if alike else state


def unplugged(things: dict[str, str]) -> bool:
    """One that has addresses and no carrier: it is called unavailable by who saw it lose that, else watched.

    test_watched.py shows that, too.
    """
    return "NO-CARRIER" in things.get("link flags", "") and any(key.startswith("address ") for key in things)


def of_a_watched_one(text: str) -> str:
    """NetworkManager's memory of an interface that it merely watches, without what hangs on when it looked.

    test_watched.py shows what it by itself says now so, now otherwise of an interface on which nothing has changed.
    """
    lines = [line for line in text.partition("[.nmmeta]")[0].splitlines() if line]
    lines = [re.sub(r"^(address)\d+=", r"\1=", line) for line in lines]
    lines = ["mac-address=one of its own" if line.startswith("mac-address=") else line for line in lines]
    family = lines.index("[ipv6]") if "[ipv6]" in lines else len(lines)
    ipv6 = [line for line in lines[family:] if line != "dns-priority=100"]
    ipv6 = [re.sub(r"^method=(ignore|disabled|link-local)$", "method=not NetworkManager's", line) for line in ipv6]
    return "\n".join(each for part in (lines[:family], ipv6) for each in in_any_order(part))


def in_any_order(lines: list[str]) -> list[str]:
    """Addresses are, for the interface's own order is seen by itself."""
    addresses = sorted(line for line in lines if line.startswith("address="))
    return [addresses.pop(0) if line.startswith("address=") else line for line in lines]


def files(found: dict) -> None:
    watched = {uuid: name for name, uuid, state in devices() if state == WATCHED}
    folders = ("/etc/NetworkManager", "/run/NetworkManager/system-connections", "/var/lib/slb-fleet/interfaces")
    paths = [path for folder in folders for path in sorted(Path(folder).rglob("*")) if path.is_file()]
    for path in [*paths, Path("/etc/resolv.conf")]:
        name, text = str(path), path.read_text(errors="replace")
        text = "\n".join(line for line in text.splitlines() if not line.startswith("timestamp="))
        of_run = path.parts[1] == "run"
        owner = next((name for uuid, name in watched.items() if of_run and f"uuid={uuid}" in text), None)
        if owner in found and unplugged(found[owner]):
            continue
        text = of_a_watched_one(text) if owner else text
        if GENERATED in text or of_run:
            text = re.sub(r"^uuid=.*$", "uuid=made anew each time", text, flags=re.M)
            # It is part of the name where a file of the plain name was left by one that was killed.
            name = re.sub(r"-[0-9a-f-]{36}", "", name)
        owners = {*re.findall(r"\w+", f"{name} {text}")} & found.keys()
        of = found[owners.pop() if len(owners) == 1 else ""]
        while f"file {name}" in of:
            name += " again"
        of[f"file {name}"] = text


if __name__ == "__main__":
    main({word for word in sys.argv[1:] if word[0] == "-"}, [word for word in sys.argv[1:] if word[0] != "-"])
