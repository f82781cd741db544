"""More histories, or others: ``tests/tools/python tests/unit/simulation --histories 100000 --seed 7``.

One of them: ``--only 7-4711``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from multiprocessing import Pool

from ansible_collections.slb.fleet.tests.unit.simulation.history import Counts, History, live_through
from ansible_collections.slb.fleet.tests.unit.simulation.oracle import Violation

_CHUNK = 250
_STORIES = 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Drives the decision through random histories.")
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one history, by the name that a violation gives; its whole story is printed")
    parser.add_argument("--stories", type=int, default=_STORIES, help="how many to print of each broken promise")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if options.only:
        return _tell_one(options.only)
    begin = time.monotonic()
    chunks = [
        (options.seed, first, min(_CHUNK, options.histories - first)) for first in range(0, options.histories, _CHUNK)
    ]
    counts, violations = Counts(), list[Violation]()
    with Pool(options.processes) as pool:
        for some, broken in pool.starmap(live_through, chunks, chunksize=1):
            counts.add(some)
            violations += broken
    print(f"{counts}\n{len(violations)} violations, {time.monotonic() - begin:.0f} s")
    _print_broken(violations, options.stories)
    return 1 if violations else 0


def _tell_one(seed: str) -> int:
    history = History(seed)
    history.live()
    print("\n".join(history.oracle.story))
    print(f"{len(history.violations)} violations: {[violation.promise for violation in history.violations]}")
    return 1 if history.violations else 0


def _print_broken(violations: list[Violation], stories: int) -> None:
    numbers = Counter(violation.promise for violation in violations)
    shortest = sorted(violations, key=lambda violation: len(violation.story))
    for promise, count in numbers.most_common():
        examples = [violation for violation in shortest if violation.promise == promise]
        print(f"\n{count} times broken: {promise} ({', '.join(one.seed for one in examples[:5])})")
        for violation in examples[:stories]:
            print(violation)


if __name__ == "__main__":
    sys.exit(main())
