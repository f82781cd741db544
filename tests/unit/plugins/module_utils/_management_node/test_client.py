"""What a redirect means for the address of the management node, at its usual port."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client, _is_session_ended
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import Request

PATH = "/account/login/"


@pytest.mark.parametrize(
    ("status", "target", "fix"),
    [
        (302, "/console/", ""),
        (302, "https://console.example/console/", ""),
        (302, "https://console.example:443/console/", ""),
        (302, "https://console.example:8443/account/login/", "https://console.example:8443"),
        (302, "https://other.example/account/login/", "https://other.example"),
        (302, "http://console.example/console/", ""),
        (301, "http://console.example/account/login/", "X-Forwarded-Proto: https"),
        (301, "http://other.example/account/login/", "Set base_url to https://other.example."),
        (302, "https://admin:s3cret@other.example/account/login/", "Set base_url to https://other.example."),
        (308, "https://console.example/prefix/account/login/", "https://console.example/prefix"),
        (302, "https://console.example/password/change/", "Log in to the web console"),
    ],
)
def test_redirect_fix_names_another_address(status, target, fix):
    client = Client(Connection("https://console.example"))
    seen = client.redirect_fix(Answer(status, {"Location": target}, b""), PATH)
    assert fix in seen
    assert bool(fix) == bool(seen)


@pytest.mark.parametrize(
    ("target", "is_ended"),
    [
        *(
            (target, True)
            for target in ("/account/login/?next=/", "/login", "sign-in/", "http://console.example/x/Login")
        ),
        *(
            (target, False)
            for target in (
                *("/console/engines/login-1/", "/audit/login/history", "/slb_login", "/console/engines/log_in"),
                *("https://sso.example/login", "//sso.example/login", "https://[/login", ""),
            )
        ),
    ],
)
def test_redirect_of_post_ends_session_only_at_the_login(target, is_ended):
    request = Request("POST", "/system/add_slb_engine/", {"name": "log_in"})
    assert _is_session_ended(request, Answer(303, {"Location": target}, b""), "https://console.example") is is_ended
