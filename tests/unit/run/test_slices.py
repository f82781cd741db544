"""What limits for the whole fleet mean for a run that has a part of it."""

from __future__ import annotations

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._slices import Slice, is_exceeded


@pytest.mark.parametrize(("limit", "count"), [(0, 3), (1, 3), (7, 5), (10, 5), (1000, 7)])
def test_the_shares_of_all_slices_are_the_whole(limit: int, count: int) -> None:
    shares = [Slice(number, count).share(limit) for number in range(1, count + 1)]
    assert sum(map(int, shares)) == limit
    assert int(max(shares)) - int(min(shares)) <= 1


@pytest.mark.parametrize(("limit", "count"), [(2, 3), (7, 5)])
def test_where_a_slice_does_not_know_which_it_is_all_together_take_no_more(limit: int, count: int) -> None:
    assert int(Slice.read(f"?/{count}").share(limit)) * count <= limit


def test_a_percentage_is_of_the_slice_s_own_hosts() -> None:
    assert Slice(2, 5).share("10%") == "10%"


def test_a_run_that_is_no_slice_has_it_all() -> None:
    assert Slice().share(7) == 7


@pytest.mark.parametrize(("text", "read"), [("2/5", Slice(2, 5)), (" ? / 5 ", Slice(None, 5)), ("1/1", Slice(1, 1))])
def test_how_a_slice_is_written(text: str, read: Slice) -> None:
    assert Slice.read(text) == read


@pytest.mark.parametrize("text", ["", "5", "0/5", "6/5", "1/0", "a/b", "1/2/3", "-1/2", 2.5])
def test_what_is_no_slice(text: object) -> None:
    with pytest.raises(ValueError, match="a slice such as 2/5"):
        Slice.read(text)


@pytest.mark.parametrize(
    ("limit", "failed", "hosts", "exceeded"),
    [
        (0, 0, 9, False),
        (0, 1, 9, True),
        (2, 2, 9, False),
        ("10%", 1, 10, False),
        ("10%", 2, 10, True),
        ("0%", 1, 9, True),
    ],
)
def test_a_budget_is_exceeded_by_one_more(limit: int | str, failed: int, hosts: int, exceeded: bool) -> None:
    assert is_exceeded(limit, failed, hosts) == exceeded


@pytest.mark.parametrize(("most", "share"), [(10, 2), (4, 1), (2, 1), (0, 0)])
def test_what_is_at_the_node_at_once_is_shared_too(most: int, share: int) -> None:
    assert Slice.read("?/4").at_once(most) == share
