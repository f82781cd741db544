"""Engine hosts, each with a management node of its own: so one rollout meets a different trouble on each host."""

import json
import re
import subprocess
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import requests
import yaml
from fleet import BIN, LISTING, RECORD, Fleet
from runs import Run, output_of, started, wait_until
from slb_lab.hosts.files import noisy_motd
from slb_lab.lab import Host, Lab
from slb_lab.management import ManagementNode

# Each site's console has one engine at most.
LISTED = {"slb_engine_list": LISTING, "slb_engine_list_may_be_empty": True}
SERVE = ["slb:1", "/bin/httpd", "-f", "-p", "8000"]
# Extra variables, which override those of hosts; plays read them before they know a host.
_OF_THE_PLAYS = {"slb_serial": "100%", "slb_max_replaced": "100%"}
# The shortest wait that these calls allow.
_OF_THE_GROUP = {
    **{"slb_timeout": 10, "slb_retries": 0, "slb_wait_timeout": 70},
    **{"slb_settle": 2, "slb_stop_timeout": 1, "slb_host_timeout": 300},
}
_CLEAN = f"""
runtime=$(command -v docker || command -v podman)
$runtime ps --quiet --filter status=paused | xargs --no-run-if-empty $runtime unpause
$runtime ps --all --quiet | xargs --no-run-if-empty $runtime rm --force
systemctl stop 'test-*'
rm -rf {RECORD} /etc/motd /etc/motd.slb-fleet* /etc/profile.d/test-* /etc/ssh/sshd_config.d/test-*
hostnamectl set-hostname $1
"""


class HostRun(NamedTuple):
    """What a rollout made of one host. ``predicted``: its status in check mode. ``said``: all about it, in one line."""

    predicted: str
    failed: bool
    said: str


# Prepares its site, yields variables of the host, gets what the rollout made of it, and checks the site.
Scenario = Callable[["Site"], Generator[Mapping[str, Any], HostRun, None]]


@dataclass(frozen=True)
class Proof:
    """Whether the engine is verified BY this; where it is not, what was seen instead is in the words of the failure."""

    by: str
    record: Mapping[str, Any]
    containers: Mapping[str, str]
    engine: str

    def __bool__(self) -> bool:
        recorded = tuple(self.record.get(key) for key in ("state", "verified_by", "last_verified"))
        return self.containers.get("slb") == "running" and recorded == ("verified", self.by, self.engine)


