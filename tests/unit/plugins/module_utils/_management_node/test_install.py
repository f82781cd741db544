"""The outcome of an install request for each kind of answer, and the text that is shown of an answer."""

import html
import json
import math
import re
from base64 import b64encode
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import _is_session_ended, is_rejection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import compile_patterns, find_outcome
from ansible_collections.slb.fleet.plugins.module_utils._management_node.languages import PATTERNS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import Request

COMPILED = {name: [re.compile(each, re.IGNORECASE) for each in PATTERNS[name]] for name in ("exists", "port_in_use")}
JSON, HTML, TEXT = "application/json", "text/html", "text/plain"
LOGIN_SCRIPT = (
    "<html><title>Engines</title><script>$(document).ajaxError(function(e,x){if(x.status==401)"
    'location.href="/account/login/";});</script><body>Installation started</body></html>'
)
CREDENTIALS_PAGE = (
    "<!DOCTYPE html><html><head><title>Engines</title></head><body>"
    '<form action="/system/credentials/"><input type="password" name="secret"></form></body></html>'
)
ANSWERS = [
    # The installation was started.
    ("requested", 200, '{"code":0,"msg":"installation started"}', JSON),
    ("requested", 200, '{"success":true}', JSON),
    ("requested", 201, '{"id":7,"name":"edge-1"}', JSON),
    ("requested", 202, "", JSON),
    ("requested", 200, '{"status":200,"message":"安装已开始"}', JSON),
    ("requested", 200, '{"code":0,"error":null,"errors":[]}', JSON),
    ("requested", 200, "true", JSON),
    ("requested", 200, b'\xef\xbb\xbf{"code":0}', JSON),
    ("requested", 200, '{"code":0,"msg":"ok"}', HTML),
    ("requested", 200, '{"code":0,"msg":"started, please log in to the host to see more"}', JSON),
    ("requested", 200, '{"code":0,"msg":"started, port 8000 is not occupied"}', JSON),
    ("requested", 200, '{"code":0,"msg":"开始安装 端口未被占用"}', JSON),
    ("requested", 200, '{"code":0,"msg":"&#' + "1" * 5000 + ';"}', JSON),
    # The structure decides, whatever the words.
    ("requested", 200, '{"code":0,"msg":"started; the image already exists, the download failed"}', JSON),
    ("requested", 200, '{"success":true,"data":{"name":"fail-1","error":""}}', JSON),
    ("requested", 202, '{"msg":"do not fail"}', JSON),
    ("requested", 202, "Accepted", TEXT),
    ("requested", 200, '{"id":7,"name":"error","state":"deploying"}', JSON),
    ("requested", 200, '{"code":0,"data":{"name":"edge-1","status":"failed"}}', JSON),
    ("requested", 200, '{"code":0,"data":{"items":[{"error":"port 8000 is in use"}]}}', JSON),
    # The engine exists.
    ("exists", 403, '{"msg":"Engine already exists"}', JSON),
    ("exists", 200, '{"code":403,"msg":"引擎已存在"}', JSON),
    ("exists", 200, '{"code":1001,"msg":"Engine already exists"}', JSON),
    ("exists", 409, '{"detail":"The engine edge-1 already exists."}', JSON),
    ("exists", 500, '{"message":"engine has already been added"}', JSON),
    ("exists", 400, '{"errors":{"name":["duplicate name"]}}', JSON),
    ("exists", 200, json.dumps({"code": 1, "msg": "引擎已存在"}), JSON),
    ("exists", 200, json.dumps({"code": 1, "data": json.dumps({"m": "该引擎已经存在"})}), JSON),
    ("exists", 200, '{"code":1001,"msg":"引擎已存在,请登录主机停止容器slb"}', JSON),
    ("exists", 200, "引擎已存在".encode("gb18030"), "text/plain; charset=gbk"),
    ("exists", 200, "引擎已存在".encode("gb18030"), TEXT),
    ("exists", 200, "引擎已存在".encode("utf-16"), "text/plain; charset=utf-16"),
    ("exists", 400, "\\u5f15\\u64ce\\u5df2\\u5b58\\u5728", TEXT),
    ("exists", 200, "<html><body><p class=err>&#24341;&#25806;&#24050;&#23384;&#22312;</p></body></html>", HTML),
    ("exists", 500, "<html><body><h1>Error</h1>The engine <b>already exists</b></body></html>", HTML),
    ("exists", 200, "ENGINE ALREADY\nEXISTS", TEXT),
    *(
        ("exists", 200, json.dumps({"code": 1001, "msg": each}), JSON)
        for each in (
            "引擎已經存在",
            "主機已經安裝",
            "该引擎已安装",
            "Host 192.0.2.1 is already installed",
            "引擎重複添加",
        )
    ),
    # Other things exist.
    *(
        ("rejected", 200, json.dumps({"code": 1001, "msg": each}), JSON)
        for each in (
            "docker already installed, version too old",
            "已安装docker版本过低",
            "主机已安装 docker",
            "License already installed on other node; host unreachable",
            "Credential 3 does not already exist",
            "证书已存在错误 无法连接主机",
            "不存在已存在的引擎",
            "该凭证已经被添加到其他用户",
            "SSH port 22 on 192.0.2.1 is unavailable",
            "端口22无法访问, 主机被占用",
            "port 22: connection taken too long",
        )
    ),
    # A port is in use.
    ("port_in_use", 200, '{"code":1002,"msg":"連接埠被佔用"}', JSON),
    ("port_in_use", 200, '{"code":1002,"msg":"Port 8000 is already in use"}', JSON),
    ("port_in_use", 400, '{"error":"bind: address already in use"}', JSON),
    ("port_in_use", 200, '{"success":false,"message":"端口8000被占用"}', JSON),
    ("port_in_use", 500, '{"msg":"端口已被占用"}', JSON),
    ("port_in_use", 409, '{"msg":"engine already exists or its port is occupied"}', JSON),
    ("port_in_use", 200, '{"code":1002,"msg":"Port 8000 is in use. Please log in to the host and stop it."}', JSON),
    ("port_in_use", 200, "<html><body>The port 8000 of 192.0.2.1 is occupied</body></html>", HTML),
    ("port_in_use", 200, "<html><!-- x --><body>The port 8000 of 192.0.2.1 is occupied</body></html>", HTML),
    # The request was rejected for another reason.
    ("rejected", 400, '{"detail":"credential 7 does not exist"}', JSON),
    ("rejected", 200, '{"code":500,"msg":"no license"}', JSON),
    ("rejected", 200, '{"error":null,"code":500,"msg":"no license"}', JSON),
    ("rejected", 200, '{"success":false,"message":"引擎不存在"}', JSON),
    ("rejected", 200, '{"status":"error","reason":"host unreachable"}', JSON),
    ("rejected", 404, "", JSON),
    ("rejected", 405, '{"detail":"Method not allowed"}', JSON),
    ("rejected", 429, '{"msg":"slow down"}', JSON),
    ("rejected", 200, '{"data":{"success":false,"error":"no such credential"}}', JSON),
    ("rejected", 200, '{"result":{"code":500,"msg":"no license"}}', JSON),
    ("rejected", 200, '{"errorCode":1001,"errorMsg":"no license"}', JSON),
    ("rejected", 200, '{"statusCode":500,"message":"no license"}', JSON),
    ("rejected", 200, '{"isSuccess":false}', JSON),
    ("rejected", 200, '{"code":"PARAM_ERROR"}', JSON),
    ("rejected", 200, '{"code":10000000001,"msg":"no license"}', JSON),
    ("rejected", 200, '{"code":-1.0,"msg":"no license"}', JSON),
    ("rejected", 200, '{"code":1,"msg":"credential does not exist"}', JSON),
    ("rejected", 200, '{"code":1001,"msg":"no room"}', JSON),
    ("rejected", 200, '{"code":-1,"msg":"no room"}', JSON),
    ("rejected", 200, '{"code":199,"msg":"no room"}', JSON),
    ("rejected", 200, '{"code":1,"success":false,"msg":"no room"}', JSON),
    ("rejected", 200, '{"code":500,"msg":"deployment could not be started"}', JSON),
    ("rejected", 200, '{"code":500,"msg":"安装中断"}', JSON),
    ("rejected", 200, '{"failed":true}', JSON),
    ("rejected", 200, '{"status":{"code":1,"message":"fail"}}', JSON),
    ("exists", 200, '{"meta":{"code":1,"msg":"already exists"}}', JSON),
    ("exists", 409, '{"msg":"engine already exists","id":3}', JSON),
    ("requested", 200, '{"rc":0}', JSON),
    ("requested", 200, '{"id":7,"failed":0}', JSON),
    *(
        ("unknown", 200, json.dumps(each), JSON)
        for each in (
            {"rc": 1},
            {"results": [{"status": "failed"}]},
            {"code": 0, "data": {"failed": ["192.0.2.1"]}},
        )
    ),
    # A deployment may be in progress.
    *(
        ("unknown", 200, json.dumps(each), JSON)
        for each in (
            {"id": 9, "status": "deploying", "success": False, "progress": 0},
            {"success": False, "data": {"state": "pending"}},
            {"code": 20000, "message": "已提交部署任务"},
            {"code": 10000, "msg": "部署中"},
            {"code": 600, "msg": "任务已下发"},
            {"code": 1000, "task_id": "a"},
            {"code": 1, "data": {"id": 3}},
            {"code": 1, "msg": "no room"},
            {"error": {"code": 0, "message": "success"}},
            {"code": 1, "msg": "Engine is being deployed"},
            {"code": 409, "msg": "deploying"},
            {"code": 1001, "msg": "A deployment task already exists"},
            {"code": 1001, "msg": "引擎正在部署 请勿重复添加"},
            {"code": math.nan},
            {"success": math.inf},
        )
    ),
    ("unknown", 409, '{"msg":"engine already exists and is being deployed"}', JSON),
    ("unknown", 200, '{"code":0,"code":1,"msg":"x"}', JSON),
    ("unknown", 200, '{"code":1,"code":0}', JSON),
    # A proxy, or the node, did not wait for the end.
    ("unknown", 499, "", JSON),
    *(
        ("unknown", 200, json.dumps(each), JSON)
        for each in (
            {"type": "https://x/probs/timeout", "title": "Upstream timed out", "status": 504},
            {"error": {"code": 504, "message": "no answer"}},
            {"code": 503, "msg": "x"},
            {"code": -1, "msg": "请求超时"},
            {"success": False, "message": "timeout waiting for agent"},
            {"errors": [{"message": "deadline exceeded"}], "data": None},
            # GraphQL: the part that has failed may be another one.
            {"errors": [{"message": "x"}], "data": {"addEngine": {"id": 3}}},
        )
    ),
    ("rejected", 200, '{"errors":[{"message":"x"}],"data":{"addEngine":null}}', JSON),
    ("rejected", 200, '{"code":1001,"msg":"SSH connect to 192.0.2.1 timed out"}', JSON),
    # Nothing states that the request was accepted.
    *(
        ("unknown", 200, json.dumps(each), JSON)
        for each in (
            {"timestamp": "2026-11-28", "path": "/system/add_slb_engine/"},
            {"requestId": "7f"},
            {"kind": "List", "apiVersion": "v1"},
            {"links": {"self": "/x"}},
            {"status": "queued"},
            {"id": None, "name": ""},
        )
    ),
    ("requested", 200, '{"task_id":"7f","status":"queued"}', JSON),
    ("requested", 200, '{"jsonrpc":"2.0","id":1,"result":{"task":7}}', JSON),
    # Another thing exists or is in use, or no subject is known.
    *(
        ("unknown", status, json.dumps({"msg": each}), JSON)
        for status, each in (
            *(
                (400, f"{subject} already exists")
                for subject in ("Credential", "Host key", "Docker image slb", "Node group")
            ),
            *(
                (409, f"{subject} already exists")
                for subject in ("Engine edge-9", "Another engine with license X", "node-edge-1", "edge-1-node")
            ),
            (400, "A session for user admin already exists"),
            (400, "License already added to 10 of 10 engines, limit reached"),
            (400, "Hostname already exists in DNS"),
            (400, "no engine already exists"),
            (400, "Duplicate MAC address"),
            (400, "Duplicate IP detected on the network by ARP"),
            (200, "mkdir /opt/slb: already exists\ninstall started"),
            (500, "docker pull: layer already exists; timeout"),
            *((400, each) for each in ("用户已存在", "主机密钥已存在", "凭据重复", "端口许可已占用")),
            *(
                (400, f"{subject} in use")
                for subject in ("serial port", "All 10 ports of the license are", "port-channel")
            ),
            (400, "NIC port eth0 occupied by bond0"),
            (400, "unsupported port is being used by client"),
        )
    ),
    ("unknown", 422, '{"detail":[{"loc":["body","token"],"msg":"already exists"}]}', JSON),
    ("unknown", 200, '{"code":0}\n{"code":1,"msg":"already exists"}', TEXT),
    # A gateway knows nothing of the engine.
    ("unknown", 502, "<html>upstream: address already in use</html>", HTML),
    ("unknown", 504, '{"msg":"Engine already exists"}', JSON),
    # A request may be in progress.
    *(
        ("unknown", status, json.dumps({"code": 1001, "msg": each}), JSON)
        for status, each in (
            (409, "A deployment task for 192.0.2.1 already exists"),
            (400, "Request already exists in queue"),
            *((status, "Duplicate request") for status in (200, 400)),
            (400, "Installation on 192.0.2.1 already in progress"),
            (400, "An install task for this host is already running"),
            (400, "Please wait for the current deployment to finish"),
            (400, "Previous deployment not finished"),
            (400, "Install started but notification failed"),
            (400, "Request already submitted"),
            (400, "Repeated request ignored"),
            (400, "host is locked by another task"),
            (200, "Engine added, but SSH login failed"),
            (400, "部署已开始"),
            (400, "请勿重复提交"),
            (400, "DEPLOYMENT_ALREADY_RUNNING"),
            (400, "port 443 is in use by another deployment"),
        )
    ),
    *(
        ("unknown", status, json.dumps(each), JSON)
        for status, each in (
            (200, {"status": "error", "task_id": 4, "msg": "mail server unreachable"}),
            (200, {"code": 1, "msg": "notification failed", "data": {"task_id": 17}}),
            (200, {"code": 1, "msg": "port 443 is in use", "task": {"id": 17}}),
            (400, {"msg": "Engine already exists", "job_id": "7f"}),
            (400, {"code": 400, "msg": "warning", "data": {"engine_id": 5}}),
        )
    ),
    # A member of the request with another value, or with errors, does not show that the engine was added.
    *(
        ("unknown", 200, json.dumps(each), JSON)
        for each in (
            {"name": ["This field is required."], "manage_ip": ["Enter a valid IPv4 address."]},
            {"name": "too long"},
            {"name": "edge-2", "manage_ip": "192.0.2.2"},
            {"id": -1},
            {"id": "0"},
        )
    ),
    *(
        ("exists", status, json.dumps(each), JSON)
        for status, each in (
            (200, {"manage_ip": ["Slb engine with this Manage ip already exists."]}),
            (400, {"manage_ip": [{"message": "Slb engine with this Manage ip already exists.", "code": "unique"}]}),
            (400, {"manage_ip": ["already exists"]}),
            (400, {"name": ["edge-1 already exists"]}),
            (400, {"name": ["This field must be unique."]}),
            (400, {"name": "Engine edge-1 already exists"}),
            (400, {"non_field_errors": ["The fields name, manage_ip must make a unique set."]}),
            (200, {"code": 400, "msg": "参数错误", "data": {"manage_ip": ["该 manage ip 已存在。"]}}),
        )
    ),
    ("unknown", 400, '{"user_credential_id":["already exists"]}', JSON),
    ("unknown", 200, '{"jsonrpc":"2.0","id":1}', JSON),
    # Codes are read as words.
    *(
        ("exists", status, json.dumps(each), JSON)
        for status, each in (
            (200, {"code": 1, "msg": "ENGINE_ALREADY_EXISTS"}),
            (409, {"error": "engine-already-exists"}),
            (200, {"code": "EngineAlreadyExists"}),
            (400, {"error": {"code": "ALREADY_EXISTS", "message": "edge-1"}}),
            (500, {"msg": 'Conflict. The container name "/slb" is already in use by container "abc"'}),
        )
    ),
    *(
        ("port_in_use", status, json.dumps(each), JSON)
        for status, each in (
            (400, {"error": {"code": "PORT_IN_USE"}}),
            (400, {"errorCode": "PortInUse"}),
            (400, {"error": "EADDRINUSE"}),
            (500, {"msg": "Bind for 0.0.0.0:443 failed: port is already allocated"}),
        )
    ),
    # Whether the installation was started is unknown.
    ("unknown", 200, '{"status":300,"msg":"x"}', JSON),
    ("unknown", 200, '{"status":1,"msg":"success"}', JSON),
    ("unknown", 200, '{"code":1,"msg":"success"}', JSON),
    ("unknown", 200, '{"code":1,"msg":"success","data":{"id":7}}', JSON),
    ("unknown", 200, '{"msg":"installation failed"}', JSON),
    ("unknown", 200, '{"msg":"ok","data":[{"msg":"engine already exists"}]}', JSON),
    ("unknown", 200, '[{"msg":"engine already exists"}]', JSON),
    ("unknown", 200, '{"data":{"name":"edge-1","status":"failed"}}', JSON),
    ("unknown", 201, '{"code":0,"data":{"success":false}}', JSON),
    ("unknown", 200, '{"error":' + "[" * 900 + "1" + "]" * 900 + ',"code":0}', JSON),
    ("unknown", 202, "<html><body>One moment</body></html>", HTML),
    ("unknown", 200, "OK", TEXT),
    ("unknown", 200, LOGIN_SCRIPT, HTML),
    ("unknown", 200, "Installation failed: no such credential", TEXT),
    ("unknown", 200, '["installation failed: host unreachable"]', JSON),
    ("unknown", 200, "null", JSON),
    ("unknown", 200, "[" * 100_000, JSON),
    ("unknown", 200, "false", JSON),
    ("unknown", 200, "42", JSON),
    ("unknown", 200, '{"code":"E1001","msg":"no license"}', JSON),
    ("unknown", 200, '{"code":0,"data":{"success":false,"error":"no such credential"}}', JSON),
    ("unknown", 201, '{"id":7,"name":"edge-1","state":1}', JSON),
    ("unknown", 500, '{"msg":"internal error"}', JSON),
    ("unknown", 502, "", JSON),
    ("unknown", 408, "", JSON),
    ("unknown", 302, "", JSON),
    ("unknown", 200, CREDENTIALS_PAGE, HTML),
    ("unknown", 200, "Installing edge-1. You need to log in to the host to see its log.", TEXT),
    ("unknown", 200, b"\x00\x01\x02\x03", "application/octet-stream"),
    ("unknown", 200, b"42 " * 300_000, "text/plain; charset=punycode"),
    ("unknown", 200, "<html><![foo[bar]]>42</html>", HTML),
    ("unknown", 200, "<html>" + "<a " * 80_000, HTML),
    ("unknown", 200, "<html><!--" * 25_000, HTML),
    ("unknown", 200, "<html><script>" + "location" * 30_000, HTML),
    ("unknown", 200, "<html><!-- already exists --><script>'already exists'</script>x</html>", HTML),
]


