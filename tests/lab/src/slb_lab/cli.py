"""The command slb-lab."""

import json
import logging
from pathlib import Path
from typing import Any

import click
import yaml

from slb_lab import folder
from slb_lab.lab import Lab
from slb_lab.topology import Topology


class _Commands(click.Group):
    """Turns the lab's error into one sentence and exit status 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (folder.LabError, OSError) as error:
            raise click.ClickException(str(error)) from None


_name = click.option("--name", required=True, help="Which lab.")
_path = click.Path(dir_okay=False, path_type=Path)


@click.group(cls=_Commands)
def main() -> None:
    """Engine hosts and a management node on this machine, to try the collection slb.fleet for real."""
    logging.basicConfig(format="%(message)s")
    logging.getLogger("slb_lab").setLevel(logging.INFO)


@main.command()
@_name
@click.option("--file", "file", type=_path, required=True, help="A topology (YAML); see the README.")
def up(name: str, file: Path) -> None:
    """Make the lab, or make it again what it should be."""
    Lab(name).up(Topology.load(file))


@main.command()
@_name
def down(name: str) -> None:
    """Remove the lab: hosts, network, management node and all that it kept."""
    Lab(name).down()


@main.command()
@_name
@click.option("--output", type=_path, required=True, help="A file to write.")
def inventory(name: str, output: Path) -> None:
    """Write an Ansible inventory of the lab (YAML; it holds the management node's password)."""
    folder.write(output, yaml.safe_dump(Lab(name).inventory(), sort_keys=False, width=1000).encode())


@main.command()
@_name
@click.option("--clear", is_flag=True, help="Switch all faults off.")
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
def fault(name: str, clear: bool, settings: tuple[str, ...]) -> None:
    """Switch faults of the management node on or off; without arguments, show them."""
    node = Lab(name).management_node
    chosen: dict[str, Any] = {} if clear else node.state()["faults"]
    chosen |= {key: yaml.safe_load(value) for key, _, value in (each.partition("=") for each in settings)}
    for key, value in node.set_faults(chosen).items():
        click.echo(f"{key}={json.dumps(value)}")
