"""What a lab consists of, as its user describes it in YAML; checked here, once."""

import reprlib
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from slb_lab.errors import LabError
from slb_lab.management_node.config import EngineImage, Seconds
from slb_lab.management_node.messages import Language

Release = Literal["bullseye", "bookworm", "trixie"]
Runtime = Literal["docker", "podman"]
HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$")]
InterfaceName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]{1,14}$")]
TAKEN_INTERFACES = {"lo", "eth0", "docker0"}


class _Described(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NicSpec(_Described):
    """One additional network interface of a host."""

    kind: Literal["no_address", "unmanaged", "static", "external", "ifupdown", "auto_profile", "strictly_unmanaged"]
    dhcp: Literal["none", "answers"] = "none"

    @model_validator(mode="after")
    def _consistent(self) -> "NicSpec":
        if self.dhcp != "none" and self.kind in ("static", "external", "ifupdown", "strictly_unmanaged"):
            raise ValueError(f"an interface of the kind {self.kind!r} never asks a DHCP server; leave 'dhcp' out")
        return self


class HostSpec(_Described):
    """One engine host."""

    release: Release = "bookworm"
    runtime: Runtime = "docker"
    leftover: Literal["none", "running"] = "none"
    motd_lines: int = Field(default=0, ge=0, le=100_000)
    nics: dict[InterfaceName, NicSpec] = {}

    @model_validator(mode="after")
    def _consistent(self) -> "HostSpec":
        taken = TAKEN_INTERFACES.intersection(self.nics)
        if taken:
            raise ValueError(f"the interface name {sorted(taken)[0]!r} is the host's own; choose another, such as ens9")
        return self


class ManagementNodeSpec(_Described):
    """How the management node behaves; all times in seconds. ``port`` 0: any that is free."""

    deploy_seconds: Seconds = 6
    language: Language = "en"
    engine: EngineImage = EngineImage()
    port: int = Field(default=0, ge=0, lt=65536)
    license: str = "SLB LICENSE (lab)\nvalid: until the lab is taken down\nengines: unlimited\n"


class Topology(_Described):
    """A whole lab."""

    management_node: ManagementNodeSpec = ManagementNodeSpec()
    hosts: dict[HostName, HostSpec] = Field(min_length=1, max_length=200)

    @classmethod
    def parse(cls, text: str, source: str) -> "Topology":
        """Read a topology; SOURCE names it in errors. Raises LabError that says what is wrong and where."""
        try:
            content = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise LabError(f"{source} is not YAML: {' '.join(str(error).split())}") from None
        if not isinstance(content, dict):
            raise LabError(f"{source} does not describe a lab: it has no 'hosts'. The lab's README shows an example.")
        if isinstance(content.get("hosts"), dict):
            content["hosts"] = {name: {} if host is None else host for name, host in content["hosts"].items()}
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise LabError(f"{source} does not describe a lab. {' '.join(map(_sentence, error.errors()))}") from None

    @classmethod
    def load(cls, path: Path) -> "Topology":
        """Read the topology in the file PATH. Raises LabError."""
        try:
            return cls.parse(path.read_text(encoding="utf-8"), str(path))
        except OSError as error:
            raise LabError(f"The topology {path} cannot be read: {error.strerror}.") from None

    def dump(self) -> str:
        """The topology as YAML, without what is default."""
        return yaml.safe_dump(self.model_dump(exclude_defaults=True), sort_keys=False)


def _sentence(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"] if part != "[key]")
    shown = "" if isinstance(error["input"], dict) else f" (it is {reprlib.repr(error['input'])})"
    return f"{place}: {error['msg'].removeprefix('Value error, ')}{shown}."
