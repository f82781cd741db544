"""The command line of the machine's Docker engine, with deadlines and readable errors."""

import subprocess
from collections.abc import Sequence

from slb_lab.folder import LabError

LABEL = "slb-lab"


def run(arguments: Sequence[str], *, stdin: bytes | None = None, timeout: float = 60) -> str:
    """Run ``docker ARGUMENTS``; give back what it printed.

    ``timeout``: seconds. Raises LabError if it fails or does not end in time.
    """
    outcome = attempt(arguments, stdin=stdin, timeout=timeout)
    if outcome.returncode != 0:
        said = outcome.stderr.strip() or outcome.stdout.strip() or f"exit status {outcome.returncode}"
        raise LabError(f"'docker {_shown(arguments)}' failed: {said}")
    return outcome.stdout


def attempt(
    arguments: Sequence[str], *, stdin: bytes | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Like ``run``, but an exit status other than 0 is the caller's to judge."""
    try:
        outcome = subprocess.run(
            ["docker", *arguments], input=stdin or b"", capture_output=True, timeout=timeout, check=False
        )
    except FileNotFoundError:
        raise LabError("There is no 'docker' command. Install Docker, or run tests/tools/docker-engine up.") from None
    except subprocess.TimeoutExpired:
        raise LabError(f"'docker {_shown(arguments)}' did not end within {timeout:g} s.") from None
    return subprocess.CompletedProcess(
        outcome.args,
        outcome.returncode,
        outcome.stdout.decode(errors="replace"),
        outcome.stderr.decode(errors="replace"),
    )


def require_engine() -> None:
    """Raise LabError unless a Docker engine answers."""
    outcome = attempt(["version", "--format", "{{.Server.Version}}"], timeout=20)
    if outcome.returncode != 0:
        raise LabError(
            f"No Docker engine answers ({outcome.stderr.strip().splitlines()[-1:] or ['no reason given']}). "
            "Start one, or run tests/tools/docker-engine up."
        )


def exists(kind: str, name: str) -> bool:
    return attempt([kind, "inspect", "--format", "found", name]).returncode == 0


def _shown(arguments: Sequence[str]) -> str:
    text = " ".join(arguments)
    return text if len(text) <= 120 else text[:117] + "…"