class Site:
    """One engine host and the management node that deploys onto it."""

    def __init__(self, host: Host, node: ManagementNode) -> None:
        self.host, self.node, self.name = host, node, host.name
        self.passing_faults = False
        self._motd = self.file("/etc/motd")

    def leave(self) -> None:
        self.node.stop()  # with its deployments, which could end after the host is clean
        self.host.exec(["sh", "-c", _CLEAN, "sh", self.name])
        self.write("/etc/motd", self._motd)

    def clean(self) -> None:
        self.leave()
        self.host.exec(["rm", "/etc/motd"])
        self.node.start()
        for engine in self.node.state()["engines"]:
            self.node.forget(engine["name"])
        self.node.set_faults({})
        self.node.reset_counters()
        self.passing_faults = False

    # --- state

    def runtime(self, *arguments: str) -> str:
        """Run a command of Docker or Podman."""
        return self.host.exec([self.host.spec.runtime, *arguments]).stdout.strip()

    @property
    def containers(self) -> dict[str, str]:
        """The state of every container by its name."""
        lines = self.runtime("ps", "--all", "--format", "{{.Names}} {{.State}}").splitlines()
        return dict(line.split() for line in lines)

    @property
    def leftovers(self) -> list[str]:
        return [state for name, state in self.containers.items() if name.startswith("slb-leftover-")]

    @property
    def engine(self) -> str:
        """The id of the container slb; empty if there is none."""
        return self._if_there(self.host.spec.runtime, "inspect", "--format", "{{.Id}}", "slb").strip()

    @property
    def record(self) -> dict[str, Any]:
        """Empty if there is none."""
        text = self.file(RECORD)
        return dict(json.loads(text)) if text else {}

    def file(self, path: str) -> str:
        """What is in it; empty if there is none."""
        return self._if_there("cat", path)

    def _if_there(self, *command: str) -> str:
        """What it says; empty where it says that there is no such thing. A failed check returns nothing."""
        outcome = self.host.exec(command, check=False)
        assert outcome.returncode == 0 or "no such" in outcome.stderr.lower(), f"{self.name}: {command}: {outcome}"
        return outcome.stdout

    @property
    def listed(self) -> list[str]:
        """What the management node knows of its engine, whatever it shows."""
        return [engine["status"] for engine in self.node.state()["engines"]]

    @property
    def requests(self) -> dict[str, int]:
        return dict(self.node.state()["counters"])

    def is_verified(self, by: str) -> Proof:
        return Proof(by, self.record, self.containers, self.engine)

    # --- what happens to it

    def run_container(self, name: str = "slb", *command: str) -> str:
        options = ["--detach", "--name", name, "--restart", "always", "--network", "host"]
        return self.runtime("run", *options, *(command or SERVE))

    def connect_a_client(self) -> None:
        # The engine ends a connection on which it has waited for a minute.
        client = """
import socket, time
while True:
    connection = socket.create_connection(("127.0.0.1", 8000))
    connection.send(b"GET /")
    time.sleep(20)
    older = connection
"""
        self._unit("test-client", "python3", "-c", client)
        wait_until(lambda: "ESTAB" in self.host.exec(["ss", "-tn", "sport", "=", ":8000"]).stdout, "a connection")

    def hold_the_port(self) -> None:
        self._unit("test-holder", "python3", "-m", "http.server", "8000")
        wait_until(lambda: bool(self.host.exec(["ss", "-Hltn", "sport = :8000"]).stdout), "the held port")

    def free_the_port(self) -> None:
        self.host.exec(["systemctl", "stop", "test-holder"])

    def _unit(self, name: str, *command: str) -> None:
        self.host.exec(["systemd-run", "--collect", "--unit", name, *command])

    def write(self, path: str, content: str) -> None:
        self.host.exec(["sh", "-c", f"mkdir -p $(dirname {path}) && cat > {path}"], stdin=content)

    def make_motd_noisy(self) -> str:
        self.write("/etc/motd", noisy_motd(400))
        return noisy_motd(400)

    def a_person_deploys(self, seconds: float = 0) -> None:
        """Add the engine in the web console: its deployment lasts that time, or has ended."""
        node = self.node
        if seconds:
            node.set_faults({"slow_start_seconds": seconds})
        with requests.Session() as session:
            session.verify, session.trust_env = str(node.certificate), False
            account = {"username": node.username, "password": node.password}
            session.post(f"{node.base_url}/account/login/", json=account, timeout=10)
            engine = {"name": self.name, "manage_ip": self.host.address}
            options = {"is_change_hostname": False, "user_credential_id": 1}
            answer = session.post(f"{node.base_url}/system/add_slb_engine/", json=engine | options, timeout=20)
            assert "started" in answer.text, answer.text
        state = "deploying" if seconds else "running"
        wait_until(lambda: self.listed == [state], f"a deployment that is {state}")

    def break_the_first_deployment(self, faults: dict[str, Any]) -> None:
        """Clear the faults after the install request."""
        self.node.set_faults(faults)
        self.passing_faults = True

    def end_passing_faults(self) -> None:
        if self.passing_faults and self.listed:
            self.node.set_faults({})
            self.passing_faults = False


