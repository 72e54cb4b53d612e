"""One part of the check: processes that share a vault of their own, what happens to them, and what must hold."""

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable

from fleet import Fleet, Ledger, Login, Place, operate, run_job
from network import Machine, cut, heal
from visits import Clock, Visitors

USERS = 60
PLACES = 2
DIRECTIONS = ("outward", "inward", "both")


class Part:
    name = ""
    is_synchronous = True
    # The longest pause of a process between two renewals, in milliseconds.
    pause = 120
    # With which codes calls may fail; empty: with any.
    expected_codes: set[str] = set()

    def __init__(self, fleet: Fleet, number: int, goal: dict[str, int], limit: float):
        self.fleet, self.cluster, self.authority = fleet, fleet.cluster, fleet.authority
        self.schema = f"vault{number}"
        self.goal, self.limit = goal, limit
        self.counts: Counter[str] = Counter()
        self.ledger = Ledger()
        self.problems: list[str] = []
        self.done = threading.Event()
        # While it is set, nothing new is stopped or cut.
        self.still = threading.Event()
        self.longest = 0.0
        self.grants: set[str] = set()
        # Users whose login was renewed once more at the end, which hides the loss of one generation.
        self.renewed: set[str] = set()
        self.key = fleet.folder / f"{self.schema}.key"
        self.enough = fleet.folder / f"{self.schema}.enough"
        self.environment = {"PGPASSFILE": str(fleet.folder / "pass")}
        self.log = (fleet.folder / "log").open("a")
        self.places: dict[str, list[Place]] = {}
        self.clocks: list[Clock] = []
        self.visitors = Visitors(
            fleet.folder, fleet.binaries / "vaultctl", lambda: self.cluster.address(self.schema), self.key, self.counts)

    def expect(self, what: str, holds: bool) -> None:
        if not holds:
            self.problems.append(f"{self.name}: {what}")

    # Jobs.

    def job(self, name: str, machine: Machine, **more: object) -> str:
        given = {
            "vault": self.cluster.address(self.schema), "key": self.key, "state": self.fleet.folder / machine.name, **more}
        return " ".join([name, *(f"{word}={value}" for word, value in given.items())])

    def job_done(self, name: str, machine: Machine, **more: object) -> list[str]:
        job = self.job(name, machine, seconds=150, **more)
        return run_job(machine, str(self.fleet.binaries / "crash-probe"), job, self.environment, 160)

    def operate(self, *words: str) -> dict:
        machine = self.fleet.workers[0]
        environment = {**self.environment, "TOKENVAULT_STATE_DIRECTORY": str(self.fleet.folder / machine.name)}
        return operate(
            machine, str(self.fleet.binaries / "vaultctl"), environment, *words, "--key-file", str(self.key), "--vault",
            self.cluster.address(self.schema))

    def fill(self) -> None:
        lines = []
        for number in range(USERS):
            client = "strict" if number % 2 else "grace"
            grant, *tokens = self.authority.issue(f"user-{number}", client)
            self.grants.add(grant)
            lines.append(" ".join([f"user-{number}", client, *tokens]))
        grants = self.fleet.folder / "grants"
        grants.write_text("\n".join(lines))
        grants.chmod(0o600)
        self.job_done(
            "fill", self.fleet.workers[0], grants=grants, profiles=self.fleet.folder, issuer=self.authority.url)
        grants.unlink()

    # What happens.

    def run(self) -> None:
        self.cluster.demand_standby(self.is_synchronous)
        self.fill()
        started = time.monotonic()
        self.disturb()
        disturbed = time.monotonic() - started
        if not self.problems:
            self.judge(self.settle())
            print(f"    disturbed for {disturbed:.0f} s, settled in {time.monotonic() - started - disturbed:.0f} s",
                  flush=True)
        self.log.close()

    def nemeses(self) -> list[Callable[[], None]]:
        """What goes on beside the processes, until it is done."""
        steps = [lambda machine=machine: self.cut_again(machine) for machine in self.fleet.workers]
        return steps + [lambda machine=machine: self.visit_again(machine) for machine in self.fleet.workers]

    def visit_again(self, machine: Machine) -> None:
        """Processes that come and go, beside those that stay."""
        while not self.done.wait(random.uniform(0.2, 1)):
            if random.random() < 0.3:
                self.visitors.read(machine)
                continue
            with self.visitors.quiet[machine.name]:
                if self.visits_now():
                    self.visitors.change(machine, f"user-{random.randrange(USERS)}", self.kills_visitors())

    def visits_now(self) -> bool:
        return True

    def kills_visitors(self) -> bool:
        return False

    def make_places(self, machine: Machine) -> list[Place]:
        job = self.job(
            "worker", machine, users=USERS, tells=1, pause=self.pause, until=self.enough, seconds=int(self.limit) + 600)
        clocks = [Clock(self.fleet.folder, f"{machine.name}-{number}") for number in range(PLACES)]
        self.clocks += clocks
        return [
            Place(machine, str(self.fleet.binaries / "crash-probe"), job, self.ledger,
                  {**self.environment, **clock.environment(self.fleet.clock)}, self.log)
            for clock in clocks]

    def disturb(self) -> None:
        for machine in self.fleet.workers:
            self.places[machine.name] = self.make_places(machine)
        places = [place for group in self.places.values() for place in group]
        work = self.nemeses() + [lambda place=place: self.tend(place) for place in places]
        threads = [threading.Thread(target=self.guarded, args=(step,)) for step in work]
        for thread in threads:
            thread.start()
        self.wait_for_goal()
        self.done.set()
        for thread in threads:
            thread.join()
        self.end_places(places)

    def end_places(self, places: list[Place]) -> None:
        self.enough.touch()
        for place in places:
            end = place.wait_for_end(150)
            self.expect(f"a process did not end in good order: {end}, {place.trouble[-3:]}", end == "+exit 0")
            place.close()

    def wait_for_goal(self) -> None:
        end = time.monotonic() + self.limit
        while not all(self.counts[what] >= number for what, number in self.goal.items()):
            if self.done.wait(0.1) or self.problems:
                return
            if time.monotonic() > end:
                return self.expect(f"after {self.limit:.0f} s only {dict(self.counts)} of {self.goal}", False)

    def guarded(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - told at the end, and the run fails
            self.problems.append(f"{self.name}: {type(error).__name__}: {error}")
            self.done.set()

    def tend(self, place: Place) -> None:
        """Keeps a process going, and disturbs it again and again. At the end one runs."""
        place.start()
        while not self.done.is_set():
            if not place.wait(60):
                if place.end is None:
                    raise OSError("a process does not open the vault")
                if place.end != "+signal 9":
                    # The server was away when it was to be opened.
                    self.counts["openings that failed"] += 1
                    self.done.wait(0.2)
                place.start()
                continue
            self.done.wait(self.time_between_disturbances())
            if not self.done.is_set() and not self.still.is_set():
                self.disturb_place(place)
        while not place.wait(60):
            place.start()

    def time_between_disturbances(self) -> float:
        return random.uniform(1, 8)

    def disturb_place(self, place: Place) -> None:
        self.stop(place)

    def stop(self, place: Place) -> None:
        if not place.send(signal.SIGSTOP):
            return
        self.done.wait(self.length_of_stop())
        place.send(signal.SIGCONT)
        self.counts["stops"] += 1

    def length_of_stop(self) -> float:
        """Now and then longer than the server waits for a transaction."""
        return random.uniform(3, 8) if random.random() < 0.1 else random.uniform(0.1, 1)

    def cut_again(self, machine: Machine) -> None:
        while not self.done.wait(random.uniform(0.5, 4)):
            if self.still.is_set():
                continue
            self.cut(machine)
            self.done.wait(self.length_of_cut())
            heal(machine)

    def cut(self, machine: Machine) -> None:
        cut(machine, self.fleet.databases, random.choice(DIRECTIONS))
        self.counts["cuts"] += 1

    def length_of_cut(self) -> float:
        """Now and then longer than a connection survives, and a proof of life counts."""
        return random.uniform(5, 12) if random.random() < 0.05 else random.uniform(0.1, 1.5)

    # What must hold afterwards.

    def settle(self) -> dict[str, Login]:
        """Ends what is in doubt, and gives what all machines see."""
        results: dict[str, list[str]] = {}

        def settle(machine: Machine) -> None:
            is_first = machine is self.fleet.workers[0]
            results[machine.name] = self.job_done("settle", machine, **({"renew": 1} if is_first else {}))

        threads = [
            threading.Thread(target=self.guarded, args=(lambda machine=machine: settle(machine),))
            for machine in self.fleet.workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name, lines in results.items():
            for line in lines:
                self.expect(f"{name}: {line}", line.startswith("renewed "))
                self.renewed.add(line.split()[1])
        views = [self.look(machine) for machine in self.fleet.workers]
        self.expect("the machines do not agree", views[0] == views[1] == views[2])
        self.expect("logins are missing", len(views[0]) == USERS)
        return views[0]

    def look(self, machine: Machine) -> dict[str, Login]:
        logins = {}
        for line in self.job_done("look", machine):
            _, user, client, generation, end = line.split()
            logins[user] = Login(client, int(generation), end)
        return logins

    def grants_now(self) -> list[dict]:
        return [grant for grant in self.authority.ask("grants") if grant["id"] in self.grants]

    def presented_again(self) -> list[dict]:
        return [
            token for token in self.authority.ask("refresh-tokens")
            if token["grant"] in self.grants and token["presented"] > 1]

    def judge(self, logins: dict[str, Login]) -> None:
        for user, generation in self.ledger.stored.items():
            self.judge_generation(user, generation, logins[user])
        ended = {user: login for user, login in logins.items() if login.end != "alive"}
        grants, again = self.grants_now(), self.presented_again()
        reused = {grant["user"] for grant in grants if grant["reuse_detected"] > 0}
        self.expect(f"ended {sorted(ended)}, presented again {sorted(reused)}", set(ended) == reused)
        for grant in grants:
            self.expect(f"{grant['user']} spent a token twice more than once", grant["reuse_detected"] <= 1)
        self.judge_ends(ended, again)
        requests = sum(grant["refresh_requests"] for grant in grants)
        counted = ", ".join(f"{number} {what}" for what, number in sorted(self.counts.items()))
        print(f"machines, {self.name}: {counted}; {self.ledger.renewals} renewals acknowledged, {requests} requests in all, "
              f"{len(again)} tokens presented again, {len(ended)} logins ended", flush=True)
        strange = set(self.ledger.failures) - self.expected_codes if self.expected_codes else set()
        self.expect(f"calls failed with {sorted(strange)}", not strange)
        failures = ", ".join(f"{number} {code}" for code, number in sorted(self.ledger.failures.items()))
        print(f"    calls that failed meanwhile: {failures or 'none'}", flush=True)
        if self.longest:
            print(f"    the longest failover took {self.longest:.0f} s until changes were taken again", flush=True)

    def judge_generation(self, user: str, generation: int, login: Login) -> None:
        """Whether the vault had what was acknowledged."""
        found = login.generation - (user in self.renewed)
        self.expect(f"generation {generation} of {user} was acknowledged, and it had {found}", found >= generation)

    def judge_ends(self, ended: dict[str, Login], again: list[dict]) -> None:
        """Whether any login may end, and any token be presented again."""
        for token in again:
            self.expect(f"a token of {token['user']} was presented {token['presented']} times", False)
        self.expect(f"logins ended: {sorted(ended)}", not ended)

    def expect_no_hold(self) -> None:
        self.expect("all logins are held, though nothing that was acknowledged is lost", not self.cluster.holds(self.schema))
