"""What the generators of stores share: values, dirt, and the comparison with what the importer says."""

import base64
import hashlib
import json
import pathlib
import random
import subprocess
import sys

NOW = 1_800_000_000  # 2027-01-15T08:00:00Z


def digest(text):
    return None if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8].hex()


def token(kind, number, length=40):
    """Looks like a token, and is the same at each run."""
    seed = hashlib.sha512(f"{kind}-{number}".encode()).digest() * 8
    return f"{kind}-{number}-" + base64.urlsafe_b64encode(seed).decode()[:length]


def id_token(subject):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return ".".join([part({"alg": "RS256"}), part({"sub": subject, "iss": "https://issuer.example"}), "c2lnbmF0dXJl"])


def ec_jwk(number, curve="P-256"):
    from cryptography.hazmat.primitives.asymmetric import ec

    def b64(value):
        return base64.urlsafe_b64encode(value.to_bytes(32, "big")).decode().rstrip("=")

    key = ec.derive_private_key(number * 7919 + 12345, ec.SECP256R1())
    public = key.public_key().public_numbers()
    return {"kty": "EC", "crv": curve, "x": b64(public.x), "y": b64(public.y), "d": b64(key.private_numbers().private_value)}


def kinds(scope, but):
    """The functions of a scope, in the order of their definition, that each put one kind of dirt in."""
    return [value for name, value in scope.items() if type(value).__name__ == "function" and name not in but]


class Store:
    """A store with rows of which each has its truth.

    A truth is what the importer must say of the row: `outcome`, `reason`, and the values of a login. Values that are not
    named are not compared.
    """

    def __init__(self, name, seed=1):
        self.name = name
        self.random = random.Random(f"{name}-{seed}")
        self.truths = []

    def spread(self, count, dirts, clean):
        """Yields (number, dirt or None): every second row is clean, and each kind of dirt is there."""
        for number in range(count):
            place = number % (2 * len(dirts))
            yield number, dirts[place // 2] if place % 2 else clean


def compare(name, truths, lines):
    """The rows that are not what they should be."""
    wrong = []
    if len(truths) != len(lines):
        wrong.append(f"{name}: {len(lines)} rows were read, {len(truths)} are there")
    for number, (truth, line) in enumerate(zip(truths, lines), 1):
        for member, wanted in truth.items():
            if member == "dirt":
                continue
            found = line.get(member)
            if member == "warnings":
                # An id token is kept beside a refresh token that can be sent, and nowhere else.
                is_kept = line.get("refresh") and "refreshTokenExpired" not in wanted
                if line.get("idToken") and not is_kept:
                    wanted = wanted + ["idTokenDropped"]
                wanted, found = sorted(wanted), sorted(found or [])
            if found != wanted:
                wrong.append(f"{name}: row {number} ({truth.get('dirt', 'clean')}): {member} is {found!r}, not {wanted!r}")
    return wrong


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def read(probe, path, *arguments):
    """What the importer says of a file: its lines, and the last one with the sums. The file stays as it is."""
    before = sha256(path)
    run = subprocess.run([probe, str(path), "--now", str(NOW), *arguments], capture_output=True, text=True)
    if sha256(path) != before:
        raise SystemExit(f"{path} was changed")
    lines = [json.loads(line) for line in run.stdout.split("\n") if line]
    if run.returncode not in (0, 3):
        raise SystemExit(f"{path}: the probe failed with {run.returncode}: {run.stdout[-300:]}{run.stderr[-600:]}")
    return lines


def check(probe, store, path, *arguments, truths=None, label=""):
    lines = read(probe, path, *arguments)
    name = store.name + label
    truths = store.truths if truths is None else truths
    summary = lines.pop() if lines else {}
    if "error" in summary:
        return [f"{name}: the source was refused: {summary}"]
    wrong = compare(name, truths, lines)
    if not (summary["rows"] == summary["sum"] == len(lines)):
        wrong.append(f"{name}: the sums are not the rows: {summary}")
    kinds = len({truth["dirt"] for truth in truths if "dirt" in truth})
    print(f"{name}: {len(lines)} rows from {summary['format']}, {summary['logins']} logins, {kinds} kinds of dirt, {len(wrong)} wrong")
    return wrong


def finish(wrong):
    for line in wrong[:40]:
        print(line, file=sys.stderr)
    if wrong:
        sys.exit(1)
