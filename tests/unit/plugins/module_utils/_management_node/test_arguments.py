"""The connection options and those of an engine: accepted values, and errors before anything is sent."""

import datetime

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import (
    CONNECTION_ARGUMENTS,
    RANGES,
    Connection,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import Engine
from ansible_collections.slb.fleet.plugins.module_utils._secrets import SECRET_OPTIONS
from ansible_collections.slb.fleet.plugins.module_utils._values import read_value
from ansible_collections.slb.fleet.tests.unit.errors import short_error_of as error_of

GOOD = {"base_url": "https://console.example", "username": "admin", "password": "01234567"}
TEXTS = {"name": "edge-1", "manage_ip": "192.0.2.1"}
ENGINE = {**TEXTS, "is_change_hostname": False, "user_credential_id": 1}
PIN = ":".join(["AB"] * 32)
NOT_TEXT = [True, 342391, 1.1, datetime.date(2026, 1, 1), ["a"], {"a": 1}]
URLS = [
    "console.example", "http://console.example", "https://", "https:///x", "https://user:secret@console.example",
    "https://console.example?x=1", "https://console.example?", "https://console.example/#/login", "https://a b",
    "https://console.example/a b", "https://console.example/../x", "https://console.example:99999", "https://[::1",
    "https://-x.example", "https://a\\b",
]  # fmt: skip
ADDRESSES = [
    "host", "127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "0.1.2.3", "224.0.0.1", "fe80::1%eth0", "256.1.1.1"
]  # fmt: skip
HEADERS = ["X: y", ["X"], {"X": 1}, {1: "x"}, {"X y": "x"}, {"X": "a\r\nB: c"}, {"X": ""}, {"X": "ä"}]
HEADERS += [{name: "x"} for name in ("Cookie", "host", "Content-Length", "Transfer-Encoding", "")]


def connect(**changes):
    return Connection.from_options({**GOOD, **changes})


def engine(**changes):
    return Engine.from_options({**ENGINE, **changes})


@pytest.mark.parametrize("option", [*GOOD, "sessionid", "ca_path", "tls_fingerprint"])
def test_option_that_is_no_text_is_invalid(option):
    for value in NOT_TEXT:
        error = error_of(read_value, option, CONNECTION_ARGUMENTS[option], value)
        assert (error.code, "Quote" in error.fix) == ("invalid_option", True)
        assert option not in ("password", "sessionid") or str(value) not in str(error)


@pytest.mark.parametrize("option", TEXTS)
def test_engine_without_a_text_is_invalid(option):
    for value in NOT_TEXT:
        assert error_of(engine, **{option: value}).code == "invalid_option"


@pytest.mark.parametrize(
    ("read", "option", "values"),
    [
        (connect, "base_url", URLS),
        (connect, "tls_fingerprint", ["", " ", "ab" * 20, "ab" * 33, "gg" * 32, "sha256:" + "ab" * 32]),
        # What no cookie can hold.
        (connect, "sessionid", ["a;b", "a b", 'a"b', "a\nb", "ä", "a,b", "a\\b"]),
        (connect, "headers", HEADERS),
        (connect, "ca_path", ["/nonexistent.pem", "~no-such-user/ca.pem"]),
        (engine, "user_credential_id", [0, 2**31, -1, True, 1.5, "x", "1_0", "٣"]),
        (engine, "name", [None, "", " edge", "edge\x1b", "x" * 256, "edge\u202e"]),
        (engine, "manage_ip", [None, *ADDRESSES]),
    ],
)
def test_unusable_value_is_invalid(read, option, values):
    for value in values:
        error = error_of(read, **{option: value})
        assert error.code == "invalid_option", value
        assert "secret" not in str(error)
        assert option != "sessionid" or value not in str(error)


@pytest.mark.parametrize(
    ("read", "option", "given", "expected"),
    [
        (connect, "base_url", "https://console.example", "https://console.example"),
        (connect, "base_url", " https://Console.example:443/prefix/ ", "https://console.example/prefix"),
        (connect, "base_url", "https://bücher.example:8443", "https://xn--bcher-kva.example:8443"),
        (connect, "base_url", "https://[2001:DB8:0::5]/", "https://[2001:db8::5]"),
        *((connect, "tls_fingerprint", given, PIN) for given in ("ab" * 32, " " + "Ab " * 32, PIN, PIN.lower())),
        *((connect, "tls_fingerprint", f"{word} Fingerprint={PIN}\n", PIN) for word in ("sha256", "SHA256")),
        (engine, "manage_ip", "2001:DB8:0::7", "2001:db8::7"),
        (engine, "user_credential_id", "7", 7),
        (engine, "user_credential_id", 2**31 - 1, 2**31 - 1),
        (connect, "timeout", None, 30),
        (connect, "retries", None, 3),
        (engine, "name", "边缘", "边缘"),
    ],
)
def test_value_is_normalized(read, option, given, expected):
    assert getattr(read(**{option: given}), option) == expected


@pytest.mark.parametrize(("option", "good", "bad"), [("timeout", [1, 3600], [0, 3601]), ("retries", [0, 20], [-1, 21])])
def test_number_is_within_its_range(option, good, bad):
    rules = {**CONNECTION_ARGUMENTS[option], "range": RANGES[option]}
    assert [read_value(option, rules, value) for value in good] == good
    assert {error_of(read_value, option, rules, value).code for value in bad} == {"invalid_option"}


@pytest.mark.parametrize("option", list(GOOD))
@pytest.mark.parametrize("value", [None, ""])
def test_missing_option_names_the_variables(option, value):
    error = error_of(connect, **{option: value})
    assert error.code == "missing_option"
    assert f"slb_{option}" in error.fix
    assert f"SLB_{option.upper()}" in error.fix


def test_unset_option_has_the_documented_default():
    defaults = {name: rules["default"] for name, rules in CONNECTION_ARGUMENTS.items() if "default" in rules}
    assert {name: getattr(connect(), name) for name in defaults} == defaults


def test_path_may_begin_with_the_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "ca").mkdir()
    assert connect(ca_path="~/ca").ca_path == str(tmp_path / "ca")


