"""What the pages and examples name exists: links, files on hosts, metrics, units."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import adoption, motd, record

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = ROOT / "examples"
PLUGINS = ROOT / "plugins"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed.")
def test_systemd_accepts_the_units(tmp_path):
    for unit in (EXAMPLES / "systemd").iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("/srv/fleet/venv/bin/ansible-playbook", "/bin/true"))
    names = sorted(str(path) for path in tmp_path.iterdir())
    done = subprocess.run(["systemd-analyze", "verify", *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_alerts_use_metrics_that_a_report_has():
    rules = yaml.safe_load((EXAMPLES / "prometheus" / "slb_fleet.yml").read_text())["groups"][0]["rules"]
    text = (PLUGINS / "plugin_utils" / "_report" / "metrics.py").read_text()
    known = {f"slb_fleet_{name}" for name in re.findall(r'_gauge\("(\w+)"', text)}
    used = {name for rule in rules for name in re.findall(r"\bslb_fleet_\w+", rule["expr"])}
    assert used
    assert used <= known
    page = (ROOT / "docs" / "report.md").read_text()
    assert not {name for name in known if f"`{name}`" not in page}


def test_what_is_left_on_a_host_is_said_and_goes_by_the_recipe():
    page = (ROOT / "docs" / "operations.md").read_text()
    table, forget = page.split("## Files on engine hosts")[1].split("## Restoring")[0].split("## Removing a host")
    deleted = re.findall(r"^rm -r?f (.*)$", forget, re.MULTILINE)
    for path in (record.PATH, adoption.ADOPTED, adoption.CHANGES):
        parents = [str(parent) for parent in (Path(path), *Path(path).parents[:-2])]
        assert any(f"`{each}`" in table for each in parents), path
        assert path == record.PATH or any(each in parents for line in deleted for each in line.split()), path
    for path in (f"{motd.PATH}.slb-fleet", f"{motd.PATH}.slb-fleet.<UTC time>"):
        assert f"`{path}`" in table, path


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


LINKED = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *EXAMPLES.rglob("*.md"), *ROOT.glob("roles/*/*.md")]


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_each_link_leads_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text()):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


def test_pages_of_users_are_short():
    pages = [ROOT / "README.md", EXAMPLES / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("roles/*/README.md")]
    words = {page.relative_to(ROOT).as_posix(): len(page.read_text().split()) for page in pages}
    assert words["README.md"] <= 900
    assert sum(words.values()) <= 12_000, words
