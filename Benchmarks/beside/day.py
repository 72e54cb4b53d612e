"""Row 7: a day of work under faults.

What is waited for is in real time: locks live 2, 10 or 45 seconds, requests may take 30, most answers take 50 ms, one in a
hundred 3 s and one in four hundred 15 s. What lies between is left out: an access token lives 20 seconds instead of an hour.
One reply in two hundred is lost after the server has acted, and every two seconds one of eight processes is killed.

Half of the logins are at a server that forgives nothing: a refresh token that comes twice ends its chain (RFC 9700 §4.14.2).
The others are at one that gives the same answer again for 30 seconds.
"""
import concurrent.futures
import dataclasses
import itertools
import os
import random
import time

from . import processes

LIFETIME, LEAD = 20, 20 / 12
PROCESSES = 8
PAGES_PER_SECOND, CALLS_PER_PAGE = 40, 3
CLIENTS = {"demo": 0, "forgiving": 30}


@dataclasses.dataclass
class Faults:
    """How often, in requests to the token endpoint."""

    slow: tuple[int, float] = (100, 3.0)
    slower: tuple[int, float] = (400, 15.0)
    lost: int = 200
    kill_every: float = 2.0


def contestants(place: str, programs, servers, issuer: str) -> list[processes.Contestant]:
    common = {"issuer": issuer, "timeout": 30, "lead": LEAD, "grace": CLIENTS}
    vault = {"worker": programs.worker, "options": common}
    return [
        processes.Vault("TokenVault", place=os.path.join(place, "vault"), **vault),
        processes.Vault("TokenVault, scheduler", place=os.path.join(place, "scheduled"), has_scheduler=True, **vault),
        processes.Contestant("file lock", "file-lock", common | {"place": os.path.join(place, "files")}),
        processes.Contestant("PostgreSQL row lock", "postgres-row-lock", common | {"postgres": servers.postgres.loopback}),
        *(processes.Contestant(
            f"Redis lock, {ttl} s", "redis-lock",
            common | {"redis": servers.redis.database(number), "ttl": ttl, "poll": 0.1})
          for number, ttl in enumerate((2, 10, 45), 1)),
        processes.Contestant("allauth, no lock", "allauth", common | {"postgres_port": servers.postgres.port}),
    ]


