"""Histories of one host: two runs, faults and a person at any yield point, then runs without faults.

A history is a setup and a list of events. Each event waits for its point (a kind of yield point, and the number of
such points to skip), then happens to the run that stands there. The next event waits from then on.
"""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from driver import ENGINE_LIST, Run
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from patches import HERE, connect
from world import CHANGES, Actor, Broken, Crashed, NotSteady, World

EXAMPLES = int(os.environ.get("HISTORIES", "50"))
"""Number of histories of one test."""
RUNTIMES = {"docker": ("docker", "27.0"), "podman-4": ("podman", "4.3.1"), "podman-5": ("podman", "5.2.0")}
REQUEST = ["clock", "byte", "node", "reply"]
STEPS = [f"{when} {what}" for what in (*CHANGES[:4], "write") for when in ("before", "after")]
CALLS = ["call", "lock", "ends", "answer"]


@dataclass(frozen=True)
class Setup:
    """``first``: state of the container. ``has_list``: which runs have the engine list. ``rest``: before the last runs.

    ``late``: after how many seconds a host that is left in progress is collected; if None, it is not left.
    ``second``: when run B begins; if None, an event begins it, or the end of run A if there are more events.
    """

    runtime: str = "docker"
    first: str = "running"
    policy: str = "always"
    is_engine: bool = True
    unverified: str = "replace"
    stopped: str = "fail"
    has_list: str = "never"
    second: float | None = None
    late: float | None = None
    rest: float = 0.0


class Event(NamedTuple):
    point: str
    skip: int
    what: str


class History:
    """Plays one history."""

    def __init__(self, setup: Setup, events: list[Event]) -> None:
        self.setup, self.events = setup, list(events)
        program, version = RUNTIMES[setup.runtime]
        self.world = World(program, version, "running" if setup.is_engine and setup.first != "absent" else "none")
        self.world.script = self.watch
        HERE.enter(self.world)
        self.runs: list[Run] = []
        self.skipped = 0
        if setup.first != "absent":
            self.world.add(setup.first, setup.policy)

    def begin(self, name: str, *, is_fair: bool = False, role: str = "engine_deployment") -> Run:
        has_list = self.setup.has_list == "always" or (is_fair and self.setup.has_list == "later")
        variables = {"slb_engine_list": ENGINE_LIST} if has_list else {}
        variables.update(slb_unverified_engine=self.setup.unverified, slb_stopped_engine=self.setup.stopped)
        late = self.setup.late if role == "engine_deployment" else None
        run = Run(name, len(self.runs), role, late=late, **variables)
        self.runs.append(run)
        return run

    def end(self, run: Run) -> Run:
        """Let it end, and judge its report."""
        self.world.go_on()
        self.world.judge_report(run)
        return run

    def play(self) -> None:
        world = self.world
        try:
            self.begin("Run A")
            if self.setup.second is not None:
                self.begin("Run B").actor.wake += self.setup.second
            world.go_on()
            if self.events and len(self.runs) == 1:
                self.begin("Run B")
                world.go_on()
            for run in self.runs:
                world.judge_report(run)
            self.settle()
        except Broken as error:
            raise type(error)("\n".join([str(error), str(self.setup), *world.lines])) from None
        except Exception as error:
            raise Crashed("\n".join([repr(error), str(self.setup), *world.lines])) from error
        finally:
            for actor in world.actors:
                with contextlib.suppress(BaseException):
                    world.kill(actor)

    def settle(self) -> None:
        """Make up to five runs without faults. Judge the first that does not wait (P1), and that they end (P5)."""
        world, codes = self.world, []
        world.script, world.hangs, world.node_fault, world.deployment_fault = lambda actor: None, "", "", ""
        world.full_until = world.slow_until = world.down_until = 0
        world.unreachable_until = world.list_down_until = world.read_only_until = 0
        world.now += self.setup.rest
        world.say("The faults are over.")
        is_restored = False
        for number in range(1, 6):
            run = self.end(self.begin(f"Run {number} without faults", is_fair=True))
            is_waiting = run.has_failed and run.plan.get("action") == "wait"
            if not is_waiting and not is_restored:
                world.judge_restored(run)
                is_restored = True
            codes.append(f"waits ({run.code})" if is_waiting else run.code)
            if not run.has_failed or (codes[-2:-1] == codes[-1:] and not is_waiting):
                break
        engine = world.named("slb")
        has_fix = run.plan.get("fix") or any(result.get("fix") for result in run.failures)
        if is_waiting or (run.has_failed and codes[-2:-1] != codes[-1:]):
            raise NotSteady(f"Five runs without faults have no steady result: {', '.join(codes)}.")
        if run.has_failed and not has_fix:
            raise NotSteady(f"Runs without faults fail without a fix: {run.code}.")
        if not run.has_failed and not (engine and engine.state == "running"):
            raise NotSteady("Runs without faults report success, and no engine runs.")

    def watch(self, actor: Actor) -> None:
        """Let the next events happen if ``actor`` stands at their points."""
        kinds = {"at once", actor.kind}
        while self.events and self.events[0].point in kinds:
            event = self.events[0]
            if event.point == "at once":
                pass
            elif self.skipped < event.skip:
                self.skipped += 1
                return
            else:
                self.skipped, kinds = 0, {"at once"}
            del self.events[0]
            HAPPENS[event.what][0](self, actor)


