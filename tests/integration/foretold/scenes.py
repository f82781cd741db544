"""The rows of the table that a real host can be brought into, nine hosts at a time."""

from __future__ import annotations

from typing import Any

from sites import LISTING, RECORD, SERVE
from wards import Case, Ward

REPLACE = {"slb_unverified_engine": "replace"}
ADOPT = {"slb_unverified_engine": "adopt"}
DESCRIBED: dict[str, Any] = {"slb_engine_list": LISTING, "slb_max_replaced": "100%"}
# A word of the console that nobody has described.
HALF_DESCRIBED = {"slb_engine_list": {**LISTING, "failed": []}}
ELSEWHERE = {"slb_engine_list": {**LISTING, "path": "/console/nothing"}}
TWIN = {"slb_engine_name": "twin"}
EMPTY = {"slb_engine_list_may_be_empty": True}


def unproven(ward: Ward) -> None:
    ward.run_container()
    ward.note("verified", container_id="another", verified_by="host", verified_at=1.0)


def noisy(ward: Ward) -> None:
    ward.make_motd_noisy()


def came_up(ward: Ward) -> None:
    ward.note("requested")
    ward.run_container()


def left(ward: Ward) -> None:
    ward.note("requested")
    ward.run_and_exit()


def serves_a_client(ward: Ward) -> None:
    ward.run_container()
    ward.connect_a_client()


def deletes_itself(ward: Ward) -> None:
    ward.docker("run", "--detach", "--name", "slb", "--rm", "--network", "host", *SERVE)


def verified_and_exited(ward: Ward) -> None:
    ward.prove()
    ward.exit()


def verified_and_paused(ward: Ward) -> None:
    ward.prove()
    ward.docker("pause", "slb")


def paused(ward: Ward) -> None:
    ward.run_container()
    ward.docker("pause", "slb")


def verified_and_restarted(ward: Ward) -> None:
    ward.prove()
    ward.restart_by_itself()


def restarts(ward: Ward) -> None:
    ward.note("requested")
    ward.run_container("slb", "slb:1", "/bin/sh", "-c", "exit 1")


def damaged(ward: Ward) -> None:
    ward.write(RECORD, "{")


def without_a_runtime(ward: Ward) -> None:
    ward.run_container()
    ward.write("/usr/local/bin/docker", "#!/bin/sh\necho Cannot connect to the Docker daemon. >&2\nexit 1\n")
    ward.host.exec(["chmod", "755", "/usr/local/bin/docker"])


def read_only(ward: Ward, folder: str = "/etc/ansible/facts.d") -> None:
    ward.host.exec(
        ["sh", "-c", f"mkdir -p {folder}; mount --bind {folder} {folder}; mount -o remount,bind,ro {folder}"]
    )


def exited_and_nothing_can_be_noted(ward: Ward) -> None:
    ward.run_and_exit()
    read_only(ward, "/var/lib/slb-fleet")


def created(ward: Ward) -> None:
    ward.docker("create", "--name", "slb", *SERVE)


def verified_and_listed(status: str) -> Any:
    def bring_about(ward: Ward) -> None:
        ward.prove()
        ward.be_listed(status)

    return bring_about


def running_and_listed(status: str) -> Any:
    def bring_about(ward: Ward) -> None:
        ward.run_container()
        ward.be_listed(status)

    return bring_about


def came_up_and_is_listed(ward: Ward) -> None:
    came_up(ward)
    ward.be_listed("running")


def stopped_but_listed(ward: Ward) -> None:
    verified_and_exited(ward)
    ward.be_listed("running")


