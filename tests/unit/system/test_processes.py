"""A process is not confused with a later one of the same number."""

import os
import subprocess
import sys

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._system import clock, processes


def test_what_the_kernel_tells_of_this_one():
    process = processes.look(os.getpid())
    assert process is not None
    assert (process.pid, process.parent) == (os.getpid(), os.getppid())
    assert 0 < process.began <= clock.uptime()


@pytest.mark.parametrize("name", ["a b", "a) R 1 (b", "(("])
def test_the_name_of_a_program_may_hold_anything(tmp_path, name):
    program = tmp_path / name
    program.symlink_to("/bin/cat")
    with subprocess.Popen([program], stdin=subprocess.PIPE) as process:
        seen = processes.look(process.pid)
        assert seen is not None
        assert seen.parent == os.getpid()


def test_there_is_none():
    assert processes.look(None) is None
    assert processes.identity(2**22 + 1) is None
    assert not processes.is_alive(None)


def test_a_process_that_has_ended_is_not_alive():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = processes.identity(process.pid)
    assert processes.is_alive(identity)
    process.communicate(b"\n")
    assert not processes.is_alive(identity)


def test_nor_is_one_that_nobody_has_asked_for_its_end():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        seen = processes.look(process.pid)
        assert seen is not None
        assert seen.state == "Z"
        assert processes.identity(process.pid) is None
