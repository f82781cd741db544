"""The configuration of the engine list, its pages and its states."""

from __future__ import annotations

import datetime
import json
import math
from urllib.parse import parse_qs, urlsplit

import pytest

from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node import engine_list as module
from ansible_collections.slb.fleet.plugins.module_utils.management_node.engine_list import EngineList, read_pages

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


def item(number, state="up"):
    return {"n": f"edge-{number}", "net": {"ip": f"192.0.2.{number}"}, "st": state}


def code_of(option):
    with pytest.raises(FleetError) as error:
        EngineList.from_option(option)
    assert len(str(error.value)) <= 220
    return error.value.code


def test_option_may_be_json():
    assert EngineList.from_option(json.dumps(OPTION)) == EngineList.from_option(OPTION)


def test_word_may_stand_without_list():
    assert EngineList.from_option(OPTION).words == {"up": "running", "down": "failed"}


@pytest.mark.parametrize("key", ["path", "items", "name", "address", "state", "running", "page_parameter"])
@pytest.mark.parametrize("value", [True, 83, 1.5, datetime.date(2026, 1, 1), {"a": 1}])
def test_value_that_is_no_text_is_invalid(key, value):
    assert code_of({**OPTION, key: value}) == "invalid_option"


@pytest.mark.parametrize("word", [True, 1, None])
def test_word_that_is_no_text_is_to_be_quoted(word):
    with pytest.raises(FleetError) as error:
        EngineList.from_option({**OPTION, "running": [word]})
    assert "Quote" in error.value.fix


@pytest.mark.parametrize("key", ["path", "name", "address", "state", "running"])
def test_missing_key_is_an_error(key):
    assert code_of({**OPTION, key: None}) == "missing_option"


@pytest.mark.parametrize("value", [None, "", " "])
def test_empty_option_is_missing(value):
    assert code_of(value) == "missing_option"


@pytest.mark.parametrize(
    "option",
    [
        "up",
        ["up"],
        {**OPTION, "nmae": "n"},
        {**OPTION, "path": "engines"},
        {**OPTION, "path": "//other.example/engines"},
        {**OPTION, "path": "/#/engines"},
        {**OPTION, "deploying": ["up"]},
        {**OPTION, "first_page": -1},
        {**OPTION, "first_page": True},
        {**OPTION, "page_step": 0},
    ],
)
def test_unusable_option_is_invalid(option):
    assert code_of(option) == "invalid_option"


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


@pytest.mark.parametrize(
    "document",
    [[], {"data": {}}, {"data": {"items": {}}}, {"data": {"items": [{"n": "x"}]}}, {"data": {"items": [5]}}],
)
def test_other_document_is_not_as_configured(document):
    engine_list = EngineList.from_option(OPTION)
    with pytest.raises(FleetError) as error:
        engine_list.read_engines(engine_list.find_items(document))
    assert error.value.code == "engine_list_not_as_configured"


@pytest.mark.parametrize(
    "beside",
    [
        {"total": 3}, {"total": "3"}, {"count": 9}, {"pages": 2}, {"hasMore": True}, {"next": "/x"}, {"last": False},
        {"pagination": {"total_count": 3}},
    ],
)  # fmt: skip
def test_one_page_of_several_is_unreliable(beside):
    document = {"data": {"items": [item(1), item(2)], **beside}}
    with pytest.raises(FleetError) as error:
        module._require_all(EngineList.from_option(OPTION), document, 2)
    assert error.value.code == "engine_list_unreliable"


@pytest.mark.parametrize("beside", [{"total": 2}, {"next": None}, {"last": True}, {"size": 50}, {"total": "many"}])
def test_whole_list_is_accepted(beside):
    module._require_all(EngineList.from_option(OPTION), {"data": {"items": [item(1), item(2)], **beside}}, 2)


class Console:
    """A list of ``count`` engines in pages of two."""

    def __init__(self, count, **beside):
        self.items = [item(number) for number in range(1, count + 1)]
        self.beside = beside
        self.paths: list[str] = []

    def get(self, path):
        self.paths.append(path)
        page = int(parse_qs(urlsplit(path).query)["page"][0])
        return {"data": {"items": self.items[2 * page - 2 : 2 * page], **self.beside}}


def read(console, option=PAGED, deadline=math.inf):
    return [engine["name"] for engine in read_pages(EngineList.from_option(option), console.get, deadline)]


def code_of_pages(console, **more):
    with pytest.raises(FleetError) as error:
        read(console, **more)
    assert len(str(error.value)) <= 220
    return error.value.code


@pytest.mark.parametrize(("count", "beside", "requests"), [(5, {}, 4), (5, {"total": 5}, 3), (4, {"pages": 2}, 2)])
def test_pages_are_read_to_the_end(count, beside, requests):
    console = Console(count, **beside)
    assert read(console) == [f"edge-{number}" for number in range(1, count + 1)]
    assert len(console.paths) == requests
    assert console.paths[0] == "/api/engines?size=2&page=1"


def test_page_parameter_replaces_the_one_in_the_path():
    engine_list = EngineList.from_option(
        {**PAGED, "path": "/e?offset=7&x=1", "page_parameter": "offset", "first_page": "0", "page_step": 50}
    )
    assert [engine_list.page_path(index) for index in (0, 2)] == ["/e?x=1&offset=0", "/e?x=1&offset=100"]


def test_same_page_twice_is_unreliable():
    console = Console(2)
    console.get = lambda path: {"data": {"items": [item(1), item(2)]}}
    assert code_of_pages(console) == "engine_list_unreliable"


def test_engine_on_two_pages_is_unreliable():
    console = Console(4)
    console.items[2] = item(1)
    assert code_of_pages(console) == "engine_list_unreliable"


def test_total_that_differs_is_unreliable():
    assert code_of_pages(Console(4, total=5)) == "engine_list_unreliable"


def test_total_that_changes_is_unreliable():
    console = Console(6)
    totals = iter((6, 7, 7))
    original = console.get
    console.get = lambda path: {"data": {**original(path)["data"], "total": next(totals)}}
    assert code_of_pages(console) == "engine_list_unreliable"


def test_pages_without_end_are_unreliable(monkeypatch):
    monkeypatch.setattr(module, "_MOST_PAGES", 3)
    assert code_of_pages(Console(100)) == "engine_list_unreliable"


def test_pages_end_at_the_deadline():
    console = Console(100)
    assert code_of_pages(console, deadline=0.0) == "engine_list_unreliable"
    assert len(console.paths) == 1
