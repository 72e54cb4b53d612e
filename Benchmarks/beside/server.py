"""Row 8: a vault on a PostgreSQL server, beside the same statements in C over libpq."""
import os
import shutil
import statistics
import subprocess
import time

import psycopg

from .servers import Postgres, free_port, tool

CALLERS = 64


class Vault:
    """A vault in the schema `tokenvault` of a server."""

    def __init__(self, programs, server: Postgres, place: str, logins: int):
        self.programs, self.server, self.logins = programs, server, logins
        self.key = os.path.join(place, "server.key")
        self.url = f"postgresql://postgres@/postgres?host={server.place}&port={server.port}"
        self.environment = os.environ | {"XDG_STATE_HOME": os.path.join(place, "state")}
        self.run("make")

    def command(self, verb: str, *numbers: int) -> list[str]:
        return [self.programs.server_bench, verb, self.url, self.key, str(self.logins), *map(str, numbers)]

    def run(self, verb: str, *numbers: int) -> list[float]:
        done = subprocess.run(
            self.command(verb, *numbers), check=True, stdout=subprocess.PIPE, text=True, env=self.environment)
        return [float(word) for word in done.stdout.split()]

    def start(self, verb: str, *numbers: int) -> subprocess.Popen:
        return subprocess.Popen(self.command(verb, *numbers), stdout=subprocess.PIPE, text=True, env=self.environment)

    def reference(self, verb: str, count: int) -> list[float]:
        connection = f"{self.server.unix} options='-c search_path=tokenvault'"
        done = subprocess.run(
            [self.programs.server_reference, verb, connection, str(count)], check=True, stdout=subprocess.PIPE, text=True)
        return [float(word) for word in done.stdout.split()]

    def ask(self, question: str):
        with psycopg.connect(self.server.unix, autocommit=True) as db:
            return db.execute(question).fetchone()


def run(report, programs, servers, place: str, rounds: int, logins: int) -> None:
    vault = Vault(programs, servers.postgres, place, logins)
    vault.ask("SELECT count(*) FROM tokenvault.login")
    sizes(report, vault)
    single(report, vault, rounds)
    together(report, vault, rounds)
    idle(report, vault)
    tick(report, vault, place, rounds)
    with Standby(servers.postgres, place) as standby:
        standby.demand()
        figures = [vault.run("change", 4_096, seed, CALLERS) for seed in range(1, 4)]
        note(report, "64 callers, synchronous standby", figures)
        report.figure(
            "server", "64 callers, synchronous standby: changes a second", 1e9 / statistics.median(f[0] for f in figures))


def note(report, work: str, figures: list[list[float]], name: str = "TokenVault") -> None:
    for number, (nanoseconds, _, middle, late) in enumerate(figures, 1):
        report.sample("server", name, {
            "work": work, "round": number, "ns": round(nanoseconds, 1), "p50": round(middle), "p99": round(late)})


def sizes(report, vault: Vault) -> None:
    """What a login takes on the server's disk, and what a change adds to the server's log."""
    size = """SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'tokenvault' AND c.relkind = 'r'"""
    position = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"
    report.figure("server", "bytes a login, new vault", float(vault.ask(size)[0]) / vault.logins)
    vault.ask("SELECT pg_switch_wal()")
    vault.run("change", 1_024, 1, CALLERS)
    before = vault.ask(position)[0]
    vault.run("change", 8_192, 2, CALLERS)
    report.figure("server", "64 callers: bytes of the server's log for a change", float(vault.ask(position)[0] - before) / 8_192)
    report.figure("server", "bytes a login, after a change of each", float(vault.ask(size)[0]) / vault.logins)


def single(report, vault: Vault, rounds: int) -> None:
    """One caller, in turn with C."""
    for work, verb, count, goal in (("read", "read", 5_000, "≤ 1.4"), ("change", "change", 400, "≤ 1.25")):
        ours, theirs = [], []
        for seed in range(1, rounds + 1):
            ours.append(vault.run(verb, count, seed, 1))
            theirs.append(vault.reference(verb, count))
        note(report, work, ours)
        note(report, work, theirs, "C")
        ratio = statistics.median(own[0] / other[0] for own, other in zip(ours, theirs))
        words = f"{statistics.median(f[0] for f in ours) / 1000:.0f} µs against {statistics.median(f[0] for f in theirs) / 1000:.0f} µs"
        report.figure("server", f"{work}, 1 caller: over C", ratio, goal, words)
        if verb == "read":
            trips = [vault.reference("round", count) for _ in range(rounds)]
            note(report, "round trip", trips, "C")
            ratio = statistics.median(own[2] / other[2] for own, other in zip(ours, trips))
            report.figure("server", "read, 1 caller: median over a round trip", ratio, "≤ 2")
        else:
            vault.commit = statistics.median(f[2] for f in theirs)


