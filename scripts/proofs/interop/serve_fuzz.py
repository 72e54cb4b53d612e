"""Sends `vaultctl serve` as many wrong requests as it is told to, and searches every reply, and the log, for secrets.

Usage: serve_fuzz.py PATH-OF-VAULTCTL PATH-OF-DEV-AUTHSERVER [--replies N] [--processes N] [--seed N]

Several processes, each with several connections, pipeline requests of every operation of the contract. Some connections
end with bytes that are no request. Tokens are renewed and users log in and out meanwhile, so the secrets change.
"""

import argparse
import json
import multiprocessing
import pickle
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from harness import running
from jwt.algorithms import ECAlgorithm
from serve_clients import run_client
from serve_hostile import memory
from serve_kit import Serve, Soft, World
from serve_mutations import Facts, Mutations, read_contract
from serve_secrets import MARKER, Held, Sieve, search

# In KiB: what the server may need more at the end than after a fifth of the replies.
GROWTH = 65_536


def prepare(world: World, key: ec.EllipticCurvePrivateKey) -> list[tuple[str, str, str]]:
    """Logins of three providers: with a secret, bound to keys, and with signed assertions."""
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    world.tool(
        "provider", "add", "signed", "--client-id", "signed", "--client-auth", "private_key_jwt",
        "--client-key-file", world.tool.secret("client.pem", pem.decode()), "--issuer", world.issuer,
        "--scope", "openid read offline_access", "--redirect-uri", "https://app.example/callback",
        "--allow-insecure-loopback",
    )  # fmt: skip
    world.secrets["client key"] = [key.private_numbers().private_value.to_bytes(32, "big"), *pem.split(b"\n")[1:-2]]
    added, logged_in = ["alice", "bob"], [("dora", "bound"), ("emil", "signed"), ("alice", "bound")]
    for user in added:
        world.add_login(user)
    with Serve(world, "log-in") as serve:
        for user, provider in logged_in:
            world.log_in(serve, user, provider)
        world.check("it ends with 0", serve.end() == 0, serve.said())
    known = {*logged_in, *((user, "acme") for user in added + add_betrayed(world))}
    logins = world.tool.json("login", "list")["logins"]
    found = [(each["user"], each["provider"], each["id"]) for each in logins]
    world.check("all of them are there", {each[:2] for each in found} == known, found)
    return found


def add_betrayed(world: World) -> list[str]:
    """Users whose provider repeats their refresh token in what it says of it."""
    errors = {"fred": (400, "invalid_grant"), "gina": (400, "{token}"), "hugo": (503, "temporarily_unavailable")}
    for user, (status, error) in errors.items():
        world.add_login(user)
        token = world.secrets["refresh token"][-1].decode()
        body = json.dumps({"error": error.replace("{token}", token), "error_description": f"{token} demo-basic-secret"})
        world.post("/dev/faults", {"path": "/token", "user": user, "status": status, "body": body, "times": 0})
    return list(errors)


@dataclass
class Outcome:
    sieve: Sieve
    counts: Counter[tuple[str, int]]
    held: Held
    # Replies so far, and the server's memory in KiB.
    memory: list[tuple[int, int]]
    seconds: float
    renewals: int = 0


def watch(serve: Serve, held: Held, clients: list, progress: list, replies: int) -> list[tuple[int, int]]:
    """Until they have ended: how much memory the server needs, and which secrets there are meanwhile."""
    seen, told = [(0, memory(serve))], 0
    while any(client.is_alive() for client in clients):
        done = sum(each.value for each in progress)
        seen.append((done, memory(serve)))
        if done * 10 // replies > told:
            told = done * 10 // replies
            held.read()
            print(f"serve_fuzz: {done} replies, {seen[-1][1] // 1024} MiB", flush=True)
        time.sleep(0.5)
    for client in clients:
        client.join()
    return [*seen, (sum(each.value for each in progress), memory(serve))]


