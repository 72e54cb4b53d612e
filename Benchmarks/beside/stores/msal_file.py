"""The token cache of msal-extensions: one JSON file, in clear, which each change writes as a whole, without fsync."""
import os

from msal import SerializableTokenCache
from msal_extensions import FilePersistence, PersistedTokenCache

KIND = PersistedTokenCache.CredentialType.ACCESS_TOKEN


def entry(user: str, access: str, expires_at: int) -> dict:
    return {
        "credential_type": KIND, "home_account_id": user, "environment": "login.example", "client_id": "bench",
        "realm": "tenant", "target": "read", "secret": access, "token_type": "Bearer", "cached_at": "1800000000",
        "expires_on": str(expires_at)}


class Store:
    def __init__(self, place: str):
        self.path = os.path.join(place, "cache.json")

    def fill(self, logins) -> None:
        cache = SerializableTokenCache()
        for user, access, _, expires_at in logins:
            self.put(cache, entry(user, access, expires_at))
        FilePersistence(self.path).save(cache.serialize())

    def open(self) -> None:
        self.cache = PersistedTokenCache(FilePersistence(self.path))

    def put(self, cache, value: dict) -> None:
        cache.modify(KIND, value, value)

    def read(self, user: str) -> str:
        return next(iter(self.cache.search(
            KIND, target=["read"], query={"home_account_id": user, "environment": "login.example"})))["secret"]

    def renew(self, user: str, access: str, refresh: str, expires_at: int) -> None:
        self.put(self.cache, entry(user, access, expires_at))

    def close(self) -> None:
        pass


def make(_name: str, place: str) -> Store:
    return Store(place)
