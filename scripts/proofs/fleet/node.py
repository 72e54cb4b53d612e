"""A PostgreSQL server on a machine of its own, and what stands in it."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from network import Machine

# Of audit rows.
RENEWED, FAILOVER_SETTLED = 23, 96


@dataclass
class Standing:
    """How far a vault is on one server."""

    changes: int
    head: int
    incarnation: int
    # By the login's number.
    generations: dict[str, int]
    held: int
    # Logins with a renewal that has begun.
    open: list[str]


@dataclass
class Row:
    """One of the audit trail. Its link follows from everything before it."""

    sequence: int
    link: str
    kind: int
    # The transaction that wrote it, there.
    transaction: str

    def is_same(self, other: "Row") -> bool:
        return (self.sequence, self.link, self.kind) == (other.sequence, other.link, other.kind)


def find_programs() -> Path:
    own = shutil.which("pg_ctl")
    return Path(own).resolve().parent if own else sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))[-1].parent


def runs(pid: int) -> bool:
    """It may have ended, and its end not been asked for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Node:
    """A server on a machine of its own."""

    def __init__(self, machine: Machine, folder: Path, programs: Path):
        self.machine = machine
        self.folder = folder / machine.name
        self.programs = programs
        self.data = self.folder / "data"
        self.folder.mkdir(mode=0o711)
        self.process: subprocess.Popen | None = None

    def become(self, *words: str) -> list[str]:
        """The server refuses to run as root. It ends with this program."""
        return ["setpriv", "--pdeathsig", "KILL", "--reuid=postgres", "--regid=postgres", "--clear-groups", "env", "-u", "HOME",
                f"PGPASSFILE={self.folder}/pass", "PGOPTIONS=-c synchronous_commit=local", *words]

    def tool(self, name: str, *words: str) -> None:
        log = self.folder / "tools.log"
        with log.open("a") as output:
            code = subprocess.run(
                self.machine.command(*self.become(str(self.programs / name), *words)),
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/").returncode
        if code != 0:
            raise OSError(f"{self.machine.name}: {name} failed: {log.read_text()[-2000:]}")

    def start(self, *settings: str) -> None:
        more = [word for setting in settings for word in ("-c", setting)]
        with (self.folder / "log").open("a") as log:
            self.process = self.machine.start(
                *self.become(str(self.programs / "postgres"), "-D", str(self.data), *more), stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, cwd="/")
        for _ in range(1200):
            status = self.data / "postmaster.pid"
            lines = status.read_text().split("\n") if status.exists() else []
            if len(lines) > 7 and lines[0] == str(self.process.pid) and lines[7].strip() in ("ready", "standby"):
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise OSError(f"{self.machine.name}: the server did not start: {(self.folder / 'log').read_text()[-2000:]}")

    def kill(self) -> None:
        """As a machine dies: no part of the server does anything more."""
        if self.process is None or self.process.poll() is not None:
            return
        # Stopped first, so that no child is born or says goodbye while the others are ended.
        self.process.send_signal(signal.SIGSTOP)
        children = [int(pid) for pid in Path(
            f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.process = None
        while any(runs(pid) for pid in children):
            time.sleep(0.01)

    def sql(self, command: str) -> str:
        return self.machine.run(
            *self.become(str(self.programs / "psql"), "-X", "-A", "-t", "-U", "postgres", "-h", str(self.folder),
                         "-d", "postgres", "-c", command), cwd="/").strip()

    def standing(self, vault: str) -> Standing:
        """Of the vault in the schema of that name."""
        return Standing(**json.loads(self.sql(f"""
            SELECT json_build_object(
                'changes', "changeCount", 'head', (SELECT COALESCE(max("sequence"), 0) FROM {vault}."audit"),
                'incarnation', "incarnation",
                'generations', (SELECT json_object_agg("id", "generation") FROM {vault}."login"),
                'held', (SELECT count(*) FROM {vault}."login" WHERE "incarnation" < v."incarnation"),
                'open', (SELECT COALESCE(json_agg("login"::text), '[]') FROM {vault}."refreshIntent"))
            FROM {vault}."engineState", {vault}."vault" v""")))

    def changes(self, vault: str) -> int:
        return int(self.sql(f'SELECT "changeCount" FROM {vault}."engineState"'))

    def rows(self, vault: str, after: int) -> list[Row]:
        lines = self.sql(f"""
            SELECT "sequence", encode("mac", 'hex'), "kind", xmin FROM {vault}."audit" WHERE "sequence" > {after}
            ORDER BY "sequence\"""").split("\n")
        fields = [line.split("|") for line in lines if line]
        return [Row(int(number), link, int(kind), transaction) for number, link, kind, transaction in fields]
