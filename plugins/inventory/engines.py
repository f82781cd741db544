# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventory plugin: the engines of the engine list as hosts."""

from __future__ import annotations

DOCUMENTATION = r"""
name: engines
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: Make a host of each engine in the engine list
description:
  - Reads the engine list of the management node, configured as for M(slb.fleet.engine_info), and adds a host for each
    engine. The host has the name of the engine.
  - Each host has the variables C(slb_engine_name), C(slb_manage_ip), C(ansible_host) and C(slb_engine_state). The
    state is V(running), V(deploying), V(failed) or V(unmapped).
  - The name of the file must end in C(slb_engines.yml) or C(slb_engines.yaml).
  - An engine that cannot be a host is skipped with a warning. An empty list is an error, unless O(may_be_empty) is set.
  - The connection options, O(engine_list), O(group) and O(may_be_empty) may be templates. A connection option that is
    not in the file is taken from the extra variable C(slb_<option>), then from the environment.
extends_documentation_fragment:
  - slb.fleet._management_node.with_environment
  - ansible.builtin.constructed
  - ansible.builtin.inventory_cache
options:
  plugin:
    description: Name of this plugin.
    type: str
    required: true
    choices: [slb.fleet.engines]
  engine_list:
    description: Configuration of the engine list, as for O(slb.fleet.engine_info#module:engine_list). Required.
    type: dict
  group:
    description: Name of the group of all hosts.
    type: str
    default: engines
  may_be_empty:
    description: Whether an empty engine list is accepted.
    type: bool
    default: false
  filters:
    description:
      - Conditions that select engines, tried in this order. Each entry has one key, C(include) or C(exclude), with a
        Jinja expression over the variables of the host, or V(true).
      - The first condition that is true decides. An engine for which none is true is included.
    type: list
    elements: dict
    default: []
  keyed_groups:
    description: Each entry needs a C(prefix), so that an engine cannot join a group of another meaning.
seealso:
  - module: slb.fleet.engine_info
"""

