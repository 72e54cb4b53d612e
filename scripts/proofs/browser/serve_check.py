"""Examples/clients/webapp.py at a real `vaultctl serve` and dev-authserver, in a real Chromium.

Usage: serve_check.py PATH-OF-VAULTCTL PATH-OF-DEV-AUTHSERVER [--screenshots DIRECTORY]
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from chromium import BrowserError, Chromium
from world import Program, ask, check, options, report, world

ROOT = Path(__file__).resolve().parents[3]
POLICY = """[[client]]
name = "webapp"
uid = {uid}
verbs = ["logins", "logIn", "logOut"]
users = ["alice", "bob"]
providers = ["dev"]
"""


class Check:
    def __init__(self, browser: Chromium, app: str, issuer: str, run, pictures: Path | None):
        self.browser, self.app, self.issuer, self.run, self.pictures = browser, app, issuer, run, pictures

    def press(self, words: str, title: str) -> None:
        """Presses the first button that is called so."""
        self.browser.evaluate(
            f"window.isOld = true; [...document.querySelectorAll('button')].find(b => b.innerText == {json.dumps(words)}).id = 'it'"
        )
        self.browser.click("#it")
        self.arrive(title)

    def arrive(self, title: str) -> None:
        self.browser.wait(f"!window.isOld && document.title == {json.dumps(title)} && document.readyState == 'complete'")

    def sees(self, what: str, *words: str) -> None:
        check(what, all(word in self.browser.text for word in words), self.browser.text)

    def picture(self, name: str) -> None:
        if self.pictures:
            self.browser.screenshot(self.pictures / f"{name}.png")

    def logins(self, user: str = "alice") -> list[dict]:
        return json.loads(self.run("login", "list", "--user", user, "--json"))["logins"]

    def cookies(self) -> dict[str, dict]:
        return {c["name"]: c for c in self.browser.call("Network.getCookies", urls=[self.app])["cookies"]}

    def sign_in(self) -> None:
        self.browser.go(self.app)
        self.browser.evaluate("document.querySelector('input').value = 'alice'")
        self.press("Sign in", "Accounts")
        self.sees("alice is signed in", "alice", "Connect an account")

    def connect(self) -> None:
        self.press("Connect an account", "Sign in")
        bindings = [cookie for name, cookie in self.cookies().items() if name.startswith("login-")]
        check("the binding is in a cookie", len(bindings) == 1, bindings)
        check("that no script reads, and no other site sends", bindings[0]["httpOnly"] and bindings[0]["sameSite"] == "Lax")
        self.press("Approve", "Accounts")
        self.sees("the account is connected", "The account is connected.", "dev: connected")
        check("the cookie is gone", not any(name.startswith("login-") for name in self.cookies()), self.cookies())
        check("the vault has its login", [login["provider"] for login in self.logins()] == ["dev"], self.logins())
        self.picture("webapp-connected")

    def deny(self) -> None:
        self.press("Connect an account", "Sign in")
        self.press("Deny", "Accounts")
        check("denied, nothing is connected", len(self.logins()) == 1, self.logins())
        self.browser.go(self.app)
        check("and a notice is shown once", self.browser.evaluate("document.querySelector('[role=status]').innerText") == "")

    def strangers(self) -> None:
        """A callback in another browser, and forms of another site: nothing comes of them."""
        (login,) = self.logins()
        status, headers, _ = ask("POST", f"{self.app}/sign-in", {"user": "alice"}, {"Origin": self.app})
        session = {"Cookie": headers["Set-Cookie"].split(";")[0]}
        status, headers, _ = ask("POST", f"{self.app}/connect", {"login": ""}, {**session, "Origin": self.app})
        check("a log-in begins", status == 303 and headers["Location"].startswith(self.issuer), headers)
        # As a person who was sent this address by somebody else: in their browser there is no binding.
        self.browser.go(headers["Location"])
        self.press("Approve", "Accounts")
        check("a callback in another browser connects nothing", self.logins() == [login], self.browser.text)
        self.sees("and says so", "log-in")
        own = {"Cookie": f"session={self.cookies()['session']['value']}"}
        for origin in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
            status, _, _ = ask("POST", f"{self.app}/disconnect", {"login": login["id"]}, {**own, **origin})
            check(f"a form from {origin or 'nowhere'} is refused", status == 403)
        _, headers, _ = ask("POST", f"{self.app}/sign-in", {"user": "bob"}, {"Origin": self.app})
        bob = {"Cookie": headers["Set-Cookie"].split(";")[0], "Origin": self.app}
        for path in ("/disconnect", "/connect"):
            status, headers, _ = ask("POST", f"{self.app}{path}", {"login": login["id"]}, bob)
            hint = "login_hint" if path == "/connect" else "Location"
            check(f"bob does not {path[1:]} it", status == 404 or "alice" not in headers.get(hint, ""), (status, headers))
        check("all is as it was", self.logins() == [login], self.logins())
        body = ask("GET", f"{self.app}/", headers={"Cookie": bob["Cookie"]})[2].decode()
        check("and bob sees none of it", login["id"] not in body and "alice" not in body, body)
        _, headers, _ = ask("POST", f"{self.app}/sign-in", {"user": "mallory"}, {"Origin": self.app})
        status, _, body = ask("GET", f"{self.app}/", headers={"Cookie": headers["Set-Cookie"].split(";")[0]})
        check("a user whom the policy does not name has nothing", status == 503 and b"policy" in body, body)

    def reconnect(self) -> None:
        (before,) = self.logins()
        check("the provider ends what it granted", ask("POST", f"{self.issuer}/dev/users/alice/revoke")[0] in (200, 204))
        self.run("login", "refresh", before["id"], fails=True)
        self.browser.go(self.app)
        self.sees("the account needs its user", "dev: needs you")
        self.picture("webapp-needs-you")
        self.press("Connect again", "Sign in")
        self.press("Approve", "Accounts")
        self.sees("it is connected again", "dev: connected")
        check("as the same login", [login["id"] for login in self.logins()] == [before["id"]], self.logins())

    def disconnect(self) -> None:
        self.press("Disconnect", "Accounts")
        self.sees("the account is disconnected", "The account is disconnected.")
        check("and gone from the vault", self.logins() == [], self.logins())
        grants = json.loads(ask("GET", f"{self.issuer}/dev/grants")[2])
        check("and from the provider", all(grant["revoked"] for grant in grants if grant["user"] == "alice"), grants)
        self.press("Sign out", "Accounts")
        check("the session ends", "session" not in self.cookies())


def main() -> None:
    given = options()
    with world(given.vaultctl, given.server) as (directory, issuer, environment, run, app, _):
        (directory / "serve.toml").touch(mode=0o600)
        (directory / "serve.toml").write_text(POLICY.format(uid=os.getuid()))
        socket = directory / "serve.sock"
        command = [given.vaultctl, "serve", "--socket", socket, "--policy", directory / "serve.toml"]
        with (
            Program(*map(str, command), "--allow-insecure-loopback", environment=environment) as serve,
            Program(sys.executable, str(ROOT / "Examples/clients/webapp.py"), str(socket), app, "dev") as webapp,
        ):
            check("the application listens", webapp.address() == app)
            for _ in range(600):
                if socket.exists() or serve.process.poll() is not None:
                    break
                time.sleep(0.05)
            check("the vault is served", socket.exists(), serve.said())
            try:
                with Chromium(directory / "profile") as browser:
                    story = Check(browser, app, issuer, run, given.screenshots)
                    story.sign_in()
                    story.connect()
                    story.deny()
                    story.strangers()
                    story.reconnect()
                    story.disconnect()
                    complaints = [text for text in browser.complaints() if "favicon" not in text and "404" not in text]
                    check("the browser has nothing to complain of", not complaints, complaints)
            except BrowserError as error:
                sys.exit(f"serve_check: failed: {error}")
            check("the application made no mistake", "Traceback" not in webapp.said(), webapp.said())
            check("and wrote no code of a callback down", "code=" not in webapp.said(), webapp.said())
            serve.process.send_signal(signal.SIGTERM)
            check("SIGTERM ends the server in good order", serve.process.wait(timeout=30) == 0, serve.said())
    report()


if __name__ == "__main__":
    main()
