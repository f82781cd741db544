"""Fixtures of the client tests: certificates, fake management nodes and a clean environment."""

import contextlib

import pytest
from certificates import Authority
from fake_node import INSTALL, LICENSE, LICENSE_TEXT, LOGIN, FakeNode, answer, for_session, new_session


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def certificates(authority):
    return {
        "valid": authority.certificate("valid"),
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


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def short_pauses(monkeypatch):
    from ansible_collections.slb.fleet.plugins.module_utils.management_node import client

    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.01)
