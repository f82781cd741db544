"""What a redirect means for the address of the management node, at its usual port."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client

PATH = "/account/login/"


@pytest.mark.parametrize(
    ("status", "target", "fix"),
    [
        (302, "/console/", ""),
        (302, "https://console.example/console/", ""),
        (302, "https://console.example:443/console/", ""),
        (302, "https://console.example:8443/account/login/", "https://console.example:8443"),
        (302, "https://other.example/account/login/", "https://other.example"),
        (302, "http://console.example/account/login/", "http://console.example"),
        (308, "https://console.example/prefix/account/login/", "https://console.example/prefix"),
        (302, "https://console.example/password/change/", "Log in to the web console"),
    ],
)
def test_redirect_fix_names_another_address(status, target, fix):
    client = Client(Connection("https://console.example"))
    seen = client.redirect_fix(Answer(status, {"Location": target}, b""), PATH)
    assert fix in seen
    assert bool(fix) == bool(seen)
