"""HAR files as browsers save them, from the requests and answers of a web console."""

from __future__ import annotations

import base64
import json
from typing import Any

BASE = "https://console.example"
SECRETS = ("hunter2-Pa55", "9f8e7d6c5b4a39281706f5e4", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl")
"""A password, the id of a session, and a token."""


def row(number: int, state: Any = "running", **more: Any) -> dict[str, Any]:
    return {"id": number, "engine_name": f"edge-{number}", "ip": f"192.0.2.{number}", "status": state, **more}


def rows(*numbers: int, state: Any = "running") -> list[dict[str, Any]]:
    return [row(number, state) for number in numbers]


def hosts(*numbers: int) -> dict[str, tuple[str, str]]:
    return {f"edge-{number}": (f"edge-{number}", f"192.0.2.{number}") for number in numbers}


def entry(path: str, body: Any = None, *, method: str = "GET", status: int = 200, **more: Any) -> dict[str, Any]:
    """Return a request and its answer as Chrome saves them, not sanitized. ``more``: of the content."""
    text = body if isinstance(body, str) else json.dumps(body)
    cookie = {"name": "sessionid", "value": SECRETS[1], "path": "/", "httpOnly": True, "secure": True}
    content = {"size": len(text), "mimeType": "application/json", "text": text, **more}
    return {
        "_initiator": {"type": "script"},
        "_resourceType": "xhr",
        "startedDateTime": "2026-11-25T18:03:29.123Z",
        "time": 12.5,
        "request": {
            "method": method,
            "url": path if "://" in path else f"{BASE}{path}",
            "httpVersion": "http/2.0",
            "headers": [
                {"name": "Cookie", "value": f"sessionid={SECRETS[1]}"},
                {"name": "X-CSRFToken", "value": SECRETS[2]},
            ],
            "queryString": [],
            "cookies": [cookie],
            "headersSize": -1,
            "bodySize": 0,
        },
        "response": {
            "status": status,
            "statusText": "",
            "headers": [{"name": "Set-Cookie", "value": f"sessionid={SECRETS[1]}"}],
            "cookies": [cookie],
            "content": {key: value for key, value in content.items() if value is not None},
            "redirectURL": "",
        },
        "cache": {},
    }


def post(path: str, sent: Any, body: Any = None, *, status: int = 200) -> dict[str, Any]:
    made = entry(path, body, method="POST", status=status)
    made["request"]["postData"] = {"mimeType": "application/json", "text": json.dumps(sent)}
    return made


def har(*entries: dict[str, Any], creator: str = "WebInspector") -> dict[str, Any]:
    return {
        "log": {"version": "1.2", "creator": {"name": creator, "version": "1"}, "pages": [], "entries": list(entries)}
    }


def sanitized(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry as Chrome's sanitized export has it: without cookies and authorization."""
    for part in (entry["request"], entry["response"]):
        part["cookies"] = []
        part["headers"] = [
            each for each in part["headers"] if each["name"] not in ("Cookie", "Set-Cookie", "Authorization")
        ]
    return entry


def of_firefox(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry as Firefox has it: Base64 without the type of the text, and a further query."""
    for name in ("_initiator", "_resourceType"):
        entry.pop(name)
    content = entry["response"]["content"]
    entry["request"]["httpVersion"] = "HTTP/2"
    return {**entry, "pageref": "page_1", "response": {**entry["response"], "content": {**content, "comment": ""}}}


def as_base64(data: bytes) -> dict[str, str]:
    return {"text": base64.b64encode(data).decode(), "encoding": "base64"}
