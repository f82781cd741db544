"""A unit counts if systemd would start it, and each fix keeps the container from being started again."""

from types import SimpleNamespace

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import managers, mentions
from ansible_collections.slb.fleet.plugins.module_utils._system import commands
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_files import Files
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_processes import (
    FakeProcess,
    FakeProcesses,
)

RUN = "/usr/bin/docker run --name slb x"
SYSTEM = "/etc/systemd/system"
REMOVE = (
    "Remove what starts slb from {}{}, then run again. If it never starts slb, add its file to slb_ignored_starters."
)


@pytest.fixture
def host(tmp_path, monkeypatch):
    """Return a host without processes, whose files are in ``tmp_path`` and whose systemd does not answer."""
    fake = FakeProcesses()
    fake.connect(monkeypatch)
    fake.write, fake.units = Files(tmp_path, monkeypatch).write, {}

    def attempt(argv, timeout):
        blocks = ["\n".join([f"Id={name}", fake.units[name]]) for name in argv[5:] if name in fake.units]
        return commands.Completed(0 if fake.units else 1, "\n\n".join(blocks), "")

    monkeypatch.setattr(commands, "attempt", attempt)
    return fake


def find(label=None, ignored=()):
    return managers.find_manager("docker", label, ignored)


SHOWN = "ActiveState={}\nUnitFileState={}\nFragmentPath={path}\nSourcePath=\nDropInPaths=\nTriggeredBy={}\nWantedBy={}"


@pytest.mark.parametrize(
    ("active", "enabled", "triggers", "above", "fix"),
    [
        ("active", "enabled", "", "", "disable --now a.service"),
        ("activating", "static", "", "", "disable --now a.service"),  # between two starts
        ("inactive", "enabled", "", "", "disable --now a.service"),
        ("inactive", "static", "a.timer", "", "disable --now a.timer a.service"),
        ("inactive", "static", "", "multi-user.target", "disable --now a.service`, remove it from what multi-user"),
        ("inactive", "enabled", "", "multi-user.target", "disable --now a.service`, then"),
        ("inactive", "enabled-runtime", "", "", "disable --runtime --now a.service"),
        # Without SSH, the host is lost.
        ("inactive", "static", "", "ssh.service", "disable --now a.service`, remove it from what ssh.service starts"),
        ("inactive", "static", "", "b.service", "disable --now a.timer a.service"),  # which the timer starts
        ("inactive", "static", "", "a.timer", "disable --now a.timer a.service"),
        ("inactive", "disabled", "", "", None),  # the fix has helped
        ("inactive", "disabled", "b.timer", "", None),
        ("failed", "disabled", "", "", None),
    ],
)
def test_unit_counts_if_systemd_would_start_it(host, active, enabled, triggers, above, fix):
    path = host.write("/usr/lib/systemd/system/a.service", f"ExecStart={RUN}")
    host.units["a.service"] = SHOWN.format(active, enabled, triggers, above, path=path)
    host.units["a.timer"] = "ActiveState=active\nUnitFileState=enabled"
    host.units["ssh.service"] = "ActiveState=active\nUnitFileState=enabled"
    host.units["b.service"] = "ActiveState=inactive\nUnitFileState=static\nTriggeredBy=a.timer"
    host.units["b.timer"] = "ActiveState=inactive\nUnitFileState=disabled"
    found = find()
    assert (found is not None, fix is None or fix in found.fix) == (fix is not None, True), found
    assert found is None or f"({path}:1)" in found.words


@pytest.mark.parametrize(
    ("instance", "name", "is_found"),
    [("podman@slb.service", "%i", True), ("podman@web.service", "slb", True), ("podman@web.service", "%i", False)],
)
def test_template_counts_by_its_instances(host, instance, name, is_found):
    path = host.write(f"{SYSTEM}/podman@.service", f"ExecStart=/usr/bin/podman run --name {name} x")
    host.write(f"{SYSTEM}/multi-user.target.wants/{instance}", path.read_text())
    host.units["podman@slb.service"] = SHOWN.format("inactive", "disabled", "", "", path=path)
    host.units[instance] = SHOWN.format("inactive", "enabled", "", "", path=path)
    found = find()
    assert found is None or found.words.startswith(f"systemd unit {instance} ")
    assert bool(found) == is_found


@pytest.mark.parametrize("is_linked", [True, False])
def test_enabled_instance_counts_without_an_answer_of_systemd(host, is_linked):
    path = host.write(f"{SYSTEM}/podman@.service", "ExecStart=/usr/bin/podman run --name %i x")
    if is_linked:
        host.write(f"{SYSTEM}/multi-user.target.wants/podman@slb.service", path.read_text())
    assert bool(find()) == is_linked


def test_trigger_that_systemd_does_not_show_counts(host, monkeypatch):
    path = host.write("/usr/lib/systemd/system/a.service", f"ExecStart={RUN}")
    state = {"Id": "a.service", "UnitFileState": "static", "ActiveState": "inactive", "TriggeredBy": "a.timer"}
    monkeypatch.setattr(
        managers, "_show", lambda *units: [dict(state, FragmentPath=str(path))] if "a.service" in units else None
    )
    assert find() is not None


def test_ignored_file_does_not_count(host):
    path = host.write(f"{SYSTEM}/a.service", f"ExecStart={RUN}")
    assert find() is not None
    assert find(ignored=[str(path)]) is None


def test_unit_that_another_file_overrides_does_not_count(host):
    host.write("/usr/lib/systemd/system/a.service", f"ExecStart={RUN}")
    other = host.write(f"{SYSTEM}/a.service", "ExecStart=/bin/true")
    host.units["a.service"] = SHOWN.format("active", "enabled", "", "", path=other)
    assert find() is None


