"""Each behavior of a management node: the code of the result, and the number of requests that the node sees."""

import contextlib
import socket
import time

import pytest
from fake_node import PASSWORD, WITHOUT_END
from proxy import Proxy
from scenarios import LOGIN, PATHS, SCENARIOS, run

from ansible_collections.slb.fleet.plugins.module_utils.management_node.client import OwnSession, Session

LONGEST_MESSAGE = 220


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_scenario(
    scenario,
    start,
    authority,
    certificates,
    monkeypatch,
):
    routes = {LOGIN: scenario.login, **({PATHS[scenario.call]: scenario.replies} if scenario.replies else {})}
    node = start(
        routes,
        certificate=certificates[scenario.certificate],
        **{k: list(v) if k == "greetings" else v for k, v in scenario.node.items()},
    )
    monkeypatch.setattr(socket, "getaddrinfo", _resolve_idna(socket.getaddrinfo))
    with contextlib.ExitStack() as stack:
        values = {
            "ca": str(authority.path),
            "url": node.base_url,
            "port": node.port,
            "colons": _with_colons(node.certificate.fingerprint),
        }
        if scenario.proxy is not None:
            proxy = stack.enter_context(_proxy(scenario.proxy, certificates["valid"]))
            values["proxy"] = f"http{'s' if scenario.proxy.get('tls') else ''}://127.0.0.1:{proxy.port}"
        for name, value in scenario.environment.items():
            monkeypatch.setenv(name, value.format(**values) if "{" in value else value)
        options = {"base_url": node.base_url, "username": "admin", "password": PASSWORD, "timeout": 30, "retries": 1}
        options["tls_fingerprint"] = node.certificate.fingerprint
        options |= scenario.options
        options = {
            name: value.format(**values) if isinstance(value, str) and name != "password" else value
            for name, value in options.items()
        }
        begin = time.monotonic()
        result = run(scenario.call, options, _served(node) if scenario.served else None)
    assert (result.get("code", ""), result.get("outcome", "")) == (scenario.code, scenario.outcome), result
    assert (node.seen[LOGIN], 0 if scenario.call == "login" else node.seen[PATHS[scenario.call]]) == scenario.seen, (
        result
    )
    assert time.monotonic() - begin < WITHOUT_END / 5
    assert_no_secret(result, node)
    assert len(result.get("msg", "")) <= LONGEST_MESSAGE, result["msg"]
    if scenario.code.startswith("tls_"):
        assert node.certificate.fingerprint in result["fix"]
    if scenario.code == "login_rejected":
        assert "'admin'" in result["msg"]
        assert "password" in result["fix"]


def assert_no_secret(result, node):
    for secret in (PASSWORD, f"of{node.port}", "pr0xy-pass", "t0ken"):
        assert secret not in str(result)


def _served(node):
    return OwnSession(Session({"sessionid": node.new_session()}, has_served=True))


def _proxy(options, certificate):
    return Proxy(refuses=options.get("refuses", False), certificate=certificate if options.get("tls") else None)


def _with_colons(fingerprint):
    return ":".join(fingerprint[index : index + 2] for index in range(0, 64, 2)).upper()


def _resolve_idna(original):
    def resolve(host, *args, **kwargs):
        name = host.decode() if isinstance(host, bytes) else host
        return original("127.0.0.1" if name == "xn--bcher-kva.example" else host, *args, **kwargs)

    return resolve
