"""What the checks of dev-authserver share: counting, and a server of its own for each of them."""

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator

import requests

passed = 0


def check(what: str, holds: bool) -> None:
    """Counts what holds; the first thing that does not ends the run."""
    global passed
    if not holds:
        sys.exit(f"oauth_client_check: failed: {what}")
    passed += 1


def check_refused(what: str, error: type[Exception], action) -> None:
    try:
        action()
    except error:
        check(what, True)
    else:
        check(what, False)


def count() -> int:
    return passed


@contextlib.contextmanager
def running(program: str, *options: str) -> Iterator[str]:
    """A server of its own for one check, and its issuer. It goes with its standard input, even if this script dies."""
    process = subprocess.Popen(
        [program, "--exit-with-stdin", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        check("the ready line", re.fullmatch(r"listening on http://127\.0\.0\.1:\d+\n", line) is not None)
        yield line.removeprefix("listening on ").strip()
    finally:
        process.stdin.close()
        code = process.wait(timeout=10)
        process.stdout.close()
    check("the server ends in good order", code == 0)


def visit(url: str) -> str:
    """What a browser does until it would leave for the application: the address it is sent to."""
    response = requests.get(url, allow_redirects=False, timeout=10)
    check("the authorization endpoint redirects", response.status_code == 302)
    return response.headers["Location"]
