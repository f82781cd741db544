"""What distinguishes one engine host from another: files that are put into its container before it first boots."""

import io
import tarfile
from collections.abc import Mapping

from slb_lab.hosts.network import network_files
from slb_lab.topology import HostSpec


def files(host: HostSpec, authorized_key: str, host_key: str) -> dict[str, str]:
    """All files of a HOST as the topology describes it, by path."""
    return {
        **network_files(host),
        "root/.ssh/authorized_keys": authorized_key,
        "etc/ssh/ssh_host_ed25519_key": host_key,
        "etc/slb-lab/engine": f"RUNTIME={host.runtime}\nIMAGE=slb:1\nPORT=8000\n",
        **({"etc/slb-lab/leftover": ""} if host.leftover == "running" else {}),
        **({"etc/motd": noisy_motd(host.motd_lines)} if host.motd_lines else {}),
    }


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


def archive(chosen: Mapping[str, str]) -> bytes:
    """A tar of the files, for ``docker cp``; those of SSH are of root alone."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        private = tarfile.TarInfo("root/.ssh")
        private.type, private.mode = tarfile.DIRTYPE, 0o700
        tar.addfile(private)
        for path, text in chosen.items():
            content, entry = text.encode(), tarfile.TarInfo(path)
            entry.mode, entry.size = 0o600 if "ssh" in path else 0o644, len(content)
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()
