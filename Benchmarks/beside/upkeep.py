"""Row 6: what operators do to a whole store: rotate its key, verify it, back it up, restore it."""
import os
import shutil
import statistics
import subprocess
import sys
import time

from . import servers as server_module


def run(report, fleet, rounds: int) -> None:
    for name in ("TokenVault", "SQLCipher", "postgres-aesgcm"):
        fleet.fill(name)
    works = {
        "rotate: TokenVault": lambda: rotate(fleet), "rotate: SQLCipher rekey": lambda: rekey(fleet),
        "verify: TokenVault": lambda: vaultctl(fleet, "verify"),
        "back up: TokenVault": lambda: back_up(fleet), "back up: pg_dump": lambda: pg_dump(fleet),
        "back up: copy and openssl": lambda: openssl(fleet), "restore: TokenVault": lambda: restore(fleet),
        "restore: pg_restore": lambda: pg_restore(fleet),
    }
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds):
        for name, work in works.items():
            took = work()
            seconds[name].append(took)
            report.sample("upkeep", name, {"logins": fleet.logins, "round": number + 1, "seconds": round(took, 3)})
    for name, values in seconds.items():
        rate = fleet.logins / statistics.median(values) / 1000
        goal = "≥ 20" if name in ("rotate: TokenVault", "verify: TokenVault") else None
        report.figure("upkeep", f"{name}, thousand logins a second", rate, goal, f"{statistics.median(values):.2f} s")
    if fleet.logins >= 1_000_000:
        report.figure("upkeep", "back up 1 000 000 logins, s", statistics.median(seconds["back up: TokenVault"]), "≤ 15")


def timed(command: list[str], **options) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode != 0:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
        raise SystemExit(f"peers: {' '.join(command)} ended with {done.returncode}")
    return time.perf_counter() - start


def path(fleet, name: str) -> str:
    return os.path.join(fleet.place, name)


def vaultctl(fleet, *arguments: str) -> float:
    return timed([fleet.programs.vaultctl, "--vault", fleet.vault, "--key-file", fleet.key, *arguments])


def rotate(fleet) -> float:
    return fleet.time("TokenVault", "rotate", 1, 1) * fleet.logins / 1e9


def rekey(fleet) -> float:
    """Of a copy: the key of the file that others read stays as it is."""
    remove(path(fleet, "rekeyed.db"))
    shutil.copy(fleet.cipher, path(fleet, "rekeyed.db"))
    out = subprocess.run(
        [fleet.programs.sqlcipher, "rekey", path(fleet, "rekeyed.db"), str(fleet.logins)], check=True, capture_output=True, text=True)
    return float(out.stdout.split()[0]) * fleet.logins / 1e9


def back_up(fleet) -> float:
    shutil.rmtree(path(fleet, "backups"), ignore_errors=True)
    os.mkdir(path(fleet, "backups"), 0o700)
    return vaultctl(fleet, "backup", "create", path(fleet, "backups"), "--same-device")


def restore(fleet) -> float:
    remove(path(fleet, "restored.vault"))
    backup = os.path.join(path(fleet, "backups"), os.listdir(path(fleet, "backups"))[0])
    return timed([
        fleet.programs.vaultctl, "--key-file", fleet.key, "backup", "restore", backup, path(fleet, "restored.vault")])


def remove(name: str) -> None:
    folder = os.path.dirname(name)
    for each in os.listdir(folder):
        if each.startswith(os.path.basename(name)):
            os.remove(os.path.join(folder, each))


def pg_dump(fleet) -> float:
    postgres = fleet.servers.postgres
    return timed([
        server_module.tool("pg_dump"), "-d", postgres.loopback, "-Fc", "-Z0", "-t", "token", "-f", path(fleet, "token.dump")])


def pg_restore(fleet) -> float:
    return timed([
        server_module.tool("pg_restore"), "-d", fleet.servers.postgres.loopback, "--clean", path(fleet, "token.dump")])


def openssl(fleet) -> float:
    """The same bytes, with the writers stopped: nothing else is safe to copy."""
    return timed([
        "openssl", "enc", "-aes-256-ctr", "-pbkdf2", "-pass", f"file:{fleet.key}", "-in", fleet.vault, "-out", path(fleet, "vault.enc")])
