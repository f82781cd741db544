# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be made to go wrong."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from slb_lab.errors import LabError
from slb_lab.management_node.config import Seconds, sentences
from slb_lab.management_node.messages import Language

Count = Annotated[int, Field(ge=0)]


class Faults(BaseModel):
    """All off by default. A deployment keeps the faults that were on at its request.

    ``stuck_front_end``: a finished deployment goes on being shown as deploying, for this number of seconds or (true)
    until faults are set without it.
    ``fail_half_way``: the container is started, then the deployment fails and leaves it; the console lists the
    failed engine, or nothing.
    ``slow_accept_seconds``: the install call is carried out, and answered, only after that time.
    ``session_seconds``: the lifetime of sessions, of present ones too, instead of the configured one.
    ``errors_5xx``: this number of the next requests are answered 503; ``retry_after``: with this header, in seconds.
    ``language``: instead of the configured one.
    ``errors``: "later": the call is accepted whatever is on the host, and the engine ends as failed.
    ``install_answer_lost``: the install call is carried out, then the connection is cut without an answer.
    ``slow_start_seconds``: the container is started only after that time.
    ``engine_crashes``: the engine exits as soon as it is started, again and again.
    ``pages_shift``: this number of the next second pages of the list begin one engine late, as where an engine of the
    first page was removed just then, and the one that was due has moved there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    stuck_front_end: bool | Seconds = False
    fail_half_way: Literal["", "listed", "unlisted"] = ""
    slow_accept_seconds: Seconds = 0
    session_seconds: Seconds | None = None
    errors_5xx: Count = 0
    retry_after: Count | None = None
    language: Language | None = None
    errors: Literal["at_once", "later"] = "at_once"
    install_answer_lost: bool = False
    slow_start_seconds: Seconds = 0
    engine_crashes: bool = False
    pages_shift: Count = 0


def parse(text: str) -> Faults:
    """Faults from a JSON object; what it does not name is off. Raises LabError."""
    try:
        return Faults.model_validate_json(text)
    except ValidationError as error:
        known = ", ".join(Faults.model_fields)
        raise LabError(f"The faults cannot be used. {sentences(error)} Known faults: {known}.") from None
