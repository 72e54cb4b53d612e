"""Programs of two machines ask the `vaultctl serve` of their machine for tokens, while that is killed, stopped and replaced."""

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fleet import Ledger, Place
from network import Machine
from part import USERS, Login, Part
from parts import Roughly

MACHINES = 2
# Of programs on each machine that ask without pause.
CLIENTS = 4
# Of tokens, in seconds: so that they expire while something happens.
LIFETIME = 20
# Callers of a login that has expired: connections to each machine, and calls of each.
CROWD = (50, 10)
POLICY = """[[client]]
name = "program"
uid = {uid}
verbs = ["token", "authorize"]
users = ["*"]
providers = ["*"]
origins = ["*"]
methods = ["*"]
"""


class Client(http.client.HTTPConnection):
    """One connection to a server, and the next one when that has ended."""

    def __init__(self, path: Path):
        # Longer than any disturbance, and than the server's own patience.
        super().__init__("tokenvault", timeout=60)
        self.path = str(path)
        self.connections = 0

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)
        self.connections += 1

    def ask(self, path: str, body: dict) -> tuple[int, str | None, dict]:
        self.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        reply = self.getresponse()
        return reply.status, reply.getheader("Content-Type"), json.loads(reply.read())


class Given(Ledger):
    """What programs were given: the tokens of each generation of a login, which should be one."""

    def __init__(self):
        super().__init__()
        self.tokens: dict[tuple[str, int], set[str]] = {}

    def give(self, user: str, generation: int, token: str) -> None:
        with self.lock:
            known = self.tokens.setdefault((user, generation), set())
            self.renewals += not known and generation > 1
            known.add(token)
            self.stored[user] = max(self.stored.get(user, 0), generation)

    def doubled(self) -> set[str]:
        """The users with two tokens of one generation."""
        return {user for (user, _), tokens in self.tokens.items() if len(tokens) > 1}


class Server(Place):
    """A place for one `vaultctl serve` after the other, at one socket."""

    def __init__(self, machine: Machine, words: list[str], environment: dict[str, str], log):
        self.machine, self.words, self.environment, self.log = machine, words, environment, log
        self.changed = threading.Condition()
        self.process: subprocess.Popen | None = None
        self.pid, self.is_open, self.end, self.is_finishing = None, False, None, False
        self.trouble: list[str] = []
        # Ends that nobody asked for.
        self.crashes: list[str] = []

    def start(self, *more: str) -> None:
        process = self.machine.start(
            *self.words, *more, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=os.environ | self.environment)
        with self.changed:
            self.process, self.pid, self.is_open, self.end = process, process.pid, False, None
        threading.Thread(target=self._hear, args=(process,), daemon=True).start()

    def _hear(self, process: subprocess.Popen) -> None:
        for line in process.stderr:
            self.log.write(line)
            with self.changed:
                if process is self.process and "answering requests" in line:
                    self.is_open = True
                elif "error" in line:
                    self.trouble.append(line.strip())
                self.changed.notify_all()
        process.stderr.close()
        code = process.wait()
        with self.changed:
            end = f"+signal {-code}" if code < 0 else f"+exit {code}"
            is_own = process is self.process
            if code < 0 and code != -signal.SIGKILL or is_own and self.is_open and code >= 0 and not self.is_finishing:
                self.crashes.append(f"{end} {self.trouble[-3:]}")
            if is_own:
                self.end, self.pid = end, None
            self.changed.notify_all()

    def replace(self, number: int) -> int | None:
        """Another process takes the place of this one, which then gets this signal. Gives its exit code; nil: the other one
        could not open the vault, and this one stays.
        """
        former = self.process
        self.start("--take-over")
        if not self.wait(60):
            with self.changed:
                self.process, self.pid, self.is_open = former, former.pid, True
                self.end = None if former.poll() is None else f"+exit {former.returncode}"
            return None
        former.send_signal(number)
        return former.wait(timeout=120)

    def finish(self) -> str | None:
        self.is_finishing = True
        self.send(signal.SIGTERM)
        return self.wait_for_end(120)

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()


