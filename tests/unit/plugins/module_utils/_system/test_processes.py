"""Processes and sockets, as /proc shows them."""

from ansible_collections.slb.fleet.plugins.module_utils._system import processes


def test_listening_inodes_are_those_of_the_path(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    (tmp_path / "var").symlink_to(tmp_path / "run")
    head = "Num       RefCount Protocol Flags    Type St Inode Path\n"
    line = "0000000000000000: 00000002 00000000 {} 0001 01 {} {}\n"
    rows = [("00010000", 7, "run"), ("00010000", 8, "var"), ("00000000", 9, "run"), ("00010000", 10, "other")]
    table = tmp_path / "unix"
    table.write_text(head + "".join(line.format(flags, inode, tmp_path / d / "x.sock") for flags, inode, d in rows))
    monkeypatch.setattr(processes, "UNIX_SOCKETS", str(table))
    assert processes.listening_inodes(str(tmp_path / "var" / "x.sock")) == {7, 8}
