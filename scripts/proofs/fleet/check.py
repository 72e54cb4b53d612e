"""Three machines share a vault on a server, and are stopped, killed, cut off and failed over: see docs/testing.md.

    scripts/proofs/fleet/check.py CRASH-PROBE DEV-AUTHSERVER GENTLE-SECONDS ROUGH-SECONDS [SEED]

Gently: processes are stopped for a while, machines lose the server but not the provider, the primary fails. No process
loses its memory, so no refresh token may be presented twice, and no login may end. Roughly: processes are killed, machines
lose both, and the primary stays. Then a strict provider may end a login, and only one whose token was presented again.
"""

import contextlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from database import Cluster
from fleet import Authority, Ledger, Place, run_job, write_profiles
from network import Machine, cut, heal, network, pull

USERS = 60
PLACES = 2
DIRECTIONS = ("outward", "inward", "both")


class Run:
    def __init__(self, machines: dict[str, Machine], cluster: Cluster, authority: Authority, folder: Path, probe: str):
        self.workers = [machines[f"machine{number}"] for number in (1, 2, 3)]
        self.databases = [machines["primary"], machines["standby"]]
        self.cluster, self.authority, self.folder, self.probe = cluster, authority, folder, probe
        self.counts: Counter[str] = Counter()
        self.environment = {"PGPASSFILE": str(folder / "pass")}
        self.problems: list[str] = []
        self.longest = 0.0
        self.log = (folder / "log").open("w")

    def job(self, name: str, machine: Machine, **more: object) -> str:
        given = {"vault": self.cluster.address, "key": self.folder / "key", "state": self.folder / machine.name, **more}
        return " ".join([name, *(f"{word}={value}" for word, value in given.items())])

    def job_done(self, name: str, machine: Machine, **more: object) -> list[str]:
        return run_job(machine, self.probe, self.job(name, machine, seconds=150, **more), self.environment, 160)

    def expect(self, what: str, holds: bool) -> None:
        if not holds:
            self.problems.append(what)

    # One part: processes on every machine, and what happens to them.

    def disturb(self, seconds: float, is_rough: bool, ledger: Ledger) -> None:
        enough = self.folder / f"enough-{is_rough}"
        places = {
            machine.name: [
                Place(machine, self.probe, self.job(
                    "worker", machine, users=USERS, tells=1, pause=20 if is_rough else 120, until=enough,
                    seconds=int(seconds) + 300),
                    ledger, self.environment, self.log)
                for _ in range(PLACES)]
            for machine in self.workers}
        done = threading.Event()
        work = [] if is_rough else [lambda: self.fail_over(done)]
        for machine in self.workers:
            work.append(lambda machine=machine: self.cut(machine, is_rough, done))
            work += [lambda place=place: self.tend(place, is_rough, done) for place in places[machine.name]]
        threads = [threading.Thread(target=self.guarded, args=(step, done)) for step in work]
        for thread in threads:
            thread.start()
        done.wait(seconds)
        done.set()
        for thread in threads:
            thread.join()
        enough.touch()
        for place in (place for group in places.values() for place in group):
            end = place.wait_for_end(150)
            self.expect(f"a process did not end in good order: {end}, {place.trouble[-3:]}", end == "+exit 0")
            place.close()

    def guarded(self, step, done: threading.Event) -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - told at the end, and the run fails
            self.problems.append(f"{type(error).__name__}: {error}")
            done.set()

    def tend(self, place: Place, is_rough: bool, done: threading.Event) -> None:
        """Keeps a process going, and stops or kills it again and again. At the end one runs."""
        place.start()
        while not done.is_set():
            if not place.wait(60):
                if place.end is None:
                    raise OSError("a process does not open the vault")
                # The server was away when it was to be opened.
                self.counts["openings that failed"] += 1
                done.wait(0.2)
                place.start()
                continue
            done.wait(random.uniform(0.01, 0.5) if is_rough else random.uniform(1, 8))
            if done.is_set():
                break
            if is_rough and random.random() < 0.95:
                place.send(signal.SIGKILL)
                self.expect("a killed process did not end", place.wait_for_end(10) == "+signal 9")
                self.counts["kills"] += 1
                place.start()
            else:
                place.send(signal.SIGSTOP)
                # Now and then for longer than the server waits for a transaction.
                done.wait(random.uniform(3, 8) if random.random() < 0.1 else random.uniform(0.1, 1))
                place.send(signal.SIGCONT)
                self.counts["stops"] += 1
        while not place.wait(60):
            place.start()

    def cut(self, machine: Machine, is_rough: bool, done: threading.Event) -> None:
        while not done.is_set():
            done.wait(random.uniform(0.5, 4))
            if is_rough and random.random() < 0.3:
                pull(machine)
                self.counts["cables pulled"] += 1
            else:
                direction = random.choice(DIRECTIONS)
                cut(machine, self.databases, direction)
                self.counts["cuts"] += 1
            # Now and then for longer than a connection survives, and a proof of life counts.
            done.wait(random.uniform(5, 12) if random.random() < 0.05 else random.uniform(0.1, 1.5))
            heal(machine)

    def fail_over(self, done: threading.Event) -> None:
        """Again and again. Nobody is killed near it: who was there before tells that nothing is missing."""
        while not done.wait(random.uniform(5, 9)):
            started = time.monotonic()
            self.cluster.fail_over()
            self.counts["failovers"] += 1
            while time.monotonic() - started < 60 and not self.cluster.is_settled():
                time.sleep(0.2)
            self.expect("what a failover has cost was not found out in a minute", self.cluster.is_settled())
            self.longest = max(self.longest, time.monotonic() - started)

    # What must hold afterwards.

    def settle(self) -> dict[str, tuple[str, int, str]]:
        """Ends what is in doubt, and gives what all machines see."""
        results: dict[str, list[str]] = {}

        if self.cluster.holds:
            self.expect("all logins are held, though each commit had reached the standby", False)
            return {}

        def settle(machine: Machine) -> None:
            results[machine.name] = self.job_done("settle", machine, **({"renew": 1} if machine is self.workers[0] else {}))

        threads = [
            threading.Thread(target=self.guarded, args=(lambda machine=machine: settle(machine), threading.Event()))
            for machine in self.workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name, lines in results.items():
            for line in lines:
                self.expect(f"{name}: {line}", line.startswith("renewed "))
        if self.problems:
            return {}
        views = [sorted(self.job_done("look", machine)) for machine in self.workers]
        self.expect("the machines do not agree", views[0] == views[1] == views[2])
        logins = {}
        for line in views[0]:
            _, user, client, generation, end = line.split()
            logins[user] = (client, int(generation), end)
        self.expect("logins are missing", len(logins) == USERS)
        return logins

    def judge(self, is_rough: bool, ledger: Ledger, logins: dict[str, tuple[str, int, str]]) -> None:
        part = "roughly" if is_rough else "gently"
        for user, generation in ledger.stored.items():
            self.expect(
                f"{part}: generation {generation} of {user} was acknowledged and is gone", logins[user][1] >= generation)
        dead = {user: end for user, (_, _, end) in logins.items() if end != "alive"}
        again = [token for token in self.authority.ask("refresh-tokens") if token["presented"] > 1]
        reused = {grant["user"] for grant in self.authority.ask("grants") if grant["reuse_detected"] > 0}
        if not is_rough:
            for token in again:
                self.expect(f"{part}: a token of {token['user']} was presented {token['presented']} times", False)
            self.expect(f"{part}: logins ended: {dead}", not dead)
        for user, end in dead.items():
            self.expect(f"{part}: {user} ended as {end}", end == "lostResponse")
            self.expect(f"{part}: {user} ended, and its provider gives the same again", logins[user][0] == "strict")
        self.expect(f"{part}: ended {sorted(dead)}, presented again {sorted(reused)}", set(dead) == reused)
        for token in again:
            self.expect(
                f"{part}: a token of {token['user']} was presented {token['presented']} times",
                token["client"] == "grace" or token["user"] in dead)
        for grant in self.authority.ask("grants"):
            self.expect(f"{part}: {grant['user']} spent a token twice more than once", grant["reuse_detected"] <= 1)
        requests = sum(grant["refresh_requests"] for grant in self.authority.ask("grants"))
        counted = ", ".join(f"{number} {what}" for what, number in sorted(self.counts.items()))
        print(f"machines, {part}: {counted}; {ledger.renewals} renewals acknowledged, {requests} requests in all, "
              f"{len(again)} tokens presented again, {len(dead)} logins of the strict provider ended", flush=True)
        failures = ", ".join(f"{number} {code}" for code, number in sorted(ledger.failures.items()))
        print(f"    calls that failed meanwhile: {failures or 'none'}", flush=True)
        if self.longest:
            print(f"    the longest failover took {self.longest:.0f} s until changes were taken again", flush=True)
        self.counts.clear()
        self.longest = 0.0


def fill(run: Run) -> None:
    lines = []
    for number in range(USERS):
        client = "strict" if number % 2 else "grace"
        lines.append(" ".join([f"user-{number}", client, *run.authority.issue(f"user-{number}", client)]))
    grants = run.folder / "grants"
    grants.write_text("\n".join(lines))
    grants.chmod(0o600)
    run.job_done("fill", run.workers[0], grants=grants, profiles=run.folder, issuer=run.authority.url)
    grants.unlink()


def main(probe: str, authority: str, gentle: float, rough: float) -> int:
    folder = Path(tempfile.mkdtemp(prefix="machines-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    folder.chmod(0o711)
    names = ["machine1", "machine2", "machine3", "primary", "standby", "provider"]
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        machines = stack.enter_context(network(names))
        cluster = Cluster([machines["primary"], machines["standby"]], folder)
        stack.callback(cluster.stop)
        workers = [machines[name] for name in names[:3]]
        server = Authority(machines["provider"], authority, workers)
        stack.callback(server.stop)
        password = folder / "pass"
        password.write_text(f"*:*:*:*:{cluster.password}\n")
        password.chmod(0o600)
        write_profiles(folder)
        run = Run(machines, cluster, server, folder, probe)
        fill(run)
        for is_rough, seconds in ((False, gentle), (True, rough)):
            started, ledger = time.monotonic(), Ledger()
            run.disturb(seconds, is_rough, ledger)
            disturbed = time.monotonic() - started
            logins = run.settle()
            if run.problems:
                break
            run.judge(is_rough, ledger, logins)
            print(f"    disturbed for {disturbed:.0f} s, settled in {time.monotonic() - started - disturbed:.0f} s", flush=True)
            if run.problems:
                break
        for problem in run.problems[:40]:
            print(f"machines: {problem}", file=sys.stderr)
    return 1 if run.problems else 0


if __name__ == "__main__":
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.SystemRandom().randrange(1 << 32)
    print(f"machines: seed {seed}", flush=True)
    random.seed(seed)
    # Everything that was started ends with this program, also if it is told to.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])))
