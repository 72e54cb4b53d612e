"""Python's sqlite3 and a Fernet key: what most write by hand."""
import os
import sqlite3
import threading

from cryptography.fernet import Fernet


class Store:
    def __init__(self, place: str):
        self.path, self.key = os.path.join(place, "tokens.db"), os.path.join(place, "fernet.key")
        self.local = threading.local()

    def fill(self, logins) -> None:
        with open(self.key, "wb") as file:
            file.write(Fernet.generate_key())
        self.open()
        self.db().execute(
            "CREATE TABLE token (user TEXT PRIMARY KEY, access BLOB, refresh BLOB, expires_at INTEGER)")
        self.db().execute("BEGIN")
        self.db().executemany(
            "INSERT INTO token VALUES (?, ?, ?, ?)",
            ((user, self.seal(access), self.seal(refresh), expires_at) for user, access, refresh, expires_at in logins))
        self.db().execute("COMMIT")

    def open(self) -> None:
        with open(self.key, "rb") as file:
            self.fernet = Fernet(file.read())

    def db(self) -> sqlite3.Connection:
        """A connection for each thread, as the module wants it."""
        if not hasattr(self.local, "db"):
            self.local.db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            self.local.db.execute("PRAGMA journal_mode = WAL")
            self.local.db.execute("PRAGMA synchronous = FULL")
        return self.local.db

    def seal(self, text: str) -> bytes:
        return self.fernet.encrypt(text.encode())

    def read(self, user: str) -> str:
        row = self.db().execute("SELECT access FROM token WHERE user = ?", (user,)).fetchone()
        return self.fernet.decrypt(row[0]).decode()

    def renew(self, user: str, access: str, refresh: str, expires_at: int) -> None:
        self.db().execute(
            "UPDATE token SET access = ?, refresh = ?, expires_at = ? WHERE user = ?",
            (self.seal(access), self.seal(refresh), expires_at, user))

    def close(self) -> None:
        self.db().close()


def make(_name: str, place: str) -> Store:
    return Store(place)
