"""The work of the controller needs no connection to it: wherever become is set, nothing there calls sudo."""

import yaml

from playbooks import COLLECTIONS

ROOT = COLLECTIONS.parents[1]


def test_no_task_is_delegated_to_the_controller():
    def tasks(items):
        for each in items:
            yield each
            for part in ("tasks", "block", "rescue", "always"):
                yield from tasks(each.get(part, ()))

    files = [*ROOT.glob("playbooks/**/*.yml"), *ROOT.glob("roles/*/tasks/*.yml")]
    found = {(path.stem, task.get("delegate_to")) for path in files for task in tasks(yaml.safe_load(path.read_text()))}
    # The action writes a license of the controller itself.
    assert {each for each in found if each[1]} == {("download_license", "{{ __slb_host }}")}
    local = {path.stem for path in files for each in yaml.safe_load(path.read_text()) if each.get("connection")}
    # Both run actions in the process of Ansible; awx.awx has modules, which need the connection.
    assert local == {"awx_setup", "merge_reports"}
