"""The configuration of the engine list, its pages, its states, and what shows that an engine is missing."""

import datetime
import json
import math
from dataclasses import replace

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import engine_list as module
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import (
    EngineList,
    comparable,
    fetch_engines,
    get_answer,
)
from ansible_collections.slb.fleet.tests.unit.errors import short_error_of as error_of

OPTION = {
    "path": "/e", "items": "data.items", "name": "n", "address": "net.ip", "state": "st", "running": ["up"],
    "failed": "down",
}  # fmt: skip
PAGED = {**OPTION, "page_parameter": "page"}
NOT_TEXT = [True, 83, 1.5, datetime.date(2026, 1, 1), {"a": 1}]


def item(number, state="up"):
    return {"n": f"edge-{number}", "net": {"ip": f"192.0.2.{number}"}, "st": state}


def page(count, first=1, /, **others):
    return {"data": {"items": [item(number) for number in range(first, first + count)], **others}}


def answer(body, headers=None, status=200, defect=""):
    return Answer(status, headers or {}, body if isinstance(body, bytes) else json.dumps(body).encode(), defect)


class Node(Client):
    """A client with these answers, the last one again and again. ``paths``: of the requests."""

    def __init__(self, *answers):
        super().__init__(Connection("https://console.example"))
        self.answers, self.paths = [each if isinstance(each, Answer) else answer(each) for each in answers], []

    def call(self, request):
        self.paths.append(request.path)
        return self.answers[min(len(self.paths), len(self.answers)) - 1]


def fetch(node, option=OPTION, **more):
    return fetch_engines(node, EngineList.from_option({**option, **more}))


def failure(node, option=OPTION, **more):
    return error_of(fetch_engines, node, EngineList.from_option({**option, **more}))


def test_option_may_be_json():
    engine_list = EngineList.from_option(json.dumps(OPTION))
    assert engine_list == EngineList.from_option(OPTION)
    assert engine_list.words == {"up": "running", "down": "failed"}
    assert (engine_list.first_page, engine_list.page_step, engine_list.complete) == (1, 1, None)


@pytest.mark.parametrize(
    "option",
    [
        "up",
        ["up"],
        *(
            {key: value}
            for key in ("path", "items", "name", "address", "state", "running", "total", "page_parameter")
            for value in NOT_TEXT
        ),
        *({"running": [word]} for word in (True, 1, None)),
        {"nmae": "n"},
        *({"path": path} for path in ("engines", "//other.example/engines", "/#/engines")),
        {"deploying": ["up"]},
        *({"first_page": value} for value in (-1, True, 1_000_001)),
        *({"page_step": value} for value in (0, 1_000_001)),
        {"complete": "perhaps"},
    ],
    ids=str,
)
def test_unusable_option_is_invalid(option):
    error = error_of(EngineList.from_option, {**OPTION, **option} if isinstance(option, dict) else option)
    assert error.code == "invalid_option"
    assert "running" not in option or not isinstance(option["running"], list) or "Quote" in error.fix


@pytest.mark.parametrize(
    "option", [None, "", " ", *({**OPTION, key: None} for key in ("path", "name", "address", "state", "running"))]
)
def test_empty_option_is_missing(option):
    assert error_of(EngineList.from_option, option).code == "missing_option"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("192.0.2.11/24", "192.0.2.11"), ("::ffff:192.0.2.11", "192.0.2.11"), (" 2001:DB8:0::1", "2001:db8::1"),
        ("edge", "edge"), ("192.0.2.11:8443", "192.0.2.11"), ("[2001:db8::1]:22", "2001:db8::1"), ("", ""),
        ("https://192.0.2.11/", "192.0.2.11"), ("ssh://root@[2001:DB8::1]:22", "2001:db8::1"),
        ("https://edge-1.lan:8443", "https://edge-1.lan:8443"), ("192.0.2.1111", "192.0.2.1111"),
    ]
)  # fmt: skip
def test_address_is_comparable(given, expected):
    assert comparable(given) == expected


