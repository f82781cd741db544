# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives adopted interfaces back to what they were before, guarded in the same way."""

from typing import Any, Dict, List, NamedTuple, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._network import (
    change,
    differences,
    history,
    identity,
    interfaces,
    kernel_state,
    nmcli,
    resolver,
    selection,
    snapshot,
)
from ansible_collections.slb.fleet.plugins.module_utils._network.adoption import Wish
from ansible_collections.slb.fleet.plugins.module_utils._network.kernel import cidr
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

_SECONDS_EACH = 60


def absent(wish: Wish, check_mode: bool) -> Result:
    """Only what this collection adopted is given back; the result is like that of an adoption."""
    nmcli.require()
    if not check_mode:
        change.finish_abandoned()
    since = change.earlier()
    seen = interfaces.look()
    chosen = _chosen(seen.interfaces, wish.interfaces)
    notes, skipped = chosen.notes, chosen.skipped
    diff = {
        "before": dict.fromkeys(notes, "under NetworkManager's control"),
        "after": {name: _former(name, note) for name, note in notes.items()},
    }
    remarks = [*selection.on_missing(seen.interfaces, wish.interfaces), *chosen.remarks]
    lost = _changed_since(notes)
    remarks += [f"{name}: what was changed since its adoption goes: {'; '.join(lost[name])}." for name in sorted(lost)]
    given_back = [
        dict(_former(name, note), name=name, not_kept=lost.get(name, [])) for name, note in sorted(notes.items())
    ]
    if check_mode or not notes:
        return Result(bool(notes), _values(given_back, skipped, [], remarks), diff)
    files = [path for note in notes.values() for path in note["before"]["files"]]
    uuids = [note["uuid"] for note in notes.values()]
    bound = _SECONDS_EACH * len(notes)
    with change.guarded(wish.token, sorted(notes), uuids, files, bound, since) as present:
        remarks += _put_back(notes, present)
        result = Result(True, _values(given_back, skipped, sorted(notes), remarks), diff)
        steps = [{"name": name, "returned": True} for name in notes]
        change.applied(wish.token, result, steps, wish.confirm_timeout)
    return result


class _Chosen(NamedTuple):
    """The notes of those that are to be given back, by name; why the others are not, and what needs a look of that."""

    notes: Dict[str, Dict[str, Any]]
    skipped: List[Dict[str, str]]
    remarks: List[str]


def _chosen(present: List[interfaces.Interface], wanted: List[str]) -> _Chosen:
    """Raises HostError."""
    chosen = _Chosen({}, [], [])
    nics, boot = [interface.nic for interface in present], identity.this_boot()
    met = {interface.nic.name: interface for interface in selection.named(present, wanted)}
    there = [nic.name for nic in nics]
    for name in [*met, *(name for name in history.names() if name in wanted and name not in there)]:
        note = history.of(name)
        if note is None:
            chosen.skipped.append({"name": name, "reason": "it was not adopted by this module"})
            continue
        is_called = identity.name_now(name, snapshot.identity_of(name, note["before"]), nics, boot)
        reason = _not_the_one(name, is_called, note) or _hangs_on_it(met[name], wanted)
        if reason is None:
            chosen.notes[name] = note
        else:
            chosen.skipped.append({"name": name, "reason": reason})
            chosen.remarks.append(f"{name}: {reason}.")
    return chosen


def _not_the_one(name: str, is_called: Optional[str], note: Dict[str, Any]) -> Optional[str]:
    if is_called == name:
        return None
    if is_called is not None:
        return (
            f"the interface that was adopted under this name is called {is_called} now; give it its name back (`ip link"
            f" set {is_called} name {name}` while it is down), then run again"
        )
    rest = [f"NetworkManager's profile {note['uuid']}", *note["before"]["files"], history.path(name)]
    return (
        "the interface that was adopted under this name is not there, and no other gets what it had; should it not come"
        f" back, remove {', '.join(rest)}"
    )


def _hangs_on_it(interface: interfaces.Interface, wanted: List[str]) -> Optional[str]:
    carried = selection.carried_unnamed(interface, wanted)
    return f"{carried} if it is to be given back" if carried else None


def _changed_since(notes: Dict[str, Dict[str, Any]]) -> Dict[str, List[str]]:
    """What others have done to each since it was adopted, in sentences. Of earlier versions' nothing is known."""
    present = kernel_state.read(list(notes))
    found = {
        name: differences.between(note["after"], present[name])
        for name, note in notes.items()
        if note.get("after") and name in present
    }
    return {name: words for name, words in found.items() if words}


def _put_back(notes: Dict[str, Dict[str, Any]], present: snapshot.Snapshot) -> List[str]:
    """All of them at once: what is waited for is waited for once. Returns what is not as it was."""
    befores = {name: snapshot.with_uppers(note["before"], present, name) for name, note in notes.items()}
    before = snapshot.merged(befores, _resolver(list(notes.values()), resolver.read()))
    troubles = snapshot.put_back(before, [note["uuid"] for note in notes.values() if note["made"]])
    if troubles:
        words = "; ".join(trouble.rstrip(".") for trouble in troubles)
        raise FleetError(f"It could not be given back: {words}.", "Mend that, then run again.")
    return snapshot.not_watched_again(before)


def _resolver(notes: List[Dict[str, Any]], present: Optional[str]) -> Optional[str]:
    """What resolv.conf is to hold: what was there before, step by step, as far as it is ours.

    What somebody has written since is theirs and stays; None where that is NetworkManager. What it wrote for these
    interfaces alone it does not always take back: from 1.42 on it leaves the last name server there.
    """
    content, left, known = present, list(notes), False
    while content is not None:
        ours = [note for note in left if note["resolver_after"] == content and note["before"]["resolver"] is not None]
        if not ours:
            break
        left.remove(ours[0])
        content, known = ours[0]["before"]["resolver"], True
    return None if not known and content is not None and resolver.is_generated(content) else content


def _former(name: str, note: Dict[str, Any]) -> Dict[str, Any]:
    addresses = note["before"]["kernel"][name]["addresses"]
    return {
        "state": note["before"]["devices"].get(name, {}).get("state"),
        "addresses": [cidr(address) for address in addresses],
    }


def _values(
    given_back: List[Any], skipped: List[Dict[str, str]], pending: List[str], remarks: List[str]
) -> Dict[str, Any]:
    return dict(change.values([], skipped, pending, remarks), given_back=given_back)
