"""What must never leave `vaultctl serve`, and the search for it in all that a server has written."""

import base64
import hashlib
import re
import sqlite3
import sys
from collections import Counter
from pathlib import Path

from serve_kit import World, fingerprint

sys.path.append(str(Path(__file__).resolve().parents[1] / "vectors"))
from vaultformat import (  # noqa: E402
    encode_fields, open_cell, read_key, read_key_file, read_keyring, read_list, read_record, slot_fields,
)  # fmt: skip

# In every code and token of the authorization server, so that the beginning of one is enough to know it.
MARKER = b"canary9Zq"
WORD = re.compile(rb"[A-Za-z0-9_.~+/-]{16,}")
CHALLENGE = re.compile(rb"code_challenge=([\w-]{43})")
ANY_TAG = set(range(1, 256))


class Sieve:
    """The words of all that was written, each once, which are long enough for a secret or the encoding of one."""

    def __init__(self):
        self.words: set[bytes] = set()
        # Of PKCE verifiers that have not been sent to anybody.
        self.challenges: set[bytes] = set()
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        self.words.update(WORD.findall(data))
        self.challenges.update(CHALLENGE.findall(data))

    def add_file(self, path: Path) -> None:
        with path.open("rb") as lines:
            for line in lines:
                self.add(line)

    def merge(self, other: "Sieve") -> None:
        self.size += other.size
        self.words |= other.words
        self.challenges |= other.challenges


class Held:
    """The secrets of a vault, which it is opened for: by its key file, and by docs/vault-format.md."""

    def __init__(self, world: World):
        self.world, self.secrets = world, {}
        self.last_request = 0

    def add(self, name: str, secret: bytes | None) -> None:
        if secret:
            self.secrets.setdefault(name, set()).add(secret)

    def read(self) -> None:
        """What is there now; what was there before stays known."""
        path = self.world.tool.environment["TOKENVAULT_VAULT"]
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)
        database.row_factory = sqlite3.Row
        try:
            database.execute("BEGIN")
            self._read_keys(database)
            self._read_rows(database)
            self._read_logins(database)
        finally:
            database.close()

    def _read_keys(self, database: sqlite3.Connection) -> None:
        line = Path(self.world.tool.environment["TOKENVAULT_KEY_FILE"]).read_bytes()
        key_id, slot_key = read_key_file(line)
        vault = database.execute("SELECT * FROM vault").fetchone()
        row = database.execute("SELECT * FROM keySlot WHERE keyID = ?", (key_id,)).fetchone()
        slot = {"vault": vault["vaultID"], "id": row["handle"], "kind": row["kind"], "keyID": key_id,
                "label": row["label"], "createdAt": row["createdAt"]}  # fmt: skip
        vault_key_id, vault_key = read_key(
            open_cell(row["cell"], "wrappedVaultKey", slot_key, key_id, slot_fields(slot))
        )
        self.vault = vault["vaultID"]
        fields = self._fields("vault", *numbers(vault, "incarnation", "createdAt"))
        ring = read_keyring(open_cell(vault["keyringCell"], "keyring", vault_key, vault_key_id, fields))
        self.roots = dict([ring["primaryRoot"], *ring["retiredRoots"]])
        self.add("key file's key", slot_key)
        self.add("vault key", vault_key)
        self.add("index key", ring["indexKey"][1])
        self.add("audit key", ring["auditKey"][1])
        for key in self.roots.values():
            self.add("root key", key)

    def _fields(self, table: str, *fields: tuple) -> bytes:
        return encode_fields([("bytes", self.vault), ("text", table), *fields])

    def _open(self, row: sqlite3.Row, table: str, *fields: tuple) -> dict[int, bytes]:
        """A row that a root key seals."""
        key_id = row["cell"][8:24]
        return opened(row["cell"], table, self.roots[key_id], key_id, self._fields(table, *fields))

    def _read_rows(self, database: sqlite3.Connection) -> None:
        for row in database.execute("SELECT * FROM provider"):
            found = self._open(row, "provider", ("bytes", row["handle"]), *numbers(row, "revision"))
            for secret in [*read_list(found.get(11, b"")), found.get(26)]:
                self.add("client secret", secret)
        newer = "SELECT * FROM authorizationRequest WHERE id > ? ORDER BY id"
        for row in database.execute(newer, (self.last_request,)):
            found = self._open(row, "authorizationRequest", ("bytes", row["stateIndex"]), *numbers(row, "expiresAt"))
            self.add("PKCE verifier", found.get(2))
            self.add("DPoP key", found.get(7))
            self.last_request = row["id"]
        for row in database.execute("SELECT * FROM outbox"):
            found = self._open(row, "outbox", ("bytes", row["handle"]), *numbers(row, "nextAttemptAt", "attempts"))
            self.add("refresh token", found.get(4))
            self.add("DPoP key", found.get(6))

    def _read_logins(self, database: sqlite3.Connection) -> None:
        keys = {}
        for row in database.execute("SELECT * FROM user"):
            whose = [("bytes", row["handle"]), ("bytes", row["blindIndex"]), *numbers(row, "revision", "auditSequence")]
            record = self._open(row, "user", *whose, ("bytes", row["rootKey"]))
            keys[row["id"]] = row["handle"], record[1]
            self.add("data key", record[1])
        for row in database.execute("SELECT * FROM login LEFT JOIN loginSecret ON loginSecret.login = login.id"):
            user, key = keys[row["user"]]
            whose = [("bytes", row["handle"]), ("bytes", user)]
            counts = numbers(row, "chain", "generation", "revision", "incarnation", "dueAt", "expiresAt")
            tags = [optional(row, "refreshTag"), optional(row, "keyTag")]
            fields = self._fields("login", *whose, optional(row, "provider"), *counts, *tags)
            self.add("access token", opened(row["cell"], "session", key, user, fields).get(2))
            for kind in ("refresh", "key"):
                if cell := row[f"{kind}Cell"]:
                    self._add_secrets(kind, opened(cell, kind, key, user, self._fields("loginSecret", *whose)))

    def _add_secrets(self, kind: str, found: dict[int, bytes]) -> None:
        if kind == "key":
            return self.add("DPoP key", found.get(1))
        self.add("refresh token", found.get(1))
        self.add("refresh token", found.get(4))
        # Its head and its claims are no secrets, and parts of them are in other tokens.
        self.add("id token", found[3].rpartition(b".")[2] if 3 in found else None)


