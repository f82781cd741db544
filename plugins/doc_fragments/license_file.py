# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules that write the license say of its file."""


class ModuleDocFragment:
    DOCUMENTATION = r"""
attributes:
  check_mode:
    support: full
    details: Downloads and compares, and writes nothing.
  diff_mode:
    support: full
    details: Shows checksum, size, owner, group and mode; never the license itself.
options:
  dest:
    description:
      - The path of the file. Its folder has to exist. A file name that the management node sends is never used.
      - A symbolic link is replaced by the file, as M(ansible.builtin.copy) does. What it points to is neither read nor
        changed, nor is it what O(backup) keeps.
      - The folder may be another user's. It may not be reached over a symbolic link that belongs to neither root nor
        the user that runs the task.
    type: path
    required: true
  owner:
    description:
      - The name or number of the user that shall own the file.
      - By default, a file that is there keeps its owner and its group, unless another user can have put it there. Then
        they are those of the user that runs the task.
    type: str
  group:
    description:
      - The name or number of the group that shall own the file. A file that is there keeps its group by default.
    type: str
  mode:
    description:
      - The permissions, as a quoted octal number such as V('0640') or as in V(u=rw,g=r).
    type: raw
    default: '0600'
  backup:
    description: Whether to keep a copy of the file that is replaced, with its process id and the time in its name.
    type: bool
    default: false
  max_size:
    description: How many bytes a license may have.
    type: int
    default: 10485760
"""