class Served(Roughly):
    """First nothing is killed: servers are stopped and taken over, machines lose the database. Until then no refresh token may
    be presented twice, and no call may fail twice for want of a server. Then they are killed, too.
    """

    name = "served"
    expected_codes = {
        "busy", "closed", "deadlineExceeded", "lostResponse", "network", "refreshFailed", "refreshStalled",
        "tryLater"}

    def __init__(self, *given):
        super().__init__(*given)
        self.ledger = Given()
        self.machines = self.fleet.workers[:MACHINES]
        self.opened, self.is_rough = threading.Event(), threading.Event()
        self.slowest = 0.0
        self.still.set()

    # Servers.

    def socket(self, machine: Machine) -> Path:
        return self.fleet.folder / f"{machine.name}.sock"

    def make_places(self, machine: Machine) -> list[Place]:
        if machine not in self.machines:
            return []
        policy = self.fleet.folder / "policy.toml"
        policy.touch(mode=0o600)
        policy.write_text(POLICY.format(uid=os.getuid()))
        words = [
            str(self.fleet.binaries / "vaultctl"), "serve", "--allow-insecure-loopback", "--policy", str(policy), "--socket",
            str(self.socket(machine)), "--key-file", str(self.key), "--vault", self.cluster.address(self.schema)]
        environment = {**self.environment, "TOKENVAULT_STATE_DIRECTORY": str(self.fleet.folder / machine.name)}
        return [Server(machine, words, environment, self.log)]

    def end_places(self, places: list[Place]) -> None:
        self.set_lifetime(3_600)
        if not self.problems:
            self.guarded(self.agree)
        for place in places:
            end = place.finish()
            self.expect(f"a server did not end in good order: {end}, {place.trouble[-3:]}", end == "+exit 0")
            self.expect(f"servers ended by themselves: {place.crashes[:3]}", not place.crashes)
            place.close()

    # What happens.

    def nemeses(self) -> list[Callable[[], None]]:
        steps: list[Callable[[], None]] = [self.conduct, lambda: self.visit_again(self.fleet.workers[-1])]
        for machine in self.machines:
            steps += [lambda machine=machine: self.cut_again(machine)]
            steps += [lambda machine=machine: self.ask_again(machine)] * CLIENTS
        return steps

    def conduct(self) -> None:
        for group in self.places.values():
            for place in group:
                self.expect("a server does not open the vault", place.wait(60))
        self.crowd("user-1")
        self.set_lifetime(LIFETIME)
        self.opened.set()
        self.still.clear()
        while self.counts["take-overs"] < self.goal["take-overs"] or self.counts["stops"] < self.goal["stops"]:
            if self.done.wait(0.1):
                return
        again = self.presented_again()
        self.expect(f"{len(again)} tokens were presented again before anything was killed", not again)
        self.is_rough.set()

    def set_lifetime(self, seconds: float) -> None:
        for client in ("strict", "grace"):
            self.authority.ask("behaviour", {"client": client, "access_token_lifetime_ms": int(seconds * 1_000)})

    def crowd(self, user: str) -> None:
        """Many callers on both machines want the token of one login that has expired: the authority is asked once."""
        self.set_lifetime(0.5)
        self.visitors.run(self.fleet.workers[-1], "login", "refresh", "--user", user)
        self.set_lifetime(3_600)
        self.done.wait(0.6)
        before = self.requests(user)
        self.authority.ask("faults", {"path": "/token", "user": user, "delay_ms": 700})
        connections, calls = CROWD
        replies: list[tuple] = []

        def call(number: int) -> None:
            client = Client(self.socket(self.machines[number % MACHINES]))
            replies.extend(client.ask("/v1/token", {"user": user}) for _ in range(calls))
            client.close()

        with ThreadPoolExecutor(connections * MACHINES) as pool:
            list(pool.map(call, range(connections * MACHINES)))
        strange = [reply for reply in replies if reply[0] != 200]
        self.expect(f"of {len(replies)} callers {len(strange)} were refused: {strange[:2]}", not strange)
        found = {(reply["generation"], reply["access_token"]) for status, _, reply in replies if status == 200}
        self.expect(f"callers of one login got {len(found)} tokens", len(found) == 1)
        requests = self.requests(user) - before
        self.expect(f"{len(replies)} callers on {MACHINES} machines led to {requests} requests", requests == 1)
        self.counts["callers of an expired login"] += len(replies)
        for generation, token in found:
            self.ledger.give(user, generation, token)

    def requests(self, user: str) -> int:
        return sum(grant["refresh_requests"] for grant in self.grants_now() if grant["user"] == user)

    def visits_now(self) -> bool:
        return self.opened.is_set()

    def kills_visitors(self) -> bool:
        return self.is_rough.is_set() and super().kills_visitors()

    def time_between_disturbances(self) -> float:
        return random.uniform(0.05, 0.5) if self.is_rough.is_set() else random.uniform(0.1, 1)

    def disturb_place(self, place: Place) -> None:
        is_rough = self.is_rough.is_set()
        if random.random() < (0.1 if is_rough else 0.5):
            self.replace(place, random.choice((signal.SIGTERM, signal.SIGKILL)) if is_rough else signal.SIGTERM)
        elif is_rough:
            super().disturb_place(place)
        else:
            self.stop(place)

    def replace(self, place: Server, number: int) -> None:
        code = place.replace(number)
        if code is None:
            self.counts["openings that failed"] += 1
            return
        self.expect(f"a server whose place was taken ended with {code}", code == (0 if number == signal.SIGTERM else -number))
        self.counts["take-overs"] += 1
        self.counts["kills"] += number == signal.SIGKILL

    def cut(self, machine: Machine) -> None:
        """Before anything is killed, a machine reaches the authority: a reply that is lost is asked for again."""
        super().cut(machine) if self.is_rough.is_set() else Part.cut(self, machine)

    # Programs.

    def ask_again(self, machine: Machine) -> None:
        self.opened.wait(self.limit)
        client = Client(self.socket(machine))
        while not self.done.is_set():
            user = f"user-{random.randrange(USERS)}"
            # From 'as it is' to 'as good as new'.
            validity = random.choice(({}, {"minimumValidity": LIFETIME / 2}, {"minimumValidity": LIFETIME}))
            token = self.token(client, user, **validity)
            if token and random.random() < 0.3:
                self.refuse(client, user, token)
        client.close()

    def token(self, client: Client, user: str, **more: object) -> dict | None:
        reply = self.call(client, "/v1/token", {"user": user, "deadline": 10, **more})
        if reply is not None:
            self.ledger.give(user, reply["generation"], reply["access_token"])
        return reply

    def refuse(self, client: Client, user: str, token: dict) -> None:
        """An API has refused the token: so it is renewed, unless it has been meanwhile."""
        connections = client.connections
        reply = self.call(client, "/v1/result", {
            "login": token["login"], "generation": token["generation"], "method": "GET", "status": 401,
            "url": f"{self.authority.url}/resource", "headers": {"WWW-Authenticate": 'Bearer error="invalid_token"'}})
        if reply is None:
            return
        if reply["outcome"] != "retry":
            return self.ledger.note(f"failed {reply.get('code', reply['outcome'])}")
        next_one = self.token(client, user)
        if next_one and client.connections == connections:
            self.expect(f"{user} has a newer token, and generation {token['generation']} is given again",
                        next_one["generation"] > token["generation"])

    def call(self, client: Client, path: str, body: dict) -> dict | None:
        """nil: a problem, or the server has gone. While nothing is killed, it has gone once at most."""
        for is_last in (False, True):
            started, was_rough = time.monotonic(), self.is_rough.is_set()
            try:
                status, kind, reply = client.ask(path, body)
            except TimeoutError:
                raise OSError(f"{path} has no answer in a minute") from None
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
                client.close()
                is_refused = isinstance(error, (ConnectionRefusedError, FileNotFoundError))
                self.counts["connections refused" if is_refused else "calls cut off"] += 1
                if was_rough or self.is_rough.is_set():
                    self.done.wait(0.02)
                    return None
                self.expect(f"a call failed twice while nothing was killed: {error!r}", not is_last)
                continue
            self.slowest = max(self.slowest, time.monotonic() - started)
            self.counts["answers"] += 1
            if status == 200:
                return reply
            is_problem = kind == "application/problem+json" and "code" in reply
            self.expect(f"{path} answers {status} {kind} {reply}", is_problem)
            self.ledger.note(f"failed {reply.get('code')}")
            return None
        return None

    # What must hold afterwards.

    def agree(self) -> None:
        """Both servers give the same token of each login, or say alike that it has ended."""
        clients = [Client(self.socket(machine)) for machine in self.machines]
        end = time.monotonic() + 60
        for user in (f"user-{number}" for number in range(USERS)):
            while True:
                views = [client.ask("/v1/token", {"user": user}) for client in clients]
                statuses = [status for status, _, _ in views]
                tokens = {reply.get("access_token", reply.get("code")) for _, _, reply in views}
                if len(tokens) == 1 and statuses in ([200] * MACHINES, [409] * MACHINES):
                    break
                if time.monotonic() > end:
                    self.expect(f"the servers do not agree on {user}: {views}", False)
                    break
                time.sleep(0.1)
            for status, _, reply in views:
                if status == 200:
                    self.ledger.give(user, reply["generation"], reply["access_token"])
        for client in clients:
            client.close()

    def judge(self, logins: dict[str, Login]) -> None:
        super().judge(logins)
        print(f"    {self.counts['answers']} answers, the slowest after {self.slowest:.1f} s; "
              f"{len(self.ledger.doubled())} logins with two tokens of one generation", flush=True)

    def judge_ends(self, ended: dict[str, Login], again: list[dict]) -> None:
        super().judge_ends(ended, again)
        strange = self.ledger.doubled() - {token["user"] for token in again}
        self.expect(f"two tokens of one generation, and no token was presented again: {sorted(strange)}", not strange)
