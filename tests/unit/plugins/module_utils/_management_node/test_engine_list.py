"""The configuration of the engine list, its pages and its states."""

import datetime
import json
import math
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import engine_list as module
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import (
    EngineList,
    fetch_engines,
    read_answer,
    read_pages,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.extent import NO_GAP

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
        *({"first_page": value} for value in (-1, True, 1_000_001)),
        *({"page_step": value} for value in (0, 1_000_001)),
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
        ("192.0.2.11:8443", "192.0.2.11"),
        ("[2001:db8::1]:22", "2001:db8::1"),
        ("https://192.0.2.11/", "192.0.2.11"),
        ("ssh://root@[2001:DB8::1]:22", "2001:db8::1"),
        ("https://edge-1.lan:8443", "https://edge-1.lan:8443"),
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


def json_answer(document, headers=None, status=200):
    return Answer(status, headers or {}, json.dumps(document).encode())


def read(console, option=PAGED, deadline=math.inf):
    def get(path):
        return json_answer(console.get(path))

    return [engine["name"] for engine in read_pages(EngineList.from_option(option), get, deadline).engines]


@pytest.mark.parametrize(
    "document",
    [
        *([], {"data": {}}, {"data": {"items": {}}}, {"data": {"items": [{"n": "x"}]}}, {"data": {"items": [5]}}),
        *({"data": {"items": [{**item(1), "st": value}]}} for value in ([], {})),
    ],
)
def test_other_document_is_not_as_configured(document):
    console = Console(0)
    console.get = lambda _path: document
    assert error_of(read, console, OPTION).code == "engine_list_not_as_configured"


def test_null_is_read_as_empty():
    rows = [{**item(1), "st": None}, {**item(2), "net": {"ip": None}}]
    engines = EngineList.from_option(OPTION).read_engines(rows)
    assert [(each["address"], each["console_state"]) for each in engines] == [("192.0.2.1", ""), ("", "up")]
    listing = read_answer(EngineList.from_option(OPTION), json_answer({"data": {"items": None, "total": 0}}))
    assert listing == ([], NO_GAP)
    groups = EngineList.from_option({**OPTION, "items": "groups.*.engines", "path": "/e", "complete": True})
    document = {"groups": [{"engines": [item(1)]}, {"engines": None}]}
    assert len(read_answer(groups, json_answer(document)).engines) == 1


def gap_of(others=(), headers=None, status=200, rows=2, age=0, top=(), **option):
    document = {"data": {"items": [item(number + 1) for number in range(rows)], **dict(others)}, **dict(top)}
    engine_list = EngineList.from_option({**OPTION, "path": "/api/engines", **option})
    listing = read_answer(engine_list, replace(json_answer(document, headers, status), age=age))
    assert len(listing.engines) == rows, "a part still shows its engines"
    return listing.gap.kind


@pytest.mark.parametrize(
    ("kind", "others"),
    [
        *(("part", others) for others in (
            {"total": 3}, {"total": "3"}, {"count": 9}, {"pages": 2}, {"hasMore": True}, {"next": "/x"},
            {"last": False},
            {"pagination": {"total_count": 3}}, {"meta": {"pagination": {"total": 3}}},
            {"recordsTotal": 57, "total": 2},
            {"nextLink": "x"}, {"@odata.nextLink": "x"}, {"continue": "tok"}, {"metadata": {"continue": "tok"}},
            {"truncated": True}, {"is_truncated": "true"}, {"remainingItemCount": 4},
            {"_links": {"next": {"href": "x"}}},
            {"limit": 2}, {"page_size": "2", "count": 2}, {"partial": True}, {"incomplete_results": True},
            {"hasNext": "true", "total": 2}, {"totalRow": 3}, {"total": {"value": 3}},
            {"success": False}, {"total": math.inf}, {"total": 10**400}, {"next": [[]]},
        )),
        *(("", others) for others in (
            {"total": 2}, {"totalElements": 2}, {"recordsTotal": 2, "recordsFiltered": 2}, {"totalHits": 2},
            {"@odata.count": 2}, {"meta": {"total": 2}}, {"count": 2}, {"recordCount": "2"}, {"total": 2, "limit": 2},
            {"next": None}, {"last": True}, {"hasMore": False}, {"_links": {"next": {"href": None}}},
            {"count": 2, "limit": 50}, {"numFound": 2}, {"iTotalRecords": "2"}, {"result_count": 2},
            {"total_matches": 2}, {"hydra:totalItems": 2}, {"Members@odata.count": 2}, {"results": 2}, {"总数": 2},
            {"total": 2, "alarmCount": 12}, {"total": 2, "totalBandwidth": 4000}, {"total": 2, "license_total": 10},
            {"total": 2, "max_total": 90},
            {"total": 2, "next_refresh": 5}, {"total": 2, "next_poll": "12:00"}, {"total": 2, "nextPage": 1},
            {"total": 2, "failed": 1, "running": 1}, {"total": 2, "errors": 1, "ok": 1},
            {"total": 2, "status": "200 OK"},
        )),
        *(("unproven", others) for others in (
            {"total": -(10**400)}, {"total": -math.inf},
            {}, {"code": 0, "msg": ""},
            {"size": 50}, {"total": "many"}, {"total": 1}, {"total": math.nan}, {"total": True}, {"count": 1},
            {"next": None, "unread_count": 7}, {"last": True, "next_refresh": 5}, {"next_idx": 9}, {"moreInfo": "/x"},
            {"page": {"page": {"page": {"total": 3}}}},
        )),
    ],
    ids=str,
)  # fmt: skip
def test_gap_of_one_answer(kind, others):
    assert gap_of(others) == kind


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("", {"headers": {"X-Total": "2"}}),
        ("", {"headers": {"X-Pagination": '{"TotalCount":2}'}}),
        ("part", {"headers": {"X-Pagination": '{"TotalCount":3}'}}),
        ("part", {"headers": {"X-Next-Page": "2"}}),
        ("", {"headers": {"X-Next-Page": ""}}),
        ("part", {"headers": {"Content-Range": "engines 0-1/7"}}),
        ("part", {"headers": {"Link": '<https://x/?p=2>; rel="next", <https://x/?p=9>; rel="last"'}}),
        ("part", {"status": 206, "complete": True}),
        ("", {"status": 206, "headers": {"Content-Range": "items 0-1/2"}}),
        ("part", {"status": 206, "headers": {"Content-Range": "items 5-6/2"}}),
        ("stale", {"headers": {"Age": "1"}, "complete": True}),
        ("stale", {"headers": {"Age": "30.5"}, "complete": True}),
        ("stale", {"headers": {"Age": "0, 30"}, "complete": True}),
        ("stale", {"headers": {"Server-Timing": "cdn-cache; desc=HIT, edge; dur=1"}, "complete": True}),
        ("stale", {"headers": {"X-Cache": "TCP_MEM_HIT from proxy"}, "complete": True}),
        ("stale", {"headers": {"X-Cache-Hits": "0, 3"}, "complete": True}),
        ("", {"headers": {"X-Cache-Hits": "0", "X-Cache": "White"}, "complete": True}),
        ("part", {"headers": {"X-WP-Total": "3"}, "complete": True}),
        ("stale", {"headers": {"Warning": '110 - "Response is Stale"'}, "complete": True}),
        ("", {"headers": {"Age": "0", "X-Cache": "MISS"}, "complete": True}),
        ("", {"complete": True}),
        ("part", {"others": {"total": 3}, "complete": True}),
        ("part", {"path": "/api/engines?limit=2", "complete": True}),
        ("", {"others": {"total": 2}, "path": "/api/engines?limit=2"}),
        ("unproven", {"others": {"total": 2}, "complete": False}),
        ("", {"others": {"total": 9, "pages": 5, "all": {"n": 2}}, "total": "data.all.n"}),
        *(("part", {"others": {"n": 2, **more}, "total": "data.n"}) for more in (
            {"next": "x"}, {"truncated": True}, {"hasMore": True}, {"cursor": "x"}, {"moreItems": True},
            {"total": {"value": 2, "relation": "gte"}},
        )),
        ("", {"others": {"n": "2"}, "total": "data.n"}),
        ("part", {"others": {"total": 2, "n": 3}, "total": "data.n"}),
        ("unproven", {"others": {"total": 2, "n": 1}, "total": "data.n"}),
        ("part", {"others": {"total": 9}, "rows": 0}),
        *(("part", {"others": {"n": value}, "total": "data.n"}) for value in (10**400, math.inf, "9" * 5000)),
        ("unproven", {"others": {"n": math.nan}, "total": "data.n"}),
        ("part", {"others": {"total": 2, "success": False}}),
        ("part", {"others": {"success": False}, "complete": True}),
        *(("", {"top": {"code": code}, "others": {"total": 2}}) for code in (1, 100, 2000, "20000", "A0000")),
        ("unproven", {"top": {"code": 7}, "others": {"total": 2}}),
        ("unproven", {"top": {"code": 1, "msg": "database error"}, "others": {"total": 2}}),
        *(("", {"top": member, "others": {"total": 2}}) for member in (
            {"error_count": 2}, {"status_page": "/status"}, {"overview": {"total": 90}}, {"status_total": 450},
        )),
        ("", {"others": {"max_engines": 2}, "path": "/engines?tenant=2", "complete": True}),
        ("", {"top": {"code": 7, "success": True}, "others": {"total": 2}}),
        ("", {"top": {"code": 1}, "complete": True}),
        ("", {"top": {"code": 7}, "complete": True}),
        ("", {"others": {"count": 30}, "rows": 30, "path": "/api/engines?page=1&limit=90"}),
        ("", {"others": {"count": 30}, "rows": 30, "path": "/api/engines?limit=90&rows=0"}),
        ("", {"headers": {"Content-Range": "bytes 0-200/201"}, "complete": True}),
        *(("part", {"headers": headers, "complete": True}) for headers in (
            {"Link": '<https://x/?page=1>; rel="first", <https://x/?page=9>; rel="last"'}, {"X-Result-Count": "30"},
            {"X-Continuation-Token": "x"},
        )),
        ("part", {"headers": {"X-Prev-Page": "1"}, "complete": True}),
        ("part", {"headers": {"Link": '<https://x/?p=1>; rel="prev"'}, "complete": True}),
        ("part", {"headers": {"Next-Range": "name a.."}, "complete": True}),
        ("part", {"headers": {"X-Consul-Results-Filtered-By-ACLs": "true"}, "complete": True}),
        ("", {"headers": {"X-Consul-Results-Filtered-By-ACLs": "false"}, "complete": True}),
        *(("stale", {"headers": {name: value}, "complete": True}) for name, value in (
            ("X-Drupal-Cache", "HIT"), ("X-Litespeed-Cache", "hit"), ("X-From-Cache", "1"), ("X-Varnish", "32770 3"),
            ("Warning", '112 - "Disconnected Operation"'), ("X-Nginx-Cache-Status", "STALE"),
        )),
        *(("", {"headers": headers, "complete": True}) for headers in (
            {"Cache-Control": "stale-while-revalidate=30, max-age=60"}, {"X-Varnish": "32770"}, {"X-From-Cache": "0"},
            {"X-Drupal-Cache": "MISS"}, {"Warning": '299 - "deprecated"'},
        )),
    ],
    ids=str,
)  # fmt: skip
def test_gap_of_headers_and_options(kind, given):
    assert gap_of(**given) == kind


