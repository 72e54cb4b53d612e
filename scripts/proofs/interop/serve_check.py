"""Drives a real `vaultctl serve` as programs in any language would, and as none should.

Its contract by schemathesis, hostile clients by raw sockets, reload, take-over and the end, a thousand callers of one
login; and nothing that it ever wrote is a secret.

Usage: serve_check.py PATH-OF-VAULTCTL PATH-OF-DEV-AUTHSERVER [PART…]
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import serve_contract
import serve_hostile
import serve_life
from harness import running
from serve_kit import POLICY, Serve, Soft, World, background
from serve_secrets import MARKER, Held, Sieve, search

# On one server; the one that is slow has another, beside all that follow.
HOSTILE = [
    serve_hostile.request_lines, serve_hostile.methods, serve_hostile.header_fields, serve_hostile.lengths,
    serve_hostile.long_bodies, serve_hostile.documents, serve_hostile.half_closed, serve_hostile.idle_connections,
    serve_hostile.deaf_client, serve_hostile.too_many, serve_hostile.killed_client, serve_hostile.strangers,
]  # fmt: skip
LIFE = [
    serve_life.places, serve_life.policies, serve_life.reload, serve_life.slips, serve_life.take_over, serve_life.events,
    serve_life.end, serve_life.crowd, serve_life.activated,
]  # fmt: skip


def secrets(world: World) -> None:
    """That no reply, no line of a log and no error has a secret in it."""
    sieve = Sieve()
    sieve.add(world.transcript.text())
    for path in world.logs:
        sieve.add_file(path)
    held = Held(world)
    held.read()
    search(world, sieve, held)
    errors = [
        line
        for path in world.logs
        for line in path.read_text(errors="replace").splitlines()
        if "error:" in line or "Fatal" in line
    ]
    world.check("no server has logged an error", not errors, errors[:3])


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, server, *parts = sys.argv[1:]
    # A thousand connections, and both ends of some.
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    check, started, times, cases = Soft("serve_check"), time.monotonic(), {}, 0

    def does(part, *arguments):
        begun = time.monotonic()
        result = part(*arguments)
        times[part.__name__] = time.monotonic() - begun
        return result

    def wanted(part) -> bool:
        return not parts or part.__name__ in parts

    options = ("--secret-marker", MARKER.decode())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, running(server, *options) as issuer:
        # Other users of the machine reach the socket; the vault, its key and the policy they do not.
        os.chmod(name, 0o711)
        world = World(program, issuer, Path(name), check)
        world.policy.write_text(POLICY.format(uid=os.getuid()) + serve_hostile.LITTLE)
        for user in ("alice", "bob"):
            world.add_login(user)
        with Serve(world, "hostile", "--socket-mode", "0666") as serve:
            open_before = serve_hostile.descriptors(serve)
            for part in filter(wanted, HOSTILE):
                does(part, world, serve)
                check(f"it runs after {part.__name__}", serve.process.poll() is None, serve.said()[-2000:])
            waited = time.monotonic()
            while serve_hostile.descriptors(serve) > open_before + 20 and time.monotonic() - waited < 60:
                time.sleep(0.1)
            check("no connection is left open", serve_hostile.descriptors(serve) <= open_before + 20,
                  f"{open_before} to {serve_hostile.descriptors(serve)}")  # fmt: skip
            check("it ends with 0", serve.end() == 0, serve.said()[-2000:])
        with (
            Serve(world, "slow") as slow,
            background(lambda: wanted(serve_hostile.slow_clients) and does(serve_hostile.slow_clients, world, slow)),
        ):
            if wanted(serve_contract.schemathesis):
                with Serve(world, "contract") as serve:
                    document = serve.ask("GET", "/v1/openapi.json").json
                    does(serve_contract.shape, world, document)
                    does(serve_contract.answers, world, serve, document)
                    does(serve_contract.log_ins, world, serve)
                    does(serve_contract.examples, world, serve)
                    cases = does(serve_contract.schemathesis, world, serve)
                    check("it ends with 0", serve.end() == 0, serve.said()[-2000:])
            for part in filter(wanted, LIFE):
                does(part, world)
        if not parts:
            secrets(world)
            world.tool("verify")
    print("serve_check: " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in times.items()))
    print(
        f"serve_check: {cases} cases of schemathesis, {sum(map(len, world.transcript.parts)) // 1000} kB of replies looked through"
    )
    if check.failures:
        sys.exit(
            f"serve_check: {check.failures} of {check.passed + check.failures} checks failed in {time.monotonic() - started:.1f} s"
        )
    print(f"serve_check: {check.passed} checks passed in {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
