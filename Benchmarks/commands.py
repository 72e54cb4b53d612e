"""What `vaultctl` takes to look at a whole vault, as an operator sees it: on a terminal."""
import os
import pty
import statistics
import subprocess
import time

from report import Report

# Each with its exit codes: doctor has advice for a vault without a backup.
LOOKING = ((("status",), (0,)), (("doctor",), (0, 3)), (("verify",), (0,)), (("login", "list"), (0,)), (("events",), (0,)))


class Run:
    """One command, with its output on a terminal of its own: seconds until something is to be read, and until the end."""

    def __init__(self, arguments: list[str], codes: tuple[int, ...]):
        ours, theirs = pty.openpty()
        start = time.monotonic()
        child = subprocess.Popen(arguments, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self.first = self.last = 0.0
        while self.reads(ours):
            self.last = time.monotonic() - start
            self.first = self.first or self.last
        os.close(ours)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in codes or not self.first:
            raise SystemExit(f"{' '.join(arguments)} ended with {child.returncode}")
        self.peak = usage.ru_maxrss / 1024

    @staticmethod
    def reads(terminal: int) -> bool:
        try:
            return bool(os.read(terminal, 1 << 16))
        except OSError:  # the last one who writes there has ended
            return False


class Commands(Report):
    def __init__(self, vaultctl: str, rounds: int):
        super().__init__()
        self.vaultctl, self.rounds = vaultctl, rounds

    def look(self, small, big) -> None:
        """The same commands on a small vault and on a big one."""
        for words, codes in LOOKING:
            runs = {bench.logins: [self.run(words, bench, codes) for _ in range(self.rounds if words == ("status",) else 1)]
                    for bench in (small, big)}
            few, many = runs[small.logins], runs[big.logins]
            name = "vaultctl " + " ".join(words)
            seconds = statistics.median(run.last for run in many)
            note = f"{seconds:.2f} s in all, {seconds / big.logins * 1e6:.1f} µs a login"
            if words == ("status",):
                self.report(f"{name}, {big.logins} logins, s", seconds, "≤ 2")
            self.report(f"{name}, first output, ms", statistics.median(run.first for run in many) * 1000, "≤ 100", note)
            peak, least = (statistics.median(run.peak for run in runs) for runs in (many, few))
            self.report(f"{name}, memory, big over small", peak / least, "≤ 1.25", f"{peak:.1f} MiB at most")

    def run(self, words: tuple[str, ...], bench, codes: tuple[int, ...]) -> Run:
        return Run([self.vaultctl, *words, "--vault", bench.vault, "--key-file", bench.key], codes)