# --- what can happen


def _controller(history: History, actor: Actor) -> Actor:
    return (actor.run or history.runs[-1]).actor


def _begin(history: History, actor: Actor) -> None:
    if len(history.runs) == 1:
        history.begin("Run B")


def _remediate(history: History, actor: Actor) -> None:
    if len(history.runs) == 1:
        history.begin("Run B (remediate)", role="host_preparation")


def _kill_run(history: History, actor: Actor, *, with_module: bool = False) -> None:
    controller, world = _controller(history, actor), history.world
    if controller.greenlet.dead:
        return
    world.say(f"{controller.name} is killed" + (", and its module." if with_module else "."))
    controller.run.is_killed = True
    for module in world.modules(controller.run) if with_module else []:
        world.kill(module)
    world.kill(controller)


def _kill_module(history: History, actor: Actor) -> None:
    for module in history.world.modules(_controller(history, actor).run):
        history.world.say(f"{module.name} is killed.")
        history.world.kill(module)


def _lose_answer(how: str) -> Callable[[History, Actor], None]:
    def lose(history: History, actor: Actor) -> None:
        controller = _controller(history, actor)
        modules = [each for each in history.world.modules(controller.run) if not each.lost]
        if modules:
            modules[-1].lost, controller.wake = how, history.world.now + 1
            history.world.say(f"{modules[-1].name}: its answer is lost ({how}), it goes on.")
        else:
            controller.run.connection.fails = True
            history.world.say(f"{controller.name}: its next SSH connection fails.")

    return lose


def _hang_connection(history: History, actor: Actor) -> None:
    controller = _controller(history, actor)
    controller.run.connection.hangs = True
    history.world.say(f"{controller.name}: its SSH connection hangs.")


def _stand_still(seconds: float, *, whole: bool = True) -> Callable[[History, Actor], None]:
    def stand_still(history: History, actor: Actor) -> None:
        stopped = _controller(history, actor) if whole else actor
        stopped.stopped_until = history.world.now + seconds
        stopped.stopped_at = stopped.kind
        history.world.say(f"{stopped.name} stands still for {seconds:.0f} s at the point {stopped.kind!r}.")

    return stand_still


def _person(what: str) -> Callable[[History, Actor], None]:
    """``uses``: connect to slb if it runs, start it if not, rename a leftover back if there is none."""

    def act_alone(history: History, actor: Actor) -> None:
        """Act, and do not take that for a change of a run."""
        before = {box.id: box.outside for box in history.world.boxes.values()}
        act(history, actor)
        for run in history.runs:
            for box in history.world.boxes.values():
                if run.touched.get(box.id) == before.get(box.id):
                    run.touched[box.id] = box.outside

    def act(history: History, actor: Actor) -> None:
        verb, world, box = what, history.world, history.world.named("slb")
        leftover = next((each for each in world.boxes.values() if each.name != "slb"), None)
        if verb == "makes":
            if not box:
                made = world.add("running", "no")
                made.altered, made.is_made = world.steps, world.may_be_sent
                world.say(f"A person makes slb ({made.id}).")
            return
        if verb == "uses" and not box and leftover:
            leftover.name, leftover.altered = "slb", world.steps
            if not leftover.is_live:
                world.start(leftover)
            world.say(f"A person renames {leftover.id} to slb and starts it.")
        elif not box or (verb == "stops" and not box.is_live):
            return
        elif verb == "removes":
            del world.boxes[box.id]
        elif verb == "stops":
            world.end(box)
            box.owed = None
        elif box.is_live:
            verb, box.connections, box.altered = "connects to", 1, world.steps
        else:
            verb, box.altered = "starts", world.steps
            world.start(box)
        if box:
            world.say(f"A person {verb} slb ({box.id}).")

    return act_alone


