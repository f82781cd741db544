# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words by which answers are recognized, in English and Chinese. The API documents none of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

# fmt: off
# Each word of a subject has to be known: "host key" is no host. A value of the request counts as the word "engine".
_START = r"(?:^|[\n;:,!。(]|\.\s|\b(?:or|but|because)\b)\W{0,3}(?=\w)"
_END = r"(?=$|[\n;:,.!。)])"
_NOUN = (
    r"(?<![a-z])(?:slb|engine|host|server|node|container|device|ip|address|name|fields?)(?![a-z])|引擎|主[机機]|服务器|节点|容器|设备"
    r"|名[称稱]|地址"
)
_FILLER = r"(?<![a-z])(?:an?|the|this|its|forwarding|manage|with|of|is|are|has|have|been)(?![a-z])|[该此的为]|具有"
_SUBJECT = rf"(?:(?:{_FILLER})\W{{0,3}}){{0,4}}(?:{_NOUN})\W{{0,3}}(?:(?:{_FILLER}|{_NOUN})\W{{0,3}}){{0,12}}"
_EXISTS = (
    r"(?:already\s+(?:been\s+)?(?:exists?|added|registered|deployed|installed|in\s+use)(?![a-z])|exists\s+already"
    r"|duplicate[ds]?(?![a-z])|must\s+(?:be\s+unique|make\s+a\s+unique\s+set)"
    r"|已[经經]?(?:存在(?!的|错误|异常)|被?(?:添加|部署|安[装裝])(?!到|\s*[a-z]))|重[复複](?:添加|部署|安[装裝])?)"
)
_OF_A_PORT = (
    r"(?:(?:(?<![a-z])(?:the|this|its|some|following|required|tcp|udp|of|on|for|slb|engine|host|server|node|container|is|are|has|have"
    r"|been|already|currently)(?![a-z])|\d[\d./]*(?![\d./])|\([^()\n]{1,40}\)|[该此的已被]|已[经經]|引擎|主[机機])\W{0,3})"
)
_PORT, _IN_USE = r"(?<![a-z])ports?(?![a-z])|端口|連接埠", (
    r"(?:\b(?:in\s+use|occupied|taken(?!\s+too)|busy|being\s+used|used|allocated)\b|[占佔]用|被使用|正在使用|冲突)"
)
_WORK = r"\b(?:install(?:ation)?|deploy(?:ment)?|task|job|request)"
PATTERNS: dict[str, tuple[str, ...]] = {
    # The engine exists already. Users can replace these (option exists_patterns of the module engine).
    "exists": (
        _START + _SUBJECT + _EXISTS,
        rf"{_START}{_EXISTS}\W{{0,3}}{_SUBJECT}{_END}",
        rf"^\W{{0,3}}(?:{_EXISTS}\W{{0,3}}){{1,3}}$",
    ),
    # A port of the host is in use. Users can replace these (option port_in_use_patterns of the module engine).
    "port_in_use": (
        rf"{_START}{_OF_A_PORT}{{0,6}}(?:{_PORT})\W{{0,3}}{_OF_A_PORT}{{0,12}}{_IN_USE}",
        r"(?<!ip\s)address\s+already\s+in\s+use|\beaddrinuse\b",
    ),
    # Something else exists or is in use, such as an earlier request: this one is not plainly rejected.
    "unclear": (
        r"(?<!not )\balready\b(?!\s+installed)|\bduplicate|\brepeated\b|must\s+be\s+unique",
        r"\bengine\s+(?:(?:is|was|has|been)\s+){0,2}(?:added|created|registered)\b",
        rf"(?:{_PORT})[^\n;,。]{{0,60}}?(?<!not )(?<!未)(?<!未被)(?<!没有)(?<!没有被){_IN_USE}",
        r"已[经經]?(?:存在(?!的|错误|异常)|被?(?:添加|部署)(?!到))|重[复複]",
    ),
    "failure": (
        r"\b(?:error|fail(?:ed|ure|s)?|invalid|denied|refused|rejected|forbidden|not\s+(?:allowed|permitted|found|valid)"
        r"|does\s+not\s+exist|unable|cannot|can't|could\s+not|exception|traceback|unreachable|missing|expired"
        r"|time(?:d\s+)?out|no\s+(?:such|licen[cs]e|permission|route))\b",
        r"失败|错误|无效|非法|拒绝|不能|无法|不存在|异常|不合法|不正确|超时|不可达|过期|缺少|没有|失敗|錯誤",
    ),
    # A deployment may be in progress, whatever else the answer states.
    "progress": (
        r"\bbeing\s+(?:deployed|installed|created|added)\b",
        r"\b(?:is|already|still|currently)\s+(?:deploying|installing)\b",
        r"(?:^|\n)(?:deploying|installing|pending|queued|processing|in[\s_-]?progress)\.?(?:$|\n)",
        rf"{_WORK}\b[^\n;.:,]{{0,40}}?(?<!not )(?<!not be )\b(?:in\s+progress|pending|queued?|running|submitted|started"
        r"|waiting|accepted|processed|already\s+exists)\b",
        rf"\b(?:another|current|previous|earlier|first|repeated|duplicate)\s+{_WORK}",
        # The node, or a proxy before it, did not wait for the end.
        r"\b(?:request|gateway|upstream|backend|response|read|task|deployment|installation|rpc|service|agent)\s+(?:has\s+)?"
        r"time[ds]?[\s-]?out",
        r"time[\s-]?out\s+(?:while\s+)?waiting|deadline\s+exceeded|did\s+not\s+complete",
        r"(?:请求|网关|响应|服务|任务|部署|安装)(?:处理)?超时",
        r"正在(?:部署|安[装裝])|(?:部署|安[装裝])(?:中(?![断止出发遇])|任务已)|已(?:提交|下发|受理)",
        r"(?:请求|任务|部署|安[装裝])[^\n;,。]{0,6}?(?:已[经經]?(?:在|存在|开始|启动)|排队|等待|进行中|运行中)",
    ),
    "success": (
        r"\b(?:ok|success(?:ful(?:ly)?)?|succeeded|accepted|started|starting|queued|created|submitted|in\s+progress)\b",
        r"成功|已开始|开始(?:安装|部署)|已提交|正在(?:安装|部署)|已受理",
    ),
    # The session has ended.
    "login_required": (
        r"not\s+logged\s+in",
        r"log\s?-?in\s+(?:is\s+)?(?:required|again|first|expired)",
        r"(?:please|must|need\s+to)\s+(?:log|sign)\s?-?in\b(?!\s+(?:in)?to\s+(?:\w+\s+){0,2}(?:host|server|machine)\b)",
        r"session\s+(?:is\s+|has\s+)?(?:expired|invalid|timed?\s?-?out|not\s+found)",
        r"(?:expired|invalid)\s+session",
        r"authentication\s+(?:is\s+)?required",
        r"authentication\s+credentials\s+were\s+not",
        r"not\s+authenticated",
        r"未登录|未登陆|没有登录",
        r"请(?:您)?(?:先|重新)?(?:登录|登陆)(?!到?(?:该|目标|此|引擎)?(?:主机|服务器|机器))",
        r"登[录陆](?:状态)?(?:已经?)?(?:过期|失效|超时)",
        r"会话(?:已经?)?(?:过期|失效|超时|无效)",
        r"身份(?:认证|验证)(?:信息)?(?:已经?)?(?:过期|失效|未提供)",
        r"未登入|請(?:先|重新)?登入",
    ),
    # The user name or password is wrong, or the account is locked.
    "bad_credentials": (
        r"(?:wrong|incorrect|invalid|bad)\s+(?:user\s?name|user|password|credential|login|account)",
        r"(?:given|provided|supplied)\s+credentials",
        r"(?:password|credentials?)\s+(?:do(?:es)?\s+not|don't)\s+match",
        r"(?:user\s?name|password|credentials?)\s+(?:(?:is|are|was|were)\s+)?"
        r"(?:wrong|incorrect|invalid|not\s+(?:correct|valid))",
        r"account\s+(?:\w+\s+){0,2}(?:locked|disabled|suspended)",
        r"too\s+many\s+(?:failed\s+)?(?:log\s?-?in|sign\s?-?in|password)",
        r"(?:密码|口令|用户名?|账号|帐号|账户)(?:错误|有误|不正确|不存在|(?:已经?)?(?:被)?锁定)",
        r"(?:已经?|被)锁定",
    ),
    # The same, unless the management node itself has failed.
    "login_failed": (r"(?:log\s?-?in|authentication)\s+failed",),
    # The password may be right, but the web console asks for more.
    "second_step": (
        r"\b(?:mfa|otp|totp|2fa|captcha)(?![a-z])|two-?factor|verification\s+code|agreement|expired",
        r"\b(?:must|need\s+to|please)\s+(?:change|reset|update)|change\s+(?:your\s+)?password|验证码|一次性|修改密码|过期",
    ),
}
# Values of a code or status member in JSON.
GOOD_WORDS = frozenset({"ok", "success", "succeed", "succeeded", "successful", "accepted", "started", "成功"})
BAD_WORDS = frozenset({
    "error", "err", "fail", "failed", "failure", "denied", "invalid", "rejected", "unauthorized", "forbidden",
    "失败", "错误",
})
# fmt: on

# Compiled once, in the process that forks the workers.
COMPILED = {
    name: re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
    for name, patterns in PATTERNS.items()
}


def is_found(name: str, texts: str | Sequence[str]) -> bool:
    """Return whether one of the patterns ``name`` is found in a text."""
    return any(COMPILED[name].search(text) for text in ([texts] if isinstance(texts, str) else texts))


def split_words(text: str) -> str:
    """Return ``text`` with blanks between the words of its codes, such as ``PORT_IN_USE`` or ``AlreadyExists``."""
    return re.sub(r"[_-]|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