@pytest.mark.parametrize(
    ("path", "text", "kind", "after"),
    [
        ("/etc/cron.d/a", f"* * * * * root {RUN}\n", "cron", ""),
        ("/etc/monit.d/a", f'start program = "{RUN}"\n', "monit", ", run `monit reload`"),
        ("/etc/supervisord.d/a.ini", f"command={RUN}\n", "supervisord", ", run `supervisorctl update`"),
        ("/etc/service/e/run", f"exec {RUN}\n", "runit", ", run `sv force-stop {folder}`"),
        ("/etc/systemd/system/docker.service.d/x.conf", f"ExecStartPost={RUN}", "systemd unit docker.service", None),
        ("/etc/systemd/system/ssh.service", f"ExecStartPost={RUN}", "systemd unit ssh.service", None),
    ],
)
def test_file_with_other_purposes_loses_the_line_alone(host, path, text, kind, after):
    """Without Docker and SSH, the host is lost."""
    file = host.write(path, text)
    after = ", run `systemctl daemon-reload`" if after is None else after.format(folder=file.parent)
    assert find() == (f"{kind} ({file}:1)", REMOVE.format(f"{file}:1", after))


@pytest.mark.parametrize(("group", "is_found"), [("docker", True), ("sudo", True), ("users", False)])
def test_crontab_counts_if_its_user_can_start_slb(host, monkeypatch, group, is_found):
    monkeypatch.setattr(mentions.pwd, "getpwnam", lambda name: SimpleNamespace(pw_gid=100))
    monkeypatch.setattr(mentions.os, "getgrouplist", lambda name, own: [own])
    monkeypatch.setattr(mentions.grp, "getgrgid", lambda number: SimpleNamespace(gr_name=group))
    host.write("/var/spool/cron/crontabs/ops", "* * * * * docker start slb\n")
    assert (find() is not None) == is_found


def test_quadlet_is_moved_because_it_cannot_be_disabled(host):
    file = host.write("/etc/containers/systemd/a.container", "ContainerName=slb")
    label = ("systemd unit", "a.service")
    host.units["a.service"] = f"ActiveState=active\nUnitFileState=generated\nSourcePath={file}"
    for found in (find(), find(label)):
        assert "disable" not in found.fix
        assert f"move {file}" in found.fix
        assert "daemon-reload" in found.fix


def test_unit_name_that_a_shell_would_read_is_not_shown(host):
    host.write(f"{SYSTEM}/a$(reboot).service", f"ExecStart={RUN}")
    assert "$(reboot)" not in find().words.partition(" (")[0] + find().fix


@pytest.mark.parametrize(
    ("command", "cgroup", "values", "manager"),
    [
        (RUN, "0::/system.slice/e.service\n", {}, "systemd unit e.service"),
        ("podman start -a slb", "1:name=systemd:/system.slice/e.service\n", {}, "systemd unit e.service"),
        ("docker run --name other x", "0::/system.slice/e.service\n", {}, None),
        (RUN, "0::/user.slice/user-0.slice/session-3.scope\n", {}, None),
        ("vi start slb", "0::/system.slice/e.service\n", {}, None),
        (RUN, "0::/system.slice/e.service\n", {"user": 1000}, None),
    ],
)
def test_command_in_the_foreground_leads_to_its_unit(host, command, cgroup, values, manager):
    host.running = {7: FakeProcess(command.split()[0].rpartition("/")[2], command, cgroup=cgroup, **values)}
    found = find()
    assert (found.words if found else None) == (f"{manager} (process 7)" if manager else None)
    assert found is None or "`systemctl status 7`" in found.fix


def test_command_of_another_user_hides_none_of_root(host):
    of_root = FakeProcess("docker", RUN, cgroup="0::/system.slice/e.service\n")
    host.running = {6: FakeProcess("docker", RUN, user=1000), 7: of_root}
    assert find().words == "systemd unit e.service (process 7)"


@pytest.mark.parametrize(
    ("labels", "manager", "fix"),
    [
        ({"com.docker.compose.config-hash": "1", "com.docker.compose.project": "y"}, "compose project y", "compose"),
        ({"com.docker.swarm.task.id": "1", "com.docker.swarm.service.name": "y"}, "swarm service y", "service rm y"),
        ({"io.kubernetes.pod.uid": "1", "io.kubernetes.pod.name": "y"}, "Kubernetes pod y", "Kubernetes"),
        ({"com.hashicorp.nomad.alloc_id": "y"}, "Nomad allocation y", "nomad alloc status y"),
        ({"com.amazonaws.ecs.task-arn": "arn:aws:ecs:y"}, "ECS task arn:aws:ecs:y", "ECS"),
        ({"PODMAN_SYSTEMD_UNIT": "y.service"}, "systemd unit y.service", "disable --now y.service"),
        ({"com.docker.swarm.task.id": "1", "com.docker.swarm.service.name": "$(x)"}, "swarm service ??x?", "'??x?'"),
        ({"com.docker.compose.project": "y"}, None, ""),
    ],
)
def test_find_manager_reads_labels(host, labels, manager, fix):
    found = find(managers.find_label(labels, {}))
    assert (found.words if found else None) == manager
    assert found is None or fix in found.fix
    # The manager may be gone, and its container with its labels is left.
    assert found is None or "systemd" in manager or "If slb remains, run `docker rm --force slb`" in found.fix
    assert managers.find_label(labels, labels) is None