def outcome(status, body, kind=JSON, own_words=("edge-1", "192.0.2.1"), **more):
    content = body.encode() if isinstance(body, str) else body
    headers = {"Content-Type": kind, "Content-Length": str(len(content))}
    return find_outcome(Answer(status, headers, content, **more), COMPILED, own_words)


@pytest.mark.parametrize(
    ("expected", "status", "body", "kind"), ANSWERS, ids=[f"{each[1]} {str(each[2])[:50]}" for each in ANSWERS]
)
def test_outcome_of_answer(expected, status, body, kind):
    assert outcome(status, body, kind) == expected


@pytest.mark.parametrize(
    ("expected", "name", "status", "body"),
    [
        *(
            ("requested", name, 200, {"code": 0, **answer})
            for name in ("port 8000 in use", "already exists")
            for answer in ({"msg": f"{name}: started"}, {"data": {"name": name}})
        ),
        *(("exists", name, 400, {"msg": "Engine already exists"}) for name in ("e", "Port")),
        *(("port_in_use", name, 400, {"msg": "Port 8000 is in use"}) for name in ("e", "Port")),
        ("rejected", "is installing", 400, {"msg": "is installing: no license"}),
    ],
)
def test_engine_name_in_the_answer_decides_nothing(expected, name, status, body):
    assert outcome(status, json.dumps(body), own_words=(name,)) == expected


