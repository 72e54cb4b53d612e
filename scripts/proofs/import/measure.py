#!/usr/bin/env python3
"""How many rows a second the importer reads, and how many vaultctl takes into a vault, and in how much memory.

    scripts/proofs/import/measure.py BUILT/import-probe [ROWS] [--require]

Three stores of ROWS rows (1 000 000 unless said): JSON Lines, a SQLite database of Auth.js, and one of django-allauth with
its accounts and users. Each is read alone, taken into a vault by the vaultctl beside the probe, and read against that vault
again. With --require the figures of a release build must be reached for reading: 20 000 rows a second from JSON Lines,
15 000 from SQLite, and at most 160 MiB for a million rows.
"""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

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


def take(vaultctl, folder, path, rows):
    """Takes the store into a new vault, and says how fast that was."""
    environment = {"TOKENVAULT_VAULT": f"{folder}/v.vault", "TOKENVAULT_KEY_FILE": f"{folder}/v.key", "PATH": os.environ["PATH"]}

    def run(*arguments):
        begun = time.monotonic()
        process = subprocess.Popen([vaultctl, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status):
            sys.exit(f"measure: vaultctl {' '.join(arguments)} failed")
        return output, time.monotonic() - begun, usage.ru_maxrss / 1024

    run("init")
    for name in ("acme", "google"):
        run("provider", "add", name, "--client-id", "client", "--token-endpoint", f"https://{name}.example/token",
            "--issuer", f"https://{name}.example", "--authorization-endpoint", f"https://{name}.example/a",
            "--redirect-uri", "https://app.example/cb")
    for outcome in ("added", "unchanged"):
        output, seconds, memory = run("import", "run", str(path), "--json")
        outcomes = json.loads(output)["outcomes"]
        if outcomes[outcome] != rows:
            sys.exit(f"measure: not every row was {outcome}: {outcomes}")
        print(f"    {outcome}: {rows / seconds:,.0f} a second, {memory:.0f} MiB at most")
    for name in pathlib.Path(folder).glob("v.*"):
        if name.is_file():
            name.unlink()


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--require"]
    probe = str(pathlib.Path(arguments[0]).resolve())
    rows = int(arguments[1]) if len(arguments) > 1 else 1_000_000
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for make, goal in ((json_lines, 20_000), (authjs, 15_000), (allauth, 15_000)):
            path = pathlib.Path(folder, make.__name__)
            make(path, rows)
            run = subprocess.run([probe, str(path), "--now", str(NOW), "--count"], capture_output=True, text=True, check=True)
            figures = json.loads(run.stdout)
            rate = figures["rows"] / figures["seconds"]
            print(f"{make.__name__}: {figures['rows']} rows, {rate:,.0f} a second, {figures['peakKiB'] / 1024:.0f} MiB at most")
            take(str(pathlib.Path(probe).parent / "vaultctl"), folder, path, rows)
            path.unlink()
            if rate < goal or figures["peakKiB"] > 160 * 1024:
                missed.append(make.__name__)
    if "--require" in sys.argv and missed:
        sys.exit(f"measure: missed by {', '.join(missed)}")


if __name__ == "__main__":
    main()
