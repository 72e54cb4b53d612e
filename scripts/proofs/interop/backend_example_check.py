"""Examples/backend as its users see it: over HTTP, with a browser's cookies, at a real authorization server.

    backend_example_check.py DEV_AUTHSERVER VAULTCTL BACKEND

Needs nothing but Python's standard library.
"""

import http.client
import json
import os
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from program import Program
from vaultctl import Checks, Vaultctl

check = Checks("backend_example_check")
LIFETIME = 3


class Reply:
    def __init__(self, response: http.client.HTTPResponse):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    @property
    def json(self) -> dict:
        return json.loads(self.body)


class Browser:
    """Keeps cookies, and follows no redirect by itself."""

    def __init__(self):
        self.cookies: dict[str, str] = {}

    def __call__(self, method: str, url: str, form: dict | None = None, origin: str | None = None) -> Reply:
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}
        if form:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if origin:
            headers["Origin"] = origin
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, body=form and urlencode(form), headers=headers)
        reply = Reply(connection.getresponse())
        connection.close()
        for line in reply.headers.get_all("Set-Cookie") or []:
            name, _, value = line.split(";")[0].partition("=")
            self.cookies[name] = value
        return reply


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Provider:
    """dev-authserver's own account of what it was asked."""

    def __init__(self, issuer: str):
        self.issuer, self.ask = issuer, Browser()

    def grants(self, user: str) -> list[dict]:
        return [grant for grant in self.ask("GET", f"{self.issuer}/dev/grants").json if grant["user"] == user]

    def requests(self, path: str) -> int:
        return sum(line["path"] == path for line in self.ask("GET", f"{self.issuer}/dev/log").json)

    def tell(self, what: str) -> None:
        check(what, self.ask("POST", f"{self.issuer}/dev/{what}").status in (200, 204))


def log_in(browser: Browser, backend: str, method: str = "GET", path: str = "/login") -> None:
    begun = browser(method, f"{backend}{path}")
    check("the log-in redirects to the provider", begun.status == 303, begun.body)
    cookie = begun.headers["Set-Cookie"]
    check("the state is bound to the browser", "HttpOnly" in cookie and "SameSite=Lax" in cookie, cookie)
    agreed = Browser()("GET", begun.headers["Location"])
    check("the provider redirects back", agreed.status == 302, agreed.body)
    callback = agreed.headers["Location"]
    check("to where it was asked to", callback.startswith(f"{backend}/callback?"), callback)
    stranger = Browser()("GET", callback)
    check("another browser cannot finish the log-in", stranger.status == 403, stranger.body)
    finished = browser("GET", callback)
    check("the callback leads on", (finished.status, finished.headers["Location"]) == (303, "/profile"), finished.body)


