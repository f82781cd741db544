# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why Ansible could not run a module on a host, by the words of ssh, sudo and the shell. Unknown words get no guess."""

from __future__ import annotations

import re
from typing import NamedTuple


class Cause(NamedTuple):
    """``is_connection``: the host was not reached, so that Ansible calls it unreachable."""

    code: str
    words: str
    summary: str
    fix: str
    is_connection: bool = False


CAUSES: tuple[Cause, ...] = (
    # First, because sudo then asks for a password, too.
    Cause(
        "permission_denied",
        r"(password|account) (has |is |or password is )?expired|password change required|"
        r"required to change your password|changing password for|account validation failure",
        "the account or the password of the user has expired",
        "Set a new password on the host (`passwd`), or extend the account (`chage`), then run again.",
    ),
    Cause(
        "permission_denied",
        r"(missing|incorrect) (become|doas|dzdo|ksu|pbrun|pfexec|su|sudo) password|su: authentication failure|"
        r"sudo: a (password|terminal) is required|waiting for privilege escalation prompt: .*password[^:]*:",
        "becoming root needs a password, or another one",
        "Allow sudo without password (Operations, Permissions), or add --ask-become-pass.",
    ),
    Cause(
        "host_not_checked",
        r"waiting for privilege escalation prompt",
        "login and becoming root took longer than Ansible waits",
        "Run `sudo -n true` on the host as this user. If it is slow, raise ansible_timeout (10 s); if it asks for a "
        "password, add --ask-become-pass.",
    ),
    Cause(
        "permission_denied",
        r"not in the sudoers file|is not allowed to (execute|run)|may not run sudo|must have a tty to run sudo",
        "sudo does not allow the login user to become root",
        "Allow it in /etc/sudoers.d, without requiretty (Operations, Permissions).",
    ),
    Cause(
        "host_not_checked",
        r"no space left on device|disk quota exceeded|failed to create temporary directory",
        "Ansible cannot write its temporary files",
        # Without pipelining, Ansible does not show the words of the host.
        "Log in with ssh as this user. Free space (`df -h`, `df -i`), set a new password if it has expired, make the "
        "home of the user writable, or set ansible_remote_tmp.",
    ),
    Cause(
        "host_not_checked",
        r"requires a minimum of python|no python interpreters found|"
        r"python[\d.]*'?: (not found|no such file or directory|command not found)",
        "Python is missing or too old",
        "Install Python 3.6 or later on the host, or set ansible_python_interpreter to its path.",
    ),
    Cause(
        "host_unreachable",
        r"remote host identification has changed|host key verification failed",
        "host key unknown or changed",
        "Compare the key that `ssh-keyscan HOST` shows with the one on the host. If they are equal, run "
        "`ssh-keygen -R HOST` and `ssh-keyscan HOST >> ~/.ssh/known_hosts`, with the address that Ansible uses.",
        is_connection=True,
    ),
    Cause(
        "host_unreachable",
        r"permission denied \([\w,/-]+\)|too many authentication failures|invalid/incorrect password",
        "SSH login rejected",
        "Correct ansible_user and its key or password. If they are right, check `chage -l USER` on the host.",
        is_connection=True,
    ),
    Cause(
        "host_unreachable",
        r"connect to host \S+ port \d+:|stdio forwarding failed|could not resolve hostname|name or service not known",
        "no way to its SSH port",
        "Check that the host and its sshd are up, the firewall, the jump host if there is one, ansible_host and "
        "ansible_port.",
        is_connection=True,
    ),
)


def find_cause(text: str) -> Cause | None:
    """Return the cause that the words of Ansible or the host show; None for other words."""
    # A bounded text: a host can print megabytes.
    shown = " ".join(text[-8192:].split()).lower()
    return next((cause for cause in CAUSES if re.search(cause.words, shown)), None)
