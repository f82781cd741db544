"""Whether the machine has room for more engine hosts."""

from pathlib import Path

from slb_lab.errors import LabError

_LIMIT = Path("/proc/sys/fs/inotify/max_user_instances")
_EACH = 10
_OTHERS = 8


def require(hosts: int) -> None:
    """Raise LabError unless HOSTS (of all labs together) can run at once.

    systemd cannot start without inotify instances, says nothing of it, and the kernel allows few by default.
    """
    limit, needed = int(_LIMIT.read_text(encoding="ascii")), _EACH * hosts + _OTHERS
    if needed > limit:
        raise LabError(
            f"{hosts} engine hosts need about {needed} inotify instances, and this machine's kernel allows {limit}. "
            f"Remove labs ('slb-lab down --all'), or as root run: sysctl -w fs.inotify.max_user_instances={2 * needed}"
        )