def _set(sentence: str, **values: object) -> Callable[[History, Actor], None]:
    def change(history: History, actor: Actor) -> None:
        history.world.say(sentence)
        for name, value in values.items():
            setattr(history.world, name, history.world.now + value if name.endswith("until") else value)

    return change


def _call(sentence: str, name: str) -> Callable[[History, Actor], None]:
    def call(history: History, actor: Actor) -> None:
        history.world.say(sentence)
        getattr(history.world, name)()

    return call


HAPPENS: dict[str, tuple[Callable[[History, Actor], None], list[str]]] = {
    "run killed": (_kill_run, [*REQUEST, *STEPS, *CALLS]),
    "run B begins": (_begin, ["at once", *REQUEST, *STEPS, *CALLS, "sleep"]),
    "remediate begins": (_remediate, ["at once", *REQUEST, *CALLS, "sleep"]),
    "answer lost": (_lose_answer("unreachable"), [*STEPS, *CALLS]),
    "empty answer": (_lose_answer("empty"), [*STEPS, *CALLS]),
    "person uses": (_person("uses"), ["before write", "before write", "before stop", "after rename", *CALLS, "sleep"]),
    "person makes": (_person("makes"), ["after rename", "before write", *REQUEST, *CALLS, "sleep"]),
    "person stops": (_person("stops"), [*STEPS, *CALLS, "sleep"]),
    "person removes": (_person("removes"), [*CALLS, "sleep"]),
    "stands still 35 s": (_stand_still(35), [*REQUEST, *CALLS]),
    "stands still 90 s": (_stand_still(90), ["clock", "clock", "clock", "byte", *CALLS]),
    "module stands still 90 s": (_stand_still(90, whole=False), [*STEPS, "lock", "ends"]),
    "module killed": (_kill_module, [*STEPS, "lock", "ends"]),
    "run and module killed": (lambda history, actor: _kill_run(history, actor, with_module=True), STEPS),
    "connection hangs": (_hang_connection, [*STEPS, *CALLS]),
    "docker slow": (_set("The runtime needs 9 s for each command.", slow_until=120), [*STEPS, *CALLS]),
    "docker hangs before": (_set("The next change of the runtime hangs.", hangs="before its effect"), STEPS),
    "docker hangs after": (_set("The next change of the runtime hangs.", hangs="after its effect"), STEPS),
    "docker stop killed": (_set("The next stop's command will be killed.", hangs="later"), ["at once", *STEPS]),
    "docker stop late": (
        _set("The next stop will be carried out much later.", hangs="much later"),
        ["at once", *STEPS],
    ),
    "disk full": (_set("The disk of the runtime is full.", full_until=120), [*STEPS, *REQUEST]),
    "record read-only": (_set("The folder of the record is read-only.", read_only_until=120), [*STEPS, *REQUEST]),
    "docker restarts": (_call("The runtime restarts.", "restart_runtime"), [*STEPS, *REQUEST, "sleep"]),
    "host reboots": (_call("The host reboots.", "reboot"), [*STEPS, *REQUEST, "sleep"]),
    "list fails": (_set("The engine list fails for 40 s.", list_down_until=40), [*STEPS, *REQUEST, *CALLS, "sleep"]),
    "node rejects": (_set("The management node will reject a request.", node_fault="rejects it"), ["at once"]),
    "request lost": (_set("The next request will be lost.", node_fault="never gets it"), ["at once"]),
    "reply lost": (_set("The next answer of the node will be lost.", node_fault="loses its answer"), ["at once"]),
    "request late": (_set("The next request will arrive late.", node_fault="gets it 20 s later"), ["at once"]),
    "deployment fails": (_set("The next deployment will fail.", deployment_fault="fails"), ["at once"]),
    "deployment loops": (_set("The next container will not stay up.", deployment_fault="loops"), ["at once"]),
    "deployment slow": (_set("The next deployment will be slow.", deployment_fault="is slow"), ["at once"]),
    "deployment late": (_set("The next deployment will end late.", deployment_fault="is late"), ["at once"]),
}