def test_incomplete_answer_is_unknown():
    assert outcome(200, '{"code":0', defect="the body is incomplete after 9 bytes") == "unknown"
    assert outcome(200, "Engine already exists, see", TEXT, defect="the body is incomplete") == "exists"


@pytest.mark.parametrize(
    ("expected", "status", "headers"),
    [("unknown", 200, {}), ("requested", 204, {}), ("requested", 200, {"Transfer-Encoding": "chunked"})],
)
def test_outcome_of_empty_body(expected, status, headers):
    assert find_outcome(Answer(status, headers, b""), COMPILED) == expected


def test_shown_text_has_no_secret_and_no_control_character():
    words = 'bad\x1b[2J\u202e "s3cret&1" s3cret&amp;1 sessionid=abc123'
    body = json.dumps({"msg": [words, {"token": "t0p", "text": "y"}], "token": "t0p", "error": "x" * 1000})
    shown = Answer(400, {}, body.encode()).shown(("s3cret&1",))
    assert len(shown) == 300
    assert shown.isprintable()
    assert "s3cret" not in shown
    assert "abc123" not in shown
    assert "t0p" not in shown


@pytest.mark.parametrize(
    ("status", "is_success", "is_redirect"),
    [
        (199, False, False),
        (200, True, False),
        (299, True, False),
        (300, False, True),
        (399, False, True),
        (400, False, False),
    ],
)
def test_status_tells_success_and_redirect(status, is_success, is_redirect):
    answer = Answer(status, {"Location": "/account/login/?next=/"}, b"")
    assert (answer.is_success, answer.is_redirect_to_login) == (is_success, is_redirect)


