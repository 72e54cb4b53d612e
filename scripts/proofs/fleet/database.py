"""A PostgreSQL primary and its standby on two machines, with TLS, and the failover from one to the other."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from network import PREFIX, Machine, cut, heal
from node import Node, Row, Standing, find_programs

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
synchronous_standby_names = '{demanded}'
"""


@dataclass
class Loss:
    """What the lost primary had committed, and what of it the one in its place had received."""

    had: Standing
    kept: Standing
    # Of the lost one, behind what was received.
    rows: list[Row]


class Cluster:
    """A primary and its standby. If that is synchronous, what the primary acknowledges is on both."""

    def __init__(self, machines: list[Machine], folder: Path):
        self.folder = folder
        self.password = os.urandom(12).hex()
        self.is_synchronous = True
        programs = find_programs()
        # The third has no server, but for moments in which there are two standbys.
        self.primary, self.standby, self.third = (Node(machine, folder, programs) for machine in machines)
        self._certify()
        for node in self.nodes:
            pass_file = node.folder / "pass"
            pass_file.write_text(f"*:*:*:*:{self.password}\n")
            self._give(pass_file, 0o600)
            shutil.chown(node.folder, "postgres", "postgres")
        self._make_primary()
        self.join(self.standby)
        self.wait_for_standby()

    @property
    def nodes(self) -> tuple[Node, Node, Node]:
        return self.primary, self.standby, self.third

    def address(self, vault: str) -> str:
        """For clients: all hosts, first the one that is the primary now."""
        hosts = ",".join(node.machine.address for node in self.nodes)
        return f"postgresql://vault@{hosts}/postgres?sslrootcert={self.folder}/authority.crt&schema={vault}"

    def _give(self, path: Path, mode: int) -> None:
        path.chmod(mode)
        shutil.chown(path, "postgres", "postgres")

    def _certify(self) -> None:
        def openssl(*words: str) -> None:
            subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=self.folder)

        elliptic = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        openssl("req", "-x509", *elliptic, "-days", "2", "-subj", "/CN=authority", "-keyout", "authority.key",
                "-out", "authority.crt")
        for node in self.nodes:
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

    def _configure(self, node: Node, demanded: str | None = None) -> None:
        path = node.data / "machine.conf"
        path.write_text(SETTINGS.format(
            socket=node.folder, folder=node.folder, demanded=demanded or ("standby" if self.is_synchronous else "")))
        self._give(path, 0o600)
        main = node.data / "postgresql.conf"
        if "machine.conf" not in main.read_text():
            with main.open("a") as file:
                file.write("include 'machine.conf'\n")

    def join(self, node: Node, name: str = "standby") -> None:
        """Makes a standby of a machine, from the primary's data."""
        self._copy(node, name, "-R")
        self._configure(node)
        node.start()

    def _copy(self, node: Node, name: str, *more: str) -> None:
        shutil.rmtree(node.data, ignore_errors=True)
        source = (f"host={self.primary.machine.address} user=copier application_name={name} sslmode=verify-full "
                  f"sslrootcert={self.folder}/authority.crt passfile={node.folder}/pass")
        node.tool("pg_basebackup", "-D", str(node.data), *more, "-X", "stream", "-c", "fast", "--no-sync", "-d", source)

    def wait_for_standby(self) -> None:
        state = "sync" if self.is_synchronous else "async"
        for _ in range(600):
            if self.primary.sql(f"""
                SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = '{state}'""") == "1":
                return
            time.sleep(0.05)
        raise OSError("the standby does not follow")

    def catch_up(self) -> None:
        """Until the standby has what senders have waited for. What they have not, such as the end of their row, it may lack."""
        end = self.primary.sql("SELECT pg_current_wal_flush_lsn()")
        for _ in range(600):
            if self.primary.sql(f"SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= '{end}'::pg_lsn") != "0":
                return
            time.sleep(0.05)
        raise OSError("the standby does not catch up")

    def demand_standby(self, is_demanded: bool) -> None:
        """Whether a commit waits for it."""
        if self.is_synchronous == is_demanded:
            return
        self.is_synchronous = is_demanded
        for node in (self.primary, self.standby):
            self._configure(node)
            node.sql("SELECT pg_reload_conf()")
        self.wait_for_standby()

    # From one to the other.

    def fail_over(self) -> None:
        """The primary's machine dies, the standby takes its place, and a new standby that of the dead."""
        self.primary.kill()
        self._promote()
        self.replace_standby()

    def _promote(self) -> None:
        self.standby.tool("pg_ctl", "-D", str(self.standby.data), "-w", "promote")
        self.primary, self.standby = self.standby, self.primary

    def replace_standby(self) -> None:
        self.standby.kill()
        self.join(self.standby)
        self.wait_for_standby()

    def fail_over_behind(self, vault: str, commits: int, at_the_same_time: Callable[[], None]) -> Loss:
        """The standby is cut off, and takes the primary's place once it lacks so many commits."""
        cut(self.standby.machine, [self.primary.machine], "both")
        kept = self._last_received(vault)
        for _ in range(6_000):
            if self.primary.changes(vault) >= kept.changes + commits:
                break
            time.sleep(0.01)
        else:
            raise OSError("the vault is not changed any more")
        at_the_same_time()
        self.primary.kill()
        self._promote()
        # Not before: what the lost one has sent, and the network not delivered, would still be received.
        heal(self.primary.machine)
        # For no one else to see.
        self.standby.start("listen_addresses=")
        return Loss(had=self.standby.standing(vault), kept=kept, rows=self.standby.rows(vault, kept.head))

    def promote_the_lesser(self, vault: str, meanwhile: Callable[[], None]) -> Loss:
        """Each commit is confirmed by one of two standbys; the other one is cut off, and promoted after a while."""
        self.join(self.third, "third")
        self._configure(self.primary, "ANY 1 (standby, third)")
        self.primary.sql("SELECT pg_reload_conf()")
        for _ in range(600):
            if self.primary.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'") == "2":
                break
            time.sleep(0.05)
        else:
            raise OSError("the standbys do not follow")
        cut(self.third.machine, [self.primary.machine], "both")
        kept = self.third.standing(vault)
        meanwhile()
        self.primary.kill()
        loss = Loss(had=self.standby.standing(vault), kept=kept, rows=[])
        self.standby.kill()
        self.third.tool("pg_ctl", "-D", str(self.third.data), "-w", "promote")
        heal(self.third.machine)
        self.primary, self.third = self.third, self.primary
        self._configure(self.primary)
        self.primary.sql("SELECT pg_reload_conf()")
        return loss

    def put_back(self, vault: str, commits: int) -> Loss:
        """A base backup is started in the primary's place as it is. Its history is the one that the server had."""
        self._copy(self.third, "backup")
        self._configure(self.third)
        end = self.primary.changes(vault)
        for _ in range(6_000):
            if self.primary.changes(vault) >= end + commits:
                break
            time.sleep(0.01)
        else:
            raise OSError("the vault is not changed any more")
        self.primary.kill()
        had = self.standby.standing(vault)
        self.standby.kill()
        self.primary, self.third = self.third, self.primary
        self.primary.start()
        return Loss(had=had, kept=self.primary.standing(vault), rows=[])

    def _last_received(self, vault: str) -> Standing:
        """Once the standby has replayed it. The last record may have come in part."""
        before = ""
        for _ in range(600):
            found = self.standby.sql("""
                SELECT pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn(), wait_event = 'RecoveryWalStream'
                FROM pg_stat_activity WHERE backend_type = 'startup'""")
            if found == before and found.endswith("|t"):
                return self.standby.standing(vault)
            before = found
            time.sleep(0.1)
        raise OSError(f"the standby does not come to an end: {before}")

    def is_settled(self, vault: str) -> bool:
        """Whether the vault is changed in the server's present timeline."""
        return self.primary.sql(
            f"""SELECT "timeline" = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8
            FROM {vault}."engineState\"""") == "t"

    def holds(self, vault: str) -> int:
        """How often all logins were held."""
        return int(self.primary.sql(f'SELECT "incarnation" - 1 FROM {vault}."vault"'))

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()
