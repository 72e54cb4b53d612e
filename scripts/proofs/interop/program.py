"""A program under test that says where it listens."""

import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Program:
    """A program that says where it listens. Ended by its own process id, whatever happens."""

    def __init__(self, *command: str, environment: dict | None = None):
        self.output = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=self.output, stderr=subprocess.STDOUT
        )

    def said(self) -> str:
        self.output.seek(0)
        return self.output.read()

    def address(self) -> str:
        for _ in range(600):
            line = re.search(r"listening on (?:http://)?(127\.0\.0\.1:\d+)", self.said())
            if line:
                return f"http://{line[1]}"
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        sys.exit(f"{Path(sys.argv[0]).stem}: failed: {self.process.args[0]} does not listen: {self.said()}")

    def end(self, wanted: signal.Signals) -> int:
        self.process.send_signal(wanted)
        return self.process.wait(timeout=30)

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()
        self.output.close()
