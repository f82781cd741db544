"""The engine list that is proposed for the answers of a web console."""

import json

import pytest
import yaml

from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import (
    EngineList,
    read_answer,
    read_pages,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import compile_patterns
from ansible_collections.slb.fleet.plugins.plugin_utils._proposal import find_lists, propose, read_query
from ansible_collections.slb.fleet.plugins.plugin_utils._proposal_report import (
    as_yaml,
    read_answers,
    show_answers,
    show_proposal,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._recording import read_recording
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils.hars import (
    BASE,
    SECRETS,
    entry,
    har,
    hosts,
    of_firefox,
    post,
    row,
    rows,
    sanitized,
)

PATTERNS = compile_patterns({})
PATH = "/console/engines"
EXPECTED = {
    "path": PATH,
    "items": "data",
    "name": "engine_name",
    "address": "ip",
    "state": "status",
    "running": ["running"],
}


def recording_of(*entries):
    return read_recording(har(*entries), [BASE], {"192.0.2.1"}, "console.har")


def candidates_of(*entries, known=None):
    return propose(recording_of(*entries).exchanges, known or hosts(1, 2, 3))


def best_of(*entries, known=None):
    return candidates_of(*entries, known=known)[0]


def list_of(data, path=PATH, **more):
    return entry(path, {"code": 0, "data": data, **more})


@pytest.mark.parametrize("browser", [dict, sanitized, of_firefox], ids=["Chrome", "sanitized", "Firefox"])
def test_list_in_an_envelope_is_proposed_without_doubt(browser):
    best = best_of(browser(list_of(rows(1, 2, 3), total=3)))
    assert (best.option, best.doubts, best.problem) == (EXPECTED, (), "")
    assert (best.explained, best.engines) == (3, 3)


@pytest.mark.parametrize(
    ("document", "items", "keys"),
    [
        (rows(1, 2), "", ("engine_name", "ip", "status")),
        ({"data": {"items": rows(1, 2)}}, "data.items", ("engine_name", "ip", "status")),
        ({"groups": [{"engines": rows(1)}, {"engines": rows(2)}]}, "groups.*.engines", ("engine_name", "ip", "status")),
        ({"engines": {"7": row(1), "9": row(2)}}, "engines.*", ("engine_name", "ip", "status")),
        (
            [
                {"meta": {"name": f"edge-{n}"}, "net": {"ips": [f"192.0.2.{n}/24", "::1"]}, "st": "running"}
                for n in (1, 2)
            ],
            "",
            ("meta.name", "net.ips.0", "st"),
        ),
        (
            {"engines": [[1, "edge-1", "192.0.2.1", "running"], [2, "edge-2", "192.0.2.2", "running"]]},
            "engines",
            ("1", "2", "3"),
        ),
        (
            [{"n": f"edge-{n}", "url": f"https://192.0.2.{n}:8443/x", "运行状态": "运行中"} for n in (1, 2)],
            "",
            ("n", "url", "运行状态"),
        ),
    ],
    ids=["top", "envelope", "groups", "map", "nested", "rows are lists", "URL and Chinese"],
)
def test_list_of_each_form_is_read_by_the_engine_list(document, items, keys):
    """The proposed YAML describes the same engines to a run."""
    source = entry(PATH, document)
    best = best_of(source, known=hosts(1, 2))
    assert best.problem == ""
    engine_list = EngineList.from_option(yaml.safe_load(as_yaml(best.option))["slb_engine_list"])
    assert (engine_list.items, engine_list.name, engine_list.address, engine_list.state) == (items, *keys)
    engines = read_answer(engine_list, recording_of(source).exchanges[0].answer).engines
    assert {(each["name"], each["address"], each["state"]) for each in engines} == {
        ("edge-1", "192.0.2.1", "running"),
        ("edge-2", "192.0.2.2", "running"),
    }


def paged(parameter, *values, size=2, total=5, first=1):
    """Return the requests of pages, by the values of their parameter."""
    engines = rows(1, 2, 3, 4, 5)
    for index, value in enumerate(values):
        part = engines[index * size : index * size + size]
        yield entry(f"{PATH}?{parameter}={value}&limit={size}&_=170000000000{index}", {"data": part, "total": total})


@pytest.mark.parametrize(
    ("parameter", "values", "keys"),
    [
        ("page", (1, 2, 3), ("page", 1, 1)),
        ("pageNo", (0, 1, 2), ("pageNo", 0, 1)),
        ("page%5Bnumber%5D", (1, 2, 3), ("page[number]", 1, 1)),
        ("$skip", (0, 2, 4), ("$skip", 0, 2)),
        ("page", (1,), ("page", 1, 1)),
        ("offset", (0,), ("offset", 0, 2)),
    ],
)
def test_pages_are_proposed_and_read(parameter, values, keys):
    entries = list(paged(parameter, *values))
    best = best_of(*entries, known=hosts(1, 2, 3, 4, 5))
    assert (best.doubts, best.problem) == ((), "")
    engine_list = EngineList.from_option(best.option)
    assert (engine_list.page_parameter, engine_list.first_page, engine_list.page_step) == keys
    assert engine_list.path == f"{PATH}?limit=2"
    answers = [each.answer for each in recording_of(*paged(parameter, *range(3))).exchanges]
    requested = []

    def get(path):
        requested.append(path)
        return answers[len(requested) - 1]

    assert len(read_pages(engine_list, get, 1e12).engines) == 5


def test_answers_of_polling_are_one_list_with_all_states():
    states = ["deploying", "running", "running"]
    best = best_of(*(list_of([row(1), row(2, state)], path=f"{PATH}?_={n}") for n, state in enumerate(states)))
    assert best.option == {**EXPECTED, "deploying": ["deploying"]}
    assert (best.engines, best.doubts) == (2, ())


def test_words_of_state_are_sorted_or_asked():
    engines = [
        row(n, state) for n, state in enumerate(["Running", "up", "部署中", "Deploy_Failed", "stopped", "zombie"], 1)
    ]
    best = best_of(list_of(engines, total=6))
    assert best.option["running"] == ["Running", "up"]
    assert best.option["deploying"] == ["部署中"]
    assert best.option["failed"] == ["Deploy_Failed"]
    assert (best.unsure, best.unmapped) == (("up",), ("zombie",))
    assert best.doubts == ("check the state up", "state zombie unknown")


def test_numbers_of_state_are_asked_and_quoted():
    best = best_of(list_of(rows(1, 2, state=1)))
    assert best.unmapped == ("1",)
    assert best.option["running"] == []
    assert "no word for running is in it" in best.doubts
    assert yaml.safe_load(as_yaml({**EXPECTED, "running": ["1", "yes", "on"]}))["slb_engine_list"]["running"] == [
        "1",
        "yes",
        "on",
    ]


def states_of(**columns):
    """Return the column that is proposed, and the doubts, for rows with these columns."""
    keys = [dict(zip(columns, words, strict=True)) for words in zip(*columns.values(), strict=True)]
    engines = [{"engine_name": f"edge-{n}", "ip": f"192.0.2.{n}", **each} for n, each in enumerate(keys, 1)]
    best = best_of(list_of(engines, total=len(engines)))
    return best.option["state"], [doubt for doubt in best.doubts if "look like states" in doubt]


@pytest.mark.parametrize(
    ("columns", "state", "doubt"),
    [
        ({"desired_state": "running running", "current": "up down"}, "current", "current and desired_state"),
        ({"vm_state": "running running", "slb_state": "deploying failed"}, "slb_state", "slb_state and vm_state"),
        ({"task_status": "running running", "status": "ok lost"}, "status", ""),
        ({"status": "running failed", "desired_state": "running running"}, "status", ""),
        ({"last_state": "running failed", "state": "deploying running"}, "state", ""),
        ({"status": "running failed", "role": "active active"}, "status", ""),
        ({"status": "running running", "health": "ok ok"}, "status", "health and status"),
    ],
    ids=str,
)
def test_second_column_of_states_is_a_doubt(columns, state, doubt):
    found = states_of(**{key: words.split() for key, words in columns.items()})
    assert found == (state, [f"{doubt} look like states"] if doubt else [])


DECOYS = [
    entry(
        "/console/hosts", {"data": [{"name": f"edge-{n}", "ip": f"192.0.2.{n}", "status": "online"} for n in (1, 2, 3)]}
    ),
    entry(
        "/console/tasks",
        {"data": [{"target": f"192.0.2.{n}", "name": f"edge-{n}", "status": "running"} for n in (1, 1, 2)]},
    ),
    entry("/console/credentials", {"data": [{"name": "edge-1", "host": "192.0.2.1", "password": SECRETS[0]}]}),
]


def test_engine_list_comes_before_lists_of_other_things():
    candidates = candidates_of(*DECOYS, list_of(rows(1, 2, 3), total=3), *DECOYS)
    assert candidates[0].option == EXPECTED
    assert candidates[0].doubts == ()
    assert [each.explained for each in candidates] == [3, 3, 2, 1]
    assert all(each.doubts or each.problem for each in candidates[1:])


UNPROVED = {
    "no word for engines is in its path": [list_of(rows(1, 2), path="/api/v1/list")],
    "its path may select engines": [list_of(rows(1, 2), path=f"{PATH}/running")],
    "its path is about something else": [list_of(rows(1, 2), path="/engine/tasks")],
    "only one host of the inventory is in it": [list_of(rows(1, 9))],
    "an engine is in it twice": [list_of(rows(1, 2, 2))],
    "another list fits nearly as well": [list_of(rows(1, 2)), list_of(rows(1, 2), path="/slb/engines")],
    "it has 2 engines and reports 120": [list_of(rows(1, 2), total=120)],
    "the recorded answer is a part of the list": [list_of(rows(1, 2), hasMore=True)],
    "the first page is not recorded": [list_of(rows(1, 2), path=f"{PATH}?page=3", total=6)],
    "a page is not recorded": list(paged("page", 1, 2, 4)),
    "a parameter of the query is left out": [list_of(rows(1, 2), path=f"{PATH}?sid=abc")],
    "parameter group may filter the list": [list_of(rows(1, 2), path=f"{PATH}?group=7")],
    "names differ from the inventory: set slb_engine_name": [
        list_of([row(n) | {"engine_name": f"EDGE-{n}.example"} for n in (1, 2)])
    ],
    "no name of the inventory is in it: set slb_engine_name": [
        list_of([row(n) | {"engine_name": f"slb{n}"} for n in (1, 2)])
    ],
    "no address of the inventory is in it: set slb_manage_ip": [
        list_of([row(n) | {"ip": f"198.51.100.{n}"} for n in (1, 2)])
    ],
    "check that data.anzahl_all is the number of all engines": [
        entry(PATH, {"data": {"list": rows(1, 2), "anzahl_all": 2}})
    ],
}


@pytest.mark.parametrize("doubt", UNPROVED)
def test_doubt_is_shown(doubt):
    best = best_of(*UNPROVED[doubt])
    assert doubt in best.doubts
    assert best.problem == ""


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (post(PATH, {}, {"data": rows(1, 2)}), "it is the answer to a POST request"),
        (list_of(rows(1, 2), path=f"/s/{SECRETS[1]}/engines"), "its path may contain a token"),
        (list_of(rows(1, 2), path=f"{PATH};jsessionid=1"), "its path may contain a token"),
        (entry(PATH, {"a.b": rows(1, 2)}), "one of its keys has special characters, or may be a token"),
        (entry(PATH, {SECRETS[1]: rows(1, 2)}), "one of its keys has special characters, or may be a token"),
        (list_of([{"n": "edge-1", "ip": "192.0.2.1"}]), "no member is a state"),
        (list_of([{"ip": "192.0.2.1", "status": "running"}]), "no member is a name"),
        (list_of([{"n": "edge-1", "status": "running"}]), "no member is an address"),
        (list_of([*rows(1, 2), {**row(3), "ip": []}]), "it cannot be read: 'ip' of an engine is a list"),
    ],
)
def test_list_that_cannot_be_configured_has_the_reason(source, problem):
    assert best_of(source).problem == problem


