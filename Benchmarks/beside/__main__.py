"""The command line of `Benchmarks/peers`."""
import argparse
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from . import cells, day, flight, growth, machine, report, serve, server, servers, speed, tick, upkeep
from .fleet import Fleet

# Opening comes before what makes files grow.
ROWS = ("cells", "reads", "opening", "commits", "flight", "tick", "upkeep", "server", "serve", "growth", "day")
BENCHMARKS = os.path.join(machine.ROOT, "Benchmarks")


class Programs:
    """Release builds: found in `--binaries`, or built. Each is needed only by the rows that use it."""

    NAMES = {
        "bench": "vault-bench", "worker": "vault-worker", "server_bench": "server-bench", "constant": "constant-server",
        "vaultctl": "vaultctl", "probe": "storage-probe", "authserver": "dev-authserver"}

    def __init__(self, folders: list[str]):
        self.folders = folders or self.build()

    def __getattr__(self, name: str) -> str:
        if name not in self.NAMES:
            raise AttributeError(name)
        setattr(self, name, self.find(self.NAMES[name]))
        return getattr(self, name)

    @functools.cached_property
    def reference(self) -> str:
        sources = [os.path.join(BENCHMARKS, "reference", f"{name}.c") for name in ("cell", "vault", "update", "reference")]
        return self.compile("reference", *sources, "-lsqlite3", "-lsodium")

    @functools.cached_property
    def sqlcipher(self) -> str:
        return self.compile("sqlcipher", os.path.join(BENCHMARKS, "beside", "sqlcipher.c"), "-lsqlcipher")

    @functools.cached_property
    def server_reference(self) -> str:
        headers = machine.first_line("pg_config", "--includedir")
        return self.compile("server", os.path.join(BENCHMARKS, "reference", "server.c"), f"-I{headers}", "-lpq")

    def build(self) -> list[str]:
        folders = []
        for package, products in ((BENCHMARKS, (None,)), (machine.ROOT, ("vaultctl", "storage-probe", "dev-authserver"))):
            for product in products:
                arguments = ["-c", "release", "--package-path", package] + (["--product", product] if product else [])
                folder = machine.swift_build(*arguments)
            folders.append(folder)
        return folders

    def find(self, name: str) -> str:
        for folder in self.folders:
            path = os.path.join(folder, name)
            if os.access(path, os.X_OK):
                return os.path.abspath(path)
        raise SystemExit(f"peers: there is no {name} in {' '.join(self.folders)}")

    def compile(self, name: str, *arguments: str) -> str:
        target = os.path.join(BENCHMARKS, ".build", "peers", name)
        flags = ["-O2", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(["gcc", *flags, "-o", target, *arguments], check=True)
        return target


class Servers:
    """Each is started when it is first asked for."""

    def __init__(self, place: str, programs: Programs):
        self.place, self.programs, self.started = place, programs, {}

    def server(self, make):
        if make not in self.started:
            self.started[make] = make(self.place)
        return self.started[make]

    @property
    def postgres(self) -> servers.Postgres:
        return self.server(servers.Postgres)

    @property
    def redis(self) -> servers.Redis:
        return self.server(servers.Redis)

    def authorization(self, *options: str) -> servers.AuthorizationServer:
        return servers.AuthorizationServer(self.programs.authserver, self.place, *options)

    def stop(self) -> None:
        for server in self.started.values():
            server.stop()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Benchmarks/peers", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{', '.join(ROWS)}; all of them if none is named")
    parser.add_argument("--logins", type=int, default=100_000, help="of the stores of reads, commits, opening and upkeep")
    parser.add_argument("--big", type=int, default=1_000_000, help="logins of the big stores of tick and growth")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--delays", type=float, nargs="+", default=list(flight.DELAYS), help="of flight, in seconds")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 8], help="of flight")
    parser.add_argument("--day-logins", type=int, default=500)
    parser.add_argument("--day-seconds", type=float, default=240)
    parser.add_argument("--together", type=int, default=4, help="services whose day is run at the same time")
    parser.add_argument("--record", action="store_true", help="write samples and figures to Benchmarks/results")
    parser.add_argument("--append", action="store_true", help="with --record: the samples recorded before count, too")
    parser.add_argument("--binaries", nargs="+", default=[], help="folders with release builds, instead of building")
    options = parser.parse_args()
    unknown = set(options.rows) - set(ROWS)
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    return options


def main() -> int:
    options = parse()
    # Servers are stopped on the way out, whatever ends this.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    programs = Programs(options.binaries)
    with tempfile.TemporaryDirectory(prefix="peers.") as place:
        # PostgreSQL's user must reach its own directory.
        os.chmod(place, 0o711)
        started = Servers(place, programs)
        results, fleets = report.Report(place, options.record, options.append), Fleets(place, programs, started)
        try:
            for row in options.rows or ROWS:
                folder = os.path.join(place, row)
                os.mkdir(folder, 0o711)
                print(f"== {row}", flush=True)
                results.begin(row)
                run(row, results, folder, programs, started, fleets, options)
                results.end(row)
                shutil.rmtree(folder)
        finally:
            started.stop()
    return 0 if results.is_good else 3


class Fleets:
    """Stores by their size: rows share them."""

    def __init__(self, place: str, programs: Programs, started: Servers):
        self.place, self.programs, self.started, self.made = place, programs, started, {}

    def fleet(self, logins: int) -> Fleet:
        if logins not in self.made:
            folder = os.path.join(self.place, f"stores-{logins}")
            os.mkdir(folder, 0o700)
            self.made[logins] = Fleet(folder, self.programs, self.started, logins)
        return self.made[logins]


def run(row: str, results, place: str, programs, started: Servers, fleets: Fleets, options) -> None:
    rounds = options.rounds
    if row == "cells":
        cells.run(results, rounds)
    elif row == "reads":
        speed.reads(results, fleets.fleet(options.logins), rounds)
    elif row == "commits":
        speed.commits(results, fleets.fleet(options.logins), rounds)
        speed.whole_file(results, fleets.fleet(1_000), rounds)
    elif row == "opening":
        speed.opening(results, fleets.fleet(options.logins), rounds)
    elif row == "flight":
        flight.run(results, place, programs, started, options.delays, options.processes)
    elif row == "tick":
        tick.run(results, programs, started, os.path.dirname(place), rounds, (1_000, options.big))
    elif row == "upkeep":
        upkeep.run(results, fleets.fleet(options.logins), rounds)
    elif row == "server":
        server.run(results, programs, started, place, rounds, min(options.logins, 10_000))
    elif row == "serve":
        serve.run(results, fleets.fleet(min(options.logins, 10_000)), place, rounds)
    elif row == "growth":
        growth.run(results, os.path.dirname(place), programs, rounds, options.big)
    else:
        day.run(results, place, programs, started, options.day_logins, options.day_seconds, options.together)


raise SystemExit(main())
