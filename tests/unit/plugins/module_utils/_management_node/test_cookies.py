"""Cookies that a browser returns are returned, and those that it deletes are deleted."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.cookies import update_cookies

DATE = "Fri, 27 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a=1; Path=/account; Domain=x.example; HttpOnly"], {"a": "1"}),
        (["/Common/console--pool=!abc+/=; path=/"], {"/Common/console--pool": "!abc+/="}),
        (["srv:console=1"], {"srv:console": "1"}),
        (['a = two words  ; Path=/'], {"a": "two words"}),
        (['a="x, y"'], {"a": '"x, y"'}),
        (["a=1,b=2"], {"a": "1,b=2"}),
        (["a=1; Path=/, b=2; Path=/"], {"a": "1", "b": "2"}),
        (["a=1; Expires=Sat, 28 Nov 2026 12:00:00 GMT; Path=/,b=2"], {"a": "1", "b": "2"}),
        (["a=1;\r\n Path=/"], {"a": "1"}),
        (["a=1", "a=2"], {"a": "2"}),
        (["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], {}),
        (["a=1; Expires=Thu, 01-Jan-1970 00:00:00 GMT"], {}),
        (["a=1; Expires=Fri, 27 Nov 2026 12:00:01 GMT"], {"a": "1"}),
        (["a=1; Expires=Fri, 27 Nov 2026 12:00:00 GMT"], {}),
        (["a=1; Expires=soon; Max-Age=x"], {"a": "1"}),
        (["a=1; Expires=Fri, 27 Nov 99999999999999999999 12:00:00 GMT"], {"a": "1"}),
        (["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60"], {"a": "1"}),
        (["a=1; Expires=Fri, 27 Nov 2099 12:00:00 GMT; Max-Age=0"], {}),
        (["a=1; max-age=-" + "9" * 5000], {"a": "1"}),
        (["a="], {}),
        (['a=""'], {}),
        (["a\x01=1", "a=\x7f", "=1", "nothing", ""], {}),
        (["a=" + "x" * 4096], {}),
        (["a=" + "x" * 4095], {"a": "x" * 4095}),
        (["a=1;" + ",b=" * 2000], {"a": "1"}),
    ],
    ids=str,
)  # fmt: skip
def test_update_cookies(lines, expected):
    cookies = {}
    update_cookies(cookies, lines, DATE)
    assert cookies == expected


def test_update_cookies_deletes_and_replaces():
    cookies = {"a": "1", "b": "2", "d": "5", "e": "6"}
    update_cookies(cookies, ["a=3", "b=x; Max-Age=0", "c=4", "d=", 'e=""'], DATE)
    assert cookies == {"a": "3", "c": "4"}


def test_update_cookies_keeps_few():
    cookies = {}
    update_cookies(cookies, [f"c{number}=1" for number in range(200)], DATE)
    assert len(cookies) == 180
