"""The processes of a service, of ours or of a peer's, which answer for users: one line each way."""
import dataclasses
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass
class Answer:
    user: str
    asked_at: float
    #: None for a call that ended with its process.
    milliseconds: float | None = None
    outcome: str = "no answer"


class Process:
    """One of them. Answers are collected by a thread."""

    def __init__(self, command: list[str]):
        self.answers: dict[int, Answer] = {}
        self.numbers = itertools.count()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr, cwd=os.path.dirname(HERE), text=True)
        self.ready = threading.Event()
        self.reading = threading.Thread(target=self.collect, daemon=True)
        self.reading.start()

    def collect(self) -> None:
        for line in self.process.stdout:
            if line == "ready\n":
                self.ready.set()
                continue
            number, milliseconds, outcome = line.split()
            answer = self.answers[int(number)]
            answer.milliseconds, answer.outcome = float(milliseconds), outcome

    def ask(self, user: str) -> Answer:
        number = next(self.numbers)
        self.answers[number] = answer = Answer(user, time.monotonic())
        try:
            self.process.stdin.write(f"{number} {user}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            answer.outcome = "no process"
        return answer

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()
        self.reading.join()

    def finish(self, seconds: float = 180) -> None:
        """Lets it answer what it was asked, and end."""
        try:
            self.process.stdin.close()
            self.process.wait(seconds)
        except BrokenPipeError:
            self.process.wait()
        except subprocess.TimeoutExpired:
            self.kill()
        self.reading.join()


class Contestant:
    """A service under test: how its logins are made, and how one of its processes is started."""

    def __init__(self, name: str, kind: str, options: dict, threads: int = 64):
        self.name, self.kind, self.options, self.threads = name, kind, options, threads

    def command(self, last: str) -> list[str]:
        return [sys.executable, "-m", "beside.worker", self.kind, json.dumps(self.options), last]

    def fill(self, grants: list[tuple]) -> None:
        subprocess.run(self.command("fill"), input=json.dumps(grants), text=True, check=True, cwd=os.path.dirname(HERE))

    def start(self, index: int = 0) -> Process:
        return Process(self.command(str(self.threads)))


class Vault(Contestant):
    """Ours."""

    def __init__(self, name: str, worker: str, place: str, options: dict, has_scheduler: bool = False):
        super().__init__(name, "vault", options)
        self.worker, self.place, self.has_scheduler = worker, place, has_scheduler
        self.vault, self.key = os.path.join(place, "tokens.vault"), os.path.join(place, "vault.key")

    def profile(self, client: str) -> str:
        """What an operator writes down about the provider: that it rotates, its grace, and how long a request may take."""
        path = os.path.join(self.place, f"{client}.json")
        source = {"url": "https://example.com", "read": "2026-11-23", "says": "how dev-authserver is started"}
        grace = self.options["grace"].get(client, 0)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({
                "profile": 1, "name": client, "title": client, "source": [source],
                "refresh": {"rotation": "always", "graceSeconds": grace},
                "limits": {"timeoutSeconds": self.options["timeout"]}}, file)
        return path

    def fill(self, grants: list[tuple]) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        os.makedirs(self.place, mode=0o700)
        clients = sorted({client for _, client, *_ in grants})
        lines = "".join(f"{u} {c} {a} {r} {e * 1000:.0f}\n" for u, c, a, r, e in grants)
        subprocess.run(
            [self.worker, "fill", self.vault, self.key, self.options["issuer"],
             *(f"{client}={self.profile(client)}" for client in clients)], input=lines, text=True, check=True)

    def start(self, index: int = 0) -> Process:
        schedule = ["scheduler"] if self.has_scheduler else []
        return Process([self.worker, "serve", self.vault, self.key, str(self.options["lead"]), *schedule])


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
