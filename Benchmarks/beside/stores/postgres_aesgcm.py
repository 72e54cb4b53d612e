"""PostgreSQL, and AES-GCM in the application, bound to the user: what a team writes for several machines."""
import os
import threading

import psycopg
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY = bytes(range(32))


class Store:
    def __init__(self, connection: str, is_pipelined: bool = False):
        self.connection, self.is_pipelined = connection, is_pipelined
        self.cipher, self.local = AESGCM(KEY), threading.local()

    def fill(self, logins) -> None:
        with self.db().cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS token")
            cursor.execute("CREATE TABLE token (id text PRIMARY KEY, access bytea, refresh bytea, expires_at bigint)")
            with cursor.copy("COPY token FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(["text", "bytea", "bytea", "int8"])
                for user, access, refresh, expires_at in logins:
                    copy.write_row((user, self.seal(user, access), self.seal(user, refresh), expires_at))
            cursor.execute("VACUUM ANALYZE token")

    def open(self) -> None:
        self.db()

    def db(self) -> psycopg.Connection:
        if not hasattr(self.local, "db"):
            self.local.db = psycopg.connect(self.connection, autocommit=True)
            self.local.db.prepare_threshold = 1
        return self.local.db

    def seal(self, user: str, text: str) -> bytes:
        nonce = os.urandom(12)
        return nonce + self.cipher.encrypt(nonce, text.encode(), user.encode())

    def opened(self, user: str, cell: bytes) -> str:
        return self.cipher.decrypt(cell[:12], cell[12:], user.encode()).decode()

    def read(self, user: str) -> str:
        row = self.db().execute("SELECT access FROM token WHERE id = %s", (user,), binary=True).fetchone()
        return self.opened(user, row[0])

    def renew(self, user: str, access: str, refresh: str, expires_at: int) -> None:
        """BEGIN, SELECT … FOR UPDATE, UPDATE, COMMIT: four round trips, or with a pipeline two."""
        if self.is_pipelined:
            with self.db().pipeline(), self.db().transaction():
                self.locked(user)
                self.store(user, access, refresh, expires_at)
        else:
            with self.db().transaction():
                self.opened(user, self.locked(user).fetchone()[0])
                self.store(user, access, refresh, expires_at)

    def locked(self, user: str):
        return self.db().execute("SELECT refresh FROM token WHERE id = %s FOR UPDATE", (user,), binary=True)

    def store(self, user: str, access: str, refresh: str, expires_at: int) -> None:
        self.db().execute(
            "UPDATE token SET access = %s, refresh = %s, expires_at = %s WHERE id = %s",
            (self.seal(user, access), self.seal(user, refresh), expires_at, user))

    def close(self) -> None:
        self.db().close()


def make(name: str, place: str) -> Store:
    return Store(place, is_pipelined=name == "postgres-pipelined")
