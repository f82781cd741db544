"""Why NetworkManager leaves an interface alone, and the file that changes that."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._network import unmanaged
from ansible_collections.slb.fleet.plugins.module_utils._network.unmanaged import Cause, matches
from ansible_collections.slb.fleet.tests.unit.network.shown import MAC, nic


@pytest.mark.parametrize(
    ("specs", "matched"),
    [
        ("*", True),
        ("interface-name:ens9", True),
        ("interface-name:=ens9", True),
        ("interface-name:=ens*", False),
        ("interface-name:ens?;interface-name:eth0", True),
        ("interface-name:eth0, interface-name:ens9", True),
        (f"mac:{MAC.upper()}", True),
        (MAC, True),
        ("ens9", True),
        ("type:ethernet", True),
        ("type:wifi", False),
        ("driver:virtio*", True),
        ("*,except:interface-name:ens9", False),
        ("interface-name:ens*,except:interface-name:=ens9", False),
        ("except:interface-name:eth0", True),
        ("except:interface-name:ens9", False),
        ("", False),
        ("interface-name:ens1", False),
    ],
)
def test_device_lists_are_read_as_networkmanager_reads_them(specs: str, matched: bool) -> None:
    assert matches(specs, nic()) is matched


@pytest.fixture
def causes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Causes as they follow from files; each is given its content."""

    def make(config: str = "", ifupdown: str = "", ifcfg: str = "", udev: str = ""):
        parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
        parser.read_string(config)
        monkeypatch.setattr(unmanaged, "_configuration", lambda: parser)
        for name, content, setting in (
            ("interfaces", ifupdown, "_IFUPDOWN"),
            ("ifcfg-ens9", ifcfg, "_IFCFG"),
            ("n2", udev, "_UDEV"),
        ):
            (tmp_path / name).write_text(content)
            monkeypatch.setattr(unmanaged, setting, str(tmp_path / name))
        return unmanaged.Causes().of(nic())

    return make


DEBIAN = "[main]\nplugins=ifupdown,keyfile\n[ifupdown]\nmanaged=false\n"


def test_unmanaged_devices_is_strict_and_can_be_lifted(causes) -> None:
    cause = causes("[keyfile]\nunmanaged-devices=interface-name:ens*\n")
    assert (cause.name, cause.strict, cause.liftable) == ("unmanaged-devices", True, True)
    assert "interface-name:ens*" in cause.sentence


def test_ifupdown_counts_where_networkmanager_heeds_it(causes) -> None:
    interfaces = "auto lo ens9\niface ens9 inet dhcp\n"
    assert causes(DEBIAN, interfaces).name == "ifupdown"
    assert causes(DEBIAN.replace("false", "true"), interfaces).name == "runtime"
    assert causes("[main]\nplugins=keyfile\n", interfaces).name == "runtime"


def test_ifupdown_in_an_included_file(causes, tmp_path: Path) -> None:
    (tmp_path / "more.d").mkdir()
    (tmp_path / "more.d" / "ens9").write_text("allow-hotplug ens9\n")
    cause = causes(DEBIAN, f"source {tmp_path}/more.d/*\nsource {tmp_path}/interfaces\n")
    assert cause.name == "ifupdown"
    assert "more.d/ens9" in cause.sentence


def test_an_ifcfg_file_cannot_be_lifted(causes) -> None:
    cause = causes(ifcfg='DEVICE="ens9"\nNM_CONTROLLED="no"\n')
    assert (cause.name, cause.strict, cause.liftable) == ("NM_CONTROLLED=no", True, False)
    assert causes(ifcfg='DEVICE="ens9"\nNM_CONTROLLED=yes\n').name == "runtime"


def test_a_device_section_gives_in_at_run_time(causes) -> None:
    cause = causes("[device-x]\nmatch-device=interface-name:ens9\nmanaged=0\n")
    assert (cause.name, cause.strict, cause.liftable) == ("device section", False, True)
    assert "[device-x]" in cause.sentence
    assert causes("[device-x]\nmatch-device=interface-name:ens8\nmanaged=0\n").name == "runtime"


def test_a_udev_rule(causes) -> None:
    assert causes(udev="E:ID_NET_DRIVER=virtio_net\nE:NM_UNMANAGED=1\n").name == "udev"


def test_otherwise_somebody_said_so_at_run_time(causes) -> None:
    assert causes().name == "runtime"


@pytest.mark.parametrize("strict", [True, False])
def test_the_lifting_file_is_about_one_interface_only(strict: bool) -> None:
    parser = configparser.RawConfigParser(delimiters=("=",))
    parser.read_string(unmanaged.lifting("ens9", Cause("x", strict, True, "")))
    assert parser["device-slb-ens9"]["match-device"] == "interface-name:=ens9"
    assert parser["device-slb-ens9"]["managed"] == "1"
    assert parser.has_section("keyfile") is strict
    if strict:
        added = parser["keyfile"]["unmanaged-devices+"]
        assert not matches("interface-name:ens9," + added, nic())
        assert not matches(added, nic("eth0")), "alone, it must not make all others unmanaged"


@pytest.mark.parametrize(
    ("listed", "ifupdown", "others"),
    [
        ("except:interface-name:eth0", "", True),
        ("*,except:interface-name:eth0", "", True),
        ("interface-name:ens9,except:interface-name:eth0", "", False),
        # What ifupdown has is in the same list, which then does not consist of exceptions alone.
        ("except:interface-name:eth0", "iface ens9 inet dhcp\n", False),
        ("except:interface-name:eth0", "iface lo inet loopback\n", True),
    ],
)
def test_lifting_one_releases_no_other(causes, listed: str, ifupdown: str, others: bool) -> None:
    cause = causes(f"{DEBIAN}[keyfile]\nunmanaged-devices={listed}\n", ifupdown)
    assert cause.strict
    parser = configparser.RawConfigParser(delimiters=("=",))
    parser.read_string(unmanaged.lifting("ens9", cause))
    merged = f"{listed},{parser['keyfile']['unmanaged-devices+']}"
    assert not matches(merged, nic())
    assert matches(merged, nic("ens7")) is others
    assert not matches(merged, nic("eth0"))


def test_lifting_another_afterwards_does_not_depend_on_the_first(causes) -> None:
    """The first may be given back before the second."""
    listed = "except:interface-name:eth0,*,except:interface-name:=ens8"
    assert causes(f"[keyfile]\nunmanaged-devices={listed}\n").others
