"""The console's list of engines, read by a description, and never taken for more than it is."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.filter.decision import console_state
from ansible_collections.slb.fleet.plugins.module_utils._console.listing import Listing
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError, OptionError

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
    assert "try_engine_listing" in str(caught.value)


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
        ([], "not_listed"),
        ([item()], "running"),
        ([item(status=3)], "failed"),
        ([item(name="another name, same host")], "running"),
        ([item(ip="192.0.2.99")], "unknown"),
        ([item(), item(status=3)], "unknown"),
        ([item(status="new word")], "unknown"),
    ],
)
def test_what_the_list_says_of_one_engine(engines: list[dict[str, Any]], state: str) -> None:
    assert console_state({"engines": read(*engines)}, "edge-1", "192.0.2.11") == {"console": state}


def test_an_address_is_the_same_however_it_is_written() -> None:
    engines = read(item(ip="2001:db8:0::0:11"))
    assert console_state({"engines": engines}, "other", "2001:DB8::11") == {"console": "running"}


def test_a_list_that_could_not_be_read_is_not_an_empty_one() -> None:
    failed = {"failed": True, "msg": "HTTP 503"}
    assert console_state(failed, "edge-1", "192.0.2.11") == {"console": "unreadable", "console_words": "HTTP 503"}
    forgiven = failed | {"failed": False, "failed_when_result": False}
    assert console_state(forgiven, "edge-1", "192.0.2.11")["console"] == "unreadable"
    assert console_state({}, "edge-1", "192.0.2.11") == {"console": "unknown"}
    assert console_state({"skipped": True}, "edge-1", "192.0.2.11") == {"console": "unknown"}
