"""The processes of a service on three machines, and the server that gives them tokens."""

import json
import os
import re
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from database import Cluster
from network import Machine, lead_loopback, receive_on_loopback

PROFILES = {
    "strict": {"rotation": "always", "reuseBlast": "family"},
    "grace": {"rotation": "always", "graceSeconds": 600, "reuseBlast": "family"},
}


class Authority:
    """dev-authserver on a machine of its own, which every other reaches by its own loopback address."""

    def __init__(self, machine: Machine, program: str, others: list[Machine]):
        self.machine = machine
        self.process = machine.start(
            program, "--exit-with-stdin", "--client", "strict", "--client", "grace", "--access-token-lifetime", "3600",
            "--behaviour", "strict:rotation=always,grace=0,reuse=revoke",
            "--behaviour", "grace:rotation=always,grace=600", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.port = int(re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", line).group(1))
        self.url = f"http://127.0.0.1:{self.port}"
        receive_on_loopback(machine, self.port)
        for other in others:
            lead_loopback(other, self.port, machine)

    def ask(self, path: str, body: dict | None = None):
        more = [] if body is None else ["-d", json.dumps(body)]
        return json.loads(self.machine.run("curl", "-sS", "-m", "20", "--fail", f"{self.url}/dev/{path}", *more))

    def issue(self, user: str, client: str) -> tuple[str, str, str]:
        """The grant's name, and its tokens."""
        grant = self.ask("grants", {"user": user, "client": client})
        return grant["grant"], grant["access_token"], grant["refresh_token"]

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=10)
        self.process.stdout.close()


@dataclass
class Fleet:
    """What the parts share."""

    workers: list[Machine]
    databases: list[Machine]
    cluster: Cluster
    authority: Authority
    folder: Path
    # Of the programs.
    binaries: Path
    # By which the clocks of processes are set, if there is a compiler.
    clock: Path | None


@dataclass
class Login:
    """As a machine sees it."""

    client: str
    generation: int
    # `alive`, or of what it ended.
    end: str


class Ledger:
    """What processes were told is stored, by user."""

    def __init__(self):
        self.lock = threading.Lock()
        self.stored: dict[str, int] = {}
        self.renewals = 0
        self.failures: dict[str, int] = {}

    def note(self, line: str) -> None:
        words = line.split()
        with self.lock:
            if words[0] == "stored":
                self.renewals += 1
                self.stored[words[1]] = max(self.stored.get(words[1], 0), int(words[2]))
            elif words[0] == "failed":
                self.failures[words[1]] = self.failures.get(words[1], 0) + 1

    def forget(self) -> None:
        """What was stored may be gone: its loss has been told."""
        with self.lock:
            self.stored.clear()


class Place:
    """A place for one process after the other on a machine: a crash-probe, which forks them."""

    def __init__(self, machine: Machine, program: str, job: str, ledger: Ledger, environment: dict[str, str], log):
        self.machine, self.job, self.ledger = machine, job, ledger
        self.probe = machine.start(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            env=os.environ | environment)
        self.pid: int | None = None
        self.changed = threading.Condition()
        self.is_open = False
        self.end: str | None = None
        self.trouble: list[str] = []
        self.held = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self.probe.stdout:
            line = line.strip()
            with self.changed:
                if line.startswith("+pid "):
                    self.pid, self.end, self.is_open = int(line[5:]), None, False
                elif line == "open":
                    self.is_open = True
                elif line.startswith(("+exit", "+signal", "+lost")):
                    self.end, self.pid = line, None
                elif line.startswith("error"):
                    self.trouble.append(line)
                elif not line.startswith("+"):
                    self.held += line == "failed held"
                    self.ledger.note(line)
                self.changed.notify_all()

    def start(self) -> None:
        """Begins a process. It may fail to open the vault while the server is away, and is begun again then."""
        with self.changed:
            self.end, self.is_open, self.pid = None, False, None
        self.probe.stdin.write(self.job + "\n")
        self.probe.stdin.flush()

    def wait(self, patience: float) -> bool:
        """Until the process has the vault open; false if it ended before that or took too long."""
        with self.changed:
            self.changed.wait_for(lambda: self.is_open or self.end, patience)
            return self.is_open and self.end is None

    def wait_for_end(self, patience: float) -> str | None:
        with self.changed:
            self.changed.wait_for(lambda: self.end, patience)
            return self.end

    def send(self, number: int) -> bool:
        with self.changed:
            pid = self.pid if self.is_open else None
        if pid is None:
            return False
        os.kill(pid, number)
        return True

    def close(self) -> None:
        with self.changed:
            pid = self.pid
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        self.probe.stdin.close()
        self.probe.wait(timeout=20)


def operate(machine: Machine, program: str, environment: dict[str, str], *words: str) -> dict:
    """What an operator does with vaultctl."""
    done = subprocess.run(
        machine.command(program, *words, "--json"), capture_output=True, text=True, timeout=60,
        env=os.environ | environment)
    if done.returncode != 0:
        raise OSError(f"vaultctl {' '.join(words)}: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def run_job(machine: Machine, program: str, job: str, environment: dict[str, str], patience: float) -> list[str]:
    """One process from its beginning to its end."""
    done = subprocess.run(
        machine.command(program), input=job + "\n", capture_output=True, text=True, timeout=patience,
        env=os.environ | environment)
    lines = done.stdout.split("\n")
    if "+exit 0" not in lines:
        raise OSError(f"{machine.name}: {job.split()[0]}: {[line for line in lines if line][-3:]} {done.stderr[-500:]}")
    return [line for line in lines if line and not line.startswith("+")]


def write_profiles(folder: Path) -> None:
    for name, refresh in PROFILES.items():
        profile = {
            "profile": 1, "name": name, "source": [{"url": "https://example.com", "read": "2026-01-01"}],
            "refresh": refresh}
        (folder / f"{name}.json").write_text(json.dumps(profile))

