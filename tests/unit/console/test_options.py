"""The door: what is let in, as what, and what an operator is told of the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._console import engine, license, login
from ansible_collections.slb.fleet.plugins.module_utils._console.engine import Engine
from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS, Connection
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, OptionError

if TYPE_CHECKING:
    from pathlib import Path

GOOD: dict[str, Any] = {
    **{option: rules.get("default") for option, rules in CONNECTION_ARGUMENTS.items()},
    "base_url": "https://console.example",
    "username": "admin",
    "password": "pass-w0rd",
}
ENGINE: dict[str, Any] = {
    "name": "edge-1",
    "manage_ip": "192.0.2.1",
    "user_credential_id": 1,
    "is_change_hostname": False,
}


@pytest.mark.parametrize(
    ("given_url", "url"),
    [
        ("https://console.example", "https://console.example"),
        ("https://Console.Example:443/", "https://console.example"),
        (" https://console.example:8443/a/b// ", "https://console.example:8443/a/b"),
        ("https://[2001:DB8::0:5]:8443", "https://[2001:db8::5]:8443"),
        ("https://192.0.2.1", "https://192.0.2.1"),
        ("HTTPS://bücher.example", "https://xn--bcher-kva.example"),
    ],
)
def test_addresses(given_url: str, url: str) -> None:
    assert Connection.from_params({**GOOD, "base_url": given_url}).base_url == url


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("base_url", "http://console.example"),
        ("base_url", "console.example"),
        ("base_url", "https://"),
        ("base_url", "https://[::1"),
        ("base_url", "https://[nonsense]"),
        ("base_url", "https://console.example:port"),
        ("base_url", "https://console.example?a=b"),
        ("base_url", "https://console.example/#top"),
        ("base_url", "https://console.example/a b"),
        ("base_url", "https://console.example/../other"),
        ("base_url", "https://-bad-.example"),
        ("tls_fingerprint", "abc"),
        ("tls_fingerprint", "0" * 40),
        ("tls_fingerprint", "g" * 64),
        ("ca_path", "/nonexistent/ca.pem"),
        ("ca_path", "/" + "n" * 300),
        ("ca_path", "/tmp/a\0b"),
        ("timeout", 0),
        ("timeout", 100000),
        ("retries", -1),
        ("retries", 1000),
    ],
)
def test_refused(option: str, value: object) -> None:
    with pytest.raises(OptionError) as error:
        Connection.from_params({**GOOD, option: value})
    assert repr(option) in str(error.value)
    assert repr(value) in error.value.what
    assert error.value.remedy


def test_credentials_in_the_address_are_refused_and_not_shown() -> None:
    with pytest.raises(OptionError) as error:
        Connection.from_params({**GOOD, "base_url": "https://admin:pass-w0rd@console.example"})
    assert "pass-w0rd" not in str(error.value)


def test_a_file_without_certificates(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(OptionError, match="ca_path"):
        Connection.from_params({**GOOD, "ca_path": str(tmp_path / "ca.pem")})


def test_certificates_that_may_not_be_looked_at(closed_folder: Path) -> None:
    with pytest.raises(OptionError, match=r"ca_path.*[Pp]ermission denied"):
        Connection.from_params({**GOOD, "ca_path": f"{closed_folder}/ca.pem"})


@pytest.mark.parametrize("missing", ["username", "password"])
def test_credentials_are_needed_without_a_session(missing: str) -> None:
    with pytest.raises(FleetError, match=f"SLB_{missing.upper()}"):
        Connection.from_params({**GOOD, missing: None})
    assert Connection.from_params({**GOOD, missing: None, "sessionid": "abc"}).sessionid == "abc"


@pytest.mark.parametrize("sessionid", ["a\nb", "a;b", 'a"b', "a b", "ä"])
def test_a_session_that_no_header_can_carry_is_not_shown(sessionid: str) -> None:
    with pytest.raises(OptionError) as error:
        Connection.from_params({**GOOD, "sessionid": sessionid})
    assert sessionid not in str(error.value)


@pytest.mark.parametrize("form", ["{}", "SHA256 Fingerprint={}", "sha256:{}", " {}\n"])
def test_forms_of_a_fingerprint(form: str) -> None:
    digits = "ab" * 32
    for written in (digits, digits.upper(), ":".join(["AB"] * 32)):
        assert Connection.from_params({**GOOD, "tls_fingerprint": form.format(written)}).tls_fingerprint == digits


def test_a_connection_shows_no_secrets() -> None:
    assert "pass-w0rd" not in repr(Connection.from_params(GOOD))


@pytest.mark.parametrize(("address", "sent"), [("192.0.2.1", "192.0.2.1"), (" 2001:DB8:0:0::1 ", "2001:db8::1")])
def test_engine_addresses(address: str, sent: str) -> None:
    assert Engine.from_params({**ENGINE, "manage_ip": address}).manage_ip == sent


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("manage_ip", "edge-1"),
        ("manage_ip", ""),
        ("manage_ip", "192.0.2.256"),
        ("manage_ip", "192.0.2.1/24"),
        ("manage_ip", "010.0.0.1"),
        ("manage_ip", "127.0.0.1"),
        ("manage_ip", "::1"),
        ("manage_ip", "::ffff:127.0.0.1"),
        ("manage_ip", "0.1.2.3"),
        ("manage_ip", "240.0.0.1"),
        ("manage_ip", "0.0.0.0"),
        ("manage_ip", "224.0.0.1"),
        ("manage_ip", "255.255.255.255"),
        ("manage_ip", "fe80::1%eth0"),
        ("manage_ip", "[2001:db8::1]"),
        ("name", ""),
        ("name", " edge"),
        ("name", "edge\n1"),
        ("name", "e" * 256),
        ("name", None),
        ("name", True),
        ("name", ["edge"]),
        ("manage_ip", None),
        ("manage_ip", 3221225985),
        ("manage_ip", ["192.0.2.1"]),
        ("user_credential_id", 0),
        ("user_credential_id", "0"),
        ("user_credential_id", "default"),
        ("user_credential_id", True),
        ("user_credential_id", 1.5),
        ("user_credential_id", [1]),
        ("is_change_hostname", "maybe"),
    ],
)
def test_refused_engines(option: str, value: object) -> None:
    with pytest.raises(OptionError) as error:
        Engine.from_params({**ENGINE, option: value})
    assert repr(option) in str(error.value)
    assert repr(value) in error.value.what


def test_an_engine_of_variables() -> None:
    """Of a form, which knows nothing but text, and with nothing where nothing was answered."""
    least = {"name": "edge-1", "manage_ip": "192.0.2.1"}
    usual = Engine("edge-1", False, "192.0.2.1", 1)
    assert Engine.from_params(least) == usual
    assert Engine.from_params({**least, "user_credential_id": None, "is_change_hostname": ""}) == usual
    as_text = {"user_credential_id": "2", "is_change_hostname": "yes"}
    assert Engine.from_params({**least, **as_text}) == Engine("edge-1", True, "192.0.2.1", 2)
    assert Engine.from_params({**least, "name": 7}).name == "7"


@pytest.mark.parametrize("pattern", ["", "x*", "(already)?"])
def test_a_pattern_that_fits_every_answer(pattern: str) -> None:
    params = {**GOOD, **ENGINE, "exists_patterns": [pattern], "port_in_use_patterns": []}
    with pytest.raises(OptionError, match="every answer fits it"):
        engine.engine(params, check_mode=True)


@pytest.mark.parametrize("empty", [None, "", " "])
def test_a_missing_address_says_where_it_can_be_set(empty: str | None) -> None:
    with pytest.raises(FleetError, match="'base_url', the variable slb_base_url or the environment variable SLB_"):
        Connection.from_params({**GOOD, "base_url": empty})


@pytest.mark.parametrize("name", ["edge_1", "-edge", "edge.", "e" * 65, "引擎", "a b"])
def test_a_name_that_becomes_a_hostname(name: str) -> None:
    assert Engine.from_params({**ENGINE, "name": name}).name == name
    with pytest.raises(OptionError, match="is_change_hostname"):
        Engine.from_params({**ENGINE, "name": name, "is_change_hostname": True})
    assert Engine.from_params({**ENGINE, "name": "edge-1.example", "is_change_hostname": True})


def test_a_pattern_that_is_none() -> None:
    params = {**GOOD, **ENGINE, "exists_patterns": ["("], "port_in_use_patterns": []}
    with pytest.raises(OptionError, match="exists_patterns"):
        engine.engine(params, check_mode=True)


def test_a_session_is_no_option_of_a_login() -> None:
    with pytest.raises(OptionError, match="sessionid"):
        login.login({**GOOD, "sessionid": "abc"}, check_mode=False)


def test_a_license_needs_room() -> None:
    with pytest.raises(OptionError, match="max_size"):
        license.download({**GOOD, "dest": "/x", "max_size": 0})


@given(st.text())
def test_any_address_is_taken_or_refused(value: str) -> None:
    try:
        url = Connection.from_params({**GOOD, "base_url": value}).base_url
    except FleetError:
        return
    assert url.startswith("https://")
    assert Connection.from_params({**GOOD, "base_url": url}).base_url == url


def test_without_requests_the_error_names_it() -> None:
    """In a Python of its own, for which the packages cannot be imported."""
    program = (
        "import sys; sys.modules['requests'] = sys.modules['urllib3'] = None\n"
        "from ansible_collections.slb.fleet.plugins.module_utils._console.login import login\n"
        "from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError\n"
        f"try: login({GOOD!r}, False)\n"
        "except FleetError as error: print(error.as_result())\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert f"The Python that runs this task, {sys.executable}, has no usable package requests" in done.stdout
    assert f"Install it there: {sys.executable} -m pip install requests" in done.stdout
    assert "Traceback" not in done.stdout