@pytest.mark.parametrize("place", ["others", "top"])
@pytest.mark.parametrize(
    ("kind", "member"),
    [
        *(("part", member) for member in (
            {"status": "loading"}, {"state": "Pending"}, {"phase": "in_progress"}, {"syncState": "queued"},
            {"status": "partial"}, {"result": "accepted"}, {"status": "数据加载中"}, {"status": 202}, {"code": "206"},
            {"loading": True}, {"isRefreshing": "true"}, {"in_progress": True}, {"filtered": True},
            {"resultsFilteredByAcls": True}, {"timed_out": True}, {"unreachable": ["node-2"]}, {"degraded": True},
            {"ready": False}, {"isComplete": "false"}, {"finished": False}, {"exhaustiveNbHits": False},
            {"done": False}, {"errors": [{"message": "shard 2"}]}, {"error": "timeout"}, {"ok": False},
            {"meta": {"ready": False}}, {"responseHeader": {"partialResults": True}},
            {"page_info": {"hasPreviousPage": True}}, {"previous": "/x"}, {"first": False}, {"offset": 50},
            {"_links": {"prev": {"href": "/x"}}}, {"total": {"value": 2, "relation": "gte"}},
            {"page": {"totalElements": 2, "number": 1}}, {"pageable": {"offset": 20}}, {"currentPage": 2},
            {"startIndex": 3}, {"links": {"last": "/e?page[number]=2"}}, {"last": "https://x/e?size=2&page=9"},
            {"totalEngines": 9}, {"grand_total": 9}, {"limited": True}, {"limitReached": True},
            {"maxResultsExceeded": True}, {"overflow": True}, {"sync": {"status": "syncing"}},
            {"hydra:totalItems": 120}, {"Members@odata.count": 120}, {"Members@odata.nextLink": "/x"},
            {"numFound": 120}, {"iTotalRecords": 120}, {"result_count": 120}, {"cursor": "0036"}, {"results": 120},
            {"rowCount": 120},
            {"totalRecord": 120}, {"total_matches": 30}, {"totalNotFiltered": 120}, {"grand_total_entities": 30},
            {"all": 120}, {"pager": {"rowCount": 120}}, {"servers_links": [{"rel": "next", "href": "/x"}]},
            {"exceededTransferLimit": True}, {"marker": "x"}, {"omitted": 117}, {"isEnd": False},
            {"code": 500}, {"status": "failed"}, {"status": False}, {"_shards": {"total": 5, "failed": 1}},
            {"head": {"code": 500}}, {"failedNodes": ["n2"]}, {"errorCode": "-1"},
        )),
        *(("stale", member) for member in (
            {"cached": True}, {"fromCache": True}, {"isStale": True}, {"cached_at": "06:00"},
        )),
        *(("", member) for member in (
            {"status": "success"}, {"state": "Complete"}, {"status": "OK", "result": "done"}, {"status": "成功"},
            {"code": "200"}, {"loading": False}, {"filtered": False}, {"ready": True}, {"errors": []}, {"failed": 2},
            {"error": {"code": 0, "message": "success"}}, {"warnings": ["deprecated"]}, {"state": "normality"},
            {"previous": None}, {"first": True}, {"offset": 0}, {"cached": 0}, {"user": {"status": "pending"}},
            {"sortedBy": "ip"}, {"settings": True}, {"pending": 3}, {"license_status": "expiring"}, {"progress": 100},
            {"alarm_count": 12}, {"userTotal": 40}, {"noMore": True}, {"_shards": {"total": 5, "failed": 0}},
            {"pageInfo": {"hasNextPage": False, "endCursor": "x"}}, {"max_items": 50},
            {"page": 1}, {"page": {"number": 0, "totalPages": 1}}, {"startIndex": 1}, {"links": {"last": "/e?page=1"}},
        )),
    ],
    ids=str,
)  # fmt: skip
def test_gap_of_list_that_is_not_ready_or_not_whole(place, kind, member):
    """Also if the operator states that one answer has all engines."""
    assert gap_of(**{place: member}, complete=True) == kind