def together(report, vault: Vault, rounds: int) -> None:
    figures = [vault.run("change", 8_192, seed, CALLERS) for seed in range(1, rounds + 1)]
    note(report, "64 callers", figures)
    report.figure("server", "64 callers: changes a second", 1e9 / statistics.median(f[0] for f in figures), "≥ 7000")
    late = statistics.median(f[3] for f in figures) / vault.commit
    report.figure("server", "64 callers: p99 over one change in C", late, "≤ 4")
    sums = []
    for seed in range(1, 4):
        start = time.perf_counter()
        processes = [vault.start("change", 4_096, 100 * seed + number, CALLERS) for number in range(4)]
        results = [process.communicate()[0].split() for process in processes]
        if any(process.returncode for process in processes):
            raise SystemExit("peers: a process that changes logins on the server has failed")
        slowest = max(float(result[0]) * float(result[1]) for result in results)
        sums.append(4 * 4_096 / (slowest / 1e9))
        report.sample("server", "TokenVault", {
            "work": "4 processes, 64 callers each", "round": seed, "rate": round(sums[-1], 1),
            "seconds": round(time.perf_counter() - start, 2)})
    report.figure("server", "4 processes, 64 callers each: changes a second", statistics.median(sums), "≥ 3000")
    reads = [vault.run("read", 20_000, seed, 4) for seed in range(1, rounds + 1)]
    note(report, "read, 4 callers", reads)
    report.figure("server", "read, 4 callers: reads a second", 1e9 / statistics.median(f[0] for f in reads))


def idle(report, vault: Vault, seconds: int = 20) -> None:
    """What a service costs the server that has nothing to do: the statements that the server's log has of it."""
    process = vault.start("idle", seconds + 10)
    process.stdout.readline()
    time.sleep(5)
    vault.server.log_statements(True)
    before, start = vault.server.statements("tokenvault"), time.perf_counter()
    time.sleep(seconds)
    rate = (vault.server.statements("tokenvault") - before) / (time.perf_counter() - start)
    vault.server.log_statements(False)
    connections = vault.ask("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tokenvault'")[0]
    process.terminate()
    process.wait()
    report.figure("server", "idle service: statements a second", rate, "≤ 3")
    report.figure("server", "idle service: connections", connections, "≤ 7")


def tick(report, vault: Vault, place: str, rounds: int, sizes: tuple[int, int] = (1_000, 100_000)) -> None:
    """The scheduler's question which logins are due: a hundred, of few and of many."""

    def probe(verb: str, size: int, count: int) -> str:
        key = os.path.join(place, f"due-{size}.key")
        return subprocess.run(
            [vault.programs.probe, verb, f"{vault.url}&schema=due{size}", key, str(count)], check=True, stdout=subprocess.PIPE,
            text=True, env=vault.environment).stdout

    for size in sizes:
        probe("make", size, size)
    ratios = []
    for number in range(1, rounds + 1):
        times = [float(probe("tick", size, 200).split()[0]) for size in sizes]
        report.sample("server", "TokenVault", {"work": "tick with 100 due", "round": number, "ns_by_size": dict(zip(sizes, times))})
        ratios.append(times[1] / times[0])
    report.figure("server", f"tick with 100 due: {sizes[1]} logins over {sizes[0]}", statistics.median(ratios), "≤ 1.5")


class Standby:
    """A standby on the same machine, of which commits wait until it has written them."""

    def __init__(self, primary: Postgres, place: str):
        self.primary, self.place, self.port = primary, os.path.join(place, "standby"), free_port()

    def __enter__(self):
        os.mkdir(self.place, 0o700)
        if os.geteuid() == 0:
            shutil.chown(self.place, "postgres")
        data = os.path.join(self.place, "data")
        # With less room than its primary a standby does not start.
        settings = [word for pair in self.primary.SETTINGS.items() for word in ("-c", "%s=%s" % pair)]
        self.primary.run(
            tool("pg_basebackup"), "-h", self.primary.place, "-p", str(self.primary.port), "-U", "postgres", "-D", data, "-R",
            "-X", "stream", "-c", "fast")
        self.process = subprocess.Popen(
            [tool("postgres"), "-D", data, "-p", str(self.port), "-k", self.place, "-h", "", *settings],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.primary.identity())
        return self

    def demand(self) -> None:
        with psycopg.connect(self.primary.unix, autocommit=True) as db:
            db.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            db.execute("SELECT pg_reload_conf()")
            for _ in range(600):
                if db.execute("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").fetchone()[0]:
                    return
                time.sleep(0.05)
        raise SystemExit("peers: the standby did not come up")

    def __exit__(self, *_):
        with psycopg.connect(self.primary.unix, autocommit=True) as db:
            db.execute("ALTER SYSTEM RESET synchronous_standby_names")
            db.execute("SELECT pg_reload_conf()")
        self.process.terminate()
        self.process.wait()
