"""A rollout does the same in each everyday way to run it: judged by engines, logins, requests, status and report."""

from collections import Counter

import pytest
from fake_node import INSTALL, LICENSE, LOGIN
from ways import STATES, WAYS, Way, ids, rows

FEW = rows(23)


def check(row, folder, start):
    server = start()
    way = Way(row, folder, server)
    done = way.run()
    output = done.output[-4000:]
    assert done.status == 0, output
    wanted = {name for name in way.hosts if not STATES[name]}
    is_check = row["mode"] == "--check"
    statuses = Counter("planned" if is_check and name in wanted else "healthy" for name in way.hosts)
    document = way.document
    assert Counter(host["status"] for host in document["hosts"]) == statuses, output
    assert document["run"]["status"] == "finished"
    assert len(server.to(INSTALL)) == (0 if is_check else len(wanted)), output
    has_license = row["license"] == "wanted"
    assert len(server.to(LOGIN)) == bool(wanted or has_license), output
    assert (len(server.to(LICENSE)), way.license.exists()) == (has_license, has_license and not is_check), output
    # The license is a change of the first host.
    changed = wanted | {min(way.hosts)} if has_license else wanted
    assert document["counts"]["changed"] == (0 if is_check else len(changed))
    assert ("Plan: " if is_check else "Result:  OK") in output
    assert not way.sudo_calls.exists(), way.sudo_calls.read_text()


@pytest.mark.parametrize("row", FEW, ids=ids(FEW))
def test_rollout_is_the_same_in_each_way(row, tmp_path, start):
    check(row, tmp_path, start)


def test_later_rollout_leaves_the_license_of_the_earlier(tmp_path, start):
    server = start()
    way = Way({name: values[0] for name, values in WAYS.items()} | {"launcher": "site.yml"}, tmp_path, server)
    license = {"slb_license_dest": str(way.license)}
    way.imports = [{"slb_hosts": "edge-1,edge-2", **license}, {"slb_hosts": "edge-3"}, {"slb_hosts": "engines"}]
    done = way.run()
    assert done.status == 0, done.output
    assert (len(server.to(LICENSE)), way.license.exists()) == (1, True), done.output


def test_rollout_of_a_pulled_project(tmp_path, start):
    server = start()
    way = Way({name: values[0] for name, values in WAYS.items()}, tmp_path, server)
    done = way.pull()
    assert done.status == 0, done.output
    assert {host["name"]: host["status"] for host in way.document["hosts"]} == dict.fromkeys(STATES, "healthy")
    assert len(server.to(INSTALL)) == list(STATES.values()).count(""), done.output


@pytest.mark.long
def test_rollout_is_the_same_in_more_combinations(tmp_path, start):
    for number, row in enumerate(rows(seed=1)):
        folder = tmp_path / str(number)
        folder.mkdir()
        check(row, folder, start)
