"""What a lab consists of, as its user describes it in YAML."""

from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from slb_lab.folder import LabError

Release = Literal["bullseye", "bookworm", "trixie"]
Runtime = Literal["docker", "podman"]
HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$")]


class _Described(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NicSpec(_Described):
    """One additional network interface of a host."""

    kind: Literal["no_address", "unmanaged", "static", "external", "ifupdown", "auto_profile", "strictly_unmanaged"]
    dhcp: Literal["none", "answers"] = "none"


class HostSpec(_Described):
    """One engine host."""

    release: Release = "bookworm"
    runtime: Runtime = "docker"
    leftover: Literal["none", "running"] = "none"
    motd_lines: int = 0
    nics: dict[str, NicSpec] = {}


class ManagementNodeSpec(_Described):
    """``deploy_seconds``: how long a deployment takes."""

    deploy_seconds: float = 6


class Topology(_Described):
    """A whole lab."""

    management_node: ManagementNodeSpec = ManagementNodeSpec()
    hosts: dict[HostName, HostSpec] = Field(min_length=1)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the topology in a file. Raises LabError."""
        try:
            return cls.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        except (OSError, yaml.YAMLError, ValidationError) as error:
            raise LabError(f"{path} does not describe a lab: {error}") from None

    def dump(self) -> str:
        """The topology as YAML, without what is default."""
        return yaml.safe_dump(self.model_dump(exclude_defaults=True), sort_keys=False)
