# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each adopted interface was before, kept on the host so that it can be given back."""

import contextlib
import json
import os
from typing import Any, Dict, List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import (
    identity,
    kernel_state,
    resolver,
    snapshot,
    transaction,
)
from ansible_collections.slb.fleet.plugins.module_utils._system import folders
from ansible_collections.slb.fleet.plugins.module_utils._system.files import file_errors, write_ours

FOLDER = "/var/lib/slb-fleet/interfaces"


def of(name: str) -> Optional[Dict[str, Any]]:
    """``before`` (a snapshot), ``after`` (what the kernel had when it was confirmed), ``uuid``, ``made``,
    ``resolver_after`` and ``returns_at_boot``. Earlier versions noted no ``after``.

    None where it was never adopted. Raises HostError where it cannot be read, or others could have written it.
    """
    with file_errors(path(name)):
        # Root gives the interface what is noted there.
        folders.refuse_untrusted(FOLDER)
    try:
        with open(path(name), encoding="utf-8") as stream:
            return dict(json.load(stream))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise HostError(
            f"What {name} was before its adoption cannot be read: {error}.",
            f"Look at {path(name)} on the engine host. Without that file {name} counts as not adopted, and others can"
            " be given back.",
        ) from error


def names() -> List[str]:
    """The names under which interfaces have been adopted."""
    suffix = ".json"
    entries = sorted(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else []
    return [entry[: -len(suffix)] for entry in entries if entry.endswith(suffix)]


def passing() -> List[str]:
    """The interfaces that were adopted only until the next boot."""
    return [name for name in names() if not (of(name) or {}).get("returns_at_boot", True)]


def remember(step: Dict[str, Any], after: Optional[kernel_state.State]) -> None:
    """Notes the snapshot of the change under way. An interface that is adopted again keeps its oldest note.

    ``after``: what it has now.
    """
    name = step["name"]
    before = snapshot.part(transaction.read("snapshot.json"), name, [step["uuid"]], step["files"])
    former = of(name)
    now = snapshot.identity_of(name, before)
    if (
        former is not None
        and former["uuid"] == step["uuid"]
        and identity.is_same(snapshot.identity_of(name, former["before"]), now)
    ):
        former["before"]["files"] = dict(before["files"], **former["before"]["files"])
        note = former
    else:
        note = {"before": before, "uuid": step["uuid"], "made": step["made"], "resolver_after": resolver.read()}
    note = dict(note, after=after, returns_at_boot=step["returns_at_boot"])
    write_ours(path(name), json.dumps(note), 0o600, 0o700)


def forget(name: str) -> None:
    with file_errors(path(name)), contextlib.suppress(FileNotFoundError):
        os.unlink(path(name))


def path(name: str) -> str:
    """The file of an interface's note."""
    return os.path.join(FOLDER, name + ".json")
