"""Everything that answers `verb LOGINS COUNT SEED` with nanoseconds per operation: our programs, C, and the peers."""
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SQL = ("sqlite-fernet", "sqlalchemy-encrypted")


def output(*command: str) -> str:
    """A shell lies between, because what a process reports as its peak memory begins with that of the one that forked it."""
    between = ("sh", "-c", '"$@"; exit $?', "sh")
    return subprocess.run(
        between + command, check=True, stdout=subprocess.PIPE, text=True, cwd=os.path.dirname(HERE)).stdout


class Fleet:
    """Stores with the same logins, which take turns."""

    def __init__(self, place: str, programs, servers, logins: int):
        self.place, self.programs, self.servers, self.logins = place, programs, servers, logins
        self.vault, self.key = os.path.join(place, "bench.vault"), os.path.join(place, "bench.key")
        self.filled: set[str] = set()

    def connection(self, name: str) -> str:
        if name == "redis":
            return self.servers.redis.url
        if name == "redis-unix":
            return self.servers.redis.unix
        if name == "postgres-unix":
            return self.servers.postgres.unix
        if name.startswith("postgres"):
            return self.servers.postgres.loopback
        path = os.path.join(self.place, name)
        os.makedirs(path, exist_ok=True)
        return path

    def fill(self, name: str, logins: int | None = None) -> None:
        table = {"postgres-unix": "postgres-aesgcm", "postgres-pipelined": "postgres-aesgcm", "redis-unix": "redis",
                 "C": "TokenVault", "SQLCipher, all pages cached": "SQLCipher"}.get(name, name)
        if table in self.filled:
            return
        self.filled.add(table)
        print(f"making {table} …", file=sys.stderr, flush=True)
        count = str(logins or self.logins)
        if table == "TokenVault":
            output(self.programs.bench, "make", self.vault, self.key, count)
        elif table == "SQLCipher":
            output(self.programs.sqlcipher, "fill", self.cipher, count)
        else:
            self.client(table, "fill", count)

    @property
    def cipher(self) -> str:
        return os.path.join(self.place, "sqlcipher.db")

    def client(self, name: str, verb: str, *arguments: str) -> str:
        kind = {"postgres-unix": "postgres-aesgcm", "redis-unix": "redis"}.get(name, name)
        return output(sys.executable, "-m", "beside.client", kind, self.connection(name), verb, *arguments)

    def time(self, name: str, verb: str, count: int, seed: int, threads: int = 1, logins: int | None = None,
             cold: bool = False) -> float:
        """Nanoseconds for each operation. Ours is of users who have been read before, unless it is to be cold."""
        size = str(logins or self.logins)
        numbers = [size, str(count), str(seed)]
        if name in ("TokenVault", "C"):
            program = self.programs.bench if name == "TokenVault" else self.programs.reference
            ours = {"read": "await" if cold else "await-known", "renew": "update", "open": "open", "memory": "memory", "rotate": "rotate"}[verb]
            if name == "C" and verb == "read":
                ours = "read"
            if name == "TokenVault" and threads > 1 and verb == "renew":
                return float(output(self.programs.worker, "commits", self.vault, self.key, *numbers, str(threads)).split()[0])
            if threads == 2 and verb == "read":
                ours = "await2"
            return float(output(program, ours, self.vault, self.key, *numbers).split()[0])
        if name.startswith("SQLCipher"):
            cache = ["4000000"] if "cached" in name else []
            return float(output(self.programs.sqlcipher, verb, self.cipher, *numbers, *cache).split()[0])
        return float(self.client(name, verb, *numbers, *([str(threads)] if threads > 1 else [])).split()[0])

    def size(self, name: str) -> int | None:
        """Bytes on disk, without what a log may still hold."""
        if name == "TokenVault":
            return os.path.getsize(self.vault)
        if name == "SQLCipher":
            return os.path.getsize(self.cipher)
        if name in ("postgres-aesgcm", "postgres-pgcrypto"):
            import psycopg

            table = {"postgres-aesgcm": "token", "postgres-pgcrypto": "secret"}[name]
            with psycopg.connect(self.servers.postgres.loopback) as db:
                return db.execute("SELECT pg_total_relation_size(%s::regclass)", (table,)).fetchone()[0]
        path = self.connection(name)
        if not os.path.isdir(path):
            return None
        return sum(entry.stat().st_size for entry in os.scandir(path) if not entry.name.endswith("-wal"))


def compare(report, row: str, fleet: Fleet, verb: str, counts: dict[str, int], rounds: int, *, threads: int = 1,
            title: str, goals: dict[str, str], cold: bool = False, logins: int | None = None) -> None:
    """Each round every store does its work once; a figure is the median over the rounds of theirs over ours."""
    for name in counts:
        fleet.fill(name)
    times: dict[str, list[float]] = {name: [] for name in counts}
    for seed in range(1, rounds + 2):
        for name, count in counts.items():
            if cold:
                drop_caches()
            nanoseconds = fleet.time(name, verb, count, seed, threads, logins, cold)
            if seed > 1 or cold:
                times[name].append(nanoseconds)
                report.sample(row, name, {"work": title, "threads": threads, "round": seed - 1, "ns": round(nanoseconds, 1)})
    ours = times["TokenVault"]
    report.figure(row, f"{title}: TokenVault, µs", statistics.median(ours) / 1000)
    for name in counts:
        if name == "TokenVault":
            continue
        ratio = statistics.median(theirs / own for theirs, own in zip(times[name], ours))
        note = f"{statistics.median(times[name]) / 1000:.1f} µs against {statistics.median(ours) / 1000:.1f} µs"
        report.figure(row, f"{title}: times faster than {name}", ratio, goals.get(name), note)


def probe_vault(programs, place: str, logins: int) -> tuple[str, str]:
    """A vault of which 100 logins are due, made through the store, and its key. Rows share it."""
    vault, key = os.path.join(place, f"probe-{logins}.vault"), os.path.join(place, f"probe-{logins}.key")
    if not os.path.exists(vault):
        print(f"making a vault of {logins} …", file=sys.stderr, flush=True)
        subprocess.run([programs.probe, "make", vault, key, str(logins)], check=True)
    return vault, key


def drop_caches() -> None:
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")
