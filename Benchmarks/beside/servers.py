"""Servers that the harness starts for itself, on loopback, and ends by their own process id."""
import glob
import itertools
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

import psycopg


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tool(name: str) -> str:
    """A program of PostgreSQL: Debian keeps the server's out of the PATH."""
    found = shutil.which(name) or next(iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))), None)
    if found is None:
        raise SystemExit(f"peers: {name} is missing; run: scripts/bootstrap peers")
    return found


class Server:
    """A process that ends with the harness, and has a directory of its own."""

    process: subprocess.Popen

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def wait_until(self, is_ready, name: str) -> None:
        for _ in range(600):
            if self.process.poll() is not None:
                break
            if is_ready():
                return
            time.sleep(0.05)
        raise SystemExit(f"peers: {name} did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Postgres(Server):
    """As Debian configures it, apart from room for more connections; the data are on the same disk as everything else."""

    SETTINGS = {"max_connections": 200, "shared_buffers": "128MB", "fsync": "on", "synchronous_commit": "on"}

    def __init__(self, place: str):
        self.place, self.port = os.path.join(place, "postgres"), free_port()
        os.mkdir(self.place, 0o700)
        # PostgreSQL refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:
            shutil.chown(self.place, "postgres")
        data = os.path.join(self.place, "data")
        self.run(tool("initdb"), "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C")
        settings = [word for pair in self.SETTINGS.items() for word in ("-c", "%s=%s" % pair)]
        self.log = os.path.join(self.place, "log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [tool("postgres"), "-D", data, "-p", str(self.port), "-k", self.place, "-h", "127.0.0.1", *settings],
                stdout=subprocess.DEVNULL, stderr=log, **self.identity())
        self.wait_until(self.answers, "PostgreSQL")

    def log_statements(self, on: bool) -> None:
        """From now on, or no longer, the log has a line for each statement, with the name of the program that sends it."""
        with psycopg.connect(self.unix, autocommit=True) as db:
            db.execute("ALTER SYSTEM SET log_statement = '%s'" % ("all" if on else "none"))
            db.execute("ALTER SYSTEM SET log_line_prefix = '%a '")
            db.execute("SELECT pg_reload_conf()")
        # Sessions take the settings over with their next statement.
        time.sleep(2)

    def statements(self, program: str) -> int:
        start = f"{program} LOG:  execute "
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return sum(line.startswith(start) for line in log)

    def identity(self) -> dict:
        return {"user": self.user, "group": self.user, "extra_groups": [], "cwd": "/"} if os.geteuid() == 0 else {}

    def run(self, *command: str) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **self.identity())

    def answers(self) -> bool:
        status = subprocess.run(
            [tool("pg_isready"), "-h", "127.0.0.1", "-p", str(self.port)], stdout=subprocess.DEVNULL, check=False)
        return status.returncode == 0

    @property
    def loopback(self) -> str:
        return f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"

    @property
    def unix(self) -> str:
        return f"host={self.place} port={self.port} user=postgres dbname=postgres"


class Redis(Server):
    def __init__(self, place: str, fsync: str = "always"):
        self.place, self.port = os.path.join(place, "redis"), free_port()
        self.socket = os.path.join(self.place, "socket")
        os.mkdir(self.place, 0o700)
        self.process = subprocess.Popen(
            ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.place,
             "--unixsocket", self.socket, "--appendonly", "yes", "--appendfsync", fsync, "--save", ""],
            stdout=subprocess.DEVNULL)
        self.wait_until(self.answers, "Redis")

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    @property
    def url(self) -> str:
        return self.database(0)

    @property
    def unix(self) -> str:
        return f"unix://{self.socket}"

    def database(self, number: int) -> str:
        return f"redis://127.0.0.1:{self.port}/{number}"


class AuthorizationServer(Server):
    """Our own development server, which counts every refresh token: docs/dev-authserver.md."""

    numbers = itertools.count()

    def __init__(self, binary: str, place: str, *options: str):
        ready = os.path.join(place, f"authserver-{next(self.numbers)}.ready")
        self.process = subprocess.Popen(
            [binary, "--ready-file", ready, *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.wait_until(lambda: os.path.exists(ready) and os.path.getsize(ready) > 0, "dev-authserver")
        with open(ready, encoding="utf-8") as file:
            text = file.read().strip()
        self.issuer = text[text.index("http"):].split()[0]

    def ask(self, method: str, path: str, document=None):
        data = None if document is None else json.dumps(document).encode()
        request = urllib.request.Request(
            self.issuer + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.loads(reply.read() or b"null")

    def grant(self, user: str, client: str = "demo") -> dict:
        return self.ask("POST", "/dev/grants", {"user": user, "client": client, "scope": "read offline_access"})

    def behave(self, **behaviour) -> None:
        self.ask("POST", "/dev/behaviour", behaviour)

    def fault(self, **fault) -> None:
        self.ask("POST", "/dev/faults", fault)
