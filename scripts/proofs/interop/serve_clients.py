"""Clients of `vaultctl serve` that pipeline requests, and keep what could be a secret of everything that comes back."""

import contextlib
import json
import pickle
import random
import re
import signal
import socket
import urllib.error
from collections import Counter
from pathlib import Path

from serve_kit import Serve
from serve_mutations import Facts, Mutations, Request
from serve_secrets import Sieve

CONNECTIONS = 6
BATCH = 24
# How long a reply may take: a renewal, beside others.
PATIENCE = 40
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
GENERATION = re.compile(rb'"login":"(\w+)","generation":(\d+)')
# What a provider, a log-in or another request may cause.
EXPECTED = (502, 503)


class Stuck(Exception):
    """The server neither answers nor ends the connection."""


class Pipe:
    """A connection, and the replies that it has brought."""

    def __init__(self, path: str):
        self.one = socket.socket(socket.AF_UNIX)
        # Without a time limit: where the queue is full, this waits.
        self.one.connect(path)
        self.one.settimeout(PATIENCE)
        self.rest = b""
        self.is_open = True

    def send(self, data: bytes) -> None:
        # It may have been closed after an earlier reply; that is read nevertheless.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.one.sendall(data)

    def more(self) -> bool:
        try:
            part = self.one.recv(262_144)
        except ConnectionResetError:
            part = b""
        except TimeoutError:
            raise Stuck from None
        self.rest += part
        self.is_open = bool(part)
        return self.is_open

    def reply(self, has_body: bool) -> tuple[int, bytes] | None:
        """The next one, whole; nil: the connection has ended."""
        while True:
            end = self.rest.find(b"\r\n\r\n") + 4
            if end >= 4:
                head, status = self.rest[:end], int(self.rest[9:12])
                if status < 200:
                    self.rest = self.rest[end:]
                    continue
                length = CONTENT_LENGTH.search(head)
                if length is None and has_body and status != 204:
                    return self.stream(status)
                end += int(length[1]) if length and has_body else 0
                if len(self.rest) >= end:
                    whole, self.rest = self.rest[:end], self.rest[end:]
                    if b"\r\nconnection: close\r\n" in head.lower():
                        self.close()
                    return status, whole
            if not self.more():
                return None

    def stream(self, status: int) -> tuple[int, bytes]:
        """Of an answer that lasts, what is there soon."""
        self.one.settimeout(0.1)
        with contextlib.suppress(Stuck):
            while len(self.rest) < 100_000 and self.more():
                pass
        whole, self.rest = self.rest, b""
        self.close()
        return status, whole

    def close(self) -> None:
        self.one.close()
        self.is_open = False


