"""What a figure depends on: the machine, the commit, the versions."""
import datetime
import importlib.metadata
import json
import os
import platform
import re
import sqlite3
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = os.path.join(ROOT, "Benchmarks", "results")
PACKAGES = (
    "aws-encryption-sdk", "cryptography", "Django", "django-allauth", "msal-extensions", "procrastinate", "psycopg", "redis",
    "SQLAlchemy", "SQLAlchemy-Utils", "tink")


def first_line(*command: str) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def swift_build(*arguments: str) -> str:
    """Builds, and returns where the programs are."""
    command = ["swift", "build", *arguments]
    subprocess.run(command, check=True, stdout=sys.stderr)
    shown = subprocess.run([*command, "--show-bin-path"], check=True, stdout=subprocess.PIPE, text=True)
    return shown.stdout.strip()


def field(path: str, name: str) -> str:
    with open(path, encoding="utf-8") as file:
        match = re.search(rf'^"?{name}"?\s*[:=]\s*"?(.*?)"?$', file.read(), re.MULTILINE)
    return match[1] if match else "unknown"


def facts(place: str) -> dict:
    return {
        "processor": field("/proc/cpuinfo", "model name"), "cores": os.cpu_count(),
        "memory": field("/proc/meminfo", "MemTotal"), "kernel": platform.release(),
        "system": field("/etc/os-release", "PRETTY_NAME"),
        "file_system": first_line("findmnt", "-n", "-o", "FSTYPE,OPTIONS", "-T", place),
        "fdatasync_us": round(flush_time(place), 1), "load": os.getloadavg()[0],
    }


def versions() -> dict:
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    return found | {
        "Python": platform.python_version(), "SQLite": sqlite3.sqlite_version,
        "PostgreSQL": first_line("pg_config", "--version"), "Redis": first_line("redis-server", "--version"),
        "h2load": first_line("h2load", "--version"),
        "SQLCipher": first_line("sqlcipher", "-version"), "Swift": first_line("swiftc", "--version"),
    }


def commit() -> str:
    """The last one that changed the library."""
    return first_line("git", "-C", ROOT, "log", "-1", "--format=%h", "--", "Sources", "Migrations", "Package.swift")


def record(name: str, title: dict, program: str, facts: dict, found: dict) -> None:
    """Writes what was measured, with when, by which command, of which commit and on what."""
    os.makedirs(RESULTS, exist_ok=True)
    document = title | {
        "measured": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": f"{program} {' '.join(sys.argv[1:])}", "commit": commit(), "machine": facts} | found
    with open(os.path.join(RESULTS, name), "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def flush_time(place: str) -> float:
    """Microseconds of a 4 KiB write and its fdatasync: what no durable commit on this disk goes below."""
    path = os.path.join(place, "flush")
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    times = []
    for number in range(100):
        start = time.perf_counter()
        os.pwrite(file, b"x" * 4096, number * 4096)
        os.fdatasync(file)
        times.append((time.perf_counter() - start) * 1e6)
    os.close(file)
    os.remove(path)
    return sorted(times)[50]