def story(provider: Provider, backend: str, vault: Path) -> None:
    alice = Browser()
    check("live", alice("GET", f"{backend}/health/live").status == 200)
    check("ready", alice("GET", f"{backend}/health/ready").status == 200)
    check("nothing without a session", alice("GET", f"{backend}/profile").status == 401)
    check("nor a log-in", alice("GET", f"{backend}/login").status == 401)
    check("alice signs in", alice("POST", f"{backend}/sign-in", {"user": "alice"}).status == 303)
    none = alice("GET", f"{backend}/profile")
    check("no account is connected", (none.status, none.json.get("needsUser")) == (409, True), none.body)
    log_in(alice, backend)
    profile = alice("GET", f"{backend}/profile")
    check("the API knows whose token it is", (profile.status, profile.json.get("user")) == (200, "alice"), profile.body)

    # Nobody asks for the token: the scheduler renews it ahead of its end, and then leaves the login alone for a while.
    for _ in range(300):
        (grant,) = provider.grants("alice")
        if grant["rotated"] >= 1:
            break
        time.sleep(0.1)
    check("the scheduler renews by itself", grant["rotated"] >= 1, grant)
    time.sleep(LIFETIME + 0.5)
    check("a token that has run out is renewed by the call", alice("GET", f"{backend}/profile").status == 200)
    provider.tell("users/alice/expire-access-tokens")
    check("a token that the API refuses is renewed", alice("GET", f"{backend}/profile").status == 200)
    (grant,) = provider.grants("alice")
    check("no refresh was in vain", grant["refresh_requests"] == grant["rotated"] >= 2, grant)
    check("no refresh token was used twice", grant["reuse_detected"] == 0, grant)

    provider.tell("users/alice/revoke")
    refused = alice("GET", f"{backend}/profile")
    check("the answer to a revoked grant is clear", refused.status == 409, refused.body)
    check("and says what to do", refused.json == {"error": "refreshFailed", "needsUser": True}, refused.body)
    asked = provider.requests("/token")
    check("it stays so", alice("GET", f"{backend}/profile").status == 409)
    check("without a further request", provider.requests("/token") == asked)
    check("a revoked user makes nothing unready", alice("GET", f"{backend}/health/ready").status == 200)

    aside = vault.with_suffix(".aside")
    vault.rename(aside)
    unready = alice("GET", f"{backend}/health/ready")
    check("not ready without the vault's file", unready.status == 503, unready.body)
    aside.rename(vault)
    check("ready again", alice("GET", f"{backend}/health/ready").status == 200)

    (account,) = alice("GET", f"{backend}/api/accounts").json["accounts"]
    check("the account needs alice", (account["state"], account["needsUser"]) == ("dead", True), account)
    path = f"/api/accounts/{account['id']}"
    bob = Browser()
    bob("POST", f"{backend}/sign-in", {"user": "bob"})
    check("it is not there for bob", bob("POST", f"{backend}{path}/reconnect").status == 404)
    log_in(alice, backend, "POST", f"{path}/reconnect")
    check("reconnected, all is well", alice("GET", f"{backend}/profile").status == 200)
    (again,) = alice("GET", f"{backend}/api/accounts").json["accounts"]
    check("it is the same account", (again["id"], again["state"]) == (account["id"], "established"), again)
    foreign = alice("DELETE", f"{backend}{path}", origin="https://evil.example")
    check("another site cannot end it", foreign.status == 403, foreign.body)
    ended = alice("DELETE", f"{backend}{path}")
    check("the log-out is done", (ended.status, ended.json) == (200, {"isRevoked": True}), ended.body)
    check("and known to the provider", all(grant["revoked"] for grant in provider.grants("alice")))
    check("and final", alice("GET", f"{backend}/profile").status == 409)


def main(authserver: str, vaultctl: str, program: str) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="tokenvault-backend.") as directory,
        Program(authserver, "--exit-with-stdin", "--access-token-lifetime", str(LIFETIME)) as server,
    ):
        issuer = server.address()
        tool = Vaultctl(vaultctl, Path(directory), check)
        tool(
            "provider", "add", "dev", "--issuer", issuer, "--client-id", "demo", "--scope", "read offline_access",
            "--redirect-uri", "http://127.0.0.1/callback", "--allow-insecure-loopback",
        )  # fmt: skip
        settings = {
            "PATH": os.environ["PATH"], "BACKEND_PORT": str(free_port()), "BACKEND_PROVIDER": "dev",
            "BACKEND_VAULT": tool.environment["TOKENVAULT_VAULT"],
            "BACKEND_KEY_FILE": tool.environment["TOKENVAULT_KEY_FILE"], "BACKEND_API_URL": f"{issuer}/resource",
            "BACKEND_ALLOW_INSECURE_LOOPBACK": "1",
        }  # fmt: skip
        with Program(program, environment=settings) as backend:
            address = backend.address()
            story(Provider(issuer), address, Path(settings["BACKEND_VAULT"]))
            check("SIGTERM ends it in good order", backend.end(signal.SIGTERM) == 0, backend.said())
            check("it logged no error", " error " not in backend.said(), backend.said())
        tool("verify")
    print(f"backend example: {check.passed} checks passed")


if __name__ == "__main__":
    main(*sys.argv[1:4])