WITHOUT_A_LIST = {
    "whatever is there, by its record": [
        Case("absent", "install", "There is no engine", noisy),
        Case("healthy", "none", "", Ward.prove),
        Case("our request left nothing", "install", "left no container", lambda ward: ward.note("requested")),
        Case(
            "our request is young",
            "wait",
            "is noted on the host",
            lambda ward: ward.note("requested", age=0),
            {"slb_wait_timeout": 240},
            lambda ward: ward.note("requested", age=210),
        ),
        Case("our deployment finished", "record", "came up after our request", came_up),
        Case("exited, no record", "replace", "leftover of an earlier deployment", Ward.run_and_exit),
        Case("running, no record", "fail", "it could be live", Ward.run_container),
        Case("another container than the record's", "fail", "it is of another container", unproven),
        Case("running, the operator adopts it", "record", "says: adopt", Ward.run_container, ADOPT),
    ],
    "what stands against it": [
        Case("our request left an exited one", "replace", "the deployment failed", left),
        Case("running, the operator replaces it", "replace", "says: replace", Ward.run_container, REPLACE),
        Case("connections", "fail", "established connections", serves_a_client, REPLACE),
        Case("deletes itself", "fail", "was started with --rm", deletes_itself, REPLACE),
        Case("verified and exited", "fail", "is stopped", verified_and_exited),
        Case("verified and paused", "fail", "is stopped", verified_and_paused),
        Case("damaged record", "fail", "an install may be under way", damaged),
        Case("no runtime", "fail", "is unknown", without_a_runtime),
        Case("record cannot be written", "fail", "read-only", read_only),
    ],
    "what is wanted, and what restarts": [
        Case("created", "replace", "is created", created),
        Case("one name", "fail", "is wanted by", variables=TWIN),
        Case("the same name", "fail", "is wanted by", variables=TWIN),
        Case("no address", "fail", "is not an IP address", variables={"slb_manage_ip": "300.1.1.1"}),
        Case("no management node", "fail", "slb_base_url", variables={"slb_base_url": ""}),
        Case("not let in", "fail", "The install was not begun", variables={"slb_username": "nobody"}),
        Case("ours, restarting", "wait", "seeing whether it stays up", restarts, {"slb_settle": 3}, is_restless=True),
        Case(
            "verified, just restarted",
            "wait",
            "seeing whether it stays up",
            verified_and_restarted,
            {"slb_settle": 60},
            Ward.restart_by_itself,
            is_restless=True,
        ),
        Case("held port", "install", "There is no engine", lambda ward: ward.hold_the_port()),
    ],
}
WITH_A_LIST = {
    "what the list says of what runs": [
        Case("verified and listed", "none", "", verified_and_listed("running")),
        Case("verified and gone", "fail", "which was verified to run here", Ward.prove),
        Case("verified and failed", "fail", "which was verified to run here", verified_and_listed("failed")),
        Case("listed", "record", "The console lists the engine as running", running_and_listed("running")),
        Case("listed as deploying", "wait", "as deploying", running_and_listed("deploying"), {"slb_wait_timeout": 4}),
        Case("not listed", "replace", "does not list the engine", Ward.run_container),
        Case("failed", "replace", "as failed", running_and_listed("failed")),
        Case("elsewhere", "fail", "contradicts", lambda ward: ward.be_listed("running", address="198.51.100.1")),
        Case("other name", "fail", "contradicts", lambda ward: ward.be_listed("running", name="other")),
    ],
    "what the list says of what does not, and what it cannot say": [
        Case("drift", "fail", "Find out who is right", lambda ward: ward.be_listed("running")),
        Case("exited", "replace", "leftover of an earlier deployment", Ward.run_and_exit),
        Case("absent", "install", "There is no engine"),
        Case("adopt against the list", "fail", "One of them is wrong", Ward.run_container, ADOPT),
        Case("unknown word", "fail", "nothing clear", running_and_listed("failed"), HALF_DESCRIBED),
        Case("unreadable", "fail", "could not be read", Ward.run_container, ELSEWHERE),
        Case(
            "verified, front end stuck", "wait", "deploying", verified_and_listed("deploying"), {"slb_wait_timeout": 4}
        ),
        Case("verified and stopped", "fail", "Find out who is right", stopped_but_listed),
        Case("ours, and listed", "record", "lists the engine as running", came_up_and_is_listed),
    ],
    "an empty list, and the budget": [
        Case("running", "fail", "no engine at all", Ward.run_container),
        Case("absent", "install", "There is no engine"),
        Case("exited, no note of it", "fail", "read-only", exited_and_nothing_can_be_noted),
        Case("healthy", "fail", "no engine at all", Ward.prove),
        Case("empty and right", "fail", "slb_max_replaced", Ward.run_container, EMPTY),
        Case("empty and right too", "fail", "slb_max_replaced", Ward.run_container, EMPTY),
        Case("connections", "fail", "established connections", serves_a_client, EMPTY),
        Case("the operator replaces it", "replace", "says: replace", Ward.run_container, REPLACE),
        Case("paused", "fail", "no engine at all", paused),
    ],
}
REMEDIES = [
    Case("unrecorded", "replace", "the operator says", Ward.run_container),
    Case("healthy", "replace", "the operator says", Ward.prove),
    Case("paused", "replace", "the operator says", paused),
    Case("came up after our request", "replace", "the operator says", came_up),
    Case("connections", "fail", "established connections", serves_a_client),
    Case("absent, and a long message", "install", "There is no engine", noisy),
    Case("young request", "wait", "is noted on the host", lambda ward: ward.note("requested", age=0)),
    Case("listed", "none", "", running_and_listed("running"), DESCRIBED),
    Case("verified, listed as failed", "replace", "the operator says", verified_and_listed("failed"), DESCRIBED),
]
