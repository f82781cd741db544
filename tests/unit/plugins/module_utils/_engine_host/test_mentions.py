"""What starts the container again is found by a mention in a file, and harmless files are not taken for it."""

import functools

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import mentions
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_files import Files

SYSTEM = "/etc/systemd/system"
STARTS = [  # place, text, files that it names
    (f"{SYSTEM}/engine.service", "[Service]\nExecStart=/usr/bin/docker run --name slb x", {}),
    (f"{SYSTEM}/engine.service", "ExecStart=/usr/bin/docker run --rm \\\n --name slb \\\n x", {}),
    ("/usr/lib/systemd/system/engine.service", "ExecStart=/usr/bin/podman start slb", {}),
    ("/run/systemd/transient/engine.service", "ExecStart=/usr/bin/docker run --name slb x", {}),
    (f"{SYSTEM}/slb.service", "ExecStart=/usr/bin/docker run --name=%N x", {}),
    (f"{SYSTEM}/slb.service.d/1.conf", "ExecStart=\nExecStart=docker start -a %p", {}),
    (f"{SYSTEM}/podman@.service", "ExecStart=/usr/bin/podman run --name %i x", {}),
    (f"{SYSTEM}/engine.service", "Environment=NAME=slb\nExecStart=/usr/bin/podman run --name ${NAME} x", {}),
    (f"{SYSTEM}/engine.service", "EnvironmentFile=-/etc/default/e\nExecStart=podman run --name ${NAME} x",
     {"/etc/default/e": "NAME=slb\n"}),
    (f"{SYSTEM}/engine.service", "EnvironmentFile=/etc/default/e\nExecStart=/bin/sh -c '${RUNTIME} run --name slb x'",
     {"/etc/default/e": "RUNTIME=docker\n"}),
    (f"{SYSTEM}/engine.service", "ExecStart=-/opt/start.sh --now", {"/opt/start.sh": "#!/bin/sh\ndocker start slb\n"}),
    (f"{SYSTEM}/engine.service", "ExecStart=/bin/sh -c 'exec /opt/start'", {"/opt/start": "C=slb\ndocker start $C\n"}),
    (f"{SYSTEM}/engine.service", "ExecStart=/bin/bash /opt/start", {"/opt/start": "docker start slb\n"}),
    (f"{SYSTEM}/engine.service", "ExecStart=/usr/bin/python3 -u /opt/a", {"/opt/a": "run('docker start slb')\n"}),
    (f"{SYSTEM}/slb.service", "WorkingDirectory=/opt/slb\nExecStart=/usr/bin/docker compose up -d", {}),
    (f"{SYSTEM}/docker-compose@.service", "ExecStart=/usr/bin/docker-compose up", {}),
    (f"{SYSTEM}/watchdog.service", "ExecStart=/bin/sh -c 'docker inspect slb >/dev/null || docker restart slb'", {}),
    ("/etc/init.d/engine", "#!/bin/sh\ncase $1 in start) docker start slb;; esac\n", {}),
    ("/etc/containers/systemd/a.container", "[Container]\nContainerName = slb\n", {}),
    ("/etc/containers/systemd/x/y/a.container", "[Container]\nContainerName=slb\n", {}),
    ("/usr/share/containers/systemd/slb.container", "[Container]\nContainerName=%N\n", {}),
    ("/etc/rc.local", "#!/bin/sh\ndocker start slb\n", {}),
    (f"{SYSTEM}/engine.service", "ExecStart=/opt/start", {"/opt/start": 'run(["docker", "start", "slb"])\n'}),
    ("/etc/cron.d/a", "5 4 * * * root docker ps | grep -qw slb || systemctl start slb\n", {}),
    ("/etc/cron.d/a", "5 4 * * * root systemctl restart slb.service\n", {}),
    (f"{SYSTEM}/a.service", "ExecStart=/bin/systemctl --no-block start podman@slb.service\n", {}),
    ("/etc/crontab", "* * * * * root docker start slb\n", {}),
    ("/etc/cron.d/a", "*/5 * * * * root curl -fs localhost:8000 || docker restart slb\n", {}),
    ("/etc/cron.d/a", "*/5 * * * * root /opt/check\n", {"/opt/check": "curl localhost || docker restart slb\n"}),
    ("/etc/cron.d/a", "@daily root PATH=/bin flock -n /run/lock /opt/start\n", {"/opt/start": "docker start slb\n"}),
    ("/etc/cron.d/a", "*/5 * * * * root nice -n 10 /opt/start\n", {"/opt/start": "docker start slb\n"}),
    ("/var/spool/cron/root", "*/5 * * * * /bin/sh /opt/start >>/var/log/x\n", {"/opt/start": "docker start slb\n"}),
    ("/etc/cron.d/a", "NAME=slb\n*/5 * * * * root docker start $NAME\n", {}),
    ("/etc/anacrontab", "1 5 engine docker start slb\n", {}),
    ("/etc/anacrontab", "1 5 engine /opt/start\n", {"/opt/start": "docker start slb\n"}),
    ("/var/spool/cron/crontabs/root", "@reboot docker ps -aqf name=^slb$ | xargs docker start\n", {}),
    ("/etc/cron.hourly/a", "#!/bin/sh\nN=slb\ndocker inspect $N || docker run -d \\\n --name $N x\n", {}),
    ("/etc/supervisor/conf.d/a.conf", "[program:engine]\ncommand=/usr/bin/docker run --name slb x\n", {}),
    ("/etc/supervisor/conf.d/slb.conf", "[program:slb]\ncommand=/opt/start.sh %(program_name)s\n",
     {"/opt/start.sh": '#!/bin/sh\nexec docker start -a "$1"\n'}),
    ("/etc/monit/conf.d/a", 'check process slb\n start program = "/usr/bin/docker start slb"\n', {}),
    ("/etc/service/engine/run", "#!/bin/sh\nexec /usr/bin/docker run --name slb x\n", {}),
    ("/etc/service/slb/run", '#!/bin/sh\nexec docker start -a "$(basename "$PWD")"\n', {}),
]  # fmt: skip
HARMLESS = [
    *((path, "* * * * * root docker start slb\n") for path in ("/etc/cron.d/a.bak", "/etc/cron.d/a.dpkg-old")),
    (f"{SYSTEM}/slb-backup.service", "Description=Back up slb\nExecStart=/usr/bin/docker exec slb backup"),
    (f"{SYSTEM}/backup.service", "ExecStart=/usr/bin/docker exec slb backup\nPIDFile=/run/b.pid"),
    (f"{SYSTEM}/slb-exporter.service", "ExecStart=/usr/bin/docker run --name slb-exporter exporter"),
    (f"{SYSTEM}/exporter.service", "ExecStart=/usr/bin/docker run --name e --network container:slb exporter"),
    (f"{SYSTEM}/engine.service", "#ExecStart=docker start slb\nExecStart=/bin/true"),
    (f"{SYSTEM}/web.service", "ExecStart=/usr/bin/docker run --name web registry/slb:1"),
    (f"{SYSTEM}/web.service", "ExecStart=/usr/bin/docker run --name web registry/slb"),
    (f"{SYSTEM}/node.service", "After=docker.service\nExecStart=/usr/bin/exporter --file=/run/slb --path=/var/lib/slb"),
    (f"{SYSTEM}/docker.service.d/slb.conf", "[Service]\nLimitNOFILE=1048576\n"),
    (f"{SYSTEM}/docker.service.d/slb.conf", "ExecStart=/usr/sbin/dockerd --containerd=/run/containerd/containerd.sock"),
    (f"{SYSTEM}/fix.service", "ExecStart=/usr/bin/docker stop slb\nExecStartPost=/usr/bin/systemctl restart networkd"),
    (f"{SYSTEM}/net.service", "ExecStart=/usr/bin/docker network create slb-net"),
    ("/etc/cron.d/a", "0 3 * * * root docker exec slb tar c / | gzip > /run/b.gz\n"),
    ("/etc/cron.d/slb-logs", "0 3 * * * root docker logs --since 24h slb > /var/log/slb.log 2>&1\n"),
    ("/etc/cron.d/ops", "0 3 * * * root docker exec slb backup\n0 4 * * * root docker restart web\n"),
    ("/etc/crontab", "17 * * * * root cd / && run-parts --report /etc/cron.hourly\n0 0 * * * root docker logs slb\n"),
    ("/etc/cron.d/a", "0 3 * * * root systemctl restart slb-exporter.service; systemctl is-active slb\n"),
    (f"{SYSTEM}/web.service", "ExecStart=/usr/bin/docker exec slb supervisorctl restart web"),
    ("/etc/cron.d/slb", "0 3 * * * root find /var/log/slb -mtime +7 -delete\n"),
    ("/var/spool/cron/crontabs/no-such-user", "@reboot docker start slb\n"),
    ("/etc/monit/conf.d/slb", "check process slb matching slb\n if failed port 8000 then alert\n"),
    ("/etc/monit/conf.d/a", 'check program slb with path "docker exec slb true"\n start = "systemctl restart docker"'),
    ("/etc/monit/conf.d/a", 'stop program = "/usr/bin/docker stop slb"\n'),
    ("/etc/cron.daily/prune", "#!/bin/sh\n# never start slb here\ndocker image prune -f --filter label!=slb\n"),
    ("/etc/containers/systemd/a.container", "[Container]\nContainerName=slb2\n"),
    ("/etc/cron.daily/a", "docker start slb\n" + "#" * 65536),
]  # fmt: skip


