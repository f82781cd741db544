"""The simulated world of one engine host: a scheduler in virtual time, a container runtime and a management node.

Everything that runs is an actor, a coroutine that stops at each yield point (``World.pause``). The actor that is due
first goes on. The promises are judged here, from what the world sees, never from the record or from the collection.
"""

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from greenlet import getcurrent, greenlet

CHANGES = ("update", "stop", "rename", "start", "rm", "pause", "unpause")
LIVE = ("running", "restarting", "paused")
WAIT = 66.0
"""``slb_wait_timeout`` of the runs: more than 60 s longer than a call of 5 s."""
OPEN = WAIT - 30
"""How long a request is open at least: the wait counts from its record, which is at most 30 s older."""
LATE = {"later": 0.0, "much later": 60.0}
"""Seconds beyond its time limit until a stop is carried out whose command was killed."""
MAX_STEPS = 50_000


class Killed(BaseException):
    """Stands for SIGKILL: whatever a handler does afterwards has no effect."""


class TaskTimeout(BaseException):
    """Stands for the time limit of a task, which no handler of ``Exception`` catches."""


class Broken(AssertionError):  # noqa: N818
    """A promise does not hold. Each promise has a class of its own, so that Hypothesis reports each of them."""


class NotRestored(Broken):
    """P1: a container that was set aside for nothing stays stopped, and the report does not name it."""


class TwoRequests(Broken):
    """P2: a second request leaves while the first may be accepted or its deployment is in progress."""


class LiveStopped(Broken):
    """P3: a live container is stopped by a plan that was not made for it as it is now."""


class NotReported(Broken):
    """P4: a run changed a container, and its report says nothing of that."""


class NotSteady(Broken):
    """P5: runs without faults lead to no steady result."""


class Crashed(Broken):
    """The code raised an error that no user can fix, or the harness does not know what it did."""


@dataclass(eq=False)
class Actor:
    """``wake``: when it goes on. ``deadline``: of its task. ``cut``: line and time limit of its HTTP call."""

    name: str
    run: Any
    greenlet: greenlet
    is_module: bool = False
    kind: str = "begin"
    wake: float = 0.0
    stopped_until: float = 0.0
    deadline: float | None = None
    cut: tuple[Any, float] | None = None
    is_dead: bool = False
    stopped_at: str = ""
    is_install: bool = False
    result: Any = None
    lost: str = ""
    waiter: "Actor | None" = None
    command_began: int = 0

    @property
    def due(self) -> float:
        limits = [self.wake, *([self.deadline] if self.deadline else []), *([self.cut[1]] if self.cut else [])]
        return max(self.stopped_until, min(limits))


@dataclass(eq=False)
class Box:
    """A container. ``wanted``: its policy before any run. ``owed``: accepted requests when it was set aside live.

    ``altered``: the step at which a person started it or connected to it. ``post``: the request that it came with.
    ``changer``: the run that changed it last. ``is_made``: a person made it after the last check before a request.
    """

    id: str
    name: str = "slb"
    state: str = "running"
    policy: str = "always"
    pid: int = 0
    began: float = 0.0
    starts: int = 0
    restarts: int = 0
    connections: int = 0
    altered: int = 0
    owed: int | None = None
    is_made: bool = False
    changer: Any = None
    wanted: str = ""
    post: "Post | None" = None

    @property
    def is_live(self) -> bool:
        return self.state in LIVE

    @property
    def outside(self) -> tuple[Any, ...]:
        """Return what its clients and the next boot notice."""
        return self.name, self.is_live, self.policy, self.starts

    @property
    def status(self) -> str:
        """Return the state in the words of ``docker ps``."""
        return "Up 3 minutes" if self.is_live else "Exited (0) 3 minutes ago"

    def __str__(self) -> str:
        return f"{self.name} ({self.id}) is {self.state} with policy {self.policy}"


