"""The scripts of a rollback, as a shell runs them."""

import os
import subprocess

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import rollback

ENTRY = {"uuid": "u1", "was_up": True, "had_link_local": True, "zone": "", "ipv6": {}}


@pytest.mark.parametrize(
    ("status", "is_deleted"), [(0, True), (10, True), (1, False), (8, False), (124, False)], ids=str
)
def test_profile_of_a_managed_device_is_not_deleted(tmp_path, status, is_deleted):
    """The deletion of an active profile removes the addresses of other programs, too."""
    nmcli = f'echo "$*" >>{tmp_path}/called; case "$*" in *"managed no") exit {status};; *STATE*) echo 30;; esac'
    for name, script in {"nmcli": nmcli, "timeout": 'shift 3; exec "$@"', "ip": ":", "sh": "exit 0"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    script = rollback.deletion_script(str(tmp_path), {"ens9": ENTRY})
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["/bin/sh", "-c", script], env=environment, check=False)
    called = (tmp_path / "called").read_text()
    assert ("connection delete uuid u1" in called, done.returncode == 0) == (is_deleted, is_deleted)
    assert "device set ens9 managed yes" in called
