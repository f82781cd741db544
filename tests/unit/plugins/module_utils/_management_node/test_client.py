"""The session of a run, the fix of a redirect, and the secrets that no message shows."""

import json

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node import client as module
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client, Session, SessionStore
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import Request
from ansible_collections.slb.fleet.tests.unit.errors import code_of

LOGIN = Request("login", "POST", "/account/login/")
TOKEN = "tok3n-of-the-login"


@pytest.mark.parametrize(
    ("cookies", "at", "expected", "changes"),
    [
        ({"sessionid": "new"}, 6.0, {"sessionid": "new", "lang": "zh"}, 1),
        ({"sessionid": "new"}, 4.0, {"sessionid": "old", "lang": "zh"}, 0),
        ({"sessionid": "new", "lang": "en"}, 4.0, {"sessionid": "old", "lang": "en"}, 0),
        ({"sessionid": "old", "csrftoken": "t"}, 6.0, {"sessionid": "old", "lang": "zh", "csrftoken": "t"}, 0),
        ({"lang": None, "none": None}, 6.0, {"sessionid": "old"}, 0),
        ({"sessionid": None}, 6.0, {"lang": "zh"}, 1),
        ({"sessionid": None}, 4.0, {"sessionid": "old", "lang": "zh"}, 0),
    ],
)
def test_session_keeps_the_newest_id(cookies, at, expected, changes):
    session = Session({"sessionid": "old", "lang": "zh"}, renewals=2, login="x", at=5.0, has_served=True)
    updated = session.updated(cookies, at, has_served=False)
    assert (updated.cookies, updated.changes, updated.login, updated.renewals) == (expected, changes, "x", 2)
    assert (updated.at, updated.has_served) == (at if changes else 5.0, True)
    assert session.updated(cookies, at, has_served=True).renewals == 0


@pytest.mark.parametrize(("changes", "expected"), [(0, False), (1, False), (2, True)])
def test_calls_are_made_one_at_a_time_if_the_session_changes(changes, expected):
    store = SessionStore(Session({"sessionid": "x"}, changes=changes))
    assert Client(Connection("https://console.example"), store).is_one_at_a_time is expected


@pytest.mark.parametrize(
    ("target", "fix"),
    [
        ("https://other.example/account/login/", "Set base_url to https://other.example."),
        ("https://console.example:8443/account/login/", "Set base_url to https://console.example:8443."),
        ("https://admin:s3cret@other.example/account/login/?next=/", "Set base_url to https://other.example."),
        ("http://other.example/account/login", "Set base_url to https://other.example."),
        ("/v2/account/login/", "Set base_url to https://console.example/v2."),
        ("http://console.example/account/login/", "X-Forwarded-Proto: https"),
        ("https://sso.example/login?token=s3cret", "Open https://sso.example/login in a browser"),
        ("/password/change/", "Open https://console.example/password/change/ in a browser"),
        ("https://[/login", "in a browser"),
        ("https://console.example:99999/", "in a browser"),
    ],
)
def test_redirect_fix_names_another_address(target, fix):
    error = Client(Connection("https://console.example")).redirected(LOGIN, Answer(302, {"Location": target}, b""))
    assert (error.code, fix in error.fix, "s3cret" in str(error)) == ("unexpected_answer", True, False)


class Node:
    """Stands for a transport with these answers; the login sets a cookie."""

    tls_fingerprint = ""
    answers = ()

    def __init__(self, _connection):
        self.rest = list(self.answers)

    def exchange(self, request, cookies, *_rest):
        if request.call == "login":
            cookies["sessionid"] = "s3ssion-of-the-run"
        return self.rest.pop(0)


@pytest.mark.parametrize("secret", [TOKEN, "s3ssion-of-the-run", "s3cret&1", "t0p-of-the-path"])
@pytest.mark.parametrize("kind", ["data", "top"])
def test_secrets_of_a_login_are_masked(monkeypatch, secret, kind):
    tokens = {"access_token": f"Bearer {TOKEN}", "user": "admin"}
    login = {"code": 0, **({"data": {"auth": tokens}} if kind == "data" else tokens)}
    answers = [Answer(200, {}, json.dumps(login).encode()), Answer(400, {}, b"{}")]
    monkeypatch.setattr(Node, "answers", answers)
    monkeypatch.setattr(module, "Transport", Node)
    client = Client(Connection("https://console.example", username="admin", password="s3cret&1"))
    answer = client.call(Request("list", "GET", "/e?key=t0p-of-the-path"))
    assert client.describe(answer, f"got {secret} of admin") == "HTTP 400: got ******** of admin"
    assert client.shown(f"got {secret}") == "got ********"


def test_session_that_was_only_denied_has_not_served(monkeypatch):
    """The cookie of a login without a statement, a 403, then 401 only: the password may be wrong."""
    answers = [Answer(302, {"Location": "/console/"}, b""), Answer(403, {}, b"")]
    answers += [Answer(401, {}, b""), Answer(302, {"Location": "/console/"}, b"")] * 3
    monkeypatch.setattr(Node, "answers", answers)
    monkeypatch.setattr(module, "Transport", Node)
    monkeypatch.setattr(module, "_LOGIN_PAUSE", (0.0, 0.0))
    client = Client(Connection("https://console.example", username="admin", password="x"))
    assert client.call(Request("list", "GET", "/e")).status == 403
    assert code_of(client.call, Request("list", "GET", "/e")) == "login_rejected"


@pytest.mark.parametrize(
    ("status", "headers", "message", "defect", "shown"),
    [
        (503, {}, "Maintenance.", "", "HTTP 503: Maintenance"),
        (503, {"Retry-After": "37"}, "", "", "HTTP 503 (retry after 37)"),
        (500, {"Retry-After": "37"}, "no", "", "HTTP 500: no"),
        (200, {}, "half", "the body is incomplete", "HTTP 200: the body is incomplete: half"),
        (302, {"Location": "https://u:pw@x.example/a?token=t0p#x"}, "", "", "HTTP 302: redirect to https://x.example/a"),
        (400, {}, "got s3cret&1, sorry", "", "HTTP 400: got ********, sorry"),
    ],
)  # fmt: skip
def test_answer_is_shown_with_status_and_cause(status, headers, message, defect, shown):
    client = Client(Connection("https://console.example", password="s3cret&1"))
    assert client.describe(Answer(status, headers, b"", defect), message) == shown
