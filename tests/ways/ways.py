"""The everyday ways to run a playbook: a table of settings, and a rollout in any combination of them."""

import itertools
import json
import os
import random
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from rollouts import PLUGINS, inventory
from runs import Run, run

from playbooks import COLLECTIONS

BIN = Path(sys.executable).parent
STATES = {"edge-1": "verified", "edge-2": "", "edge-3": "", "edge-4": "verified"}
LIMITS = {
    "none": set(STATES),
    "edge-2": {"edge-2"},
    "engines:!edge-3": {"edge-1", "edge-2", "edge-4"},
    "edge-*": set(STATES),
    "@hosts.txt": {"edge-1", "edge-3"},
}
WAYS: dict[str, tuple[str, ...]] = {
    "become": ("none", "all", "group", "ansible.cfg", "-b", "-e"),
    "inventory": ("yaml", "ini", "script", "two sources"),
    "variables": ("all", "group", "play", "-e file", "-e text", "environment", "host outranks all"),
    "limit": tuple(LIMITS),
    "forks": ("1", "5", "50"),
    "mode": ("run", "--check", "--diff"),
    "strategy": ("linear", "free", "host_pinned"),
    "callbacks": ("default", "yaml", "minimal", "slb.fleet.fleet", "fleet and junit"),
    "launcher": ("ansible-playbook", "site.yml", "ansible-runner", "python -m"),
    "collection": ("once", "twice"),
    "home": ("own", "unset", "/", "missing"),
    "locale": ("C.UTF-8", "C"),
    "umask": ("022", "077"),
    "TZ": ("UTC", "Pacific/Kiritimati"),
    "ulimit": ("1024", "90"),
    "license": ("none", "wanted"),
}
Row = dict[str, str]


def rows(seed: int) -> list[Row]:
    """Return rows in which each value of a column stands once with each value of every other one."""
    chance = random.Random(seed)
    left = {((a, x), (b, y)) for a, b in itertools.combinations(WAYS, 2) for x in WAYS[a] for y in WAYS[b]}
    found: list[Row] = []
    while left:
        pair = min(left)
        candidates = [
            {**{name: chance.choice(values) for name, values in WAYS.items()}, **dict(pair)} for _ in range(300)
        ]
        best = max(candidates, key=lambda row: len(left.intersection(itertools.combinations(row.items(), 2))))
        left -= set(itertools.combinations(best.items(), 2))
        found.append(best)
    return found


