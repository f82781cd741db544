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
GENERATED = "nm-generated=true"


LONGEST_SECONDS = 60
PAUSE_SECONDS = 0.7


def main(options: set[str], names: list[str]) -> None:
    look = kernel if "--kernel" in options else everything
    last, found = None, look(names)
    deadline = time.monotonic() + LONGEST_SECONDS
    while "--settled" in options and still(found) != last and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
        last, found = still(found), look(names)
    json.dump(found, sys.stdout)


def still(found: dict) -> dict:
    """Without what passes."""
    return {
        name: {key: value for key, value in things.items() if not value.startswith("until ")}
        for name, things in found.items()
    }


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
    return [each for each in json.loads(run(*command) or "[]") if each]


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
                found.get(dev, found[""])[f"locked route {family} {line.strip()}"] = "there"


def rules(found: dict) -> None:
    for family in ("-4", "-6"):
        for number, rule in enumerate(shown("ip", family, "-N", "-details", "-json", "rule", "show")):
            of = found.get(rule.get("iif") or rule.get("oif"), found[""])
            of[f"rule {family} {words(rule)}"] = "there" if of is not found[""] else str(number)


def neighbours(found: dict) -> None:
    kept = ("PERMANENT", "NOARP")
    for each in shown("ip", "-details", "-json", "neighbor", "show", "nud", "all"):
        multicast = each["dst"].startswith(("ff", "224.", "239."))
        if each.get("dev") in found and set(each.get("state", [])) & {*kept} and not multicast:
            of = {key: value for key, value in each.items() if key not in ("dev", "used", "confirmed", "updated")}
            found[each["dev"]][f"neighbour {each['dst']}"] = words({**of, "refcnt": 0, "probes": 0})
    for each in shown("ip", "-json", "neighbor", "show", "proxy"):
        if each.get("dev") in found:
            found[each["dev"]][f"proxy neighbour {each['dst']}"] = "there"


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


def networkmanager(found: dict) -> None:
    for line in run("nmcli", "-t", "-f", "DEVICE,STATE", "device").splitlines():
        name, state = line.rsplit(":", 1)
        if name in found and name:
            found[name]["networkmanager state"] = state


def files(found: dict) -> None:
    folders = ("/etc/NetworkManager", "/run/NetworkManager/system-connections", "/var/lib/slb-fleet/interfaces")
    paths = [path for folder in folders for path in sorted(Path(folder).rglob("*")) if path.is_file()]
    for path in [*paths, Path("/etc/resolv.conf")]:
        name, text = str(path), path.read_text(errors="replace")
        text = "\n".join(line for line in text.splitlines() if not line.startswith("timestamp="))
        if GENERATED in text or path.parts[1] == "run":
            text = re.sub(r"^uuid=.*$", "uuid=made anew each time", text, flags=re.M)
            # It is part of the name where a file of the plain name was left by one that was killed.
            name = re.sub(r"-[0-9a-f-]{36}", "", name)
        owners = {*re.findall(r"\w+", f"{name} {text}")} & found.keys()
        found[owners.pop() if len(owners) == 1 else ""][f"file {name}"] = text


if __name__ == "__main__":
    main({word for word in sys.argv[1:] if word[0] == "-"}, [word for word in sys.argv[1:] if word[0] != "-"])
