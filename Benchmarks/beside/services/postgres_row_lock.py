"""A row lock in PostgreSQL, `SELECT … FOR UPDATE`, held while the provider is asked; connections from psycopg's pool."""
import time

from psycopg.rows import namedtuple_row
from psycopg_pool import ConnectionPool

from . import oauth

READ = "SELECT client, access, refresh, expires_at FROM login WHERE id = %s"


class Service:
    def __init__(self, options: dict):
        self.options = options

    def open(self) -> None:
        self.pool = ConnectionPool(
            self.options["postgres"], min_size=1, max_size=16, timeout=30, kwargs={"row_factory": namedtuple_row})

    def fill(self, grants) -> None:
        self.open()
        with self.pool.connection() as db:
            db.execute("DROP TABLE IF EXISTS login")
            db.execute("CREATE TABLE login (id text PRIMARY KEY, client text, access text, refresh text, expires_at float8)")
            db.cursor().executemany("INSERT INTO login VALUES (%s, %s, %s, %s, %s)", grants)

    def good(self, row) -> bool:
        if row.refresh is None:
            raise oauth.Dead
        return row.expires_at > time.time() + self.options["lead"]

    def token(self, user: str) -> str:
        with self.pool.connection() as db:
            row = db.execute(READ, (user,)).fetchone()
        if self.good(row):
            return row.access
        with self.pool.connection() as db:
            row = db.execute(READ + " FOR UPDATE", (user,)).fetchone()
            if self.good(row):
                return row.access
            try:
                renewed = oauth.refresh(self.options, row.client, row.refresh)
            except oauth.Dead:
                db.execute("UPDATE login SET refresh = NULL WHERE id = %s", (user,))
                db.commit()
                raise
            db.execute("UPDATE login SET access = %s, refresh = %s, expires_at = %s WHERE id = %s", (*renewed, user))
            return renewed[0]
