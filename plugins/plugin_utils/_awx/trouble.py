# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX and its modules say, in words with which somebody can go on."""

from __future__ import annotations

BROKEN_OFF = "its module has broken off"

_MEANINGS = (
    (
        BROKEN_OFF,
        "AWX has answered what its module does not understand: look at AWX, and at what is between here and there, "
        "and run again.",
    ),
    # Before what is said of a login, which fails for these reasons, too.
    (
        "timed out",
        "AWX has not answered in time: look at it, and run again; CONTROLLER_REQUEST_TIMEOUT gives it more than 10 "
        "seconds.",
    ),
    # Of the library that opens addresses.
    ("open error", "Look at CONTROLLER_HOST, and at what is between here and there."),
    (
        "Playbook not found for project",
        "The project that AWX has synced holds no such file. Push what slb.fleet.awx_files writes to its repository, "
        "sync the project in AWX (Projects, Sync), and run again.",
    ),
    (
        "Failed to update survey",
        "AWX has refused the questions, and the template is there without them: nobody should launch it. "
        "Say so to who keeps this collection; take it away with slb_awx_state=absent.",
    ),
    (
        "something else than a list",
        "Look at CONTROLLER_HOST, and at what is between here and there: that is not how AWX answers.",
    ),
    ("already exists", "Somebody else has made it meanwhile, or another run of this: run again."),
    ("HTTP 401", "Look at CONTROLLER_USERNAME and CONTROLLER_PASSWORD, or CONTROLLER_OAUTH_TOKEN."),
    ("Failed to get token: HTTP Error 5", "AWX itself has failed: look at its own log, and run again."),
    ("Failed to get token", "Look at CONTROLLER_USERNAME and CONTROLLER_PASSWORD, or CONTROLLER_OAUTH_TOKEN."),
    ("HTTP 403", "The user needs the rights of an administrator of the organization; of AWX, for a credential type."),
    ("Could not establish a secure connection", "Set CONTROLLER_VERIFY_SSL=false only if you know why."),
    ("There was a network error", "Look at CONTROLLER_HOST."),
    (
        "unknown error when trying to connect",
        "The connection was cut: look at AWX, and at what is between here and there, and run again.",
    ),
    ("sent back a server error", "AWX itself has failed: look at its own log, and run again."),
    ("being used by running jobs", "Run again when its jobs have ended."),
    (
        "Monitoring of Project",
        "The sync of the project has not ended in time: look at it in AWX, and run again.",
    ),
    (
        "Project update failed",
        "The project could not be synced: look at the output of its last update in AWX, at slb_awx_project_url, "
        "slb_awx_project_branch and slb_awx_project_credential.",
    ),
    ("The Project Update", "The sync of the project has failed: look at its output in AWX."),
    ("returned 0 items, expected 1", "What is named there has to be in AWX: look at the name."),
    (
        "is in use",
        "Something that is not ours uses it: take that away first, or keep both.",
    ),
)


def meaning(said: str) -> str:
    """What to do where ``said`` was said."""
    return next((what for words, what in _MEANINGS if words in said), "Correct that, and run again.")


def in_words(kind: str, name: str, said: str) -> str:
    """The message for an operator about one object, of what its module has said."""
    what = f"{kind.replace('_', ' ')} {name}".strip()
    return f"AWX did not take the {what}: {said.rstrip('. ')}. {meaning(said)}"
