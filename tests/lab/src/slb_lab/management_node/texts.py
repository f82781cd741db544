# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# ruff: noqa: RUF001 (Chinese has its own punctuation)
"""The words of the web console's pages."""

from slb_lab.management_node.messages import Language

_EN = {
    "title": "Management node",
    "login": "Log in",
    "logout": "Log out",
    "username": "Username",
    "password": "Password",
    "engines": "Forwarding engines",
    "engine": "Engine",
    "address": "Address",
    "state": "State",
    "deploying": "deploying",
    "failed": "failed",
    "running": "running",
    "no_engines": "No engines yet. Add the first one below.",
    "add": "Add an engine",
    "add_hint": "The management node logs in to the host over SSH and starts the engine there.",
    "name": "Name",
    "credential": "Stored credential",
    "change_hostname": "Change the host's name to the engine's name",
    "start": "Start the deployment",
    "asking": "Asking the host…",
    "interfaces": "Local IPs and routes",
    "interfaces_hint": "Only interfaces that NetworkManager on the host controls are offered.",
    "host": "Host",
    "interface": "Interface",
    "no_interface": "No interface can be selected on this host",
    "refresh": "Ask again",
    "unreachable": "The management node does not answer; the page shows what was last known.",
}
_ZH = {
    "title": "管理节点",
    "login": "登录",
    "logout": "退出",
    "username": "用户名",
    "password": "密码",
    "engines": "转发引擎",
    "engine": "引擎",
    "address": "地址",
    "state": "状态",
    "deploying": "部署中",
    "failed": "失败",
    "running": "运行中",
    "no_engines": "暂无引擎，请在下方添加。",
    "add": "添加引擎",
    "add_hint": "管理节点通过 SSH 登录主机并启动引擎。",
    "name": "名称",
    "credential": "凭据",
    "change_hostname": "将主机名改为引擎名称",
    "start": "开始部署",
    "asking": "正在查询主机…",
    "interfaces": "本地 IP 与路由",
    "interfaces_hint": "仅提供由主机 NetworkManager 管理的网卡。",
    "host": "主机",
    "interface": "网卡",
    "no_interface": "该主机没有可选网卡",
    "refresh": "重新查询",
    "unreachable": "管理节点无响应，页面显示的是最后一次的状态。",
}
TEXTS: dict[Language, dict[str, str]] = {"en": _EN, "zh": _ZH}
