"""The command slb-lab."""

import json
from pathlib import Path
from typing import Any

import click
import yaml

from slb_lab import docker, folder
from slb_lab.errors import LabError
from slb_lab.hosts import containers, images
from slb_lab.lab import Lab
from slb_lab.topology import Topology


class _Commands(click.Group):
    """Turns the lab's error into one sentence and exit status 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LabError as error:
            raise click.ClickException(str(error)) from None


def _report(subject: str, step: str) -> None:
    click.echo(f"{subject}: {step}")


_name = click.option("--name", default="default", show_default=True, help="Which lab.")


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Engine hosts and a management node on this machine, to try the collection slb.fleet for real."""


@main.command()
@_name
@click.option(
    "--file", "file", type=click.Path(dir_okay=False, path_type=Path), help="A topology (YAML); see the README."
)
def up(name: str, file: Path | None) -> None:
    """Make the lab, or make it again what it should be. What is as wanted stays as it is."""
    Lab(name).up(Topology.load(file) if file else None, _report)


@main.command()
@_name
@click.option("--all", "every", is_flag=True, help="All labs of this machine, wherever they are kept.")
@click.option("--images", "with_images", is_flag=True, help="Remove the images too, which otherwise stay as a cache.")
def down(name: str, every: bool, with_images: bool) -> None:
    """Remove the lab: hosts, network, management node and all that it kept."""
    folders = _all_labs() if every else [folder.Folder(name)]
    for each in folders:
        Lab(each.name, each).down(_report)
    if with_images:
        images.remove_all(_report)


@main.command()
@_name
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file to write; default: standard output."
)
def inventory(name: str, output: Path | None) -> None:
    """Write an Ansible inventory of the lab (YAML; it holds the management node's password)."""
    text = yaml.safe_dump(Lab.load(name).inventory(), sort_keys=False, width=1000)
    if output is None:
        click.echo(text, nl=False)
    else:
        try:
            folder.write(output, text.encode())
        except OSError as error:
            raise LabError(f"The inventory cannot be written to {output}: {error.strerror}.") from None


@main.command()
@_name
@click.option("--clear", is_flag=True, help="Switch all faults off.")
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
def fault(name: str, clear: bool, settings: tuple[str, ...]) -> None:
    """Switch faults of the management node on or off; without arguments, show them."""
    node = Lab.load(name).management_node
    chosen: dict[str, Any] = {} if clear else node.faults()
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not key or not equals:
            raise click.UsageError(f"{setting!r} is not KEY=VALUE, such as stuck_front_end=true.")
        chosen[key] = yaml.safe_load(value)
    faults = node.set_faults(chosen) if clear or settings else chosen
    for key, value in faults.items():
        click.echo(f"{key}={json.dumps(value) if not isinstance(value, str) else value}")


def _all_labs() -> list[folder.Folder]:
    docker.require_engine()
    known = [folder.Folder(path.name, path.parent) for path in containers.labs().values()]
    return sorted({*folder.existing(), *known}, key=lambda each: each.path)
