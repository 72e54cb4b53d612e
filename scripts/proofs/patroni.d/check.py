"""Kinds of failure of a PostgreSQL cluster under Patroni, and what each costs the logins of a vault: see docs/postgresql.md.

    scripts/proofs/patroni.d/check.py BINARIES [KIND…]
"""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "fleet"))

from cluster import SCHEMA, Cluster, Member, until  # noqa: E402
from services import LIFETIME, LOGINS, Authority, Machine, Visitor, make_vault  # noqa: E402


@dataclass
class Kind:
    name: str
    title: str
    act: Callable[["Run"], None]
    # What the trail may say of it; nothing, where no other server took the primary's place.
    outcomes: tuple[str, ...]
    is_synchronous: bool = False
    is_held: bool = False
    # Commits are lost that no process can do again: an operator who accepts loses those logins.
    is_lost: bool = False


@dataclass
class Figures:
    kind: Kind
    # The longest time without a renewal, without a valid token for the worst login, and without an answer to a reader.
    pause: float
    without_token: float
    without_answer: float
    held: int
    lost: int
    outcome: str
    redone: int

    def row(self) -> str:
        # Of logins that have ended there is no next token.
        pause, without = (("–", "–") if self.kind.is_lost else (f"{self.pause:.0f} s", f"{self.without_token:.0f} s"))
        return (f"| {self.kind.title} | {pause} | {without} | {self.without_answer:.0f} s | "
                f"{self.held} | {self.lost} | {self.outcome} | {self.redone} |")


class Run:
    def __init__(self, cluster: Cluster, authority: Authority, machines: list[Machine]):
        self.cluster, self.authority = cluster, authority
        self.machines = machines
        self.problems: list[str] = []
        self.replaced: Member | None = None
        self.lost_before: set[str] = set()
        self.began_to_lag = 0.0

    def expect(self, what: str, holds: bool) -> None:
        if not holds:
            self.problems.append(what)
            print(f"patroni: {what}", file=sys.stderr, flush=True)

    # What happens.

    def kill_primary(self) -> None:
        self.replaced = self.cluster.leader()
        self.replaced.kill()

    def freeze_primary(self) -> None:
        leader = self.cluster.leader()
        leader.stop()
        try:
            until("the other one leads", lambda: self.cluster.other(leader).answers("primary"))
            time.sleep(20)
        finally:
            leader.go_on()

    def switch_over(self) -> None:
        self.cluster.switch_over()

    def restart_proxy(self) -> None:
        self.cluster.proxy.kill()
        time.sleep(5)
        self.cluster.proxy.start()

    def stop_etcd(self) -> None:
        self.cluster.etcd.kill()
        time.sleep(40)
        self.cluster.etcd.start()

    def lag(self) -> None:
        leader = self.cluster.leader()
        self.began_to_lag = time.time()
        leader.way.hold()
        before = leader.changes()
        until("8 s of changes", lambda: time.time() > self.began_to_lag + 8 and leader.changes() > before + 20)

    def lag_and_kill(self) -> None:
        self.lag()
        self.kill_primary()

    def kill_both(self) -> None:
        """At a moment in which the standby has everything: what is checked is that nobody can know that."""
        self.machines[1].kill_at_rest(self.cluster)
        time.sleep(0.3)
        self.kill_primary()

    def lag_and_kill_both(self) -> None:
        self.lag()
        self.machines[1].kill_at_rest(self.cluster)
        self.kill_primary()

    # And what it comes to.

    def play(self, kind: Kind) -> Figures:
        if kind.is_synchronous != self.cluster.is_synchronous():
            self.cluster.demand_standby(kind.is_synchronous)
        self.wait_for_renewals(time.time())
        rows = len(self.settlements())
        self.lost_before = self.authority.lost()
        visitor = Visitor(self.machines[2])
        started = time.time()
        try:
            kind.act(self)
            held = self.hold_and_accept(kind) if kind.is_held else 0
            self.wait_for_renewals(time.time())
            ended = time.time()
            until("the monitor has its answer", lambda: visitor.seen[-1] > ended)
        finally:
            visitor.stop()
        if self.replaced is not None:
            self.replaced.replace()
            self.replaced = None
        self.cluster.wait_for_standby()
        figures = self.measure(kind, started, ended, rows, held, visitor)
        self.judge(figures)
        return figures

    def wait_for_renewals(self, since: float) -> None:
        """Each login that lives has been renewed since."""
        def are_renewed() -> bool:
            # As a supervisor does: one that finds no server when it begins ends.
            if self.machines[1].service.poll() is not None:
                self.machines[1].start()
            gone = self.authority.lost()
            return all(user in gone or times[-1] > since for user, times in self.authority.issued().items())

        try:
            until("all logins are renewed", are_renewed, 150)
        except OSError as error:
            raise OSError(f"{error}: {[machine.last_words() for machine in self.machines[:2]]}") from error

    def settlements(self) -> list[dict[str, str]]:
        lines = self.machines[0].vaultctl("audit", "list", "--all", "--kind", "failoverSettled", "--json").split("\n")
        return [{item["name"]: item["value"] for item in json.loads(line)["details"]} for line in lines if line]

    def show_state(self, folder: Path) -> None:
        """For whoever looks for the reason."""
        for log in sorted(folder.glob("*/*log")):
            print(f"-- {log}\n{log.read_text()[-1500:]}", file=sys.stderr)
        with contextlib.suppress(OSError):
            for table in ("engineState", "process", "refreshIntent"):
                print(self.cluster.leader().sql(f'SELECT row_to_json(t) FROM {SCHEMA}."{table}" t'), file=sys.stderr)
            print(self.settlements(), file=sys.stderr)

    def held_now(self) -> int:
        return sum(row["held"] for row in self.machines[0].json("restore", "status")["providers"])

    def hold_and_accept(self, kind: Kind) -> int:
        until("the logins are held", lambda: self.held_now() == LOGINS)
        self.machines[1].start()
        requests = self.authority.requests()
        time.sleep(5)
        self.expect(f"{kind.name}: a held login was renewed", self.authority.requests() == requests)
        self.expect(f"{kind.name}: a token came twice before an operator allowed it", self.authority.lost() == self.lost_before)
        words = ("restore", "accept", "--provider", "strict")
        planned = self.machines[0].json(*words, "--dry-run")
        self.expect(f"{kind.name}: {planned['accepted']} of {LOGINS} would be accepted", planned["accepted"] == LOGINS)
        done = self.machines[0].json(*words, "--risk")
        self.expect(f"{kind.name}: not all were accepted: {done}", done["accepted"] == LOGINS and done["stillHeld"] == 0)
        return LOGINS

    def measure(self, kind: Kind, started: float, ended: float, rows: int, held: int, visitor: Visitor) -> Figures:
        issued = self.authority.issued()
        gone = self.authority.lost() - self.lost_before
        moments = sorted(moment for times in issued.values() for moment in times if started - LIFETIME < moment)
        pairs = zip(moments, moments[1:])
        pause = max((later - former for former, later in pairs if later > started and former < ended), default=0)
        without = max((
            later - former - LIFETIME for user, times in issued.items() if user not in gone
            for former, later in zip(times, times[1:]) if later > started), default=0)
        settled = self.settlements()[rows:]
        return Figures(
            kind, pause, max(without, 0), visitor.longest_wait(started), held, len(gone),
            ", ".join(row["outcome"] for row in settled) or "none",
            sum(int(row["redone"]) for row in settled))

    def judge(self, figures: Figures) -> None:
        kind = figures.kind
        self.expect(f"{kind.name}: it came to '{figures.outcome}'", figures.outcome in kind.outcomes)
        self.expect(f"{kind.name}: logins are held", self.held_now() == 0)
        gone = self.authority.lost() - self.lost_before
        if kind.is_lost:
            touched = {
                user for user, times in self.authority.issued().items()
                if any(self.began_to_lag - 1 < moment for moment in times)}
            self.expect(f"{kind.name}: lost, though nothing of them was missing: {gone - touched}", gone <= touched)
        else:
            self.expect(f"{kind.name}: lost: {sorted(gone)}", not gone)
        if kind.name == "lagging":
            self.expect(f"{kind.name}: nothing was done again", figures.redone > 0)
        try:
            self.machines[0].vaultctl("verify")
        except OSError as error:
            self.expect(f"{kind.name}: {error}", False)


