"""The engine list that is proposed from what a real browser requests, and that the collection then reads."""

import json

import pytest
from browser import record
from fake_node import PASSWORD, answer, for_session

from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import EngineList, fetch_engines
from ansible_collections.slb.fleet.plugins.plugin_utils._proposal import propose
from ansible_collections.slb.fleet.plugins.plugin_utils._recording import load_har, read_recording

PAGE = """<!DOCTYPE html><title>Engines</title><script>
(async () => {{
  for (const path of {paths}) {{
    await new Promise(end => {{
      const request = new XMLHttpRequest();
      request.onloadend = end;
      request.open("GET", path);
      request.send();
    }});
  }}
  document.title = "done";
}})();
</script>"""
ROWS = [
    {"engine_name": f"edge-{number}", "ip": f"192.0.2.{number}", "status": "running", "uptime": 60 * number}
    for number in range(1, 5)
]
HOSTS = {row["engine_name"]: (row["engine_name"], row["ip"]) for row in ROWS}
CREDENTIALS = {"data": [{"id": 1, "name": "root", "ip": "192.0.2.1"}, {"id": 2, "name": "admin", "ip": "192.0.2.2"}]}
KEYS = {"name": "engine_name", "address": "ip", "state": "status", "running": ["running"]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"/console/engines": ROWS}, {"path": "/console/engines"}),
        (
            {
                "/console/engines?page=1&page_size=2": {"data": ROWS[:2], "total": 4},
                "/console/engines?page=2&page_size=2": {"data": ROWS[2:], "total": 4},
            },
            {"path": "/console/engines?page_size=2", "items": "data", "page_parameter": "page"},
        ),
        (
            {"/api/v1/engines": {"code": 0, "msg": "ok", "data": {"items": ROWS, "total": 4}}},
            {"path": "/api/v1/engines", "items": "data.items"},
        ),
    ],
    ids=["plain", "paged", "envelope"],
)
def test_proposal_from_a_browser_reads_all_engines(chromium, start, tmp_path, answers, expected):
    answers = {"/console/credentials": CREDENTIALS, **answers}
    html = PAGE.format(paths=json.dumps(list(answers)))
    routes = {path: [for_session(answer(200, json.dumps(body)))] for path, body in answers.items()}
    # Pages are requested with the parameters in another order, too.
    routes |= {path.replace("page=1&page_size=2", "page_size=2&page=1"): reply for path, reply in routes.items()}
    routes |= {path.replace("page=2&page_size=2", "page_size=2&page=2"): reply for path, reply in routes.items()}
    node = start(routes)
    session = node.new_session()
    node.routes["/console/"] = [answer(200, html, f"Set-Cookie: sessionid={session}; Path=/; Secure", kind="text/html")]
    document = record(chromium, tmp_path / "profile", f"{node.base_url}/console/")
    assert session not in json.dumps(document)
    (tmp_path / "console.har").write_text(json.dumps(document))

    recording = read_recording(load_har(str(tmp_path / "console.har")), [node.base_url], {row["ip"] for row in ROWS})
    best = propose(recording.exchanges, HOSTS)[0]
    assert {key: value for key, value in best.option.items() if value} == {**KEYS, **expected}
    assert (best.problem, list(best.doubts)) == ("", [])

    pin = node.certificate.fingerprint
    options = {"base_url": node.base_url, "username": "admin", "password": PASSWORD, "tls_fingerprint": pin}
    listing = fetch_engines(Client(Connection.from_options(options)), EngineList.from_option(best.option))
    assert [engine["name"] for engine in listing.engines] == list(HOSTS)
