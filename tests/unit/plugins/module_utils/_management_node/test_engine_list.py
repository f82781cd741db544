"""The configuration of the engine list, its pages and its states."""

import datetime
import json
import math
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import engine_list as module
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import (
    EngineList,
    fetch_engines,
    read_pages,
)

OPTION = {
    "path": "/api/engines?size=2",
    "items": "data.items",
    "name": "n",
    "address": "net.ip",
    "state": "st",
    "running": ["up"],
    "failed": "down",
}
PAGED = {**OPTION, "page_parameter": "page"}
NOT_TEXT = [True, 83, 1.5, datetime.date(2026, 1, 1), {"a": 1}]


def item(number, state="up"):
    return {"n": f"edge-{number}", "net": {"ip": f"192.0.2.{number}"}, "st": state}


def error_of(read, *arguments):
    with pytest.raises(FleetError) as error:
        read(*arguments)
    assert len(str(error.value)) <= 220
    return error.value


def test_option_may_be_json():
    engine_list = EngineList.from_option(json.dumps(OPTION))
    assert engine_list == EngineList.from_option(OPTION)
    assert engine_list.words == {"up": "running", "down": "failed"}


@pytest.mark.parametrize(
    "option",
    [
        "up",
        ["up"],
        *(
            {key: value}
            for key in ("path", "items", "name", "address", "state", "running", "page_parameter")
            for value in NOT_TEXT
        ),
        *({"running": [word]} for word in (True, 1, None)),
        {"nmae": "n"},
        *({"path": path} for path in ("engines", "//other.example/engines", "/#/engines")),
        {"deploying": ["up"]},
        *({"first_page": value} for value in (-1, True)),
        {"page_step": 0},
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


def test_engines_have_states():
    items = [item(1), item(2, "down"), item(3, "Up"), item(4, 1), item(5, True)]
    engines = EngineList.from_option({**OPTION, "deploying": ["1", "true"]}).read_engines(items)
    assert [each["state"] for each in engines] == ["running", "failed", "unmapped", "deploying", "deploying"]
    assert engines[0] == {"name": "edge-1", "address": "192.0.2.1", "state": "running", "console_state": "up"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("192.0.2.11/24", "192.0.2.11"),
        ("::ffff:192.0.2.11", "192.0.2.11"),
        (" 2001:DB8:0::1", "2001:db8::1"),
        ("edge", "edge"),
    ],
)
def test_address_is_comparable(given, expected):
    assert module.comparable(given) == expected


def test_shown_values_are_printable():
    engine = EngineList.from_option(OPTION).read_engines([{**item(1), "n": "edge\x1b[2J\n\u202e-1" + "x" * 999}])[0]
    assert engine["name"].isprintable()
    assert len(engine["name"]) == 500


class Console:
    """A list of ``count`` engines in pages of two; ``others`` are further fields of the answer."""

    def __init__(self, count, **others):
        self.items = [item(number) for number in range(1, count + 1)]
        self.others, self.paths = others, []

    def get(self, path):
        self.paths.append(path)
        page = int(parse_qs(urlsplit(path).query).get("page", [1])[0])
        return {"data": {"items": self.items[2 * page - 2 : 2 * page], **self.others}}


def read(console, option=PAGED, deadline=math.inf):
    return [engine["name"] for engine in read_pages(EngineList.from_option(option), console.get, deadline)]


@pytest.mark.parametrize(
    "document",
    [
        *([], {"data": {}}, {"data": {"items": {}}}, {"data": {"items": [{"n": "x"}]}}, {"data": {"items": [5]}}),
        *({"data": {"items": [{**item(1), "st": value}]}} for value in (None, [], {})),
    ],
)
def test_other_document_is_not_as_configured(document):
    console = Console(0)
    console.get = lambda _path: document
    assert error_of(read, console, OPTION).code == "engine_list_not_as_configured"


def require_all(others):
    document = {"data": {"items": [item(1), item(2)], **others}}
    module._require_all(EngineList.from_option(OPTION), document, 2)


@pytest.mark.parametrize(
    "others",
    [
        {"total": 3}, {"total": "3"}, {"count": 9}, {"pages": 2}, {"hasMore": True}, {"next": "/x"}, {"last": False},
        {"pagination": {"total_count": 3}},
    ],
)  # fmt: skip
def test_one_page_of_several_is_unreliable(others):
    assert error_of(require_all, others).code == "engine_list_unreliable"


@pytest.mark.parametrize("others", [{"total": 2}, {"next": None}, {"last": True}, {"size": 50}, {"total": "many"}])
def test_whole_list_is_accepted(others):
    require_all(others)


@pytest.mark.parametrize(("count", "others", "requests"), [(5, {}, 4), (5, {"total": 5}, 3), (4, {"pages": 2}, 2)])
def test_pages_are_read_to_the_end(count, others, requests):
    console = Console(count, **others)
    assert read(console) == [f"edge-{number}" for number in range(1, count + 1)]
    assert len(console.paths) == requests
    assert console.paths[0] == "/api/engines?size=2&page=1"


def test_page_parameter_replaces_the_one_in_the_path():
    engine_list = EngineList.from_option(
        {**PAGED, "path": "/e?offset=7&x=1", "page_parameter": "offset", "first_page": "0", "page_step": 50}
    )
    assert [engine_list.page_path(index) for index in (0, 2)] == ["/e?x=1&offset=0", "/e?x=1&offset=100"]


@pytest.mark.parametrize("case", ["same page", "engine on two pages", "other total", "total changes", "without end"])
def test_inconsistent_pages_are_unreliable(monkeypatch, case):
    monkeypatch.setattr(module, "_MOST_PAGES", 5)
    console = Console(100 if case == "without end" else 6)
    get, totals = console.get, iter((6, 7, 7))
    if case == "same page":
        console.get = lambda _path: get("?page=1")
    elif case == "engine on two pages":
        console.items[2] = item(1)
    elif case == "other total":
        console.others = {"total": 7}
    elif case == "total changes":
        console.get = lambda path: {"data": {**get(path)["data"], "total": next(totals)}}
    assert error_of(read, console).code == "engine_list_unreliable"


class PagesOfNode:
    """Stands for a client. ``at``: what to do with the list before the request of this number."""

    def __init__(self, console, at):
        self.console, self.at = console, at
        self.connection = SimpleNamespace(call_seconds=30, base_url="https://console.example")

    def call(self, request):
        self.at.get(len(self.console.paths) + 1, lambda _items: None)(self.console.items)
        return Answer(200, {}, json.dumps(self.console.get(request.path)).encode())


def remove_first(items):
    del items[0]


@pytest.mark.parametrize(
    ("change", "has_total", "requests"),
    [
        # An engine moves to a page that was read already: only the total shows the gap.
        (remove_first, True, 2 + 2),
        # An engine moves to the next page, which has an engine of the page before.
        (lambda items: items.insert(0, item(9)), False, 2 + 4),
    ],
)
def test_pages_that_change_are_fetched_again(change, has_total, requests):
    console = Console(5)
    get = console.get
    total = {"total": lambda: len(console.items)} if has_total else {}
    console.get = lambda path: {"data": {**get(path)["data"], **{key: value() for key, value in total.items()}}}
    engines = fetch_engines(PagesOfNode(console, {2: change}), EngineList.from_option(PAGED))
    assert [engine["name"] for engine in engines] == [each["n"] for each in console.items]
    assert len(console.paths) == requests


def test_pages_that_change_twice_are_unreliable():
    console = Console(6)
    node = PagesOfNode(console, {2: lambda items: items.insert(0, item(8)), 4: lambda items: items.insert(0, item(9))})
    error = error_of(fetch_engines, node, EngineList.from_option(PAGED))
    assert (error.code, len(console.paths)) == ("engine_list_unreliable", 4)


@pytest.mark.parametrize(("body", "option"), [(b"x" * (2**20 + 1), "pages"), (b"x" * 2**20, "path")])
def test_list_that_is_no_json_names_what_to_set(body, option):
    node = PagesOfNode(Console(0), {})
    node.call, node.describe = lambda _request: Answer(200, {}, body), lambda answer: f"HTTP {answer.status}"
    error = error_of(fetch_engines, node, EngineList.from_option(OPTION))
    assert error.code == "engine_list_unavailable"
    assert option in error.fix


def test_pages_without_effect_are_not_fetched_again():
    console = Console(6)
    get = console.get
    console.get = lambda _path: get("?page=1")
    error = error_of(fetch_engines, PagesOfNode(console, {}), EngineList.from_option(PAGED))
    assert (error.code, len(console.paths)) == ("engine_list_unreliable", 2)


def test_pages_end_at_the_deadline():
    console = Console(100)
    assert error_of(read, console, PAGED, 0.0).code == "engine_list_unreliable"
    assert len(console.paths) == 1
