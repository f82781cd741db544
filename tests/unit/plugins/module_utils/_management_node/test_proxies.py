"""The proxy of the environment, and the forms of no_proxy that curl knows."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.proxies import (
    ProxyError,
    find_proxy,
    is_direct,
)

URL = "https://console.example:8443/prefix"


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        ({}, ""),
        ({"https_proxy": ""}, ""),
        ({"http_proxy": "http://p:1"}, ""),
        ({"https_proxy": "http://p:1"}, "http://p:1"),
        ({"HTTPS_PROXY": "p:1"}, "http://p:1"),
        ({"https_proxy": "http://lower:1", "HTTPS_PROXY": "http://upper:1"}, "http://lower:1"),
        ({"all_proxy": "https://u:p@p:1"}, "https://u:p@p:1"),
        ({"https_proxy": "http://p:1", "NO_PROXY": ".example"}, ""),
        ({"https_proxy": "http://p:1", "no_proxy": "console.example:8443"}, ""),
        ({"https_proxy": "http://p:1", "no_proxy": "console.example:443"}, "http://p:1"),
    ],
    ids=str,
)
def test_find_proxy(environment, url):
    assert find_proxy(URL, environment) == url
    default_port = {**environment, "no_proxy": "console.example:443"}
    assert find_proxy("https://console.example/", default_port) == ""


@pytest.mark.parametrize(
    "environment",
    [
        {"ALL_PROXY": "socks5h://u:p@p:1"},
        {"https_proxy": "ftp://u:p@p:1"},
        {"https_proxy": "http://[p"},
        {"https_proxy": ":::"},
        {"https_proxy": "http://p:99999"},
    ],
    ids=str,
)
def test_unusable_proxy_is_an_error(environment):
    with pytest.raises(ProxyError, match="proxy") as raised:
        find_proxy(URL, environment)
    assert "u:p" not in str(raised.value)
    assert find_proxy(URL, {**environment, "no_proxy": "*"}) == ""


@pytest.mark.parametrize(
    ("host", "no_proxy", "expected"),
    [
        ("console.example", "*", True),
        ("console.example", "a, console.example", True),
        ("console.example", "a console.example", True),
        ("console.example", "Example", True),
        ("console.example", ".example", True),
        ("console.example", "*.example", True),
        ("console.example.", "example.", True),
        ("console.example", "console.example:8443", True),
        ("console.example", "console.example:443", False),
        ("console.example", "sole.example", False),
        ("console.example", "", False),
        ("console.example", ", ,", False),
        ("192.0.2.7", "192.0.2.7", True),
        ("192.0.2.7", "192.0.2.0/24", True),
        ("192.0.2.7", "192.0.2.7/24", True),
        ("192.0.2.7", "192.0.2.7:8443", True),
        ("192.0.2.7", "2.7", True),
        ("192.0.2.7", "192.0.3.0/24", False),
        ("2001:db8::5", "[2001:db8::5]", True),
        ("2001:db8::5", "2001:DB8:0::5", True),
        ("2001:db8::5", "2001:db8::/32", True),
        ("2001:db8::5", "[2001:db8::5]:8443", True),
        ("2001:db8::5", "[2001:db8::5]:1", False),
        ("::1", "0:0:0:0:0:0:0:1", True),
    ],
)
def test_is_direct(host, no_proxy, expected):
    assert is_direct(host, 8443, no_proxy) == expected
