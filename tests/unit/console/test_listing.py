"""The console's list of engines, read by a description, and never taken for more than it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._console.listing import Listing
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError, FleetError, OptionError
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import excerpt, listed

DESCRIPTION: dict[str, Any] = {
    "path": "/api/engines?page_size=1000",
    "items": "data.items",
    "name": "engine_name",
    "address": "host.ip",
    "state": "status",
    "running": ["running", "2"],
    "deploying": ["1"],
    "failed": ["3"],
}


def item(name: str = "edge-1", ip: str = "192.0.2.11", status: Any = 2) -> dict[str, Any]:
    return {"engine_name": name, "host": {"ip": ip}, "status": status}


def read(*items: dict[str, Any], **beside: Any) -> list[dict[str, str]]:
    return Listing.from_params(DESCRIPTION).read({"code": 0, "data": {"items": list(items), **beside}})


def test_engines_are_read_as_described() -> None:
    assert read(item(), item("edge-2", "192.0.2.12", 1), item("edge-3", "192.0.2.13", "gone")) == [
        {"name": "edge-1", "address": "192.0.2.11", "state": "running", "console_state": "2"},
        {"name": "edge-2", "address": "192.0.2.12", "state": "deploying", "console_state": "1"},
        {"name": "edge-3", "address": "192.0.2.13", "state": "unknown", "console_state": "gone"},
    ]


def test_a_list_at_the_top_needs_no_items() -> None:
    listing = Listing.from_params({**DESCRIPTION, "items": ""})
    assert [engine["name"] for engine in listing.read([item()])] == ["edge-1"]


@pytest.mark.parametrize(
    "beside",
    [
        {"total": 40},
        {"total": "57"},
        {"total": "9" * 5000},
        {"count": 2},
        {"next": "/api/engines?page=2"},
        {"nextPage": 2},
        {"hasMore": True},
        {"has_next": "true"},
        {"page": 1, "pages": 19},
        {"pages": "19"},
        {"totalElements": 57, "totalPages": 19, "last": False},
        {"last": False},
        {"isLastPage": False},
        {"meta": {"page": {"current": 1}, "total_count": 57}},
        {"_links": {"next": {"href": "/api/engines?page=2"}}},
    ],
    ids=lambda beside: str(beside)[:40],
)
def test_one_page_of_several_is_refused(beside: dict[str, Any]) -> None:
    with pytest.raises(ConsoleError, match="one page of several"):
        read(item(), **beside)


@pytest.mark.parametrize("key", ["pagination", "page", "pageInfo", "paging", "meta", "links"])
def test_one_page_of_several_is_refused_whoever_says_it(key: str) -> None:
    for told in ({"total": 57}, {"totalPages": "2"}, {"next": "/2"}):
        with pytest.raises(ConsoleError, match="one page of several"):
            Listing.from_params(DESCRIPTION).read({"data": {"items": [item()]}, key: told})
        with pytest.raises(ConsoleError, match="one page of several"):
            read(item(), **{key: told})


@pytest.mark.parametrize(
    "beside",
    [
        {"total": 1, "next": None, "hasMore": False},
        {"total": "1", "has_next": "false", "nextPage": 0, "next": ""},
        {"total": 1, "size": 10, "current": 1, "pages": 1},
        {"totalElements": 1, "totalPages": 1, "size": 20, "last": True, "page": 0, "number": 0},
        {"meta": {"total": 1, "per_page": 50, "last_page": 1}, "links": {"last": "/1", "next": None}},
        {"page": "1", "pages": [1, 2, 3], "total": None},
        {"summary": {"total": 57}},
    ],
    ids=str,
)
def test_counters_that_fit_are_fine(beside: dict[str, Any]) -> None:
    assert len(read(item(), **beside)) == 1


@pytest.mark.parametrize(("value", "what"), [(None, "null"), ({"ip": 1}, "an object"), ([], "a list")])
@pytest.mark.parametrize("field", ["engine_name", "host.ip", "status"])
def test_a_field_that_is_no_text_is_named(field: str, value: Any, what: str) -> None:
    broken = item()
    if field == "host.ip":
        broken["host"]["ip"] = value
    else:
        broken[field] = value
    with pytest.raises(ConsoleError, match=rf"'{field}' of an item is {what} where .* engine_name, host, status"):
        read(item(), broken)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"data": {"engines": []}}, "there is no 'items' (looking for 'data.items'); there is: engines"),
        ({"data": {"items": {}}}, "under 'data.items' there is no list"),
        ({"data": {"items": [{"name": "edge-1"}]}}, "there is no 'engine_name'"),
        ([], "there is no 'data'"),
    ],
)
def test_an_answer_unlike_the_description_names_what_is_there(answer: Any, words: str) -> None:
    with pytest.raises(ConsoleError) as caught:
        Listing.from_params(DESCRIPTION).read(answer)
    assert words in str(caught.value)
    assert "show_engine_list" in str(caught.value)


def test_a_word_with_two_meanings_is_refused() -> None:
    with pytest.raises(OptionError, match=r"listing\.failed.*'1'.*deploying"):
        Listing.from_params({**DESCRIPTION, "failed": ["1"]})


@pytest.mark.parametrize("path", ["api/engines", "https://elsewhere.example/api", "//elsewhere.example/api"])
def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(OptionError, match=r"listing\.path"):
        Listing.from_params({**DESCRIPTION, "path": path})


@pytest.mark.parametrize(
    ("engines", "state"),
    [
        ([], "empty"),
        ([item()], "running"),
        ([item(status=3)], "failed"),
        ([item(name="another name, same host")], "other_name"),
        ([item(ip="192.0.2.99")], "elsewhere"),
        ([item("edge-2", ip="192.0.2.99")], "not_listed"),
        ([item(), item(status=3)], "unknown"),
        ([item(status="new word")], "unknown"),
    ],
)
def test_what_the_list_says_of_one_engine(engines: list[dict[str, Any]], state: str) -> None:
    assert listed(excerpt(read(*engines), "edge-1", "192.0.2.11"), "edge-1", "192.0.2.11").state == state


def test_an_address_is_the_same_however_it_is_written() -> None:
    engines = read(item(ip="2001:db8:0::0:11"))
    assert listed(excerpt(engines, "edge-1", "2001:DB8::11"), "edge-1", "2001:DB8::11").state == "running"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "'listing' is missing. Set 'listing'."),
        ("  ", "'listing' is missing"),
        (
            "/api/engines",
            "'listing' has the value '/api/engines': it is not a mapping. Describe the list by",
        ),
        ([DESCRIPTION], "it is not a mapping"),
        (7, "it is not a mapping"),
        ({}, "'listing.path' is missing. Give the path of the request"),
        (
            {**DESCRIPTION, "name": None},
            "'listing.name' is missing. Give the field of an item that holds",
        ),
        ({**DESCRIPTION, "name": " "}, "'listing.name' is missing"),
        ({**DESCRIPTION, "adress": "ip"}, "has the key 'adress', which means nothing here. Did you mean 'address'?"),
        ({**DESCRIPTION, 7: "ip"}, "has the key '7', which means nothing here. The keys are: path, items"),
        (
            {**DESCRIPTION, "items": ["data", "items"]},
            "'listing.items' has the value ['data', 'items']: it is no",
        ),
        ({**DESCRIPTION, "name": {"a": 1}}, "'listing.name' has the value {'a': 1}: it is not text"),
        ({**DESCRIPTION, "running": None}, "'listing.running' is missing. Give the console's words"),
        ({**DESCRIPTION, "running": []}, "'listing.running' is missing"),
        ({**DESCRIPTION, "running": {"up": 1}}, "'listing.running' has the value {'up': 1}: it is not text"),
        ({**DESCRIPTION, "failed": ["3", None]}, "'listing.failed' has the value None: it is not text"),
        ({**DESCRIPTION, "failed": ["3", ""]}, "'listing.failed' has the value ''"),
        (
            {**DESCRIPTION, "first_page": "one"},
            "'listing.first_page' has the value 'one': it is not a whole number",
        ),
        ({**DESCRIPTION, "first_page": -1}, "'listing.first_page' has the value -1"),
        ({**DESCRIPTION, "page_step": 0}, "'listing.page_step' has the value 0: it is not a whole number from 1 on"),
        ({**DESCRIPTION, "page_step": True}, "'listing.page_step'"),
        ({**DESCRIPTION, "path": "/#/engines"}, "what follows a # never leaves the browser"),
    ],
    ids=str,
)
def test_a_bad_description_gets_a_sentence(given: Any, words: str) -> None:
    with pytest.raises(FleetError) as caught:
        Listing.from_params(given)
    assert words in str(caught.value)


def test_what_is_empty_has_its_default() -> None:
    empty = dict.fromkeys(("items", "deploying", "failed", "page_parameter", "first_page", "page_step"))
    least = {key: DESCRIPTION[key] for key in ("path", "name", "address", "state", "running")}
    assert Listing.from_params({**least, **empty}) == Listing.from_params(least)
    assert Listing.from_params({**least, **dict.fromkeys(empty, " ")}) == Listing.from_params(least)


def test_a_single_word_is_a_list_of_one() -> None:
    listing = Listing.from_params({**DESCRIPTION, "running": "in operation, fine", "failed": 3})
    assert listing.words == {"in operation, fine": "running", "1": "deploying", "3": "failed"}


def test_a_description_as_json_is_one() -> None:
    assert Listing.from_params(json.dumps(DESCRIPTION)) == Listing.from_params(DESCRIPTION)


def test_one_page_of_several_names_what_describes_pages() -> None:
    with pytest.raises(ConsoleError, match=r"'listing.path', or name .* in 'listing.page_parameter'"):
        read(item(), total=40)
