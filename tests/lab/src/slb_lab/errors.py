# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one error of the lab's programs."""


class LabError(Exception):
    """What happened and what to do next, in one or two sentences. Caught by the command line alone."""
