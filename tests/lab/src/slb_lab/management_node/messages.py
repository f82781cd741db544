# ruff: noqa: RUF001 (Chinese has its own punctuation)
"""Every sentence that the management node says, in English and Chinese."""

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]


@dataclass(frozen=True)
class Message:
    """A sentence with named places for values."""

    en: str
    zh: str

    def say(self, language: Language, **values: object) -> str:
        return (self.zh if language == "zh" else self.en).format(**values)


WRONG_CREDENTIALS = Message("The username or the password is wrong.", "用户名或密码错误。")
SESSION_GONE = Message("Please log in again.", "请重新登录。")
LOGGED_IN = Message("Logged in.", "登录成功。")
BAD_REQUEST = Message("The request cannot be used: {detail}.", "请求无效：{detail}。")
UNKNOWN_CREDENTIAL = Message("No stored credential has the id {credential}.", "凭据 {credential} 不存在。")
STARTED = Message("The installation of the engine {name} has started.", "引擎 {name} 开始安装。")

ENGINE_EXISTS = Message("The engine {name} already exists.", "引擎 {name} 已存在。")
PORT_OCCUPIED = Message("The port {port} is occupied on {address}.", "{address} 的端口 {port} 已被占用。")

CONNECTING = Message("Connecting to the host", "正在连接主机")
CHECKING = Message("Checking the host for leftovers", "正在检查主机")
PREPARING = Message("Preparing the host", "正在准备主机")
STARTING = Message("Starting the engine", "正在启动引擎")
WAITING = Message("Waiting for the engine to answer", "正在等待引擎响应")

LOGIN_FAILED = Message("Cannot log in to {address} over SSH: {detail}.", "无法通过 SSH 登录 {address}：{detail}。")
NO_PROMPT = Message("No shell prompt was found on {address}: {detail}.", "在 {address} 上未找到命令提示符：{detail}。")
COMMAND_FAILED = Message("A command failed on {address}: {detail}.", "{address} 上的命令执行失败：{detail}。")
NO_ANSWER = Message(
    "The engine does not answer on port {port} of {address}.", "{address} 的端口 {port} 上的引擎没有响应。"
)
HALF_WAY = Message("The deployment script ended unexpectedly.", "部署脚本意外终止。")
INTERRUPTED = Message("The management node was restarted during the deployment.", "部署期间管理节点重新启动。")
INTERNAL = Message("An internal error ended the deployment.", "内部错误导致部署终止。")
