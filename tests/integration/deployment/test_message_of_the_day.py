"""What host_info says that a login prints, against what one prints."""

import subprocess

import pytest
from sites import Site, Sites

pytestmark = pytest.mark.long
# The prompt, the farewell, and when the last login was: of these there is no file to blame.
_OF_EVERY_LOGIN = 250


def test_the_bytes_of_a_login_are_those_that_a_login_prints(sites):
    site = sites["bullseye"]
    site.clean()
    site.make_motd_noisy()
    said = sites.fleet.module(site.name, "host_info")["slb_host"]["motd"]
    printed = len(login(sites, site))
    assert said["bytes"] > 5000
    assert abs(said["bytes"] - printed) < _OF_EVERY_LOGIN, said
    assert max(said["sources"], key=lambda each: each["bytes"])["source"] == "/etc/motd"
    site.clean()


def test_banner_is_restored_and_other_backups_stay(sites):
    site, path = sites["bookworm"], "/etc/motd"
    site.clean()
    site.make_motd_noisy()
    before = site.file(path)
    site.write(f"{path}.bak", "an administrator's own\n")

    def motd(state):
        return sites.fleet.module(site.name, "motd", state=state)

    assert not motd("restored")["changed"]
    aside = motd("aside")
    assert aside["changed"], aside
    assert site.file(path) == ""
    restored = motd("restored")
    assert restored["backup_file"] == aside["backup_file"], restored
    assert site.file(path) == before
    assert not motd("restored")["changed"]
    assert site.file(f"{path}.bak") == "an administrator's own\n"
    site.host.exec(["rm", f"{path}.bak"])
    site.clean()


def login(sites: Sites, site: Site) -> bytes:
    """All that an interactive login prints, without what a terminal adds to ends of lines."""
    lab = sites.fleet.lab
    options = [f"UserKnownHostsFile={lab.folder.known_hosts}", "IdentitiesOnly=yes", "RequestTTY=force"]
    command = ["ssh", "-F/dev/null", f"-i{lab.folder.private_key}", *(f"-o{option}" for option in options)]
    ended = subprocess.run(
        [*command, f"root@{site.host.address}"], input=b"exit\n", capture_output=True, timeout=30, check=True
    )
    return (ended.stdout + ended.stderr).replace(b"\r\n", b"\n")
