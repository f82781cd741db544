"""What can be seen of a host, under several policies: the promises are tried on it, the table is made from it.

What every decision hangs on is combined with all else; what is seen seldom comes alone, upon a part of that.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import (
    EngineIdentity,
    Evidence,
    Policy,
    SetAside,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import ConsoleState
from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Answer, Progress

WAIT, SETTLE, ATTEMPTS = 180.0, 5.0, 3
ENGINE = EngineIdentity("edge-1", "192.0.2.11", "https://console.example")
WORDS = {
    "engine_list_unavailable": "it answered HTTP 503.",
    "elsewhere": "it lists edge-1 at 192.0.2.99, and not at 192.0.2.11",
    "other_name": "it lists west-2 at 192.0.2.11, and not edge-1",
    "empty": "it shows no engine at all",
    "unknown": "it calls the engine's state 'Up', a word that is not described",
}


def containers() -> Iterator[dict]:
    """Every kind of container: state, age, whether it began after the request, whether it was restarted."""
    yield {"container": "absent"}
    yield {"container": "unknown", "container_why": "the daemon does not answer"}
    for state, after, restarts in itertools.product(
        ("created", "running", "restarting", "paused", "exited"), (False, True), (0, 4)
    ):
        for uptime in (1.0, 100.0) if state == "running" else (None,):
            yield {
                "container": state,
                "container_id": "c1",
                "after_request": after,
                "uptime": uptime,
                "restarts": restarts,
            }


def records() -> Iterator[dict]:
    yield {"record": "none"}
    yield {"record": "invalid", "record_why": "the record cannot be read"}
    for differences in ((), ("it is of the engine west-2, not edge-1",)):
        for age in (10, 1000) if differences else (10, 190, 1000):
            yield {"record": "requested", "record_age": age, "differences": differences}
        yield {
            "record": "verified",
            "differences": differences,
            "is_of_this_container": not differences,
        }


def listed(console: str) -> dict:
    return {
        "console": console,
        "console_words": WORDS.get(console, ""),
        "console_is_about_it": console in ("running", "deploying", "failed", "unknown"),
    }


def runs() -> Iterator[dict]:
    answers = ("none", "requested", "exists", "port_in_use", "rejected")
    for console, answer, asked, waited in itertools.product(get_args(ConsoleState), answers, (0, ATTEMPTS), (0, 1000)):
        yield {
            **listed(console),
            "progress": Progress(asked=asked, waited=waited, answer=answer, answer_words="(its own words)"),
        }
    aside = SetAside("c0", "slb-leftover-20261120T131400Z", "running", "list", exists=True)
    for answer in answers:
        yield {"set_aside": aside, "progress": Progress(answer=answer, answer_words="(its own words)")}
    yield {"progress": Progress(answer="exists", answer_words="(its own words)", has_put_back=True)}
    yield {"recorded_as": "slb-x"}
    yield {"console": "running", "record_verified_by": "host", "progress": Progress(confirmed=1)}
    yield {"addresses": ("192.0.2.99",)}
    yield {"engine": EngineIdentity("edge-1", "localhost", "https://console.example", "'localhost' is no address.")}
    yield {"disputed": "The engine's name edge-1 is wanted by edge-1 and edge-9 alike."}


def dangers(container: dict) -> Iterator[dict]:
    yield {}
    if container["container"] in ("running", "paused", "restarting"):
        yield {"established": 3}
        yield {"established": None}
        yield {"auto_remove": True}
        yield {"distrusted": "edge-9"}
        yield {"is_listed_as_recorded": True, "is_of_this_container": True}
        yield {"is_of_another_node": True, "is_of_this_container": True}
        yield {"set_aside": SetAside("c1", "slb", "running", "list", exists=True, mistaken=True)}
    yield {"unwritable": "its file system is read-only"}


POLICIES = (
    *(Policy(unrecorded, WAIT, SETTLE, ATTEMPTS) for unrecorded in ("fail", "adopt", "replace")),
    Policy("replace", WAIT, SETTLE, ATTEMPTS, allow_established=True, remove_leftovers=True),
    Policy("replace", WAIT, SETTLE, ATTEMPTS, unlisted=True, installs=False),
)
IN_A_HURRY = Policy("replace", wait=60.0, settle=0.5, attempts=1, is_translated=True)


def everything() -> Iterator[tuple[Evidence, Policy]]:
    for container, record, run in itertools.product(containers(), records(), list(runs())):
        for danger in dangers(container):
            evidence = Evidence(**{"engine": ENGINE, **container, **record, **run, **danger})
            for policy in POLICIES:
                yield evidence, policy
    yield from seldom()


def seldom() -> Iterator[tuple[Evidence, Policy]]:
    """One seldom thing more upon each container, record and state of the list, and upon each answer without a list."""
    never_restarted = [container for container in containers() if not container.get("restarts")]
    for container, record, run in itertools.product(never_restarted, records(), list(plain_runs())):
        usual = Evidence(**{"engine": ENGINE, **container, **record, **run})
        for seen, of_the_run in (*seldom_seen(), *set_aside(container)):
            evidence = replace(usual, **seen, progress=replace(usual.progress, **of_the_run))
            for policy in (*POLICIES, IN_A_HURRY):
                yield evidence, policy


def plain_runs() -> Iterator[dict]:
    for console in get_args(ConsoleState):
        yield listed(console)
    for answer in get_args(Answer)[1:]:
        yield {"progress": Progress(asked=1, answer=answer, answer_words="(its own words)")}


def seldom_seen() -> Iterator[tuple[dict, dict]]:
    """What is so of the host, and of the progress of the run."""
    yield {"as_root": False}, {}
    yield {"as_root": False, "unwritable": "permission denied"}, {}
    yield {"set_aside_unwritable": "its file system is read-only"}, {}
    yield {"ports": ({"port": 8000, "pid": 217, "process": "python3"},)}, {}
    yield {"addresses": ("192.0.2.99",)}, {}
    yield {"engine": replace(ENGINE, base_url="")}, {}
    yield {"runtime": "podman"}, {}
    yield {"running_leftovers": ("slb-leftover-1",), "runtime": "podman"}, {}
    yield {"runtime": "podman", "systemd_unit": "slb.service"}, {}
    yield {"recorded_as": "slb-x"}, {}
    yield {}, {"rounds": 100}
    yield {}, {"confirmed": 2}
    yield {}, {"put_off": 1}
    yield {}, {"asked": ATTEMPTS, "has_replaced": True}
    yield {}, {"has_replaced": True, "replaced_id": "c1"}
    yield {}, {"has_put_back": True, "put_back_words": "There is no engine on the host. It goes back."}


def set_aside(container: dict) -> Iterator[tuple[dict, dict]]:
    """What lies aside; and where there is a container: it does so half-way."""
    because = ("list", "operator", "record", "ended")
    for why, has_replaced, asked in itertools.product(because, (False, True), (0, ATTEMPTS)):
        before = "exited" if why == "ended" else "running"
        aside = SetAside("c0", "slb-leftover-20261120T131400Z", before, why, exists=True)
        yield {"set_aside": aside}, {"has_replaced": has_replaced, "asked": asked}
    yield {"set_aside": SetAside("c0", "slb-leftover-1", "exited", "list", exists=True)}, {"has_replaced": True}
    yield {"set_aside": SetAside("c0", "slb-leftover-1", "running", "list", exists=False)}, {"has_replaced": True}
    yield {"set_aside": SetAside("c0", "slb-leftover-1", "running", "list", exists=True, going_back=True)}, {}
    if container.get("container_id"):
        for going_back in (False, True):
            aside = SetAside("c1", "slb", "running", "list", exists=True, going_back=going_back)
            yield {"set_aside": aside, "is_half_gone": True}, {}
