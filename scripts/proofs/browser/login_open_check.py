"""Logs in with `vaultctl login open` and a real Chromium at dev-authserver's login page.

The browser presses the buttons; the pages, what they load, what stays in the browser's history and what vaultctl makes
of it are checked. With --screenshots DIRECTORY the pages are kept as pictures: wide, narrow and dark.

Usage: login_open_check.py PATH-OF-VAULTCTL PATH-OF-DEV-AUTHSERVER [--screenshots DIRECTORY]
"""

import argparse
import contextlib
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from chromium import BrowserError, Chromium
from world import check, report


@contextlib.contextmanager
def running(program: str, *options: str) -> Iterator[str]:
    process = subprocess.Popen(
        [program, "--exit-with-stdin", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process.stdout.readline().removeprefix("listening on ").strip()
    finally:
        process.stdin.close()
        process.wait(timeout=10)


class LogIn:
    """A run of `vaultctl login open`."""

    def __init__(self, vaultctl: str, environment: dict, *options: str):
        self.process = subprocess.Popen(
            [vaultctl, "login", "open", "--user", "alice", "--provider", "dev", "--timeout", "60s", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.url = ""
        self.said = ""
        while "Waiting for the browser" not in self.said:
            line = self.process.stderr.readline()
            if not line:
                sys.exit(f"login_open_check: vaultctl ended early: {self.said}")
            self.said += line
            if line.startswith("http"):
                self.url = line.strip()
        query = parse_qs(urlsplit(self.url).query)
        self.state, self.redirect_uri = query["state"][0], query["redirect_uri"][0]

    def end(self) -> tuple[int, str, str]:
        output, error = self.process.communicate(timeout=30)
        return self.process.returncode, output, error


class Check:
    def __init__(self, vaultctl: str, issuer: str, browser: Chromium, directory: Path, pictures: Path | None):
        self.vaultctl, self.issuer, self.browser, self.pictures = vaultctl, issuer, browser, pictures
        self.directory = directory
        self.environment = {
            "PATH": os.environ["PATH"],
            "TOKENVAULT_VAULT": str(directory / "check.vault"),
            "TOKENVAULT_KEY_FILE": str(directory / "check.key"),
        }
        self.run("init")
        self.run("provider", "add", "dev", "--issuer", issuer, "--client-id", "demo", "--scope", "read offline_access",
                 "--redirect-uri", "http://127.0.0.1/callback", "--allow-insecure-loopback")  # fmt: skip

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.vaultctl, *arguments], env=self.environment, capture_output=True, text=True, timeout=60
        )
        check(f"vaultctl {arguments[0]}", done.returncode == 0, done.stderr)
        return done.stdout

    def picture(self, name: str) -> None:
        for suffix, width, height, dark in (
            ("", 1000, 620, False), ("-narrow", 320, 620, False), ("-dark", 1000, 620, True),
        ):  # fmt: skip
            if self.pictures:
                self.browser.screenshot(self.pictures / f"{name}{suffix}.png", width, height, dark)
            else:
                self.browser.call(
                    "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
                )
            check(f"{name}{suffix} fits its width", not self.browser.overflows())
        self.browser.call("Emulation.clearDeviceMetricsOverride")

    def log_in(self, *options: str) -> LogIn:
        self.browser.go("about:blank")
        self.browser.forget()
        return LogIn(self.vaultctl, self.environment, "--no-browser", *options)

    def result(self, log_in: LogIn, title: str) -> None:
        """The page at which the browser ends, and what is left of the way there."""
        self.browser.wait(f"document.title == {json.dumps(title)} && document.readyState == 'complete'")
        origin = "http://" + urlsplit(log_in.redirect_uri).netloc
        check("the page's address says nothing", self.browser.address.startswith(origin + "/done/"))
        answers = [u for u in self.browser.history if u.startswith(log_in.redirect_uri) and log_in.state in u]
        check("the back button does not lead to the code", not answers, answers)
        foreign = [
            url for url in self.browser.requests() if not url.startswith((origin, self.issuer, "about:", "data:"))
        ]
        check("nothing else was loaded", not foreign, foreign)
        complaints = [text for text in self.browser.complaints() if "404" not in text and "REFUSED" not in text]
        check("the browser has nothing to complain of", not complaints, complaints)
        check("nothing runs in the page", self.browser.evaluate("document.scripts.length") == 0)

    def approve(self) -> None:
        log_in = self.log_in()
        self.browser.go(log_in.url)
        check("the login page", "Let demo act for you?" in self.browser.text)
        self.picture("login")
        self.browser.click("button[value=approve]")
        self.result(log_in, "You are logged in")
        code, output, error = log_in.end()
        check("vaultctl is content", code == 0, error)
        login = json.loads(self.run("login", "show", output.strip(), "--json"))
        check("the login is in the vault", login["user"] == "alice" and login["state"] == "established", login)
        check("nothing secret was said", not re.search(r"[?&]code=", output + error + log_in.said))
        self.picture("done")

    def deny(self) -> None:
        before = self.run("login", "list", "--json")
        log_in = self.log_in()
        self.browser.go(log_in.url)
        self.browser.click("button[value=deny]")
        self.result(log_in, "Access was denied")
        check("the reason is on the page", "the user said no (access_denied)" in self.browser.text)
        code, output, error = log_in.end()
        check("vaultctl says so", code == 9 and "refused" in error and output == "", (code, error))
        check("nothing was stored", self.run("login", "list", "--json") == before)
        self.picture("denied")

    def words_of_others(self) -> None:
        """Markup in the provider's words stays words, and long ones do not break the page."""
        log_in = self.log_in()
        words = "<script>document.title='run'</script><img src=http://127.0.0.1:1/x onerror=alert(1)>" + "long" * 40
        self.browser.go(
            f"{log_in.redirect_uri}?error=server_error&error_description={quote(words)}"
            f"&state={log_in.state}&iss={quote(self.issuer, safe='')}"
        )
        self.result(log_in, "The provider refused the log-in")
        check("the words are words", "<script>document.title" in self.browser.text)
        check("and nothing more", self.browser.evaluate("document.images.length") == 0)
        check("vaultctl refuses", log_in.end()[0] == 9)
        self.picture("words")

    def wrong_turns(self) -> None:
        """Only the right answer ends the wait."""
        log_in = self.log_in()
        for address, title in (
            (log_in.redirect_uri + "?code=x&state=wrong", "This is not the answer to your log-in"),
            (log_in.redirect_uri + "/other", "There is nothing here"),
            (log_in.redirect_uri.replace("/callback", "/"), "There is nothing here"),
        ):
            self.browser.go(address)
            self.browser.wait(f"document.title == {json.dumps(title)}")
            check(title, True)
            if "state=wrong" in address:
                self.picture("wrong")
        check("it still waits", log_in.process.poll() is None)
        self.browser.go(log_in.url)
        self.browser.click("button[value=approve]")
        self.browser.wait("document.title == 'You are logged in'")
        check("and takes the right one", log_in.end()[0] == 0)

    def unfinished(self) -> None:
        """A code that the server does not take."""
        log_in = self.log_in()
        self.browser.go(f"{log_in.redirect_uri}?code=x&state={log_in.state}&iss={quote(self.issuer, safe='')}")
        self.result(log_in, "The log-in could not be finished")
        check("vaultctl says why", log_in.end()[0] == 9)
        self.picture("unfinished")

    def own_browser(self) -> None:
        """$BROWSER is started without a shell, with an address as one argument that leads to the provider once."""
        seen = self.directory / "seen"
        script = self.directory / "browser"
        script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{shlex.quote(str(seen))}.new\nmv {seen}.new {seen}\n')
        script.chmod(0o700)
        self.environment["BROWSER"] = f"/nowhere/browser:{script} --new-window %s"
        self.browser.go("about:blank")
        log_in = LogIn(self.vaultctl, self.environment, "--browser")
        for _ in range(200):
            if seen.exists():
                break
            time.sleep(0.05)
        option, address = seen.read_text().splitlines()
        check("the browser got the address whole", option == "--new-window" and urlsplit(address).hostname == "127.0.0.1")
        # Anyone on this machine can read the arguments of a process.
        check("and no state in it", log_in.state not in address and not urlsplit(address).query)
        self.browser.go(address)
        self.browser.click("button[value=approve]")
        self.browser.wait("document.title == 'You are logged in'")
        check("and brought the answer", log_in.end()[0] == 0)

        self.environment["BROWSER"] = "/nowhere/browser"
        self.environment["PATH"] = str(self.directory)
        log_in = LogIn(self.vaultctl, self.environment, "--browser")
        check("no browser is no failure", "could not start a browser" in log_in.said)
        log_in.process.terminate()
        code, _, error = log_in.end()
        check("a signal ends it", code == 143, (code, error))


def addresses_shown(profile: Path) -> list[str]:
    """What the browser's page of past visits shows: the ends of redirects, not the steps on the way."""
    chain_end = 0x20000000
    urls = []
    for file in profile.rglob("History"):
        with contextlib.closing(sqlite3.connect(file)) as database:
            urls += [
                row[0]
                for row in database.execute(
                    "SELECT urls.url FROM urls JOIN visits ON visits.url = urls.id WHERE visits.transition & ?", [chain_end]
                )
            ]
    return urls


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("vaultctl")
    parser.add_argument("server")
    parser.add_argument("--screenshots", type=Path)
    options = parser.parse_args()
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        directory = Path(name)
        profile = directory / "profile"
        try:
            with running(options.server, "--auto-approve", "no") as issuer, Chromium(profile) as browser:
                checks = Check(options.vaultctl, issuer, browser, directory, options.screenshots)
                checks.approve()
                checks.deny()
                checks.words_of_others()
                checks.wrong_turns()
                checks.unfinished()
                checks.own_browser()
        except BrowserError as error:
            sys.exit(f"login_open_check: failed: {error}")
        shown = addresses_shown(profile)
        check("the browser keeps a history", any("/done/" in url for url in shown))
        answers = [url for url in shown if "/callback?" in url and "state=wrong" not in url]
        check("no answer is in the history that the browser shows", not answers, answers)
    report()


if __name__ == "__main__":
    main()
