"""What distinguishes one engine host from another: files that are put into its container before it first boots."""

import io
import tarfile
from collections.abc import Iterable

from slb_lab.hosts.file import File
from slb_lab.hosts.network import network_files
from slb_lab.topology import HostSpec


def files(host: HostSpec, *, engine_image: str, engine_port: int, authorized_key: str, host_key: str) -> list[File]:
    """All files of a HOST as the topology describes it."""
    chosen = [
        *network_files(host),
        File("root/.ssh/authorized_keys", authorized_key, 0o600),
        File("etc/ssh/ssh_host_ed25519_key", host_key, 0o600),
        File("etc/slb-lab/engine", f"RUNTIME={host.runtime}\nIMAGE={engine_image}\nPORT={engine_port}\n"),
    ]
    if host.leftover != "none":
        chosen.append(File("etc/slb-lab/leftover", ""))
    if host.motd_lines:
        chosen.append(File("etc/motd", noisy_motd(host.motd_lines)))
    return chosen


def noisy_motd(lines: int) -> str:
    """A login banner as hardened images print it."""
    rule = "*" * 100
    head = [rule, "WARNING: this system is for authorised use only. Activity is monitored and recorded.", rule]
    clauses = (
        f"{number}. Section {number // 10 + 1}.{number % 10}: by going on you accept that keystrokes, files and "
        "connections may be inspected, kept and handed to the authorities at any time."
        for number in range(1, lines + 1)
    )
    return "\n".join([*head, *clauses][:lines]) + "\n"


def archive(chosen: Iterable[File]) -> bytes:
    """A tar of the files, for ``docker cp``."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        private = tarfile.TarInfo("root/.ssh")
        private.type, private.mode = tarfile.DIRTYPE, 0o700
        tar.addfile(private)
        for file in chosen:
            content = file.content.encode()
            entry = tarfile.TarInfo(file.path)
            entry.mode, entry.size = file.mode, len(content)
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()
