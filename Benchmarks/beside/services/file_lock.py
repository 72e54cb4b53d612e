"""A JSON file for each login, and `flock` on another one while the provider is asked."""
import fcntl
import json
import os
import threading
import time

from . import oauth


class Service:
    def __init__(self, options: dict):
        self.options, self.place = options, options["place"]

    def open(self) -> None:
        pass

    def fill(self, grants) -> None:
        os.makedirs(self.place, exist_ok=True)
        for user, client, access, refresh, expires_at in grants:
            self.write(user, {"client": client, "access": access, "refresh": refresh, "expires_at": expires_at})

    def path(self, user: str) -> str:
        return os.path.join(self.place, user)

    def write(self, user: str, row: dict) -> None:
        """Whole or not at all, and durable."""
        path = f"{self.path(user)}.{os.getpid()}.{threading.get_ident()}"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(row, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path, self.path(user))

    def good(self, user: str) -> tuple[dict, bool]:
        with open(self.path(user), encoding="utf-8") as file:
            row = json.load(file)
        if row["refresh"] is None:
            raise oauth.Dead
        return row, row["expires_at"] > time.time() + self.options["lead"]

    def token(self, user: str) -> str:
        row, is_good = self.good(user)
        if is_good:
            return row["access"]
        with open(self.path(user) + ".lock", "a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            row, is_good = self.good(user)
            if is_good:
                return row["access"]
            try:
                renewed = oauth.refresh(self.options, row["client"], row["refresh"])
            except oauth.Dead:
                self.write(user, row | {"refresh": None})
                raise
            self.write(user, row | dict(zip(("access", "refresh", "expires_at"), renewed)))
            return renewed[0]