class Way:
    """A rollout of ``STATES`` at a management node, in the way of a row."""

    def __init__(self, row: Row, folder: Path, server: Any) -> None:
        self.row, self.folder = row, folder
        self.reports, self.sudo_calls = folder / "reports", folder / "sudo-calls"
        self.license = folder / "license"
        self.hosts = LIMITS[row["limit"]]
        self.options: list[str] = []
        self.play_variables: dict[str, Any] = {}
        self.imports: list[dict[str, Any]] = [{}]
        self.keywords: dict[str, Any] = {}
        self.environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("ANSIBLE_", "SLB_", "LC_", "LANG"))
            },
            "PATH": f"{folder}/bin:{BIN}:{os.environ['PATH']}",
            "LANG": row["locale"],
            "TZ": row["TZ"],
            "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
            "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"),
            "JUNIT_OUTPUT_DIR": str(folder / "junit"),
        }
        content = inventory(server, folder / "hosts", len(STATES), STATES)["engines"]
        self._write_settings()
        self._place_variables(content)
        self._write_inventory(content)

    def _write(self, name: str, content: Any) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path

    def _write_settings(self) -> None:
        row = self.row
        callbacks = ["slb.fleet.report", *(["ansible.builtin.junit"] if row["callbacks"] == "fleet and junit" else [])]
        stdout = {"yaml": "default", "fleet and junit": "slb.fleet.fleet"}.get(row["callbacks"], row["callbacks"])
        paths = [str(COLLECTIONS)]
        if row["collection"] == "twice":
            other = self.folder / "other" / "ansible_collections" / "slb" / "fleet"
            self._write(f"{other}/galaxy.yml", {"namespace": "slb", "name": "fleet", "version": "0.0.1"})
            self._write(f"{other}/playbooks/rollout.yml", [{"hosts": "all", "tasks": [{"ansible.builtin.fail": {}}]}])
            paths.append(str(self.folder / "other"))
        lines = [
            "[defaults]",
            f"collections_path = {':'.join(paths)}",
            f"connection_plugins = {PLUGINS}",
            f"callbacks_enabled = {','.join(callbacks)}",
            f"stdout_callback = {stdout}",
            f"callback_result_format = {'yaml' if row['callbacks'] == 'yaml' else 'json'}",
            f"strategy = {row['strategy']}",
            "pipelining = true",
            "[slb_fleet]",
            f"report_dir = {self.reports}",
            "[privilege_escalation]",
            "become_allow_same_user = true",
            *(["become = true"] if row["become"] == "ansible.cfg" else []),
        ]
        self._write("ansible.cfg", "\n".join(lines) + "\n")
        # On the controller, nothing may call it.
        self._write("bin/sudo", f"#!/bin/sh\necho $* >> {self.sudo_calls}\nexit 1\n").chmod(0o755)
        homes = {"own": str(self.folder), "/": "/", "missing": "/nonexistent"}
        self.environment.pop("HOME", None)
        if row["home"] in homes:
            self.environment["HOME"] = homes[row["home"]]

    def _place_variables(self, content: dict[str, Any]) -> None:
        own = {name: content["vars"].pop(name) for name in ("slb_username", "slb_password")}
        wrong = {"slb_username": "nobody", "slb_password": "wrong"}
        place = self.row["variables"]
        if place in ("all", "host outranks all"):
            self._write("inventory/group_vars/all.yml", own if place == "all" else wrong)
        if place == "host outranks all":
            for name in content["hosts"]:
                self._write(f"inventory/host_vars/{name}.yml", own)
        elif place == "group":
            self._write("inventory/group_vars/engines/login.yml", own)
        elif place == "play":
            self.play_variables = own
        elif place == "-e file":
            self.options += ["-e", f"@{self._write('login.yml', own)}"]
        elif place == "-e text":
            self.options += ["-e", " ".join(f"{name}={shlex.quote(value)}" for name, value in own.items())]
        elif place == "environment":
            self.environment |= {"SLB_USERNAME": own["slb_username"], "SLB_PASSWORD": own["slb_password"]}
        if self.row["license"] == "wanted":
            content["vars"]["slb_license_dest"] = str(self.license)
        become = self.row["become"]
        if become == "group":
            content["vars"]["ansible_become"] = True
        # The task between batches is once for all hosts: it must not become root on the controller.
        self.options += ["-e", "slb_batch_pause=1"] if become != "none" else []
        self.options += {"-b": ["-b"], "-e": ["-e", "ansible_become=true"]}.get(become, [])

    def _write_inventory(self, content: dict[str, Any]) -> None:
        form, everywhere = self.row["inventory"], {"ansible_become": True} if self.row["become"] == "all" else {}
        whole = {"all": {"vars": everywhere, "children": {"engines": content}}}
        sources = {"yaml": ["hosts.yml"], "ini": ["hosts.ini"], "script": ["hosts.py"]}.get(
            form, ["hosts.ini", "more.yml"]
        )
        ini = ["[engines]"]
        for name, variables in content["hosts"].items():
            ini.append(" ".join([name, *(f"{key}={json.dumps(value)}" for key, value in variables.items())]))
        if form == "yaml":
            self._write("inventory/hosts.yml", whole)
        elif form == "two sources":
            self._write("inventory/more.yml", {"all": {"vars": everywhere}, "engines": {"vars": content["vars"]}})
        elif form == "ini":
            for group, variables in (("engines", content["vars"]), ("all", everywhere)):
                ini += [f"[{group}:vars]", *(f"{key}={value!r}" for key, value in variables.items())]
        else:
            groups = {
                "engines": {"hosts": list(content["hosts"]), "vars": content["vars"]},
                "all": {"vars": everywhere},
            }
            groups["_meta"] = {"hostvars": content["hosts"]}
            script = f"#!{sys.executable}\nprint({json.dumps(groups)!r})\n"
            self._write("inventory/hosts.py", script).chmod(0o755)
        if "hosts.ini" in sources:
            self._write("inventory/hosts.ini", "\n".join(ini) + "\n")
        self._write("hosts.txt", "edge-1\nedge-3\n")
        self.sources = [word for name in sources for word in ("-i", f"{self.folder}/inventory/{name}")]

    def _command(self) -> list[str]:
        row, limit = self.row, self.row["limit"]
        options = [*self.sources, *self.options, "--forks", row["forks"]]
        options += [] if limit == "none" else ["--limit", limit.replace("@", f"@{self.folder}/")]
        options += [] if row["mode"] == "run" else [row["mode"]]
        site = {"import_playbook": "slb.fleet.rollout"}
        imports = [{**site, "vars": {**self.play_variables, **each}, **self.keywords} for each in self.imports]
        self._write("project/site.yml", imports)
        if row["launcher"] == "ansible-runner":
            words = shlex.join(options)
            return ["ansible-runner", "run", str(self.folder), "--playbook", "site.yml", f"--cmdline={words}"]
        program = (
            [sys.executable, "-m", "ansible", "playbook"] if row["launcher"] == "python -m" else ["ansible-playbook"]
        )
        is_site = row["launcher"] == "site.yml" or row["variables"] == "play"
        return [*program, *options, "project/site.yml" if is_site else "slb.fleet.rollout"]

    def run(self) -> Run:
        command = f"ulimit -Sn {self.row['ulimit']}; umask {self.row['umask']}; {shlex.join(self._command())}"
        return run(command, shell=True, cwd=self.folder, env=self.environment)

    def pull(self) -> Run:
        """Run ``site.yml`` out of a repository; ansible-pull needs localhost for itself, and a limit for others."""
        self._command()
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", "-C", f"{self.folder}/project"]
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "site"]):
            done = run([*git, *arguments], cwd=self.folder, env=self.environment)
            assert done.status == 0, done.output
        environment = {**self.environment, "ANSIBLE_PYTHON_INTERPRETER": sys.executable}
        pulled = ["-U", f"{self.folder}/project", "-d", f"{self.folder}/pulled", *self.sources, "-i", "localhost,"]
        return run(["ansible-pull", *pulled, "-l", "engines", "site.yml"], cwd=self.folder, env=environment)

    @property
    def document(self) -> dict[str, Any]:
        return dict(json.loads((self.reports / "report.json").read_text()))


def ids(found: list[Row]) -> Iterator[str]:
    return (f"{number}-" + "-".join(row.values()).replace("/", ":") for number, row in enumerate(found))
