# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the console's list whole: page after page where the description names the parameter that chooses the page.

A part is never taken for the whole, because an engine on a page that was not read would look like one that is not
listed, and what is not listed counts as a leftover.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._console.extent import Extent
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ansible_collections.slb.fleet.plugins.module_utils._console.deadline import Deadline
    from ansible_collections.slb.fleet.plugins.module_utils._console.listing import Listing

_MOST_PAGES = 1000


class UnsteadyError(ConsoleError):
    """The pages do not fit together: the list changed while it was read, or it is not what it is taken for."""


def read_engines(listing: Listing, get: Callable[[str], Any], deadline: Deadline) -> list[dict[str, str]]:
    """All engines, as ``Listing.engines`` gives them. ``get``: the parsed JSON at a path.

    Raises ConsoleError where the list is not as described, or cannot be read whole.
    """
    if not listing.page_parameter:
        return listing.read(get(listing.path))
    try:
        return _read_pages(listing, get, deadline)
    except UnsteadyError:
        # Somebody may have added or removed an engine just then. Twice in a row, it is something else.
        return _read_pages(listing, get, deadline)


def _read_pages(listing: Listing, get: Callable[[str], Any], deadline: Deadline) -> list[dict[str, str]]:
    engines: list[dict[str, str]] = []
    seen: set[tuple[str, ...]] = set()
    before: list[Any] = []
    total: float | None = None
    for index in range(_MOST_PAGES):
        answer = get(listing.page_path(index))
        items = listing.items_of(answer)
        if items and items == before:
            raise _same_page(listing, index)
        page, extent = listing.engines(items), Extent(answer, listing.items, len(items))
        _refuse_repeated(listing, page, items, seen)
        engines, before = engines + page, items
        total = _steady_total(listing, total, extent)
        if not items or extent.is_all(len(engines), index + 1):
            _check_total(listing, total, len(engines))
            return engines
        if deadline.is_over():
            raise ConsoleError(
                f"The console's list at {listing.path} could not be read whole within {deadline.seconds:.0f} s.",
                "Ask for larger pages in the query of O(listing.path), or raise O(timeout).",
            )
    raise ConsoleError(
        f"The console's list at {listing.path} has no end: after {_MOST_PAGES} pages there are still more.",
        "Ask for larger pages in the query of O(listing.path), or correct O(listing.page_parameter).",
    )


def _same_page(listing: Listing, index: int) -> ConsoleError:
    first, second = (f"{listing.page_parameter}={listing.page_number(number)}" for number in (index - 1, index))
    return ConsoleError(
        f"The console's list at {listing.path} is the same for {first} and for {second}: the console does not heed "
        "that parameter, or not in these steps.",
        "Correct O(listing.page_parameter), and O(listing.page_step) where the console counts engines and not pages.",
    )


def _refuse_repeated(
    listing: Listing, page: list[dict[str, str]], items: list[Any], seen: set[tuple[str, ...]]
) -> None:
    """An engine that moved on to the next page in between has pushed another one out of sight."""
    # With what most consoles call the number of a row: the history of an engine may be listed too.
    rows = {
        (engine["name"], engine["address"], str(item.get("id", ""))): engine
        for engine, item in zip(page, items, strict=True)
    }
    for row in rows:
        if row in seen:
            raise UnsteadyError(
                f"The console's list at {listing.path} shows the engine {row[0]} on two pages, so that another one may "
                "be on none.",
                "Have the list sorted, or ask for larger pages, in the query of O(listing.path).",
            )
    seen.update(rows)


def _steady_total(listing: Listing, before: float | None, extent: Extent) -> float | None:
    now = extent.total
    if before is not None and now is not None and now != before:
        raise UnsteadyError(
            f"The console's list at {listing.path} changed while it was read: it spoke of {before:.0f} engines, "
            f"then of {now:.0f}.",
            "Run again when nobody adds or removes engines.",
        )
    return before if now is None else now


def _check_total(listing: Listing, total: float | None, read: int) -> None:
    if total is not None and total != read:
        raise UnsteadyError(
            f"The console's list at {listing.path} says that there are {total:.0f} engines, and has {read} on its "
            "pages.",
            "Check whether O(listing.first_page) is the console's first page, and O(listing.page_step).",
        )
