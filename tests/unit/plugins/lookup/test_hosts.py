"""Hosts of a play: unknown hosts and limits without hosts are rejected, whatever Ansible is set to."""

import pytest
from ansible import constants
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader

from ansible_collections.slb.fleet.plugins.lookup import _hosts as hosts
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations


@pytest.fixture
def lookup(monkeypatch):
    lookup = hosts.LookupModule(loader=DataLoader())
    monkeypatch.setattr(lookup, "set_options", lambda **_given: None)
    monkeypatch.setattr(lookup, "get_option", lambda _name: False)
    return lookup


GROUPS = {"all": ["edge-1"], "ungrouped": [], "engines": ["edge-1"]}


@pytest.mark.parametrize("mismatch", ["ignore", "warning", "error"])
def test_unknown_host_fails_with_the_groups(monkeypatch, lookup, mismatch):
    monkeypatch.setattr(constants, "HOST_PATTERN_MISMATCH", mismatch)
    assert lookup.run(["engines"], {"groups": GROUPS}) == ["engines"]
    with pytest.raises(AnsibleError, match=r"No host matches 'nosuch'.* Groups: engines\. "):
        lookup.run(["nosuch"], {"groups": GROUPS})


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_controller_outside_of_the_inventory_is_rejected(lookup, name):
    for pattern in (name, f"engines,{name}", ["engines", name]):
        with pytest.raises(AnsibleError, match=f"Host {name} is not in the inventory"):
            lookup.run([pattern], {"groups": GROUPS})
    assert lookup.run([f"engines:!{name}"], {"groups": GROUPS})
    assert lookup.run([name], {"groups": {**GROUPS, "all": ["edge-1", name]}}) == [name]


@pytest.mark.parametrize("limit", [",", " , ", "@FILE", "@FILE,edge-1", "!edge-2,@FILE"])
def test_limit_without_hosts_is_rejected(lookup, tmp_path, limit):
    (tmp_path / "hosts").write_text("\n# no host\n")
    with pytest.raises(AnsibleError, match=r"--limit .*names no host, which Ansible takes for all hosts"):
        lookup.run(["engines"], {"groups": GROUPS, "ansible_limit": limit.replace("FILE", f"{tmp_path}/hosts")})


@pytest.mark.parametrize("text", ["all", "*", "engines", "edge*", "!edge-2", "&engines", "edge-1\nengines", "~edge"])
def test_limit_file_with_patterns_is_rejected(lookup, monkeypatch, tmp_path, text):
    monkeypatch.setattr(lookup, "get_option", lambda name: name == "named")
    known = {"groups": GROUPS, "ansible_play_hosts_all": ["edge-1"]}
    for name, lines in ("patterns", text), ("names", " edge-1 \n\n# edge-2\n"):
        (tmp_path / name).write_text(lines)
    with pytest.raises(AnsibleError, match="Hosts not named"):
        lookup.run(["engines"], {**known, "ansible_limit": f"@{tmp_path}/patterns"})
    assert lookup.run(["engines"], {**known, "ansible_limit": f"@{tmp_path}/names"}) == ["engines"]


def test_limit_file_is_read_at_the_begin_of_the_run(lookup, tmp_path):
    known = {"groups": GROUPS, "ansible_limit": f"@{tmp_path}/hosts", "ansible_play_hosts_all": ["edge-1"]}
    (tmp_path / "hosts").write_text("edge-1\n")
    for text in ("", "edge-2\n", "!all\n"):
        assert lookup.run(["engines"], known) == ["engines"]
        (tmp_path / "hosts").write_text(text)
    with pytest.raises(AnsibleError, match="No host matches 'engines' within --limit"):
        lookup.run(["engines"], {**known, "ansible_play_hosts_all": ["edge-2"]})


@pytest.mark.parametrize("canary", ["edge-2", "localhost", ["nosuch", "127.0.0.1"], "!edge-1"])
def test_canary_outside_of_the_inventory_is_rejected(lookup, monkeypatch, canary):
    given = {"canary": canary}
    monkeypatch.setattr(lookup, "get_option", given.get)
    with pytest.raises(AnsibleError, match=r"Variable slb_canary invalid: .* is not a host of the inventory"):
        lookup.run(["engines"], {"groups": GROUPS})
    for given["canary"] in ("edge-1", ["edge-1"], "engines", "", None, []):
        assert lookup.run(["engines"], {"groups": GROUPS}) == ["engines"]


@pytest.mark.parametrize("slow", ["(e+)+$", "(.|.)" * 30, ".*" * 5, "e" * 200, "((e)*)*", "(e{2}){9}"])
def test_slow_regular_expression_is_rejected(lookup, slow):
    for pattern in (f"~{slow}", f"engines,!~{slow}", ["engines", f"&~{slow}"]):
        with pytest.raises(AnsibleError, match=r"Regular expression ~.* too complex"):
            lookup.run([pattern], {"groups": GROUPS})
    for expression in (r"~^(edge|core)-0*[1-9]+\.?$", "~edge-(1|2|3)$", "edge-1" + ",edge-1" * 50):
        assert lookup.run([expression], {"groups": GROUPS}) == [expression]


@pytest.mark.parametrize("mismatch", ["warning", "error"])
@pytest.mark.parametrize("element", ["ghost", "!ghost", "gh*st", "~^gh"])
def test_element_that_matches_no_host_is_rejected(monkeypatch, lookup, element, mismatch):
    monkeypatch.setattr(constants, "HOST_PATTERN_MISMATCH", mismatch)
    known = {"groups": GROUPS, "ansible_play_hosts_all": ["edge-1"]}
    with pytest.raises(AnsibleError, match=r"Element .* of slb_hosts matches no host"):
        lookup.run([f"edge-1,{element}"], known)
    with pytest.raises(AnsibleError, match=r"Element .* of --limit matches no host"):
        lookup.run([None], {**known, "ansible_limit": f"edge-1,{element}"})
    assert lookup.run([None], {**known, "ansible_limit": "engines:&edge-*,!localhost"}) == ["engines"]


def test_hosts_without_a_note_are_unchecked(lookup, monkeypatch, tmp_path):
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))
    monkeypatch.setattr(lookup, "get_option", {"without": "any"}.get)
    names = ["edge-1", "edge-2", "edge-3"]
    known = {"groups": {"all": names, "ungrouped": [], "engines": names}, "ansible_play_hosts_all": names[:2]}
    assert lookup.run([None], known) == ["edge-1", "edge-2"]
    Reservations().reserve("name a", "edge-1")
    assert lookup.run([None], known) == ["edge-2"]
    Reservations().reserve("name b", "edge-2")
    assert lookup.run([None], known) == []
    monkeypatch.setattr(lookup, "get_option", {"without": "ready"}.get)
    Reservations().note("ready", "edge-2")
    assert lookup.run([None], known) == ["edge-1"]
