"""What the checks of `vaultctl serve` share: a vault at dev-authserver, servers of their own, and clients that write bytes."""

import contextlib
import hashlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from vaultctl import Checks, Vaultctl

POLICY = """# The client that this check is.
[[client]]
name = "check"
uid = {uid}
verbs = ["*"]
users = ["*"]
providers = ["*"]
scopes = ["*"]
origins = ["*"]
methods = ["GET", "POST"]
"""


class Soft(Checks):
    """Reports each check that fails, and goes on: the run fails at its end."""

    def __init__(self, name: str):
        super().__init__(name)
        self.failures = 0
        self.lock = threading.Lock()

    def __call__(self, what: str, holds: bool, detail: object = "") -> bool:
        with self.lock:
            if holds:
                self.passed += 1
            else:
                self.failures += 1
                print(f"{self.name}: failed: {what} {str(detail)[:600]}".rstrip(), file=sys.stderr, flush=True)
        return bool(holds)


class Transcript:
    """Every byte that came out of a server."""

    def __init__(self):
        self.parts: list[bytes] = []

    def add(self, data: bytes) -> bytes:
        self.parts.append(data)
        return data

    def text(self) -> bytes:
        return b"\n".join(self.parts)


class Reply:
    def __init__(self, status: int, headers: dict[str, str], body: bytes):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> dict:
        try:
            return json.loads(self.body)
        except ValueError:
            return {}

    @property
    def code(self) -> str | None:
        return self.json.get("code") if self.headers.get("content-type") == "application/problem+json" else None

    def __repr__(self) -> str:
        return f"{self.status} {self.body[:300]!r}"


class Exchange:
    """What came back on one connection."""

    def __init__(self, replies: list[Reply], ended: str, rest: bytes):
        self.replies, self.ended, self.rest = replies, ended, rest

    def __repr__(self) -> str:
        return f"{self.replies} then {self.ended} {self.rest[:100]!r}"


class Socket(http.client.HTTPConnection):
    def __init__(self, path: Path, transcript: Transcript, timeout: float = 20):
        super().__init__("tokenvault", timeout=timeout)
        self.path, self.transcript = str(path), transcript

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        # Without a time limit: where the queue is full, this waits.
        self.sock.connect(self.path)
        self.sock.settimeout(self.timeout)

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Reply:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            fields.setdefault("Content-Type", "application/json")
            body = body if isinstance(body, (bytes, str)) else json.dumps(body)
        self.request(method, path, body, fields)
        reply = self.getresponse()
        data = reply.read()
        names = {name.lower(): value for name, value in reply.getheaders()}
        self.transcript.add(repr(names).encode() + data)
        return Reply(reply.status, names, data)