KINDS = [
    Kind("killed", "primary and its Patroni killed", Run.kill_primary, ("whole",)),
    Kind("frozen", "primary's machine frozen for some 45 s, then continued", Run.freeze_primary, ("whole",)),
    Kind("switchover", "switchover by `patronictl`", Run.switch_over, ("whole",)),
    Kind("proxy", "HAProxy away for 5 s", Run.restart_proxy, ("none",)),
    Kind("etcd", "etcd away for 40 s", Run.stop_etcd, ("whole", "none")),
    Kind("lagging", "primary killed, asynchronous standby 8 s behind", Run.lag_and_kill, ("whole",)),
    Kind("synchronous", "a service and the primary killed, synchronous standby", Run.kill_both, ("whole",), is_synchronous=True),
    Kind("held", "a service and the primary killed, asynchronous standby", Run.kill_both, ("lost",), is_held=True),
    Kind("lost", "the same, standby 8 s behind", Run.lag_and_kill_both, ("lost",), is_held=True, is_lost=True),
]


def main(binaries: Path, wanted: list[str]) -> int:
    folder = Path(tempfile.mkdtemp(prefix="patroni-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    folder.chmod(0o711)
    figures, started = [], time.monotonic()
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        cluster = Cluster(folder)
        stack.callback(cluster.stop)
        cluster.start()
        authority = Authority(binaries / "dev-authserver")
        stack.callback(authority.stop)
        machines = [Machine(name, folder, binaries / "vaultctl", cluster) for name in ("first", "second", "monitor")]
        make_vault(machines[0], authority)
        for machine in machines[:2]:
            machine.start()
            stack.callback(lambda machine=machine: machine.service.kill())
        run = Run(cluster, authority, machines)
        for kind in KINDS:
            if wanted and kind.name not in wanted:
                continue
            begun = time.monotonic()
            try:
                figures.append(run.play(kind))
            except (OSError, subprocess.SubprocessError) as error:
                run.expect(f"{kind.name}: {error}", False)
                run.show_state(folder)
                break
            print(f"patroni, {kind.name}: {figures[-1].row()} after {time.monotonic() - begun:.0f} s", flush=True)
        if not run.problems:
            for machine in machines[:2]:
                run.expect(f"vaultctl maintain ended with an error: {machine.last_words()}", machine.end() == 0)
    print("\n| what happens | no renewal | no valid token | no answer to a reader | held | lost | outcome | done again |\n"
          "|---|---|---|---|---|---|---|---|")
    print("\n".join(row.row() for row in figures))
    print(f"\npatroni: {len(figures)} kinds of failure, {len(run.problems)} problems; {time.monotonic() - started:.0f} s")
    return 1 if run.problems else 0


if __name__ == "__main__":
    # Everything that was started ends with this program, also if it is told to.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