@pytest.mark.parametrize(
    "member",
    [{"warnings": ["shard 2 is down"]}, {"state": "normality"}, {"status": "E4"}, {"filters": {"group": "north"}}],
)
def test_unknown_state_of_a_list_proves_no_absence(member):
    assert gap_of({"total": 2, **member}) == "unproven"


@pytest.mark.parametrize(
    ("query", "is_filter"),
    [
        *((query, True) for query in (
            "status=up", "filter=group%3Dnorth", "q=a", "condition=status%3Drunning", "params=%7B%22status%22:1%7D",
            "search[value]=edge", "mine=true", "only_running=1", "exclude_failed=1", "tenant_id=1", "status__in=1",
            "offset=50", "from=2026-11-28", "cursor=x",
            "状态=1", "r=running",
        )),
        *((query, False) for query in (
            "status=all", "q=", "page_size=50&sort=name", "offset=0&limit=50", "fields=ip&format=json",
            "_=1700000000&nocache=true",
            "where={}", "lang=zh", "columns[0][data]=n&search[value]=&order[0][dir]=asc&draw=1", "access_token=abc",
            "search[regex]=false", "all=true&pagination=false",
        )),
    ],
)  # fmt: skip
@pytest.mark.parametrize("paged", [{}, {"page_parameter": "page"}])
def test_path_that_selects_engines_proves_no_absence(query, is_filter, paged):
    for complete, kind in ((None, "unproven" if is_filter else ""), (True, "")):
        option = {**OPTION, "path": f"/e?{query}", "total": "data.total", "complete": complete, **paged}
        node = PagesOfNode(Console(1, total=1), {})
        assert fetch_engines(node, EngineList.from_option(option)).gap.kind == kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        *((path, "unproven") for path in ("/engines/running", "/status/Online/", "/users/me/engines", "/e;status=up")),
        *((path, "") for path in ("/engines", "/engines/list", "/running/engines")),
    ],
)
def test_segment_that_selects_engines_proves_no_absence(path, kind):
    assert gap_of({"total": 2}, path=path) == kind
    assert gap_of({"total": 2}, path=path, complete=True) == ""


