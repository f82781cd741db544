"""What AWX and its modules say when they fail, in words with which somebody can go on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.action.awx_object import told
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._awx import api
from ansible_collections.slb.fleet.plugins.plugin_utils._awx.api import Awx
from ansible_collections.slb.fleet.plugins.plugin_utils._awx.trouble import in_words, meaning

TRACEBACK = "Traceback (most recent call last):\n  File \"x\", line 1\nKeyError: 'error'\n"


class Client:
    """Gives these answers, one after the other."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)

    def get_endpoint(self, place: str, **_given: Any) -> dict[str, Any]:
        return self.answers.pop(0)


def test_all_pages_of_a_list() -> None:
    pages = ({"results": [{"id": 1}], "next": "/2"}, {"results": [{"id": 2}], "next": None})
    client = Client(*({"status_code": 200, "json": page} for page in pages))
    assert Awx(client).all("labels", {}) == [{"id": 1}, {"id": 2}]


def test_a_list_that_does_not_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "_MOST_PAGES", 3)
    endless = {"status_code": 200, "json": {"results": [{"id": 1}], "next": "/1"}}
    with pytest.raises(FleetError, match="labels is a list that does not end"):
        Awx(Client(*[endless] * 4)).all("labels", {})


@pytest.mark.parametrize("json", [{}, [], None, "", {"results": []}, {"detail": "It is as it is."}])
def test_what_is_no_list_is_told(json: Any) -> None:
    """As a proxy gives it that has nothing of AWX behind it."""
    with pytest.raises(FleetError, match=r"labels answered something else than a list.*CONTROLLER_HOST"):
        Awx(Client({"status_code": 200, "json": json})).all("labels", {})
    with pytest.raises(FleetError, match="something else than a list"):
        Awx(Client({"status_code": 200, "text": ""})).all("labels", {})


@pytest.mark.parametrize(
    "said",
    [
        {"failed": True, "exception": SimpleNamespace(event=SimpleNamespace(msg="'error'"))},
        {"failed": True, "msg": "MODULE FAILURE\nSee stdout/stderr for the exact error", "module_stderr": TRACEBACK},
        {"failed": True},
    ],
)
def test_a_module_that_breaks_off_is_told_with_its_last_words(said: dict[str, Any]) -> None:
    words = in_words("job_template", "slb.fleet audit", told(said))
    assert words.startswith("AWX did not take the job template slb.fleet audit: its module has broken off (")
    assert ("'error'" in words) == (len(said) > 1)
    assert "run again" in words
    assert "MODULE FAILURE" not in words


def test_a_connection_that_was_cut_is_not_to_be_corrected() -> None:
    said = "There was an unknown error when trying to connect to https://awx/api/v2/labels/: RemoteDisconnected"
    assert "The connection was cut" in meaning(said)


def test_a_login_that_awx_fails_at_is_not_a_wrong_password() -> None:
    assert "AWX itself has failed" in meaning("Failed to get token: HTTP Error 500: Internal Server Error")
    assert "CONTROLLER_PASSWORD" in meaning("Failed to get token: HTTP Error 401: Unauthorized")
