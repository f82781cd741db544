# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words by which answers are understood, language by language. Another language is another entry.

The interface document shows none: these are what such consoles use to say.
"""

from __future__ import annotations

import re
from typing import NamedTuple

Patterns = tuple[str, ...]


class Language(NamedTuple):
    """Regular expressions, in which case does not matter; ``good_words`` and ``bad_words`` are whole words.

    ``failure`` and ``success``: how a request went. ``log_in_first``: the session is gone. ``login_page_title``: of a
    page that asks for credentials. ``about_credentials``: what an error is about; ``bad_credentials``: that they are
    refused. ``exists`` and ``port_in_use``: why an install was not begun, which users may override.
    """

    good_words: frozenset[str]
    bad_words: frozenset[str]
    failure: Patterns
    success: Patterns
    log_in_first: Patterns
    login_page_title: Patterns
    about_credentials: Patterns
    bad_credentials: Patterns
    exists: Patterns
    port_in_use: Patterns


# fmt: off
ENGLISH = Language(
    good_words=frozenset({"ok", "success", "succeed", "succeeded", "successful", "accepted", "started"}),
    bad_words=frozenset({
        "error", "err", "fail", "failed", "failure", "denied", "invalid", "rejected", "unauthorized", "forbidden",
    }),
    failure=(
        r"\b(?:error|fail(?:ed|ure|s)?|invalid|denied|refused|rejected|forbidden|not\s+(?:allowed|permitted|found|valid)"
        r"|does\s+not\s+exist|unable|cannot|can't|could\s+not|exception|traceback)\b",
    ),
    success=(
        r"\b(?:ok|success(?:ful(?:ly)?)?|succeeded|accepted|started|starting|queued|created|submitted|in\s+progress)\b",
    ),
    log_in_first=(
        r"not\s+logged\s+in",
        r"log\s?-?in\s+(?:is\s+)?(?:required|again|first|expired)",
        r"(?:please|must|need\s+to)\s+(?:log|sign)\s?-?in\b(?!\s+(?:in)?to\s+(?:\w+\s+){0,2}(?:host|server|machine)\b)",
        r"session\s+(?:is\s+|has\s+)?(?:expired|invalid|timed?\s?-?out|not\s+found)",
        r"(?:expired|invalid)\s+session",
        r"authentication\s+(?:is\s+)?required",
        r"authentication\s+credentials\s+were\s+not",
        r"not\s+authenticated",
    ),
    login_page_title=(r"\b(?:log|sign)[\s-]?in\b",),
    about_credentials=(r"password|credential|user\s?name|account|locked|too\s+many\s+(?:failed|login)",),
    bad_credentials=(
        r"(?:wrong|incorrect|invalid|bad)\s+(?:user\s?name|password|credential|login|account)",
        r"(?:user\s?name|password|credentials?)\s+(?:(?:is|are|was|were)\s+)?"
        r"(?:wrong|incorrect|invalid|not\s+(?:correct|valid))",
        r"account\s+(?:\w+\s+){0,2}(?:locked|disabled|suspended)",
        r"too\s+many\s+(?:failed\s+)?(?:log\s?-?in|sign\s?-?in|password)",
        r"(?:log\s?-?in|authentication)\s+failed",
    ),
    exists=(
        r"already\s+(been\s+)?(exist|added|installed|registered|deployed)",
        r"exists\s+already",
        r"duplicate[ds]?\b",
    ),
    port_in_use=(
        r"\bports?\b[^\n;]{0,80}?(?<!not )\b(in\s+use|occupied|taken|busy|being\s+used|already\s+used|unavailable)\b",
        r"\b(in\s+use|occupied|taken)\b[^\n;]{0,20}\bport\b",
        r"address\s+already\s+in\s+use",
    ),
)

CHINESE = Language(
    good_words=frozenset({"成功"}),
    bad_words=frozenset({"失败", "错误"}),
    failure=(r"失败|错误|无效|非法|拒绝|不能|无法|不存在|异常|不合法|不正确|失敗|錯誤",),
    success=(r"成功|已开始|开始(?:安装|部署)|已提交|正在(?:安装|部署)|已受理",),
    log_in_first=(
        r"未登录|未登陆|没有登录",
        r"请(?:您)?(?:先|重新)?(?:登录|登陆)(?!到?(?:该|目标|此|引擎)?(?:主机|服务器|机器))",
        r"登[录陆](?:状态)?(?:已经?)?(?:过期|失效|超时)",
        r"会话(?:已经?)?(?:过期|失效|超时|无效)",
        r"身份(?:认证|验证)(?:信息)?(?:已经?)?(?:过期|失效|未提供)",
        r"未登入|請(?:先|重新)?登入",
    ),
    login_page_title=(r"登录|登陆|登入",),
    about_credentials=(r"密码|用户|账号|帐号|账户|锁定|口令",),
    bad_credentials=(
        r"(?:密码|口令|用户名?|账号|帐号|账户)(?:错误|有误|不正确|不存在|(?:已经?)?(?:被)?锁定)",
        r"(?:已经?|被)锁定",
    ),
    exists=(
        r"已经?(存在|被?添加|被?安装|被?部署)",
        r"重复(添加|安装|部署)|(名称|引擎|地址|IP)重复",
    ),
    port_in_use=(
        r"端口[^\n;。]{0,60}?(?<!未)(?<!未被)(?<!没有)(?<!没有被)(占用|被使用|正在使用|冲突)",
        r"(?<!未)(?<!没有)占用[^\n;。]{0,10}端口",
    ),
)
# fmt: on

LANGUAGES = (ENGLISH, CHINESE)


def patterns(of: str) -> list[str]:
    """Those of all languages, such as ``patterns("exists")``."""
    return [pattern for language in LANGUAGES for pattern in getattr(language, of)]


def words(of: str) -> frozenset[str]:
    """Those of all languages, such as ``words("good_words")``."""
    return frozenset(patterns(of))


def any_of(of: str) -> re.Pattern[str]:
    """One expression that finds what any of the patterns finds."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns(of)), re.IGNORECASE)
