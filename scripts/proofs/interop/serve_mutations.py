"""Requests to `vaultctl serve`, of which most are wrong in some way: made of its contract, at random."""

import json
import random
from dataclasses import dataclass, field

HOST = b"Host: tokenvault\r\n"
JSON = b"Content-Type: application/json\r\n"

# Values of members, as they stand in a body.
JUNK = [
    b"null", b"true", b"-1", b"0", b"1e999", b"NaN", b"9007199254740993", b"0.1", b'""', b'" "', b"[]", b"{}",
    b'{"a":"b"}', b'["a"]', b'"\\u0000"', b'"\\ud800"', b'"\xff\xfe"', b'"a\nb"', b'"../../check.key"',
    b'"/etc/passwd"', b'"%s%n%x"', b'"${refresh_token}"', b'"refresh_token"', b'"*"', b'"alice*"',
    b'"\\" OR 1=1 --"', b'"a\\r\\nSet-Cookie: b"', '"e\u0301\u202e"'.encode(), b'"\\ud83d\\ude00"',
    b'"' + b"a" * 300 + b'"', b'"' + b"\\u00e9" * 1_000 + b'"', b'"' + b"A" * 10_000 + b'"',
    b"[" * 200 + b"]" * 200, b'{"refresh_token":"x","access_token":"y"}', b"1" * 400, b'"\x1dcontoso\x1dalice"',
    b'"contoso"', b'"read"', b'"read offline_access"', b'"openid"', b'"https://api.example/"',
    b'"http://127.0.0.1/"', b'"https://a:b@api.example/"', b'"javascript:alert(1)"',
    b'"https://api.example:99999/"', b'"//evil.example"', b'"https://\xc3\xa9.example/"',
]  # fmt: skip
NAMES = [
    b"refresh_token", b"client_secret", b"id_token", b"code_verifier", b"key", b"__proto__", b"user ", b"User", b"",
    b"scope", b"tenant", b"resource", b"deadline", b"minimumValidity", b"login", b"provider", b"nonce", b"proof",
    b"context", b"variables", b"label", b"a" * 200, b"us\\u0065r", b"\\ud800",
]  # fmt: skip
# None of them changes where a request ends.
FIELDS = [
    b"Origin: https://evil.example\r\n", b"Host: evil.example\r\n", b"Connection: close\r\n",
    b"Accept: text/html\r\n", b"Accept-Encoding: gzip\r\n", b"Authorization: Bearer x\r\n", b"Cookie: a=b\r\n",
    b"X-Forwarded-For: 127.0.0.1\r\n", b"Expect: 100-continue\r\n", b"Last-Event-ID: start\r\n",
    b"Last-Event-ID: 7-86803d85996e5b7c\r\n", b"Upgrade: h2c\r\n", b"Range: bytes=0-9\r\n", b"If-None-Match: *\r\n",
    b"X-HTTP-Method-Override: DELETE\r\n", b"A: " + b"b" * 5_000 + b"\r\n", b"A: \xff\xfe\x80\r\n", b"A:\r\n",
    b"".join(b"A%d: b\r\n" % number for number in range(120)), b"A: b\0c\r\n", b"A : b\r\n", b"A: b\r\n c\r\n",
    b"Content-Type: text/plain\r\n", b"TE: trailers\r\n", b"Forwarded: for=x\r\n",
]  # fmt: skip
CHALLENGES = [
    'Bearer error="invalid_token"', 'Bearer error="insufficient_scope", scope="read write"',
    'DPoP error="use_dpop_nonce"', "Bearer", "Basic", "",
    'Bearer error="insufficient_user_authentication", acr_values="a b", max_age=0',
    'DPoP error="invalid_dpop_proof"', 'Bearer error="', ",,,",
    'Bearer error="invalid_token", Bearer error="invalid_token"', "Bearer " + "a=b," * 500, 'Bearer scope="\u00e9"',
]  # fmt: skip
METHODS = [b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"OPTIONS", b"PATCH", b"TRACE", b"FOO"]
TAILS = [
    b"/", b"?", b"?a=b", b"?user=alice", b"?user=%zz", b"?user=%ff", b"?" + b"a=b&" * 500, b"%2e%2e", b"//", b"#a",
    b";a", b"?user=alice&user=bob", b"?after=start", b"?tenant=a%20b",
]  # fmt: skip


@dataclass
class Request:
    operation: str
    data: bytes
    has_body: bool = True