def opened(cell: bytes, kind: str, key: bytes, key_id: bytes, fields: bytes) -> dict[int, bytes]:
    return read_record(open_cell(cell, kind, key, key_id, fields), ANY_TAG)


def numbers(row: sqlite3.Row, *names: str) -> list[tuple]:
    return [("nil", None) if row[name] is None else ("integer", row[name]) for name in names]


def optional(row: sqlite3.Row, name: str) -> tuple:
    return ("bytes", row[name]) if row[name] else ("nil", None)


class Needles:
    """Finds secrets, and parts of them, in words: as they are, in hexadecimal, in base32 and in base64."""

    SIZE = 12

    def __init__(self, secrets: dict[str, set[bytes]]):
        self.parts: dict[bytes, str] = {}
        for name, all_of_them in secrets.items():
            for secret in all_of_them:
                for form in self.forms(secret):
                    for start in range(0, len(form) - self.SIZE + 1, self.SIZE):
                        self.parts[form[start : start + self.SIZE]] = name

    @staticmethod
    def forms(secret: bytes) -> list[bytes]:
        found = [*re.findall(rb"[A-Za-z0-9_.~+/-]{12,}", secret), secret.hex().encode(), secret.hex().upper().encode()]
        found += [base64.b32encode(secret), base64.b32encode(secret).lower()]
        for shift in range(3):
            # Where it begins within three bytes decides what it looks like; the ends depend on its neighbours.
            coded = base64.b64encode(bytes(shift) + secret)[(0, 2, 3)[shift] :].rstrip(b"=")[:-1]
            found += [coded, coded.translate(bytes.maketrans(b"+/", b"-_"))]
        return found

    def found_in(self, words: set[bytes]) -> Counter[str]:
        parts, size, found = self.parts, self.SIZE, Counter()
        for word in words:
            for start in range(len(word) - size + 1):
                if word[start : start + size] in parts:
                    found[parts[word[start : start + size]]] += 1
        return found


def search(world: World, sieve: Sieve, held: Held, *needed: str) -> Counter[str]:
    """That none of it is in what the servers wrote. Gives how many of each kind were looked for.

    Some must be there of the kinds that are needed.
    """
    for name, texts in world.secrets.items():
        for text in texts:
            held.add(name, text)
    counts = Counter({name: len(secrets) for name, secrets in held.secrets.items()})
    found = Needles(held.secrets).found_in(sieve.words)
    # These prove that the vault was read, and that what is there would be found.
    world.check("access tokens of the vault are found", found.pop("access token", 0) > 0, counts)
    for name in ("refresh token", "PKCE verifier", "client secret", "key file's key", "root key", *needed):
        world.check(f"there is a {name} to look for", counts[name] > 0, counts)
    for name in counts:
        world.check(f"no {name} is in what it wrote", not found[name], found[name])
    search_marked(world, sieve)
    parts = {part for word in sieve.words for part in re.split(rb"[.~+/]", word) if len(part) >= 16} | sieve.words
    # Of refresh tokens that were replaced, the authorization server has the fingerprints.
    known = {token["fingerprint"] for token in world.get("/dev/refresh-tokens")}
    world.check("there were refresh tokens", len(known) > 20, len(known))
    world.check("no refresh token is in it by its fingerprint", not any(fingerprint(part) in known for part in parts))
    by_challenge = sum(challenge(part) in sieve.challenges for part in parts)
    world.check("no PKCE verifier is in it by its challenge", not by_challenge and sieve.challenges, by_challenge)
    counts["refresh token"] = max(counts["refresh token"], len(known))
    counts["PKCE verifier"] = max(counts["PKCE verifier"], len(sieve.challenges))
    return counts


def search_marked(world: World, sieve: Sieve) -> None:
    """What can be told by its form alone."""
    for name, prefix in {"refresh token": b"rt_", "code": b"ac_"}.items():
        marked = [word for word in sieve.words if prefix + MARKER in word]
        world.check(f"nothing begins like a {name}", not marked, marked[:1])
    coded = Needles({"refresh token": {b"rt_" + MARKER}}).found_in(sieve.words)
    world.check("nor like the encoding of a refresh token", not coded, coded)
    tokens = sum(word.startswith(b"at_" + MARKER) for word in sieve.words)
    world.check("but access tokens are in it, so these would be found", tokens > 5, tokens)
    signed = [word for word in sieve.words if re.fullmatch(rb"eyJ[\w-]+\.[\w-]+\.[\w-]+", word)]
    proofs = [word for word in signed if b'"dpop+jwt"' in decoded(word)]
    world.check("every signed token in it is a proof", len(signed) == len(proofs) > 0, (len(signed), len(proofs)))
    world.check("no proof has a private key", not any(b'"d"' in decoded(word) for word in proofs))


def challenge(verifier: bytes) -> bytes:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier).digest())[:43]


def decoded(token: bytes) -> bytes:
    head = token.split(b".")[0]
    return base64.urlsafe_b64decode(head + b"=" * (-len(head) % 4))
