"""Words of ssh, sudo, shells and Ansible, as hosts have printed them, and the cause that they show."""

import time

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._causes import CAUSES, find_cause

PROMPT = "Timeout (12s) waiting for privilege escalation prompt: "
SEEN = [
    ("Missing sudo password", "permission_denied", "--ask-become-pass"),
    ("Incorrect sudo password", "permission_denied", "--ask-become-pass"),
    ("sudo: a password is required", "permission_denied", "--ask-become-pass"),
    (PROMPT, "host_not_checked", "ansible_timeout"),
    (f"{PROMPT}[sudo: authenticate] Password: ", "permission_denied", "--ask-become-pass"),
    ("sudo: sorry, you must have a tty to run sudo", "permission_denied", "requiretty"),
    ("ops is not in the sudoers file.  This incident will be reported.", "permission_denied", "sudoers.d"),
    ("Sorry, user ops is not allowed to execute '/bin/sh' as root on edge-7.", "permission_denied", "sudoers.d"),
    ("su: Authentication failure", "permission_denied", "--ask-become-pass"),
    ("WARNING: Your password has expired.\nPassword change required", "permission_denied", "passwd"),
    ("Your account has expired; please contact your system administrator.", "permission_denied", "chage"),
    ("sudo: account validation failure, is your account locked?\nsudo: a password is", "permission_denied", "chage"),
    (f"{PROMPT}\nsudo: Account or password is expired, reset your password", "permission_denied", "passwd"),
    (f"{PROMPT}Changing password for ops.", "permission_denied", "passwd"),
    ("sudo: Password expired, contact your system administrator", "permission_denied", "passwd"),
    ("OSError: [Errno 28] No space left on device", "host_not_checked", "df"),
    ("Failed to create temporary directory: No space left on device", "host_not_checked", "df"),
    ("Failed to create temporary directory. Permission denied", "host_not_checked", "set a new password"),
    ("/bin/sh: 1: /usr/bin/python3: not found", "host_not_checked", "ansible_python_interpreter"),
    ("bash: line 1: /usr/bin/python3.13: No such file or directory", "host_not_checked", "ansible_python_interpreter"),
    ("ansible-core requires a minimum of Python version 3.9. Current version: 3.6.8", "host_not_checked", "Python"),
    ("Host key verification failed.", "host_unreachable", "known_hosts"),
    ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @", "host_unreachable", "ssh-keygen -R HOST"),
    ("channel 0: open failed: connect failed: No route to host\nstdio forwarding failed", "host_unreachable", "jump"),
    ("ops@192.0.2.7: Permission denied (publickey,password).", "host_unreachable", "ansible_user"),
    ("Invalid/incorrect password: Permission denied, please try again.", "host_unreachable", "ansible_user"),
    ("ssh: connect to host 192.0.2.7 port 22: Connection refused", "host_unreachable", "sshd"),
    ("ssh: connect to host edge-7 port 2222: No route to host", "host_unreachable", "firewall"),
    ("ssh: connect to host 192.0.2.7 port 22: Connection timed out", "host_unreachable", "firewall"),
    ("ssh: Could not resolve hostname edge-7: Name or service not known", "host_unreachable", "ansible_host"),
]


@pytest.mark.parametrize(("words", "code", "fix"), SEEN)
def test_cause_of_words(words, code, fix):
    cause = find_cause(words)
    assert cause is not None
    assert (cause.code, fix in cause.fix) == (code, True), cause
    assert cause.is_connection == (code == "host_unreachable")


def test_all_causes_were_seen():
    assert {find_cause(words) for words, _code, _fix in SEEN} == set(CAUSES)


@pytest.mark.parametrize("words", ["", "Traceback", "Segmentation fault", "Killed", "a password of x", "is required"])
def test_unknown_words_have_no_cause(words):
    assert find_cause(words) is None


@pytest.mark.parametrize("words", ["/a" * 50_000, "sudo: " * 50_000, "python3" * 50_000, " " * 500_000, "(a," * 50_000])
def test_long_text_takes_linear_time(words):
    begin = time.monotonic()
    find_cause(words)
    assert time.monotonic() - begin < 1
