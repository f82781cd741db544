"""What the hostile tests share: certificates, servers and a controller.

Imports nothing of the collection but in fixtures: pytest reads this before pytest-ansible has told Ansible where the
collection is.
"""

import contextlib

import pytest
from certificates import Authority
from fake_node import (
    INSTALL,
    LICENSE,
    LICENSE_TEXT,
    LOGIN,
    FakeNode,
    answer,
    for_session,
    new_session,
)

from playbooks import Controller


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def certificate(authority):
    return authority.certificate("good")


@pytest.fixture
def start(certificate):
    """Starts a server: well-behaved but for the ``routes`` that are given."""
    with contextlib.ExitStack() as servers:

        def start_one(routes=None, **options):
            good = {
                LOGIN: [new_session()],
                LICENSE: [for_session(answer(200, LICENSE_TEXT, kind="application/octet-stream"))],
                INSTALL: [for_session(answer(200, '{"code":0,"msg":"installation started"}'))],
            }
            server = FakeNode(**{"certificate": certificate, "routes": {**good, **(routes or {})}, **options})
            return servers.enter_context(server)

        yield start_one


@pytest.fixture
def controller(tmp_path):
    return Controller(tmp_path)


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    """The developer's own proxies and credentials have no say here."""
    from ansible_collections.slb.fleet.plugins.module_utils.management_node.arguments import CONNECTION_ARGUMENTS

    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for rules in CONNECTION_ARGUMENTS.values():
        for name in rules.get("fallback", (None, []))[1]:
            monkeypatch.delenv(name, raising=False)
