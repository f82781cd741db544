"""Fixtures of the tests with fake management nodes: certificates, nodes, a controller and a clean environment."""

import contextlib

import pytest
from certificates import Authority
from fake_node import INSTALL, LICENSE, LICENSE_TEXT, LOGIN, FakeNode, answer, for_session, new_session

from playbooks import Controller


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def certificates(authority):
    return {
        "valid": authority.certificate("valid"),
        "client": authority.certificate("client"),
        "expired": authority.certificate("expired", expired=True),
        "other name": authority.certificate("other", names="other.example"),
    }


@pytest.fixture
def start(certificates):
    """Start a fake management node that behaves well except for the ``routes`` given."""
    with contextlib.ExitStack() as nodes:

        def start_one(routes=None, **options):
            good = {
                LOGIN: [new_session()],
                LICENSE: [for_session(answer(200, LICENSE_TEXT, kind="application/octet-stream"))],
                INSTALL: [for_session(answer(200, '{"code":0,"msg":"installation started"}'))],
            }
            node = FakeNode(**{"certificate": certificates["valid"], "routes": {**good, **(routes or {})}, **options})
            return nodes.enter_context(node)

        yield start_one


@pytest.fixture
def controller(tmp_path):
    return Controller(tmp_path)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    # Not at the top: pytest-ansible must first tell Ansible where the collection is.
    from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS

    proxies = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]
    fallbacks = [name for rules in CONNECTION_ARGUMENTS.values() for name in rules.get("fallback", (None, []))[1]]
    for name in (*proxies, *map(str.upper, proxies), *fallbacks):
        monkeypatch.delenv(name, raising=False)