@pytest.mark.parametrize(("status", "wait", "is_shown"), [(503, "37", True), (503, "", False), (500, "37", False)])
def test_answer_that_asks_to_wait_shows_for_how_long(status, wait, is_shown):
    shown = Answer(status, {"Retry-After": wait} if wait else {}, b"").described(())
    assert ("37" in shown, "retry" in shown) == (is_shown, is_shown)


def test_text_of_the_verb_alone_is_about_the_engine():
    assert outcome(200, '{"status":"error","code":1,"msg":"Already exists!"}') == "exists"
    assert outcome(400, '{"code":"ALREADY_EXISTS","msg":"No credential"}') == "unknown"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (
            {"name": ["is required"], "manage_ip": ["is no address", "is required"]},
            "name: is required; manage_ip: is no address; manage_ip: is required",
        ),
        ({"manage_ip": "too long"}, "manage_ip: too long"),
        ({"msg": "bad", "manage_ip": "192.0.2.1"}, "bad"),
    ],
)
def test_error_about_a_member_is_shown_with_its_name(body, shown):
    assert Answer(400, {}, json.dumps(body).encode()).shown() == shown


@pytest.mark.parametrize(
    ("text", "expected"), [("Credential already exists", "exists"), ("Engine already exists", "unknown")]
)
def test_own_patterns_decide_without_a_subject(text, expected):
    own = compile_patterns({"exists_patterns": ["credential already"]})
    assert find_outcome(Answer(400, {}, text.encode()), own, ("edge-1",)) == expected


