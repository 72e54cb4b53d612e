"""Renewals as services make them, and what a service and a call of `vaultctl` cost."""
import contextlib
import http.server
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import threading
import uuid

from report import Report, output


class TokenEndpoint(http.server.BaseHTTPRequestHandler):
    """Answers each request at once, with tokens that have not been there before. Keeps connections open, as providers do."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name = uuid.uuid4().hex
        reply = {"access_token": f"access-{name}".ljust(1000, "x"), "refresh_token": f"refresh-{name}".ljust(100, "x"),
                 "token_type": "Bearer", "expires_in": 86_400}
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments) -> None:
        pass


@contextlib.contextmanager
def token_endpoint():
    """Gives the port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), TokenEndpoint)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Service(Report):
    def __init__(self, programs: str, folder: str, rounds: int):
        super().__init__()
        self.library = os.path.join(programs, "vault-bench")
        self.service = os.path.join(programs, "service-bench")
        self.folder, self.rounds = folder, rounds

    def place(self, name: str) -> tuple[str, str]:
        return os.path.join(self.folder, f"{name}.vault"), os.path.join(self.folder, f"{name}.key")

    def make(self, name: str, logins: int, verb: str = "make") -> tuple[str, str]:
        vault, key = self.place(name)
        if not os.path.exists(vault):
            subprocess.run([self.library, verb, vault, key, str(logins)], check=True)
        return vault, key

    def concurrent_renewals(self) -> None:
        """64 callers, whose renewals share commits, against the same callers with a commit for each step of each."""
        vault, key = self.make("concurrent", 5_000)
        faster, slower = [], []
        for seed in range(1, 1 + self.rounds):
            words = output(self.library, "renew64", vault, key, "5000", "4096", str(seed)).split()
            alone, alone_slow, together, together_slow = (float(word) for word in words)
            faster.append(alone / together)
            slower.append(together_slow / alone_slow)
        note = f"{together / 1000:.0f} µs against {alone / 1000:.0f} µs"
        self.report("64 concurrent renewals, times one at a time", statistics.median(faster), "≥ 4", note)
        self.report("the same, 99th percentile", statistics.median(slower), "≤ 0.5", "")

    def proofs(self) -> None:
        pairs = [[float(word) for word in output(self.library, "proof", "-", "-", "0", "20000", "1").split()]
                 for _ in range(self.rounds)]
        note = f"{pairs[0][0] / 1000:.1f} µs against {pairs[0][1] / 1000:.1f} µs"
        self.report("DPoP proof, of a bare ES256 signature", statistics.median(a / b for a, b in pairs), "≤ 1.2", note)

    def grown(self, logins: int = 2_000, times: int = 100) -> None:
        """What a login takes once its row has been rewritten many times. The trail, and pages that it left, are told apart."""
        vault, key = self.make("grown", logins)
        output(self.library, "grow", vault, key, str(logins), str(times), "1")
        with contextlib.closing(sqlite3.connect(f"file:{vault}?mode=ro", uri=True)) as database:
            sizes = dict(database.execute(
                "SELECT name = 'audit' OR name LIKE 'audit%' OR name LIKE 'sqlite_autoindex_audit%', sum(pgsize)"
                " FROM dbstat GROUP BY 1"))
        note = f"and {sizes.get(1, 0) / logins / times:.0f} of trail for each renewal"
        self.report(f"bytes per login on disk, after {times} renewals", sizes[0] / logins, "≤ 1700", note)

    def many_logins(self, logins: int = 10_000) -> None:
        """One user with many logins against one who has a single login."""
        vault, key = self.make("many", logins, "make-many")
        runs = [json.loads(output(self.library, "many", vault, key, str(logins), "256", "1"))
                for _ in range(self.rounds)]

        def ratio(name: str) -> float:
            return statistics.median(run[f"{name}.many"] / run[f"{name}.single"] for run in runs)

        def middle(name: str) -> float:
            return statistics.median(run[name] for run in runs)

        def against(name: str) -> str:
            return f"{middle(f'{name}.many') / 1000:.1f} µs against {middle(f'{name}.single') / 1000:.1f} µs"

        title = f"a user with {logins} logins:"
        self.report(f"{title} read, of one's with one", ratio("read"), "≤ 1.5", against("read"))
        self.report(f"{title} read of any, of one's with one",
                    statistics.median(run["read.any"] / run["read.single"] for run in runs), "≤ 1.5",
                    f"{middle('read.any') / 1000:.1f} µs, drawn at random")
        self.report(f"{title} renewal, of one's with one", ratio("renew"), "≤ 3", against("renew"))
        self.report("KiB written a renewal", middle("written.single") / 1024, "≤ 44")
        self.report(f"{title} KiB written a renewal", middle("written.many") / 1024, "≤ 44")
        self.report(f"{title} listing, µs a login", middle("list.many") / 1000, "≤ 20",
                    f"of a user with a tenth of them {middle('list.few') / 1000:.1f}")

    def renewal_share(self) -> None:
        """CPU time of a renewal in our process: the token endpoint is in another one, and answers at once. Ours is what is more
        than AsyncHTTPClient takes to send such a request."""
        renewals, requests = [], []
        with token_endpoint() as port:
            for number in range(self.rounds):
                vault, key = self.place(f"share-{number}")
                words = output(self.service, "renew", vault, key, str(port), "200").split()
                renewals.append(float(words[0]) / 1e6)
                requests.append(float(words[1]) / 1e6)
        whole, request = statistics.median(renewals), statistics.median(requests)
        self.report("our CPU time for a renewal, ms", statistics.median(a - b for a, b in zip(renewals, requests)), "≤ 1",
                    f"{whole:.2f} in all, of which a request by AsyncHTTPClient alone takes {request:.2f}")

    def service_memory(self, vault: str, key: str, logins: int) -> None:
        with token_endpoint() as port:
            runs = [[int(word) for word in output(self.service, "memory", vault, key, str(port)).split()]
                    for _ in range(self.rounds)]
        resident = statistics.median(run[0] for run in runs) / 1024
        peak = statistics.median(run[1] for run in runs) / 1024
        self.report(f"resident memory of a service, {logins} logins, MiB", resident, "≤ 32", f"at most {peak:.1f}")

    def command(self, vaultctl: str) -> None:
        """CPU time of `vaultctl token get`, and the size of the program as it is installed."""
        vault, key = self.make("concurrent", 5_000)
        times = []
        arguments = [vaultctl, "token", "get", "--vault", vault, "--key-file", key, "--user", "user-00000000", "--reveal"]
        for _ in range(max(20, self.rounds)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(arguments, check=True, stdout=subprocess.PIPE)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        self.report("vaultctl token get, ms of CPU", statistics.median(times) * 1000, "≤ 15", "")
        self.report("vaultctl, stripped, MB", os.path.getsize(vaultctl) / 1e6, "≤ 38", "Swift's runtime in it")
