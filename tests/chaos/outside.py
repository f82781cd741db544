"""What a host and its management node look like from the outside, and what no run may have done to them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from sites import RECORD, Site

_FILES = "for file in /etc/motd /etc/motd.bak*; do [ ! -e $file ] || sha256sum $file; done"
_CONTAINERS = "docker ps --all --no-trunc --format '{{.ID}} {{.Names}} {{.State}}'"
_EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class Sight:
    """``containers``: name and state by id. ``live``: the id of the engine that the management node has as running."""

    containers: dict[str, tuple[str, str]]
    live: str | None
    messages: dict[str, str]
    record: str
    installs: int

    def of(self, name: str) -> str | None:
        return next((identity for identity, (named, _) in self.containers.items() if named == name), None)

    @property
    def is_verified(self) -> bool:
        try:
            record = json.loads(self.record)
        except ValueError:
            return False
        engine = self.of("slb")
        runs = engine is not None and self.containers[engine][1] == "running"
        return runs and (record["state"], record["last_verified"]) == ("verified", engine)


def look(site: Site) -> Sight:
    lines = site.host.exec(["sh", "-c", _CONTAINERS]).stdout.splitlines()
    containers = {identity: (name, state) for identity, name, state in (line.split() for line in lines)}
    engine = next((identity for identity, (name, _) in containers.items() if name == "slb"), None)
    runs = engine is not None and containers[engine][1] == "running" and site.listed == ["running"]
    files = site.host.exec(["sh", "-c", _FILES]).stdout.splitlines()
    return Sight(
        containers=containers,
        live=engine if runs else None,
        messages={path: content for content, path in (line.split() for line in files)},
        record=site.file(RECORD),
        installs=site.requests.get("install", 0),
    )


def broken_promises(before: Sight, after: Sight, attempts: int, word: str) -> Iterator[str]:
    """``word``: what the operator has said of an unrecorded engine on this host."""
    if before.live and word != "replace" and after.containers.get(before.live) != ("slb", "running"):
        yield f"the live engine {before.live[:12]} is {after.containers.get(before.live, 'gone')}"
    if lost := before.containers.keys() - after.containers.keys():
        yield f"containers were deleted: {', '.join(before.containers[each][0] for each in lost)}"
    for identity, (name, state) in before.containers.items():
        if name != "slb" and after.containers.get(identity, (name, state)) != (name, state):
            yield f"the container {name} was touched: it is {after.containers[identity]}"
    kept = set(after.messages.values())
    for path, content in before.messages.items():
        if content not in kept and content != _EMPTY:
            yield f"the content of {path} is lost"
        if path != "/etc/motd" and after.messages.get(path, content) != content:
            yield f"the backup {path} was overwritten"
    if after.installs - before.installs > attempts:
        yield f"the install was asked for {after.installs - before.installs} times"
    if after.record and not _is_record(after.record) and after.record != before.record:
        yield "the record was left half written"


def _is_record(text: str) -> bool:
    try:
        return json.loads(text)["state"] in ("preparing", "requested", "restoring", "verified")
    except (ValueError, KeyError):
        return False


def remedies(site: Site) -> Iterator[str]:
    """What an operator does about a host that a run has refused, looking at the host and at the console."""
    sight = look(site)
    if sight.record and not _is_record(sight.record):
        site.host.exec(["rm", RECORD])
        yield "removed the damaged record"
    if site.host.exec(["systemctl", "stop", "test-holder"], check=False).returncode == 0:
        yield "ended what held the port"
    if site.host.exec(["systemctl", "stop", "test-client"], check=False).returncode == 0:
        yield "ended the connections"
    if "other" in [name for name, _ in sight.containers.values()]:
        site.docker("rm", "--force", "other")
        yield "removed the other container"
    if site.listed and not sight.live:
        site.node.forget(site.node.state()["engines"][0]["name"])
        yield "removed the engine in the console"
    if sight.of("slb"):
        yield "adopt" if sight.live else "replace"