SECRET = 'pä"ss /w<1'


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        html.escape(SECRET),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        "p%c3%a4%22ss+%2fw%3c1",
        b64encode(SECRET.encode()).decode(),
        # In several ways, several times, and in several lines
        quote(quote(SECRET)),
        quote(html.escape(SECRET)),
        html.escape(json.dumps(SECRET)[1:-1]),
        json.dumps(json.dumps(SECRET)[1:-1])[1:-1],
        "p%C3%A4&quot;ss /w\\u003c1",
        "p&auml;&#34;ss&#x20;/w&lt;1",
        'p\\xe4"s\\ns /w<1',
        "".join(f"%{each:02x}" for each in SECRET.encode()),
        *(SECRET[:index] + gap + SECRET[index:] for index in (1, 4, 9) for gap in ("\n", " \t ", "\u200b", "\r\n  ")),
        b64encode(SECRET.encode()).decode().rstrip("="),
        f"{b64encode(SECRET.encode()).decode()[:9]}\n{b64encode(SECRET.encode()).decode()[9:]}",
    ],
)
def test_secret_is_replaced_in_each_form_and_nothing_else(form):
    answer = Answer(400, {}, f"got {form}, sorry".encode())
    assert answer.shown((SECRET, "")) == "got ********, sorry"
    assert answer.described((SECRET,)) == "HTTP 400: got ********, sorry"


