"""Greps everything that a run leaves behind, and what it shows while it goes on, for passwords and sessions."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

from fake_node import INSTALL, LICENSE, LOGIN, answer, new_session
from test_any_place import ELSEWHERE, PLUGINS

from playbooks import defaults, engine_task, fleet, play

PASSWORD = 'Tr0ub4dor "&<3> hünde'
ESCAPED_PASSWORDS = [PASSWORD, "Tr0ub4dor", "hünde", "h\\u00fcnde"]


def echo(status, kind="text/plain", around="{}"):
    """Answers with the whole request, as a debug page does."""

    def behave(exchange):
        head = "\n".join(f"{name}: {value}" for name, value in exchange.request.headers.items())
        text = around.format(head + "\n" + exchange.request.body.decode())
        answer(status, text, kind=kind)(exchange)

    return behave


class Watch:
    """Looks at process arguments and at the files of the run, again and again while it goes on."""

    def __init__(self, folder, secrets):
        self.folder = folder
        self.secrets = secrets
        self.found: set[str] = set()
        self.session_files = 0
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
    good = start({LOGIN: [new_session("Set-Cookie: csrftoken=csrft0ken; Path=/")]})
    echoing = start(
        {
            LOGIN: [new_session("Set-Cookie: csrftoken=csrft0ken; Path=/")],
            INSTALL: [echo(500, "text/html", "<html><pre>{}</pre></html>"), echo(400), echo(200, "application/json")],
            LICENSE: [echo(500), echo(404, "text/html", "<html>{}</html>")],
        }
    )
    refusing = start({LOGIN: [echo(401, "application/json")]})

    def secrets():
        return [*ESCAPED_PASSWORDS, "csrft0ken", *good.sessions, *echoing.sessions, *refusing.sessions]

    tasks = [
        {"slb.fleet.login": {}, "register": "session"},
        {"slb.fleet.license": {"dest": f"{controller.folder}/license-{{{{ inventory_hostname }}}}"}},
        engine_task(register="install"),
        engine_task(delegate_to="another.example"),
        {"ansible.builtin.debug": {"var": "install"}},
    ]
    lenient = {"ignore_errors": True}
    plays = [play(*tasks, **lenient, module_defaults=defaults(server)) for server in (good, echoing, refusing)]
    inventory = fleet(3)
    inventory["other"] = {"hosts": {"another.example": ELSEWHERE}}
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
    for secret in secrets():
        assert secret not in run.output, near(run.output, secret)
    places = (controller.folder, controller.packed_modules)
    left = [path for place in places for path in place.rglob("*") if path.is_file()]
    assert controller.folder / "log" in left
    assert any(path.is_relative_to(controller.packed_modules) for path in left)
    for path in left:
        text = path.read_text(errors="replace")
        assert not [secret for secret in secrets() if secret in text], path
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
    environment = {
        "SLB_PASSWORD": PASSWORD,
        "PYTHONPATH": str(controller.folder),
        "ANSIBLE_DISPLAY_TRACEBACK": "always",
    }
    run = controller.run([play(engine_task(), module_defaults=defaults(server))], fleet(2), "-vvvv", **environment)
    assert run.status == 2
    assert "a crash" in run.output
    assert "Traceback" in run.output
    for secret in (*ESCAPED_PASSWORDS, *server.sessions):
        assert secret not in run.output, near(run.output, secret)


def near(text, secret):
    position = text.index(secret)
    return text[max(0, position - 300) : position + 100]