def test_call_takes_300_seconds_at_most():
    assert connect(timeout=4, retries=1).call_seconds == 8
    assert connect(timeout=120, retries=9).call_seconds == 300


def test_secrets_are_not_shown():
    connection = connect(username=None, password="01234567", sessionid="a1b2c3", headers={"X-Key": "s3cret value"})
    assert (dict(connection.headers), connection.sessionid) == ({"X-Key": "s3cret value"}, "a1b2c3")
    assert not [each for each in ("01234567", "a1b2c3", "s3cret") if each in repr(connection)]
    assert connect(username=None, password=None, sessionid="a1b2").sessionid == "a1b2", "it needs no credentials"
    assert all(CONNECTION_ARGUMENTS[option]["no_log"] for option in (*SECRET_OPTIONS, "headers"))


@pytest.mark.parametrize("value", ["s3cret\x00value", "s3cret\nvalue", "s3crét", ["s3cret"], 7654321])
def test_value_of_a_wrong_header_is_not_shown(value):
    shown = str(error_of(connect, headers={"X-Key": value}))
    assert ("s3cr" in shown, "7654" in shown) == (False, False)


def test_key_without_certificate_is_missing(tmp_path):
    (tmp_path / "key").write_text("x")
    assert error_of(connect, client_key=str(tmp_path / "key")).code == "missing_option"
    assert error_of(connect, client_cert=str(tmp_path / "none")).code == "invalid_option"


def test_engine_name_that_becomes_a_host_name_is_one():
    assert error_of(engine, name="边缘", is_change_hostname=True).code == "invalid_option"