@pytest.mark.parametrize(
    "member",
    [
        *({"next_refresh": None}, {"moreInfo": ""}, {"remaining": 0, "limit": 9}, {"incomplete_results": False}),
        *({"partial": False}, {"nextMaintenance": None}, {"lastUpdate": "true"}),
    ],
    ids=str,
)
def test_member_that_is_about_no_page_proves_nothing(member):
    assert gap_of(member) == "unproven"


@pytest.mark.parametrize(("rows", "kind"), [(2, ""), (3, ""), (10, "unproven"), (25, "unproven"), (64, "unproven")])
def test_count_of_a_usual_page_size_proves_nothing(rows, kind):
    assert gap_of({"count": rows}, rows=rows) == kind
    assert gap_of({"count": rows, "next": None}, rows=rows) == ""


@pytest.mark.parametrize("status", [201, 202, 203, 206, 207, 226])
@pytest.mark.parametrize("option", [{"complete": True}, {"total": "data.total"}])
def test_status_other_than_200_proves_no_absence(status, option):
    assert gap_of({"total": 2}, status=status, **option) == "part"
    node = PagesOfNode(Console(3, total=3), {})
    get, statuses = node.call, iter((status, 200))
    node.call = lambda request: replace(get(request), status=next(statuses))
    assert fetch_engines(node, EngineList.from_option(PAGED)).gap.kind == "part"


