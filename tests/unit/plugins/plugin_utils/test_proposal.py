"""The proposal of slb_engine_list for answers of common web frameworks."""

import json

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import EngineList, comparable
from ansible_collections.slb.fleet.plugins.plugin_utils._proposal import propose

HOSTS = {f"edge-{number}": (f"edge-{number}", f"192.0.2.{number}") for number in (1, 2, 3)}
PATH = "/api/engines"


def rows(*states, state="status", **more):
    """Return an engine in each state, from edge-1 upwards."""
    named = [{"id": f"e{each}", "name": f"edge-{each}", "ip": f"192.0.2.{each}"} for each in range(1, len(states) + 1)]
    return [{**row, state: word, **more} for row, word in zip(named, states, strict=True)]


def option(items="", name="name", address="ip", state="status", total="", **words):
    keys = {"path": PATH, "items": items, "name": name, "address": address, "state": state, "total": total}
    return {key: value for key, value in {**keys, **words}.items() if value}


UP = ("running", "running", "failed")
WORDS = {"running": ["running"], "failed": ["failed"]}
NESTED = {
    "items": [
        {"spec": {"name": f"edge-{number}", "net": {"ip": f"192.0.2.{number}/24"}}, "status": {"phase": "Running"}}
        for number in (1, 2, 3)
    ]
}
PEERS = [{**row, "peer": f"edge-{(number + 1) % 3 + 1}"} for number, row in enumerate(rows(*UP))]
SPRING = {"content": rows(*UP), "numberOfElements": 3, "size": 20, "number": 0, "totalElements": 3, "totalPages": 1}
HAL = {"_embedded": {"engines": rows(*UP)}, "page": {"size": 20, "totalElements": 3, "totalPages": 1, "number": 0}}
EXTJS = {"success": True, "msg": "", "data": {"items": rows(*UP), "total": "3"}}
GROUPS = {"groups": [{"engines": rows(*UP)[:2]}, {"engines": rows(*UP)[2:]}]}
OTHERS = {"alarms": {"total": 3}, "v": {"total": 3, "e": rows(*UP)}}
RENAMED = [{**row, "name": f"slb{number}"} for number, row in enumerate(rows(*UP))]
ELSEWHERE = [{**row, "ip": f"198.51.100.{number}"} for number, row in enumerate(rows(*UP))]
PAGE_OF_OTHERS = {**OTHERS, "v": {"total": 9, "e": rows(*UP)}}
UNMAPPED = rows("running", "deploying", "Upgrading")
TWO = {"alarms": rows(*UP)[:2], "engines": rows(*UP)}
DRF = {"count": 3, "next": None, "previous": None, "results": rows(*UP)}
CASES = {
    "Spring page": (SPRING, option("content", total="totalElements", **WORDS), ["3 of 3. Not in the list: none."]),
    "Spring HAL": (HAL, option("_embedded.engines", **WORDS), ["page.totalElements"]),
    "envelope": (EXTJS, option("data.items", total="data.total", **WORDS), ["Set deploying: no such word now."]),
    "DRF": (DRF, option("results", **WORDS), ["all engines: count."]),
    "Spring slice": ({"content": rows(*UP), "numberOfElements": 3}, option("content", **WORDS), ["numberOfElements"]),
    "total of another list": ({"vips": {"total": 3}, "items": rows(*UP)}, option("items", **WORDS), ["vips.total"]),
    "state of a task": (rows("Up", "Up", task="running"), option(state=""), ["Set state, running", "status (Up)"]),
    "totals of others": (OTHERS, option("v.e", total="v.total", **WORDS), []),
    "page among totals of others": (PAGE_OF_OTHERS, option("v.e", **WORDS), ["v.total differs"]),
    "plain list": (rows(*UP), option(**WORDS), ["No total found"]),
    "groups": (GROUPS, option("groups.*.engines", **WORDS), []),
    "nested keys": (NESTED, option("items", "spec.name", "spec.net.ip", "status.phase", running=["Running"]), []),
    "numbers as states": (
        {"list": rows(1, 1, 0, state="st", oper_status=2), "total": 3},
        option("list", state="", total="total"),
        ["Set state, running, deploying and failed. Keys with few values: oper_status (2), id, st."],
    ),
    "words as states": (rows("UP", "UP", "DOWN"), option(state=""), ["status (DOWN, UP)"]),
    "two states": (rows(*UP, wanted="running"), option(state=""), ["values: status (failed, running), wanted."]),
    "state as word and label": ([{**row, "label": row["status"].title()} for row in rows(*UP)], option(**WORDS), []),
    "unmapped state": (UNMAPPED, option(running=["running"], deploying=["deploying"]), ["or failed: Upgrading."]),
    "two lists": (TWO, option("engines", **WORDS), ["Other lists with hosts: 'alarms'."]),
    "names of peers": (PEERS, option(**WORDS), []),
    "other names": (RENAMED, option(name="", **WORDS), ["Set name, or correct slb_engine_name: no key fits."]),
    "other addresses": (ELSEWHERE, option(address="", **WORDS), ["Set address, or correct slb_manage_ip"]),
    "ambiguous total": ({"size": 3, "n": 3, "rows": rows(*UP)}, option("rows", **WORDS), ["all engines: size, n."]),
    "total of one engine": ({"v": 1, "rows": rows("running")}, option("rows", running=["running"]), ["engines: v."]),
    "a page": ({"data": rows(*UP), "size": 3, "total": 7}, option("data", **WORDS), ["total differs from the number"]),
    "some hosts": (rows("running"), option(running=["running"]), ["Not in the list: edge-2, edge-3."]),
    "no match": ({"rows": [{"id": 7, "title": "x"}]}, {"path": PATH}, ["has a name or address", "'rows': id, title."]),
    "no engines": ({"data": {"items": [], "total": 0}}, {"path": PATH}, ["The answer has no engines.", "  state: ''"]),
    "text": ("edge-1", {"path": PATH}, ["The answer has no engines."]),
}