def fuzz(world: World, wanted: argparse.Namespace, serve: Serve, logins: list) -> Outcome:
    facts = Facts(world.issuer, logins, read_contract(serve.ask("GET", "/v1/openapi.json").json))
    world.check("every operation of the contract is asked", not Mutations(facts, random.Random()).missing)
    held, started = Held(world), time.monotonic()
    held.read()
    context = multiprocessing.get_context("fork")
    progress = [context.Value("q", 0, lock=False) for _ in range(wanted.processes)]
    paths = [world.directory / f"found-{number}" for number in range(wanted.processes)]
    share = -(-wanted.replies // wanted.processes)
    clients = [
        context.Process(
            target=run_client, args=(serve, facts, f"{wanted.seed}-{number}", str(number), share, each, path)
        )
        for number, (each, path) in enumerate(zip(progress, paths))
    ]
    for client in clients:
        client.start()
    seen = watch(serve, held, clients, progress, wanted.replies)
    held.read()
    outcome, strange = Outcome(Sieve(), Counter(), held, seen, time.monotonic() - started), []
    for path in paths:
        # Pickles of this program's own children.
        with path.open("rb") as file:
            sieve, counts, odd = pickle.load(file)
        outcome.sieve.merge(sieve)
        outcome.counts += counts
        strange += odd
    world.check("nothing strange happens", not strange, "\n".join(strange[:5]))
    good = {operation for operation, status in outcome.counts if status == 200}
    missing = {f"{method} {path}" for method, path in facts.contract} - good
    world.check("every operation has also been answered with 200", not missing, missing)
    return outcome


def ask_a_lot(world: World, wanted: argparse.Namespace, key: ec.EllipticCurvePrivateKey) -> Outcome:
    logins = prepare(world, key)
    before = renewals(world)
    with Serve(world, "fuzz") as serve:
        outcome = fuzz(world, wanted, serve, logins)
        prompt, reply = serve.is_prompt(), serve.token(user="alice", provider="acme")
        world.check("it answers at the end", prompt[0] and reply.status == 200, (prompt, reply))
        world.check("it ends with 0", serve.end() == 0, serve.said()[-2000:])
    outcome.renewals = renewals(world) - before
    world.check("tokens were renewed meanwhile", outcome.renewals > 10, outcome.renewals)
    begin, end = after_a_fifth(outcome.memory, wanted.replies), outcome.memory[-1][1]
    world.check("its memory does not grow without end", end - begin < GROWTH, f"{begin} to {end} KiB")
    return outcome


def renewals(world: World) -> int:
    return sum(grant["refresh_requests"] for grant in world.get("/dev/grants"))


def after_a_fifth(seen: list[tuple[int, int]], replies: int) -> int:
    return next((size for done, size in seen if done >= replies // 5), seen[-1][1])


def report(outcome: Outcome, wanted: argparse.Namespace, searched: Counter[str], log: int) -> None:
    counts, statuses, good = outcome.counts, Counter(), Counter()
    for (operation, status), count in sorted(counts.items()):
        statuses[f"{status}"] += count
        statuses[f"{status // 100}xx"] += count
        good[operation] += count if status == 200 else 0
    print(f"serve_fuzz: {counts.total()} replies, {outcome.sieve.size // 1_000_000} MB with the log, "
          f"{counts.total() / outcome.seconds:.0f} a second")  # fmt: skip
    print(f"serve_fuzz: {', '.join(f'{count} with {status}' for status, count in sorted(statuses.items()))}")
    print(f"serve_fuzz: with 200: {', '.join(f'{count} of {operation}' for operation, count in good.items())}")
    sizes = outcome.memory[0][1], after_a_fifth(outcome.memory, wanted.replies), outcome.memory[-1][1]
    first, fifth, last = (size // 1024 for size in sizes)
    print(f"serve_fuzz: {outcome.renewals} renewals; its log has {log // 1000} kB")
    print(f"serve_fuzz: the server had {first} MiB at first, {fifth} after a fifth, {last} at the end")
    print(f"serve_fuzz: searched {len(outcome.sieve.words)} words for secrets: "
          + ", ".join(f"{count} × {name}" for name, count in searched.items() if name != "access token"))  # fmt: skip


def main(wanted: argparse.Namespace) -> None:
    check, started = Soft("serve_fuzz"), time.monotonic()
    print(f"serve_fuzz: seed {wanted.seed}", flush=True)
    key = ec.generate_private_key(ec.SECP256R1())
    options = ("--secret-marker", MARKER.decode(), "--client", f"signed:jwt:{ECAlgorithm.to_jwk(key.public_key())}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        with running(wanted.server, *options) as issuer:
            world = World(wanted.program, issuer, Path(name), check)
            outcome = ask_a_lot(world, wanted, key)
            for path in world.logs:
                outcome.sieve.add_file(path)
            searched = search(world, outcome.sieve, outcome.held, "id token", "DPoP key", "client key")
            world.tool("verify")
            report(outcome, wanted, searched, sum(path.stat().st_size for path in world.logs))
    if check.failures:
        sys.exit(f"serve_fuzz: {check.failures} of {check.passed + check.failures} checks failed")
    print(f"serve_fuzz: no secret found; {check.passed} checks passed in {time.monotonic() - started:.1f} s")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("server")
    parser.add_argument("--replies", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    return parser.parse_args()


if __name__ == "__main__":
    main(read_arguments())
