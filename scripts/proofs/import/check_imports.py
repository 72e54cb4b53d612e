#!/usr/bin/env python3
"""Reads token stores that other libraries have written, with dirt put in, and compares every row with its truth. Lets
libraries read what was exported for them.

    scripts/proofs/import/check_imports.py BUILT/import-probe [ROWS] [STORE …]

ROWS is that of each store: 2 000 unless said. Stores are made anew at each run, in a directory that goes with it.
"""

import multiprocessing
import pathlib
import sqlite3
import sys
import tempfile

import kit


def from_allauth(probe, folder, rows):
    import django_stores

    path = folder / "allauth.sqlite3"
    store, registrations = django_stores.allauth(path, rows)
    truths = registrations + store.truths
    wrong = kit.check(probe, store, path, "--kind", "allauth", truths=truths)
    # The same users by other keys.
    by_mail = [
        dict(truth, user=f"user{int(truth['user']) - 1}@example.com") if truth.get("user") else truth for truth in truths]
    wrong += kit.check(probe, store, path, "--kind", "allauth", "--user-key", "email", truths=by_mail, label=" by mail")
    wrong += dumps(probe, store, path, truths, folder)
    return wrong


def dumps(probe, store, path, truths, folder):
    """The same store as the dump that SQLite makes of it."""
    db = sqlite3.connect(path)
    # Python's driver cannot hand over text that is not UTF-8, and a dump cannot hold it.
    db.execute("DELETE FROM socialaccount_socialtoken WHERE typeof(token) = 'text' AND hex(token) = 'FF41'")
    db.commit()
    kept = [truth for truth in truths if truth.get("dirt") != "text_bad"]
    # Rows are named by their place, which is another one here.
    kept = [{k: v for k, v in truth.items() if k not in ("of",)} for truth in kept]
    dump = folder / "dump.sql"
    with dump.open("w") as file:
        for line in db.iterdump():
            file.write(line + "\n")
    db.close()
    return kit.check(probe, store, dump, "--kind", "allauth", truths=kept, label=" as a dump")


def from_social_auth(probe, folder, rows):
    import django_stores

    path = folder / "social.sqlite3"
    return kit.check(probe, django_stores.social_auth(path, rows), path, "--kind", "social-auth")


def from_msal(probe, folder, rows):
    import library_stores

    path = folder / "cache.json"
    return kit.check(probe, library_stores.msal_cache(path, rows), path)


def from_authlib(probe, folder, rows):
    import library_stores

    path = folder / "authlib.sqlite3"
    return kit.check(probe, library_stores.authlib(path, rows), path)


def from_authjs(probe, folder, rows):
    import schema_stores

    wrong = []
    for spelling in schema_stores.AUTHJS:
        path = folder / f"{spelling}.sqlite3"
        # One at full size is enough: the others differ in names only.
        size = rows if spelling == "d1" else min(rows, 500)
        wrong += kit.check(probe, schema_stores.authjs(path, size, spelling), path)
    return wrong


def from_better_auth(probe, folder, rows):
    import schema_stores

    plain, sealed = folder / "plain.sqlite3", folder / "sealed.sqlite3"
    wrong = kit.check(probe, schema_stores.better_auth(plain, rows, sealed=False), plain, "--tokens-are-plain")
    store = schema_stores.better_auth(sealed, rows, sealed=True)
    secrets = ["--better-auth-secret", "2:new secret", "--better-auth-secret", "old:old secret"]
    wrong += kit.check(probe, store, sealed, *secrets)
    for given, code in (([], "secretNeeded"), (["--better-auth-secret", "2:wrong"], "wrongSecret")):
        lines = kit.read(probe, sealed, *given)
        wrong += [] if lines == [{"error": code}] else [f"better-auth with {given}: {lines[:2]}"]
    return wrong


def from_spring(probe, folder, rows):
    import schema_stores

    path, dump = folder / "spring.sqlite3", folder / "spring.sql"
    store = schema_stores.spring(path, rows, dump)
    wrong = kit.check(probe, store, path)
    # A dump cannot tell bytes from the digits that stand for them, and has no empty ones.
    return wrong + kit.check(probe, store, dump, label=" as COPY text")


def from_nango(probe, folder, rows):
    import base64

    import schema_stores

    key = bytes(range(32))
    plain, sealed = folder / "plain.sqlite3", folder / "sealed.sqlite3"
    wrong = kit.check(probe, schema_stores.nango(plain, rows), plain)
    store = schema_stores.nango(sealed, rows, key)
    wrong += kit.check(probe, store, sealed, "--nango-key", base64.b64encode(key).decode())
    for given, code in (([], "secretNeeded"), (["--nango-key", base64.b64encode(bytes(32)).decode()], "wrongSecret")):
        lines = kit.read(probe, sealed, *given)
        wrong += [] if lines == [{"error": code}] else [f"nango with {given}: {lines[:2]}"]
    return wrong


def from_json_lines(probe, folder, rows):
    import schema_stores

    path = folder / "logins.jsonl"
    return kit.check(probe, schema_stores.json_lines(path, rows), path)


def from_csv(probe, folder, rows):
    import schema_stores

    path = folder / "logins.csv"
    store, columns = schema_stores.csv_file(path, rows)
    return kit.check(probe, store, path, *columns, label=" as CSV")


def from_mysql(probe, folder, rows):
    import schema_stores

    path = folder / "mysql.sql"
    return kit.check(probe, schema_stores.mysql_dump(path, rows), path)


def to_allauth(probe, folder, rows):
    import exports

    return exports.to_allauth(probe, folder, min(rows, 500))


STORES = {
    "allauth": from_allauth, "social-auth": from_social_auth, "msal": from_msal, "authlib": from_authlib,
    "authjs": from_authjs, "better-auth": from_better_auth, "spring": from_spring, "nango": from_nango,
    "json-lines": from_json_lines, "csv": from_csv, "mysql": from_mysql,
    "export-allauth": to_allauth,
}


def run(name, probe, rows):
    with tempfile.TemporaryDirectory() as folder:
        return STORES[name](probe, pathlib.Path(folder), rows)


def main():
    probe = str(pathlib.Path(sys.argv[1]).resolve())
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000
    names = sys.argv[3:] or list(STORES)
    wrong = []
    # Each in a process of its own: Django can be configured once.
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for name in names:
            wrong += pool.apply(run, (name, probe, rows))
    kit.finish(wrong)
    print(f"import: {len(names)} stores as their truths say")


if __name__ == "__main__":
    main()
