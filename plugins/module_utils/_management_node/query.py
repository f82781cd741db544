# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The path of the engine list: which of its parameters are about pages and form, and which may select engines. No I/O.

Every parameter that is not known to be about the form of the list may select engines.
"""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import parse_qsl

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import names_parameter

Kind = Literal["page", "offset", "size", "sort", "form", "volatile", "cursor", "filter"]

# fmt: off
# Words of a state, as read_word returns them. The API documents only running, deploying and failed.
CERTAIN = {
    "running": {"running", "运行", "运行中", "正在运行", "已运行"},
    "deploying": {"deploying", "installing", "部署中", "安装中", "正在部署", "正在安装"},
    "failed": {"failed", "deployfailed", "installfailed", "deploymentfailed", "installationfailed", "失败", "部署失败",
               "安装失败"},
}
LIKELY = {
    "running": {"up", "online", "active", "ok", "healthy", "normal", "alive", "started", "ready", "deployed", "success",
                "installed", "在线", "正常", "已启动", "已部署", "健康"},
    "deploying": {"pending", "creating", "provisioning", "initializing", "starting", "queued", "inprogress", "deploy",
                  "启动中", "等待中", "创建中", "初始化"},
    "failed": {"error", "failure", "deployerror", "installerror"},
}
# They are left unmapped: a stopped engine is neither running nor failed.
OTHER = {"stopped", "stopping", "offline", "down", "inactive", "disabled", "unknown", "paused", "maintenance", "停止",
         "已停止", "离线", "未知", "禁用", "已禁用"}
_OF_USER = {"me", "my", "mine"}
_SELECTING = set().union(OTHER, *CERTAIN.values(), *LIKELY.values(), _OF_USER, ("deleted", "enabled")) - {"ok"}
# Parameters of a query, without anything but letters.
_KINDS: dict[Kind, set[str]] = {
    "page": {"page", "pageno", "pagenum", "pageindex", "pagenumber", "p", "pn", "current", "currentpage", "curpage",
             "pageid"},
    "offset": {"offset", "skip", "start", "startindex", "from", "first", "startrow"},
    "size": {"size", "pagesize", "limit", "perpage", "rows", "count", "length", "ps", "top", "take", "maxresults",
             "pagelimit", "itemsperpage", "rowsperpage", "psize", "all", "paginate", "pagination", "paged", "unpaged"},
    "sort": {"sort", "order", "orderby", "ordering", "sortby", "sortfield", "sortorder", "dir", "direction", "desc",
             "asc", "sidx", "sord", "ordercolumn", "orderdir", "searchregex"},
    "form": {"format", "fields", "field", "columns", "include", "expand", "select", "pretty", "lang", "language",
             "locale", "timezone", "tz", "embed", "populate", "callback", "v", "version", "apiversion"},
    "volatile": {"", "t", "ts", "time", "timestamp", "rand", "random", "nocache", "dc", "cb", "r", "draw", "nd"},
    "cursor": {"cursor", "after", "before", "continue", "marker", "scrollid", "pagestate"},
}
# fmt: on


def kind_of(name: str) -> Kind:
    """Return what a parameter is about, by its name."""
    letters = re.sub(r"[\W\d_]", "", name.lower())
    if letters.startswith("columns"):  # as DataTables requests the columns that it shows
        return "form"
    return next((kind for kind, names in _KINDS.items() if letters in names), "filter")


def find_filter(path: str, page_parameter: str = "") -> str:
    """Return what may select engines in a path, as it is; empty if nothing does. The total is that of the selected."""
    place, _mark, query = path.partition("?")
    segments = [read_word(each) for each in re.split(r"[/;=]", place.rstrip("/"))]
    if segments[-1] in _SELECTING or _OF_USER & set(segments):
        return place
    for name, value in parse_qsl(query):
        kind = kind_of(name)
        # Any other page than the first one, or a date
        is_later = kind in ("page", "offset") and name != page_parameter and value not in ("0", "1")
        is_word = kind == "volatile" and value.isalpha() and value != "true"
        is_empty = value.lower() in ("all", "*", "-1", "{}", "[]", "null") or names_parameter(name)
        if is_later or is_word or kind == "cursor" or (kind == "filter" and not is_empty):
            return f"{name}={value}"
    return ""


def find_sizes(path: str) -> set[float]:
    """Return the page sizes in a path."""
    pairs = parse_qsl(path.partition("?")[2])
    return {float(value) for name, value in pairs if kind_of(name) == "size" and re.fullmatch("[0-9]{1,9}", value)}


def read_word(text: str) -> str:
    """Return a word of a state in lower case, without separators."""
    return re.sub(r"[\s_./-]", "", text.casefold())
