"""Three machines share a vault on a server, and are stopped, killed, cut off and failed over: see docs/testing.md.

    scripts/proofs/fleet/check.py BINARIES [--failovers N] [--lossy N] [--holds N] [--promotions N] [--restores N]
                                   [--one-hold] [--kills N] [--cuts N] [--serve-kills N] [--seed N]
"""

import argparse
import contextlib
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from database import Cluster
from fleet import Authority, Fleet, write_profiles
from lossy import Asynchronously
from network import network
from part import Part
from parts import Gently, Roughly
from served import Served
from visits import compile_clock

# A login may end when it is accepted. So that enough go on living, a vault is held only so often.
HOLDS_OF_A_VAULT = 2
# A kill ends a login of the strict provider now and then, too.
SERVE_KILLS_OF_A_VAULT = 100
# What holds all logins, each in half a minute or more.
HOLDING = ("holds", "promotions", "restores")


def parts(fleet: Fleet, wanted: argparse.Namespace) -> list[Part]:
    """What is asked for, in parts. Their limits end hangs: more than ten times what they need."""
    cuts = wanted.cuts // 5
    made: list[Part] = [Gently(
        fleet, 1, {"failovers": wanted.failovers, "cuts": cuts * 2}, 900 + 120 * wanted.failovers + 8 * cuts)]
    rounds = max(1, -(-wanted.holds // HOLDS_OF_A_VAULT))
    for number in range(rounds):
        lossy, holds, few, promotions, restores = (
            (total + number) // rounds
            for total in (wanted.lossy, wanted.holds, cuts, wanted.promotions, wanted.restores))
        made.append(Asynchronously(
            fleet, len(made) + 1,
            {"failovers": lossy + holds, "cuts": few, "promotions": promotions, "restores": restores},
            900 + 120 * lossy + 240 * (holds + promotions + restores) + 8 * few, holds=holds))
    rest = wanted.cuts - 3 * cuts
    made.append(Roughly(
        fleet, len(made) + 1, {"kills": wanted.kills, "cuts": rest}, 900 + 2 * wanted.kills + 4 * rest))
    rounds = -(-wanted.serve_kills // SERVE_KILLS_OF_A_VAULT)
    for number in range(rounds):
        kills = (wanted.serve_kills + number) // rounds
        few = 1 + kills // 10
        made.append(Served(
            fleet, len(made) + 1, {"kills": kills, "take-overs": few, "stops": few, "cuts": few}, 900 + 10 * kills))
    return made


def leave_one_hold(wanted: argparse.Namespace) -> None:
    chosen = random.choice(HOLDING)
    for kind in HOLDING:
        setattr(wanted, kind, int(kind == chosen))
    print(f"machines: logins are held once, by one of the {chosen}", flush=True)


def main(wanted: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="machines-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    folder.chmod(0o711)
    names = ["machine1", "machine2", "machine3", "primary", "standby", "third", "provider"]
    started = time.monotonic()
    counts: Counter[str] = Counter()
    problems: list[str] = []
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        machines = stack.enter_context(network(names))
        databases = [machines[name] for name in names[3:6]]
        cluster = Cluster(databases, folder)
        stack.callback(cluster.stop)
        workers = [machines[name] for name in names[:3]]
        authority = Authority(machines["provider"], str(wanted.binaries / "dev-authserver"), workers)
        stack.callback(authority.stop)
        password = folder / "pass"
        password.write_text(f"*:*:*:*:{cluster.password}\n")
        password.chmod(0o600)
        write_profiles(folder)
        clock = compile_clock(folder)
        for part in parts(Fleet(workers, databases, cluster, authority, folder, wanted.binaries, clock), wanted):
            part.run()
            counts += part.counts
            problems += part.problems
            if problems:
                break
        for problem in problems[:40]:
            print(f"machines: {problem}", file=sys.stderr)
    told = ("kills", "stops", "take-overs", "cuts", "failovers", "promotions", "restores", "holds", "short processes",
            "clones of a machine", "clocks set by an hour")
    print(f"machines, in all: {', '.join(f'{counts[what]} {what}' for what in told)}; {time.monotonic() - started:.0f} s")
    return 1 if problems else 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries", type=Path)
    parser.add_argument("--failovers", type=int, default=1, help="to a synchronous standby")
    parser.add_argument("--lossy", type=int, default=1, help="to a standby that lacks the last commits")
    parser.add_argument("--holds", type=int, default=1, help="of this kind, while processes are killed")
    parser.add_argument("--promotions", type=int, default=1, help="of a standby that lacks what the other one has")
    parser.add_argument("--restores", type=int, default=1, help="from a base backup that is started in the primary's place")
    parser.add_argument("--one-hold", action="store_true",
                        help="one of the last three, which the seed chooses, instead of the numbers given")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--serve-kills", type=int, default=10, help="of servers whose clients ask for tokens")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    return parser.parse_args()


if __name__ == "__main__":
    wanted = read_arguments()
    print(f"machines: seed {wanted.seed}", flush=True)
    random.seed(wanted.seed)
    if wanted.one_hold:
        leave_one_hold(wanted)
    # Everything that was started ends with this program, also if it is told to.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(wanted))
