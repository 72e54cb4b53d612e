"""Rows 1, 2 and 5: reads, durable renewals, and what opening a store, its memory and its file cost."""
import os
import statistics

from . import fleet as fleets


def reads(report, fleet, rounds: int) -> None:
    counts = {
        "TokenVault": 20_000, "C": 20_000, "SQLCipher": 5_000, "SQLCipher, all pages cached": 50_000, "sqlite-fernet": 5_000,
        "sqlalchemy-encrypted": 500, "postgres-aesgcm": 2_000, "postgres-unix": 2_000, "postgres-pgcrypto": 200, "redis": 3_000}
    goals = {
        "SQLCipher": "≥ 3", "SQLCipher, all pages cached": "≥ 1.2", "sqlite-fernet": "≥ 4", "sqlalchemy-encrypted": "≥ 30",
        "postgres-aesgcm": "≥ 20", "postgres-unix": "≥ 20"}
    fleets.compare(report, "reads", fleet, "read", counts, rounds, title="hot read", goals=goals | {"C": "≥ 0.77"})
    # So few that ours are in memory, sealed, and that each is read several times.
    fleets.compare(report, "reads", fleet, "read", counts | {"SQLCipher": 20_000, "sqlite-fernet": 10_000}, rounds,
                   title="one of 1 000 logins, again", goals=goals | {"C": "≥ 2.5"}, logins=1_000)
    meeting(report, fleet, rounds)
    bare_redis(report, fleet, rounds)
    two = {"TokenVault": 20_000, "sqlite-fernet": 3_000, "postgres-aesgcm": 2_000, "redis": 3_000}
    fleets.compare(report, "reads", fleet, "read", two, rounds, threads=2, title="hot read, 2 threads",
                   goals={"sqlite-fernet": "≥ 4", "postgres-aesgcm": "≥ 10"})
    if os.geteuid() == 0:
        few = {"TokenVault": 50, "C": 50, "SQLCipher": 50, "sqlite-fernet": 50}
        fleets.compare(report, "reads", fleet, "read", few, rounds, title="read after drop_caches", goals={}, cold=True)


def meeting(report, fleet, rounds: int) -> None:
    """The first read of a user by a process, which compares the user with the audit trail."""
    for seed in range(2, 2 + rounds):
        for work, verb in (("first read of a user", "first"), ("later read of a user", "again")):
            arguments = (verb, fleet.vault, fleet.key, str(fleet.logins), "20000", str(seed))
            ns = float(fleets.output(fleet.programs.bench, *arguments).split()[0])
            report.sample("reads", "TokenVault", {"work": work, "threads": 1, "round": seed - 1, "ns": round(ns, 1)})


def bare_redis(report, fleet, rounds: int) -> None:
    """Redis by its own C program, in clear: alone, and with 50 connections of 16 commands at a time."""
    command = ["redis-benchmark", "-p", str(fleet.servers.redis.port), "-d", "1000", "-r", "1000", "--csv"]
    fleets.output(*command, "-n", "100000", "-P", "50", "-t", "set")
    for name, options in (("Redis, C client", ["-c", "1", "-n", "20000"]),
                          ("Redis, C client, pipelined", ["-c", "50", "-P", "16", "-n", "400000"])):
        for number in range(1, rounds + 1):
            last = fleets.output(*command, *options, "-t", "get").splitlines()[-1]
            each = 1e9 / float(last.split(",")[1].strip('"'))
            report.sample("reads", name, {"work": "one of 1 000 logins, again", "threads": 1, "round": number, "ns": round(each, 1)})


def commits(report, fleet, rounds: int) -> None:
    # Of the file cache of MSAL only a thousand accounts: each change writes them all.
    counts = {
        "TokenVault": 100, "C": 100, "SQLCipher": 100, "sqlite-fernet": 100, "sqlalchemy-encrypted": 60,
        "postgres-aesgcm": 100, "postgres-pipelined": 100, "postgres-pgcrypto": 60, "redis": 100}
    goals = {"sqlite-fernet": "≥ 1.4", "sqlalchemy-encrypted": "≥ 4", "postgres-aesgcm": "≥ 2"}
    fleets.compare(report, "commits", fleet, "renew", counts, rounds, title="durable renewal, 1 caller", goals=goals)
    many = {"TokenVault": 2_048, "sqlite-fernet": 256, "postgres-aesgcm": 512, "postgres-pipelined": 512, "redis": 512}
    fleets.compare(report, "commits", fleet, "renew", many, rounds, threads=64, title="durable renewal, 64 callers",
                   goals={"postgres-aesgcm": "≥ 2", "sqlite-fernet": "≥ 3"})
    together(report)


def together(report) -> None:
    """What committing together brings: one caller's time over that of each of 64."""
    def median(threads: int) -> float:
        return statistics.median(
            sample["ns"] for sample in report.samples_of("commits")
            if sample["name"] == "TokenVault" and sample["threads"] == threads)

    report.figure("commits", "64 callers, throughput of one caller = 1", median(1) / median(64), "≥ 3")


def whole_file(report, fleet, rounds: int) -> None:
    """A thousand accounts: beside a cache that is one file, and beside the same number of ours."""
    counts = {"TokenVault": 200, "msal-file": 10}
    fleets.compare(report, "commits", fleet, "renew", counts, rounds, title="1 000 accounts, renewal",
                   goals={"msal-file": "≥ 500"})
    fleets.compare(report, "commits", fleet, "read", {"TokenVault": 20_000, "msal-file": 2_000}, rounds,
                   title="1 000 accounts, hot read", goals={})


def opening(report, fleet, rounds: int) -> None:
    counts = {
        "TokenVault": 30, "C": 30, "SQLCipher": 30, "sqlite-fernet": 30, "sqlalchemy-encrypted": 20, "postgres-aesgcm": 20,
        "redis": 30}
    fleets.compare(report, "opening", fleet, "open", counts, rounds, title="open and first read", goals={"C": "≥ 0.33"})
    for name in counts:
        peak = statistics.median(fleet.time(name, "memory", 2_000, seed) for seed in range(1, rounds + 1)) / 1024
        report.sample("opening", name, {"work": "memory", "MiB": round(peak, 1)})
        goal = "≤ 24" if name == "TokenVault" else None
        report.figure("opening", f"peak memory of the client, MiB: {name}", peak, goal)
    for name in ("TokenVault", "SQLCipher", "sqlite-fernet", "sqlalchemy-encrypted", "postgres-aesgcm", "postgres-pgcrypto"):
        fleet.fill(name)
        each = fleet.size(name) / fleet.logins
        report.sample("opening", name, {"work": "bytes", "bytes": round(each)})
        report.figure("opening", f"bytes per login on disk: {name}", each, "≤ 1700" if name == "TokenVault" else None)
