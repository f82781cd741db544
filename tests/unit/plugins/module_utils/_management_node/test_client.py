"""What a redirect means for the address of the management node, and which answers reject a login or serve a session."""

import json

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import client as module
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import (
    Client,
    _is_session_ended,
    is_rejection,
)
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


@pytest.mark.parametrize(
    ("is_rejected", "status", "body", "headers"),
    [
        *((True, status, body, {}) for status, body in (
            (401, ""), (403, ""), (401, {"error": "Unauthorized", "path": PATH}), (200, {"code": 401, "msg": "no"}),
            (401, {"detail": "No active account found with the given credentials"}),
            (400, {"non_field_errors": ["Unable to log in with provided credentials."]}),
            (500, {"msg": "Wrong user or password"}), (400, {"msg": "Login failed"}), (429, {"msg": "account locked"}),
            (200, {"code": 403, "msg": "密码错误"}),
        )),
        (True, 401, {"detail": "Invalid credentials"}, {"WWW-Authenticate": "Bearer"}),
        (True, 302, "", {"Location": "/console/login.jsp?error=1"}),
        # A gateway, a firewall or a proxy
        (False, 401, {"message": "No API key found in request"}, {"WWW-Authenticate": 'Key realm="kong"'}),
        *((False, status, body, {}) for status, body in (
            (403, "RBAC: access denied"), (403, {"message": "forbidden by policy"}), (400, "Bad Request"),
            (400, "Client sent an HTTP request to an HTTPS server."), (407, "Proxy Authentication Required"),
            # The node rejects the form of the request, the address or its license.
            (400, {"username": ["This field is required."]}), (422, {"detail": [{"msg": "field required"}]}),
            (403, {"detail": "CSRF Failed: Referer checking failed"}), (403, {"error": "IP address not allowed"}),
            (403, {"message": "License is over"}), (200, {"code": 403, "msg": "license is over"}),
            # It has failed.
            (423, {"msg": "system upgrading"}), (503, {"msg": "authentication failed: LDAP server unavailable"}),
            (200, {"code": 500, "msg": "Login failed: redis timeout"}),
            # It asks for more.
            (400, {"msg": "验证码错误"}), (403, {"message": "User must change password"}),
            (401, {"message": "Password expired"}), (401, {"msg": "OTP required"}),
        )),
        # The page after a login
        (False, 302, "", {"Location": "/console/login-history/"}),
        (False, 302, "", {"Location": "/login/done"}),
    ],
    ids=str,
)  # fmt: skip
def test_rejection_of_login_needs_a_statement_about_it(is_rejected, status, body, headers):
    text = body if isinstance(body, str) else json.dumps(body)
    assert is_rejection(Answer(status, headers, text.encode())) is is_rejected


def test_session_that_was_only_denied_has_not_served(monkeypatch):
    """The cookie of a login without a statement, a 403, then a 401: the password may be wrong."""
    answers = [Answer(302, {"Location": "/console/"}, b""), Answer(403, {}, b""), Answer(401, {}, b"")]

    class Node:
        tls_fingerprint = ""

        def __init__(self, connection):
            """Stand for a transport."""

        def exchange(self, request, cookies, *_rest):
            cookies["sessionid"] = "s"
            return answers.pop(0)

    monkeypatch.setattr(module, "Transport", Node)
    client = Client(Connection("https://console.example", username="admin", password="x"))
    assert client.call(Request("GET", "/engines")).status == 403
    with pytest.raises(FleetError) as raised:
        client.call(Request("GET", "/engines"))
    assert (raised.value.code, answers) == ("login_rejected", [])