@pytest.mark.parametrize(
    ("secret", "expected"),
    [
        ("en", "The engine ******** is open"),
        ("engine en", "The ******** is open"),
        ("The", "******** engine en is open"),
        ("theengi", "The engine en is open"),
        ("is", "The engine en ******** open"),
        (" ", "The engine en is open"),
        ("isopen", "The engine en is open"),
    ],
)
def test_short_secret_is_masked_as_a_whole_word(secret, expected):
    assert Answer(400, {}, b"The engine en is open").shown((secret,)) == expected


@pytest.mark.parametrize(
    "secret", ["%41%2", "\\\\new\\u00", "a+b+c+d+e+", "&lt;&lt;&gt;", "C:\\new1234", "100%abcdef12"]
)
def test_secret_that_looks_encoded_is_replaced(secret):
    for form in (secret, quote(secret, safe=""), html.escape(secret), json.dumps(secret)[1:-1], f"%{secret}"):
        assert secret not in Answer(400, {}, f"got {form}, sorry".encode()).shown((secret,))
        assert "********" in Answer(400, {}, f"got {form}, sorry".encode()).shown((secret,))


TOKEN = "tok3n-of-the-login"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"message": f"Welcome, token {TOKEN}", "token": TOKEN}, {}),
        ({"msg": f"use {quote(TOKEN)} now", "data": {"access": {"Auth-Token": [TOKEN]}}}, {}),
        ({"msg": f"Bearer {TOKEN}", "authorization": f"Bearer {TOKEN}"}, {}),
        ({"msg": f"got {TOKEN}"}, {"X-Subject-Token": TOKEN}),
        ({"msg": f"see /engines?user=7&token={TOKEN} and ?sid=t0p;key=t0p"}, {}),
        ({"msg": "see &lt;/a?api_key=t0p&gt;"}, {}),
    ],
)
def test_token_of_an_answer_is_not_shown(body, headers):
    shown = Answer(400, headers, json.dumps(body).encode()).shown()
    assert "********" in shown
    assert not {TOKEN, "t0p"} & set(re.split(r"[ =;&<>]", shown))


