"""Failovers to a standby that lacks the last commits."""

import random
import signal
import threading
import time
from collections.abc import Callable

from database import Loss
from fleet import Place
from node import FAILOVER_SETTLED, RENEWED, Row
from part import PLACES, USERS, Login, Part


class Asynchronously(Part):
    """The standby is asynchronous, and cut off a moment before it takes the primary's place: commits of the last moments are
    missing there. While all processes survive, they do them again, and nothing is lost. In the last failovers some or all of
    them are killed together with the primary: then all logins are held, none is sent for, and an operator accepts them.
    """

    name = "asynchronously"
    is_synchronous = False
    # The last ones are of renewals that a killed process had begun, and of logins that have ended.
    expected_codes = {"busy", "held", "refreshStalled", "lostResponse", "refreshFailed"}

    def __init__(self, *given, holds: int):
        super().__init__(*given)
        if self.goal["restores"]:
            # Until a base backup in the primary's place is found out, a process refuses older rows of a user than it has seen.
            self.expected_codes = self.expected_codes | {"rollbackSuspected"}
        self.holds = holds
        self.fails_over = threading.Event()
        # Refresh tokens that were presented again, after logins were accepted.
        self.again: set[str] = set()
        # Users whose login ended by that.
        self.ended: set[str] = set()
        # Whoever fails to open the vault, counts as a process that does not come back.
        self.still.set()

    # For less time than the processes wait for one another.

    def length_of_stop(self) -> float:
        return random.uniform(0.1, 1)

    def length_of_cut(self) -> float:
        return random.uniform(0.1, 1.5)

    def nemeses(self) -> list[Callable[[], None]]:
        return [*super().nemeses(), self.fail_over_again]

    def fail_over_again(self) -> None:
        places = [place for group in self.places.values() for place in group]
        survived = self.goal["failovers"] - self.holds
        for number in range(self.goal["failovers"]):
            for place in places:
                self.expect("a process does not open the vault", place.wait(60))
            self.still.clear()
            if self.done.wait(random.uniform(2, 4)):
                return
            # What a process that has ended did last cannot be done again, and would be missed. That it has ended may be lost.
            self.fails_over.set()
            self.visitors.wait_for_quiet()
            self.still.set()
            self.cluster.catch_up()
            killed = [] if number < survived else places if (number - survived) % 2 else [random.choice(places)]
            self.fail_over(killed)
            self.counts["failovers"] += 1
            self.fails_over.clear()
        self.fails_over.set()
        self.visitors.wait_for_quiet()
        self.still.set()
        for what, step in (("promotions", self.promote_the_lesser), ("restores", self.put_back)):
            for _ in range(self.goal[what]):
                for place in places:
                    self.expect("a process does not open the vault", place.wait(60))
                step()
                self.counts[what] += 1
        self.fails_over.clear()
        self.still.clear()

    def visits_now(self) -> bool:
        return not self.fails_over.is_set()

    def fail_over(self, killed: list[Place]) -> None:
        started = time.monotonic()

        def kill() -> None:
            for place in killed:
                place.send(signal.SIGKILL)

        loss = self.cluster.fail_over_behind(self.schema, random.randint(10, 40), kill)
        self.counts["commits that the new primary lacked"] += loss.had.changes - loss.kept.changes
        self.counts["kills"] += len(killed)
        if killed:
            self.cluster.replace_standby()
        while time.monotonic() - started < 90 and not self.cluster.is_settled(self.schema):
            time.sleep(0.05)
        self.expect("what a failover has cost was not found out", self.cluster.is_settled(self.schema))
        self.longest = max(self.longest, time.monotonic() - started)
        self.judge_rows(loss, killed)
        if killed:
            self.judge_hold(loss)
        else:
            self.expect("all logins were held, though all processes survived", self.holds_now() == 0)
            self.cluster.replace_standby()

    # Where nobody is killed.

    def promote_the_lesser(self) -> None:
        """Of two standbys one had to confirm each commit, and the other one is promoted. A short process had committed something
        in the meantime: everybody has seen it, and nobody can do it again.
        """
        def visit() -> None:
            before = self.cluster.primary.changes(self.schema)
            self.expect("a short process did not renew a login", self.renew_one() and
                        self.cluster.primary.changes(self.schema) > before)

        self.judge_hold_soon(lambda: self.cluster.promote_the_lesser(self.schema, visit))

    def renew_one(self) -> bool:
        for user in random.sample(range(USERS), USERS):
            if self.visitors.run(self.fleet.workers[0], "login", "refresh", "--user", f"user-{user}") == 0:
                return True
        return False

    def put_back(self) -> None:
        """A base backup is started in the primary's place: the same cluster, the same history, an older state."""
        self.judge_hold_soon(lambda: self.cluster.put_back(self.schema, random.randint(10, 20)))

    def judge_hold_soon(self, act: Callable[[], Loss]) -> None:
        started = time.monotonic()
        loss = act()
        while time.monotonic() - started < 90 and not self.holds_now():
            time.sleep(0.05)
        self.longest = max(self.longest, time.monotonic() - started)
        self.judge_hold(loss)
        self.cluster.replace_standby()

    def holds_now(self) -> int:
        return self.cluster.holds(self.schema) - self.counts["holds"]

    def judge_rows(self, loss: Loss, killed: list[Place]) -> None:
        """What was done again must have come to the same, row by row."""
        found = self.cluster.primary.rows(self.schema, loss.kept.head)
        end = next((place for place, row in enumerate(found) if row.kind == FAILOVER_SETTLED), None)
        if end is None:
            return self.expect("the trail does not say what became of a failover", False)
        done, missing = found[:end], loss.rows[end:]
        self.expect("what was done again is not what was lost", len(done) <= len(loss.rows) and all(map(
            Row.is_same, done, loss.rows)))
        self.counts["generations asserted again"] += sum(row.kind == RENEWED for row in done)
        if not killed:
            # Of each process there may be one whose answer it never got.
            commits = len({row.transaction for row in missing})
            self.expect(f"{commits} commits were not done again", commits <= PLACES * len(self.fleet.workers))
            self.expect("nothing was done again", bool(done))
        elif len(killed) == PLACES * len(self.fleet.workers):
            self.expect("somebody knew what nobody could know", not done)

    # Where something may be lost.

    def judge_hold(self, loss: Loss) -> None:
        found = self.cluster.primary.standing(self.schema)
        if self.holds_now() != 1:
            return self.expect("logins are not held, though a process did not come back", False)
        self.expect(f"{found.held} of {USERS} logins are held", found.held == USERS)
        self.counts["holds"] += 1
        numbers = sorted(found.generations, key=int)
        lost = {number: loss.had.generations[number] - found.generations[number] for number in numbers}
        self.counts["generations lost, and held"] += sum(lost.values())
        self.judge_stillness()
        self.ledger.forget()
        self.accept()
        # The first user's login is the first.
        self.go_on({f"user-{place}" for place, number in enumerate(numbers) if lost[number] or number in loss.had.open})

    def judge_stillness(self) -> None:
        """All processes call for tokens, and none sends a refresh token."""
        requests, renewals = self.requests(), self.ledger.renewals
        heard = [(place, place.held) for group in self.places.values() for place in group]
        for place, before in heard:
            with place.changed:
                is_held = place.changed.wait_for(lambda place=place, before=before: place.held >= before + 5, 60)
            self.expect("a process is not told that logins are held", is_held)
            if not is_held:
                break
        self.expect("a held login was renewed", self.ledger.renewals == renewals and self.requests() == requests)
        self.expect("a token was presented again before an operator allowed it", self.tokens_again() == self.again)

    def requests(self) -> int:
        return sum(grant["refresh_requests"] for grant in self.grants_now())

    def tokens_again(self) -> set[str]:
        return {token["fingerprint"] for token in self.presented_again()}

    def accept(self) -> None:
        for provider in ("grace", "strict"):
            words = ("restore", "accept", "--provider", provider)
            planned = self.operate(*words, "--dry-run")["accepted"]
            done = self.operate(*words, "--risk")
            self.expect(
                f"of {planned} logins {done} were accepted",
                done["accepted"] == planned == USERS // 2 and done["stillHeld"] == 0)

    def go_on(self, touched: set[str]) -> None:
        """Each login is renewed, or ends because the token that it was left with had been spent."""
        before = self.ended
        for _ in range(200):
            logins = self.look(self.fleet.workers[0])
            living = {user for user, login in logins.items() if login.end == "alive"}
            if living <= set(self.ledger.stored):
                break
            time.sleep(0.2)
        else:
            self.expect(f"not renewed after they were accepted: {living - set(self.ledger.stored)}", False)
        self.ended = set(logins) - living
        self.expect(f"ended, though nothing of them was lost: {self.ended - before - touched}",
                    self.ended - before <= touched)
        self.again = self.tokens_again()

    # What must hold afterwards.

    def settle(self) -> dict[str, Login]:
        self.expect("logins were held once more than told", self.holds_now() == 0)
        return super().settle()

    def judge_ends(self, ended: dict[str, Login], again: list[dict]) -> None:
        self.expect(f"logins ended: {set(ended) - self.ended}", set(ended) == self.ended)
        self.expect("tokens were presented again", {token["fingerprint"] for token in again} == self.again)
        for user, login in ended.items():
            self.expect(f"{user} ended as {login.end}", login.end in ("deadGrant", "lostResponse"))