@dataclass(eq=False)
class Post:
    """An install request. ``state``: flight, deploying, over. ``is_excused``: its run stood still before its byte.

    ``is_unknown``: its answer was lost.
    """

    run: Any
    left: float
    state: str = "flight"
    is_late: bool = False
    is_excused: bool = False
    is_unknown: bool = False


@dataclass
class World:
    """One history. ``program``: docker or podman. ``engine``: what the management node says of the engine."""

    program: str = "docker"
    version: str = "27.0"
    engine: str = "none"
    now: float = 1000.0
    booted: float = 0.0
    boots: int = 1
    steps: int = 0
    boxes: dict[str, Box] = field(default_factory=dict)
    posts: list[Post] = field(default_factory=list)
    is_marked: bool = False
    accepted: int = 0
    actors: list[Actor] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    node_fault: str = ""
    deployment_fault: str = ""
    hangs: str = ""
    full_until: float = 0.0
    read_only_until: float = 0.0
    slow_until: float = 0.0
    down_until: float = 0.0
    list_down_until: float = 0.0
    unreachable_until: float = 0.0
    on_reboot: Callable[[], None] = lambda: None
    script: Callable[[Actor], None] = lambda actor: None

    # --- the scheduler

    def say(self, sentence: str) -> None:
        self.lines.append(f"{self.now - 1000:6.1f} s  {sentence}")

    @property
    def actor(self) -> Actor:
        return getcurrent().actor

    def spawn(self, name: str, act: Callable[[], Any], run: Any = None, *, is_module: bool = False) -> Actor:
        def main() -> None:
            try:
                actor.result = act()
            except Killed:
                actor.is_dead = True
            if actor.waiter:
                actor.waiter.wake = self.now

        hub = getcurrent()
        actor = Actor(name, run, greenlet(main, hub.parent or hub), is_module, wake=self.now)
        actor.greenlet.actor = actor
        self.actors.append(actor)
        return actor

    def pause(self, kind: str, seconds: float = 0.05) -> None:
        """Stop at a yield point until ``seconds`` have passed. Raises Killed and TaskTimeout."""
        actor = getattr(getcurrent(), "actor", None)
        if actor is None:
            return
        if actor.is_dead:
            raise Killed
        actor.kind, actor.wake = kind, self.now + seconds
        self.is_marked |= kind == "after write" and actor.name.endswith(" mark")
        actor.greenlet.parent.switch()
        if kind in ("clock", "byte") and actor.stopped_at in ("clock", "byte"):
            return  # the thread that sends may go on before the one that watches the time
        if actor.cut and self.now >= actor.cut[1]:
            actor.cut[0].end()
        if actor.deadline and self.now >= actor.deadline:
            actor.deadline = None
            raise TaskTimeout

    def go_on(self) -> None:
        """Run all actors to their end."""
        while True:
            self.actors = [actor for actor in self.actors if not actor.greenlet.dead]
            if not self.actors:
                return
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise Crashed("The history has no end.")
            actor = min(self.actors, key=lambda each: each.due)
            self.now = max(self.now, actor.due)
            actor.greenlet.switch()
            if not actor.greenlet.dead:
                self.script(actor)

    def kill(self, actor: Actor) -> None:
        actor.is_dead = True
        with contextlib.suppress(Killed):  # one that has not begun
            actor.greenlet.throw(Killed)
        if actor.waiter:
            actor.waiter.wake = self.now

    def modules(self, run: Any = None) -> list[Actor]:
        return [each for each in self.actors if each.is_module and (run is None or each.run is run)]

    # --- the host

    def add(self, state: str, policy: str, post: Post | None = None) -> Box:
        box = Box(f"c{len(self.boxes) + 1}", policy=policy, wanted=policy, post=post)
        self.boxes[box.id] = box
        if state in LIVE:
            self.start(box, state)
        else:
            box.state = state
        return box

    def start(self, box: Box, state: str = "running") -> None:
        box.starts += 1
        box.state, box.began, box.pid = state, self.now - self.booted, 1000 * len(self.boxes) + 10 * box.starts
        box.restarts = 5 if state == "restarting" else 0

    def end(self, box: Box) -> None:
        box.state, box.connections, box.pid = "exited", 0, 0

    def named(self, name: str) -> Box | None:
        return next((box for box in self.boxes.values() if name in (box.name, box.id)), None)

    def reboot(self) -> None:
        for module in self.modules():
            self.kill(module)
        self.booted, self.boots = self.now, self.boots + 1
        self.unreachable_until = self.now + 20
        self.on_reboot()
        self._restart_containers()

    def restart_runtime(self) -> None:
        self.down_until = self.now + 5
        if self.program == "docker":
            self._restart_containers()

    def _restart_containers(self) -> None:
        for box in self.boxes.values():
            if box.is_live:
                if (box.name, box.policy) == ("slb", box.wanted):
                    box.owed = None  # restored before: what a restart makes of it is the operator's choice
                self.end(box)
            if self.program == "docker" and box.policy in ("always", "unless-stopped"):
                self.start(box)

    def command(self, argv: list[str], timeout: float) -> tuple[int, str, str, bool]:
        """Run a command of the runtime. Return its status, output and error, and whether it was killed."""
        words = list(argv[1:])
        while words and words[0].startswith("--") and words[0] != "--version":
            del words[: 2 if words[0] in ("--host", "-H", "--url") else 1]
        verb, actor = words[0], self.actor
        previous, actor.command_began = actor.command_began, self.steps
        seconds = 9.0 if self.now < self.slow_until else 0.1
        self.pause(f"before {verb}" if verb in CHANGES else "check", min(seconds, timeout))
        if self.now < self.down_until:
            return 1, "", f"Cannot connect to the {self.program} daemon.", False
        if verb == "stop" and self.hangs in LATE:
            self._stop_later(words, previous, LATE[self.hangs])
            return -9, "", "", False
        is_killed = verb in CHANGES and self.hangs not in ("", *LATE)
        happens = not is_killed or self.hangs == "after its effect"
        if is_killed:
            self.say(f"{actor.name}: the command {verb} hangs {self.hangs}.")
            self.hangs = ""
        out, error = "", ""
        if happens:
            try:
                out = self._change(verb, words[1:], previous) if verb in CHANGES else self._show(verb, words[1:])
            except LookupError as failure:
                error = str(failure.args[0])
        if verb in CHANGES:
            self.pause(f"after {verb}", timeout if is_killed else 0.05)
        return (-9 if is_killed else int(bool(error))), out, error, is_killed

    def _stop_later(self, words: list[str], previous: int, late: float) -> None:
        """The command of the stop is killed, and the runtime carries the stop out."""
        box, actor, self.hangs = self.named(words[-1]), self.actor, ""
        self.say(f"{actor.name}: the command stop is killed.")
        if box is None or not box.is_live:
            return
        self._judge_stop(box, actor, previous)
        began, before = box.starts, box.outside

        def stop() -> None:
            self.pause("runtime", late + float(words[words.index("-t") + 1]))
            if box.is_live and box.starts == began:
                self.say(f"The runtime stops {box.id}.")
                box.owed = None if actor.run.role == "host_preparation" else self.accepted
                actor.run.touched.setdefault(box.id, before)
                box.changer = actor.run
                self.end(box)

        self.spawn("The runtime", stop)

    def _change(self, verb: str, words: list[str], previous: int) -> str:
        box, actor = self.named(words[-2] if verb == "rename" else words[-1]), self.actor
        if box is None:
            raise LookupError("no such container")
        if self.now < self.full_until and verb in ("update", "rename", "start"):
            raise LookupError("no space left on device")
        if verb == "rm":
            raise Crashed(f"{actor.name} deletes {box.id}.")
        before = box.outside
        if verb == "stop" and box.is_live:
            self._judge_stop(box, actor, previous)
            box.owed = None if actor.run.role == "host_preparation" else self.accepted
            self.end(box)
        elif verb == "start":
            self.start(box)
        elif verb == "rename":
            if self.named(words[-1]):
                raise LookupError("the name is in use")
            box.name = words[-1]
        elif verb == "update":
            if self.program == "podman" and self.version < "5.1":
                raise LookupError("unknown flag: --restart")
            box.policy = next(word for word in words if "--restart" in word).partition("=")[2]
        elif verb in ("pause", "unpause"):
            box.state = "paused" if verb == "pause" else "running"
        actor.run.touched.setdefault(box.id, before)
        box.changer = actor.run
        self.say(f"{actor.name}: {self.program} {verb} {' '.join(word for word in words if not word.startswith('-'))}.")
        return ""

    def _show(self, verb: str, words: list[str]) -> str:
        if verb == "--version":
            return f"{self.program} version {self.version}"
        if verb in ("container", "inspect"):
            found = [self.named(word) for word in words if word not in ("inspect", "--")]
            if None in found:
                raise LookupError("no such container")
            if self.actor.name.endswith("host_info"):
                self.actor.run.seen.update({box.id: box.is_live for box in found})
            return json.dumps([self._inspected(box) for box in found])
        if verb == "image":
            return json.dumps([{"Id": "slb", "Config": {"Labels": {}}}])
        if verb == "info":
            return ""  # the fstab of this machine does not count
        if verb == "ps":
            return self._list(words)
        if verb == "logs":
            return "port 80 is in use"
        raise Crashed(f"The simulated runtime does not know: {verb} {' '.join(words)}.")

    def _inspected(self, box: Box) -> dict[str, Any]:
        policy, _colon, retries = box.policy.partition(":")
        return {
            "Id": box.id,
            "Name": box.name,
            "Created": "2026-11-20T13:14:00Z",
            "RestartCount": box.restarts,
            "Config": {"Image": "slb:1", "Labels": {}},
            "HostConfig": {
                "RestartPolicy": {"Name": policy, "MaximumRetryCount": int(retries or 0)},
                "NetworkMode": "host",
                "AutoRemove": False,
            },
            "State": {"Status": box.state, "Pid": box.pid, "ExitCode": 0, "StartedAt": f"start {box.starts}"},
        }

    def _list(self, words: list[str]) -> str:
        template = words[words.index("--format") + 1] if "--format" in words else "{{.ID}}"
        if set(words) - {"--quiet", "--no-trunc", "--external", "--format", template} != {"--all"}:
            raise Crashed(f"The simulated runtime does not know: ps {' '.join(words)}.")

        def line(box: Box) -> str:
            values = {"{{.ID}}": box.id, "{{.Names}}": box.name, "{{.Status}}": box.status}
            return " ".join(values[word] for word in template.split())

        return "\n".join(map(line, self.boxes.values()))

    # --- the management node

    def post(self) -> tuple[int, dict[str, Any]] | None:
        """Receive an install request whose first byte has just left. Return the answer, None if it is lost."""
        actor, fault = self.actor, self.node_fault
        self.node_fault = ""
        self.say(f"{actor.name}: the install request leaves.")
        post = Post(actor.run, self.now, is_excused=actor.stopped_at == "byte")
        for other in self.posts:
            is_open = other.state != "over" and not other.is_late and self.now - other.left < OPEN
            if is_open and not (post.is_excused or other.is_excused):
                state = "may still be accepted" if other.state == "flight" else "is deploying"
                raise TwoRequests(f"{actor.name} sends a request while the one of {other.run.name} {state}.")
            if other.is_unknown and other.run is actor.run and not actor.run.is_called_twice:
                raise TwoRequests(f"{actor.name} sends a second request after one whose outcome is unknown.")
        self.posts.append(post)
        self.pause("node", 0.3)
        if fault == "rejects it":
            post.state = "over"
            self.say(f"The management node rejects the request of {actor.name}.")
            return 400, {"success": False, "message": "invalid credential"}
        if fault == "never gets it":
            post.state = "over"
        elif fault == "gets it 20 s later":
            self.spawn("The management node", lambda: (self.pause("node", 20), self._accept(post)))
        else:
            answer = self._accept(post)
            if fault != "loses its answer":
                return answer
        post.is_unknown = True
        self.say(f"The answer to {actor.name} is lost: the management node {fault}.")
        return None

    def _accept(self, post: Post) -> tuple[int, dict[str, Any]]:
        post.state = "over"
        if self.engine in ("running", "deploying"):
            self.say(f"The management node answers {post.run.name}: the engine exists.")
            return 400, {"success": False, "message": "engine already exists"}
        if any(box.is_live for box in self.boxes.values()):
            self.say(f"The management node answers {post.run.name}: a port is in use.")
            return 400, {"success": False, "message": "port 443 is in use"}
        self.say(f"The management node accepts the request of {post.run.name}.")
        self.accepted, self.engine, post.state = self.accepted + 1, "deploying", "deploying"
        fault, self.deployment_fault = self.deployment_fault, ""
        post.is_late = fault == "is late"
        self.spawn("The management node", lambda: self._deploy(post, fault))
        return 200, {"success": True, "message": "installation started"}

    def _deploy(self, post: Post, fault: str) -> None:
        self.pause("deployment", {"is late": WAIT + 40, "is slow": 60}.get(fault, 30))
        post.state = "over"
        if fault == "fails" or self.named("slb") or any(box.is_live for box in self.boxes.values()):
            self.engine = "failed"
            self.say(f"The deployment of {post.run.name} fails.")
            return
        self.engine = "failed" if fault == "loops" else "running"
        box = self.add("restarting" if fault == "loops" else "running", "always", post)
        self.say(f"The deployment of {post.run.name} makes the container {box.id}, which is {box.state}.")

    @property
    def may_be_sent(self) -> bool:
        """Whether a step has made the last check for a container ``slb`` before a request."""
        is_marking = (each.kind == "before write" and each.name.endswith(" mark") for each in self.actors)
        return self.is_marked or any(is_marking)

    # --- the promises

    def _judge_stop(self, box: Box, actor: Actor, previous: int) -> None:
        """P3. What happened after the module's last check of the runtime began cannot be known to it."""
        is_known = box.altered >= previous
        if box.connections and not is_known:
            raise LiveStopped(f"{actor.name} stops {box.id}, which has a connection.")
        if not actor.run.seen.get(box.id) and not is_known:
            raise LiveStopped(f"{actor.name} stops {box.id}, which did not run when the plan was made.")
        post = box.post
        if post and post.run is not actor.run and self.now - post.left < OPEN and box.state == "running":
            raise LiveStopped(f"{actor.name} stops {box.id}, the new engine of {post.run.name}.")

    def judge_report(self, run: Any) -> None:
        """P4, after the run and its modules have ended."""
        boxes = [
            box
            for box in self.boxes.values()
            if box.changer is run and run.touched.get(box.id, box.outside) != box.outside
        ]
        if boxes and not run.is_killed and not run.changes:
            now = "; ".join(map(str, boxes))
            raise NotReported(f"{run.name} changed a container ({now}), and reports: {run.failure_text or 'success'}")

    def judge_restored(self, run: Any) -> None:
        """P1, after a complete run without faults, unless an engine of an accepted request serves, or a listed one.

        A container made when a request may be sent may be its engine.
        """
        holder = self.named("slb")
        is_listed = self.engine == "running" and bool(run.variables.get("slb_engine_list"))
        if holder and (holder.is_made or (holder.is_live and (holder.post or is_listed))):
            return
        for box in self.boxes.values():
            if box.owed is None or box.owed != self.accepted:
                continue
            is_back = box.name == "slb" and box.is_live and box.policy == box.wanted
            is_named = box.name in run.failure_text and "engine_container" in run.failure_text
            if not is_back and not is_named:
                raise NotRestored(f"Container {box}, and {run.name} reports: {run.failure_text or 'success'}")
