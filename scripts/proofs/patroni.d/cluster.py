"""Two PostgreSQL servers under Patroni, with etcd, and HAProxy before them: all on loopback."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from network import start
from node import find_programs, runs
from way import Way

# How long Patroni lets a leader be silent: the least that it takes. Its default is 30.
TTL = 20
SCHEMA = "tokenvault"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what: str, holds: Callable[[], object], patience: float = 120):
    """What the question is answered with, once that is something."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
            if found := holds():
                return found
        time.sleep(0.2)
    raise OSError(f"after {patience:.0f} s not: {what}")


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def send(pids: list[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Program:
    """One of the cluster's, as the user of PostgreSQL, which does not run as root."""

    def __init__(self, folder: Path, name: str, *words: str):
        self.words = ["setpriv", "--pdeathsig", "KILL", "--reuid=postgres", "--regid=postgres", "--clear-groups", "env",
                      f"HOME={folder}", "LC_ALL=C.UTF-8", "PYTHONUNBUFFERED=1", *words]
        self.log = folder / f"{name}.log"
        self.folder = folder
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        with self.log.open("a") as log:
            self.process = start(self.words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Member:
    """One of the two: Patroni, and the server that it keeps."""

    def __init__(self, cluster: "Cluster", name: str):
        self.cluster, self.name = cluster, name
        self.folder = cluster.folder / name
        self.data = self.folder / "data"
        self.port, self.rest = free_port(), free_port()
        # By which the other one copies it.
        self.way = Way(self.port)
        self.folder.mkdir(mode=0o700)
        settings = self.folder / "patroni.json"
        settings.write_text(json.dumps(self.settings()))
        self.patroni = Program(self.folder, "patroni", "patroni", str(settings))
        self.own(settings)
        self.own(self.folder)

    @staticmethod
    def own(path: Path) -> None:
        shutil.chown(path, "postgres", "postgres")

    def settings(self) -> dict:
        """JSON is YAML, too."""
        password = self.cluster.password
        return {
            "scope": "vault", "name": self.name, "etcd3": {"host": f"127.0.0.1:{self.cluster.etcd_port}"},
            "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.rest}"},
            "bootstrap": {
                "dcs": {
                    "ttl": TTL, "loop_wait": 2, "retry_timeout": 3, "maximum_lag_on_failover": 1 << 30,
                    "postgresql": {"use_pg_rewind": True, "parameters": {
                        "max_connections": 200, "wal_keep_size": "256MB", "max_wal_senders": 8}}},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "no-sync"]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.way.port}",
                "data_dir": str(self.data), "bin_dir": str(self.cluster.programs), "pgpass": str(self.folder / "pass"),
                "remove_data_directory_on_rewind_failure": True, "remove_data_directory_on_diverged_timelines": True,
                "authentication": {
                    "superuser": {"username": "postgres", "password": password},
                    "replication": {"username": "copier", "password": password}},
                # In the data's folder, so that a server that is killed leaves nothing outside it.
                "parameters": {"unix_socket_directories": str(self.folder), "dynamic_shared_memory_type": "mmap",
                               "shared_buffers": "32MB"},
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 scram-sha-256",
                           "host replication copier 127.0.0.1/32 scram-sha-256"]}}

    def ask(self, path: str, body: dict | None = None) -> dict:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.rest}/{path}", None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"}, method="GET" if body is None else "PATCH")
        with urllib.request.urlopen(request, timeout=3) as reply:
            return json.loads(reply.read())

    def answers(self, path: str) -> bool:
        """Whether it is what the path says: `primary`, `replica`, `sync`."""
        with contextlib.suppress(OSError):
            self.ask(path)
            return True
        return False

    def sql(self, command: str) -> str:
        done = subprocess.run(
            [str(self.cluster.programs / "psql"), "-X", "-A", "-t", "-U", "postgres", "-h", str(self.folder), "-p",
             str(self.port), "-d", "postgres", "-c", command], capture_output=True, text=True, timeout=20, cwd="/")
        if done.returncode != 0:
            raise OSError(f"{self.name}: {done.stderr.strip()}")
        return done.stdout.strip()

    def changes(self) -> int:
        return int(self.sql(f'SELECT "changeCount" FROM {SCHEMA}."engineState"'))

    # As its machine does.

    def pids(self) -> list[int]:
        """Patroni first, so that it takes no notice of what becomes of the server."""
        found = [self.patroni.process.pid] if self.patroni.process else []
        with contextlib.suppress(OSError, ValueError):
            postmaster = int((self.data / "postmaster.pid").read_text().split("\n")[0])
            # Stopped first, so that no child is born or says goodbye while the others are ended.
            found += [postmaster, *children(postmaster)]
        return found

    def stop(self) -> None:
        for pid in self.pids()[:2]:
            send([pid], signal.SIGSTOP)
        send(self.pids(), signal.SIGSTOP)

    def go_on(self) -> None:
        send(self.pids()[::-1], signal.SIGCONT)

    def kill(self) -> None:
        self.stop()
        pids = self.pids()
        send(pids, signal.SIGKILL)
        self.patroni.kill()
        until(f"{self.name} is gone", lambda: not any(runs(pid) for pid in pids), 20)
        # What it had sent, and nobody has taken.
        self.way.drop()

    def replace(self) -> None:
        """Another machine in its place, with nothing on it."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.patroni.start()


class Cluster:
    def __init__(self, folder: Path):
        self.folder, self.programs = folder, find_programs()
        self.password = os.urandom(12).hex()
        self.port, self.etcd_port = free_port(), free_port()
        own = folder / "shared"
        own.mkdir(mode=0o700)
        Member.own(own)
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{free_port()}"
        self.etcd = Program(
            own, "etcd", "etcd", "--data-dir", str(own / "etcd"), "--listen-client-urls", client,
            "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"default={peer}", "--unsafe-no-fsync")
        self.members = [Member(self, name) for name in ("one", "two")]
        settings = own / "haproxy.cfg"
        settings.write_text(self.proxy_settings())
        self.proxy = Program(own, "haproxy", "haproxy", "-db", "-f", str(settings))

    def proxy_settings(self) -> str:
        servers = "\n".join(
            f"    server {member.name} 127.0.0.1:{member.port} check port {member.rest}" for member in self.members)
        # As Patroni's own example has it.
        return f"""
