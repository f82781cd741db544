"""The body of an answer: whole, or known not to be."""

from __future__ import annotations

import gzip
import io
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._console import body
from ansible_collections.slb.fleet.plugins.module_utils._console.body import Body, read_body


class Stream:
    """Gives at most ``step`` bytes at a time."""

    def __init__(self, content: bytes, step: int = 65536) -> None:
        self._content = io.BytesIO(content)
        self._step = step

    def read(self, amt: int, decode_content: bool) -> bytes:
        assert not decode_content
        return self._content.read(min(amt, self._step))


def read(content: bytes, encoding: str = "gzip", limit: int = 1000, step: int = 65536) -> Body:
    return read_body(Stream(content, step), {"Content-Encoding": encoding}, limit)


@given(st.lists(st.binary(max_size=100), min_size=1, max_size=5), st.integers(1, 70))
def test_gzip_has_as_many_members_as_it_likes(members: list[bytes], step: int) -> None:
    packed = b"".join(gzip.compress(member) for member in members)
    assert read(packed, step=step) == Body(b"".join(members))


@pytest.mark.parametrize("step", [1, 65536])
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_what_follows_and_is_not_compressed_is_not_dropped(encoding: str, step: int) -> None:
    packed = gzip.compress(b"whole") if encoding == "gzip" else zlib.compress(b"whole")
    assert read(packed, encoding) == Body(b"whole")
    assert read(packed + b"garbage", encoding, step=step) == Body(b"whole", f"is not valid {encoding}")


def test_a_last_member_that_is_cut() -> None:
    packed = gzip.compress(b"first") + gzip.compress(b"second")
    assert read(packed[:-3]) == Body(b"firstsecond", "is gzip that ends too early", is_cut=True)


@pytest.mark.parametrize("members", [1, 2, 10])
def test_the_limit_is_for_all_members(members: int) -> None:
    packed = gzip.compress(b"x" * (1000 // members)) * members
    assert read(packed) == Body(b"x" * 1000)
    assert read(packed + gzip.compress(b"x")) == Body(b"x" * 1000, "is larger than 1000 bytes", is_too_large=True)
    assert read(packed, limit=999) == Body(b"x" * 999, "is larger than 999 bytes", is_too_large=True)


def test_a_small_body_does_not_unpack_into_all_of_the_memory() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    collector = body._Collector("gzip", 1000)
    with pytest.raises(body._TooLargeError):
        collector.add(bomb)
    assert len(collector.content) == 1000