def test_state_that_is_an_object_is_no_state():
    assert best_of(list_of([row(n, {"code": 1, "at": "x"}) for n in (1, 2)])).option["state"] == ""


def test_query_keeps_size_and_sort_only():
    pairs = [
        ("page", "2"),
        ("pageSize", "20"),
        ("sort", "name"),
        ("t", "1700000000000"),
        ("keyword", ""),
        ("x", "1700000000"),
    ]
    query = read_query([*pairs, ("access_token", "a"), ("q", SECRETS[1]), ("cursor", "b")])
    assert query.kept == (("pageSize", "20"), ("sort", "name"))
    assert (query.page, query.size) == (("page", 2), 20)
    assert query.doubts == ("a parameter of the query is left out",)
    query = read_query([("fields", "ip"), ("lang", "zh"), ("scope", "mine")])
    assert query.doubts == ("parameter scope may filter the list",)


def test_lists_end_at_a_depth():
    document = rows(1)
    for _level in range(50):
        document = {"a": document}
    assert list(find_lists(document)) == []


INSTALL = {"name": "edge-1", "manage_ip": "192.0.2.1", "is_change_hostname": False, "user_credential_id": 1}
LOGIN = {"username": "admin", "password": SECRETS[0]}
ADD, SIGN_IN = "/system/add_slb_engine/", "/account/login/"
ANSWERS = [
    (
        "install: exists: HTTP 200 Engine edge-1 already exists",
        (ADD, INSTALL, {"code": 7, "msg": "Engine edge-1 already exists"}),
    ),
    ("install: requested: HTTP 200 ok", (ADD, INSTALL, {"code": 0, "msg": "ok"})),
    ("install: rejected: HTTP 200 no credential", (ADD, INSTALL, {"code": 3, "msg": "no credential"})),
    ("login: accepted: HTTP 200 ok", (SIGN_IN, LOGIN, {"code": 0, "msg": "ok", "token": SECRETS[2]})),
    (
        "login: rejected: HTTP 200 wrong password ********",
        (SIGN_IN, LOGIN, {"code": 1, "msg": f"wrong password {SECRETS[0]}"}),
    ),
    ("login: accepted: HTTP 200 welcome ********", (SIGN_IN, LOGIN, {"code": 0, "msg": f"welcome {SECRETS[1]}"})),
    ("login: accepted: HTTP 200", (SIGN_IN, LOGIN, SECRETS[0])),
]


