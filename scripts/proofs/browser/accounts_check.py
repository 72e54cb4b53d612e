"""The page of connected accounts of Examples/backend, in a real Chromium at dev-authserver: with the keyboard alone.

With --screenshots DIRECTORY the pages are kept as pictures: wide, narrow and dark.

Usage: accounts_check.py PATH-OF-VAULTCTL PATH-OF-DEV-AUTHSERVER PATH-OF-BACKEND [--screenshots DIRECTORY]
"""

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

from chromium import BrowserError, Chromium
from world import Program, ask, check, options, report, world

TAB = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
ENTER = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}


class Check:
    def __init__(self, browser: Chromium, backend: str, issuer: str, run, pictures: Path | None):
        self.browser, self.backend, self.issuer, self.run, self.pictures = browser, backend, issuer, run, pictures

    # What a keyboard does.

    def press(self, key: dict) -> None:
        self.browser.call("Input.dispatchKeyEvent", type="keyDown", **key)
        self.browser.call("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in key.items() if k != "text"})

    def type(self, text: str) -> None:
        self.browser.call("Input.insertText", text=text)

    def focused(self) -> str:
        return self.browser.evaluate(
            "(() => { const e = document.activeElement; if (!e || e === document.body) return '';"
            " return e.labels && e.labels.length ? e.labels[0].innerText.trim() : e.textContent.replace(/\\s+/g, ' ').trim(); })()"
        )

    def tab_to(self, words: str) -> None:
        """Presses the tab key until the focus is on what has this name, and checks that one sees where it is."""
        seen = []
        for _ in range(60):
            self.press(TAB)
            seen.append(self.focused())
            if seen[-1].startswith(words):
                outline = self.browser.evaluate(
                    "(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle + ' ' + s.outlineWidth; })()"
                )
                check(f"the focus on {words} is visible", outline == "solid 3px", outline)
                return
        sys.exit(f"accounts_check: failed: the tab key does not lead to {words!r}: {seen}")

    def use(self, words: str, title: str) -> None:
        self.tab_to(words)
        self.browser.evaluate("window.isOld = true")
        self.press(ENTER)
        self.arrive(title)

    def arrive(self, title: str) -> None:
        self.browser.wait(f"!window.isOld && document.title == {json.dumps(title)} && document.readyState == 'complete'")
        # Chromium moves the focus to what asks for it when it next draws the page, which may be after it is loaded.
        self.browser.wait("!document.querySelector('[autofocus]') || document.activeElement != document.body")

    # What a page must be.

    def page(self, name: str) -> None:
        for suffix, width, height, dark in (
            ("", 1000, 760, False), ("-narrow", 320, 760, False), ("-dark", 1000, 760, True),
        ):  # fmt: skip
            if self.pictures:
                self.browser.screenshot(self.pictures / f"{name}{suffix}.png", width, height, dark)
            else:
                self.browser.call(
                    "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
                )
                self.browser.call(
                    "Emulation.setEmulatedMedia",
                    features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
                )
            check(f"{name}{suffix} fits its width", not self.browser.overflows())
            faint = self.browser.evaluate(CONTRAST)
            check(f"{name}{suffix} can be read", not faint, faint)
        self.browser.call("Emulation.clearDeviceMetricsOverride")
        self.browser.call("Emulation.setEmulatedMedia", features=[])
        check(f"{name} runs nothing", self.browser.evaluate("document.scripts.length") == 0)
        check(f"{name} has one heading", self.browser.evaluate("document.querySelectorAll('h1').length") == 1)
        unnamed = self.browser.evaluate(
            "[...document.querySelectorAll('input:not([type=hidden])')].filter(e => !e.labels.length).length"
            " + [...document.querySelectorAll('button, a, summary')].filter(e => !e.textContent.trim()).length"
        )
        check(f"{name} names every control", unnamed == 0)
        twice = self.browser.evaluate(
            "(() => { const n = [...document.querySelectorAll('main button, main a, main summary')]"
            ".map(e => e.textContent.trim()).filter(t => t != 'Save'); return n.filter((t, i) => n.indexOf(t) != i); })()"
        )
        check(f"{name} names no two controls alike", not twice, twice)
        complaints = [text for text in self.browser.complaints() if "favicon" not in text and "404" not in text]
        check(f"{name} breaks no policy", not complaints, complaints)

    def approve(self) -> None:
        self.arrive("Sign in")
        self.use("Approve", "Connected accounts")

    def notice(self, words: str) -> None:
        check(words, words in self.browser.text, self.browser.text)
        check("the focus is where it is told", self.focused().startswith(words), self.focused())

    # The story.

    def connect(self) -> None:
        self.browser.go(f"{self.backend}/accounts")
        self.page("sign-in")
        self.tab_to("Your name")
        self.type("alice")
        self.use("Sign in", "Connected accounts")
        check("nothing is connected", "No account is connected yet." in self.browser.text)
        self.page("empty")
        self.tab_to("A name for the dev account")
        self.type("Work <b>& home</b>")
        self.use("Connect dev", "Sign in")
        self.approve()
        self.notice("The account is connected.")
        check("the account has its name", "Work <b>& home</b>" in self.browser.text, self.browser.text)
        self.browser.go(f"{self.backend}/accounts")
        self.use("Connect dev", "Sign in")
        self.approve()
        check("two accounts are connected", self.browser.text.count("✓ Connected") == 2, self.browser.text)
        self.page("connected")

    def deny(self) -> None:
        self.use("Connect dev", "Sign in")
        self.arrive("Sign in")
        self.use("Deny", "Connected accounts")
        self.notice("Access was not granted, so nothing was connected.")

    def rename(self) -> None:
        self.tab_to("Rename dev account")
        self.press(ENTER)
        self.tab_to("New name")
        self.type("Private")
        self.page("renaming")
        self.use("Save", "Connected accounts")
        self.notice("The name is changed.")
        check("the account has another name", "Private" in self.browser.text)

    def reconnect(self) -> None:
        """The provider ends a grant: the page says so, and connecting again brings the same login back."""
        logins = {login["id"]: login for login in self.logins()}
        check("the provider ends what it granted", ask("POST", f"{self.issuer}/dev/users/alice/revoke")[0] in (200, 204))
        for name in logins:
            self.run("login", "refresh", name, fails=True)
        self.browser.go(f"{self.backend}/accounts")
        check("both need the person", self.browser.text.count("⚠ Needs you") == 2, self.browser.text)
        self.page("needs-you")
        self.use("Connect again Private", "Sign in")
        self.approve()
        self.notice("The account is connected again.")
        check("one works again", self.browser.text.count("⚠ Needs you") == 1, self.browser.text)
        again = {login["id"]: login for login in self.logins()}
        check("it is the same login", again.keys() == logins.keys(), again.keys())
        standings = sorted((login["label"], login["failure"] is None) for login in again.values())
        check("with its name", standings == [("Private", True), ("Work <b>& home</b>", False)], standings)

    def disconnect(self) -> None:
        self.use("Disconnect Private", "Disconnect an account")
        self.page("disconnect")
        self.use("Keep it", "Connected accounts")
        check("nothing was done", len(self.logins()) == 2)
        self.use("Disconnect Private", "Disconnect an account")
        self.use("Disconnect", "Connected accounts")
        self.notice("The account is disconnected")
        check("it is gone", len(self.logins()) == 1 and "Private" not in self.browser.text, self.browser.text)

    def strangers(self) -> None:
        """What other sites, other people and old pages can do: nothing."""
        cookies = self.browser.call("Network.getCookies", urls=[self.backend])["cookies"]
        (session,) = [cookie for cookie in cookies if cookie["name"] == "session"]
        check("scripts cannot read the session", session["httpOnly"] and session["sameSite"] == "Lax", session)
        token = self.browser.evaluate("document.querySelector('input[name=token]').value")
        (login,) = self.logins()
        path = f"{self.backend}/accounts/{login['id']}/rename"
        own = {"Cookie": f"session={session['value']}"}
        for what, form, headers in (
            ("without a token", {"label": "x"}, own),
            ("with a wrong token", {"label": "x", "token": token[:-1] + "!"}, own),
            ("from another site", {"label": "x", "token": token}, {**own, "Origin": "https://evil.example"}),
            ("from nowhere", {"label": "x", "token": token}, {**own, "Origin": "null"}),
        ):
            check(f"a form {what} is refused", ask("POST", path, form, headers)[0] == 403)
        check("and changes nothing", self.logins()[0]["label"] == login["label"])
        status, headers, _ = ask("POST", f"{self.backend}/sign-in", {"user": "mallory"})
        stranger = {"Cookie": headers["set-cookie" if "set-cookie" in headers else "Set-Cookie"].split(";")[0]}
        body = ask("GET", f"{self.backend}/accounts", headers=stranger)[2].decode()
        check("a stranger sees none of it", "Work" not in body and login["id"] not in body)
        theirs = re.search(r'name="token" value="([^"]+)"', body)[1]
        for verb in ("rename", "disconnect", "reconnect"):
            done = ask("POST", f"{self.backend}/accounts/{login['id']}/{verb}", {"token": theirs, "label": "x"}, stranger)
            check(f"nor can {verb} it", done[0] == 404, done)
        check("nor ask", ask("GET", f"{self.backend}/accounts/{login['id']}/disconnect", headers=stranger)[0] == 404)
        check("all is as it was", self.logins() == [login])
        _, headers, _ = ask("GET", f"{self.backend}/accounts", headers=own)
        policy = {name.lower(): value for name, value in headers.items()}
        check("the policy is strict", "default-src 'none'; style-src 'self'" in policy["content-security-policy"], policy)
        check("the page is not kept", policy["cache-control"] == "no-store")

    def sign_out(self) -> None:
        self.browser.go(f"{self.backend}/accounts")
        self.use("Sign out", "Sign in")
        self.notice("You are signed out.")

    def logins(self) -> list[dict]:
        return json.loads(self.run("login", "list", "--user", "alice", "--json"))["logins"]


# Texts whose colour is too near to what is behind them (WCAG 2.2, 1.4.3).
CONTRAST = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = color => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] == 255) return c; }
    return rgb('Canvas'); };
  return [...document.querySelectorAll('main *')].filter(e => [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()))
    .filter(e => e.checkVisibility()).map(e => { const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))];
      return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), e.textContent.trim()]; }).filter(([ratio]) => ratio < 4.5);
})()"""


def main() -> None:
    given = options("backend")
    with world(given.vaultctl, given.server) as (directory, issuer, environment, run, _, port):
        settings = {
            "PATH": os.environ["PATH"], "BACKEND_PORT": str(port), "BACKEND_PROVIDER": "dev",
            "BACKEND_VAULT": environment["TOKENVAULT_VAULT"], "BACKEND_KEY_FILE": environment["TOKENVAULT_KEY_FILE"],
            "BACKEND_API_URL": f"{issuer}/resource", "BACKEND_ALLOW_INSECURE_LOOPBACK": "1",
        }  # fmt: skip
        with Program(given.backend, environment=settings) as backend:
            try:
                with Chromium(directory / "profile") as browser:
                    story = Check(browser, backend.address(), issuer, run, given.screenshots)
                    story.connect()
                    story.deny()
                    story.rename()
                    story.reconnect()
                    story.disconnect()
                    story.strangers()
                    story.sign_out()
            except BrowserError as error:
                sys.exit(f"accounts_check: failed: {error}")
            for _ in range(100):
                if "an account works again" in backend.said():
                    break
                time.sleep(0.1)
            said = backend.said()
            check("the service heard of the deaths", said.count("an account needs its user") == 2, said)
            check("and of the recovery", said.count("an account works again") == 1, said)
            backend.process.send_signal(signal.SIGTERM)
            check("SIGTERM ends it in good order", backend.process.wait(timeout=30) == 0, backend.said())
            check("it logged no error", " error " not in backend.said(), backend.said())
    report()


if __name__ == "__main__":
    main()
