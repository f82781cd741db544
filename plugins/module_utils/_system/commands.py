# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run commands on the engine host: with a time limit, in the C locale, without a shell."""

import os
import shutil
import signal
import subprocess
from typing import Dict, List, NamedTuple, Optional

_SEARCH_PATH = os.pathsep.join(
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin", "/snap/bin"]
)

_OF_RUNTIMES = ("DOCKER_", "CONTAINER", "PODMAN_", "XDG_CONFIG_HOME")


class Completed(NamedTuple):
    """A command that ended, or was killed at its time limit (``is_killed``)."""

    rc: int
    stdout: str
    stderr: str
    is_killed: bool = False

    @property
    def words(self) -> str:
        """Return the standard error of the command, or its output, shortened for a message."""
        return (self.stderr.strip() or self.stdout.strip() or "it printed nothing")[:500].rstrip(".?! ")


def find(name: str) -> Optional[str]:
    """Return the path of the program ``name``, also with a short PATH such as sudo's; None if missing."""
    return shutil.which(name, path=_path())


def attempt(argv: List[str], timeout: float) -> Completed:
    """Run ``argv``. Kill the command and its children after ``timeout`` seconds.

    Raises OSError if the command cannot be started.
    """
    # Ansible's run_command has no time limit, and the rollback timer has no module.
    process = subprocess.Popen(  # pylint: disable=ansible-bad-function
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
        start_new_session=True,
    )
    is_killed = False
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        is_killed = True
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
    return Completed(process.returncode, stdout.decode(errors="replace"), stderr.decode(errors="replace"), is_killed)


def _environment() -> Dict[str, str]:
    """Return the environment without variables that lead Docker or Podman to another machine."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(_OF_RUNTIMES)}
    return dict(variables, PATH=_path(), LC_ALL="C", LANGUAGE="C")


def _path() -> str:
    return os.pathsep.join(filter(None, [os.environ.get("PATH"), _SEARCH_PATH]))
