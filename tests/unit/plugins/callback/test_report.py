"""The folder of the reports."""

import pytest

from ansible_collections.slb.fleet.plugins.callback import report
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


@pytest.mark.parametrize("is_lost", [True, False])
def test_report_that_is_lost_with_its_job_is_not_named(monkeypatch, tmp_path, is_lost):
    callback = CallbackModule()
    monkeypatch.setattr(callback, "get_option", {"report_dir": str(tmp_path), "quiet": False}.get)
    monkeypatch.setattr(report, "lost_with_job", lambda path: is_lost)
    callback._begin("slb.fleet.audit", {})
    folder = callback._recorder.folder
    callback._finish("finished")
    assert folder == ("" if is_lost else str(tmp_path))
    assert (tmp_path / "report.html").exists()
