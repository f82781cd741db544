"""More histories, or others: ``python tests/unit/simulation --histories 100000 --seed 7``."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / ".cache" / "dev"))

from history import live_through


def main() -> int:
    parser = argparse.ArgumentParser(description="Drives the decision through random histories.")
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begin = time.monotonic()
    runs, violations = live_through(options.seed, options.histories)
    seconds = time.monotonic() - begin
    print(f"{options.histories} histories, {runs} runs, {len(violations)} violations, {seconds:.0f} s")
    for promise, count in Counter(violation.promise for violation in violations).most_common():
        print(f"{count} times broken: {promise}")
    for violation in {violation.promise: violation for violation in reversed(violations)}.values():
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
