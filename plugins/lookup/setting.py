# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A setting of the host, which no fact of a host decides."""

from __future__ import annotations

DOCUMENTATION = r"""
name: setting
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: A variable of this collection, as the operator has set it
description:
  - Gives the value of C(slb_<name>) of the host, evaluated without facts, of this host and of all others. So neither
    the variable nor what it is made of is what a host says of itself.
  - The engine's name and address may be made of facts, as everywhere in this collection. Where they are not set, they
    are the host's name in the inventory, and its C(ansible_host).
  - A variable C(slb_*) that is one of the host's facts is refused, as all of this collection refuses it.
  - For templates in playbooks and roles, which Ansible evaluates with facts. Modules of this collection need none.
options:
  _terms:
    description:
      - The name of one variable, without C(slb_). C(base_url) falls back to the environment variable C(SLB_BASE_URL).
    required: true
    type: list
    elements: str
"""

EXAMPLES = r"""
- name: Say where the license goes
  ansible.builtin.debug:
    msg: "{{ lookup('slb.fleet.setting', 'license_dest') }}"
"""

RETURN = r"""
_raw:
  description: The value, its default where it is not set or empty, and null where there is no default.
  type: list
  elements: raw
"""

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import (
    OF_A_HOST,
    OF_A_PLAY,
    OF_AN_ENGINE,
    of_the_engine,
    stated_setting,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import with_facts_below, without_facts
from ansible_collections.slb.fleet.plugins.plugin_utils.options import refuse_facts

_BASE_URL = "base_url"


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[Any]:
        self.set_options(var_options=variables, direct=options)
        try:
            refuse_facts(variables or {})
            return [self._value(str(term), variables or {}) for term in terms]
        except FleetError as error:
            raise AnsibleError(str(error)) from error

    def _value(self, name: str, variables: Mapping[str, Any]) -> Any:
        if name not in (_BASE_URL, *OF_A_HOST, *OF_A_PLAY):
            raise AnsibleError(f"There is no setting {name!r}. Name a variable of the README's table, without slb_.")
        if name in OF_AN_ENGINE:
            with with_facts_below(variables, self._templar) as known:
                return of_the_engine(name, known, self._templar)
        with without_facts(variables, self._templar) as stated:
            return stated_setting(name, stated, self._templar)
