# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the inventory plugin ``engines`` does: the file's options, the list or what is kept of it, the hosts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError, AnsibleParserError
from ansible.module_utils.common.parameters import remove_values
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable, to_safe_group_name

try:
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19, which knows no trust
    trust_as_template = str

from ansible_collections.slb.fleet.plugins.module_utils._console.description import description
from ansible_collections.slb.fleet.plugins.module_utils._console.engine_info import ARGUMENTS, engine_info
from ansible_collections.slb.fleet.plugins.module_utils._console.options import SECRET_OPTIONS, Connection
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, OptionError
from ansible_collections.slb.fleet.plugins.module_utils._nearest import nearest
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils import _listed_hosts
from ansible_collections.slb.fleet.plugins.plugin_utils._listed_hosts import ListedHost, Remark, hosts_of, is_reading
from ansible_collections.slb.fleet.plugins.plugin_utils._options import (
    Given,
    given_options,
    typed_options,
    with_defaults,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._run_session import RunSession

_ENDINGS = ("slb_engines.yml", "slb_engines.yaml")
_OWN: dict[str, dict[str, Any]] = {
    **ARGUMENTS,
    "group": {"type": "str", "default": "engines"},
    "may_be_empty": {"type": "bool", "default": False},
}
_MOST_WORDS = 20
_LONGEST_WORD, _LONGEST_TROUBLE = 60, 500
_NOTHING = object()
_OF_ANSIBLE = ("all", "ungrouped")
_IN_NO_GROUP = re.compile(r"^[^\w]|[^\w.-]")


class _GroupRefusedError(Exception):
    """A key makes a group of a name that means something else."""


@dataclass
class _Keying:
    """The groups of one host by one key are just made. ``group``: that of all hosts. ``parent``: as the file has it.

    ``is_prefixed``: the key's groups have a prefix, so that names which begin with it are the operator's.
    """

    host: str
    group: str
    parent: Any
    is_prefixed: bool
    _parent_is_next: bool = False

    def is_parent(self, name: str) -> bool:
        """Ansible asks for a group's name, and then for its parent's; what is no template is always asked for."""
        was_next, self._parent_is_next = self._parent_is_next, not self._parent_is_next
        return was_next and name == self.parent


class ConsoleInventory(BaseInventoryPlugin, Constructable, Cacheable):  # type: ignore[misc]
    _keying: _Keying | None = None
    _named_like_groups: set[str]

    def verify_file(self, path: str) -> bool:
        return path.endswith(_ENDINGS) and bool(super().verify_file(path))

    def set_options(self, task_keys: Any = None, var_options: Any = None, direct: Any = None) -> None:
        """Ansible reads the options of its own fragments. It would quote a password that is no text in its message."""
        others = {key: value for key, value in (direct or {}).items() if key not in _OWN}
        super().set_options(task_keys, var_options, others)

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        super().parse(inventory, loader, path, cache)
        config = self._read_config_data(path)
        given = Given({}, {})
        try:
            self._refuse_unknown(config)
            extra = self._vars or {}
            self.templar.available_variables = extra
            arguments = {key: self._templated(key, config[key]) for key in _OWN if key in config}
            given = Given(arguments, {})
            given = given_options(_OWN, arguments, extra, self.templar)
            params = with_defaults(_OWN, typed_options(_OWN, given.values, {"listing": description}))
            self._add(params, path, cache)
        except FleetError as error:
            secrets = {str(given.values[option]) for option in SECRET_OPTIONS if given.values.get(option)}
            raise AnsibleParserError(remove_values(error.in_words(given.names, _OWN), secrets)) from None

    def _refuse_unknown(self, config: Mapping[str, Any]) -> None:
        for key in config:
            if key not in self.option_definitions:
                near = nearest(str(key), self.option_definitions)
                known = ", ".join(sorted(self.option_definitions))
                raise FleetError(
                    f"There is no option {in_short(str(key), _LONGEST_WORD)!r}.",
                    f"Did you mean {near!r}?" if near else f"The options are: {known}.",
                )

    def _templated(self, option: str, value: Any) -> Any:
        try:
            return self.templar.template(value)
        except AnsibleError as error:
            why = "" if option in SECRET_OPTIONS else f": {error}"
            raise FleetError(f"The option O({option}) cannot be evaluated{why}.", "Correct the template.") from None

    def _add(self, params: dict[str, Any], path: str, cache: bool) -> None:
        """Nothing is added before everything is known that is added."""
        group = _group(params["group"])
        engines = self._engines(params, path, cache)
        hosts, remarks = hosts_of(engines, lambda name: self._taken(name, group))
        for remark in remarks:
            self.display.warning(remark.in_words())
            self.display.vv(remark.in_words(len(remark.about)))
        self._name_undescribed(engines)
        if engines and not hosts:
            raise FleetError(f"None of the {len(engines)} engines of the console's list is a host.", _first(remarks))
        self.inventory.add_group(group)
        try:
            refused = self._populate(hosts, group)
        except Exception:
            # Else Ansible would go on with hosts that lack what the operator wants them to have.
            for host in hosts:
                if host.name in self.inventory.hosts:
                    self.inventory.remove_host(self.inventory.hosts[host.name])
            raise
        if refused:
            self.display.warning(Remark(*_listed_hosts.TAKEN_BY_KEY, refused).in_words())

    def _engines(self, params: dict[str, Any], path: str, cache: bool) -> list[dict[str, str]]:
        connection = Connection.from_params(params)
        is_kept = bool(self.get_option("cache"))
        what = json.dumps([connection.base_url, connection.username, params["listing"]], sort_keys=True)
        key = f"{self.get_cache_key(path)}_{hashlib.sha256(what.encode()).hexdigest()[:16]}"
        if is_kept and cache:
            kept = self._kept(key, params["may_be_empty"])
            if kept:
                return kept
        # The session serves the tasks of this run, too.
        session = RunSession(Path(constants.DEFAULT_LOCAL_TMP))
        engines: list[dict[str, str]] = engine_info(params, False, session).values["engines"]
        if not engines and not params["may_be_empty"]:
            raise FleetError(
                f"The list of {connection.base_url} shows no engine at all.",
                "Check its path, the rights of the user and the filter in the query; "
                "if the console really has no engine yet, set O(may_be_empty): true.",
            )
        if is_kept:
            self._cache[key] = engines
        return engines

    def _kept(self, key: str, may_be_empty: bool) -> list[dict[str, str]]:
        """What the cache holds. Nothing where that is no list: each cache plugin meets that with an error of its own,
        or with whatever it could read. A list that is rightly empty is asked for again.
        """
        try:
            kept = self._cache.get(key, _NOTHING)
        except Exception as error:
            told = in_short(error.message.rstrip("."), _LONGEST_TROUBLE) if isinstance(error, AnsibleError) else ""
        else:
            if kept is _NOTHING:
                return []
            if is_reading(kept) and (kept or may_be_empty):
                return list(kept)
            told = "it is no list of engines" if kept != [] else "it shows no engine at all"
        self.display.warning(
            f"What the cache holds of the console's list cannot be read{f': {told}' if told else ''}. The list is "
            f"read anew. Look at who else writes where the option 'cache_connection' says: it is the entry {key} "
            f"of {self.get_option('cache_plugin')}."
        )
        return []

    def _taken(self, name: str, group: str) -> tuple[str, str] | None:
        """Ansible gives a variable to the group where a host and a group have one name, and localhost is its own."""
        if name in constants.LOCALHOST:
            return _listed_hosts.TAKEN_BY_CONTROLLER
        groups = (group, *map(to_safe_group_name, self.get_option("groups") or ()))
        if name in groups or name in self.inventory.groups:
            return _listed_hosts.TAKEN_BY_GROUP
        return _listed_hosts.TAKEN_BY_HOST if name in self.inventory.hosts else None

    def _name_undescribed(self, engines: list[dict[str, str]]) -> None:
        words = sorted(
            {in_short(engine["console_state"], _LONGEST_WORD) for engine in engines if engine["state"] == "unknown"}
        )
        if words:
            more = f" and {len(words) - _MOST_WORDS} more" if len(words) > _MOST_WORDS else ""
            self.display.warning(
                f"The console's list has words that the option 'listing' does not describe: "
                f"{', '.join(words[:_MOST_WORDS])}{more}. Say there what they mean: running, deploying or failed."
            )

    def _populate(self, hosts: list[ListedHost], group: str) -> list[str]:
        """Which hosts a key would have put into a group that means something else: they are not there."""
        for host in hosts:
            self.inventory.add_host(host.name, group=group)
            for variable, value in host.variables.items():
                # Nothing in it can be a template. What is not trusted becomes an object in the output of
                # ansible-inventory, and AWX takes no address from an object.
                self.inventory.set_variable(host.name, variable, trust_as_template(value))
        strict = self.get_option("strict")
        compose, groups, keyed = (self.get_option(option) for option in ("compose", "groups", "keyed_groups"))
        # One after the other: a group that a key makes may have the name of a host, which Ansible then finds no more.
        for host in hosts if compose else ():
            variables = self.inventory.hosts[host.name].get_vars()
            self._set_composite_vars(compose, variables, host.name, strict)
        for host in hosts if groups else ():
            self._add_host_to_composed_groups(groups, {}, host.name, strict)
        self._named_like_groups = set()
        refused = [each for host in hosts if keyed for each in self._keyed_groups(host.name, group, keyed, strict)]
        for name in self._named_like_groups & self.inventory.hosts.keys():
            self.inventory.remove_host(self.inventory.hosts[name])
        if self._named_like_groups:
            remark = Remark(*_listed_hosts.TAKEN_BY_GROUP, sorted(self._named_like_groups))
            self.display.warning(remark.in_words())
        return refused

    def _keyed_groups(self, host: str, group: str, keyed: Any, strict: bool) -> list[str]:
        try:
            # One after the other, so that it is known which name that Ansible asks for is a parent's.
            for each in keyed if isinstance(keyed, list) else [keyed]:
                key = each if isinstance(each, Mapping) else {}
                self._keying = _Keying(host, group, key.get("parent_group"), bool(key.get("prefix")))
                self._add_host_to_keyed_groups([each], {}, host, strict)
        except _GroupRefusedError as error:
            self.inventory.remove_host(self.inventory.hosts[host])
            return [f"{host} ({error})"]
        finally:
            self._keying = None
        return []

    def _sanitize_group_name(self, name: str) -> str:
        """Ansible names each group by this. What a key gives is, in parts, what the console says."""
        name = str(to_safe_group_name(name))
        keying = self._keying
        if keying is None or keying.is_parent(name):
            return name
        # Other signs make a pattern of it, which is for other hosts.
        name = _IN_NO_GROUP.sub("_", name)
        declared = (keying.group, *map(to_safe_group_name, self.get_option("groups") or ()))
        is_host = name in self.inventory.hosts
        if is_host and keying.is_prefixed and self.inventory.hosts[name].vars.get("slb_engine_name") == name:
            # One engine's name must not keep all others of such a group out of the inventory.
            self._named_like_groups.add(name)
            return name
        is_another_host = is_host and name != keying.host
        if name in (*_OF_ANSIBLE, *declared, *constants.LOCALHOST) or is_another_host:
            raise _GroupRefusedError(in_short(name, _LONGEST_WORD))
        return name


def _group(name: str) -> str:
    if not name.isidentifier() or name in (*_OF_ANSIBLE, "localhost"):
        raise OptionError(
            "group", name, "it is no name for a group of these hosts", "Use letters, digits and underscores."
        )
    return name


def _first(remarks: list[Remark]) -> str:
    return remarks[0].in_words(3)