class Day:
    def __init__(self, contestant, server, users: list[str], seconds: float, faults: Faults, seed: int):
        self.contestant, self.server, self.users, self.seconds = contestant, server, users, seconds
        self.faults, self.random = faults, random.Random(seed)
        self.answers: list[processes.Answer] = []
        self.kills = 0

    def fill(self) -> None:
        """Tokens of all ages: they do not expire together."""
        clients = itertools.cycle(CLIENTS)
        grants = []
        for user in self.users:
            client = next(clients)
            issued = self.server.grant(user, client)
            grants.append((
                user, client, issued["access_token"], issued["refresh_token"],
                time.time() + self.random.uniform(LEAD, LIFETIME)))
        self.contestant.fill(grants)

    def run(self) -> dict:
        self.fill()
        self.arm()
        workers = [self.contestant.start(index) for index in range(PROCESSES)]
        for worker in workers:
            worker.ready.wait(60)
        start = now = time.monotonic()
        next_page, next_kill = now, now + self.faults.kill_every
        while now < start + self.seconds:
            if now >= next_kill:
                self.kill_one(workers)
                next_kill += self.faults.kill_every
            while next_page <= now:
                self.page(workers)
                next_page += 1 / PAGES_PER_SECOND
            time.sleep(0.005)
            now = time.monotonic()
        for worker in workers:
            worker.finish(60)
        return self.judge()

    def arm(self) -> None:
        """Each fault waits until so many token requests have passed, and then meets one."""
        server, faults = self.server, self.faults
        server.behave(reply_delay_ms=50)
        planned = []
        for number in range(1, 100):
            slow, slower = faults.slow, faults.slower
            planned += [
                {"path": "/token", "skip": slow[0] * number, "delay_ms": int(slow[1] * 1000), "name": "slow"},
                {"path": "/token", "skip": faults.lost * number + 50, "acts": True, "ending": "close", "name": "lost reply"}]
            if number % (slower[0] // slow[0]) == 0:
                planned.append({
                    "path": "/token", "skip": slow[0] * number + 20, "delay_ms": int(slower[1] * 1000), "name": "slower"})
        server.ask("POST", "/dev/faults", planned)

    def page(self, workers: list[processes.Process]) -> None:
        """One user's page asks for the token in three processes at once."""
        user = self.random.choice(self.users)
        for worker in self.random.sample(workers, CALLS_PER_PAGE):
            self.answers.append(worker.ask(user))

    def kill_one(self, workers: list[processes.Process]) -> None:
        """Among those that are up: one that starts has nothing to lose."""
        index = self.random.randrange(len(workers))
        if not workers[index].ready.is_set():
            return
        workers[index].kill()
        self.kills += 1
        workers[index] = self.contestant.start(index)

    def judge(self) -> dict:
        """Nothing goes wrong any more, every token has expired, and each user asks once more."""
        answered = [answer for answer in self.answers if answer.milliseconds is not None]
        log = [record for record in self.server.ask("GET", "/dev/log") if record["path"] == "/token"]
        self.server.ask("DELETE", "/dev/faults")
        before = self.grants()
        lost = self.lost_logins()
        outcomes: dict[str, int] = {}
        for answer in self.answers:
            outcomes[answer.outcome] = outcomes.get(answer.outcome, 0) + 1
        times = [answer.milliseconds for answer in answered]
        result = {
            "logins": len(self.users), "seconds": self.seconds, "reads": len(self.answers), "outcomes": outcomes,
            "kills": self.kills, "lost_replies": sum(record.get("fault") == "lost reply" for record in log),
            "slow": sum(record.get("fault") in ("slow", "slower") for record in log),
            "p50_ms": processes.percentile(times, 0.5), "p99_ms": processes.percentile(times, 0.99),
            "p999_ms": processes.percentile(times, 0.999)}
        for client in CLIENTS:
            own = [grant for grant in before if grant["client"] == client]
            result[client] = {
                "logins": len(own), "requests": sum(grant["refresh_requests"] for grant in own),
                "renewals": sum(grant["rotated"] for grant in own), "reuse": sum(grant["reuse_detected"] for grant in own),
                "replayed_in_grace": sum(grant["replayed_in_grace"] for grant in own),
                "revoked": sum(grant["revoked"] for grant in own),
                "lost": sum(grant["user"] in lost for grant in own)}
        return result

    def grants(self) -> list[dict]:
        return self.server.ask("GET", "/dev/grants")

    def lost_logins(self) -> set[str]:
        """Users who get no token, however often they ask."""
        self.server.ask("POST", "/dev/behaviour", {"reply_delay_ms": 0})
        time.sleep(LIFETIME)
        left = set(self.users)
        worker = self.contestant.start()
        worker.ready.wait(60)
        for _ in range(4):
            asked = [worker.ask(user) for user in sorted(left)]
            deadline = time.monotonic() + 90
            while time.monotonic() < deadline and any(answer.milliseconds is None for answer in asked):
                time.sleep(0.1)
            left = {answer.user for answer in asked if answer.outcome != "ok"}
            if not left:
                break
            time.sleep(4)
        worker.finish(30)
        return left


def run(report, place: str, programs, servers, logins: int, seconds: float, together: int) -> None:
    """Several at a time, each with a server of its own, which counts requests and plays its faults by that."""
    users = [f"user-{number:05d}" for number in range(logins)]

    def live(index: int) -> None:
        with servers.authorization(
                "--access-token-lifetime", str(LIFETIME), "--client", "forgiving", "--behaviour",
                f"forgiving:grace={CLIENTS['forgiving']}") as server:
            contestant = contestants(place, programs, servers, server.issuer)[index]
            report.sample("day", contestant.name, Day(contestant, server, users, seconds, Faults(), 17).run())

    # Started here, not by whichever thread comes first.
    count = len(contestants(place, programs, servers, "http://127.0.0.1"))
    with concurrent.futures.ThreadPoolExecutor(together) as pool:
        list(pool.map(live, range(count)))
    judge(report)


def lost(client: dict) -> float:
    """Chains, for each 10 000 renewals."""
    return 10_000 * client["lost"] / max(1, client["renewals"])


def judge(report) -> None:
    for sample in report.samples_of("day"):
        name, strict, forgiving = sample["name"], sample["demo"], sample["forgiving"]
        renewals = strict["renewals"] + forgiving["renewals"]
        each = 10_000 / max(1, renewals)
        note = f"{renewals} renewals, {sample['kills']} kills, {sample['lost_replies']} lost replies"
        is_ours = name.startswith("TokenVault")
        report.figure("day", f"{name}: chains lost per 10 000, forgiving server", lost(forgiving),
                      "= 0" if is_ours else None, f"{forgiving['lost']} lost, {note}")
        report.figure("day", f"{name}: chains lost per 10 000, strict server", lost(strict), None, f"{strict['lost']} lost")
        requests = strict["requests"] + forgiving["requests"]
        report.figure("day", f"{name}: requests for each renewal", requests / max(1, renewals))
        report.figure("day", f"{name}: reuse detected per 10 000", each * (strict["reuse"] + forgiving["reuse"]))
        report.figure("day", f"{name}: p99 of a read, ms", sample["p99_ms"])
