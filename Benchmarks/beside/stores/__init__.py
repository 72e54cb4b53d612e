"""Token stores as their documentation, or the usual answer on the web, tells users to write them.

Each has `fill(logins)`, `open()`, `read(user)`, `renew(user, access, refresh, expires_at)` and `close()`. Every read gives the
access token in clear, and every renewal is durable when it returns.
"""
import importlib

NAMES = {
    "sqlite-fernet": "sqlite_fernet", "sqlalchemy-encrypted": "sqlalchemy_encrypted", "postgres-aesgcm": "postgres_aesgcm",
    "postgres-pipelined": "postgres_aesgcm", "postgres-pgcrypto": "postgres_pgcrypto", "redis": "redis_hash",
    "msal-file": "msal_file", "socket": "token_socket",
}


def make(name: str, place: str):
    """The store `name`, at `place`: a directory, or what a server is connected with."""
    return importlib.import_module(f"{__name__}.{NAMES[name]}").make(name, place)
