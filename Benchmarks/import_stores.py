"""Stores of other systems with many rows, for the figures of the importer."""

import json
import sqlite3

NOW = 1_800_000_000


def access(n):
    return f"access-{n:09}-" + "a" * 900


def refresh(n):
    return f"refresh-{n:09}-" + "r" * 60


def json_lines(path, rows):
    with open(path, "w") as file:
        for n in range(rows):
            file.write(json.dumps({
                "user": f"user-{n}", "provider": "acme", "access_token": access(n), "refresh_token": refresh(n),
                "token_type": "Bearer", "scope": "read write offline_access", "expires_at": NOW + n % 3600}) + "\n")


def authjs(path, rows):
    db = sqlite3.connect(path)
    db.execute('CREATE TABLE "User" (id TEXT PRIMARY KEY, email TEXT)')
    db.execute(
        'CREATE TABLE "Account" ("userId" TEXT, "type" TEXT, "provider" TEXT, "providerAccountId" TEXT, "refresh_token" TEXT,'
        ' "access_token" TEXT, "expires_at" INTEGER, "token_type" TEXT, "scope" TEXT, "id_token" TEXT)')
    db.executemany('INSERT INTO "User" VALUES (?, ?)', ((f"u{n}", f"u{n}@example.com") for n in range(rows)))
    db.executemany(
        'INSERT INTO "Account" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)',
        ((f"u{n}", "oidc", "acme", f"p{n}", refresh(n), access(n), NOW + n % 3600, "bearer", "openid email") for n in range(rows)))
    db.commit()
    db.close()


def allauth(path, rows):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE auth_user (id integer PRIMARY KEY, username text, email text)")
    db.execute("CREATE TABLE socialaccount_socialaccount (id integer PRIMARY KEY, provider text, uid text, user_id integer)")
    db.execute("CREATE TABLE socialaccount_socialapp (id integer PRIMARY KEY, provider text, client_id text, secret text)")
    db.execute(
        "CREATE TABLE socialaccount_socialtoken (id integer PRIMARY KEY, token text, token_secret text, expires_at datetime,"
        " account_id integer, app_id integer)")
    db.execute("INSERT INTO socialaccount_socialapp VALUES (1, 'google', 'client', 'secret')")
    db.executemany("INSERT INTO auth_user VALUES (?, ?, ?)", ((n, f"u{n}", f"u{n}@example.com") for n in range(1, rows + 1)))
    db.executemany("INSERT INTO socialaccount_socialaccount VALUES (?, 'google', ?, ?)", ((n, f"s{n}", n) for n in range(1, rows + 1)))
    db.executemany(
        "INSERT INTO socialaccount_socialtoken VALUES (?, ?, ?, '2027-01-15 09:00:00.123456', ?, 1)",
        ((n, access(n), refresh(n), n) for n in range(1, rows + 1)))
    db.commit()
    db.close()
