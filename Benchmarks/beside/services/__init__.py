"""Services that renew tokens as the documentation of what they stand on tells users to.

Each has `fill(grants)`, `open()` and `token(user)`, which gives an access token that is good for long enough or raises. A grant
is `(user, client, access token, refresh token, expiry in seconds since 1970)`. All ask the provider by `oauth.refresh`, all
look again once they hold their lock, and all stop asking for a login whose refresh token was refused.
"""
import importlib

NAMES = {"redis-lock": "redis_lock", "postgres-row-lock": "postgres_row_lock", "file-lock": "file_lock", "allauth": "allauth_store"}


def make(name: str, options: dict):
    return importlib.import_module(f"{__name__}.{NAMES[name]}").Service(options)