def test_engines_have_states():
    items = [item(1), item(2, "down"), item(3, "Up"), item(4, 1), item(5, True), item(6, None)]
    engines = EngineList.from_option({**OPTION, "deploying": ["1", "true"]}).read_engines(items)
    states = ["running", "failed", "unmapped", "deploying", "deploying", "unmapped"]
    assert [each["state"] for each in engines] == states
    assert engines[0] == {"name": "edge-1", "address": "192.0.2.1", "state": "running", "console_state": "up"}


def test_shown_values_are_printable():
    engine = EngineList.from_option(OPTION).read_engines([{**item(1), "n": "edge\x1b[2J\n\u202e-1" + "x" * 999}])[0]
    assert engine["name"].isprintable()
    assert len(engine["name"]) == 500


@pytest.mark.parametrize(
    ("items", "document"),
    [
        ("", [item(1), item(2)]),
        ("*", {"a": item(1), "next": item(2)}),
        ("groups.*.engines", {"groups": [{"engines": [item(1)]}, {"engines": None}, {"engines": [item(2)]}]}),
        ("groups.*.engines.*", {"groups": {"x": {"engines": {"1": item(1), "2": item(2)}}}}),
        ("0.rows", [{"rows": [item(1), item(2)]}, {"total": 9}]),
    ],
)
def test_items_may_be_members_and_indexes(items, document):
    listing = fetch(Node(document), items=items, complete=True)
    assert [engine["name"] for engine in listing.engines] == ["edge-1", "edge-2"]
    assert listing.gap.kind == ""


def test_fields_may_be_indexes():
    listing = fetch(Node([["edge-1", [{"ip": "192.0.2.1"}], "up"]]), items="", name="0", address="1.0.ip", state="2")
    assert listing.engines[0] == {"name": "edge-1", "address": "192.0.2.1", "state": "running", "console_state": "up"}


@pytest.mark.parametrize(
    "document",
    [
        {"data": {"items": [{"n": "x"}]}}, {"data": {"items": [5]}}, {"data": {"items": "x"}}, {"data": {"items": 5}},
        {"data": {"items": {"a": item(1)}}}, [item(1)], {"rows": [item(1)]}, {"data": {"rows": [item(1)], "x": []}},
        {"data": {"engines": {"1": item(1)}}}, {"data": [item(1)]}, {"data": {"items": [{**item(1), "st": []}]}},
        {"data": {"items": [{**item(1), "n": {}}]}},
        # Neither a list nor an empty form of one
        "Service busy", 42, True, {"data": "maintenance"}, {"code": 0, "msg": "no permission"},
    ],
    ids=str,
)  # fmt: skip
def test_other_document_is_not_as_configured(document):
    error = failure(Node(document), complete=True)
    assert (error.code, "show_engine_list" in error.fix) == ("engine_list_not_as_configured", True)


EMPTY = [
    [], {}, None, {"data": None}, {"data": []}, {"data": {}}, {"data": {"items": None}}, {"data": {"items": []}},
    {"data": {"items": {}}}, {"data": {"items": ""}}, {"data": {"total": 0}}, {"code": 0, "msg": "ok"},
    answer(b"", status=204),
]  # fmt: skip


@pytest.mark.parametrize("document", EMPTY, ids=str)
def test_empty_list_has_each_form(document):
    listing = fetch(Node(document))
    assert (listing.engines, listing.gap.kind) == ([], "" if "total" in str(document) else "unproven")


