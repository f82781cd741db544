"""The search of the docsite that `tests/tools/docsite` has built leads from words that people type to their section."""

import json
from pathlib import Path

import pytest

INDEX = Path(__file__).resolve().parents[2] / ".cache/docsite/build/html/searchindex.js"
TYPED = {
    "docs/getting-started": {"install": ["pip install"], "check-the-fleet": ["dry run"], "roll-out": ["canary"]},
    "docs/operations": {
        "adding-a-host": ["add a new host", "add host"],
        "changing-the-address-of-a-host": ["a host's address changed", "change IP address"],
        "crontab": ["cron", "crontab", "quiet"],
        "credentials-and-vault": ["rotate password", "vault"],
        "duration": ["parallel", "forks", "slow"],
        "exit-status": ["exit status", "return code"],
        "firewall-ports-and-jump-hosts": ["bastion", "jump host", "firewall ports"],
        "license": ["license"],
        "log-files": ["log file"],
        "permissions": ["ask-become-pass", "sudo"],
        "removing-a-host": ["remove host", "decommission"],
        "renaming-a-host": ["rename the host", "rename host"],
        "restoring-a-leftover": ["undo"],
        "starting-stopped-engines": ["after a reboot", "power failure"],
        "stopping-a-run": ["abort", "ctrl+c"],
        "upgrading": ["downgrade", "uninstall"],
        "upgrading-engines": ["upgrade the engine"],
        "ansible-navigator": ["ansible-navigator"],
    },
    "docs/troubleshooting": {
        "a-running-container-is-not-verified": ["orphan", "stale"],
        "already-exists-or-port-in-use": ["port in use", "already exists"],
        "certificate-errors": ["self-signed", "fingerprint"],
        "deployment-fails-with-a-long-login-banner": ["motd", "login banner"],
        "deployment-stuck-or-failed": ["progress bar stuck"],
        "interface-missing-in-the-web-console": ["interface missing in the console"],
        "login-rejected": ["wrong password"],
        "session-expired": ["session expired"],
        "ssh-problems": ["host key", "timeout"],
    },
    "docs/report": {"metrics": ["monitoring", "alerts"], "approved-plans": ["approve a plan"], "retry": ["retry"]},
    "docs/inventory": {"hosts-from-the-engine-list": ["dynamic inventory"]},
    "docs/interfaces": {"rollback": ["rollback"]},
    "examples/README": {"examples": ["examples"]},
}


@pytest.fixture(scope="module")
def index():
    return json.loads(INDEX.read_text().removeprefix("Search.setIndex(").removesuffix(")"))


@pytest.mark.parametrize(
    ("typed", "page", "section"),
    [(each, page, name) for page, names in TYPED.items() for name, words in names.items() for each in words],
)
def test_word_that_people_type_leads_to_its_section(index, typed, page, section):
    """By the scores of searchtools.js: index entries 50 to 100, titles up to 16, objects up to 26, words up to 15."""
    found = [
        (most * len(typed) / len(text), index["docnames"][number], name)
        for kind, most in (("indexentries", 100), ("alltitles", 15))
        for text, places in index[kind].items()
        if typed.lower() in text.lower() and len(typed) >= len(text) / 2
        for number, name, *_is_main in places
    ]
    score, *place = max(found)
    assert (score > 26, place) == (True, [page, section]), sorted(found)


def test_each_row_of_the_index_is_found(index):
    rows = (INDEX.parents[4] / "docs" / "README.md").read_text().split("|---|---|\n")[1].split("\n\n")[0].splitlines()
    words = {word.lower() for row in rows for word in row.split(" | ")[0].strip("| ").replace("`", "").split(", ")}
    assert words <= set(index["indexentries"])
    assert len(rows) >= 40
