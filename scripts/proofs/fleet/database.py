"""A PostgreSQL primary and its standby on two machines, with TLS, and the failover from one to the other."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from network import PREFIX, Machine

SETTINGS = """
listen_addresses = '*'
unix_socket_directories = '{socket}'
ssl = on
ssl_cert_file = '{folder}/server.crt'
ssl_key_file = '{folder}/server.key'
max_connections = 200
shared_buffers = 64MB
# In the data's folder, so that a server that is killed leaves nothing outside it.
dynamic_shared_memory_type = mmap
max_wal_senders = 8
wal_keep_size = 512MB
synchronous_standby_names = 'standby'
"""


def find_programs() -> Path:
    own = shutil.which("pg_ctl")
    return Path(own).resolve().parent if own else sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))[-1].parent


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

    def start(self) -> None:
        with (self.folder / "log").open("a") as log:
            self.process = self.machine.start(
                *self.become(str(self.programs / "postgres"), "-D", str(self.data)), stdin=subprocess.DEVNULL,
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
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in map(int, children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.process = None

    def sql(self, command: str) -> str:
        return self.machine.run(
            *self.become(str(self.programs / "psql"), "-X", "-A", "-t", "-U", "postgres", "-h", str(self.folder),
                         "-d", "postgres", "-c", command), cwd="/").strip()


class Cluster:
    """The primary has a synchronous standby: what it acknowledges is on both."""

    def __init__(self, machines: list[Machine], folder: Path):
        self.folder = folder
        self.password = os.urandom(12).hex()
        programs = find_programs()
        self.primary, self.standby = (Node(machine, folder, programs) for machine in machines)
        self._certify()
        for node in (self.primary, self.standby):
            pass_file = node.folder / "pass"
            pass_file.write_text(f"*:*:*:*:{self.password}\n")
            self._give(pass_file, 0o600)
            shutil.chown(node.folder, "postgres", "postgres")
        self._make_primary()
        self.join(self.standby)
        self.wait_for_standby()

    @property
    def address(self) -> str:
        """For clients: both hosts, as an operator would write it."""
        hosts = ",".join(sorted(node.machine.address for node in (self.primary, self.standby)))
        return f"postgresql://vault@{hosts}/postgres?sslrootcert={self.folder}/authority.crt"

    def _give(self, path: Path, mode: int) -> None:
        path.chmod(mode)
        shutil.chown(path, "postgres", "postgres")

    def _certify(self) -> None:
        def openssl(*words: str) -> None:
            subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=self.folder)

        elliptic = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        openssl("req", "-x509", *elliptic, "-days", "2", "-subj", "/CN=authority", "-keyout", "authority.key",
                "-out", "authority.crt")
        for node in (self.primary, self.standby):
            name = node.machine.name
            (self.folder / f"{name}.ext").write_text(f"subjectAltName=IP:{node.machine.address}\n")
            openssl("req", "-new", *elliptic, "-subj", f"/CN={name}", "-keyout", f"{name}/server.key", "-out", f"{name}.csr")
            openssl("x509", "-req", "-in", f"{name}.csr", "-days", "2", "-CA", "authority.crt", "-CAkey", "authority.key",
                    "-CAcreateserial", "-extfile", f"{name}.ext", "-out", f"{name}/server.crt")
            self._give(node.folder / "server.key", 0o600)
            self._give(node.folder / "server.crt", 0o644)

    def _make_primary(self) -> None:
        node = self.primary
        node.tool("initdb", "-D", str(node.data), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
        (node.data / "pg_hba.conf").write_text(
            f"local all all trust\nhostssl all,replication vault,copier {PREFIX}.0/24 scram-sha-256\n")
        self._configure(node)
        node.start()
        node.sql(f"CREATE ROLE vault LOGIN PASSWORD '{self.password}'")
        node.sql("GRANT CREATE ON DATABASE postgres TO vault")
        node.sql(f"CREATE ROLE copier LOGIN REPLICATION PASSWORD '{self.password}'")

    def _configure(self, node: Node) -> None:
        path = node.data / "machine.conf"
        path.write_text(SETTINGS.format(socket=node.folder, folder=node.folder))
        self._give(path, 0o600)
        main = node.data / "postgresql.conf"
        if "machine.conf" not in main.read_text():
            with main.open("a") as file:
                file.write("include 'machine.conf'\n")

    def join(self, node: Node) -> None:
        """Makes a standby of a machine, from the primary's data."""
        shutil.rmtree(node.data, ignore_errors=True)
        source = (f"host={self.primary.machine.address} user=copier application_name=standby sslmode=verify-full "
                  f"sslrootcert={self.folder}/authority.crt passfile={node.folder}/pass")
        node.tool("pg_basebackup", "-D", str(node.data), "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", source)
        self._configure(node)
        node.start()

    def wait_for_standby(self) -> None:
        for _ in range(600):
            if self.primary.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1":
                return
            time.sleep(0.05)
        raise OSError("the standby does not follow")

    def fail_over(self) -> None:
        """The primary's machine dies, the standby takes its place, and a new standby that of the dead."""
        self.primary.kill()
        self.standby.tool("pg_ctl", "-D", str(self.standby.data), "-w", "promote")
        self.primary, self.standby = self.standby, self.primary
        self.join(self.standby)
        self.wait_for_standby()

    def is_settled(self) -> bool:
        """Whether the vault is changed in the server's present timeline."""
        return self.primary.sql(
            """SELECT "timeline" = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8
            FROM tokenvault."engineState\"""") == "t"

    @property
    def holds(self) -> int:
        """How often all logins were held."""
        return int(self.primary.sql('SELECT "incarnation" - 1 FROM tokenvault."vault"'))

    def stop(self) -> None:
        for node in (self.standby, self.primary):
            node.kill()