class Serve:
    """A `vaultctl serve` of its own; ended by its process id, whatever happens."""

    def __init__(
        self, world: "World", name: str, *options: str, policy: Path | None = None, socket_path: Path | None = None
    ):
        self.world, self.path = world, socket_path or world.directory / f"{name}.sock"
        self.policy = policy or world.policy
        self.log = world.directory / f"{name}.log"
        self.output = self.log.open("ab")
        command = [world.tool.program, "serve", "--allow-insecure-loopback", "--policy", str(self.policy), "--verbose",
                   *(["--socket", str(self.path)] if "--socket" not in options else []), *options]  # fmt: skip
        self.process = subprocess.Popen(
            command, env=world.tool.environment, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output
        )
        world.logs.append(self.log)

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, words: str, seconds: float = 30, count: int = 1) -> bool:
        end = time.monotonic() + seconds
        while self.said().count(words) < count:
            if time.monotonic() > end or self.process.poll() is not None:
                return False
            time.sleep(0.02)
        return True

    def listening(self) -> "Serve":
        self.world.check(f"{self.log.name}: it listens", self.wait_for("answering requests"), self.said())
        return self

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self, seconds: float = 40) -> int:
        """The exit code, after SIGTERM."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return -9

    def __enter__(self) -> "Serve":
        return self.listening()

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.output.close()

    # Clients.

    def client(self, timeout: float = 20) -> Socket:
        return Socket(self.path, self.world.transcript, timeout)

    def ask(self, method: str, path: str, body: object = None, timeout: float = 20, **headers: str) -> Reply:
        with contextlib.closing(self.client(timeout)) as client:
            return client.ask(method, path, body, **headers)

    def token(self, **members: object) -> Reply:
        return self.ask("POST", "/v1/token", members)

    def connected(self, timeout: float = 5) -> socket.socket:
        one = socket.socket(socket.AF_UNIX)
        # Without a time limit: where the queue is full, this waits.
        one.connect(str(self.path))
        one.settimeout(timeout)
        return one

    def raw(
        self, *pieces: bytes, replies: int = 1, half_close: bool = False, timeout: float = 5, head: bool = False
    ) -> Exchange:
        """Writes the pieces, and reads until so many replies are there, or the connection ends."""
        with contextlib.closing(self.connected(timeout)) as one:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError, TimeoutError):
                for piece in pieces:
                    one.sendall(piece)
            if half_close:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_WR)
            return self.read(one, replies, timeout, head)

    def read(self, one: socket.socket, replies: int, timeout: float, head: bool = False) -> Exchange:
        data, found, end, ended = b"", [], time.monotonic() + timeout, "waiting"
        while len(found) < replies:
            one.settimeout(max(0.01, end - time.monotonic()))
            try:
                part = one.recv(65536)
            except TimeoutError:
                break
            except ConnectionResetError:
                ended = "reset"
                break
            if not part:
                ended = "closed"
                break
            data += self.world.transcript.add(part)
            found, data = take_replies(found, data, head)
            ended = "open"
        return Exchange(found, ended, data)

    def is_prompt(self) -> tuple[bool, float]:
        """Whether another client is answered within a second. The best of three: other programs need this machine, too."""
        best = 9.0
        for _ in range(3):
            started = time.monotonic()
            reply = self.ask("GET", "/healthz")
            best = min(best, time.monotonic() - started if reply.status == 200 else 9.0)
            if best < 1:
                break
        return best < 1, best


def take_replies(found: list[Reply], data: bytes, head: bool) -> tuple[list[Reply], bytes]:
    """The whole replies at the beginning of the data, and the rest."""
    while b"\r\n\r\n" in data:
        top, rest = data.split(b"\r\n\r\n", 1)
        lines = top.decode("latin-1").split("\r\n")
        match = re.fullmatch(r"HTTP/1\.[01] (\d{3})(?: .*)?", lines[0])
        if not match:
            break
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
        }
        status = int(match[1])
        if status == 100:
            data = rest
            continue
        length = 0 if head or status in (204, 304) else int(headers.get("content-length", 0))
        if len(rest) < length:
            break
        found = [*found, Reply(status, headers, rest[:length])]
        data = rest[length:]
    return found, data


def request(method: str, path: str, body: object = None, *fields: str, host: str | None = "tokenvault") -> bytes:
    """The bytes of a request."""
    payload = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
    lines = [f"{method} {path} HTTP/1.1"]
    if host is not None:
        lines.append(f"Host: {host}")
    if body is not None:
        lines.append(f"Content-Length: {len(payload)}")
        if not any(field.lower().startswith("content-type") for field in fields):
            lines.append("Content-Type: application/json")
    return "\r\n".join([*lines, *fields, "", ""]).encode() + payload


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class World:
    """A vault with logins at a server, a policy, and all that the servers said."""

    def __init__(self, program: str, issuer: str, directory: Path, check: Soft):
        self.issuer, self.directory, self.check = issuer, directory, check
        self.transcript, self.logs, self.secrets = Transcript(), [], {}
        self.tool = Vaultctl(program, directory, check)
        secret = self.tool.secret("secret", "demo-basic-secret")
        self.secrets["client secret"] = [b"demo-basic-secret"]
        self.secrets["key file"] = [word for word in (directory / "check.key").read_bytes().split() if len(word) >= 20]
        common = ("--issuer", issuer, "--scope", "read offline_access", "--redirect-uri", "https://app.example/callback",
                  "--allow-insecure-loopback")  # fmt: skip
        self.tool("provider", "add", "acme", "--client-id", "demo-basic", "--client-secret-file", secret, *common)
        self.tool(
            "provider",
            "add",
            "bound",
            "--client-id",
            "demo",
            "--dpop",
            "required",
            *common[:2],
            "--scope",
            "openid read offline_access",
            *common[4:],
        )
        self.policy = self.write_policy("policy.toml", POLICY.format(uid=os.getuid()))
        self.secrets["refresh token"] = []

    def write_policy(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.touch(mode=0o600)
        path.write_text(text)
        return path

    def add_login(self, user: str) -> str:
        """A login with tokens of the server, which this check therefore knows."""
        grant = self.post("/dev/grants", {"user": user, "client": "demo-basic", "scope": "read offline_access"})
        self.secrets["refresh token"].append(grant["refresh_token"].encode())
        return self.tool("login", "add", "--user", user, "--provider", "acme", "--refresh-token-file",
                         self.tool.secret("grant", grant["refresh_token"]))  # fmt: skip

    def add_expired_login(self, user: str) -> str:
        """The next caller has its token renewed."""
        self.post("/dev/behaviour", {"client": "demo-basic", "access_token_lifetime_ms": 500})
        login = self.add_login(user)
        self.tool("login", "refresh", login)
        self.post("/dev/behaviour", {"client": "demo-basic", "access_token_lifetime_ms": 3_600_000})
        time.sleep(0.6)
        return login

    def log_in(self, serve: Serve, user: str, provider: str) -> str:
        """A login through the interface, as a web application has it done."""
        begun = serve.ask("POST", "/v1/logins/begin", {"user": user, "provider": provider}).json
        callback = self.follow(begun["url"])
        done = serve.ask("POST", "/v1/logins/complete", {"url": callback, "binding": begun["binding"], "user": user})
        self.check(f"{user} logs in at {provider}", done.status == 200, done)
        return done.json["login"]["id"]

    def follow(self, url: str) -> str:
        """Where the server sends the browser."""
        try:
            urllib.request.build_opener(NoRedirect).open(url)
        except urllib.error.HTTPError as reply:
            return reply.headers["Location"]
        return ""

    def post(self, path: str, document: object) -> dict:
        asked = urllib.request.Request(
            self.issuer + path, json.dumps(document).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=20) as reply:
            return json.loads(reply.read() or b"null")

    def get(self, path: str) -> object:
        with urllib.request.urlopen(self.issuer + path, timeout=20) as reply:
            return json.loads(reply.read())

    def token_requests(self, user: str) -> int:
        """How often the server was asked for a new token of this user."""
        records = self.get("/dev/log")
        records = records["records"] if isinstance(records, dict) else records
        return sum(r.get("grant_type") == "refresh_token" and r.get("user") == user for r in records)

    def delay(self, user: str, seconds: float) -> None:
        """The next renewal of this user takes this long."""
        self.post("/dev/faults", {"path": "/token", "user": user, "delay_ms": int(seconds * 1000)})


def fingerprint(token: bytes) -> str:
    return hashlib.sha256(token).hexdigest()[:16]


@contextlib.contextmanager
def background(*bodies) -> Iterator[None]:
    """Runs the bodies in threads of their own, and waits for them at the end."""
    threads = [threading.Thread(target=body, daemon=True) for body in bodies]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(timeout=60)
