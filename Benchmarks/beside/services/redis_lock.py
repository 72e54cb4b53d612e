"""A Redis lock with a time to live around the refresh, the tokens in Redis, too: redis-py's `Lock`, oauth2-proxy's shape."""
import contextlib
import time

import redis

from . import oauth


class Service:
    def __init__(self, options: dict):
        self.options = options

    def open(self) -> None:
        self.client = redis.Redis.from_url(self.options["redis"], max_connections=2000, decode_responses=True)

    def fill(self, grants) -> None:
        self.open()
        self.client.flushdb()
        for user, client, access, refresh, expires_at in grants:
            self.client.hset(user, mapping={
                "client": client, "access": access, "refresh": refresh, "expires_at": expires_at})

    def good(self, user: str) -> tuple[dict, bool]:
        row = self.client.hgetall(user)
        if not row["refresh"]:
            raise oauth.Dead
        return row, float(row["expires_at"]) > time.time() + self.options["lead"]

    def token(self, user: str) -> str:
        lock = self.client.lock("lock:" + user, timeout=self.options["ttl"])
        while True:
            row, is_good = self.good(user)
            if is_good:
                return row["access"]
            if lock.acquire(blocking=False):
                break
            time.sleep(self.options["poll"])
        try:
            return self.renew(user)
        finally:
            # When it lasted too long, another has it by now.
            with contextlib.suppress(redis.exceptions.LockError):
                lock.release()

    def renew(self, user: str) -> str:
        row, is_good = self.good(user)
        if is_good:
            return row["access"]
        try:
            access, refresh, expires_at = oauth.refresh(self.options, row["client"], row["refresh"])
        except oauth.Dead:
            self.client.hset(user, "refresh", "")
            raise
        self.client.hset(user, mapping={"access": access, "refresh": refresh, "expires_at": expires_at})
        return access
