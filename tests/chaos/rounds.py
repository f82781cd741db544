"""One round: hosts in disorder, runs that are killed, faults off, one undisturbed run, and what must hold of it all."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import disorder
import outside
from outside import Sight
from runs import kill
from sites import DESCRIBED, Site, Sites

ATTEMPTS = 2
POLICY = {"slb_wait_timeout": 12, "slb_settle": 1}


class Chaos:
    """``violations`` holds each broken promise with the story of its host in that round."""

    def __init__(self, sites: Sites, seed: int) -> None:
        self._sites = sites
        self._seed = seed
        self._stories: dict[str, list[str]] = {}
        self._common: dict[str, Any] = {}
        self.rounds = self.runs = self.killed = 0
        self.violations: list[str] = []

    def round(self) -> None:
        self.rounds += 1
        chance = random.Random(f"{self._seed}-{self.rounds}")
        self._common = POLICY | (DESCRIBED if chance.random() < 0.5 else {})
        self._stories = {site.name: [] for site in self._sites}
        lots = {site.name: random.Random(f"{self._seed}-{self.rounds}-{site.name}") for site in self._sites}
        self._each(lambda site: disorder.bring_about(site, lots[site.name], self._stories[site.name].append))
        for _ in range(chance.choice([1, 2])):
            words = {
                site.name: lots[site.name].choice(["fail", "fail", "fail", "adopt", "replace"]) for site in self._sites
            }
            self._judged(lambda words=words: self._killed_run(chance, words), words)  # type: ignore[misc]
            self._each(lambda site: disorder.break_node(site, lots[site.name], self._stories[site.name].append))
        self._each(lambda site: site.node.set_faults({}))
        self._converge()

    def _killed_run(self, chance: random.Random, words: dict[str, str]) -> None:
        seconds, unlucky = chance.uniform(2, 25), chance.choice([None, *self._sites])
        self.runs += 1
        with self._sites.started("slb.fleet.rollout", variables=_said(words), **self._common) as process:
            _sleep(seconds / 2, process.poll)
            if unlucky:
                self._stories[unlucky.name].append("its management node is killed")
                unlucky.node.kill()
            _sleep(seconds / 2, process.poll)
            if process.poll() is None:
                self.killed += 1
                self._tell(f"the run is killed after {seconds:.1f} s")
            kill(process)
        if unlucky:
            unlucky.node.start()

    def _converge(self) -> None:
        refused = self._undisturbed({})
        words: dict[str, str] = {}
        for name in refused:
            done = list(outside.remedies(self._sites[name]))
            self._stories[name].append(f"operator: {', '.join(done)}")
            if not done:
                self._broke(name, "the run failed, and there is nothing that an operator could do")
            if done and done[-1] in ("adopt", "replace"):
                words[name] = done[-1]
        for name in self._undisturbed(words) if refused else []:
            self._broke(name, "no run converges")
        self._see_that_all_is_well()

    def _undisturbed(self, words: dict[str, str]) -> list[str]:
        """The hosts on which an undisturbed run did not end in a verified engine."""
        self._tell("undisturbed run")

        def play() -> None:
            self.runs += 1
            run = self._sites.play("slb.fleet.rollout", variables=_said(words), **self._common)
            for site in self._sites:
                if run.of("failed").get(site.name):
                    self._stories[site.name] += [
                        line for line in run.output.splitlines() if f"fatal: [{site.name}]" in line
                    ]

        seen = self._judged(play, words)
        return [name for name, sight in seen.items() if not sight.is_verified]

    def _see_that_all_is_well(self) -> None:
        before = self._look()
        for site in self._sites:
            site.node.reset_counters()
        self.runs += 1
        run = self._sites.play("slb.fleet.rollout", **self._common)
        after = self._look()
        for site in self._sites:
            name = site.name
            asked = {kind for kind, number in site.requests.items() if number}
            if run.of("changed").get(name, 0) or not asked <= (
                {"login", "engines"} if "slb_engine_list" in self._common else set()
            ):
                self._broke(
                    name, f"a run over a verified engine changed something, or asked for more than the list: {asked}"
                )
            if (before[name].containers, before[name].record) != (after[name].containers, after[name].record):
                self._broke(name, "a run over a verified engine left another state")
            if run.verified_by.get(name) == "engine_list" and not after[name].live:
                self._broke(name, "the console is said to have verified an engine that it does not have")

    def _judged(self, act: Callable[[], None], words: dict[str, str]) -> dict[str, Sight]:
        """Acts, and looks from the outside what that has done; the last sight of each host."""
        before = self._look()
        act()
        after = self._look()
        for name, sight in after.items():
            for promise in outside.broken_promises(before[name], sight, ATTEMPTS, words.get(name, "fail")):
                self._broke(name, promise)
        return after

    def _look(self) -> dict[str, Sight]:
        return dict(zip(self._stories, self._each(outside.look), strict=True))

    def _each(self, step: Callable[[Site], Any]) -> list[Any]:
        with ThreadPoolExecutor(max_workers=3) as workers:
            return list(workers.map(step, self._sites))

    def _tell(self, what: str) -> None:
        for story in self._stories.values():
            story.append(what)

    def _broke(self, host: str, promise: str) -> None:
        story = "\n    ".join(self._stories[host])
        self.violations.append(f"round {self.rounds}, {host}: {promise}\n    {story}")
        print(self.violations[-1], flush=True)


def _said(words: dict[str, str]) -> dict[str, dict[str, Any]]:
    return {name: {"slb_unverified_engine": word} for name, word in words.items()}


def _sleep(seconds: float, has_ended: Callable[[], int | None]) -> None:
    deadline = time.monotonic() + seconds
    while has_ended() is None and time.monotonic() < deadline:
        time.sleep(0.05)
