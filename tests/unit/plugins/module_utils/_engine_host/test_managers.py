"""What would start the container again is found wherever it is, and its fix keeps it from doing so."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import managers
from ansible_collections.slb.fleet.plugins.module_utils._system import commands
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_processes import (
    FakeProcess,
    FakeProcesses,
)

RUN = "/usr/bin/docker run --name slb x"
PROGRAM = f"[program:engine]\ncommand={RUN}\n[program:b]\n"


@pytest.fixture
def host(tmp_path, monkeypatch):
    """Return a host without processes, whose files are in ``tmp_path`` and whose systemd does not answer."""
    for name in ("_UNIT_FOLDERS", "_QUADLET_FOLDERS", "_SUPERVISOR_FILES", "_CRON_FILES"):
        monkeypatch.setattr(managers, name, tuple(f"{tmp_path}{each}" for each in getattr(managers, name)))
    fake = FakeProcesses()
    fake.connect(monkeypatch)
    fake.folder, fake.units = tmp_path, {}

    def attempt(argv, timeout):
        blocks = ["\n".join([f"Id={name}", fake.units[name]]) for name in argv[5:] if name in fake.units]
        return commands.Completed(argv, 0, "\n\n".join(blocks), "")

    monkeypatch.setattr(commands, "find", lambda name: name if fake.units else None)
    monkeypatch.setattr(commands, "attempt", attempt)
    return fake


def write(host, path, text):
    file = host.folder / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def find(label=None):
    return managers.find_manager("docker", label)


@pytest.mark.parametrize(
    ("path", "text", "manager"),
    [
        ("/etc/systemd/system/engine.service", f"ExecStartPre=-{RUN}", "systemd unit engine.service"),
        (
            "/usr/lib/systemd/system/engine.service",
            "ExecStart=/usr/bin/podman start slb",
            "systemd unit engine.service",
        ),
        ("/run/systemd/transient/engine.service", f"ExecStart={RUN}", "systemd unit engine.service"),
        (
            "/etc/systemd/system/slb.service",
            "ExecStart=/usr/bin/docker run --name=%N image",
            "systemd unit slb.service",
        ),
        ("/etc/systemd/system/slb.service.d/1.conf", "ExecStart=docker start -a %p", "systemd unit slb.service"),
        ("/etc/systemd/system/engine.service", f"Type=oneshot\nExecStart={RUN}", None),
        ("/etc/systemd/system/engine.service", "ExecStart=/usr/bin/docker run --name web registry/slb:1", None),
        ("/etc/systemd/system/engine.service", "#ExecStart=docker start slb", None),
        ("/etc/systemd/system/engine.service", "Description=docker slb", None),
        ("/etc/containers/systemd/a.container", "[Container]\nContainerName = slb\n", "systemd unit a.service"),
        ("/etc/containers/systemd/x/y/a.container", "[Container]\nContainerName=slb\n", "systemd unit a.service"),
        ("/usr/share/containers/systemd/a.container", "ContainerName=slb", "systemd unit a.service"),
        ("/etc/containers/systemd/a.container", "[Container]\nContainerName=slb2\n", None),
        (
            "/etc/supervisor/conf.d/a.conf",
            f"[program:engine]\ncommand={RUN}\n[program:b]\n",
            "program engine of supervisord",
        ),
        ("/etc/supervisord.d/a.ini", "[program:web]\ncommand=/bin/web slb\n", None),
        ("/etc/cron.d/a", "* * * * * root docker start slb\n", "cron"),
        ("/etc/crontab", "# * * * * * root docker start slb\n0 0 * * * root docker logs slb\n", None),
    ],
)
def test_find_manager_reads_files(host, path, text, manager):
    file = write(host, path, text)
    found = find()
    assert (found.words if found else None) == (f"{manager} ({file})" if manager else None)


def test_find_manager_reads_the_script_of_a_unit(host):
    script = write(host, "/opt/start", f"#!/bin/sh\nexec {RUN}\n")
    write(host, "/etc/systemd/system/a.service", f"ExecStart={script} --now")
    assert find().words.startswith("systemd unit a.service")
    script.write_text("#!/bin/sh\n# docker start slb\n")
    assert find() is None


SHOWN = "ActiveState={}\nUnitFileState={}\nFragmentPath={path}\nSourcePath=\nDropInPaths=\nTriggeredBy={}"


@pytest.mark.parametrize(
    ("active", "enabled", "triggers", "kind", "fix"),
    [
        ("active", "enabled", "", "simple", "disable --now a.service"),
        ("activating", "static", "", "simple", "disable --now a.service"),  # between two starts
        ("inactive", "enabled", "", "simple", "disable --now a.service"),
        ("inactive", "static", "a.timer", "oneshot", "disable --now a.timer a.service"),
        ("inactive", "disabled", "", "simple", None),  # the fix has helped
        ("inactive", "disabled", "b.timer", "simple", None),
        ("inactive", "enabled", "", "oneshot", None),
    ],
)
def test_unit_counts_if_systemd_would_start_it(host, active, enabled, triggers, kind, fix):
    path = write(host, "/usr/lib/systemd/system/a.service", f"Type={kind}\nExecStart={RUN}")
    host.units["a.service"] = SHOWN.format(active, enabled, triggers, path=path)
    host.units["a.timer"] = "ActiveState=active\nUnitFileState=enabled"
    host.units["b.timer"] = "ActiveState=inactive\nUnitFileState=disabled"
    found = find()
    assert (found is not None, fix is None or fix in found.fix) == (fix is not None, True), found


def test_unit_that_another_file_overrides_does_not_count(host):
    write(host, "/usr/lib/systemd/system/a.service", f"ExecStart={RUN}")
    other = write(host, "/etc/systemd/system/a.service", "ExecStart=/bin/true")
    host.units["a.service"] = SHOWN.format("active", "enabled", "", path=other)
    assert find() is None


def test_quadlet_is_moved_because_it_cannot_be_disabled(host):
    file = write(host, "/etc/containers/systemd/a.container", "ContainerName=slb")
    assert "disable" not in find().fix
    assert f"move {file}" in find().fix
    assert "daemon-reload" in find().fix
    label = ("systemd unit", "a.service")
    host.units["a.service"] = f"ActiveState=active\nUnitFileState=generated\nSourcePath={file}"
    assert f"move {file}" in find(label).fix
    assert "disable" not in find(label).fix


def test_unit_name_that_a_shell_would_read_is_not_quoted(host):
    write(host, "/etc/systemd/system/a$(reboot).service", f"ExecStart={RUN}")
    assert "$(reboot)" not in find().words.partition(" (")[0]
    assert "reboot" not in find().fix


@pytest.mark.parametrize(
    ("command", "cgroup", "values", "manager"),
    [
        (RUN, "0::/system.slice/e.service\n", {}, "systemd unit e.service"),
        ("podman start -a slb", "1:name=systemd:/system.slice/e.service\n", {}, "systemd unit e.service"),
        ("docker run --name other x", "0::/system.slice/e.service\n", {}, None),
        (RUN, "0::/user.slice/user-0.slice/session-3.scope\n", {}, None),
        ("vi start slb", "0::/system.slice/e.service\n", {}, None),
        (RUN, "0::/system.slice/e.service\n", {"user": 1000}, None),
        (RUN, "0::/system.slice/supervisor.service\n", {"parent": 8}, "program engine of supervisord"),
        (RUN, "0::/system.slice/runit.service\n", {"parent": 9}, "program engine of runsv"),
    ],
)
def test_find_manager_sees_the_command(host, command, cgroup, values, manager):
    host.running = {
        7: FakeProcess(command.split()[0].rpartition("/")[2], command, cgroup=cgroup, **values),
        8: FakeProcess("supervisord", "/usr/bin/python3 /usr/bin/supervisord"),
        9: FakeProcess("runsv", "runsv engine"),
    }
    if "supervisord" in str(manager):
        write(host, "/etc/supervisor/conf.d/a.conf", f"[program:engine]\ncommand={RUN}\n")
    found = find()
    assert (found.words if found else None) == manager
    assert manager is None or "supervisor.service" not in found.fix


@pytest.mark.parametrize(
    ("labels", "manager", "fix"),
    [
        ({"com.docker.compose.config-hash": "1", "com.docker.compose.project": "y"}, "compose project y", "compose"),
        ({"com.docker.swarm.task.id": "1", "com.docker.swarm.service.name": "y"}, "swarm service y", "service rm y"),
        ({"io.kubernetes.pod.uid": "1", "io.kubernetes.pod.name": "y"}, "Kubernetes pod y", "Kubernetes"),
        ({"com.hashicorp.nomad.alloc_id": "y"}, "Nomad allocation y", "Nomad"),
        ({"com.amazonaws.ecs.task-arn": "arn:aws:ecs:y"}, "ECS task arn:aws:ecs:y", "ECS"),
        ({"PODMAN_SYSTEMD_UNIT": "y.service"}, "systemd unit y.service", "disable --now y.service"),
        ({"com.docker.swarm.task.id": "1", "com.docker.swarm.service.name": "$(x)"}, "swarm service ??x?", "NAME"),
        ({"com.docker.compose.project": "y"}, None, ""),
    ],
)
def test_find_manager_reads_labels(host, labels, manager, fix):
    found = find(managers.find_label(labels, {}))
    assert (found.words if found else None) == manager
    assert found is None or fix in found.fix
    assert managers.find_label(labels, labels) is None
