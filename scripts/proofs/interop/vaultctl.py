"""The built vaultctl on a vault of its own, and counted checks of what it does."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit


class Checks:
    """Counts what holds; the first thing that does not ends the run."""

    def __init__(self, name: str):
        self.name, self.passed = name, 0

    def __call__(self, what: str, holds: bool, detail: object = "") -> None:
        if not holds:
            sys.exit(f"{self.name}: failed: {what} {detail}".rstrip())
        self.passed += 1


class Vaultctl:
    def __init__(self, program: str, directory: Path, check: Checks):
        self.program, self.check, self.directory = program, check, directory
        self.environment = {
            "PATH": os.environ["PATH"],
            "TOKENVAULT_VAULT": str(directory / "check.vault"),
            "TOKENVAULT_KEY_FILE": str(directory / "check.key"),
        }
        self("init")

    def __call__(self, *arguments: str, code: int = 0, stdin: str = "") -> str:
        done = subprocess.run(
            [self.program, *arguments], env=self.environment, input=stdin, capture_output=True, text=True, timeout=60
        )
        what = f"vaultctl {' '.join(arguments[:2])} ends with {code}"
        self.check(what, done.returncode == code, f"({done.returncode}): {done.stderr}")
        return done.stdout.strip()

    def json(self, *arguments: str) -> dict:
        return json.loads(self(*arguments, "--json"))

    def secret(self, name: str, text: str) -> str:
        """The path of a file with a secret in it."""
        path = self.directory / name
        path.touch(mode=0o600)
        path.write_text(text)
        return str(path)

    def open(self, *arguments: str) -> "LogInOpen":
        return LogInOpen([self.program, "login", "open", "--no-browser", "--timeout", "60s", *arguments], self)


class LogInOpen:
    """`vaultctl login open` while it waits for the browser."""

    def __init__(self, command: list[str], tool: Vaultctl):
        self.process = subprocess.Popen(
            command, env=tool.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        said = ""
        while "Waiting for the browser" not in said:
            line = self.process.stderr.readline()
            if not line:
                sys.exit(f"{tool.check.name}: failed: vaultctl login open ended early: {said}")
            said += line
            if line.startswith("http"):
                self.url = line.strip()
        self.query = {name: values[0] for name, values in parse_qs(urlsplit(self.url).query).items()}

    def end(self) -> tuple[int, str, str]:
        output, error = self.process.communicate(timeout=30)
        return self.process.returncode, output.strip(), error