def test_members_of_an_engine_prove_nothing():
    engine = {**item(1), "status": "loading", "total": 9, "next": "x", "ready": False}
    engine_list = EngineList.from_option({**OPTION, "items": "*", "path": "/e", "complete": True})
    assert read_answer(engine_list, json_answer({"a": engine})).gap == NO_GAP


@pytest.mark.parametrize(("first", "kind"), [({"previous": "/e?page=0"}, "part"), ({"previous": None}, "")])
def test_pages_that_do_not_begin_with_the_first_are_a_part(first, kind):
    node, pages = PagesOfNode(Console(3), {}), [{"total": 3, **first}, {"total": 3, "previous": "/e?page=1"}]
    get = node.call

    def call(request):
        number = len(node.console.paths)
        return json_answer({"data": {**get(request).parsed[0]["data"], **pages[number % 2]}})

    node.call = call
    assert fetch_engines(node, EngineList.from_option(PAGED)).gap.kind == kind


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("", {"age": -math.inf}),
        ("", {"age": 10}),
        ("stale", {"age": 11}),
        # Made for 60 s, 40 s of which are left: a cache that writes dates of its own kept it for 20 s.
        ("stale", {"headers": {"Expires": "Sat, 28 Nov 2026 06:00:40 GMT", "Cache-Control": "max-age=60"}}),
        # Its time is over.
        ("stale", {"headers": {"Expires": "Sat, 28 Nov 2026 05:00:00 GMT", "Cache-Control": "max-age=60"}}),
        ("", {"headers": {"Expires": "Sat, 28 Nov 2026 06:01:00 GMT", "Cache-Control": "max-age=60"}}),
        ("", {"headers": {"Expires": "Thu, 01 Jan 1970 00:00:00 GMT", "Cache-Control": "max-age=0"}}),
        ("", {"headers": {"Expires": "Thu, 19 Nov 1981 08:52:00 GMT", "Cache-Control": "max-age=60"}}),
        ("", {"headers": {"Expires": "0", "Cache-Control": "no-cache"}}),
        ("", {"headers": {"Last-Modified": "Fri, 27 Nov 2026 06:00:00 GMT"}}),
    ],
)  # fmt: skip
def test_gap_of_the_age_of_an_answer(kind, given):
    headers = {"Date": "Sat, 28 Nov 2026 06:00:00 GMT", **given.get("headers", {})}
    assert gap_of(complete=True, **{**given, "headers": headers}) == kind


@pytest.mark.parametrize("is_paged", [True, False])
def test_engine_that_is_listed_twice_hides_another_one(is_paged):
    document = {"data": {"items": [item(1), item(1)], "total": 2}}
    for complete, kind in ((None, "unproven"), (True, "")):
        engine_list = EngineList.from_option({**(PAGED if is_paged else OPTION), "path": "/e", "complete": complete})
        node = PagesOfNode(Console(0), {})
        node.call = lambda _request: json_answer(document)
        assert fetch_engines(node, engine_list).gap.kind == kind


