"""What would start the container again is found wherever it is, and its fix keeps it from doing so."""

from types import SimpleNamespace

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import managers
from ansible_collections.slb.fleet.plugins.module_utils._system import commands
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_processes import (
    FakeProcess,
    FakeProcesses,
)

RUN = "/usr/bin/docker run --name slb x"


@pytest.fixture
def host(tmp_path, monkeypatch):
    """Return a host without processes, whose files are in ``tmp_path`` and whose systemd does not answer."""

    def below(paths):
        return tuple(f"{tmp_path}{each}" for each in paths)

    for name in ("_UNIT_FOLDERS", "_QUADLET_FOLDERS", "_SUPERVISOR_FILES", "_SERVICE_FILES"):
        monkeypatch.setattr(managers, name, below(getattr(managers, name)))
    files = [(kind, below(patterns), *rest) for kind, patterns, *rest in managers._COMMAND_FILES]
    monkeypatch.setattr(managers, "_COMMAND_FILES", files)
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
        ("/etc/cron.hourly/a", "#!/bin/sh\ndocker run --detach \\\n --name slb x\n", "cron"),
        ("/etc/anacrontab", "1 5 engine docker start slb\n", "cron"),
        ("/var/spool/cron/crontabs/root", "@reboot docker start slb\n", "crontab"),
        ("/var/spool/cron/crontabs/no-such-user", "@reboot docker start slb\n", None),
        ("/etc/monit/conf.d/a", 'start program = "/usr/bin/docker start slb"\n', "monit"),
        ("/etc/monit/conf.d/a", 'stop program = "/usr/bin/docker stop slb"\n', None),
    ],
)
def test_find_manager_reads_files(host, path, text, manager):
    file = write(host, path, text)
    found = find()
    assert (found.words if found else None) == (f"{manager} ({file})" if manager else None)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/etc/systemd/system/a.service", "ExecStart=-{} --now"),
        ("/etc/systemd/system/a.service", "ExecStart=/bin/sh -c 'exec {}'"),
        ("/run/systemd/generator.late/a.service", "ExecStart={} start"),
        ("/etc/supervisor/conf.d/a.conf", "[program:a]\ncommand={} ; the engine\n"),
        ("/etc/cron.d/a", "* * * * * root {}\n"),
        ("/etc/cron.d/a", "@daily root PATH=/bin flock -n /run/lock {} >/dev/null\n"),
        ("/var/spool/cron/crontabs/root", "0 0 * * * cd /opt && {}\n"),
        ("/etc/monit/conf.d/a", '  start program = "{}"\n'),
    ],
)
def test_find_manager_reads_the_script_of_a_command(host, path, text):
    script = write(host, "/opt/start", "#!/bin/sh\nexec docker run \\\n  --name slb x\n")
    write(host, path, text.format(script))
    assert find() is not None
    script.write_text("#!/bin/sh\n# docker start slb\n")
    assert find() is None


def test_find_manager_opens_no_argument_of_a_command(host, monkeypatch):
    opened = []
    monkeypatch.setattr(managers, "_read", lambda path: opened.append(path) or "")
    for command in ("rsync /mnt/nfs/a /srv", "/usr/bin/rsync --out /mnt/nfs", "sh -c 'cat </mnt/nfs >/mnt/nfs'"):
        assert not managers._is_start(command)
    assert opened == ["/usr/bin/rsync"]


@pytest.mark.parametrize(("group", "is_found"), [("docker", True), ("sudo", True), ("users", False)])
def test_crontab_counts_if_its_user_can_start_slb(host, monkeypatch, group, is_found):
    monkeypatch.setattr(managers.pwd, "getpwnam", lambda name: SimpleNamespace(pw_gid=100))
    monkeypatch.setattr(managers.os, "getgrouplist", lambda name, own: [own])
    monkeypatch.setattr(managers.grp, "getgrgid", lambda number: SimpleNamespace(gr_name=group))
    file = write(host, "/var/spool/cron/crontabs/ops", "* * * * * docker start slb\n")
    found = find()
    assert (found is not None) == is_found
    assert found is None or f"from {file}," in found.fix


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
        ("inactive", "enabled", "", "oneshot", "disable --now a.service"),  # at the next boot
        ("active", "enabled-runtime", "", "forking", "mask --now a.service"),  # rc-local.service
    ],
)
def test_unit_counts_if_systemd_would_start_it(host, active, enabled, triggers, kind, fix):
    path = write(host, "/usr/lib/systemd/system/a.service", f"Type={kind}\nExecStart={RUN}")
    host.units["a.service"] = SHOWN.format(active, enabled, triggers, path=path)
    host.units["a.timer"] = "ActiveState=active\nUnitFileState=enabled"
    host.units["b.timer"] = "ActiveState=inactive\nUnitFileState=disabled"
    found = find()
    assert (found is not None, fix is None or fix in found.fix) == (fix is not None, True), found


@pytest.mark.parametrize(
    ("command", "is_found"),
    [
        ("/usr/bin/docker start slb", False),
        ('/bin/sh -c "docker start slb || docker run --detach --name slb x"', True),
        ("{script}", True),
    ],
)
def test_unit_of_a_boot_counts_if_it_creates_the_container(host, command, is_found):
    script = write(host, "/opt/start", "#!/bin/sh\ndocker create --name slb x\n")
    text = f"Type=oneshot\nExecStart={command.format(script=script)}"
    path = write(host, "/etc/systemd/system/a.service", text)
    host.units["a.service"] = SHOWN.format("inactive", "enabled", "", path=path)
    assert (find() is not None) == is_found