class Client:
    """One of the processes."""

    def __init__(self, serve: Serve, facts: Facts, seed: str, name: str):
        self.serve, self.facts, self.name = serve, facts, name
        self.source = random.Random(seed)
        self.mutations = Mutations(facts, self.source)
        self.sieve = Sieve()
        self.counts: Counter[tuple[str, int]] = Counter()
        self.strange: list[str] = []
        self.pipes = [self.connected() for _ in range(CONNECTIONS)]
        self.visits = 0

    def connected(self) -> Pipe:
        return Pipe(str(self.serve.path))

    def run(self, replies: int, progress) -> None:
        self.visit()
        self.follow_events()
        while (done := self.counts.total()) < replies:
            progress.value = done
            batches = [self.mutations.make(BATCH) for _ in self.pipes]
            for pipe, batch in zip(self.pipes, batches):
                pipe.send(b"".join(request.data for request in batch))
            for number, (pipe, batch) in enumerate(zip(self.pipes, batches)):
                self.read(pipe, batch)
                if not pipe.is_open:
                    pipe.close()
                    self.pipes[number] = self.connected()
            for _ in range(4):
                self.say_nonsense()
            luck = self.source.random()
            if luck < 0.05:
                self.follow_events()
            elif luck < 0.15:
                self.visit()
        if self.facts.spare:
            self.ask(f"DELETE /v1/logins/{self.facts.spare.pop()}", None, "DELETE /v1/logins/{id}")
        progress.value = self.counts.total()

    def read(self, pipe: Pipe, batch: list[Request]) -> None:
        said = []
        for request in batch:
            try:
                reply = pipe.reply(request.has_body)
            except Stuck:
                return self.note(f"no answer to {request.data[:300]!r}")
            if reply is None:
                break
            said.append(self.judge(request, *reply))
            if not pipe.is_open:
                break
        self.sieve.add(b"\n".join([*said, pipe.rest]))

    def judge(self, request: Request, status: int, reply: bytes) -> bytes:
        self.counts[request.operation, status] += 1
        if status == 200 and request.operation == "POST /v1/token" and (found := GENERATION.search(reply)):
            self.facts.generations[found[1].decode()] = int(found[2])
        elif status >= 500 and status not in EXPECTED:
            self.note(f"{request.data[:600]!r} is answered with {reply[:600]!r}")
        return reply

    def note(self, text: str) -> None:
        if len(self.strange) < 20:
            self.strange.append(text)

    def say_nonsense(self) -> None:
        """Bytes that are no request, after some requests, and then nothing: the server ends the connection."""
        *before, last = self.mutations.make(self.source.randint(1, 3))
        pipe = self.connected()
        data = self.mutations.bytes(last.data)
        # No chance makes a log-out of it.
        data = data if b"DELETE" not in data or last.operation.startswith("DELETE") else last.data
        pipe.send(b"".join(request.data for request in before) + data)
        with contextlib.suppress(OSError):
            pipe.one.shutdown(socket.SHUT_WR)
        try:
            while pipe.more():
                if b"text/event-stream" in pipe.rest:
                    break
        except Stuck:
            self.note(f"a connection does not end after {data[:600]!r}")
        pipe.close()
        self.sieve.add(pipe.rest)
        for status in re.findall(rb"HTTP/1\.1 ([2-5]\d\d) ", pipe.rest):
            self.judge(Request("nonsense", data), int(status), pipe.rest)

    def follow_events(self) -> None:
        query = self.source.choice(("", "?after=start", "?user=alice", "?after=start&user=bob"))
        pipe = self.connected()
        request = Request("GET /v1/events", b"GET /v1/events%s HTTP/1.1\r\nHost: tokenvault\r\n\r\n" % query.encode())
        pipe.send(request.data)
        self.read(pipe, [request])
        pipe.close()

    # Good ones, of which others are made.

    def visit(self) -> None:
        """A user logs in. What identifies the log-in is sent once more, and the login may be logged out later."""
        self.visits += 1
        user, provider = f"visitor-{self.name}-{self.visits}", self.source.choice(("acme", "bound", "signed"))
        begun = self.ask("POST /v1/logins/begin", {"user": user, "provider": provider})
        if begun is None:
            return
        callback = self.serve.world.follow(begun["url"])
        self.facts.callbacks = [*self.facts.callbacks[-20:], (callback, begun["binding"], user)]
        done = self.ask("POST /v1/logins/complete", {"url": callback, "binding": begun["binding"], "user": user})
        if done is not None:
            self.facts.spare.append(done["login"]["id"])

    def ask(self, line: str, body: dict | None, operation: str | None = None) -> dict | None:
        pipe, operation = self.connected(), operation or line
        text = json.dumps(body).encode() if body else b""
        pipe.send(b"%s HTTP/1.1\r\nHost: tokenvault\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                  % (line.encode(), len(text), text))  # fmt: skip
        try:
            reply = pipe.reply(True)
        except Stuck:
            reply = None
        pipe.close()
        if reply is None:
            return self.note(f"{operation} is not answered")
        self.sieve.add(reply[1])
        self.judge(Request(operation, text), *reply)
        return json.loads(reply[1].partition(b"\r\n\r\n")[2]) if reply[0] == 200 else self.note(f"{operation}: {reply}")


def run_client(serve: Serve, facts: Facts, seed: str, name: str, replies: int, progress, path: Path) -> None:
    """In a process of its own, which leaves what it has found in a file."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    client = Client(serve, facts, seed, name)
    try:
        client.run(replies, progress)
    except (OSError, urllib.error.URLError) as error:
        client.note(f"a client ended: {error!r}")
    with path.open("wb") as file:
        pickle.dump((client.sieve, client.counts, client.strange), file)
