"""The provider, and two machines that renew a vault's logins there."""

import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

from cluster import SCHEMA, Cluster
from network import start

LOGINS = 30
LIFETIME = 10
PROFILE = {"profile": 1, "name": "strict", "source": [{"url": "https://example.com", "read": "2026-01-01"}],
           "refresh": {"rotation": "always", "reuseBlast": "family"}}


class Authority:
    """dev-authserver: each refresh token is good once, and a second time ends the grant."""

    def __init__(self, program: Path):
        self.process = start(
            [str(program), "--exit-with-stdin", "--client", "strict", "--access-token-lifetime", str(LIFETIME), "--reuse",
             "revoke"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+)\n", self.process.stdout.readline()).group(1)

    def ask(self, path: str, body: dict | None = None):
        request = urllib.request.Request(
            f"{self.url}/dev/{path}", None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as reply:
            return json.loads(reply.read())

    def issued(self) -> dict[str, list[float]]:
        """When each login got its tokens, by user."""
        found: dict[str, list[float]] = {}
        for token in self.ask("refresh-tokens"):
            found.setdefault(token["user"], []).append(token["issued_at"] / 1000)
        return {user: sorted(times) for user, times in found.items()}

    def requests(self) -> int:
        return sum(grant["refresh_requests"] for grant in self.ask("grants"))

    def lost(self) -> set[str]:
        """Users whose grant has ended, or one of whose tokens came twice."""
        return {grant["user"] for grant in self.ask("grants") if grant["revoked"] or grant["reuse_detected"]}

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=10)


class Machine:
    """A home and a state directory of its own."""

    def __init__(self, name: str, folder: Path, program: Path, cluster: Cluster):
        self.name, self.program, self.home = name, str(program), folder / name
        self.home.mkdir(mode=0o700)
        password = folder / "pass"
        password.touch(mode=0o600)
        password.write_text(f"*:*:*:*:{cluster.password}\n")
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "TOKENVAULT_STATE_DIRECTORY": str(self.home / "state"),
            "PGPASSFILE": str(password), "TOKENVAULT_KEY_FILE": str(folder / "vault.key"),
            "TOKENVAULT_VAULT": f"postgresql://vault@127.0.0.1:{cluster.port}/postgres?schema={SCHEMA}"}
        self.service: subprocess.Popen | None = None

    def vaultctl(self, *words: str, patience: float = 90) -> str:
        done = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=patience, stdin=subprocess.DEVNULL,
                              env=self.environment)
        if done.returncode != 0:
            raise OSError(f"vaultctl {' '.join(words)}: {done.returncode}: {done.stdout[-300:]} {done.stderr[-500:]}")
        return done.stdout

    def json(self, *words: str) -> dict:
        return json.loads(self.vaultctl(*words, "--json"))

    def start(self) -> None:
        with (self.home / "log").open("a") as log:
            self.service = start([self.program, "maintain"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)

    def end(self) -> int:
        self.service.terminate()
        return self.service.wait(timeout=60)

    def kill_at_rest(self, cluster: Cluster) -> None:
        """While no renewal is under way: a reply that dies with its process may be lost with a strict provider."""
        leader = cluster.leader()
        if self.service.poll() is not None:
            raise OSError(f"{self.name}: the service had ended: {self.last_words()}")
        while True:
            self.service.send_signal(signal.SIGSTOP)
            if leader.sql(f'SELECT count(*) FROM {SCHEMA}."refreshIntent"') == "0":
                self.service.kill()
                return
            self.service.send_signal(signal.SIGCONT)
            time.sleep(0.03)

    def last_words(self) -> str:
        return (self.home / "log").read_text()[-1500:]


class Visitor:
    """A monitor: the vault's status again and again, and how long it could not be had."""

    def __init__(self, machine: Machine):
        self.machine, self.done, self.seen = machine, threading.Event(), [time.time()]
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        while not self.done.wait(1):
            try:
                self.machine.vaultctl("status", "--brief")
                self.seen.append(time.time())
            except (OSError, subprocess.TimeoutExpired):
                pass

    def longest_wait(self, since: float) -> float:
        times = [moment for moment in self.seen if moment >= since]
        before = max((moment for moment in self.seen if moment < since), default=since)
        return max((later - former for former, later in zip([before, *times], times)), default=0)

    def stop(self) -> None:
        self.done.set()
        self.thread.join()


def make_vault(machine: Machine, authority: Authority) -> None:
    """With the logins, and their first tokens."""
    profile = machine.home / "strict.json"
    profile.write_text(json.dumps(PROFILE))
    machine.vaultctl("init")
    machine.vaultctl("provider", "add", "strict", "--allow-insecure-loopback", "--issuer", authority.url, "--client-id", "strict",
                     "--profile-file", str(profile))
    for number in range(LOGINS):
        add_login(machine, authority, f"user-{number}")


def add_login(machine: Machine, authority: Authority, user: str) -> None:
    grant = authority.ask("grants", {"user": user, "client": "strict"})
    paths = []
    for kind in ("access", "refresh"):
        path = machine.home / kind
        path.touch(mode=0o600)
        path.write_text(grant[f"{kind}_token"])
        paths += [f"--{kind}-token-file", str(path)]
    machine.vaultctl("login", "add", "--user", user, "--provider", "strict", "--expires-in", f"{LIFETIME}s", *paths)
