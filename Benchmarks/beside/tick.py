"""Row 4: finding 100 logins that are due among many, beside queues in PostgreSQL."""
import asyncio
import statistics
import time

import psycopg

from .fleet import output, probe_vault

DUE = 100
FIRST_DUE = 4_102_444_800


class Ours:
    def __init__(self, programs, place: str, logins: int):
        self.probe = programs.probe
        self.vault, self.key = probe_vault(programs, place, logins)

    def tick(self) -> float:
        return float(output(self.probe, "tick", self.vault, self.key, "300").split()[0])


class SkipLocked:
    """`SELECT … FOR UPDATE SKIP LOCKED` over an index, as queues in PostgreSQL are written."""

    def __init__(self, servers, logins: int):
        self.db = psycopg.connect(servers.postgres.loopback, autocommit=True)
        self.table = f"due_{logins}"
        self.db.execute(f"CREATE TABLE {self.table} (id bigint PRIMARY KEY, due_at bigint, access bytea)")
        self.db.execute(
            f"INSERT INTO {self.table} SELECT n, {FIRST_DUE} + n, decode(repeat('61', 1000), 'hex') FROM generate_series(0, %s) n",
            (logins - 1,))
        self.db.execute(f"CREATE INDEX ON {self.table} (due_at)")
        self.db.execute(f"VACUUM ANALYZE {self.table}")

    def tick(self, times: int = 200) -> float:
        query = f"SELECT id FROM {self.table} WHERE due_at < %s ORDER BY due_at LIMIT 1000 FOR UPDATE SKIP LOCKED"
        start = time.perf_counter_ns()
        for _ in range(times):
            with self.db.transaction():
                if len(self.db.execute(query, (FIRST_DUE + DUE,)).fetchall()) != DUE:
                    raise SystemExit("peers: not all that are due were found")
        return (time.perf_counter_ns() - start) / times


class Procrastinate:
    """Its own way to take a job, a hundred times; the jobs for later are in the same table."""

    def __init__(self, servers, logins: int):
        import procrastinate

        with psycopg.connect(servers.postgres.loopback, autocommit=True) as db:
            db.execute(f"DROP DATABASE IF EXISTS jobs_{logins}")
            db.execute(f"CREATE DATABASE jobs_{logins}")
        self.connection = servers.postgres.loopback.replace("dbname=postgres", f"dbname=jobs_{logins}")
        self.app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=self.connection))
        asyncio.run(self.prepare(logins))

    async def prepare(self, logins: int) -> None:
        async with self.app.open_async():
            await self.app.schema_manager.apply_schema_async()
        with psycopg.connect(self.connection, autocommit=True) as db:
            db.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, args, scheduled_at)"
                " SELECT 'renew', 'renew', '{}', to_timestamp(%s + n) FROM generate_series(1, %s) n", (FIRST_DUE, logins))
            db.execute("VACUUM ANALYZE procrastinate_jobs")

    def tick(self) -> float:
        return asyncio.run(self.take())

    async def take(self) -> float:
        with psycopg.connect(self.connection, autocommit=True) as db:
            db.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, args) SELECT 'renew', 'renew', '{}'"
                " FROM generate_series(1, %s)", (DUE,))
        async with self.app.open_async():
            worker = await self.app.job_manager.register_worker()
            start = time.perf_counter_ns()
            for _ in range(DUE):
                job = await self.app.job_manager.fetch_job(queues=["renew"], worker_id=worker)
                if job is None:
                    raise SystemExit("peers: procrastinate did not find all that was due")
            return time.perf_counter_ns() - start


def run(report, programs, servers, place: str, rounds: int, sizes: tuple[int, int]) -> None:
    made = {}
    for size in sizes:
        made["TokenVault", size] = Ours(programs, place, size)
        made["SKIP LOCKED", size] = SkipLocked(servers, size)
        made["procrastinate", size] = Procrastinate(servers, size)
    times: dict = {key: [] for key in made}
    for number in range(rounds + 1):
        for (name, size), queue in made.items():
            nanoseconds = queue.tick()
            if number > 0:
                times[name, size].append(nanoseconds)
                report.sample("tick", name, {"logins": size, "round": number, "ns": round(nanoseconds)})
    small, big = sizes
    for name in ("TokenVault", "SKIP LOCKED", "procrastinate"):
        ratio = statistics.median(b / s for s, b in zip(times[name, small], times[name, big]))
        note = f"{statistics.median(times[name, small]) / 1000:.0f} µs and {statistics.median(times[name, big]) / 1000:.0f} µs"
        goal = "≤ 1.1" if name == "TokenVault" else None
        report.figure("tick", f"100 due of {big} over 100 due of {small}: {name}", ratio, goal, note)
    ratio = statistics.median(t / o for t, o in zip(times["SKIP LOCKED", big], times["TokenVault", big]))
    report.figure("tick", "tick: times faster than SKIP LOCKED", ratio)
