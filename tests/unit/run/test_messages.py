"""Messages name what the reader has to set: the option of a task, or the variable."""

from __future__ import annotations

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import (
    FleetError,
    OptionError,
    in_words,
)
from ansible_collections.slb.fleet.plugins.plugin_utils.options import VARIABLES, in_variables


def test_an_option_is_named_as_such_or_by_its_variable() -> None:
    error = OptionError("timeout", "soon", "it is not a whole number", "Lower O(timeout) or O(retries).")
    assert str(error) == (
        "The option 'timeout' has the value 'soon': it is not a whole number. Lower 'timeout' or 'retries'."
    )
    assert error.as_result({"timeout": "slb_timeout"})["msg"] == (
        "The variable slb_timeout has the value 'soon': it is not a whole number. Lower slb_timeout or 'retries'."
    )
    assert in_variables(error).endswith("Lower slb_timeout or slb_retries.")


def test_a_pair_is_there_to_be_copied() -> None:
    assert in_words("Set O(tls_fingerprint): ab") == "Set tls_fingerprint: ab"
    assert in_words("Set O(tls_fingerprint): ab", VARIABLES) == "Set slb_tls_fingerprint: ab"


@pytest.mark.parametrize(
    ("option", "variable"),
    [
        ("name", "slb_engine_name"),
        ("engine_list.path", "slb_engine_list.path"),
        ("dest", "slb_license_dest"),
        ("backup", "slb_license_backup"),
        ("manage_ip", "slb_manage_ip"),
        ("sessionid", "'sessionid'"),
    ],
)
def test_variables_of_other_names(option: str, variable: str) -> None:
    assert in_words(f"Correct O({option}).", VARIABLES) == f"Correct {variable}."


@pytest.mark.parametrize("text", ["O(evil)", "O(Timeout)", "FOO(timeout)", "O(timeout", "O({timeout})", "O(time out)"])
def test_only_options_that_there_are_are_named(text: str) -> None:
    error = FleetError(f"The console answered: {text}.", "Look.")
    assert text in error.as_result(VARIABLES, known=["timeout"])["msg"]


def test_a_long_value_is_not_shown_whole() -> None:
    assert len(str(OptionError("name", "x" * 100_000, "it is too long", "Shorten it."))) < 600