@pytest.fixture
def search(tmp_path, monkeypatch):
    """Write files below a folder that stands for the host; return the places that are found."""

    host = Files(tmp_path, monkeypatch)

    def run(files, ignored=()):
        for path, text in files.items():
            written = functools.reduce(lambda whole, other: whole.replace(other, f"{tmp_path}{other}"), files, text)
            host.write(path, written)
        ignored = [f"{tmp_path}{each}" for each in ignored]
        found = [*mentions.find_in_files(ignored), *mentions.find_in_units(ignored)]
        return [each.place.removeprefix(str(tmp_path)) for each in found]

    run.host = host
    return run


@pytest.mark.parametrize(("path", "text", "others"), STARTS, ids=lambda value: str(value)[-40:])
def test_file_that_starts_the_container_is_found(search, path, text, others):
    assert len(search({path: text, **others})) == 1


@pytest.mark.parametrize(("path", "text"), HARMLESS, ids=lambda value: str(value)[-40:])
def test_harmless_file_is_not_taken_for_a_starter(search, path, text):
    assert search({path: text}) == []


@pytest.mark.parametrize("path", ["/etc/cron.hourly/a", "/etc/rc.local", "/etc/service/engine/run"])
def test_script_that_is_not_executable_is_no_starter(search, path):
    assert search({path: "docker start slb\n"}) == [f"{path}:1"]
    search.host.folder.joinpath(path[1:]).chmod(0o644)
    assert search({}) == []


