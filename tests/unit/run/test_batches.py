"""The batches of a run."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._batches import batches
from ansible_collections.slb.fleet.plugins.plugin_utils._slices import Slice

DEFAULT: list[int | str] = [1, "10%", "100%"]


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [(40, DEFAULT), (250, DEFAULT), (251, [1, "10%", 250]), (2509, [1, "10%", 250]), (2510, [1, 250, 250])],
)
def test_no_batch_is_larger_than_what_memory_bears(hosts: int, expected: list[Any]) -> None:
    assert batches(DEFAULT, hosts, 250, slice_=Slice()) == expected


def test_a_number_is_bounded_too() -> None:
    assert batches([1, 500], 40, 250, slice_=Slice()) == [1, 250]


@pytest.mark.parametrize(("number", "expected"), [(1, DEFAULT), (2, ["10%", "100%"])])
def test_the_canary_of_the_whole_fleet_is_in_the_first_slice(number: int, expected: list[Any]) -> None:
    assert batches(DEFAULT, 40, 250, canary_in_first_slice_only=True, slice_=Slice(number, 5)) == expected


def test_each_slice_has_one_of_its_own_otherwise() -> None:
    assert batches(DEFAULT, 40, 250, slice_=Slice(3, 5)) == DEFAULT


def test_batches_that_begin_with_no_canary_stay() -> None:
    for serial in (["50%", 10], [1]):
        assert batches(serial, 40, 250, canary_in_first_slice_only=True, slice_=Slice(2, 5)) == serial