class Sites:
    """All of them, and Ansible's commands against them."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.fleet = Fleet(lab, folder)
        self._lab, self._folder = lab, folder
        self._sites: dict[str, Site] = {}
        for name, host in lab.hosts.items():
            (folder / name).mkdir(mode=0o700)
            node = ManagementNode(folder / name)
            node.configure(lab.topology, lab.folder.private_key)
            self._sites[name] = Site(host, node)
        self._each(lambda site: site.node.start())

    def __getitem__(self, name: str) -> Site:
        return self._sites[name]

    def __iter__(self) -> Iterator[Site]:
        return iter(self._sites.values())

    def clean(self) -> None:
        self._each(Site.clean)

    def prepare(self, steps: Mapping[str, Callable[[Site], object]]) -> None:
        """Cleans all sites, then does each one's step."""
        self.clean()
        self._each(lambda site: steps[site.name](site) if site.name in steps else None)

    def leave(self) -> None:
        """Stop the management nodes and leave each host as the lab made it."""
        self._each(Site.leave)

    def meet(self, scenarios: Sequence[Scenario]) -> None:
        """Roll out while each host meets its scenario. Before, diagnose and --check must agree and change nothing."""
        self.clean()
        playing = {site: scenario(site) for site, scenario in zip(self, scenarios, strict=True)}
        with ThreadPoolExecutor() as threads:
            prepared = threads.map(next, playing.values())
            variables = {site.name: given for site, given in zip(playing, prepared, strict=True)}
            before = self.seen()
            diagnosis = threads.submit(self.play, "slb.fleet.diagnose", variables=variables)
            checked = self.play("slb.fleet.rollout", "--check", variables=variables)
            diagnosed = diagnosis.result()
        assert self.seen() == before, checked.output
        predicted, also = ({site: run.report[site.name].split()[0] for site in playing} for run in (checked, diagnosed))
        assert predicted == also, checked.output + diagnosed.output
        rollout = self.play("slb.fleet.rollout", variables=variables)
        troubles = []
        for site, scenario in playing.items():
            try:
                has_failed = rollout.of("failed")[site.name] == 1
                scenario.send(HostRun(predicted[site], has_failed, said(rollout, site.name)))
            except StopIteration:
                pass
            except AssertionError as error:
                error.add_note(f"{scenario.__name__} on {site.name}: {rollout.output}")
                troubles.append(error)
        if troubles:
            raise troubles[0]

    def seen(self) -> dict[str, object]:
        """All that a run could change. A container that crashes again and again is now this, now that."""
        return {
            site.name: (
                str(site.containers).replace("restarting", "running"),
                site.engine,
                site.file(RECORD),
                site.file("/etc/motd"),
            )
            for site in self
        }

    def _each(self, step: Callable[[Site], object]) -> None:
        with ThreadPoolExecutor(max_workers=4) as workers:
            list(workers.map(step, self))

    def play(
        self, playbook: str, *arguments: str, variables: Mapping[str, dict[str, Any]] | None = None, **common: Any
    ) -> Run:
        """Runs a playbook to its end. ``variables`` are those of single hosts, ``common`` those of all."""
        with self.started(playbook, *arguments, variables=variables, **common) as process:
            while process.poll() is None:
                for site in self:
                    site.end_passing_faults()
                time.sleep(0.3)
            return Run(process.returncode, output_of(self._folder, process))

    @contextmanager
    def started(
        self, playbook: str, *arguments: str, variables: Mapping[str, dict[str, Any]] | None = None, **common: Any
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Starts a playbook in a process group of its own, killed at the end if it still runs."""
        variables_of_all = json.dumps(_OF_THE_PLAYS | common)
        inventories = [f"-i{self.fleet.inventory}", f"-i{self._inventory(variables or {})}"]
        command = [BIN / "ansible-playbook", *inventories, playbook, *arguments, "-e", variables_of_all]
        with started(command, self._folder, env=self.fleet.environment()) as process:
            yield process

    def _inventory(self, variables: Mapping[str, dict[str, Any]]) -> Path:
        """Each host's own management node, and what the operator says of this host."""
        hosts = {
            site.name: {
                "slb_base_url": site.node.base_url,
                "slb_password": site.node.password,
                "slb_tls_fingerprint": site.node.tls_fingerprint,
                **variables.get(site.name, {}),
            }
            for site in self
        }
        path = self._folder / f"{time.monotonic_ns()}.yml"
        path.write_text(yaml.safe_dump({"engines": {"hosts": hosts, "vars": _OF_THE_GROUP}}))
        path.chmod(0o600)
        return path


def said(run: Run, host: str) -> str:
    """All that the run said about one host, in one line."""
    blocks = re.findall(
        rf"^(?:(?:ok|changed|fatal): )?\[{re.escape(host)}\].*?(?=^\S|\Z)", run.output + "\n", re.MULTILINE | re.DOTALL
    )
    return " ".join(" ".join(blocks).split())