def test_rows_of_one_engine_with_ids_of_their_own_are_whole():
    document = {"data": {"items": [{**item(1), "id": 1}, {**item(1), "id": 2}], "total": 2}}
    assert read_answer(EngineList.from_option({**OPTION, "path": "/e"}), json_answer(document)).gap == NO_GAP


@pytest.mark.parametrize(
    ("member", "cause", "option"),
    [
        ({"total": 37}, "total=37", "set total"),
        ({"code": 7}, "code=7", "complete: true"),
        ({"count": 1, "alarm_count": 9}, "alarm_count=9", "complete: true"),
        ({"next": "/e?page=2"}, "next=/e?page=2", "page_parameter"),
    ],
)
def test_gap_shows_what_the_answer_reports(member, cause, option):
    answer = json_answer({"data": {"items": [item(1)], **member}})
    gap = read_answer(EngineList.from_option({**OPTION, "path": "/e"}), answer).gap
    assert cause in gap.cause
    assert option in gap.fix


@pytest.mark.parametrize(
    ("kind", "totals"),
    [("", (1, 1)), ("part", (1, 40)), ("unproven", (1, None)), ("unproven", (2, None)), ("part", (None, 30))],
)
def test_groups_have_their_totals_together(kind, totals):
    groups = [{"engines": [item(number)], "total": total} for number, total in enumerate(totals)]
    engine_list = EngineList.from_option({**OPTION, "items": "groups.*.engines", "path": "/e"})
    assert read_answer(engine_list, json_answer({"groups": groups})).gap.kind == kind


@pytest.mark.parametrize("value", [None, True, "many", [2]])
def test_total_that_is_no_number_is_not_as_configured(value):
    with pytest.raises(FleetError) as error:
        gap_of({"n": value}, total="data.n")
    assert error.value.code == "engine_list_not_as_configured"


@pytest.mark.parametrize("headers", [{"Age": "7"}, {}])
def test_pages_from_a_cache_are_stale(headers):
    console = Console(3, total=3)
    listing = read_pages(EngineList.from_option(PAGED), lambda path: json_answer(console.get(path), headers), math.inf)
    assert (listing.gap.kind, len(listing.engines)) == ("stale" if headers else "", 3)


@pytest.mark.parametrize(
    ("items", "document"),
    [
        ("*", {"a": item(1), "next": item(2)}),
        ("groups.*.engines", {"groups": [{"engines": [item(1)]}, {"engines": [item(2)]}]}),
        ("groups.*.engines.*", {"groups": {"x": {"engines": {"1": item(1), "2": item(2)}}}}),
        ("0.rows", [{"rows": [item(1), item(2)]}, {"total": 9}]),
    ],
)
def test_items_may_be_members_and_indexes(items, document):
    engine_list = EngineList.from_option({**OPTION, "items": items, "path": "/e", "complete": True})
    listing = read_answer(engine_list, json_answer(document))
    assert [engine["name"] for engine in listing.engines] == ["edge-1", "edge-2"]
    assert listing.gap == NO_GAP


def test_total_below_an_index_counts():
    engine_list = EngineList.from_option({**OPTION, "items": "0.rows", "path": "/e", "complete": True})
    assert read_answer(engine_list, json_answer([{"rows": [item(1)], "total": 2}])).gap.kind == "part"


def test_fields_may_be_indexes():
    option = {**OPTION, "items": "", "name": "0", "address": "1.0.ip", "state": "2"}
    engines = read_answer(
        EngineList.from_option(option), json_answer([["edge-1", [{"ip": "192.0.2.1"}], "up"]])
    ).engines
    assert (engines[0]["name"], engines[0]["address"], engines[0]["state"]) == ("edge-1", "192.0.2.1", "running")


@pytest.mark.parametrize(
    ("count", "others", "requests"),
    [
        # Without a total, the page 0 is read, too.
        *((5, others, 2 * 4 + 1) for others in ({}, {"total": 0})),
        (5, {"total": 5}, 3),
        (4, {"pages": 2}, 2 * 2 + 1),
        (2, {"pages": 1}, 1 + 1),
    ],
)
def test_pages_are_read_to_the_end(count, others, requests):
    console = Console(count, **others)
    listing = fetch_engines(PagesOfNode(console, {}), EngineList.from_option(PAGED))
    assert [engine["name"] for engine in listing.engines] == [f"edge-{number + 1}" for number in range(count)]
    assert (listing.gap, len(console.paths)) == (NO_GAP, requests)
    assert console.paths[0] == "/api/engines?size=2&page=1"


