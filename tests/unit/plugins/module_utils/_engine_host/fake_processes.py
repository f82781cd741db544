"""Processes and listening sockets of a host, as /proc shows them."""

from dataclasses import dataclass, field

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._system import processes


@dataclass
class FakeProcess:
    """``inside``: in a PID namespace of its own. ``is_of_root``: whether its program is a file of root."""

    comm: str
    cmdline: str = ""
    parent: int = 1
    user: int = 0
    ticks: int = 1
    sockets: tuple[int, ...] = ()
    cgroup: str = ""
    inside: bool = False
    is_of_root: bool = True

    def read(self, name: str) -> str:
        status = f"NSpid:\t7{' 1' if self.inside else ''}\nUid:\t{self.user}\t{self.user}\n"
        texts = {"comm": f"{self.comm[:15]}\n", "cmdline": self.cmdline.replace(" ", "\0") + "\0", "status": status}
        return {**texts, "cgroup": self.cgroup}.get(name, "")


@dataclass
class FakeProcesses:
    """``listening``: inodes of the sockets that listen, by path."""

    running: dict[int, FakeProcess] = field(default_factory=dict)
    listening: dict[str, set[int]] = field(default_factory=dict)

    def connect(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Replace what reads /proc."""

        def look(pid: int) -> processes.Process | None:
            found = self.running.get(pid)
            return processes.Process(pid, "S", found.parent, found.ticks) if found else None

        monkeypatch.setattr(processes, "pids", lambda: sorted(self.running))
        monkeypatch.setattr(processes, "find", look)
        monkeypatch.setattr(
            processes, "read", lambda pid, name: self.running[pid].read(name) if pid in self.running else ""
        )
        monkeypatch.setattr(processes, "is_program_of_root", lambda pid: self.running[pid].is_of_root)
        monkeypatch.setattr(processes, "socket_files", lambda pid: dict.fromkeys(self.running[pid].sockets, ""))
        monkeypatch.setattr(processes, "listening_inodes", lambda path: self.listening.get(path, set()))
