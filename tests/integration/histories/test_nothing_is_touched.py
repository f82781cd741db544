"""Everything that an act needs is known to be there before anything on the host is touched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from estate import Estate, History, Member
from sites import RECORD

FACTS = "/etc/ansible/facts.d"

# The operator's word that what runs is a leftover: so only the trouble itself can keep the run from stopping it.
LEFTOVER: dict[str, Any] = {"slb_engine_list": None, "slb_unverified_engine": "replace", "slb_retries": 0}
BEFORE: dict[str, dict[str, Any]] = {
    "h1": {"slb_password": "not the password"},
    "h2": {"slb_manage_ip": "127.0.0.1"},
    "h3": {"slb_user_credential_id": "the default one"},
    "h4": {"slb_base_url": "https://127.0.0.1:1"},
    "h5": {},
    "h6": {},
}
ALSO: dict[str, dict[str, Any]] = {
    "h1": {"slb_user_credential_id": 99},
    "h2": {},
    "h3": {},
    "h6": {"slb_tls_fingerprint": "00" * 32},
}


def leave_something_noisy(member: Member) -> None:
    member.clean()
    member.run_container()
    member.make_motd_noisy()


def make_read_only(member: Member, folder: str) -> None:
    member.host.exec(["sh", "-c", f"mkdir -p {folder} && mount --bind {folder} {folder}"])
    member.host.exec(["mount", "-o", "remount,bind,ro", folder])


def fill_up(member: Member, folder: str) -> None:
    member.host.exec(["sh", "-c", f"mkdir -p {folder} && mount -t tmpfs -o size=16k,mode=0755 tmpfs {folder}"])
    member.host.exec(["sh", "-c", f"mkdir -p {folder}/facts.d; cat /dev/zero > {folder}/full"], check=False)


@pytest.fixture(scope="module")
def refused(estate: Estate) -> History:
    estate.clean()
    estate.at_once(*(lambda member=member: leave_something_noisy(member) for member in estate))
    make_read_only(estate["h5"], "/etc/ansible")
    fill_up(estate["h6"], "/etc/ansible")
    return estate.history("slb.fleet.rollout", hosts=BEFORE, **LEFTOVER)


def test_nothing_at_all_is_otherwise(estate: Estate, refused: History) -> None:
    assert refused.failed(*estate.names), refused.run.output
    assert refused.touched == {}, refused.run.output
    assert not refused.requests.get("install")


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("h1", "Check username and password"),
        ("h2", "Option manage_ip invalid"),
        ("h3", "user_credential_id"),
        ("h4", "https://127.0.0.1:1"),
        ("h5", "read-only"),
        ("h6", "is full"),
    ],
)
def test_each_names_what_is_missing(refused: History, host: str, words: str) -> None:
    assert words in refused.said(host), refused.run.output


@pytest.fixture(scope="module")
def later(estate: Estate, refused: History) -> History:
    estate.at_once(*(lambda member=member: leave_something_noisy(member) for member in estate))
    make_read_only(estate["h2"], "/var/lib/slb-fleet")
    fill_up(estate["h3"], "/var/lib/slb-fleet")
    return estate.history("slb.fleet.rollout", "--limit", ",".join(ALSO), hosts=ALSO, **LEFTOVER)


def test_what_only_the_node_can_know_is_undone_when_it_says_so(estate: Estate, later: History) -> None:
    """That there is no stored credential 99 is known only from the node's refusal."""
    assert later.run.report["h1"].startswith("failed"), later.run.output
    before, after = later.before.hosts["h1"], later.after.hosts["h1"]
    assert after.containers.keys() == before.containers.keys()
    ((_, container),) = after.containers.items()
    assert (container["name"], container["state"], container["policy"]) == ("slb", "running", "always")
    assert (estate["h1"].note, estate["h1"].record) == ({}, {})
    assert "No stored credential has the id 99" in later.said("h1"), "the node's own words"


@pytest.mark.parametrize("host", ["h2", "h3", "h6"])
def test_nothing_on_the_others_is_otherwise(later: History, host: str) -> None:
    assert later.run.report[host].startswith("failed"), later.run.output
    assert host not in later.touched, later.run.output


@pytest.mark.parametrize(("host", "words"), [("h2", "read-only"), ("h3", "is full"), ("h6", "tls_fingerprint")])
def test_each_names_what_is_wrong(later: History, host: str, words: str) -> None:
    assert words in later.said(host), later.run.output


def test_a_wrong_password_is_tried_once_for_all_hosts(estate: Estate, later: History) -> None:
    wrong = {name: {"slb_password": "not the password"} for name in ("h4", "h5")}
    history = estate.history("slb.fleet.rollout", "--limit", "h4,h5", hosts=wrong, **LEFTOVER)
    assert history.failed("h4", "h5"), history.run.output
    assert history.touched == {}
    assert history.requests["login"] == 1
    assert "Check username and password" in history.said("h4") + history.said("h5")


# --- what cannot be written, though its folder can be, or for want of something that no size shows


def be_recorded_and_differ(estate: Estate, name: str) -> None:
    """There is a record, and another container than the one that it proves."""
    estate.make_verified(name)
    estate[name].docker("rm", "--force", "slb")
    estate[name].run_container()


def spend_inodes(member: Member, folder: str) -> None:
    member.host.exec(["sh", "-c", f"mkdir -p {folder} && mount -t tmpfs -o nr_inodes=4,mode=0755 tmpfs {folder}"])


@pytest.fixture(scope="module")
def fixed(estate: Estate) -> Iterator[History]:
    for name in ("h1", "h3"):
        be_recorded_and_differ(estate, name)
    estate.make_leftover("h2", "h4", "h5", "h6")
    estate["h1"].host.exec(["chattr", "+i", RECORD])
    spend_inodes(estate["h2"], "/etc/ansible")
    estate["h3"].host.exec(["mount", "--bind", RECORD, RECORD])
    estate["h4"].host.exec(["sh", "-c", f"mkdir -p {FACTS} && chattr +i {FACTS}"])
    spend_inodes(estate["h5"], "/var/lib/slb-fleet")
    estate["h6"].host.exec(["sh", "-c", "mkdir -p /var/lib/slb-fleet && chattr +i /var/lib/slb-fleet"])
    yield estate.history("slb.fleet.rollout", **LEFTOVER)
    estate.clean()


def test_nothing_is_touched_where_a_note_could_not_be_kept(estate: Estate, fixed: History) -> None:
    assert fixed.failed(*estate.names), fixed.run.output
    assert fixed.touched == {}, fixed.run.output
    assert not fixed.requests.get("install")


@pytest.mark.parametrize(
    ("host", "path", "remedy"),
    [
        ("h1", RECORD, "lsattr"),
        ("h2", "/etc/ansible", "inodes"),
        ("h3", RECORD, "findmnt"),
        ("h4", FACTS, "lsattr -d"),
        ("h5", "/var/lib/slb-fleet", "inodes"),
        ("h6", "/var/lib/slb-fleet", "lsattr -d"),
    ],
)
def test_each_names_the_path_and_what_to_look_at(fixed: History, host: str, path: str, remedy: str) -> None:
    said = fixed.said(host)
    assert f"{path} " in said, fixed.run.output
    assert remedy in said
    assert "Mend that on the host, then run again" in said