@pytest.mark.parametrize(
    "body", [{"msg": "bad password", "password": ["This field is required."]}, {"msg": "denied", "auth": "denied"}]
)
def test_words_in_secret_members_hide_no_message(body):
    assert Answer(400, {}, json.dumps(body).encode()).shown() == body["msg"]


WORDS = (
    *("session timed out", "please log in", "already exists", "port 8000 is in use", "failed", "success", "401"),
    *("wrong password", "not valid", "引擎已存在", "登录已过期", "error"),
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("ae0{é ", max_size=8) | st.sampled_from(WORDS)
)
KEYS = st.sampled_from(("name", "error", "message", "reason", "status", "code", "success", "state", "x"))
ITEMS = st.lists(st.dictionaries(KEYS, SCALARS | st.lists(SCALARS, max_size=2), max_size=4), max_size=3)
STRUCTURE = st.dictionaries(
    st.sampled_from(("code", "success", "status", "error")),
    st.sampled_from((0, 1, 200, 401, 500, True, False, "", "ok", "error", None)),
    max_size=2,
)

GENERATED = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@GENERATED
@given(STRUCTURE, ITEMS, st.booleans(), st.sampled_from((200, 201, 207, 400, 403, 500)))
def test_texts_in_items_change_nothing(structure, items, has_envelope, status):
    def judge(rows):
        body = {**structure, **({"data": {"items": rows}} if has_envelope else {"items": rows})}
        answer = Answer(status, {"Content-Length": "1"}, json.dumps(body).encode())
        login = is_rejection(answer), _is_session_ended(Request("GET", "/x"), answer, "https://console.example")
        return find_outcome(answer, COMPILED), answer.verdict, login, answer.shown()

    assert judge(items) == judge([])