@pytest.mark.parametrize(
    ("kind", "others", "option"),
    [
        *(("", {name: 2}, {}) for name in ("total", "totalCount", "total_count", "totalElements")),
        *(("", {"total": total}, {}) for total in ("2", " 2 ", 2.0)),
        *(("unproven", {"total": total}, {}) for total in (True, None, "many", -2, [2], {"value": 2}, math.nan, "2.5")),
        *(("unproven", {name: 2}, {}) for name in ("count", "numberOfElements", "recordsTotal", "Total", "size")),
        *(("part", {"total": 3}, option) for option in ({}, {"complete": True}, {"complete": False})),
        ("part", {"total": 2, "totalCount": 3}, {"complete": True}),
        ("unproven", {"total": 2, "totalCount": 1}, {}),
        ("unproven", {"total": 1}, {}),
        ("unproven", {}, {}),
        ("", {}, {"complete": True}),
        ("", {"next": "/x", "hasMore": True, "status": "loading"}, {"complete": True}),
        ("", {"total": 9, "all": {"n": "2"}}, {"total": "data.all.n"}),
        ("part", {"total": 2, "n": 3}, {"total": "data.n", "complete": True}),
        # The path
        *(("part", {}, {"path": f"/e?{name}=2"}) for name in ("size", "page_size", "x")),
        ("part", {}, {"path": "/e?size=2", "complete": True}),
        ("", {"total": 2}, {"path": "/e?size=2"}),
        ("", {}, {"path": "/e?size=3&sort=1", "complete": True}),
        *(("unproven", {"total": 2}, {"path": f"/e?{query}"}) for query in ("status=running", "a=%E5%8C%97", "q=-x")),
        ("", {"total": 2}, {"path": "/e?status=running", "complete": True}),
        ("", {"total": 2}, {"path": "/e?status=1&q=&_=17"}),
    ],
    ids=str,
)  # fmt: skip
def test_total_shows_that_an_engine_is_missing(kind, others, option):
    listing = fetch(Node(page(2, **others)), **option)
    assert (listing.gap.kind, len(listing.engines)) == (kind, 2)
    assert bool(kind) == bool(listing.gap.cause and listing.gap.fix)


@pytest.mark.parametrize(
    ("kind", "document", "headers", "option"),
    [
        ("", {**page(2), "total": 2}, {}, {}),
        ("", {"a": {"total": 2, **page(2)}}, {}, {"items": "a.data.items"}),
        ("part", {**page(2, total=2), "total": 9}, {}, {}),
        ("unproven", {**page(2), "page": {"total": 2}}, {}, {}),
        ("", page(2)["data"]["items"], {"X-Total-Count": "2"}, {"items": "", "total": "header:X-Total-Count"}),
        ("part", page(2), {"X-Total-Count": "3"}, {"total": "header: X-Total-Count"}),
        ("unproven", page(2), {"X-Total-Count": "2"}, {}),
        ("part", page(0, total=9), {}, {"complete": True}),
        ("part", page(0, n=9), {}, {"total": "data.n", "complete": True}),
        ("", page(0, n=0), {}, {"total": "data.n"}),
        # A join of the console gives an engine twice: its total counts rows, and one engine is missing.
        ("part", {"data": {"items": [item(1), item(1)], "total": 2}}, {}, {}),
        *(("old", page(2, total=2), {"Age": age}, {"complete": True}) for age in ("11", "30.5", "0, 30")),
        *(("", page(2, total=2), {"Age": age}, {}) for age in ("", "0", "10", "soon")),
    ],
    ids=str,
)  # fmt: skip
def test_gap_depends_on_places_headers_and_age(kind, document, headers, option):
    assert fetch(Node(answer(document, headers)), **option).gap.kind == kind


@pytest.mark.parametrize("value", [None, True, "many", [2], -1])
def test_total_that_is_no_number_is_not_as_configured(value):
    for given in ({"total": "data.n"}, {"total": "header:X-None"}, {"total": "data.none"}):
        assert failure(Node(page(2, n=value)), **given).code == "engine_list_not_as_configured"