global
    maxconn 500
defaults
    mode tcp
    timeout connect 2s
    timeout client 30m
    timeout server 30m
    timeout check 2s
listen primary
    bind 127.0.0.1:{self.port}
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
{servers}
"""

    def start(self) -> None:
        self.etcd.start()
        self.members[0].patroni.start()
        until("a leader", lambda: self.members[0].answers("primary"))
        self.members[1].patroni.start()
        self.proxy.start()
        leader = self.leader()
        until("changes are taken", lambda: leader.sql("SELECT pg_is_in_recovery()") == "f")
        leader.sql(f"CREATE ROLE vault LOGIN PASSWORD '{self.password}'")
        leader.sql("GRANT CREATE ON DATABASE postgres TO vault")
        self.wait_for_standby()

    def leader(self) -> Member:
        return until("a leader", lambda: next((member for member in self.members if member.answers("primary")), None))

    def other(self, member: Member) -> Member:
        return self.members[1 - self.members.index(member)]

    def wait_for_standby(self) -> None:
        state = "sync" if self.is_synchronous() else "async"
        until("the standby follows", lambda: self.leader().sql(
            f"SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = '{state}'") == "1")
        until("Patroni knows it", lambda: len(self.leader().ask("cluster")["members"]) == 2 and all(
            member["state"] in ("running", "streaming") for member in self.leader().ask("cluster")["members"]))

    def is_synchronous(self) -> bool:
        return bool(self.leader().ask("config").get("synchronous_mode"))

    def demand_standby(self, is_demanded: bool) -> None:
        self.leader().ask("config", {"synchronous_mode": is_demanded})
        self.wait_for_standby()
        if is_demanded:
            until("the standby is synchronous", lambda: self.other(self.leader()).answers("synchronous"))

    def switch_over(self) -> None:
        leader = self.leader()
        done = subprocess.run(
            [*self.proxy.words[:-4], "patronictl", "-c", str(leader.folder / "patroni.json"), "switchover", "--master",
             leader.name, "--candidate", self.other(leader).name, "--force", "vault"],
            capture_output=True, text=True, timeout=120, cwd="/")
        if done.returncode != 0 or "Successfully switched over" not in done.stdout + done.stderr:
            raise OSError(f"patronictl switchover: {done.stdout} {done.stderr}")

    def stop(self) -> None:
        for program in (self.proxy, *(member.patroni for member in self.members)):
            if program.process is not None:
                send([program.process.pid], signal.SIGCONT)
        for member in self.members:
            member.kill()
            member.way.close()
        self.proxy.kill()
        self.etcd.kill()