@dataclass
class Facts:
    """What requests need to be good ones."""

    issuer: str
    # User, provider, login.
    logins: list[tuple[str, str, str]]
    # Of operations, by method and path: the names of members and parameters.
    contract: dict[tuple[str, str], list[bytes]]
    # The newest that was seen, by login.
    generations: dict[str, int] = field(default_factory=dict)
    # Log-ins that have been begun, and may be completed: callback, binding, user.
    callbacks: list[tuple[str, str, str]] = field(default_factory=list)
    # Logins that may be logged out.
    spare: list[str] = field(default_factory=list)


def read_contract(document: dict) -> dict[tuple[str, str], list[bytes]]:
    found = {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            names = [*body.get("properties", {}), *(each["name"] for each in operation.get("parameters", []))]
            found[method.upper(), path] = [name.encode() for name in names]
    return found


class Mutations:
    """Of requests. What it needs is drawn from one source, so that a seed gives the same requests again."""

    def __init__(self, facts: Facts, source: random.Random):
        self.facts, self.source = facts, source
        makers = {
            ("POST", "/v1/token"): (26, self.token), ("POST", "/v1/authorize"): (12, self.authorize),
            ("POST", "/v1/result"): (14, self.result), ("GET", "/v1/logins"): (10, self.logins),
            ("POST", "/v1/logins/begin"): (5, self.begin), ("POST", "/v1/logins/complete"): (8, self.complete),
            ("DELETE", "/v1/logins/{id}"): (7, self.log_out), ("GET", "/v1/events"): (3, self.events),
            ("GET", "/healthz"): (5, None), ("GET", "/readyz"): (4, None), ("GET", "/metrics"): (1, None),
            ("GET", "/v1/openapi.json"): (0.3, None),
        }  # fmt: skip
        self.missing = set(facts.contract) ^ set(makers)
        self.operations = list(makers)
        self.weights = [weight for weight, _ in makers.values()]
        self.makers = {operation: maker for operation, (_, maker) in makers.items()}

    def make(self, count: int) -> list[Request]:
        return [self.one(*operation) for operation in self.source.choices(self.operations, self.weights, k=count)]

    def one(self, method: str, path: str) -> Request:
        """A good request, or one that is wrong in one way or in two; it ends where it says that it does."""
        source, name = self.source, f"{method} {path}"
        maker = self.makers[method, path]
        target, members = maker() if maker else (path, None)
        verb, line = method.encode(), target.encode()
        luck = source.random()
        if members is not None:
            body = self.body(members, self.facts.contract[method, path]) if luck < 0.6 else joined(members)
        else:
            body = None
        if luck > 0.93:
            line += source.choice(TAILS)
        # No other method becomes DELETE: what it would log out is still needed.
        if 0.9 < luck < 0.93:
            verb = source.choice([other for other in METHODS if other != b"DELETE"])
        fields = HOST if source.random() < 0.97 else b""
        if source.random() < 0.06:
            fields += source.choice(FIELDS)
        if body is None:
            return Request(name, b"%s %s HTTP/1.1\r\n%s\r\n" % (verb, line, fields), verb != b"HEAD")
        if source.random() < 0.05:
            fields += b"Transfer-Encoding: chunked\r\n"
            half = len(body) // 2
            body = (
                b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:]) if part)
                + b"0\r\n\r\n"
            )
        else:
            fields += b"Content-Length: %d\r\n" % len(body)
        fields += JSON if source.random() < 0.98 else b""
        return Request(name, b"%s %s HTTP/1.1\r\n%s\r\n%s" % (verb, line, fields, body), verb != b"HEAD")

    def body(self, members: dict[bytes, bytes], known: list[bytes]) -> bytes:
        """The members with one thing wrong, or their text with a few bytes changed."""
        source, members = self.source, dict(members)
        how = source.randrange(7)
        if how == 0:
            members[source.choice(list(members))] = source.choice(JUNK)
        elif how == 1:
            del members[source.choice(list(members))]
        elif how == 2:
            members[source.choice(known)] = source.choice(JUNK)
        elif how == 3:
            members[source.choice(NAMES)] = source.choice(JUNK)
        elif how == 4:
            text = joined(members)
            return text[:-1] + b"," + text[1:]
        elif how == 5:
            return source.choice((b"", b"[%s]", b'"%s"', b"%s%s", b" %s ", b"\xef\xbb\xbf%s")).replace(
                b"%s", joined(members)
            )
        else:
            return self.bytes(joined(members))
        return joined(members)

    def bytes(self, data: bytes) -> bytes:
        """With a few of them changed, removed, repeated or added."""
        source, changed = self.source, bytearray(data)
        for _ in range(source.randint(1, 6)):
            place = source.randrange(len(changed) + 1)
            how = source.randrange(5)
            if how == 0 and place < len(changed):
                changed[place] = source.randrange(256)
            elif how == 1:
                del changed[place : place + source.randint(1, 8)]
            elif how == 2:
                changed[place:place] = changed[place : place + source.randint(1, 40)]
            elif how == 3:
                changed[place:place] = source.choice(
                    (b"\r\n", b"\0", b"\xff", b'"', b"{", b"%00", b": ", b"\r\n\r\n", b"9" * 20)
                )
            else:
                del changed[place + source.randint(0, 60) :]
        return bytes(changed)

    # Good requests.

    def named(self) -> dict[bytes, bytes]:
        user, provider, login = self.source.choice(self.facts.logins)
        if self.source.random() < 0.5:
            return {b"login": quoted(login)}
        return {b"user": quoted(user), b"provider": quoted(provider)}

    def token(self) -> tuple[str, dict]:
        members = self.named()
        more = self.source.random()
        if more < 0.1:
            members[b"minimumValidity"] = b"%d" % self.source.choice((1, 60, 3_600, 999_999_999))
        elif more < 0.15:
            members[b"scope"] = b'"read"'
        elif more < 0.18:
            members[b"deadline"] = b"2.5"
        return "/v1/token", members

    def authorize(self) -> tuple[str, dict]:
        members = self.named()
        members |= {
            b"method": self.source.choice((b'"GET"', b'"POST"')),
            b"url": quoted(f"{self.facts.issuer}/resource?a=b"),
        }
        if self.source.random() < 0.1:
            members[b"nonce"] = b'"a-nonce"'
        return "/v1/authorize", members

    def result(self) -> tuple[str, dict]:
        source = self.source
        login = source.choice(self.facts.logins)[2]
        status, challenge, generation = (
            source.choice((200, 204, 403, 404, 500)),
            source.choice(CHALLENGES),
            source.randrange(4),
        )
        if source.random() < 0.2:
            # The newest token was refused: so it is renewed.
            status, challenge, generation = 401, CHALLENGES[0], self.facts.generations.get(login, 1)
        headers = {"WWW-Authenticate": challenge}
        if source.random() < 0.2:
            headers["DPoP-Nonce"] = "another-nonce"
        return "/v1/result", {
            b"login": quoted(login), b"generation": b"%d" % generation, b"method": b'"GET"', b"status": b"%d" % status,
            b"url": quoted(f"{self.facts.issuer}/resource"), b"headers": json.dumps(headers).encode()}  # fmt: skip

    def logins(self) -> tuple[str, None]:
        user, provider, _ = self.source.choice(self.facts.logins)
        return f"/v1/logins?user={user}" + (f"&provider={provider}" if self.source.random() < 0.3 else ""), None

    def begin(self) -> tuple[str, dict]:
        # Most are refused before anything is stored.
        if self.source.random() < 0.7:
            return "/v1/logins/begin", self.named() | {b"redirect_uri": b'"https://evil.example/callback"'}
        more = {b"login_hint": b'"alice@example.com"', b"context": b'{"next":"/inbox"}', b"scope": b'"read"'}
        return "/v1/logins/begin", self.named() | dict(
            self.source.sample(list(more.items()), self.source.randint(0, 2))
        )

    def complete(self) -> tuple[str, dict]:
        callbacks = self.facts.callbacks
        url, binding, user = (
            self.source.choice(callbacks)
            if callbacks
            else ("https://app.example/callback?code=a&state=b", "A" * 43, "alice")
        )
        # Never the binding that belongs to it.
        other = "".join(self.source.sample(binding, len(binding)))
        return "/v1/logins/complete", {b"url": quoted(url), b"binding": quoted(other), b"user": quoted(user)}

    def log_out(self) -> tuple[str, None]:
        spare = self.facts.spare
        if spare and self.source.random() < 0.01:
            return f"/v1/logins/{spare.pop()}", None
        return "/v1/logins/" + self.source.choice(
            ("a" * 26, "..", "%2e%2e%2fcheck.key", "A" * 26, "a" * 5_000, "%00", "alice")
        ), None

    def events(self) -> tuple[str, None]:
        return "/v1/events?" + self.source.choice(("after=nonsense", "after=", "user=", "x=1", "tenant=%ff")), None


def joined(members: dict[bytes, bytes]) -> bytes:
    return b"{" + b",".join(b'"%s":%s' % pair for pair in members.items()) + b"}"


def quoted(text: str) -> bytes:
    return json.dumps(text).encode()
