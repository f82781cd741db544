"""No password and no session in what a run prints, leaves behind, or shows to other users while it runs."""

import stat
import threading
from pathlib import Path

from fake_node import INSTALL, LICENSE, LOGIN, answer, new_session
from test_plays import HERE, PLUGINS

from playbooks import PACKED_MODULES, engine_task, fleet, of, play

PASSWORD = 'Tr0ub4dor "&<3> hünde'
ESCAPED_PASSWORDS = [PASSWORD, "Tr0ub4dor", "hünde", "h\\u00fcnde"]


def echo(status, kind="text/plain", around="{}"):
    """Answer with the whole request, as a debug page does."""

    def behave(exchange):
        head = "\n".join(f"{name}: {value}" for name, value in exchange.request.headers.items())
        answer(status, around.format(head + "\n" + exchange.request.body.decode()), kind=kind)(exchange)

    return behave


class Watch:
    """Reads the arguments of all processes and the session files of the run, again and again."""

    def __init__(self, folder, secrets):
        self.folder, self.secrets = folder, secrets
        self.found, self.session_files = set(), 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc_info):
        self._end.set()
        self._thread.join()

    def _watch(self):
        while not self._end.wait(0.02):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                self._look(path, is_session_file=False)
            for path in (self.folder / "local-tmp").rglob("slb-fleet-session-*"):
                self._look(path, is_session_file=True)

    def _look(self, path, is_session_file):
        try:
            text, mode = path.read_text(errors="replace"), stat.S_IMODE(path.stat().st_mode)
        except OSError:
            return
        if is_session_file:
            self.session_files += "session" in text
            if mode != 0o600 or stat.S_IMODE(path.parent.stat().st_mode) != 0o700 or PASSWORD in text:
                self.found.add(str(path))
        elif any(secret in text for secret in self.secrets()):
            self.found.add(f"{path}: {text[:100]}")


def test_nothing_is_left_behind(start, controller):
    login = [new_session("Set-Cookie: csrftoken=csrft0ken; Path=/")]
    good, rejecting = start({LOGIN: login}), start({LOGIN: [echo(401, "application/json")]})
    installs = [echo(500, "text/html", "<html><pre>{}</pre></html>"), echo(400), echo(200, "application/json")]
    licenses = [echo(500), echo(404, "text/html", "<html>{}</html>")]
    echoing = start({LOGIN: login, INSTALL: installs, LICENSE: licenses})

    def secrets():
        return [*ESCAPED_PASSWORDS, "csrft0ken", *good.sessions, *echoing.sessions, *rejecting.sessions]

    tasks = [
        {"slb.fleet.login": {}, "register": "session"},
        {"slb.fleet.license": {"dest": f"{controller.folder}/license-{{{{ inventory_hostname }}}}"}},
        engine_task(register="install"),
        engine_task(delegate_to="another.example"),
        {"ansible.builtin.debug": {"var": "install"}},
    ]
    plays = [play(*tasks, ignore_errors=True, vars=of(server, "")) for server in (good, echoing, rejecting)]
    inventory = fleet(3)
    inventory["other"] = {"hosts": {"another.example": {**HERE, "ansible_connection": "elsewhere"}}}
    environment = {
        "SLB_PASSWORD": PASSWORD,
        "ANSIBLE_LOG_PATH": f"{controller.folder}/log",
        "ANSIBLE_CACHE_PLUGIN": "jsonfile",
        "ANSIBLE_CACHE_PLUGIN_CONNECTION": f"{controller.folder}/facts",
        **PLUGINS,
    }
    with Watch(controller.folder, secrets) as watch:
        run = controller.run(plays, inventory, "-vvvv", "--diff", "--limit", "all,!another.example", **environment)
    assert run.output.count("outcome") > 9, run.output[-3000:]
    assert_without(run.output, secrets())
    left = [path for place in (controller.folder, Path(PACKED_MODULES.name)) for path in place.rglob("*")]
    assert controller.folder / "log" in left
    for path in left:
        assert not path.is_file() or not [secret for secret in secrets() if secret in path.read_text(errors="replace")]
    assert not list((controller.folder / "local-tmp").iterdir())
    assert watch.session_files > 0
    assert watch.found == set()


def test_a_crash_shows_no_secrets(start, controller):
    """An unexpected error during a request: its traceback is printed at -vvvv."""
    server = start()
    (controller.folder / "sitecustomize.py").write_text(
        "import urllib3.response\n"
        "def crash(self, *args, **kwargs):\n"
        "    raise RuntimeError('a crash')\n"
        "urllib3.response.HTTPResponse.read1 = crash\n"
    )
    environment = {"PYTHONPATH": str(controller.folder), "ANSIBLE_DISPLAY_TRACEBACK": "always"}
    run = controller.run([play(engine_task())], fleet(2, **of(server, PASSWORD)), "-vvvv", **environment)
    assert run.status == 2
    assert "a crash" in run.output
    assert "Traceback" in run.output
    assert_without(run.output, [*ESCAPED_PASSWORDS, *server.sessions])


def assert_without(text, secrets):
    for secret in secrets:
        before, found, after = text.partition(secret)
        assert not found, f"{before[-300:]}{found}{after[:100]}"
