"""The configuration file of the management node."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from slb_lab.errors import LabError
from slb_lab.management_node.messages import Language

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Port = Annotated[int, Field(gt=0, lt=65536)]


class _Described(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Credential(_Described):
    """A stored credential: the login on engine hosts, by private key (a path) or by password.

    ``port``: that of the host's SSH server.
    """

    id: int
    port: Port = 22
    username: str
    private_key: Path | None = None
    password: str | None = None

    @model_validator(mode="after")
    def _one_secret(self) -> Self:
        if (self.private_key is None) == (self.password is None):
            raise ValueError("give either 'private_key' or 'password'")
        return self


class EngineImage(_Described):
    """What a deployment starts on a host: an image that is already there, and the TCP port it serves."""

    image: str = "slb:1"
    port: Port = 8000


class Config(_Described):
    """``state``: the folder of everything that outlives the process. Times are in seconds."""

    state: Path
    listen: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, lt=65536)] = 0
    username: str
    password: str
    credentials: list[Credential]
    deploy_seconds: Seconds = 6
    engine: EngineImage = EngineImage()
    language: Language = "en"
    license: str

    def credential(self, wanted: int) -> Credential | None:
        return next((credential for credential in self.credentials if credential.id == wanted), None)


def load(path: Path) -> Config:
    """Read the configuration. Raises LabError that says what is wrong and where."""
    try:
        return Config.model_validate_json(path.read_bytes())
    except OSError as error:
        raise LabError(f"The configuration {path} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        raise LabError(f"The configuration {path} cannot be used. {sentences(error)}") from None


def sentences(error: ValidationError) -> str:
    """What pydantic found, one sentence for each place."""
    return " ".join(f"{'.'.join(map(str, found['loc'])) or 'The whole'}: {found['msg']}." for found in error.errors())
