"""A list in pages is read whole, or not at all."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._console.deadline import Deadline
from ansible_collections.slb.fleet.plugins.module_utils._console.listing import Listing
from ansible_collections.slb.fleet.plugins.module_utils._console.pages import read_engines
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError

DESCRIPTION: dict[str, Any] = {
    "path": "/engines?size=3",
    "items": "data",
    "name": "name",
    "address": "ip",
    "state": "state",
    "running": "running",
    "page_parameter": "page",
}
Wrap = Callable[[list[Any], int, int], dict[str, Any]]
"""Makes the answer of a page's items, the number of the items before it, and that of all."""

HONEST: dict[str, Wrap] = {
    "total": lambda items, before, total: {"data": items, "total": total},
    "total in words": lambda items, before, total: {"data": items, "meta": {"total_count": str(total)}},
    "pages": lambda items, before, total: {"data": items, "pages": -(-total // 3)},
    "next": lambda items, before, total: {"data": items, "next": "/n" if before + len(items) < total else None},
    "has more": lambda items, before, total: {"data": items, "hasMore": before + len(items) < total},
    "last": lambda items, before, total: {"data": items, "last": before + len(items) >= total},
    "count of all, and next": lambda items, before, total: {
        "data": items,
        "count": total,
        "next": "/n" if before + len(items) < total else None,
    },
    "count of the page": lambda items, before, total: {"data": items, "count": len(items)},
    "count of all": lambda items, before, total: {"data": items, "count": total},
    "nothing": lambda items, before, total: {"data": items},
}


def engine(number: int) -> dict[str, Any]:
    return {"name": f"edge-{number}", "ip": f"192.0.2.{number}", "state": "running"}


class Console:
    """``first`` and ``step``: how it counts."""

    def __init__(self, count: int, wrap: Wrap, first: int = 1, step: int = 1, size: int = 3) -> None:
        self.engines = [engine(number) for number in range(count)]
        self.wrap, self.first, self.step, self.size = wrap, first, step, size
        self.asked: list[str] = []

    def __call__(self, path: str) -> Any:
        self.asked.append(path)
        page = (int(path.rpartition("page=")[2]) - self.first) // self.step
        begin = page * self.size
        return self.wrap(self.engines[begin : begin + self.size], begin, len(self.engines))


def read(console: Callable[[str], Any], seconds: float = 60, **described: Any) -> list[str]:
    listing = Listing.from_params({**DESCRIPTION, **described})
    return [found["name"] for found in read_engines(listing, console, Deadline(seconds))]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 6, 7, 200])
@pytest.mark.parametrize("wrap", HONEST.values(), ids=HONEST)
def test_all_pages_are_read(wrap: Wrap, count: int) -> None:
    console = Console(count, wrap)
    assert read(console) == [f"edge-{number}" for number in range(count)]
    assert len(console.asked) <= -(-count // 3) + 1


@pytest.mark.parametrize("key", ["total", "pages", "next", "has more", "last"])
def test_no_page_is_asked_for_after_the_last_one(key: str) -> None:
    console = Console(6, HONEST[key])
    read(console)
    assert console.asked == ["/engines?size=3&page=1", "/engines?size=3&page=2"]


@pytest.mark.parametrize(("first", "step"), [(0, 1), (0, 3), (1, 3)])
def test_consoles_that_count_otherwise(first: int, step: int) -> None:
    console = Console(7, HONEST["total"], first, step)
    assert len(read(console, first_page=first, page_step=str(step))) == 7
    assert console.asked[1].endswith(f"page={first + step}")


def test_the_parameter_may_stand_in_the_path() -> None:
    console = Console(4, HONEST["total"])
    read(console, path="/engines?page=9&size=3&pages=x")
    assert console.asked == ["/engines?size=3&pages=x&page=1", "/engines?size=3&pages=x&page=2"]
    listing = Listing.from_params({**DESCRIPTION, "path": "/engines", "page_parameter": "p&q"})
    assert listing.page_path(0) == "/engines?p%26q=1"


def test_a_console_that_ignores_the_parameter() -> None:
    with pytest.raises(ConsoleError, match=r"the same for page=1 and for page=2.*'listing.page_parameter'"):
        read(lambda path: {"data": [engine(1), engine(2)]})


def test_a_console_that_counts_from_zero_and_is_not_described_so() -> None:
    with pytest.raises(ConsoleError, match=r"says that there are 7 engines, and has 4 on its pages.*first_page"):
        read(Console(7, HONEST["total"], first=0))


def test_a_list_that_changes_is_read_once_more() -> None:
    calm, asked = Console(5, HONEST["total"]), []

    def console(path: str) -> Any:
        asked.append(path)
        return {**calm(path), "total": 6} if len(asked) == 1 else calm(path)

    assert len(read(console)) == 5
    assert len(asked) == 4


def test_a_list_that_goes_on_changing_is_an_error() -> None:
    calm, totals = Console(90, HONEST["total"]), itertools.count(100)
    with pytest.raises(ConsoleError, match="changed while it was read"):
        read(lambda path: {**calm(path), "total": next(totals)})
    assert len(calm.asked) == 4


def test_an_engine_on_two_pages_means_one_that_is_on_none() -> None:
    def console(path: str) -> Any:
        page = int(path.rpartition("=")[2])
        return {"data": [engine(page), engine(page + 1)], "total": 4}

    with pytest.raises(ConsoleError, match="shows the engine edge-2 on two pages"):
        read(console)


def test_a_history_of_an_engine_is_no_repetition() -> None:
    def console(path: str) -> Any:
        page = int(path.rpartition("=")[2])
        return {"data": [{**engine(1), "id": page}], "total": 2}

    assert read(console) == ["edge-1", "edge-1"]


def test_a_list_without_an_end() -> None:
    with pytest.raises(ConsoleError, match="has no end: after 1000 pages"):
        read(lambda path: {"data": [engine(int(path.rpartition("=")[2]))]})


def test_a_list_that_takes_too_long() -> None:
    console = Console(30, HONEST["total"])
    with pytest.raises(ConsoleError, match=r"could not be read whole within 0 s.*larger pages"):
        read(console, seconds=0)
    assert len(console.asked) == 1


def test_the_same_trouble_has_the_same_words() -> None:
    """So that a run can say it once."""

    def told() -> str:
        with pytest.raises(ConsoleError) as caught:
            read(Console(7, HONEST["total"], first=0))
        return caught.value.what

    assert told() == told()


@given(st.integers(0, 20), st.integers(1, 5), st.sampled_from(sorted(HONEST)), st.integers(0, 1))
def test_never_a_part(count: int, size: int, kind: str, first: int) -> None:
    """Whatever is described: all engines, or an error; but for a first page that nothing tells to be another one."""
    wrap = HONEST[kind] if kind != "pages" else lambda items, before, total: {"data": items, "pages": -(-total // size)}
    console = Console(count, wrap, first, size=size)
    assert len(read(console, first_page=first)) == count