@pytest.mark.parametrize(
    ("kind", "others", "status"),
    [
        *(("part", others, 200) for others in ({"hasMore": True}, {"next": "/x"}, {"totalPages": 9}, {"last": False})),
        ("part", {}, 206),
        *(("unproven", others, 200) for others in ({"message": "database timeout"}, {"shard": 3})),
        ("", {}, 200),
    ],
    ids=str,
)
def test_empty_page_that_may_not_be_the_last_proves_no_absence(kind, others, status):
    node = PagesOfNode(Console(2), {})
    get = node.call

    def call(request):
        answer = get(request)
        document = answer.parsed[0]["data"]
        return answer if document["items"] else json_answer({"data": document, **others}, status=status)

    node.call = call
    listing = fetch_engines(node, EngineList.from_option(PAGED))
    assert (listing.gap.kind, len(listing.engines)) == (kind, 2)


@pytest.mark.parametrize(("removals", "kind", "requests"), [((2,), "", 2 + 2 + 2 + 1), ((2, 5), "unproven", 2 + 2 + 2)])
def test_engine_that_moves_between_pages_is_found_or_not_proven(removals, kind, requests):
    """Three engines in pages of two: if the first one is removed, the third one moves to page 1, unseen."""
    console = Console(4)
    del console.items[3]
    node = PagesOfNode(console, dict.fromkeys(removals, remove_first))
    listing = fetch_engines(node, EngineList.from_option(PAGED))
    assert (listing.gap.kind, len(console.paths)) == (kind, requests)
    assert kind or [engine["name"] for engine in listing.engines] == ["edge-2", "edge-3"]


def test_page_parameter_replaces_the_one_in_the_path():
    engine_list = EngineList.from_option(
        {**PAGED, "path": "/e?offset=7&x=1", "page_parameter": "offset", "first_page": "0", "page_step": 50}
    )
    assert [engine_list.page_path(number) for number in (0, 100)] == ["/e?x=1&offset=0", "/e?x=1&offset=100"]


@pytest.mark.parametrize("case", ["same page", "engine on two pages", "other total", "total changes", "without end"])
def test_inconsistent_pages_are_unreliable(monkeypatch, case):
    monkeypatch.setattr(module, "_MAX_PAGES", 5)
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
        self.connection = Connection("https://console.example")

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
        (lambda items: items.insert(0, item(9)), False, 2 + 4 + 4 + 1),
    ],
)
def test_pages_that_change_are_fetched_again(change, has_total, requests):
    console = Console(5)
    get = console.get
    total = {"total": lambda: len(console.items)} if has_total else {}
    console.get = lambda path: {"data": {**get(path)["data"], **{key: value() for key, value in total.items()}}}
    engines = fetch_engines(PagesOfNode(console, {2: change}), EngineList.from_option(PAGED)).engines
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


def test_page_in_the_path_that_is_replaced_is_no_filter():
    node = PagesOfNode(Console(3, total=3), {})
    assert fetch_engines(node, EngineList.from_option({**PAGED, "path": "/e?page=3"})).gap == NO_GAP


class Offsets(PagesOfNode):
    """Counts engines from ``base``, and gives at most ``cap`` of them. ``end``: the answer behind the last one."""

    def __init__(self, count, cap=50, base=0, parameter="offset", end=None, **others):
        super().__init__(Console(count, **others), {})
        self.cap, self.base, self.parameter, self.end = cap, base, parameter, end

    def call(self, request):
        self.console.paths.append(request.path)
        number = int(parse_qs(urlsplit(request.path).query)[self.parameter][0]) - self.base
        first = number if self.parameter == "offset" else number * self.cap
        items = self.console.items[max(0, first) : max(0, first + self.cap)]
        if not items and self.end is not None:
            return Answer(*self.end)
        return json_answer({"data": {"items": items, **self.console.others}})

    def describe(self, answer):
        return f"HTTP {answer.status}"


OFFSETS = {**OPTION, "page_parameter": "offset", "first_page": 0, "page_step": 50}


@pytest.mark.parametrize("others", [{}, {"total": 120}, {"last": False}])
@pytest.mark.parametrize("count", [45, 120])
def test_page_shorter_than_its_step_is_unreliable(count, others):
    """The management node gives 20 engines although 50 are requested: engines between the pages are missing."""
    node = Offsets(count, cap=20, **({"total": count} if "total" in others else others))
    error = error_of(fetch_engines, node, EngineList.from_option(OFFSETS))
    assert (error.code, "20" in error.fix) == ("engine_list_unreliable", True)