EXAMPLES = r"""
# The credentials come from the environment: SLB_USERNAME and SLB_PASSWORD_FILE.
plugin: slb.fleet.engines
base_url: https://console.example
tls_fingerprint: "{{ lookup('ansible.builtin.env', 'SLB_TLS_FINGERPRINT') }}"
engine_list:
  path: /console/engines
  items: data.items
  name: engine_name
  address: ip
  state: status
  running: [running]
  deploying: [deploying]
  failed: [failed]

# Without engines of the laboratory; groups by state and network, and a variable of your own.
filters:
  - exclude: slb_engine_name is match('lab-')
strict: true
compose:
  slb_user_credential_id: 2 if slb_engine_name is match('north-') else 1
keyed_groups:
  - prefix: console
    key: slb_engine_state
  - prefix: net
    key: slb_manage_ip.rpartition('.')[0]
groups:
  to_check: slb_engine_state != 'running'
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: /var/lib/slb/inventory
cache_timeout: 60
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError, AnsibleParserError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable, to_safe_group_name

try:
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19
    trust_as_template = str

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import show
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import (
    ARGUMENTS,
    UNMAPPED,
    EngineList,
    fetch_engines,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import read_address
from ansible_collections.slb.fleet.plugins.module_utils._values import invalid
from ansible_collections.slb.fleet.plugins.plugin_utils._options import read_options
from ansible_collections.slb.fleet.plugins.plugin_utils._run_cache import RunCache
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import decrypted, explain

_SPEC: dict[str, dict[str, Any]] = {
    **ARGUMENTS,
    "group": {"type": "str", "default": "engines"},
    "may_be_empty": {"type": "bool", "default": False},
}
# Neither a template, a pattern of hosts, a path nor a range.
_HOST_NAME = re.compile(r"\w[\w.-]{0,127}")
_MAX_SHOWN = 20


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):  # type: ignore[misc]
    NAME = "slb.fleet.engines"

    def verify_file(self, path: str) -> bool:
        return path.endswith(("slb_engines.yml", "slb_engines.yaml")) and bool(super().verify_file(path))

    def set_options(self, task_keys: Any = None, var_options: Any = None, direct: Any = None) -> None:
        """Set the options of Ansible's own fragments: its messages would quote a password that is not a text."""
        super().set_options(task_keys, var_options, {k: v for k, v in (direct or {}).items() if k not in _SPEC})

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        super().parse(inventory, loader, path, cache)
        config = self._read_config_data(path)
        try:
            options = self._read_options(config)
            engines = self._read_engines(options, path, cache)
            self._add_hosts(engines, options["group"])
        except FleetError as error:
            raise AnsibleParserError(str(error)) from None

    def _read_options(self, config: Mapping[str, Any]) -> dict[str, Any]:
        for key in config:
            if key not in self.option_definitions and key not in _SPEC:
                raise invalid(show(str(key), 40), "it is unknown", "See ansible-doc -t inventory slb.fleet.engines.")
        self.templar.available_variables = self._vars or {}
        stated = {key: value for key, value in config.items() if key in _SPEC}
        arguments = {key: self._evaluate(key, value) for key, value in stated.items()}
        options = read_options(_SPEC, arguments, stated, self._vars or {}, self.templar)
        group = options["group"]
        if not group.isidentifier() or group in ("all", "ungrouped", *constants.LOCALHOST):
            raise invalid("group", f"{group[:40]!r} is not the name of a group", "Use letters, digits and underscores.")
        keyed = self.get_option("keyed_groups") or []
        if any(not (isinstance(each, Mapping) and each.get("prefix")) for each in keyed):
            raise invalid("keyed_groups", "an entry has no prefix", "Set a prefix: engines could choose any group.")
        return options

    def _evaluate(self, option: str, value: Any) -> Any:
        try:
            return decrypted(self.templar.template(value))
        except AnsibleError as error:
            cause, fix = explain(error, option, value)
            raise invalid(option, show(cause, 100), fix or "Correct the template.") from None

    def _read_engines(self, options: dict[str, Any], path: str, cache: bool) -> list[dict[str, str]]:
        """Return the engines of the cache or, if it has none, of the management node."""
        connection, engine_list = Connection.from_options(options), EngineList.from_option(options["engine_list"])
        what = json.dumps([connection.base_url, connection.username, repr(engine_list)])
        key = f"{self.get_cache_key(path)}_{hashlib.sha256(what.encode()).hexdigest()[:16]}"
        is_cached = bool(self.get_option("cache"))
        if is_cached and cache:
            cached: list[dict[str, str]] | None = self._cache.get(key)
            if cached:
                return cached
        # The session serves the tasks of this run, too.
        engines, gap, _at = fetch_engines(Client(connection, RunCache(connection)), engine_list)
        if gap.kind == "part":
            raise FleetError(
                "engine_list_incomplete", f"Engine list of {connection.base_url} incomplete: {gap.cause}.", gap.fix
            )
        if not engines and not options["may_be_empty"]:
            raise FleetError(
                "engine_list_empty",
                f"Engine list of {connection.base_url} empty.",
                "Check its path and the rights of the user. If no engine exists yet, set may_be_empty: true.",
            )
        if is_cached:
            self._cache[key] = engines
        return engines

    def _add_hosts(self, engines: list[dict[str, str]], group: str) -> None:
        hosts = {name: entries[0] for name, entries in self._usable(engines, group).items()}
        if engines and not hosts:
            raise FleetError("engine_list_unreliable", "Engine list unusable: no engine is a host.", "See warnings.")
        unmapped = sorted({engine["console_state"] for engine in engines if engine["state"] == UNMAPPED})
        self._warn("unmapped: add them to running, deploying or failed", unmapped, "Engine list states")
        self.inventory.add_group(group)
        strict = self.get_option("strict")
        added = []
        for name, engine in hosts.items():
            address, state = engine["address"], engine["state"]
            values = {
                "slb_engine_name": name,
                "slb_manage_ip": address,
                "ansible_host": address,
                "slb_engine_state": state,
            }
            # No value can be a template. AWX accepts no address that is not trusted.
            values = {variable: trust_as_template(value) for variable, value in values.items()}
            if not self._is_wanted({**values, "inventory_hostname": values["slb_engine_name"]}):
                continue
            added.append(name)
            self.inventory.add_host(name, group=group)
            for variable, value in values.items():
                self.inventory.set_variable(name, variable, value)
        for name in added:
            variables = self.inventory.hosts[name].get_vars()
            self._set_composite_vars(self.get_option("compose"), variables, name, strict)
            self._add_host_to_composed_groups(self.get_option("groups"), {}, name, strict)
            self._add_host_to_keyed_groups(self.get_option("keyed_groups"), {}, name, strict)

    def _is_wanted(self, variables: Mapping[str, str]) -> bool:
        """Return what the first filter decides whose condition is true."""
        for entry in self.get_option("filters"):
            if not isinstance(entry, Mapping) or len(entry) != 1 or not {*entry} <= {"include", "exclude"}:
                raise invalid("filters", f"{entry!r:.80} is not a filter", "Use include or exclude in each entry.")
            ((kind, condition),) = entry.items()
            try:
                is_met = condition if isinstance(condition, bool) else boolean(self._compose(condition, variables))
            except (AnsibleError, TypeError) as error:
                cause = f"{condition!r:.80} not evaluated: {show(str(error), 80)}"
                raise invalid("filters", cause, "Correct the expression.") from None
            if is_met:
                return bool(kind == "include")
        return True

    def _usable(self, engines: list[dict[str, str]], group: str) -> dict[str, list[dict[str, str]]]:
        """Return the engines that can be hosts, by name; warn of the others."""
        named: dict[str, list[dict[str, str]]] = {}
        for engine in engines:
            named.setdefault(engine["name"], []).append(engine)
        groups = {group, *map(to_safe_group_name, self.get_option("groups") or ()), *self.inventory.groups}
        checks: dict[str, Callable[[str, list[dict[str, str]]], bool]] = {
            "invalid as the name of a host": lambda name, _: not _HOST_NAME.fullmatch(name),
            "reserved for the controller": lambda name, _: name in constants.LOCALHOST,
            "the name of a group": lambda name, _: name in groups,
            "a host of another inventory source": lambda name, _: name in self.inventory.hosts,
            "at several addresses, or in several states": lambda _, entries: (
                len({(each["address"], each["state"]) for each in entries}) > 1
            ),
            "without an address of an engine host": lambda _, entries: not _is_usable(entries[0]["address"]),
        }
        for cause, is_true in checks.items():
            skipped = [name for name, entries in named.items() if is_true(name, entries)]
            self._warn(f"skipped: {cause}", skipped, "Engines")
            named = {name: entries for name, entries in named.items() if name not in set(skipped)}
        return named

    def _warn(self, state: str, names: Iterable[str], what: str) -> None:
        shown = [show(name, 60) for name in names]
        if shown:
            more = f" and {len(shown) - _MAX_SHOWN} more" if len(shown) > _MAX_SHOWN else ""
            self.display.warning(f"{what} {', '.join(shown[:_MAX_SHOWN])}{more} {state}.")

    @staticmethod
    def _sanitize_group_name(name: str) -> str:
        """Return a name that no pattern of hosts takes for anything else."""
        return re.sub(r"\W", "_", str(name))


def _is_usable(address: str) -> bool:
    try:
        read_address("address", address)
    except FleetError:
        return False
    return True
