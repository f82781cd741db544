"""Each behavior of a management node: the code of the result, and the number of requests that the node sees."""

import contextlib
import re
import time

import pytest
from fake_node import PASSWORD, WITHOUT_END
from proxy import Proxy
from scenarios import ADVICE, ADVICE_OF_SCENARIO, LOGIN, SCENARIOS, options_of, run

from ansible_collections.slb.fleet.plugins.module_utils._management_node import transport
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Session, SessionStore

LONGEST_MESSAGE = 220


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_scenario(scenario, start, authority, certificates, monkeypatch):
    path = scenario.path
    routes = {LOGIN: scenario.login, **({path: scenario.replies} if scenario.replies else {})}
    behavior = {name: list(value) if name == "greetings" else value for name, value in scenario.node.items()}
    if "client_ca" in behavior:
        behavior["client_ca"] = str(authority.path)
    node = start(routes, certificate=certificates[scenario.certificate], **behavior)
    pin = node.certificate.fingerprint
    with contextlib.ExitStack() as stack:
        values = {"ca": str(authority.path), "url": node.base_url, "port": node.port}
        client = certificates["client"]
        values |= {"client_chain": str(client.chain), "client_key": str(client.key)}
        values["openssl"] = f"sha256 Fingerprint={pin}"
        if scenario.proxy is not None:
            is_tls = scenario.proxy.get("tls")
            certificate = certificates["valid"] if is_tls else None
            proxy = stack.enter_context(Proxy(scenario.proxy.get("refuses", False), certificate))
            values["proxy"] = f"http{'s' if is_tls else ''}://127.0.0.1:{proxy.port}"
        for name, value in scenario.transport.items():
            monkeypatch.setattr(transport, name, value)
        for name, value in scenario.environment.items():
            monkeypatch.setenv(name, value.format(**values) if "{" in value else value)
        options = options_of(node, timeout=30, retries=1) | scenario.options
        options = {name: value.format(**values) if isinstance(value, str) else value for name, value in options.items()}
        cookies = {"sessionid": node.new_session(), **scenario.cookies}
        session = SessionStore(Session(cookies, has_served=True)) if scenario.served else None
        begin = time.monotonic()
        result = run(scenario.call, options, session, scenario)
    assert time.monotonic() - begin < WITHOUT_END / 5
    assert (result.get("code", ""), result.get("outcome", "")) == (scenario.code, scenario.outcome), result
    assert scenario.connections in (None, node.connections), result
    calls = 0 if scenario.call == "login" else node.seen[path]
    assert (node.seen[LOGIN], calls) == scenario.seen, result
    assert [secret for secret in (PASSWORD, f"of{node.port}", "pr0xy-pass", "t0ken") if secret in str(result)] == []
    assert len(result.get("msg", "")) <= LONGEST_MESSAGE, result["msg"]
    is_late = re.search(r"no answer (within 1 s|in time)", result.get("msg", "")) is not None
    assert is_late == (scenario.options.get("timeout") == 1), result
    assert "within 30 s" not in result.get("msg", "")
    assert scenario.cause in result.get("msg", "")
    if scenario.code.startswith("tls_"):
        assert pin in result["fix"]
        # Not repeated; an untrusted certificate is read on a second connection.
        assert node.connections == (1 if scenario.code == "tls_pin_mismatch" else 2)
    if scenario.code == "login_rejected":
        assert "'admin'" in result["msg"]
    if scenario.code:
        has, lacks = ADVICE_OF_SCENARIO.get(scenario.name, ADVICE.get(scenario.code, ((), ())))
        fix = result.get("fix", "")
        assert [text for text in has if text not in fix] == [], fix
        assert [text for text in lacks if text in fix] == [], fix


def test_advice_is_that_of_scenarios():
    assert {scenario.code for scenario in SCENARIOS if scenario.code} == set(ADVICE)
    assert set(ADVICE_OF_SCENARIO) <= {scenario.name for scenario in SCENARIOS}