def test_place_is_the_line_of_the_command_where_it_stands(search):
    unit, script = f"{SYSTEM}/a.service", "/opt/start"
    text = "#!/bin/sh\n# docker start slb\ndocker \\\n run slb\ndocker start slb\n"
    assert search({unit: f"\nExecStart={script}", script: text}) == ["/opt/start:3"]


@pytest.mark.parametrize("ignored", [f"{SYSTEM}/a.service", "/opt/start"])
def test_file_that_the_operator_knows_to_be_harmless_is_ignored(search, ignored):
    files = {f"{SYSTEM}/a.service": "ExecStart=/opt/start", "/opt/start": "docker start slb\n"}
    assert search(files) == ["/opt/start:1"]
    assert search(files, [ignored]) == []


def test_ignored_script_hides_no_other_command(search):
    files = {f"{SYSTEM}/a.service": "ExecStart=/opt/a\nExecStart=docker start slb", "/opt/a": "docker start slb\n"}
    assert search(files, ["/opt/a"]) == [f"{SYSTEM}/a.service:2"]


@pytest.mark.parametrize("command", ["/usr/bin/rsync --out /opt/a", "rsync /opt/a", "/bin/sh -c 'cat </opt/a >/x'"])
def test_argument_of_a_command_is_not_opened(search, command):
    files = {f"{SYSTEM}/a.service": f"ExecStart={command}", "/etc/cron.d/a": f"5 4 * * * root {command} /srv\n"}
    files["/etc/supervisor/conf.d/a.conf"] = f"[program:a]\ncommand={command}\n"
    assert search({**files, "/opt/a": "docker start slb\n"}) == []


@pytest.mark.parametrize("variables", ["A=1 ", "a=1 B_2='x' "])
def test_command_after_variables_is_opened(search, variables):
    assert search({"/etc/rc.local": f"{variables}/opt/a\n", "/opt/a": "docker start slb\n"}) == ["/opt/a:1"]
