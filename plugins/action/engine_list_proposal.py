# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.engine_list_proposal`` in the controller's own process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import (
    expand_home,
    invalid,
    missing,
    normalize_base_url,
    require_text,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import compile_patterns
from ansible_collections.slb.fleet.plugins.module_utils._system.files import file_errors, write_atomically
from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._options import with_defaults
from ansible_collections.slb.fleet.plugins.plugin_utils._proposal import Candidate, propose
from ansible_collections.slb.fleet.plugins.plugin_utils._proposal_report import (
    as_yaml,
    read_answers,
    show_answers,
    show_proposal,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._recording import load_har, read_recording

ARGUMENTS: dict[str, dict[str, Any]] = {
    "src": {"type": "path", "required": True},
    "dest": {"type": "path"},
    "base_urls": {"type": "list", "elements": "str", "required": True},
    "hosts": {"type": "dict", "required": True},
    "exists_patterns": {"type": "list", "elements": "str"},
    "port_in_use_patterns": {"type": "list", "elements": "str"},
}
_MODE = 0o644
_MAX_PRESENT = 1024 * 1024  # characters


class ActionModule(HostAction):
    _requires_connection = False

    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        options = with_defaults(ARGUMENTS, self.read_options(ARGUMENTS, variables))
        hosts, patterns = _read_hosts(options["hosts"]), compile_patterns(options)
        base_urls = {normalize_base_url(each) for each in options["base_urls"]}
        if not base_urls:
            raise missing("base_url")
        addresses = {address for _name, address in hosts.values()}
        recording = read_recording(load_har(options["src"]), base_urls, addresses, options["src"])
        candidates = propose(recording.exchanges, hosts)
        names = [text for pair in hosts.values() for text in pair]
        answers = read_answers(recording.exchanges, patterns, names)
        best = candidates[0] if candidates and not candidates[0].problem else None
        result: dict[str, Any] = {
            "changed": False,
            "engine_list": best.option if best else {},
            "is_certain": bool(best and not best.doubts),
            "candidates": [_as_result(each) for each in candidates],
            "answers": answers,
            "dest": "",
        }
        lines = [*show_proposal(recording, candidates, len(hosts)), *show_answers(answers)]
        if options["dest"]:
            lines.append(self._write(expand_home("dest", options["dest"]).absolute(), best, result))
        return {**result, "report": lines}

    def _write(self, dest: Path, best: Candidate | None, result: dict[str, Any]) -> str:
        """Write the proposal if there is no doubt about it. Return a line about it. Raises FleetError."""
        if best is None or best.doubts:
            return f"File {dest} not written: {'the proposal has doubts' if best else 'there is no proposal'}."
        content = as_yaml(best.option)
        before = _read_present(dest)
        result.update(changed=before != content, dest=str(dest))
        result["diff"] = {"before": before, "after": content, "before_header": str(dest), "after_header": str(dest)}
        if result["changed"] and not self._task.check_mode:
            write_atomically(str(dest), content, _MODE)
        verb = "unchanged" if not result["changed"] else "would be written" if self._task.check_mode else "written"
        return f"File {dest} {verb}. Next: slb.fleet.show_engine_list"


def _read_hosts(value: Any) -> dict[str, tuple[str, str]]:
    """Return name and address by host. Raises OptionError."""
    if not isinstance(value, Mapping) or not value:
        raise invalid("hosts", "it is not a mapping of hosts", "Set name and address by host.")
    hosts = {}
    for host, pair in value.items():
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise invalid("hosts", f"{str(host)[:40]} has no name and address", "Set a list of both.")
        hosts[str(host)] = (require_text("hosts", pair[0]).strip(), require_text("hosts", pair[1]).strip())
    return hosts


def _read_present(dest: Path) -> str:
    """Return the present content of the file. Raises FleetError if it contains anything but the engine list."""
    with file_errors(str(dest)):
        try:
            with dest.open(encoding="utf-8", errors="replace") as file:
                content = file.read(_MAX_PRESENT)
        except FileNotFoundError:
            return ""
    try:
        present = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError):
        present = content
    if present is not None and (not isinstance(present, dict) or set(present) - {"slb_engine_list"}):
        raise FleetError(
            "file_not_written",
            f"File {dest} not written: it contains more than slb_engine_list.",
            "Set slb_dest to a file of its own, such as group_vars/engines/engine_list.yml.",
        )
    return content


def _as_result(candidate: Candidate) -> dict[str, Any]:
    return {
        "engine_list": dict(candidate.option),
        "method": candidate.method,
        "hosts": candidate.explained,
        "entries": candidate.engines,
        "doubts": list(candidate.doubts),
        "problem": candidate.problem,
        "unmapped": list(candidate.unmapped),
    }