@pytest.mark.parametrize(("document", "expected", "words"), CASES.values(), ids=CASES)
def test_proposal_for_an_answer(document, expected, words):
    proposed, lines = propose(document, {"Content-Type": "application/json"}, PATH, HOSTS)
    assert proposed == expected
    assert not [each for each in words if each not in "\n".join(lines)], lines


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if {"state", "name", "address", "running"} <= {*case[1]}]
)
def test_proposed_option_reads_the_engines(name):
    document, _option, _words = CASES[name]
    engine_list = EngineList.from_option(propose(document, {}, PATH, HOSTS)[0])
    engines = engine_list.read_engines(engine_list.find_items(document))
    known = {(name, comparable(address)) for name, address in HOSTS.values()}
    assert {(engine["name"], engine["address"]) for engine in engines} <= known


def test_total_of_a_header():
    proposed, _lines = propose(rows(*UP), {"X-Total-Count": "3", "Age": "0"}, PATH, HOSTS)
    assert proposed == option(**WORDS)


def with_more(value, more):
    """Return an answer with more members of each object."""
    if isinstance(value, list):
        return [with_more(each, more) for each in value]
    return {key: with_more(each, more) for key, each in value.items()} | more if isinstance(value, dict) else value


@pytest.mark.parametrize("name", CASES)
def test_proposal_shows_no_other_value_of_the_answer(name):
    secret = "S3cr3t-Z9"
    more = {
        "psk": "hunter",
        "status_note": secret,
        "statistics": {"sid": "hunter"},
        "state_token": "hunter",
        "x" * 41: 1,
    }
    headers = {"Set-Cookie": f"sessionid={secret}"}
    proposed, lines = propose(with_more(CASES[name][0], more), headers, f"{PATH}?token={secret}", HOSTS)
    text = json.dumps([{**proposed, "path": ""}, *lines])
    assert not [each for each in (secret, "hunter", "x" * 41) if each in text], lines
    assert len(lines) < 40


def test_large_and_deep_answers_end():
    deep = [0]
    for _index in range(500):
        deep = [{"edge-1": deep}]
    wide = [{f"key{number}": "192.0.2.1" for number in range(150)} for _index in range(50)]
    _option, lines = propose({"deep": deep, "wide": wide, **{f"l{n}": [{"a": 1}] for n in range(300)}}, {}, PATH, HOSTS)
    assert len(lines) < 40
