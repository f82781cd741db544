# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the value of an option, on the controller. An error has the name that the user gave it."""

from __future__ import annotations

import contextlib
import datetime
import difflib
import json
import math
import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible.module_utils.common.validation import check_type_bool
from ansible.module_utils.errors import AnsibleFallbackNotFound

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

_MAX_FILE = 4096  # bytes
_LARGEST = 2**53
_NUMBER = re.compile(r"-?[0-9]{1,16}(\.[0-9]+)?")
_OF_ONE_NAME = ("base_url", "username", "validate_certs", "ca_path", "tls_fingerprint", "client_cert", "client_key")
ENVIRONMENT = {option: [f"SLB_{option.upper()}"] for option in _OF_ONE_NAME}
ENVIRONMENT["password"] = ["SLB_PASSWORD_FILE", "SLB_PASSWORD"]
"""The environment variables of options, the first one that is set decides."""
_YAML_KINDS = (
    (bool, "a boolean"),
    ((int, float), "a number"),
    ((datetime.date, datetime.time), "a date"),
    (type(None), "null"),
    (Mapping, "a mapping"),
    ((list, tuple, set), "a list"),
)


class Options(dict[str, Any]):
    """Values by option. ``names``: of the variables that options come from, such as slb_timeout or SLB_TIMEOUT."""

    def __init__(self, values: Mapping[str, Any], names: Mapping[str, str]) -> None:
        super().__init__(values)
        self.names = dict(names)


class OptionError(FleetError):
    """A value that is missing or cannot be used. The message has the name that the user gave it."""

    def __init__(self, option: str, problem: str, fix: str, name: str = "") -> None:
        kind = "Option" if not name else "Variable" if name.startswith("slb_") else "Environment variable"
        code = "missing_option" if problem == "missing" else "invalid_option"
        if name:
            code = "missing_variable" if problem == "missing" else "invalid_variable"
        super().__init__(code, f"{kind} {name or option} {problem}.", fix)
        self.option, self.problem = option, problem

    def named(self, names: Mapping[str, str]) -> OptionError:
        """Return the error with the name that ``names`` has for the option."""
        option, dot, rest = self.option.partition(".")
        if option not in names:
            return self
        name = f"{names[option]}{dot}{rest}"
        fix = _places(option, name) if self.problem == "missing" else self.fix
        return OptionError(self.option, self.problem, fix, name)


def invalid(option: str, cause: str, fix: str) -> OptionError:
    return OptionError(option, f"invalid: {cause}", fix)


def missing(option: str) -> OptionError:
    return OptionError(option, "missing", _places(option, option))


def _places(option: str, name: str) -> str:
    places = [name]
    if option in ENVIRONMENT:
        places += [f"the variable slb_{option}"] if name == option else []
        places += ENVIRONMENT[option]
    *others, last = places
    return f"Set {', '.join(others)}{' or ' if others else ''}{last}."


def require_text(option: str, value: Any, *, is_secret: bool = False) -> str:
    """Return ``value`` if it is a text.

    YAML reads ``0123`` as 83 and ``yes`` as true; a conversion back would give another text than the user wrote.
    Raises OptionError.
    """
    if isinstance(value, str):
        return str(value)
    kind = next((name for types, name in _YAML_KINDS if isinstance(value, types)), type(value).__name__)
    shown = "the value" if is_secret or isinstance(value, (Mapping, list, tuple, set)) else repr(value)[:40]
    raise invalid(option, f"{shown} was read as {kind}", "Quote the value in YAML.")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def read_number(option: str, value: Any, least: float, most: float, kind: type[float] = int) -> Any:
    """Return ``value``, a number or a text of one, in the type ``kind``. Raises OptionError."""
    text = value.strip() if isinstance(value, str) else repr(value)
    is_number = not isinstance(value, bool) and _NUMBER.fullmatch(text)
    number = float(text) if is_number else math.nan
    is_kind = kind is float or number.is_integer()
    if not least <= number <= most or not is_kind:
        what = "a number" if kind is float else "an integer"
        within = f" from {least:.15g} to {most:.15g}" if most < _LARGEST else ""
        cause = f"{str(value)[:40]!r} is not {what}{within}"
        raise invalid(option, cause, "Correct the value.")
    return kind(number)


