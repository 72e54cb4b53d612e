"""Row 9: `vaultctl serve` beside an ordinary handler of Hummingbird that reads the same request and returns the same bytes.

The load client is h2load, of nghttp2: HTTP/1.1 over a UNIX socket, on connections that are kept open. One process of it sends one
body, so many users are asked about by many processes.
"""
import os
import re
import socket
import statistics
import subprocess
import sys

from . import fleet as fleets
from . import order
from .processes import percentile
from .servers import Server
from .stores import token_socket

CONNECTIONS = 16
OURS, CONSTANT = "vaultctl serve", "constant handler"
POLICY = """[[client]]
name = "bench"
uid = {uid}
verbs = ["token"]
users = ["*"]
providers = ["acme"]
"""


class Listening(Server):
    """A program that answers at a UNIX socket."""

    def __init__(self, name: str, path: str, *command: str):
        self.name, self.path = name, path
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.wait_until(self.answers, name)

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(self.path)
            except OSError:
                return False
            return True

    def cpu(self) -> float:
        """Seconds of the processors that it has used so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    """Asks about the first users of the vault, and checks that each answer is as long as it must be."""

    def __init__(self, place: str, length: int):
        self.place, self.length = place, length
        self.questions = [os.path.join(place, f"question-{number}") for number in range(CONNECTIONS)]
        for number, path in enumerate(self.questions):
            with open(path, "w", encoding="utf-8") as file:
                file.write(token_socket.question(order.user(number)))

    def run(self, server: Listening, users: int, connections: int, count: int) -> dict:
        """`count` requests about each user, each user's on so many connections."""
        logs = [os.path.join(self.place, f"log-{number}") for number in range(users)]
        before = server.cpu()
        processes = [
            subprocess.Popen(
                ["h2load", "--h1", f"--base-uri=unix:{server.path}", "--data", question,
                 "--header", "Content-Type: application/json", "--clients", str(connections), "--requests", str(count),
                 "--log-file", log, "http://tokenvault/v1/token"],
                stdout=subprocess.PIPE, text=True)
            for question, log in zip(self.questions, logs)]
        for process in processes:
            self.check(server, process.communicate()[0], count)
        cpu = server.cpu() - before
        answers = [line for log in logs for line in self.lines(log)]
        # From the first request to the last answer: the start of the processes does not count.
        span = max(start + took for start, took in answers) - min(start for start, _ in answers)
        times = [took for _, took in answers]
        return {
            "mean_us": round(statistics.mean(times), 1), "p50_us": statistics.median(times), "p99_us": percentile(times, 0.99),
            "rate": round(len(answers) / span * 1e6, 1), "cpu_us": round(cpu / len(answers) * 1e6, 1)}

    def check(self, server: Listening, said: str, count: int) -> None:
        good = re.search(r"^status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx$", said, re.MULTILINE)
        data = re.search(r"^traffic: .*\((\d+)\) data$", said, re.MULTILINE)
        if not good or not data or int(good[1]) != count or int(data[1]) != count * self.length:
            raise SystemExit(f"peers: {server.name} did not answer each of {count} requests with {self.length} bytes:\n{said}")

    def lines(self, log: str) -> list[tuple[int, int]]:
        """When each request was sent, and how long its answer took, in microseconds."""
        with open(log, encoding="ascii") as file:
            columns = [line.split() for line in file]
        os.remove(log)
        return [(int(start), int(took)) for start, _, took in columns]


