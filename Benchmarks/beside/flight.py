"""Row 3: a thousand callers want the token of one login that has expired, and the provider takes its time.

Nothing is scaled: the locks live 2, 10 and 45 seconds, and the provider takes 0.1, 3, 15 and 60. Every contestant lets a
request take 90 seconds. The server counts how often the refresh token, and its successors, were presented.
"""
import concurrent.futures
import os
import time

from . import processes

DELAYS = (0.1, 3, 15, 60)
CALLERS = 1_000


def contestants(place: str, programs, servers, issuer: str) -> list[list[processes.Contestant]]:
    """Those of one list run at the same time: they wait without asking again and again."""
    common = {"issuer": issuer, "timeout": 90, "lead": 0, "grace": {}}
    threads = CALLERS
    # A thousand callers that look every tenth of a second would measure the machine.
    options = common | {"redis": servers.redis.url, "poll": 0.5}
    redis = [
        processes.Contestant(f"Redis lock, {ttl} s", "redis-lock", options | {"ttl": ttl}, threads)
        for ttl in (2, 10, 45)]
    others = [
        processes.Vault("TokenVault", programs.worker, os.path.join(place, "vault"), common),
        processes.Contestant(
            "file lock", "file-lock", common | {"place": os.path.join(place, "files")}, threads),
        processes.Contestant(
            "PostgreSQL row lock", "postgres-row-lock", common | {"postgres": servers.postgres.loopback}, threads),
        processes.Contestant(
            "allauth, no lock", "allauth", common | {"postgres_port": servers.postgres.port}, threads)]
    return [others, *([each] for each in redis)]


def run(report, place: str, programs, servers, delays=DELAYS, counts=(1, 8), rounds: int = 1) -> None:
    for delay in delays:
        for count in counts:
            for _ in range(rounds):
                # In one process a lock of Redis is not what one would take.
                for group in range(4 if count == max(counts) else 1):
                    run_group(report, place, programs, servers, group, delay, count)
    judge(report)


def run_group(report, place, programs, servers, group: int, delay: float, count: int) -> None:
    # Each group has its server: what one leaves behind is not the next one's.
    with servers.authorization("--access-token-lifetime", "3600") as server:
        group = contestants(place, programs, servers, server.issuer)[group]
        users = {each.name: f"user-{index}" for index, each in enumerate(group)}
        for each in group:
            issued = server.grant(users[each.name])
            each.fill([(users[each.name], "demo", issued["access_token"], issued["refresh_token"], time.time() - 10)])
        server.behave(delay_ms=int(delay * 1000))
        with concurrent.futures.ThreadPoolExecutor(len(group)) as pool:
            answers = list(pool.map(lambda each: call(each, users[each.name], count), group))
        grants = {grant["user"]: grant for grant in server.ask("GET", "/dev/grants")}
        for each, given in zip(group, answers):
            grant = grants[users[each.name]]
            outcomes: dict[str, int] = {}
            for answer in given:
                outcomes[answer.outcome] = outcomes.get(answer.outcome, 0) + 1
            report.sample("flight", each.name, {
                "delay": delay, "processes": count, "callers": len(given), "requests": grant["refresh_requests"],
                "rotated": grant["rotated"], "reuse": grant["reuse_detected"], "revoked": grant["revoked"],
                "outcomes": outcomes,
                "p99_ms": processes.percentile([a.milliseconds for a in given if a.milliseconds is not None], 0.99)})


def call(contestant, user: str, count: int) -> list[processes.Answer]:
    workers = [contestant.start() for _ in range(count)]
    for worker in workers:
        worker.ready.wait(60)
    answers = [workers[number % count].ask(user) for number in range(CALLERS)]
    for worker in workers:
        worker.finish(400)
    return answers


def judge(report) -> None:
    for sample in report.samples_of("flight"):
        what = f"{sample['name']}: provider {sample['delay']:g} s, {sample['processes']} processes"
        note = f"{sample['requests']} requests, {'chain lost' if sample['revoked'] else 'chain kept'}"
        goal = "= 1" if sample["name"] == "TokenVault" else None
        report.figure("flight", what, sample["requests"], goal, note)
    for sample in report.samples_of("flight"):
        if sample["name"] == "TokenVault":
            good = sample["outcomes"].get("ok", 0)
            report.figure("flight", f"callers served at {sample['delay']:g} s, {sample['processes']} processes", good,
                          f"= {sample['callers']}", "")
