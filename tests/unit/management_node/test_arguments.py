"""The connection options and those of an engine: accepted values, and errors before anything is sent."""

import datetime

import pytest

from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.arguments import (
    CONNECTION_ARGUMENTS,
    Connection,
    from_environment,
)
from ansible_collections.slb.fleet.plugins.module_utils.management_node.install import Engine, _compile

GOOD = {"base_url": "https://console.example", "username": "admin", "password": "01234567"}
ENGINE = {"name": "edge-1", "manage_ip": "192.0.2.1"}
NOT_TEXT = [True, 342391, 1.1, datetime.date(2026, 1, 1), ["a"], {"a": 1}]


def error_of(options, read=Connection.from_options):
    with pytest.raises(FleetError) as error:
        read(options)
    assert len(str(error.value)) <= 220
    return error.value


@pytest.mark.parametrize("option", ["base_url", "username", "password", "sessionid", "ca_path", "tls_fingerprint"])
@pytest.mark.parametrize("value", NOT_TEXT, ids=str)
def test_connection_option_that_is_no_text_is_invalid(option, value):
    error = error_of({**GOOD, option: value})
    assert error.code == "invalid_option"
    assert "Quote" in error.fix
    assert option not in ("password", "sessionid") or str(value) not in str(error)


@pytest.mark.parametrize("option", ["name", "manage_ip"])
@pytest.mark.parametrize("value", [*NOT_TEXT, None], ids=str)
def test_engine_option_that_is_no_text_is_invalid(option, value):
    assert error_of({**ENGINE, option: value}, Engine.from_options).code == "invalid_option"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("https://console.example", "https://console.example"),
        (" https://Console.example:443/prefix/ ", "https://console.example/prefix"),
        ("https://bücher.example:8443", "https://xn--bcher-kva.example:8443"),
        ("https://[2001:DB8:0::5]/", "https://[2001:db8::5]"),
    ],
)
def test_base_url_is_normalized(given, expected):
    assert Connection.from_options({**GOOD, "base_url": given}).base_url == expected


@pytest.mark.parametrize(
    "value",
    [
        "console.example", "http://console.example", "https://", "https:///x", "https://user:secret@console.example",
        "https://console.example?x=1", "https://console.example?", "https://console.example/#/login", "https://a b",
        "https://console.example/a b", "https://console.example/../x", "https://console.example:99999", "https://[::1",
        "https://-x.example", "https://a\\b",
    ],
)  # fmt: skip
def test_unusable_base_url_is_invalid(value):
    error = error_of({**GOOD, "base_url": value})
    assert error.code == "invalid_option"
    assert "secret" not in str(error)


@pytest.mark.parametrize("value", ["AB" * 32, ":".join(["ab"] * 32), " " + "Ab " * 32])
def test_fingerprint_is_normalized(value):
    assert Connection.from_options({**GOOD, "tls_fingerprint": value}).tls_fingerprint == "ab" * 32


@pytest.mark.parametrize("value", ["", " ", "ab" * 20, "ab" * 33, "gg" * 32, "sha256:" + "ab" * 32])
def test_other_fingerprint_is_invalid(value):
    assert error_of({**GOOD, "tls_fingerprint": value}).code == "invalid_option"


@pytest.mark.parametrize("option", ["base_url", "username", "password"])
@pytest.mark.parametrize("value", [None, ""])
def test_missing_option_names_the_variables(option, value):
    error = error_of({**GOOD, option: value})
    assert error.code == "missing_option"
    assert f"slb_{option}" in error.fix
    assert f"SLB_{option.upper()}" in error.fix


def test_session_needs_no_credentials():
    assert Connection.from_options({"base_url": GOOD["base_url"], "sessionid": "a1b2"}).sessionid == "a1b2"


@pytest.mark.parametrize("value", ["a;b", "a b", 'a"b', "a\nb", "ä", "a,b", "a\\b"])
def test_session_that_no_cookie_can_hold_is_invalid(value):
    error = error_of({**GOOD, "sessionid": value})
    assert error.code == "invalid_option"
    assert value not in str(error)


@pytest.mark.parametrize(
    ("option", "value"),
    [("timeout", 0), ("timeout", True), ("timeout", "1e1"), ("timeout", 3601), ("retries", -1), ("retries", 21),
     ("retries", 1.5), ("validate_certs", "perhaps"), ("ca_path", "/nonexistent.pem")],
)  # fmt: skip
def test_value_out_of_range_is_invalid(option, value):
    assert error_of({**GOOD, option: value}).code == "invalid_option"


def test_call_takes_300_seconds_at_most():
    assert Connection.from_options({**GOOD, "timeout": "4", "retries": "1"}).call_seconds == 8
    assert Connection.from_options({**GOOD, "timeout": 120, "retries": 9}).call_seconds == 300


def test_password_is_not_shown():
    assert GOOD["password"] not in repr(Connection.from_options(GOOD))


def test_blank_environment_variable_is_unset(monkeypatch):
    from ansible.module_utils.errors import AnsibleFallbackNotFound

    names = [rules["fallback"][1][0] for rules in CONNECTION_ARGUMENTS.values() if "fallback" in rules]
    assert names == [
        f"SLB_{each}" for each in ["BASE_URL", "USERNAME", "PASSWORD", "VALIDATE_CERTS", "CA_PATH", "TLS_FINGERPRINT"]
    ]
    monkeypatch.setenv("SLB_BASE_URL", " ")
    with pytest.raises(AnsibleFallbackNotFound):
        from_environment("SLB_BASE_URL")


@pytest.mark.parametrize(("value", "expected"), [(None, 1), ("", 1), (7, 7), ("7", 7)])
def test_credential_is_a_number(value, expected):
    assert Engine.from_options({**ENGINE, "user_credential_id": value}).user_credential_id == expected


@pytest.mark.parametrize("value", [0, -1, True, 1.0, "x", "1_0", "٣"])
def test_other_credential_is_invalid(value):
    assert error_of({**ENGINE, "user_credential_id": value}, Engine.from_options).code == "invalid_option"


@pytest.mark.parametrize("value", ["", " edge", "edge\x1b", "x" * 256, "edge\u202e"])
def test_other_name_is_invalid(value):
    assert error_of({**ENGINE, "name": value}, Engine.from_options).code == "invalid_option"


def test_name_that_becomes_a_host_name_is_one():
    assert Engine.from_options({**ENGINE, "name": "边缘"}).name == "边缘"
    options = {**ENGINE, "name": "边缘", "is_change_hostname": "yes"}
    assert error_of(options, Engine.from_options).code == "invalid_option"


def test_address_is_normalized():
    assert Engine.from_options({**ENGINE, "manage_ip": "2001:DB8:0::7"}).manage_ip == "2001:db8::7"


@pytest.mark.parametrize(
    "value",
    ["host", "127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "0.1.2.3", "224.0.0.1", "fe80::1%eth0", "256.1.1.1"],
)
def test_other_address_is_invalid(value):
    assert error_of({**ENGINE, "manage_ip": value}, Engine.from_options).code == "invalid_option"


@pytest.mark.parametrize("pattern", ["(", "x*", "", 5])
def test_unusable_pattern_is_invalid(pattern):
    assert error_of({}, lambda _options: _compile("exists_patterns", [pattern])).code == "invalid_option"
