"""The packages of the controller, and failures of TLS."""

import errno
import ssl
import threading

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import transport
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection


@pytest.mark.parametrize(
    ("prefix", "is_environment", "is_managed", "has_pip", "command"),
    [
        ("/home/me/.local/share/pipx/venvs/ansible-core", True, False, True, "pipx inject ansible-core "),
        ("/home/me/.local/share/uv/tools/ansible-core", True, False, False, "uv tool install --with "),
        ("/srv/venv", True, True, True, "/bin/python -m pip install "),
        ("/srv/venv", True, True, False, "uv pip install --python /bin/python "),
        ("/usr", False, True, True, "python3 -m venv"),
        ("/usr", False, False, True, "/bin/python -m pip install "),
    ],
)
def test_missing_package_is_installed_where_ansible_is(
    monkeypatch, tmp_path, prefix, is_environment, is_managed, has_pip, command
):
    if is_managed:
        (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(transport.sysconfig, "get_path", lambda _name: str(tmp_path))
    monkeypatch.setattr(transport.importlib.util, "find_spec", lambda _name: has_pip or None)
    fix = transport._install_fix("/bin/python", prefix, is_environment=is_environment)
    assert command in fix
    assert len(fix) < 140


@pytest.mark.parametrize(
    ("reason", "is_sent", "advice"),
    [
        ("UNSUPPORTED_PROTOCOL", False, "TLS 1.2"),
        ("TLSV1_ALERT_PROTOCOL_VERSION", False, "TLS 1.2"),
        ("UNSAFE_LEGACY_RENEGOTIATION_DISABLED", False, "UnsafeLegacyServerConnect"),
        ("WRONG_VERSION_NUMBER", False, "base_url"),
        ("DH_KEY_TOO_SMALL", False, "OPENSSL_CONF"),
        ("SSLV3_ALERT_HANDSHAKE_FAILURE", False, "client_cert"),
        ("SSLV3_ALERT_HANDSHAKE_FAILURE", False, "OPENSSL_CONF"),
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", True, "client_cert"),
        ("SSLV3_ALERT_BAD_CERTIFICATE", False, "client_cert"),
        ("UNEXPECTED_EOF_WHILE_READING", False, ""),
        ("DECRYPTION_FAILED_OR_BAD_RECORD_MAC", True, ""),
    ],
)
def test_failure_of_tls_has_a_fix_and_is_not_repeated(reason, is_sent, advice):
    error = ssl.SSLError(1, f"[SSL: {reason}] (_ssl.c:1)")
    error.reason = reason
    line = transport._Line("")
    line.is_sent = is_sent
    way = transport.Transport(Connection("https://console.example", "admin", "x"))
    failure = way._failure(error, transport.Request("GET", "/"), line, 1)
    assert failure.code == "management_node_unavailable"
    assert failure.is_permanent == bool(advice)
    assert advice in failure.fix


def test_failure_of_the_network_shows_the_words_of_the_system():
    way = transport.Transport(Connection("https://console.example", "admin", "x"))
    error = OSError(errno.ENETUNREACH, "Network is unreachable")
    failure = way._failure(error, transport.Request("GET", "/"), transport._Line(""), 1)
    assert ": network is unreachable" in failure.summary


def test_name_lookup_that_hangs_does_not_keep_the_process(monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(transport.socket, "getaddrinfo", lambda *_words, **_named: over.wait(60))
    way = transport.Transport(Connection("https://console.example", "admin", "x"))
    with pytest.raises(FleetError):
        way.exchange(transport.Request("GET", "/"), {}, 0.1)
    left = [thread for thread in threading.enumerate() if thread.name == "slb.fleet"]
    over.set()
    assert [thread.daemon for thread in left] == [True]
