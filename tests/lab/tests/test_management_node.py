"""What the vendor's document says about the management node holds for that of the lab.

Tests of the collection show whether the rest of the lab works.
"""

import os
from http.cookies import SimpleCookie

import pytest
import requests
from runs import wait_until
from slb_lab.lab import Lab
from slb_lab.management import ManagementNode
from slb_lab.topology import Topology

LOGIN, LICENSE, INSTALL = "/account/login/", "/system/license/apply/", "/system/add_slb_engine/"
# Nothing listens on this address: a deployment is accepted and fails at once.
ENGINE = {"name": "edge-1", "is_change_hostname": False, "manage_ip": "127.0.0.99", "user_credential_id": 1}


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    node = ManagementNode(tmp_path_factory.mktemp("node"))
    node.configure(Topology.model_validate({"hosts": {"unused": {}}}), "/nonexistent/key")
    node.start()
    yield node
    node.stop()


def call(node, method, path, cookie="", **options):
    with requests.Session() as session:
        session.trust_env = False
        options |= {"verify": str(node.certificate), "headers": {"Cookie": cookie}, "timeout": 60}
        return session.request(method, node.base_url + path, allow_redirects=False, **options)


def log_in(node, **changes):
    return call(node, "POST", LOGIN, json={"username": node.username, "password": node.password, **changes})


@pytest.fixture(scope="module")
def cookie(node):
    return log_in(node).headers["Set-Cookie"].partition(";")[0]


def test_login_sets_the_session_cookie(node):
    answer = log_in(node)
    assert answer.status_code == 200
    cookie = SimpleCookie(answer.headers["Set-Cookie"])["sessionid"]
    assert (cookie["path"], cookie["httponly"], cookie["secure"]) == ("/", True, True)


@pytest.mark.parametrize("changes", [{"password": "wrong"}, {"username": "root"}, {"username": "", "password": ""}])
def test_wrong_credentials_get_no_cookie(node, changes):
    answer = log_in(node, **changes)
    assert (answer.status_code, "Set-Cookie" in answer.headers) == (401, False)


def test_license_is_the_body(node, cookie):
    answer = call(node, "GET", LICENSE, cookie)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/octet-stream")
    assert answer.content.startswith(b"SLB LICENSE")


@pytest.mark.parametrize(("method", "path"), [("GET", LICENSE), ("POST", INSTALL)])
def test_call_without_session_is_redirected(node, method, path):
    answer = call(node, method, path)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"{LOGIN}?next={path}")


def test_accepted_install_is_an_engine(node, cookie):
    answer = call(node, "POST", INSTALL, cookie, json=ENGINE)
    assert (answer.status_code, answer.json()["code"]) == (200, 0)
    wait_until(lambda: node.state()["engines"][0]["status"] == "failed", "the deployment has failed")
    node.forget("edge-1")


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"name": "a; reboot"},
        {"is_change_hostname": "no"},
        {"manage_ip": "10.0.0.300"},
        {"user_credential_id": "1"},
        {"user_credential_id": 7},
    ],
    ids=str,
)
def test_unusable_install_is_rejected(node, cookie, changes):
    assert call(node, "POST", INSTALL, cookie, json=ENGINE | changes).status_code == 400
    assert node.state()["engines"] == []


def test_long_login_banner_breaks_the_deployment(tmp_path, monkeypatch):
    monkeypatch.setenv("SLB_LAB_HOME", str(tmp_path))
    topology = Topology.model_validate({"hosts": {"noisy": {"release": "trixie", "motd_lines": 400}}})
    with Lab.new(f"mn-test-{os.getpid()}", topology) as lab:
        node, host = lab.management_node, lab.hosts["noisy"]
        cookie = log_in(node).headers["Set-Cookie"].partition(";")[0]
        for status in ("failed", "running"):
            engine = ENGINE | {"manage_ip": host.address}
            assert call(node, "POST", INSTALL, cookie, json=engine).json()["code"] == 0
            wait_until(lambda status=status: node.state()["engines"][0]["status"] == status, f"it is {status}", 60)
            host.exec(["mv", "/etc/motd", "/etc/motd.bak"], check=False)
        # The engine went with the host.
        lab.up(Topology.model_validate({"hosts": {"noisy": {"release": "trixie", "motd_lines": 0}}}))
        assert node.state()["engines"] == []
