"""What the parts of the check differ in."""

import random
import signal
import threading
import time
from collections.abc import Callable

from fleet import Place
from network import Machine, SlowWay, pull
from part import Login, Part


class Gently(Part):
    """No process loses its memory: it is stopped for a while, its machine loses the server but not the provider, or reaches it
    late, the primary fails. So no refresh token may be presented twice, and no login may end.
    """

    name = "gently"
    expected_codes = {"busy"}

    def nemeses(self) -> list[Callable[[], None]]:
        return [*super().nemeses(), self.fail_over_again, self.slow_down, self.clone_again, self.set_clocks]

    def clone_again(self) -> None:
        """A machine is made from the image of one whose service runs."""
        while not self.done.wait(random.uniform(1, 4)):
            original, elsewhere = random.sample(self.fleet.workers, 2)
            self.visitors.clone(original, elsewhere)

    def set_clocks(self) -> None:
        while self.fleet.clock and not self.done.wait(random.uniform(1, 4)):
            random.choice(self.clocks).jump()
            self.counts["clocks set by an hour"] += 1

    def fail_over_again(self) -> None:
        """Nobody is killed near it: who was there before tells that nothing is missing."""
        while self.counts["failovers"] < self.goal["failovers"] and not self.done.wait(random.uniform(3, 7)):
            started = time.monotonic()
            self.cluster.fail_over()
            while time.monotonic() - started < 60 and not self.cluster.is_settled(self.schema):
                time.sleep(0.1)
            self.expect("what a failover has cost was not found out in a minute", self.cluster.is_settled(self.schema))
            self.longest = max(self.longest, time.monotonic() - started)
            self.counts["failovers"] += 1

    def slow_down(self) -> None:
        """One machine is as far away as another continent, and now and then further than a proof of life may be old."""
        way = SlowWay(self.fleet.workers[2], self.fleet.databases, 5432)
        try:
            while not self.done.is_set():
                self.done.wait(random.uniform(1, 4))
                way.delay(random.uniform(0.5, 2) if random.random() < 0.2 else random.uniform(0.01, 0.2))
                self.counts["spells of a slow network"] += 1
                self.done.wait(random.uniform(0.5, 3))
                way.delay(0)
        finally:
            way.close()

    def settle(self) -> dict[str, Login]:
        self.expect_no_hold()
        return super().settle()


class Roughly(Part):
    """Processes are killed, machines lose everything, and the primary stays. Then a strict provider may end a login, and only
    one whose token was presented again.
    """

    name = "roughly"
    pause = 20

    def time_between_disturbances(self) -> float:
        return random.uniform(0.01, 0.5)

    def disturb_place(self, place: Place) -> None:
        if random.random() > 0.95:
            return self.stop(place)
        if place.send(signal.SIGKILL):
            self.expect("a killed process did not end", place.wait_for_end(10) == "+signal 9")
            self.counts["kills"] += 1

    def cut(self, machine: Machine) -> None:
        if random.random() > 0.3:
            return super().cut(machine)
        pull(machine)
        self.counts["cables pulled"] += 1

    def kills_visitors(self) -> bool:
        return random.random() < 0.5

    def settle(self) -> dict[str, Login]:
        self.expect_no_hold()
        return super().settle()

    def judge_ends(self, ended: dict[str, Login], again: list[dict]) -> None:
        for user, login in ended.items():
            self.expect(f"{user} ended as {login.end}", login.end == "lostResponse")
            self.expect(f"{user} ended, and its provider gives the same again", login.client == "strict")
        for token in again:
            self.expect(
                f"a token of {token['user']} was presented {token['presented']} times",
                token["client"] == "grace" or token["user"] in ended)
