"""What is known of an interface, as time goes by."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.module_utils._network import kernel_state
from ansible_collections.slb.fleet.tests.unit.network.shown import inet, route, state


def test_what_lives_for_a_while_does_not_begin_anew():
    passing = inet("fd00::2/64", valid_life_time=600, preferred_life_time=60)
    over = inet("fd00::3/64", valid_life_time=90, preferred_life_time=0)
    before = state([passing, over, inet("fd00::4/64")], [route("fd00::/64", expires=600)], read_at=1000.0)
    now = kernel_state.aged(before, state(read_at=1100.5))
    assert now["addresses"] == [dict(passing, valid_life_time=500, preferred_life_time=0), inet("fd00::4/64")]
    assert now["routes"] == [route("fd00::/64", expires=500)]
    assert kernel_state.aged(before, state(read_at=3.0)) == before, "the host was booted in between"
    assert kernel_state.aged(state([passing]), state(read_at=3.0)) == state([passing])