@pytest.mark.parametrize("has_systemd", [True, False])
def test_fix_keeps_a_unit_with_another_purpose(host, has_systemd):
    """A drop-in of docker.service is moved: without Docker and SSH, the host is lost."""
    unit = write(host, "/usr/lib/systemd/system/docker.service", "ExecStart=/usr/bin/dockerd")
    drop_in = write(host, "/etc/systemd/system/docker.service.d/x.conf", "ExecStartPost=-/usr/bin/docker start slb")
    if has_systemd:
        shown = SHOWN.format("active", "enabled", "docker.socket", path=unit)
        host.units["docker.service"] = shown.replace("DropInPaths=", f"DropInPaths={drop_in}")
        host.units["docker.socket"] = "ActiveState=active\nUnitFileState=enabled"
    assert find().fix == f"Move {drop_in} to another folder, run `systemctl daemon-reload`, then run again."
    drop_in.unlink()
    edited = write(host, "/etc/systemd/system/ssh.service", "ExecStart=/usr/sbin/sshd\nExecStartPost=docker start slb")
    host.units["ssh.service"] = SHOWN.format("active", "enabled", "", path=edited)
    assert find().fix == f"Remove what starts slb from {edited}, then run again."


def test_command_of_cron_leads_to_its_line(host):
    host.running = {7: FakeProcess("docker", RUN, cgroup="0::/system.slice/cron.service\n")}
    host.units["cron.service"] = "ActiveState=active\nUnitFileState=enabled"
    assert "systemctl" not in find().fix
    file = write(host, "/etc/cron.d/a", f"* * * * * root {RUN}\n")
    assert f"from {file}," in find().fix


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
    assert str(file) in find(label).words


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
    ],
)
def test_find_manager_sees_the_command(host, command, cgroup, values, manager):
    host.running = {7: FakeProcess(command.split()[0].rpartition("/")[2], command, cgroup=cgroup, **values)}
    found = find()
    assert (found.words if found else None) == manager


def test_command_of_another_user_hides_none_of_root(host):
    of_root = FakeProcess("docker", RUN, cgroup="0::/system.slice/e.service\n")
    host.running = {6: FakeProcess("docker", RUN, user=1000), 7: of_root}
    assert find().words == "systemd unit e.service"


SUPERVISED = "SUPERVISOR_ENABLED=1\0SUPERVISOR_PROCESS_NAME={}\0SUPERVISOR_GROUP_NAME={}\0"


@pytest.mark.parametrize(
    ("comm", "environ", "words", "fix"),
    [
        ("supervisord", SUPERVISED.format("engine", "engine"), "program engine", "`supervisorctl stop engine`"),
        ("supervisord", SUPERVISED.format("a_00", "vendor"), "program vendor:a_00", "`supervisorctl stop vendor:a_00`"),
        ("supervisord", "PATH=/bin\0", "program unknown", "Stop that program alone"),
        ("runsv", "", "program /etc/sv/engine", "`sv force-stop /etc/sv/engine`"),
        ("s6-supervise", "", "program /etc/sv/engine", "`s6-svc -dk /etc/sv/engine`"),
    ],
)
def test_fix_of_a_supervisor_ends_one_program(host, comm, environ, words, fix):
    host.running = {
        7: FakeProcess("docker", RUN, parent=8, cgroup="0::/system.slice/s.service\n", environ=environ),
        8: FakeProcess("sh", "sh /opt/start", parent=9),
        9: FakeProcess(comm, f"{comm} engine", folder="/etc/sv/engine"),
    }
    found = find()
    assert (found.words, found.fix.partition(",")[0].removeprefix("Run ")) == (f"{words} of {comm}", fix)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("[program:a]\ncommand={}\n", "Run `supervisorctl stop a`"),
        ("[program:a]\ncommand={}\nprocess_name=a_%(process_num)d\nnumprocs=1\n", "Run `supervisorctl stop 'a:*'`"),
        ("[program:a]\ncommand={}\n[group:x]\nprograms=b, a\n", "Run `supervisorctl stop x:a`"),
        ("[program:a]\ncommand={}\nprocess_name=b\n[group:x]\nprograms=a\n", "Stop that program alone"),
    ],
)
def test_stopped_program_of_supervisord_is_removed(host, text, fix):
    file = write(host, "/etc/supervisor/conf.d/a.conf", text.format(RUN))
    write(host, "/etc/supervisord.conf", "no section\n")
    assert find().fix == f"{fix}, remove it from {file}, then run again."


def test_stopped_service_of_runit_is_found(host):
    file = write(host, "/etc/service/engine/run", f"#!/bin/sh\nexec {RUN}\n")
    host.units["x.service"] = ""
    assert find().fix.startswith(f"Run `sv force-stop {file.parent}`")


@pytest.mark.parametrize(
    ("labels", "manager", "fix"),
    [
        ({"com.docker.compose.config-hash": "1", "com.docker.compose.project": "y"}, "compose project y", "compose"),
        ({"com.docker.swarm.task.id": "1", "com.docker.swarm.service.name": "y"}, "swarm service y", "service rm y"),
        ({"io.kubernetes.pod.uid": "1", "io.kubernetes.pod.name": "y"}, "Kubernetes pod y", "Kubernetes"),
        ({"com.hashicorp.nomad.alloc_id": "y"}, "Nomad allocation y", "nomad alloc status y"),
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
    # The manager may be gone, and its container with its labels is left.
    assert found is None or "systemd" in manager or "If slb remains, run `docker rm --force slb`" in found.fix
    assert managers.find_label(labels, labels) is None
