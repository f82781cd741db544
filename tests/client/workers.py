"""Forks processes that use the client at once, as ansible-core forks its workers: from a process without threads.

Reads one job in JSON from each line of its input: the options, the call, the folder of the run, max_age and the number
of processes. Prints the results of the processes in JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from pathlib import Path
from typing import Any

from scenarios import ENGINE_LIST, run

from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils.management_node.engine_list import EngineList
from ansible_collections.slb.fleet.plugins.plugin_utils.run_cache import RunCache


def work(job: dict[str, Any], results: Any) -> None:
    cache = RunCache(Connection.from_options(job["options"]), Path(job["folder"]))
    if job["call"] != "list":
        results.put(run(job["call"], job["options"], cache))
        return
    try:
        results.put({"engines": cache.engines(EngineList.from_option(ENGINE_LIST), job["max_age"])})
    except FleetError as error:
        results.put(error.as_result())


def main() -> None:
    context = multiprocessing.get_context("fork")
    for line in sys.stdin:
        job, results = json.loads(line), context.SimpleQueue()
        workers = [context.Process(target=work, args=(job, results)) for _ in range(job["workers"])]
        for worker in workers:
            worker.start()
        found = [results.get() for _ in workers]
        for worker in workers:
            worker.join()
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
