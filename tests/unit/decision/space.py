"""All that can be seen of a host, under every policy: the promises are tried on it, the table is made from it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy

REQUESTED_AT = 1000.0
WAIT, SETTLE, ATTEMPTS = 180.0, 5.0, 3


def containers() -> Iterator[dict]:
    """Every kind of container: state, age, whether it began after the request, whether it was restarted."""
    yield {"container": "absent"}
    yield {"container": "unknown", "container_why": "the daemon does not answer"}
    for state, after, restarts in itertools.product(
        ("created", "running", "restarting", "paused", "exited"), (-50, 50), (0, 4)
    ):
        for uptime in (1.0, 100.0) if state == "running" else (None,):
            yield {
                "container": state,
                "container_id": "c1",
                "started_at": None if state == "created" else REQUESTED_AT + after,
                "uptime": uptime,
                "restarts": restarts,
            }


def records() -> Iterator[dict]:
    yield {"record": "none"}
    yield {"record": "invalid", "record_why": "the record cannot be read"}
    for age in (10, 1000):
        yield {"record": "pending", "record_age": age, "requested_at": REQUESTED_AT}
        for container in ("c1", "c0"):
            yield {
                "record": "confirmed",
                "record_container": container,
                "record_verified_by": "host",
                "record_age": age,
                "requested_at": REQUESTED_AT,
            }


def everything() -> Iterator[tuple[Evidence, Policy]]:
    runs = itertools.product(
        ("running", "deploying", "failed", "not_listed", "unknown", "unreadable"),
        ("none", "requested", "exists", "port_occupied", "refused", "unknown"),
        (0, ATTEMPTS),
        (0, 1000),
        (0, 3, None),
    )
    policies = [
        Policy(unrecorded, WAIT, SETTLE, ATTEMPTS, allow)
        for unrecorded in ("fail", "adopt", "replace")
        for allow in (False, True)
    ]
    policies.append(Policy("replace", WAIT, SETTLE, ATTEMPTS, unlisted=True))
    for container, record, (console, answer, asked, waited, established) in itertools.product(
        containers(), records(), list(runs)
    ):
        carries = container["container"] in ("running", "paused", "restarting")
        if not carries and established != 0:
            continue
        evidence = Evidence(
            **container,
            **record,
            console=console,
            answer=answer,
            answer_words="(its own words)",
            console_words="it answered HTTP 503.",
            asked=asked,
            waited=waited,
            established=established,
        )
        for policy in policies:
            yield evidence, policy
