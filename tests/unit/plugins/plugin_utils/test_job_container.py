"""Files that are lost with the container of a job."""

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._job_container import lost_with_job

JOB = {"JOB_ID": "7", "AWX_PRIVATE_DATA_DIR": "/private"}


@pytest.mark.parametrize(
    ("folder", "job", "mark", "is_lost"),
    [
        ("reports", JOB, "run/.containerenv", True),
        ("missing/reports", JOB, ".dockerenv", True),
        ("/private/reports", JOB, ".dockerenv", True),
        ("runner/project/reports", JOB, ".dockerenv", True),
        ("/proc", JOB, ".dockerenv", False),  # another file system
        ("reports", JOB, "", False),
        ("reports", {}, ".dockerenv", False),
    ],
)
def test_lost_with_job_by_folder_and_environment(tmp_path, folder, job, mark, is_lost):
    (tmp_path / mark).mkdir(parents=True, exist_ok=True)
    assert lost_with_job(str(tmp_path / folder / "report.html"), job, tmp_path) is is_lost
