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
        r"(missing|incorrect) (become|doas|dzdo|ksu|pbrun|pfexec|su|sudo) password|"
        r"sudo: a (password|terminal) is required",
        "becoming root needs a password, or another one",
        "Allow sudo without password (Operations, Permissions), or add --ask-become-pass.",
    ),
    Cause(
        "permission_denied",
        r"waiting for privilege escalation prompt: .*(password|authenticat)[^:]*:",
        "sudo asks with a prompt that Ansible does not recognize, as sudo-rs does",
        "Allow sudo without password (Operations, Permissions), or set ansible_become_exe to another sudo of the host.",
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
        r"must have a tty to run sudo",
        "sudo requires a terminal (requiretty)",
        "Remove requiretty for this user in /etc/sudoers, or set pipelining = false.",
    ),
    Cause(
        "permission_denied",
        r"not in the sudoers file|is not allowed to (execute|run)|may not run sudo",
        "sudo does not allow the login user to become root",
        "Add the login user to /etc/sudoers.d (Operations, Permissions).",
    ),
    Cause(
        "permission_denied",
        r"su: authentication failure",
        "su rejected the password",
        "Correct the password of --ask-become-pass, or use ansible_become_method: sudo.",
    ),
    Cause(
        "host_not_checked",
        r"no space left on device|disk quota exceeded",
        "no free space for the files of the module",
        "Free space on the host (`df -h`, `df -i`), then run again.",
    ),
    Cause(
        "host_not_checked",
        r"requires a minimum of python|no python interpreters found|"
        r"python[\d.]*'?: (not found|no such file or directory|command not found)",
        "Python is missing or too old",
        "Install Python 3.6 or later on the host, or set ansible_python_interpreter to its path.",
    ),
    Cause(
        "host_not_checked",
        r"account is currently not available|/(ba|da|z|k|c|tc|fi)?sh: (not found|no such file|command not found)",
        "the shell does not exist or allows no login",
        "Correct the login shell of the user on the host, or ansible_shell_executable.",
    ),
    Cause(
        "host_not_checked",
        r"failed to create temporary directory",
        "Ansible cannot make its temporary folder",
        # Without pipelining, Ansible does not show the words of the host.
        "Log in with ssh as this user. If the password has expired, set a new one; else make the home of the user "
        "writable, or set ansible_remote_tmp.",
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
        r"stdio forwarding failed|unknown port 65535|open failed: (connect failed|administratively prohibited)",
        "the jump host did not connect to the host",
        "Check the jump host (ProxyJump or ProxyCommand in ansible_ssh_common_args) and its way to the host.",
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
        r"connect to host \S+ port \d+: connection refused",
        "nothing accepts SSH on the port",
        "Start sshd on the host, or correct ansible_host and ansible_port.",
        is_connection=True,
    ),
    Cause(
        "host_unreachable",
        r"connect to host \S+ port \d+: (no route to host|network is unreachable|(connection|operation) timed out)",
        "no way to the host",
        "Check that the host is up, and the network and firewall to its SSH port. Or correct ansible_host.",
        is_connection=True,
    ),
    Cause(
        "host_unreachable",
        r"could not resolve hostname|name or service not known",
        "name of the host unknown",
        "Correct ansible_host.",
        is_connection=True,
    ),
)


def find_cause(text: str) -> Cause | None:
    """Return the cause that the words of Ansible or the host show; None for other words."""
    # A bounded text: a host can print megabytes.
    shown = " ".join(text[-8192:].split()).lower()
    return next((cause for cause in CAUSES if re.search(cause.words, shown)), None)