@pytest.mark.parametrize(("line", "answer"), ANSWERS, ids=[line for line, _answer in ANSWERS])
def test_recorded_answer_is_shown_as_a_run_understands_it(line, answer):
    exchanges = recording_of(post(*answer), post(*answer)).exchanges
    assert show_answers(read_answers(exchanges, PATTERNS, ["edge-1"])) == [line]


@pytest.mark.parametrize(
    ("status", "body", "line"),
    [
        (200, "-----LICENSE-----", "license: license: HTTP 200"),
        (200, {"code": 3, "msg": "expired"}, "license: it reports an error: HTTP 200 expired"),
        (403, {"msg": "no right"}, "license: HTTP 403: HTTP 403 no right"),
    ],
)
def test_recorded_license_is_shown_without_its_text(status, body, line):
    exchanges = recording_of(entry("/system/license/apply/", body, status=status)).exchanges
    assert show_answers(read_answers(exchanges, PATTERNS, [])) == [line]


def test_output_has_no_secret():
    """Secrets in each place of a recording: headers, cookies, queries, paths, keys, members and messages."""
    password, session, token = SECRETS
    secret_rows = [
        {
            **row(n),
            "password": password,
            "session": session,
            "jwt": token,
            token: n,
            "note": password,
            session: "running",
        }
        for n in (1, 2, 3)
    ]
    entries = [
        list_of(secret_rows, path=f"{PATH}?access_token={token}&sid={session}&p={password}&size=50"),
        list_of(rows(1, 2), path=f"/{session}/engines"),
        entry("/slb/engines", {session: {token: rows(1, 2)}, "token": session}),
        entry("/console/engines/map", {f"{session}{n}": row(n) for n in (1, 2)}),
        entry(f"https://other.example/{session}?{token}", rows(1)),
        *(post(*answer) for _line, answer in ANSWERS),
        post(
            "/system/add_slb_engine/", {**INSTALL, "password": password}, {"code": 1, "msg": f"bad session {session}"}
        ),
    ]
    recording = recording_of(*entries)
    candidates = propose(recording.exchanges, hosts(1, 2, 3))
    answers = read_answers(recording.exchanges, PATTERNS, ["edge-1"])
    shown = [*show_proposal(recording, candidates, 3), *show_answers(answers), repr(candidates), json.dumps(answers)]
    assert candidates[0].option["path"] == f"{PATH}?size=50"
    for secret in SECRETS:
        assert not [line for line in shown if secret in line]


def test_shown_proposal_has_table_yaml_and_doubts():
    recording = recording_of(list_of(rows(1, 2)), entry("/x", "", text=None, size=9))
    lines = show_proposal(recording, propose(recording.exchanges, hosts(1, 2, 3)), 3)
    assert lines == [
        "2 requests, 1 with JSON",
        "1 answers without content: see docs/engine-list.md",
        "LIST                       HOSTS   ENTRIES  PROBLEM",
        "GET /console/engines data  2 of 3  2        -",
        *as_yaml(EXPECTED).splitlines(),
        "Not recorded: a state for deploying, failed",
        "A missing engine may exist: it reports no total.",
    ]


def test_recording_without_the_list_says_so():
    recording = recording_of(entry("/x", {"data": rows(7, 8)}))
    assert show_proposal(recording, propose(recording.exchanges, hosts(1)), 1)[-1].startswith("No list has names")
