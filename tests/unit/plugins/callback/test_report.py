"""The folder of the reports."""

import pytest

from ansible_collections.slb.fleet.plugins.callback.report import CallbackModule


@pytest.mark.parametrize(
    ("option", "folder"),
    [
        ("/srv/%(playbook)s", "/srv/audit"),
        ("/srv/%(awx_job_id)s/%(playbook)s", "/srv/12/audit"),
        ("/srv/%(playbook)s/x/%(other)s", "/srv/audit/x/%(other)s"),
        ("", "None"),
    ],
)
def test_folder_of_reports_may_contain_the_playbook(monkeypatch, option, folder):
    callback = CallbackModule()
    monkeypatch.setattr(callback, "get_option", lambda name: option)
    assert str(callback._folder_of("slb.fleet.audit", "12")) == folder
    for job in ("", "../12"):
        assert str(callback._folder_of("slb.fleet.audit", job)) == folder.replace("12", "local")
