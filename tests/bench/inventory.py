"""Measure the inventory from the engine list:
`tests/tools/python tests/bench/inventory.py [--hosts 5000] [--runs 5]`.

Side by side, ansible-inventory over: one host (Ansible's own cost), a static YAML inventory of the same hosts with the
same variables, that with ansible.builtin.constructed, and slb.fleet.engines in one answer, in pages of 100, from its
cache, and with the same groups. Ansible compiles each expression anew for each host, so that what the static inventory
takes longer with groups is Ansible's own cost of these. Printed are the medians of the wall and CPU time, what each
takes above Ansible's own cost, and the CPU time's ratio to the static inventory of the same kind. The goal is for CPU
time, because the test's server takes its time for each page.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
from certificates import Authority
from fake_node import FakeNode, answer, for_session, new_session

from playbooks import Controller

GOAL_SECONDS = 3
PAGE = 100
LISTING = {"path": "/engines", "items": "data.items", "name": "name", "address": "ip", "state": "status"}
LISTING |= {"running": "running", "failed": "failed"}
CONSTRUCTED = {
    "compose": {"slb_user_credential_id": "2 if slb_engine_name is match('edge-1') else 1"},
    "groups": {"to_look_at": "slb_console_state != 'running'"},
    "keyed_groups": [{"prefix": "console", "key": "slb_console_state"}],
}


def engines(count: int) -> list[dict[str, str]]:
    return [
        {"name": f"edge-{n}", "ip": f"10.0.{n // 250}.{n % 250 + 1}", "status": "failed" if n % 50 == 0 else "running"}
        for n in range(count)
    ]


def routes(listed: list[dict[str, str]]) -> dict[str, Any]:
    def of(items: list[dict[str, str]]) -> Any:
        return [for_session(answer(200, json.dumps({"data": {"items": items, "total": len(listed)}})))]

    pages = range(-(-len(listed) // PAGE))
    return {
        "/account/login/": [new_session()],
        "/engines": of(listed),
        **{f"/engines?page={page + 1}": of(listed[page * PAGE : page * PAGE + PAGE]) for page in pages},
    }


def sources(folder: Path, server: FakeNode, listed: list[dict[str, str]]) -> dict[str, list[Path]]:
    """The files of each variant."""
    options = {
        "plugin": "slb.fleet.engines",
        "base_url": server.base_url,
        "tls_fingerprint": server.certificate.fingerprint,
        "username": "admin",
        "password": "bench-password",
        "engine_list": LISTING,
    }
    kept = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(folder / "kept")}
    hosts = {
        engine["name"]: {
            "slb_engine_name": engine["name"],
            "slb_manage_ip": engine["ip"],
            "ansible_host": engine["ip"],
            "slb_console_state": engine["status"],
        }
        for engine in listed
    }
    contents: dict[str, Any] = {
        "nothing": {"engines": {"hosts": {"edge-0": {}}}},
        "static": {"engines": {"hosts": hosts}},
        "one answer": options,
        "pages": {**options, "engine_list": {**LISTING, "page_parameter": "page"}},
        "cache": {**options, **kept},
        "groups": {**options, **CONSTRUCTED},
        "constructed": {"plugin": "ansible.builtin.constructed", **CONSTRUCTED},
    }
    files = {name: folder / f"{name.replace(' ', '_')}_slb_engines.yml" for name in contents}
    for name, content in contents.items():
        files[name].write_text(yaml.safe_dump(content))
    constructed = files.pop("constructed")
    variants = {name: [file] for name, file in files.items()}
    return {**variants, "static groups": [files["static"], constructed]}


def measured(controller: Controller, files: list[Path], hosts: int) -> tuple[float, float]:
    """Wall and CPU seconds of one run, which has to have shown that many hosts."""
    given = [part for file in files for part in ("-i", str(file))]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", "from ansible.cli.inventory import main; main()", "--list", *given],
        env=controller.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    shown = len(json.loads(done.stdout)["engines"]["hosts"])
    if shown != hosts:
        sys.exit(f"{files[0].name} has {shown} hosts, and not {hosts}: {done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    listed = engines(options.hosts)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        certificate = Authority(folder).certificate("bench")
        with FakeNode(certificate, routes(listed)) as server:
            files = sources(folder, server, listed)
            controller = Controller(folder)
            results: dict[str, list[tuple[float, float]]] = {variant: [] for variant in files}
            for _ in range(options.runs):
                for variant, paths in files.items():
                    expected = 1 if variant == "nothing" else options.hosts
                    results[variant].append(measured(controller, paths, expected))
    wall, cpu = (
        {variant: statistics.median(run[which] for run in runs) for variant, runs in results.items()}
        for which in (0, 1)
    )
    print(f"{options.hosts} hosts, medians of {options.runs} runs, {os.cpu_count()} CPUs")
    print(f"{'inventory':14} {'wall s':>7} {'CPU s':>7}   {'above: wall s':>13} {'CPU s':>7} {'CPU / static':>14}")
    worst = 0.0
    for variant in files:
        has_groups = "groups" in variant
        above = [
            table[variant] - table["nothing"] - has_groups * (table["static groups"] - table["static"])
            for table in (wall, cpu)
        ]
        ratio = cpu[variant] / cpu["static groups" if has_groups else "static"]
        print(f"{variant:14} {wall[variant]:7.2f} {cpu[variant]:7.2f}   {above[0]:13.2f} {above[1]:7.2f} {ratio:14.2f}")
        worst = worst if variant.startswith("static") else max(worst, above[1])
    print(f"most above Ansible's own cost: {worst:.2f} s of CPU   (goal: less than {GOAL_SECONDS} s)")


if __name__ == "__main__":
    main()