def read_boolean(option: str, value: Any) -> bool:
    """Return ``value``, a boolean or one of the texts that Ansible accepts. Raises OptionError."""
    try:
        return bool(check_type_bool(value))
    except TypeError:
        raise invalid(option, f"{str(value)[:40]!r} is neither true nor false", "Correct the value.") from None


def read_value(option: str, rules: Mapping[str, Any], value: Any) -> Any:
    """Return ``value`` in the type of its argument spec ``rules``, within their ``range``. Raises OptionError."""
    kind = rules["type"]
    if kind in ("str", "path"):
        text = require_text(option, value, is_secret=bool(rules.get("no_log")))
        if text not in rules.get("choices", [text]):
            choices = ", ".join(filter(None, rules["choices"]))
            raise invalid(option, f"{text[:40]!r} is not one of: {choices}", "Correct the value.")
        return text
    if kind == "bool":
        return read_boolean(option, value)
    if kind in ("int", "float"):
        least, most = rules.get("range") or (-_LARGEST, _LARGEST)
        return read_number(option, value, least, most, int if kind == "int" else float)
    if kind == "list":
        is_of_numbers = rules.get("elements") == "int"
        parts = value.split(",") if isinstance(value, str) else value
        parts = [value] if is_of_numbers and _is_number(value) else parts
        if not isinstance(parts, (list, tuple)):
            raise invalid(option, f"{str(value)[:40]!r} is not a list", "Set a list, or separate the texts by commas.")
        if is_of_numbers:
            return [read_number(option, part, -_LARGEST, _LARGEST) for part in parts]
        texts = [require_text(option, part).strip() for part in parts]
        if not all(texts):
            raise invalid(option, "an entry is empty", "Remove the empty entry.")
        return texts
    return value


def read_mapping(option: str, value: Any, keys: Iterable[str]) -> Mapping[str, Any]:
    """Return ``value``, a mapping or the JSON of one, whose keys are among ``keys``. Raises OptionError."""
    if isinstance(value, str) and value.strip():
        with contextlib.suppress(ValueError):  # a survey and the command line give JSON as text
            value = json.loads(value)
    if value is None or (isinstance(value, str) and not value.strip()):
        raise missing(option)
    if not isinstance(value, Mapping):
        raise invalid(option, "it is not a mapping", f"Set its keys: {', '.join(keys)}.")
    for key in value:
        if key not in keys:
            raise invalid(option, f"{str(key)[:40]!r} is not a key of it", near_key(str(key), keys))
    return value


def near_key(key: str, keys: Iterable[str]) -> str:
    """Return the fix for a key that is unknown."""
    near = difflib.get_close_matches(key, list(keys), 1)
    return f"Did you mean {near[0]}?" if near else f"Use {', '.join(keys)}."


def from_environment(*names: str) -> str:
    """Return the first environment variable that is neither unset nor blank; ``..._FILE`` names a file with the value.

    Raises AnsibleFallbackNotFound if there is none, and OptionError if the file cannot be used.
    """
    for name in names:
        value = os.environ.get(name, "")
        if value.strip():
            return _first_line(name, value) if name.endswith("_FILE") else value
    raise AnsibleFallbackNotFound


def expand_home(option: str, path: str) -> Path:
    """Return the path with the home folder in place of ``~``. Raises OptionError if that folder is not known."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise invalid(option, f"{path[:80]} has no home folder", "Set HOME, or use an absolute path.") from None


def _first_line(name: str, path: str) -> str:
    """Return the first line of the file that the environment variable ``name`` contains. Raises OptionError."""
    option = name.removeprefix("SLB_").removesuffix("_FILE").lower()
    try:
        file = expand_home(option, path.strip())
        if not stat.S_ISREG(file.stat().st_mode):  # each task reads the file, and a pipe can be read once
            raise ValueError("is not a file")
        with file.open("rb") as opened:
            content = opened.read(_MAX_FILE + 1)
        if len(content) > _MAX_FILE:
            raise ValueError("has more than 4 KiB")
        line = content.partition(b"\n")[0].decode("utf-8-sig").removesuffix("\r")
        if not line.strip():
            raise ValueError("has an empty first line")
        return line
    except OSError as error:
        cause = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        cause = "is not UTF-8"
    except ValueError as error:
        cause = str(error)
    except OptionError as error:
        raise error.named({option: name}) from None
    fix = f"Set the path of a file whose first line is the {option}."
    raise invalid(option, f"{path[:200]} {cause}", fix).named({option: name})
