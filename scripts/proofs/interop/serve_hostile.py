"""Clients that do not keep to HTTP, to JSON or to good manners, against `vaultctl serve`."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

from serve_kit import Exchange, Serve, World, request

HOST = b"Host: tokenvault\r\n"
JSON = b"Content-Type: application/json\r\n"
SMUGGLED = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
BODY = b'{"user": "alice", "provider": "acme"}'


def is_refused(seen: Exchange) -> bool:
    """Refused with a problem document, or closed: never an answer, an error of the server, or silence."""
    return all(400 <= reply.status < 500 and reply.code for reply in seen.replies) and (
        seen.replies or seen.ended in ("closed", "reset")
    )


def alive(world: World, serve: Serve, after: str) -> None:
    prompt, seconds = serve.is_prompt()
    world.check(f"it answers within a second after {after}", prompt, f"{seconds:.2f} s")


def request_lines(world: World, serve: Serve) -> None:
    rest = b"\r\n" + HOST + b"\r\n"
    lines = {
        "no version": b"GET /healthz" + rest, "no path": b"GET" + rest, "another version": b"GET /healthz HTTP/9.9" + rest,
        "HTTP/2 as text": b"GET /healthz HTTP/2.0" + rest, "a small method": b"get /healthz HTTP/1.1" + rest,
        "an unknown method": b"FOO /healthz HTTP/1.1" + rest, "a space in the path": b"GET /health z HTTP/1.1" + rest,
        "a word too many": b"GET /healthz HTTP/1.1 x" + rest, "a preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "a hello of TLS": bytes.fromhex("1603010200010001fc0303") + bytes(200), "zeros": bytes(400), "ones": b"\xff" * 400,
        "a zero in the path": b"GET /\0healthz HTTP/1.1" + rest, "no slash": b"GET healthz HTTP/1.1" + rest,
        "another host's URL": b"GET http://evil.example/healthz HTTP/1.1" + rest,
        "a tunnel": b"CONNECT evil.example:443 HTTP/1.1" + rest, "everything": b"OPTIONS * HTTP/1.1" + rest,
        "a reply": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "a path of 100 000": b"GET /" + b"a" * 100_000 + b" HTTP/1.1" + rest,
        "a method of 100 000": b"A" * 100_000 + b" / HTTP/1.1" + rest, "only a query": b"GET ?a=b HTTP/1.1" + rest,
        "another encoding": b"GET /%2e%2e/healthz HTTP/1.1" + rest, "an encoded path": b"GET /%68ealthz HTTP/1.1" + rest,
        "two slashes": b"GET //healthz HTTP/1.1" + rest, "a fragment": b"GET /nothing#/healthz HTTP/1.1" + rest,
        "a query of broken escapes": b"GET /v1/logins?user=%zz%f HTTP/1.1" + rest,
        "not UTF-8 in a query": b"GET /v1/logins?us%ffer=%ff%fe HTTP/1.1" + rest,
        "10 000 parameters": b"GET /v1/logins?" + b"a=b&" * 10_000 + b" HTTP/1.1" + rest,
        "a parameter twice": b"GET /v1/logins?user=alice&user=bob HTTP/1.1" + rest,
        "an id that is none": b"DELETE /v1/logins/..%2f..%2fetc HTTP/1.1" + rest,
        "a trailing slash": b"GET /healthz/ HTTP/1.1" + rest,
    }  # fmt: skip
    for name, data in lines.items():
        seen = serve.raw(data)
        world.check(f"a request line with {name} is refused", is_refused(seen), seen)
    alive(world, serve, "request lines")


def methods(world: World, serve: Serve) -> None:
    for path, allowed in (
        ("/healthz", "GET"),
        ("/v1/token", "POST"),
        ("/v1/logins/abc", "DELETE"),
        ("/v1/events", "GET"),
    ):
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
            if method != allowed:
                (reply,) = serve.raw(request(method, path)).replies or [None]
                world.check(
                    f"{method} {path} has another method", reply and (reply.status, reply.code, reply.headers.get("allow")) == (405, "methodNotAllowed", allowed.replace("GET", "GET, HEAD")), reply)  # fmt: skip
    seen = serve.raw(request("HEAD", "/healthz"), head=True)
    world.check("HEAD is as GET without a body (RFC 9110 §9.3.2)", seen.replies and seen.replies[0].status == 200, seen)
    (reply,) = serve.raw(request("GET", "/nothing")).replies
    world.check("an unknown path is a problem", (reply.status, reply.code) == (404, "unknownPath"), reply)


def header_fields(world: World, serve: Serve) -> None:
    get = b"GET /healthz HTTP/1.1\r\n"
    refused = {
        "two hosts": HOST + b"Host: evil.example\r\n", "another host first": b"Host: evil.example\r\n" + HOST,
        "the same host twice": HOST + HOST,
        "another host": b"Host: evil.example\r\n", "localhost": b"Host: localhost\r\n", "an address": b"Host: 127.0.0.1\r\n",
        "a host that begins like it": b"Host: tokenvault.evil.example\r\n", "a host with a user": b"Host: a@tokenvault\r\n",
        "an origin": HOST + b"Origin: https://evil.example\r\n", "a null origin": HOST + b"Origin: null\r\n",
        "its own origin": HOST + b"Origin: http://tokenvault\r\n", "an empty origin": HOST + b"Origin:\r\n",
        "no colon": HOST + b"nothing\r\n", "a space before the colon": HOST + b"A : b\r\n", "no name": HOST + b": b\r\n",
        "a folded line": HOST + b"A: b\r\n c\r\n", "a zero": HOST + b"A: b\0c\r\n", "a control character in a name": HOST + b"A\x01: b\r\n",
        "20 000 bytes": HOST + b"A: " + b"b" * 20_000 + b"\r\n", "a name of 20 000 bytes": HOST + b"A" * 20_000 + b": b\r\n",
        "200 fields": HOST + b"".join(b"A%d: b\r\n" % number for number in range(200)),
        "100 KB of fields": HOST + b"".join(b"A%d: %s\r\n" % (number, b"b" * 1000) for number in range(100)),
        "a carriage return alone": HOST + b"A: b\rOrigin: c\r\n",
    }  # fmt: skip
    for name, fields in refused.items():
        seen = serve.raw(get + fields + b"\r\n")
        world.check(f"a header with {name} is refused", is_refused(seen), seen)
        if seen.replies and "host" in name and "twice" not in name and "two" not in name and "first" not in name:
            world.check(f"{name} is a wrong host", seen.replies[0].code in ("wrongHost", None), seen)
    for name, fields in {"no host": b"", "its host": HOST, "its host in capitals": b"HOST: TokenVault\r\n",
                         "99 other fields": HOST + b"".join(b"A%d: b\r\n" % number for number in range(98)),
                         "a field twice": HOST + b"A: b\r\nA: b\r\n"}.items():  # fmt: skip
        seen = serve.raw(get + fields + b"\r\n")
        world.check(f"a header with {name} is answered", [r.status for r in seen.replies] == [200], seen)
    for name, data in {"HTTP/1.0": b"GET /healthz HTTP/1.0\r\n\r\n", "close": get + HOST + b"Connection: close\r\n\r\n",
                       "Close": get + HOST + b"Connection: Close\r\n\r\n", "close among others": get + HOST + b"Connection: x, close\r\n\r\n"}.items():  # fmt: skip
        seen = serve.raw(data, replies=2, timeout=2)
        world.check(f"a request with {name} is answered", [r.status for r in seen.replies] == [200], seen)
        world.check(f"and its connection ends: {name} (RFC 9112 §9.3, §9.6)", seen.ended == "closed", seen)
    # Refused while it still writes.
    with contextlib.closing(serve.connected(3)) as one:
        started = time.monotonic()
        with contextlib.suppress(OSError):
            one.sendall(get + HOST + b"A: b\r\n" * 1_000_000)
        world.check("a client that writes on is not kept waiting", time.monotonic() - started < 2.5, "3 s")
    alive(world, serve, "header fields")


def lengths(world: World, serve: Serve) -> None:
    """Requests of which two programs could see different ends: at most one is answered, and none that hides in another."""
    post = b"POST /v1/token HTTP/1.1\r\n" + HOST + JSON
    chunked = b"Transfer-Encoding: chunked\r\n"
    length = b"Content-Length: %d\r\n" % len(BODY)
    one = b"%x\r\n%s\r\n" % (len(BODY), BODY)
    refused = {
        "both lengths": length + chunked + b"\r\n" + one + b"0\r\n\r\n",
        "no length and chunks": b"Content-Length: 0\r\n" + chunked + b"\r\n0\r\n\r\n" + SMUGGLED,
        "two lengths": length + b"Content-Length: 5\r\n\r\n" + BODY, "a list of lengths": b"Content-Length: 37, 5\r\n\r\n" + BODY,
        "a length below zero": b"Content-Length: -1\r\n\r\n" + BODY, "a length with a sign": b"Content-Length: +37\r\n\r\n" + BODY,
        "a length in hex": b"Content-Length: 0x25\r\n\r\n" + BODY, "a huge length": b"Content-Length: 99999999999999999999\r\n\r\n" + BODY,
        "an unknown encoding": b"Transfer-Encoding: gzip\r\n\r\n" + BODY,
        "an encoding after chunks": b"Transfer-Encoding: chunked, identity\r\n\r\n" + one + b"0\r\n\r\n",
        "a wrong chunk": chunked + b"\r\nxyz\r\n" + BODY, "a chunk below zero": chunked + b"\r\n-5\r\n" + BODY,
        "a chunk of 2^68": chunked + b"\r\nfffffffffffffffff\r\n" + BODY, "a chunk that is longer": chunked + b"\r\n5\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a chunk without its end": chunked + b"\r\n%x\r\n%s0\r\n\r\n" % (len(BODY), BODY),
        "chunks with line feeds alone": chunked + b"\r\n%x\n%s\n0\n\n" % (len(BODY), BODY),
        "an empty size": chunked + b"\r\n\r\n" + BODY, "an endless size": chunked + b"\r\n" + b"0" * 100_000,
        "a long extension": chunked + b"\r\n1;" + b"a" * 100_000,
        "a trailing field that is none": chunked + b"\r\n" + one + b"0\r\nnothing\r\n\r\n",
        "200 trailing fields": chunked + b"\r\n" + one + b"0\r\n" + b"".join(b"A%d: b\r\n" % n for n in range(200)) + b"\r\n",
    }  # fmt: skip
    for name, data in refused.items():
        seen = serve.raw(post + data, SMUGGLED, replies=3, timeout=2.5)
        healthy = [reply for reply in seen.replies if b'"live"' in reply.body]
        # Where the end of the first request is certain, the second may be answered; then the first was refused.
        world.check(
            f"a body with {name} hides no request", not healthy and seen.replies[:1] != [] or not seen.replies, seen
        )
        world.check(f"a body with {name} ends its connection", seen.ended in ("closed", "reset"), seen)
        world.check(f"a body with {name} is refused", all(400 <= r.status < 500 for r in seen.replies), seen)
    for name, data in {"chunks": chunked + b"\r\n" + one + b"0\r\n\r\n", "small chunks": chunked + b"\r\n" + b"".join(b"1\r\n%c\r\n" % c for c in BODY) + b"0\r\n\r\n",
                       "a trailing field": chunked + b"\r\n" + one + b"0\r\nA: b\r\n\r\n", "a length": length + b"\r\n" + BODY}.items():  # fmt: skip
        seen = serve.raw(post + data, SMUGGLED, replies=2)
        world.check(f"a body with {name} is read", [r.status for r in seen.replies] == [200, 200], seen)
    for name, end in {
        "a chunk too few": chunked + b"\r\n" + one,
        "a byte too few": length + b"\r\n" + BODY[:-1],
        "no byte": length + b"\r\n",
    }.items():
        seen = serve.raw(post + end, half_close=True)
        world.check(f"a body with {name} is refused", is_refused(seen), seen)
    alive(world, serve, "wrong lengths")


def long_bodies(world: World, serve: Serve) -> None:
    post = b"POST /v1/token HTTP/1.1\r\n" + HOST + JSON
    padded = json.dumps({"user": "alice", "provider": "acme"}).encode()
    just = padded + b" " * (65_536 - len(padded))
    seen = serve.raw(post + b"Content-Length: 65536\r\n\r\n" + just)
    world.check("64 KiB are read", [r.status for r in seen.replies] == [200], seen)
    for name, data in {
        "one byte more": b"Content-Length: 65537\r\n\r\n" + just + b" ", "a length alone": b"Content-Length: 1000000000\r\n\r\n",
        "10 MB": b"Content-Length: 10000000\r\n\r\n" + b" " * 10_000_000,
        "10 MB in chunks": b"Transfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b" " * 65_536 + b"\r\n") * 150,
    }.items():  # fmt: skip
        seen = serve.raw(post + data, replies=2)
        world.check(f"{name} is too large", [(r.status, r.code) for r in seen.replies] == [(413, "tooLarge")], seen)
        world.check(f"{name} ends the connection", seen.ended in ("closed", "reset"), seen)
    with contextlib.closing(serve.connected(2)) as one:
        one.sendall(post + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(BODY))
        try:
            went = world.transcript.add(one.recv(65536))
        except TimeoutError:
            went = b""
        world.check("a body that waits for leave is let in (RFC 9110 §10.1.1)", went.startswith(b"HTTP/1.1 100 "), went)
        one.sendall(BODY)
        seen = serve.read(one, 1, 5)
        world.check("and read", [r.status for r in seen.replies] == [200], seen)
    seen = serve.raw(b"GET /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello", SMUGGLED, replies=2)
    world.check("a body that nobody wants is read over", [r.status for r in seen.replies] == [200, 200], seen)
    alive(world, serve, "long bodies")


def documents(world: World, serve: Serve) -> None:
    """What is no good JSON is refused with a problem document of status 400, and the connection stays."""
    deep = b'{"user":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
    bodies = {
        "a member twice": b'{"user": "alice", "user": "bob"}', "a member twice by an escape": b'{"user": "alice", "us\\u0065r": "bob"}',
        "a deep nest": deep, "a deep nest of objects": b'{"context":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001,
        "an open nest": b"[" * 60_000, "not UTF-8": b'{"user": "\xff\xfe"}', "an overlong form": b'{"user": "\xc0\xaf"}',
        "half a pair": b'{"user": "\\ud800"}', "UTF-16": '{"user": "alice"}'.encode("utf-16"),
        "nothing": b"", "a list": b"[]", "a text": b'"alice"', "null": b"null", "two documents": BODY + BODY, "a comment": b"/* */" + BODY,
        "a comma too many": b'{"user": "alice",}', "single quotes": b"{'user': 'alice'}", "a line break in a text": b'{"user": "a\nb"}',
        "a number as the user": b'{"user": 1}', "an empty user": b'{"user": ""}', "no user": b"{}", "an unknown member": b'{"user": "alice", "usr": 1}',
        "a number that is none": b'{"user": "alice", "deadline": NaN}', "a huge number": b'{"user": "alice", "deadline": 1e999}',
        "a number below zero": b'{"user": "alice", "minimumValidity": -1}', "a long user": json.dumps({"user": "a" * 1025}).encode(),
        "a tenant that is none": b'{"user": "alice", "tenant": "a b/c"}', "user and login": b'{"user": "alice", "login": "aaaa"}',
        "a scope that is none": b'{"user": "alice", "scope": "\\"\\\\"}',
    }  # fmt: skip
    with contextlib.closing(serve.client()) as client:
        for name, body in bodies.items():
            reply = client.ask("POST", "/v1/token", body)
            world.check(f"JSON with {name} is refused", (reply.status, reply.code) == (400, "invalidArgument"), reply)
            world.check(
                f"JSON with {name} comes back nowhere", b"\xff" not in reply.body and b"aaaaaaaaaa" not in reply.body
            )
        for name in (
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=a",
            "",
            "application/jsonx",
            "application/json-seq",
        ):
            reply = client.ask("POST", "/v1/token", BODY, Content_Type=name)
            world.check(f"the type {name!r} is not JSON", (reply.status, reply.code) == (415, "notJSON"), reply)
        reply = client.ask("POST", "/v1/token", BODY, Content_Type="Application/JSON; charset=utf-8")
        world.check("JSON in capitals is JSON", reply.status == 200, reply)
        for body in (b'{"user": "\\u0000alice", "provider": "acme"}', json.dumps({"user": "a\u0301\u202e" * 100}).encode(), b'{"user": "a\\r\\nSet-Cookie: b", "provider": "acme"}',
                     json.dumps({"login": "\x00" * 26}).encode(), json.dumps({"user": "alice", "provider": "../acme"}).encode()):  # fmt: skip
            reply = client.ask("POST", "/v1/token", body)
            world.check("strange names are unknown", 400 <= reply.status < 500 and reply.code is not None, reply)
            world.check("and come back in no header", "set-cookie" not in reply.headers)
    alive(world, serve, "documents")


def slow_clients(world: World, serve: Serve) -> None:
    """A byte a second: the connection is closed after about ten seconds, and others are answered meanwhile."""
    started = time.monotonic()
    slow = [serve.connected(timeout=20) for _ in range(20)]
    for one in slow:
        one.sendall(b"POST /v1/token HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 1000\r\n\r\n")
    open_ones = list(slow)
    while open_ones and time.monotonic() - started < 20:
        for one in list(open_ones):
            with contextlib.suppress(OSError):
                one.sendall(b" ")
            one.settimeout(0.001)
            try:
                if world.transcript.add(one.recv(65536)) == b"":
                    open_ones.remove(one)
            except TimeoutError:
                pass
            except OSError:
                open_ones.remove(one)
        if len(open_ones) == 20 and time.monotonic() - started < 9:
            prompt, seconds = serve.is_prompt()
            world.check("others are answered beside slow clients", prompt, f"{seconds:.2f} s")
        time.sleep(1)
    took = time.monotonic() - started
    world.check(
        "a slow body is ended after ten seconds",
        not open_ones and 9 < took < 15,
        f"{len(open_ones)} open, {took:.1f} s",
    )
    for one in slow:
        one.close()


def half_closed(world: World, serve: Serve) -> None:
    seen = serve.raw(request("GET", "/healthz"), half_close=True)
    world.check("a client that says no more is answered", [r.status for r in seen.replies] == [200], seen)
    seen = serve.raw(request("POST", "/v1/token", {"user": "alice", "provider": "acme"}), half_close=True)
    world.check("also for a token", [r.status for r in seen.replies] == [200], seen)
    seen = serve.raw(half_close=True)
    world.check("and closed if it never said anything", seen.replies == [] and seen.ended == "closed", seen)
    seen = serve.raw(b"GET /healthz HTT", half_close=True)
    world.check("half a request is no request", is_refused(seen), seen)


def is_closed(one: socket.socket) -> bool:
    """Whether the server has closed a connection on which it says nothing."""
    one.settimeout(0)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def idle_connections(world: World, serve: Serve) -> None:
    idle = [serve.connected() for _ in range(1_000)]
    prompt, seconds = serve.is_prompt()
    world.check("1 000 idle connections hold up nobody", prompt, f"{seconds:.2f} s")
    idle += [serve.connected() for _ in range(1_200)]
    prompt, seconds = serve.is_prompt()
    world.check("2 200 do not, either", prompt, f"{seconds:.2f} s")
    gone, waited = 0, time.monotonic()
    # They are closed one after the other, however slow the machine is.
    while gone < 150 and time.monotonic() - waited < 120:
        time.sleep(0.05)
        gone = sum(is_closed(one) for one in idle)
    for one in idle:
        one.close()
    world.check("because some of them had to go", 150 <= gone <= 160, gone)
    alive(world, serve, "idle connections")


def deaf_client(world: World, serve: Serve) -> None:
    """It asks 5 000 times for the longest answer, and reads none of them."""
    before = memory(serve)
    one = serve.connected(timeout=1)
    batch = request("GET", "/v1/openapi.json") * 5_000
    sent = 0
    with contextlib.suppress(TimeoutError, OSError):
        while sent < len(batch):
            sent += one.send(batch[sent : sent + 65536])
    time.sleep(0.5)
    prompt, seconds = serve.is_prompt()
    world.check("a client that reads nothing holds up nobody", prompt, f"{seconds:.2f} s")
    world.check("and fills no memory", memory(serve) - before < 40_000, f"{before} to {memory(serve)} KiB")
    one.close()


def too_many(world: World, serve: Serve) -> None:
    """More requests under way than one client may have: the others are refused at once, and say for how long."""
    world.add_expired_login("many")
    world.delay("many", 2)
    ones = [serve.connected(20) for _ in range(1_100)]
    ask = request("POST", "/v1/token", {"user": "many", "provider": "acme"})
    for one in ones:
        one.sendall(ask)
    replies = [reply for one in ones for reply in serve.read(one, 1, 20).replies]
    for one in ones:
        one.close()
    good, refused = ([r for r in replies if r.status == status] for status in (200, 429))
    world.check(
        "1 024 requests of a client are under way at most",
        (len(good), len(refused)) == (1_024, 76),
        (len(good), len(refused)),
    )
    world.check(
        "the others may come again",
        all(r.code == "tooManyRequests" and r.headers.get("retry-after") == "1" for r in refused),
    )
    alive(world, serve, "too many requests")


def memory(serve: Serve) -> int:
    with open(f"/proc/{serve.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def descriptors(serve: Serve) -> int:
    return len(os.listdir(f"/proc/{serve.process.pid}/fd"))


KILLED = """
import socket, sys
one = socket.socket(socket.AF_UNIX)
one.connect(sys.argv[1])
one.sendall(sys.argv[2].encode())
print("sent", flush=True)
one.recv(1)
"""


def killed_client(world: World, serve: Serve) -> None:
    """A client is killed while it waits for a renewal: that goes on, and another client has its token."""
    world.add_expired_login("killed")
    before = world.token_requests("killed")
    world.delay("killed", 1.5)
    body = {"user": "killed", "provider": "acme"}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(serve.path), request("POST", "/v1/token", body).decode()],
        stdout=subprocess.PIPE,
    )
    process.stdout.readline()
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    reply = serve.token(**body)
    world.check("a renewal outlives its client", reply.status == 200, reply)
    world.check(
        "and is not repeated", world.token_requests("killed") - before == 1, world.token_requests("killed") - before
    )


def strangers(world: World, serve: Serve) -> None:
    """Programs of other users, and a client of a policy that allows little."""
    if os.getuid() != 0:
        print("serve_check: left out, because only root becomes another user: strangers", file=sys.stderr)
        return

    def as_user(number: int, data: bytes) -> bytes:
        """What a process of this user gets, as a copy of this one that gives up its rights."""
        out, into = os.pipe()
        if (child := os.fork()) == 0:
            try:
                os.setgroups([])
                os.setgid(number)
                os.setuid(number)
                with contextlib.closing(serve.connected()) as one:
                    one.sendall(data)
                    os.write(into, one.recv(65536))
            finally:
                os._exit(0)
        os.close(into)
        with open(out, "rb") as answer:
            said = answer.read()
        os.waitpid(child, 0)
        return world.transcript.add(said)

    ask = request("POST", "/v1/token", {"user": "alice", "provider": "acme"})
    for data in (ask, request("GET", "/healthz"), request("GET", "/v1/openapi.json"), request("GET", "/metrics")):
        out = as_user(65_534, data)
        world.check("another user of the machine has nothing", b" 403 " in out and b"unknownClient" in out, out)
    out = as_user(12_345, ask)
    world.check("a user of the policy has what it says", b" 200 " in out, out)
    for name, data in {
        "another's token": request("POST", "/v1/token", {"user": "bob", "provider": "acme"}), "another provider's": request("POST", "/v1/token", {"user": "alice", "provider": "bound"}),
        "another verb": request("GET", "/v1/logins?user=alice"), "metrics": request("GET", "/metrics"), "events": request("GET", "/v1/events"),
        "a tenant's": request("POST", "/v1/token", {"user": "alice", "provider": "acme", "tenant": "contoso"}),
        "a scope": request("POST", "/v1/token", {"user": "alice", "provider": "acme", "scope": "read"}),
        "a resource": request("POST", "/v1/token", {"user": "alice", "provider": "acme", "resource": "https://api.example/"}),
        "a request": request("POST", "/v1/authorize", {"user": "alice", "provider": "acme", "method": "GET", "url": "https://api.example/"}),
        "a log-in": request("POST", "/v1/logins/begin", {"user": "alice", "provider": "acme"}),
    }.items():  # fmt: skip
        out = as_user(12_345, data)
        world.check(f"and not {name}", b" 403 " in out and b"notAllowed" in out, out)
    theirs = world.tool.json("login", "list", "--user", "bob")["logins"][0]["id"]
    out = as_user(12_345, request("POST", "/v1/token", {"login": theirs}))
    none = as_user(12_345, request("POST", "/v1/token", {"login": "a" * 26}))
    world.check(
        "another's login is like one that is not there",
        b" 404 " in out and out.split(b"\r\n\r\n")[1] == none.split(b"\r\n\r\n")[1],
        out,
    )


LITTLE = """
[[client]]
name = "little"
uid = 12345
verbs = ["token"]
users = ["alice"]
providers = ["acme"]
"""