OFTEN = ["run killed", "answer lost", *["person uses"] * 3, *["stands still 90 s"] * 2]
SETUPS = {
    "first": st.sampled_from(["running", "running", "running", "exited", "created", "absent"]),
    "policy": st.sampled_from(["always", "no", "on-failure:3"]),
    "is_engine": st.booleans(),
    "unverified": st.sampled_from(["replace"] * 8 + ["adopt", "fail"]),
    "stopped": st.sampled_from(["fail", "start"]),
    "has_list": st.sampled_from(["never", "never", "never", "later", "always"]),
    "second": st.sampled_from([None, None, None, 0.5, 7, 20]),
    "late": st.sampled_from([None, None, 1.0, 40.0, 400.0]),
    "rest": st.sampled_from([0.0, 60.0, 600.0]),
}
EVENTS = st.lists(
    st.sampled_from([*HAPPENS, *OFTEN]).flatmap(
        lambda what: st.builds(
            Event, st.sampled_from(HAPPENS[what][1]), st.sampled_from([0, 0, 0, 1, 2, 3]), st.just(what)
        )
    ),
    min_size=1,
    max_size=3,
)
COMMON = settings(
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)


@pytest.fixture(autouse=True, scope="module")
def _connected(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        connect(patch, tmp_path_factory.mktemp("host") / "host")
        yield


def play_histories(runtime, number, examples):
    @seed(number)
    @settings(COMMON, max_examples=examples)
    @given(st.builds(Setup, runtime=st.just(runtime), **SETUPS), EVENTS)
    def play(setup, events):
        History(setup, events).play()

    play()


@pytest.mark.parametrize(("number", "runtime"), list(enumerate(["docker", "docker", "podman-4", "podman-5"])))
def test_generated_histories(number, runtime):
    play_histories(runtime, number, EXAMPLES)


@pytest.mark.long
@pytest.mark.parametrize("number", range(10, 24))
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_many_generated_histories(runtime, number):
    play_histories(runtime, number, 10 * EXAMPLES)


STRAY, IDLE = {"is_engine": False}, {"is_engine": False, "policy": "no"}
PODMAN = {"is_engine": False, "runtime": "podman-5"}
OLD_PODMAN = {"is_engine": False, "runtime": "podman-4", "first": "exited"}
PLAYED = [  # events of histories that broke a promise, and their setups; "+ 2": the third time at this point
    ("clock: run killed", [{"rest": 600.0}]),
    ("clock: stands still 90 s, at once: run B begins", [STRAY]),
    ("at once: deployment late, clock + 1: run killed", [PODMAN]),
    # The repetition of a module whose answer is lost goes on, or changes nothing. The report does not say "nothing".
    ("before stop: answer lost, lock: answer lost", [{}]),
    ("before update: docker slow", [{}]),
    ("clock: run killed, before update: module killed", [PODMAN]),
    # A container is restored: neither a full disk nor a record that cannot be written nor a restart ends that.
    ("clock: run killed, after rename: disk full", [STRAY]),
    *((f"clock: run killed, before write + {skip}: record read-only", [STRAY, OLD_PODMAN]) for skip in range(6)),
    ("clock: run killed, before update: docker restarts", [STRAY, PODMAN]),
    ("clock: run killed, after update + 1: docker restarts", [STRAY, PODMAN]),
    # The runtime carries a stop out whose command was killed, although the step was reversed.
    *((f"at once: docker stop {how}", [{"rest": 600.0}]) for how in ("killed", "late")),
    *((f"at once: docker stop {how}, check + 6: run and module killed", [STRAY]) for how in ("killed", "late")),
    # A person starts or uses the container between two checks.
    ("sleep: person uses", [{**IDLE, "first": "exited", "second": 0.5}]),
    ("before write: person uses", [{**IDLE, "first": first} for first in ("exited", "running")]),
    # A person makes one: after an installation in the web console, an interruption, or around the check of the mark.
    ("sleep: docker restarts, before write: person makes", [{"runtime": "podman-5", "has_list": "later"}]),
    *(
        (f"{point}: run and module killed, at once: person makes", [{**STRAY, "rest": 600.0}])
        for point in ("after rename", "after write", "call")
    ),
    *((f"{point}: person makes", [STRAY]) for point in ("before write + 2", "before write + 3", "after write + 3")),
    ("ends + 3: person makes", [STRAY]),
]


def read_events(text):
    found = []
    for each in text.split(", "):
        point, _colon, what = each.partition(": ")
        name, _plus, skip = point.partition(" + ")
        found.append(Event(name, int(skip or 0), what))
    return found


@pytest.mark.parametrize(("events", "setup"), [(events, setup) for events, setups in PLAYED for setup in setups])
def test_history_that_broke_a_promise(events, setup):
    History(Setup(**setup), read_events(events)).play()


@pytest.mark.parametrize("role", ["engine_deployment", "host_preparation"])
@pytest.mark.parametrize("event", ["answer lost", "empty answer"])
def test_person_who_makes_a_container_after_a_lost_answer(event, role):
    """The repetition of the step refuses: the report does not say that nothing was changed."""
    history = History(
        Setup(is_engine=False), [Event("before update", 0, event), Event("after rename", 0, "person makes")]
    )
    history.end(history.begin("Run A", role=role))
    assert history.events == []


@pytest.mark.parametrize("runtime", ["docker", "podman-5"])
@pytest.mark.parametrize("first", ["running", "exited", "absent"])
def test_request_that_is_lost_costs_one_wait_and_nothing_else(first, runtime):
    """The run restores what it set aside, and sends no second request. The next run installs."""
    history = History(Setup(runtime=runtime, first=first, policy="no", is_engine=False), [])
    history.world.node_fault = "never gets it"
    run = history.end(history.begin("Run A"))
    leftover = next(iter(history.world.boxes.values()), None)
    assert (run.code, len(history.world.posts)) == ("install_outcome_unknown", 1)
    assert leftover is None or (leftover.name, leftover.state) == ("slb", first)
    history.settle()
    assert (history.world.engine, len(history.world.posts)) == ("running", 2)


@pytest.mark.parametrize("runtime", ["docker", "podman-5"])
@pytest.mark.parametrize("late", [None, 1.0])
def test_second_deployment_that_fails_is_undone_in_the_same_run(runtime, late):
    events = [Event("at once", 0, "deployment fails"), Event("sleep", 3, "deployment fails")]
    history = History(Setup(runtime=runtime, is_engine=False, late=late), events)
    run = history.end(history.begin("Run A"))
    box = history.world.named("slb")
    assert (run.code, len(history.world.posts), history.events) == ("no_further_request", 2, [])
    assert (box.state, box.policy) == ("running", box.wanted)


def test_run_that_waits_for_another_request_first_restores():
    """Its first round is the wait for the request of a killed run; two of its own follow, and all deployments fail."""
    events = [Event("at once", 0, "deployment fails"), Event("sleep", 3, "run killed")]
    history = History(Setup(is_engine=False), events)
    history.end(history.begin("Run A"))
    history.events = [Event(point, skip, "deployment fails") for point, skip in (("at once", 0), ("sleep", 22))]
    run = history.end(history.begin("Run B"))
    box = history.world.named("slb")
    assert (run.has_failed, len(history.world.posts), history.events) == (True, 3, [])
    assert (box.state, box.policy) == ("running", box.wanted)


def test_engine_list_that_fails_during_the_wait():
    """The management node may be restarting: the run waits on, and reports no failure."""
    history = History(Setup(first="absent", has_list="always"), [Event("sleep", 0, "list fails")])
    run = history.end(history.begin("Run A"))
    assert (run.has_failed, run.plan["action"], history.events) == (False, "none", [])


@pytest.mark.parametrize("late", [1.0, 400.0])
@pytest.mark.parametrize(("fault", "code"), [("", "success"), ("never gets it", "install_outcome_unknown")])
def test_late_host_is_collected(late, fault, code):
    """Its batch does not wait for it. At the end it is healthy, or its container is restored, with one request."""
    history = History(Setup(policy="no", is_engine=False, late=late), [])
    history.world.node_fault = fault
    run = history.end(history.begin("Run A"))
    assert any(result.get("is_late") for _task, result in run.results)
    assert (run.code, len(history.world.posts)) == (code, 1)
    assert history.world.named("slb").state == "running"


def test_role_works_when_it_is_called_again_in_the_play():
    history = History(Setup(first="absent", is_engine=False), [])
    history.world.node_fault = "rejects it"
    run = Run("Run A", 0, slb_unverified_engine="fail", is_called_twice=True)
    history.world.go_on()
    assert next(result.get("code") for _task, result in run.results if result.get("code")) == "install_rejected"
    assert (run.has_failed, run.plan["action"]) == (False, "none")


@pytest.mark.parametrize("event", ["answer lost", "run and module killed", "person uses", "docker slow"])
@pytest.mark.parametrize("point", ["before start", "after start"])
def test_stopped_engine_is_started_once(event, point):
    """A verified engine that a person or a power failure has stopped comes back, whatever happens to its start."""
    events = [Event("call", 0, "person stops"), Event(point, 0, event)]
    history = History(Setup(first="absent", is_engine=False, stopped="start"), [])
    history.play()
    history.events = events
    history.world.script = history.watch
    history.end(history.begin("Run B"))
    history.settle()
    assert any("docker start" in line for line in history.world.lines)
    assert history.world.named("slb").state == "running"
