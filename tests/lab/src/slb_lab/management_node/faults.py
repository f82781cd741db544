"""What can be made to go wrong."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from slb_lab.errors import LabError
from slb_lab.management_node.config import Seconds, sentences
from slb_lab.management_node.messages import Language


class Faults(BaseModel):
    """All off by default. A deployment keeps the faults that were on at its request.

    ``stuck_front_end``: a finished deployment goes on being shown as deploying, for this number of seconds or (true)
    until faults are set without it.
    ``fail_half_way``: the container is started, then the deployment fails and leaves it; the console lists the
    failed engine, or nothing.
    ``language``: instead of the configured one.
    ``errors``: "later": the call is accepted whatever is on the host, and the engine ends as failed.
    ``install_answer_lost``: the install call is carried out, then the connection is cut without an answer.
    ``slow_start_seconds``: the container is started only after that time.
    ``engine_crashes``: the engine exits as soon as it is started, again and again.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    stuck_front_end: bool | Seconds = False
    fail_half_way: Literal["", "listed", "unlisted"] = ""
    language: Language | None = None
    errors: Literal["at_once", "later"] = "at_once"
    install_answer_lost: bool = False
    slow_start_seconds: Seconds = 0
    engine_crashes: bool = False


def parse(text: str) -> Faults:
    """Faults from a JSON object; what it does not name is off. Raises LabError."""
    try:
        return Faults.model_validate_json(text)
    except ValidationError as error:
        known = ", ".join(Faults.model_fields)
        raise LabError(f"The faults cannot be used. {sentences(error)} Known faults: {known}.") from None
