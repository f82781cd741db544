"""Modules of the engine host as an ordinary user: check mode fails as a run does."""

import os
from multiprocessing import get_context

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.modules import _engine_step, engine_container, engine_record, interface, motd

OTHER_USER = 65534  # who owns nothing on the machine


def _codes(operation, options):
    """Return the code of a run and of check mode, in a process of an ordinary user."""
    if os.geteuid() == 0:
        os.setuid(OTHER_USER)
    codes = []
    for check_mode in (False, True):
        try:
            operation(options, check_mode)
        except FleetError as error:
            codes.append(error.code)
    return codes


@pytest.mark.parametrize(
    ("module", "options", "code"),
    [
        (_engine_step, {"step": "set_aside", "time_limit": 9}, "permission_denied"),
        (_engine_step, {"step": "restore", "time_limit": 9}, "permission_denied"),
        (engine_container, {"state": "set_aside", "time_limit": 9}, "permission_denied"),
        (engine_container, {"state": "restored"}, "permission_denied"),
        (engine_container, {"state": "started"}, "permission_denied"),
        (engine_record, {"state": "absent"}, "permission_denied"),
        (engine_record, {"state": "verified"}, "permission_denied"),
        (interface, {"state": "absent", "interfaces": ["*"]}, "permission_denied"),
        (interface, {"state": "present"}, "permission_denied"),
        (motd, {"state": "aside"}, "motd_not_moved"),
        (motd, {"state": "restored"}, "motd_not_moved"),
    ],
)
def test_ordinary_user_fails_in_check_mode_too(monkeypatch, tmp_path, module, options, code):
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "motd").write_text("Welcome")
    if module is motd:
        monkeypatch.setattr(module.motd, "PATH", str(folder / "motd"))
        if options["state"] == "restored":
            (folder / "motd").rename(folder / "motd.slb-fleet")
    for path in (tmp_path, *tmp_path.parents[:3]):
        path.chmod(0o755)
    folder.chmod(0o555)
    given = {name: rules.get("default") for name, rules in module.ARGUMENTS.items()} | options
    with get_context("fork").Pool(1) as pool:
        assert pool.apply(_codes, (module.operation, given)) == [code] * 2
