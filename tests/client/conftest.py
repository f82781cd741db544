import pytest
from nodes import _clean_environment, authority, certificates, controller, start  # noqa: F401


@pytest.fixture
def short_pauses(monkeypatch):
    from ansible_collections.slb.fleet.plugins.module_utils._management_node import client

    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(client, "_LOGIN_PAUSE", (0.01, 0.02))