@GENERATED
@given(st.recursive(SCALARS, lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below, max_size=3)))
def test_answer_without_structure_is_never_rejected(value):
    names = ("code", "status", "state", "success", "error")

    def without_structure(each):
        if isinstance(each, dict):
            return {key: without_structure(member) for key, member in each.items() if key not in names}
        return [*map(without_structure, each)] if isinstance(each, list) else each

    body = json.dumps(without_structure(value)).encode()
    assert outcome(200, body) in ("requested", "exists", "port_in_use", "unknown")


MESSAGES = st.sampled_from((*WORDS, "Engine already exists", "SSH failed", "not permitted")) | st.text(max_size=20)
STATUSES = st.sampled_from((200, 202, 400, 409, 500, 502))


@GENERATED
@given(STRUCTURE, MESSAGES, st.sampled_from(("task_id", "job", "uuid")), st.booleans(), STATUSES)
def test_answer_with_the_id_of_a_task_is_not_negative(structure, message, key, has_envelope, status):
    body = {**structure, "msg": message, **({"data": {key: 17}} if has_envelope else {key: 17})}
    assert outcome(status, json.dumps(body)) in ("requested", "unknown")


@GENERATED
@given(st.text("qxzj", min_size=1, max_size=8), st.sampled_from(("{} ", "engine {} ", "{}: ", "host {}-")), STATUSES)
def test_subject_with_another_word_does_not_exist(word, subject, status):
    for text in (*(subject + verb for verb in ("already exists", "is duplicated", "已存在")), "{} port is in use"):
        assert outcome(status, json.dumps({"code": 1001, "msg": text.format(word)})) == "unknown"


@GENERATED
@given(SCALARS | st.lists(SCALARS, max_size=2), SCALARS | st.lists(SCALARS, max_size=2))
def test_other_values_of_the_request_prove_nothing(name, address):
    assert outcome(200, json.dumps({"name": name, "manage_ip": address})) in ("unknown", "exists", "port_in_use")
    assert outcome(200, json.dumps({"name": name, "manage_ip": "192.0.2.1"})) in (
        "requested",
        "unknown",
        "exists",
        "port_in_use",
    )