def run(report, fleet, place: str, rounds: int) -> None:
    fleet.fill("TokenVault")
    policy, path = os.path.join(place, "serve.toml"), os.path.join(place, "serve.sock")
    with open(os.open(policy, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        file.write(POLICY.format(uid=os.getuid()))
    vault = ("--vault", fleet.vault, "--key-file", fleet.key)
    with Listening(OURS, path, fleet.programs.vaultctl, "serve", *vault, "--policy", policy, "--socket", path) as ours:
        client(ours, "fill", fleet.logins)
        length = save_answer(ours, os.path.join(place, "answer"))
        path = os.path.join(place, "constant.sock")
        with Listening(CONSTANT, path, fleet.programs.constant, path, os.path.join(place, "answer")) as constant:
            loads(report, Load(place, length), (ours, constant), rounds)
            from_python(report, fleet, (ours, constant), rounds)
    redis(report, fleet, rounds)


def save_answer(ours: Listening, path: str) -> int:
    """What the constant handler returns is an answer of ours; its length."""
    store = token_socket.make("socket", ours.path)
    if store.read(order.user(1)) != order.access(1):
        raise SystemExit("peers: vaultctl serve did not answer with the user's token")
    answer = store.answer(token_socket.question(order.user(0)))
    store.close()
    with open(path, "wb") as file:
        file.write(answer)
    return len(answer)


def loads(report, load: Load, pair: tuple[Listening, Listening], rounds: int) -> None:
    """The two take turns, and take turns in who is first."""
    works = {
        "one connection": (1, 1, 5_000), f"{CONNECTIONS} connections": (1, CONNECTIONS, 20_000),
        f"{CONNECTIONS} connections, {CONNECTIONS} users": (CONNECTIONS, 1, 20_000 // CONNECTIONS)}
    for number in range(rounds + 1):
        for work, (users, connections, count) in works.items():
            for server in pair if number % 2 else reversed(pair):
                found = load.run(server, users, connections, count)
                if number > 0:
                    report.sample("serve", server.name, {"work": work, "round": number} | found)
    one, many, users = works
    compare(report, one, "p50_us", "median over the constant handler's", "≤ 1.5", "µs")
    compare(report, one, "p99_us", "99th percentile over the constant handler's", None, "µs")
    compare(report, one, "cpu_us", "processor time over the constant handler's", None, "µs")
    compare(report, many, "rate", "throughput, constant handler = 1", "≥ 0.6", "a second")
    compare(report, users, "rate", "throughput, constant handler = 1", None, "a second")


def compare(report, work: str, part: str, title: str, goal: str | None, unit: str, other: str = CONSTANT) -> None:
    """The median of the rounds' ratios."""
    ours, theirs = (
        [sample[part] for sample in report.samples_of("serve") if sample["name"] == name and sample["work"] == work]
        for name in (OURS, other))
    words = f"{statistics.median(ours):.0f} against {statistics.median(theirs):.0f} {unit}"
    report.figure("serve", f"{work}: {title}", statistics.median(own / other for own, other in zip(ours, theirs)), goal, words)


def client(server: Listening, verb: str, *numbers: int) -> str:
    """A program in Python, which asks as docs/serve.md does."""
    return fleets.output(sys.executable, "-m", "beside.client", "socket", server.path, verb, *map(str, numbers))


def from_python(report, fleet, pair: tuple[Listening, Listening], rounds: int) -> None:
    """One program in Python that wants tokens of users at random, from us and from what else is at the end of a UNIX socket."""
    peers = {"postgres-unix": "PostgreSQL + AES-GCM", "redis-unix": "Redis"}
    for name in peers:
        fleet.fill(name)
    work = "a program in Python"
    for number in range(rounds + 1):
        times = {server.name: float(client(server, "read", fleet.logins, 2_000, number + 1).split()[0]) for server in pair}
        times |= {title: fleet.time(name, "read", 2_000, number + 1) for name, title in peers.items()}
        for name, nanoseconds in times.items():
            if number > 0:
                report.sample("serve", name, {"work": work, "round": number, "mean_us": round(nanoseconds / 1000, 1)})
    for name in (CONSTANT, *peers.values()):
        compare(report, work, "mean_us", f"time of a token over that of {name}", None, "µs", name)


def redis(report, fleet, rounds: int) -> None:
    """Redis by its own C program over a UNIX socket, in clear."""
    command = ["redis-benchmark", "-s", fleet.servers.redis.socket, "-d", "1000", "-r", "1000", "--csv"]
    fleets.output(*command, "-n", "100000", "-P", "50", "-t", "set")
    for work, connections in (("one connection", 1), (f"{CONNECTIONS} connections", CONNECTIONS)):
        for number in range(1, rounds + 1):
            last = fleets.output(*command, "-c", str(connections), "-n", "20000", "-t", "get").splitlines()[-1]
            rate, mean, _, middle, _, late, _ = (float(word.strip('"')) for word in last.split(",")[1:])
            report.sample("serve", "Redis GET", {
                "work": work, "round": number, "mean_us": round(mean * 1000), "p50_us": round(middle * 1000),
                "p99_us": round(late * 1000), "rate": rate})
