# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A HAR file that a browser saved: the requests to the management node, and their answers.

Headers and cookies are never read: a sanitized file still contains passwords and tokens. Of the body of a request, only
the values of an install request and of a login are read, the latter to mask them.
"""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer, show
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import (
    expand_home,
    normalize_base_url,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import LOGIN_PATH
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import LIST_LIMIT
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import INSTALL_PATH

MAX_FILE_SIZE = 128 * 1024 * 1024  # bytes
MAX_ENTRIES = 20_000

_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}")
_GZIP = b"\x1f\x8b"
_HOW = "Save it as a HAR file with content in the browser: docs/engine-list.md."


class Exchange(NamedTuple):
    """A request and its answer.

    ``path``: below the base URL, without query. ``sent``: texts in the body of an install request. ``secrets``: those
    of a login.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    answer: Answer
    sent: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


class Recording(NamedTuple):
    """``requests``: number of those below a base URL. ``unusable``: number of answers, by the reason."""

    exchanges: Sequence[Exchange]
    requests: int
    unusable: Mapping[str, int]


def load_har(path: str) -> Any:
    """Return the JSON value of a file. Raises FleetError."""
    try:
        descriptor = os.open(expand_home("src", path), os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _unusable(path, "it is not a regular file")
            content = file.read(MAX_FILE_SIZE + 1)
    except OSError as error:
        raise _unusable(path, str(error.strerror), "Set slb_har to a file that this user can read.") from None
    except ValueError:  # a NUL in the path
        raise _unusable(path, "it is not the path of a file") from None
    if len(content) > MAX_FILE_SIZE:
        cause = f"it has more than {MAX_FILE_SIZE // 1024**2} MiB"
        raise _unusable(path, cause, "Clear the list of requests, then record only the page with the engines.")
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise _unusable(path, "it is no complete JSON") from None


def read_recording(document: Any, base_urls: Collection[str], addresses: Collection[str], path: str = "") -> Recording:
    """Return what the JSON value of a HAR file has of the management nodes at ``base_urls``. Raises FleetError.

    ``addresses``: of the inventory, to explain why the answer that names them is not used.
    """
    log = document.get("log") if isinstance(document, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise _unusable(path, "it is no HAR file")
    if len(entries) > MAX_ENTRIES:
        raise _unusable(path, f"it has more than {MAX_ENTRIES} requests", "Record only the page with the engines.")
    exchanges, unusable, requests, others = list[Exchange](), Counter[str](), 0, set[str]()
    for request, response in _of_http(entries):
        method, url = str(request.get("method")).upper(), str(request.get("url"))
        place = _below(url, base_urls)
        if place is None:
            others.add(_origin(url))
            continue
        requests += 1
        answer, problem = _read_answer(response, addresses)
        if answer:
            sent = _sent_texts(request, place) if method == "POST" else {}
            names = tuple(sent[key] for key in ("name", "manage_ip") if key in sent)
            is_login = place == LOGIN_PATH
            query = tuple(parse_qsl(url.partition("#")[0].partition("?")[2][:4096], keep_blank_values=True))
            exchange = Exchange(method, place, query, answer, () if is_login else names)
            exchanges.append(exchange._replace(secrets=tuple(sent.values())) if is_login else exchange)
        if problem:
            unusable[problem] += 1
    if not requests:
        there = f" (requests to {', '.join(sorted(filter(None, others))[:3])})" if any(others) else ""
        raise _unusable(path, f"it has no request to {', '.join(sorted(base_urls))[:80]}{there}")
    return Recording(exchanges, requests, unusable)


def _of_http(entries: Sequence[Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for entry in entries:
        request, response = (entry.get("request"), entry.get("response")) if isinstance(entry, dict) else (None, None)
        if isinstance(request, dict) and isinstance(response, dict):
            yield request, response


def _below(url: str, base_urls: Collection[str]) -> str | None:
    """Return the path of ``url`` below one of ``base_urls``, which are normalized; None if it is below none."""
    origin, path = _origin(url), url.partition("#")[0].partition("?")[0].partition("://")[2].partition("/")[2]
    for base_url in base_urls:
        if origin and f"{origin}/{path}".startswith(f"{base_url}/"):
            return f"{origin}/{path}".removeprefix(base_url)
    return None


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url[:4096])
        return normalize_base_url(f"{parts.scheme}://{parts.netloc}")
    except (FleetError, ValueError):
        return ""


def _read_answer(response: Mapping[str, Any], addresses: Collection[str]) -> tuple[Answer | None, str]:
    """Return the answer, and why it cannot contain the list. Without a status there is no answer."""
    status, content = response.get("status"), response.get("content")
    content = content if isinstance(content, dict) else {}
    if not isinstance(status, int) or not 100 <= status < 600:
        return None, "without an answer"
    body = _decode(content)
    kind = content.get("mimeType")
    answer = Answer(
        200 if status == 304 and body else status,
        {"Content-Length": str(len(body or b"")), "Content-Type": kind if isinstance(kind, str) else ""},
        body or b"",
        "larger than 16 MiB" if body and len(body) > LIST_LIMIT else "",
    )
    size = content.get("size")
    is_dropped = body is None and isinstance(size, int) and size > 0
    if is_dropped or answer.defect:
        return answer, answer.defect or "without content"
    if body and b"\0" in body and body.lstrip()[:1] in (b"{", b"["):
        return answer, "cut by the browser"
    if answer.is_success and not answer.parsed and body:
        is_json = body.lstrip()[:1] in (b"{", b"[")
        has_address = any(each in addresses for each in _ADDRESS.findall(answer.text))
        return answer, "with broken JSON" if is_json else "with addresses of the inventory, but no JSON" * has_address
    return answer, ""


def _decode(content: Mapping[str, Any]) -> bytes | None:
    """Return the body, at most one byte more than the limit; None if the file does not have it."""
    text = content.get("text")
    if not isinstance(text, str):
        return None
    body = text.encode("utf-8", "replace")
    if content.get("encoding") == "base64":
        try:
            body = base64.b64decode(text)
        except ValueError:
            return None
    if body.startswith(_GZIP):
        try:
            body = zlib.decompressobj(wbits=31).decompress(body, LIST_LIMIT + 1)
        except zlib.error:
            return None
    return body[: LIST_LIMIT + 1]


def _sent_texts(request: Mapping[str, Any], path: str) -> dict[str, str]:
    """Return the texts in the JSON body, or form, of an install request or a login."""
    posted = request.get("postData")
    text = posted.get("text") if isinstance(posted, dict) and path in (LOGIN_PATH, INSTALL_PATH) else None
    if not isinstance(text, str) or len(text) > 65536:
        return {}
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = dict(parse_qsl(text))
    return {key: value for key, value in body.items() if isinstance(value, str)} if isinstance(body, dict) else {}


def _unusable(path: str, cause: str, fix: str = _HOW) -> FleetError:
    return FleetError("recording_unusable", f"Recording {show(path, 80)} unusable: {cause}.", fix)
