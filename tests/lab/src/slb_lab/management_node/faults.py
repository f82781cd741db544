"""What can be made to go wrong."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Faults:
    """All off by default. A deployment keeps the faults that were on at its request.

    ``stuck_front_end``: engines that run go on being shown as deploying.
    ``fail_half_way``: the container is started, then the deployment fails and leaves it; the console lists the
    failed engine ("listed"), or nothing ("unlisted").
    ``language``: "zh": of the answers about an engine that exists and a port in use.
    ``errors``: "later": the call is accepted whatever is on the host, and the engine ends as failed.
    ``install_answer_lost``: the install call is carried out, then the connection is cut without an answer.
    ``slow_start_seconds``: the container is started only after that time.
    ``engine_crashes``: the engine exits as soon as it is started, again and again.
    """

    stuck_front_end: bool = False
    fail_half_way: str = ""
    language: str = "en"
    errors: str = "at_once"
    install_answer_lost: bool = False
    slow_start_seconds: float = 0
    engine_crashes: bool = False
