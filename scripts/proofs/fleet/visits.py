"""What comes and goes beside a service: commands of an operator, a machine that was made from a copy of another, clocks that
are set.
"""

import os
import random
import shutil
import signal
import subprocess
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

from network import Machine

# What `vaultctl` may answer while a server fails: partly done, held, busy, a login that has ended, the provider.
ANSWERS = {0, 3, 5, 6, 8, 9}


class Visitors:
    """Short processes on all machines, one after the other on each."""

    def __init__(self, folder: Path, program: Path, vault: Callable[[], str], key: Path, counts: Counter[str]):
        self.folder, self.program, self.vault, self.key, self.counts = folder, str(program), vault, key, counts
        # By machine: held while one that changes something is under way there.
        self.quiet: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self.clones = 0

    def wait_for_quiet(self) -> None:
        for lock in list(self.quiet.values()):
            with lock:
                pass

    def start(self, machine: Machine, *words: str, state: Path | None = None) -> subprocess.Popen:
        environment = {**os.environ, "PGPASSFILE": str(self.folder / "pass"),
                       "TOKENVAULT_STATE_DIRECTORY": str(state or self.folder / machine.name)}
        return machine.start(
            self.program, *words, "--key-file", str(self.key), "--vault", self.vault(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)

    def run(self, machine: Machine, *words: str, **more) -> int:
        process = self.start(machine, *words, **more)
        _, said = process.communicate(timeout=120)
        if process.returncode not in ANSWERS:
            raise OSError(f"vaultctl {' '.join(words)}: {process.returncode}: {said[-500:]}")
        return process.returncode

    def change(self, machine: Machine, user: str, kills: bool = False) -> None:
        """Renews a login, or takes its token: as `cron` does, or a script. Now and then it is killed."""
        words = random.choice((("login", "refresh", "--user", user), ("token", "get", "--user", user)))
        self.counts["short processes"] += 1
        if not kills:
            self.run(machine, *words)
            return
        process = self.start(machine, *words)
        try:
            process.wait(random.uniform(0, 0.4))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            self.counts["kills"] += 1
        process.communicate()

    def read(self, machine: Machine) -> None:
        self.counts["short processes"] += 1
        self.run(machine, "status", "--brief")

    def clone(self, original: Machine, elsewhere: Machine) -> None:
        """The state directory of a machine whose service runs, on another one, which then looks after what its dead left."""
        self.clones += 1
        copy = self.folder / f"clone-{self.clones}"
        # Files come and go meanwhile: an image of a running machine has some of them.
        try:
            shutil.copytree(self.folder / original.name, copy, symlinks=True)
        except shutil.Error:
            pass
        try:
            self.run(elsewhere, "maintain", "--once", state=copy)
        finally:
            shutil.rmtree(copy, ignore_errors=True)
        self.counts["clones of a machine"] += 1


class Clock:
    """The clock of a process and its children, which is ahead by as many seconds as a file says."""

    def __init__(self, folder: Path, name: str):
        self.file, self.next = folder / f"{name}.clock", folder / f"{name}.clock.next"
        self.is_ahead = False
        self.set(0)

    def set(self, ahead: int) -> None:
        """As a whole: it may be read at any moment."""
        self.next.write_text(str(ahead))
        self.next.rename(self.file)

    def jump(self) -> None:
        """Not behind: certificates are good from now on."""
        self.is_ahead = not self.is_ahead
        self.set(3_600 if self.is_ahead else 0)

    def environment(self, library: Path | None) -> dict[str, str]:
        return {"LD_PRELOAD": str(library), "TEST_CLOCK": str(self.file)} if library else {}


def compile_clock(folder: Path) -> Path | None:
    """nil without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library = folder / "clock.so"
    source = Path(__file__).with_name("clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    library.chmod(0o755)
    return library
