"""Redis with a hash for each user, in clear, and `appendfsync always`: the least that a store behind a network can do."""
import redis


class Store:
    def __init__(self, url: str):
        self.client = redis.Redis.from_url(url, max_connections=128)

    def fill(self, logins) -> None:
        with self.client.pipeline(transaction=False) as pipeline:
            for count, (user, access, refresh, expires_at) in enumerate(logins, 1):
                pipeline.hset(user, mapping={"access": access, "refresh": refresh, "expires_at": expires_at})
                if count % 1000 == 0:
                    pipeline.execute()
            pipeline.execute()

    def open(self) -> None:
        self.client.ping()

    def read(self, user: str) -> str:
        return self.client.hget(user, "access").decode()

    def renew(self, user: str, access: str, refresh: str, expires_at: int) -> None:
        self.client.hset(user, mapping={"access": access, "refresh": refresh, "expires_at": expires_at})

    def close(self) -> None:
        self.client.close()


def make(_name: str, place: str) -> Store:
    return Store(place)
