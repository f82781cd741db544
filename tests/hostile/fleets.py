"""Runs of a playbook over two honest hosts and some that lie; and what the liars may change of it: nothing."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine_host import EngineHosts
from fake_node import INSTALL, LOGIN, PASSWORD, Exchange, answer, for_session
from lies import HONEST, Trap
from outside import Watched, tree, watched

from playbooks import Controller, of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from engine_host import Lie

LISTING = {"path": "/engines", "name": "name", "address": "ip", "state": "status", "running": "running"}
PLAYBOOKS = ("rollout", "diagnose", "remediate", "adopt_interfaces", "download_license", "show_engine_list", "audit")
PORT_OCCUPIED = '{"code": 1, "msg": "port 8000 is occupied"}'
_LOGIN = f"POST {LOGIN} "
_honest: dict[str, Account] = {}
_POLICY = {"slb_settle": 0, "slb_wait_timeout": 5, "slb_stop_timeout": 1, "slb_confirm_timeout": 5, "slb_motd": "aside"}


@dataclass
class Account:
    """One run, and what was seen of it in all places."""

    run: Watched
    requests: Counter[str]
    files: dict[str, str]
    license: bytes | None


@dataclass
class Fleet:
    """``start``: starts a management node."""

    folder: Path
    start: Callable[..., Any]
    _runs: int = 0

    def __post_init__(self) -> None:
        self.evil = self.start()
        self._node: Any = None
        folder = self.folder / "trap"
        folder.mkdir()
        (folder / "authorized_keys").write_text("ssh-ed25519 AAAA the only key\n")
        (folder / "program").write_text(f"#!/bin/sh\ntouch {folder}/ran\n")
        (folder / "program").chmod(0o755)
        self.trap = Trap(self.evil.base_url, self.evil.certificate.fingerprint, folder)
        self._as_made = tree(folder)

    def run(
        self,
        playbook: str,
        lies: Mapping[str, Lie] | None = None,
        *options: str,
        before: list[dict[str, Any]] | None = None,
        host_variables: dict[str, Any] | None = None,
        behind: Mapping[str, str] | None = None,
        own: Mapping[str, Mapping[str, Any]] | None = None,
        liars_first: bool = False,
        refuses_liars: bool = False,
        are_verified: bool | None = None,
        goes_on: bool = False,
        controller: Controller | None = None,
        **environment: str,
    ) -> Account:
        """``lies``: a host each. ``before``: plays of somebody else. ``host_variables``: of all hosts.

        ``own``: variables of single hosts, which outrank what they have otherwise.

        ``behind``: variables that are templates, each with the name of the variable of a group that has its value.

        ``refuses_liars``: the management node installs nothing on theirs.
        ``are_verified``: the honest, already; by default for an audit alone.
        ``goes_on``: at the management node of the run before.
        """
        self._runs += 1
        folder = self.folder / f"run-{self._runs}"
        home = folder / "home"
        home.mkdir(parents=True)
        controller = controller or Controller(home)
        engines = [{"name": host, "ip": f"192.0.2.{host[-1]}", "status": "running"} for host in HONEST]
        listed = for_session(answer(200, json.dumps(engines)))
        liars = {f"edge-{number}": lie for number, lie in enumerate((lies or {}).values(), 3)}
        names = [*liars, *HONEST] if liars_first else [*HONEST, *liars]
        if not goes_on:
            self._node = self.start(
                {"/engines": [listed], **({INSTALL: [for_session(_occupied)]} if refuses_liars else {})}
            )
        node = self._node
        healthy = (
            dict.fromkeys(HONEST, node.base_url)
            if (are_verified or (are_verified is None and playbook == "audit"))
            else {}
        )
        with EngineHosts(folder / "ssh", liars, healthy) as hosts:
            inventory = self._inventory(hosts, names, node, controller, host_variables or {}, playbook)
            for host, variables in (own or {}).items():
                inventory["engines"]["hosts"][host].update(variables)
            _put_behind(inventory["engines"], behind or {})
            imported = {"ansible.builtin.import_playbook": f"slb.fleet.{playbook}"}
            settings = ["-e", "slb_serial=100%", *(["--limit", ",".join(names)] if playbook == "remediate" else [])]
            run = watched(
                controller, [*(before or []), imported], inventory, *settings, *options,
                **{"ANSIBLE_PIPELINING": "1", "ANSIBLE_SSH_TRANSFER_METHOD": "piped", **environment},
            )  # fmt: skip
        requests = Counter(
            f"{request.method} {request.path} {'' if request.path == LOGIN else request.body.decode()}"
            for request in node.requests
        )
        license_file = controller.folder / "license"
        text = license_file.read_bytes() if license_file.exists() else None
        files = tree(controller.folder)
        return Account(_with_name(run, node.base_url, controller.folder), requests, files, text)

    def _inventory(
        self,
        hosts: EngineHosts,
        names: list[str],
        node: Any,
        controller: Controller,
        more: dict[str, Any],
        playbook: str,
    ) -> dict[str, Any]:
        own = {name: {**hosts.variables(name), "slb_manage_ip": f"192.0.2.{name.rpartition('-')[2]}"} for name in names}
        common = {
            **of(node, PASSWORD),
            "slb_license_dest": str(controller.folder / "license"),
            "slb_engine_list": LISTING if playbook == "show_engine_list" else "",
            "ansible_python_interpreter": "/usr/bin/python3",
            **_POLICY,
            **more,
        }
        return {"engines": {"hosts": own, "vars": common}}

    def honest(self, playbook: str, *options: str, **keywords: Any) -> Account:
        """The run without liars: the same for all tests that want it, so that it is made once for them."""
        which = repr((playbook, options, keywords))
        if which not in _honest:
            _honest[which] = self.run(playbook, {}, *options, **keywords)
        return _honest[which]

    def assert_nothing_was_gained(self, account: Account, honest: Account) -> None:
        """``honest``: the same run without the liars."""
        run = account.run
        assert honest.run.status == 0, honest.run.output[-3000:]
        assert self.evil.connections == 0, "the address of the lie was asked"
        assert tree(self.trap.folder) == self._as_made
        assert account.files == honest.files
        assert account.license == honest.license
        run.assert_visible()
        assert "Traceback" not in run.output, run.output[run.output.index("Traceback") - 2000 :][:4000]
        for host in HONEST:
            for mine, theirs in zip(run.results.get(host, []), honest.run.results.get(host, []), strict=True):
                assert _without_others(mine) == _without_others(theirs), host
            assert run.report.get(host) == honest.run.report.get(host), host
            assert _plain(run.lines_of(host)) == _plain(honest.run.lines_of(host)), host
        # A host that is not there has no line, whatever others say of it.
        assert set(run.report) <= set(run.results) | set(honest.run.report)
        assert _of_honest_hosts(account.requests) == _of_honest_hosts(honest.requests)
        assert account.requests[_LOGIN] <= 1
        assert run.left == []

    def assert_each_liar_is_told(self, account: Account, lies: Mapping[str, Lie], harmless: Sequence[str] = ()) -> None:
        """Each of them ended as failed or unreachable, and in a sentence; of those that are ``harmless`` some may."""
        for number, name in enumerate(lies, 3):
            told = account.run.report[f"edge-{number}"]
            assert name in harmless or told.startswith(("failed", "unreachable")), (name, told)
            assert len(told) < 3000, name


def _without_others(result: Any) -> Any:
    """Without the rows of a table that are about other hosts, and without the widths of its columns."""
    text = re.sub(r" +", " ", json.dumps(result))
    return re.sub(r', "(?!edge-[12] )edge-\d+ [^"]*"', "", text)


def _put_behind(engines: dict[str, Any], behind: Mapping[str, str]) -> None:
    for variable, name in behind.items():
        own = [variables for variables in engines["hosts"].values() if variable in variables]
        for variables in own or [engines["vars"]]:
            variables[name] = variables.pop(variable, "")
            variables[variable] = f"{{{{ {name} }}}}"


def _occupied(exchange: Exchange) -> None:
    is_honest = json.loads(exchange.request.body)["name"] in HONEST
    answer(200, '{"code": 0, "msg": "installation started"}' if is_honest else PORT_OCCUPIED)(exchange)


def _of_honest_hosts(requests: Counter[str]) -> Counter[str]:
    """What a liar may do with its own name and address is to have its engine installed, and the list read once more.

    And to be the one for which the run logs in.
    """
    own = re.compile(r'"name": ?"edge-(\d+)".*"manage_ip": ?"192\.0\.2\.\1"')
    return Counter(
        {
            request: 1 if request.startswith("GET /engines ") else count
            for request, count in requests.items()
            if request != _LOGIN and (not (match := own.search(request)) or f"edge-{match[1]}" in HONEST)
        }
    )


def _plain(lines: list[str]) -> list[str]:
    """Without times, and without the order in which hosts answered."""
    return sorted(re.sub(r"\s+", " ", re.sub(r"\b\d+ s\b", "", line)) for line in lines)


def _with_name(run: Watched, base_url: str, folder: Path) -> Watched:
    """With words in the place of what differs between runs."""

    def named(text: str) -> str:
        text = text.replace(base_url, "https://node.example").replace(str(folder), "/home")
        text = re.sub(r"slb_list_[0-9a-f]{64}", "slb_list", text)
        return re.sub(r"slb_license_[0-9a-f]{64}", "slb_license", text)

    results = json.loads(named(json.dumps(run.results)))
    return Watched(run.status, named(run.output), run.left, results)
