"""What was measured, and how it is called and written."""
import collections
import json
import os
import statistics

RESULTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "results")
# Logins that are read several times, all of which ours has in memory, sealed.
AGAIN = "one of 1 000 logins, again"
ROWS = ("flight", "day", "reads", "commits", "opening", "growth", "tick", "upkeep", "cells", "server", "serve")
NAMES = {
    "C": "C, the same vault and cells", "sqlite-fernet": "sqlite3 + Fernet (Python)",
    "sqlalchemy-encrypted": "SQLAlchemy, encrypted columns", "postgres-aesgcm": "PostgreSQL + AES-GCM, loopback",
    "postgres-unix": "PostgreSQL + AES-GCM, UNIX socket", "postgres-pgcrypto": "PostgreSQL + pgcrypto",
    "postgres-pipelined": "PostgreSQL + AES-GCM, pipelined", "redis": "Redis, in clear (Python)", "Redis, C client": "Redis, in clear (C)",
    "Redis, C client, pipelined": "Redis, in clear (C), 50 × 16 at a time", "msal-file": "msal-extensions' file",
}


PARTS = ("ratios", "service", "scale")


def recorded(row: str) -> dict:
    return read(f"peers-{row}.json")


def read(name: str) -> dict:
    with open(os.path.join(RESULTS, name), encoding="utf-8") as file:
        return json.load(file)


def documents() -> list[dict]:
    """What was recorded, of `Benchmarks/run` and of `Benchmarks/peers`."""
    return [read(f"run-{part}.json") for part in PARTS] + [recorded(row) for row in ROWS]


def samples(row: str) -> list[dict]:
    return recorded(row)["samples"]


def medians(row: str, work: str, threads: int | None = None) -> dict[str, float]:
    """Of the nanoseconds of each store, in the order of the samples."""
    times = collections.defaultdict(list)
    for sample in samples(row):
        if sample.get("work") == work and threads in (None, sample["threads"]):
            times[sample["name"]].append(sample["ns"])
    return {name: statistics.median(values) for name, values in times.items()}


def short(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ") if value >= 100 else f"{value:.3g}"


def ordered_days() -> list[dict]:
    """Ours first; several run at a time, and end in any order."""
    order = ("TokenVault", "TokenVault, scheduler", "file lock", "PostgreSQL row lock", "Redis lock, 2 s", "Redis lock, 10 s",
             "Redis lock, 45 s", "allauth, no lock")
    return sorted(samples("day"), key=lambda sample: order.index(sample["name"]))


def lost(sample: dict, client: str) -> float:
    return 10_000 * sample[client]["lost"] / max(1, sample[client]["renewals"])
