"""What the checks of web applications share: a vault, a development server, and the program under test."""

import argparse
import contextlib
import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

sys.path.append(str(Path(__file__).resolve().parents[1] / "interop"))
from program import Program  # noqa: E402
from vaultctl import Checks  # noqa: E402

check = Checks(Path(sys.argv[0]).stem)
started = time.monotonic()


def report() -> None:
    print(f"{check.name}: {check.passed} checks passed in {time.monotonic() - started:.1f} s")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(method: str, url: str, form: dict | None = None, headers: dict | None = None) -> tuple[int, dict, bytes]:
    """As any program asks, without a browser's rules."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    fields = {"Content-Type": "application/x-www-form-urlencoded"} if form is not None else {}
    connection.request(method, parts.path, urlencode(form) if form is not None else None, {**fields, **(headers or {})})
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    return reply.status, dict(reply.getheaders()), body


def options(*programs: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for program in ("vaultctl", "server", *programs):
        parser.add_argument(program)
    parser.add_argument("--screenshots", type=Path)
    options = parser.parse_args()
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    return options


class World(NamedTuple):
    directory: Path
    issuer: str
    # Of vaultctl, and of programs that use its vault.
    environment: dict[str, str]
    # A command of vaultctl, by its arguments; it must fail if `fails`. Returns what it prints.
    run: Callable[..., str]
    # Where the application is to listen: the provider sends browsers to /callback there.
    app: str
    port: int


@contextlib.contextmanager
def world(vaultctl: str, server: str) -> Iterator[World]:
    """A folder with a vault, whose provider is a development server."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        Program(server, "--exit-with-stdin", "--auto-approve", "no") as running,
    ):
        directory, issuer = Path(name), running.address()
        environment = {
            "PATH": os.environ["PATH"], "TOKENVAULT_VAULT": str(directory / "app.vault"),
            "TOKENVAULT_KEY_FILE": str(directory / "app.key"),
        }  # fmt: skip

        def run(*arguments: str, fails: bool = False) -> str:
            done = subprocess.run(
                [vaultctl, *arguments], env=environment, capture_output=True, text=True, timeout=60
            )
            check(f"vaultctl {arguments[0]} {arguments[1:2]}", (done.returncode != 0) == fails, done.stderr)
            return done.stdout

        run("init")
        port = free_port()
        app = f"http://127.0.0.1:{port}"
        run("provider", "add", "dev", "--issuer", issuer, "--client-id", "demo", "--scope", "read offline_access",
            "--redirect-uri", f"{app}/callback", "--allow-insecure-loopback")  # fmt: skip
        yield World(directory, issuer, environment, run, app, port)
        run("verify")
