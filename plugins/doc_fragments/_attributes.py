# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The author, and what modules support: a module documents only what differs."""


class ModuleDocFragment:
    DOCUMENTATION = r"""
author: slb.fleet contributors (@slb-fleet)
options: {}
notes:
  - A task that fails returns C(code), a stable word, and C(fix), what to set or run.
attributes:
  check_mode:
    description: Can run in check mode and tells what would change, without changing it.
    support: full
  diff_mode:
    description: Returns what changed, or in check mode what would change, when run with C(--diff).
    support: full
  action:
    description: Has an action plugin, so a part of the task runs on the controller.
    support: full
  async:
    description: Can be run in the background with the keyword C(async).
    support: none
  platform:
    description: The systems on which the task can run.
    platforms: posix
    support: full
"""

    ENGINE_HOST = r"""
options: {}
attributes:
  where:
    description:
      - Runs on the engine host, with Python 3.6 or later and its standard library.
      - Needs root there. Set C(become) if the connection uses another user.
    support: full
"""

    CONTROLLER = r"""
options: {}
attributes:
  where:
    description:
      - Runs in the controller's own process, without C(delegate_to) and without C(become).
      - If the task is delegated to another host than the controller, it runs there as a module
        and needs Python 3.10 or later and the Python package C(requests) on that host.
    support: full
"""

    CONTAINER = r"""
options:
  allow_established:
    description:
      - Whether to stop a container that has connections, or whose connections cannot be seen.
      - Such an engine may serve traffic. Use this option for one host at a time.
    type: bool
    default: false
  remove:
    description:
      - Whether to delete the container that is set aside, instead of renaming it. B(Warning:) deleted containers cannot
        be restored.
      - Required to stop a container that deletes itself (C(--rm)).
    type: bool
    default: false
  ignored_starters:
    description:
      - Files on the host, by their full paths, that mention a start of the container C(slb) and are harmless.
    type: list
    elements: path
    default: []
  stop_timeout:
    description: Number of seconds (1 or more) for the container to stop, before the runtime kills its processes.
    type: int
    default: 10
  lock_timeout:
    description: Number of seconds to wait for another run on the same host.
    type: int
    default: 10
  time_limit:
    description: Number of seconds to set a container aside. If the time is over, it is restored. Unset for no limit.
    type: float
  name:
    description: Name of the engine, for the record.
    type: str
  manage_ip:
    description: Address of the engine host as the management node reaches it, for the record.
    type: str
  base_url:
    description: Address of the management node, for the record.
    type: str
"""