@pytest.mark.parametrize("count", [20, 50, 100, 120])
def test_short_page_at_the_end_is_whole(count):
    listing = fetch_engines(Offsets(count), EngineList.from_option(OFFSETS))
    assert (listing.gap, len(listing.engines)) == (NO_GAP, count)


def test_offset_that_is_rounded_down_ends_the_pages():
    node = Offsets(70)
    call = node.call
    node.call = lambda request: call(replace(request, path=request.path.replace("70", "50")))
    listing = fetch_engines(node, EngineList.from_option(OFFSETS))
    assert (listing.gap, len(listing.engines)) == (NO_GAP, 70)


@pytest.mark.parametrize(
    ("node", "option", "first"),
    [
        (Offsets(5, cap=2, parameter="page"), {"page_parameter": "page"}, "0"),
        (Offsets(2, cap=2, parameter="page"), {"page_parameter": "page"}, "0"),
        (Offsets(5, cap=2, parameter="page", base=3), {"page_parameter": "page", "first_page": 4}, "3"),
        (Offsets(90), {"page_parameter": "offset", "first_page": 1, "page_step": 50}, "0"),
    ],
    ids=["page", "only page", "other first page", "offset"],
)
def test_engines_before_the_first_page_are_unreliable(node, option, first):
    error = error_of(fetch_engines, node, EngineList.from_option({**OPTION, **option}))
    assert (error.code, f"first_page to {first}" in error.fix) == ("engine_list_unreliable", True)


@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_page_before_the_first_one_may_be_an_error(status):
    node = Offsets(3, cap=2, base=1, parameter="page")
    get = node.call
    node.call = lambda request: Answer(status, {}, b"") if "page=0" in request.path else get(request)
    if status == 503:
        assert error_of(fetch_engines, node, EngineList.from_option(PAGED)).code == "engine_list_unavailable"
    else:
        assert fetch_engines(node, EngineList.from_option(PAGED)).gap == NO_GAP


NULL = (200, {}, b'{"data": {"items": null}}')


@pytest.mark.parametrize("end", [(404, {}, b'{"detail": "Invalid page."}'), (204, {}, b""), NULL])
def test_answer_behind_the_last_page_is_the_end(end):
    node = Offsets(5, cap=2, base=1, parameter="page", end=end)
    listing = fetch_engines(node, EngineList.from_option(PAGED))
    assert (listing.gap, len(listing.engines), len(node.console.paths)) == (NO_GAP, 5, 2 * 4 + 1)


@pytest.mark.parametrize(
    ("count", "others", "status", "result"),
    [
        (4, {"hasMore": True}, 404, "part"),
        (4, {}, 400, "engine_list_unavailable"),
        (4, {"total": 9}, 404, "engine_list_unreliable"),
        (0, {}, 404, "engine_list_unavailable"),
    ],
)
def test_answer_behind_the_last_page_may_be_an_error(count, others, status, result):
    node = Offsets(count, cap=2, base=1, parameter="page", end=(status, {}, b"{}"), **others)
    engine_list = EngineList.from_option(PAGED)
    if result == "part":
        assert fetch_engines(node, engine_list).gap.kind == result
    else:
        assert error_of(fetch_engines, node, engine_list).code == result


@pytest.mark.parametrize(("total", "is_end"), [(4, True), (5, False)])
def test_last_page_that_is_repeated_is_the_end_with_a_total(total, is_end):
    console = Console(4, n=total, nextPage=9)
    get = console.get
    console.get = lambda path: get(path if "page=1" in path else "?page=2")
    engine_list = EngineList.from_option({**PAGED, "total": "data.n"})
    if is_end:
        assert len(fetch_engines(PagesOfNode(console, {}), engine_list).engines) == 4
    else:
        error = error_of(fetch_engines, PagesOfNode(console, {}), engine_list)
        assert (error.code, "set total" in error.fix) == ("engine_list_unreliable", True)


def test_configured_total_ends_the_pages():
    console = Console(4, n=4, total=2)
    engine_list = EngineList.from_option({**PAGED, "total": "data.n"})
    assert len(fetch_engines(PagesOfNode(console, {}), engine_list).engines) == 4
    assert len(console.paths) == 2


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