@pytest.mark.parametrize(
    ("pages", "option", "requests", "kind"),
    [
        ([page(2, total=3), page(1, 3, total=3)], {}, 2, ""),
        ([page(2, n=3, total=2), page(1, 3, n=3)], {"total": "data.n"}, 2, ""),
        *(([page(2), page(2, 3), empty], {}, 3, "unproven") for empty in EMPTY),
        ([page(2), page(1, 3), answer(b"gone", status=404)], {"complete": True}, 3, ""),
        ([page(2, total=9), page(1, 3, total=9), page(0, total=9)], {"complete": True}, 3, "part"),
        ([page(2, total=3), page(1, 3, total=4), page(0)], {"complete": True}, 3, "part"),
        ([page(2, total=2), page(0, total=2)], {}, 1, ""),
        ([page(2, total=4), page(2, 2, total=4)], {"complete": True}, 2, "unproven"),
        ([page(2), page(2, 2), page(0)], {"complete": True}, 3, "unproven"),
        ([answer(page(2, total=3), {"Age": "30"}), page(1, 3, total=3)], {}, 2, "old"),
        # Rows with ids of their own are not on two pages.
        ([{"data": {"items": [{**item(1), "id": number}], "total": 2}} for number in (1, 2)], {}, 2, ""),
    ],
    ids=str,
)  # fmt: skip
def test_pages_are_read_to_their_end(pages, option, requests, kind):
    node = Node(*pages)
    listing = fetch(node, PAGED, **option)
    assert (listing.gap.kind, node.paths) == (kind, [f"/e?page={number + 1}" for number in range(requests)])
    assert len(listing.engines) == sum(each.body.count(b"edge-") for each in node.answers[:requests])


@pytest.mark.parametrize(
    ("pages", "option", "fix"),
    [
        ([page(2)], {}, "page_parameter"),
        ([page(2, total=5), page(2, 3), page(2, 3)], {}, "total"),
        ([page(1, number) for number in range(1, 9)], {}, "larger pages"),
    ],
)
def test_pages_without_end_are_unreliable(monkeypatch, pages, option, fix):
    monkeypatch.setattr(module, "_MAX_PAGES", 5)
    error = failure(Node(*pages), PAGED, **option)
    assert (error.code, fix in error.fix) == ("engine_list_unreliable", True)


@pytest.mark.parametrize("document", [{"message": "rate limit"}, {"data": "busy"}, "busy"])
def test_message_behind_a_page_is_not_the_end(document):
    """The engines behind it are unknown, although the operator states that the list has all engines."""
    with pytest.raises(FleetError):
        assert fetch(Node(page(2), document), PAGED, complete=True).gap.kind == "unproven"


def test_pages_end_at_the_deadline():
    node = Node(page(1), page(1, 2), page(0))
    node.connection = replace(node.connection, end=0.0)
    assert (failure(node, PAGED).code, len(node.paths)) == ("engine_list_unreliable", 1)


def test_page_step_counts_engines_of_smaller_pages():
    node = Node(page(2), page(1, 3), page(0))
    fetch(node, PAGED, path="/e?offset=7&x=1", page_parameter="offset", first_page="0", page_step=50)
    assert node.paths == [f"/e?x=1&offset={number}" for number in (0, 2, 3)]


@pytest.mark.parametrize(
    ("code", "fix", "status", "body", "defect"),
    [
        ("engine_list_not_as_configured", "Correct path", 404, b"none", ""),
        ("engine_list_unavailable", "Correct path", 200, b")]}'", ""),
        ("engine_list_unavailable", "Correct path", 200, b"", ""),
        ("engine_list_unavailable", "smaller pages", 200, b"[", "the body is larger than 9 bytes"),
        ("engine_list_unavailable", "Check", 200, b"[", "the body is incomplete after 1 bytes"),
        ("engine_list_unavailable", "right", 403, b"{}", ""),
        *(("engine_list_unavailable", "Check", status, b"{}", "") for status in (206, 400, 500)),
        ("engine_list_unavailable", "Check", 200, b'{"code":-1,"msg":"out of order"}', ""),
    ],
)
def test_answer_without_a_list_is_an_error(code, fix, status, body, defect):
    error = error_of(get_answer, Node(answer(body, status=status, defect=defect)), "/e?token=t0ken")
    assert (error.code, fix in error.fix, "t0ken" in str(error)) == (code, True, False)
    assert "path" not in error.fix or fix == "Correct path"
