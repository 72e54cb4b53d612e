"""What `vaultctl serve` does from its start to its end: its socket, its policy, another one in its place, events, a crowd."""

import contextlib
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
from pathlib import Path

from serve_kit import POLICY, Serve, Socket, World, request


def refused(
    world: World,
    what: str,
    words: str,
    *options: str,
    policy=None,
    code: int | None = None,
    environment: dict | None = None,
) -> None:
    """That a server does not start, and why."""
    command = [
        world.tool.program,
        "serve",
        "--allow-insecure-loopback",
        "--policy",
        str(policy or world.policy),
        *options,
    ]
    try:
        done = subprocess.run(
            command,
            env=environment or world.tool.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
        )
    except subprocess.TimeoutExpired:
        world.check(f"{what} is refused", False, "it runs")
        return
    world.transcript.add(done.stdout.encode() + done.stderr.encode())
    is_right = done.returncode != 0 and words in done.stderr and (code is None or done.returncode == code)
    world.check(f"{what} is refused", is_right, f"({done.returncode}): {done.stderr}")


def places(world: World) -> None:
    """Where it listens, and where it does not."""
    file = world.directory / "a-file"
    file.write_text("precious")
    refused(world, "a file instead of a socket", "is not a socket", "--socket", str(file))
    world.check("and stays as it was", file.read_text() == "precious")
    directory = world.directory / "a-directory"
    directory.mkdir()
    refused(world, "a directory instead of a socket", "is not a socket", "--socket", str(directory))
    link = world.directory / "a-link"
    link.symlink_to(file)
    refused(world, "a link to a file", "is not a socket", "--socket", str(link))
    world.check("and is a link still", link.is_symlink() and file.read_text() == "precious")
    refused(world, "a path that is too long", "longer than", "--socket", str(world.directory / ("a" * 120)))
    refused(world, "no socket at all", "no socket to listen on")
    open_to_all = world.directory / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    refused(world, "a directory in which others write", "", "--socket", str(open_to_all / "s.sock"))
    path = str(world.directory / "other.sock")
    for name, options, words in (
        ("a group that is none", ("--socket-group", "no-such-group"), "no group"),
        ("a mode that is none", ("--socket-mode", "0999"), "socket-mode"),
        ("a mode without a socket to make", ("--socket-mode", "0600", "--check"), "--check"),
    ):
        refused(world, name, words, "--socket", path, *options)
    environment = {**world.tool.environment, "TOKENVAULT_VAULT": str(world.directory / "none.vault")}
    refused(world, "a vault that is not there", "none.vault", "--socket", path, environment=environment)
    world.check("and no socket is left", not os.path.exists(path))
    stale = world.directory / "stale.sock"
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(stale))
    with Serve(world, "stale", "--socket-mode", "0600") as serve:
        world.check("a socket that nobody serves is replaced", serve.ask("GET", "/healthz").status == 200)
        world.check("with the permissions asked for", stale.stat().st_mode & 0o7777 == 0o600, oct(stale.stat().st_mode))
        refused(world, "a second server", "another server answers", "--socket", str(stale))
        world.check("and the first goes on", serve.ask("GET", "/healthz").status == 200)
        world.check("SIGTERM ends it with 0", serve.end() == 0, serve.said())
    world.check("and its socket is gone", not stale.exists())


def policies(world: World) -> None:
    """Files that are not believed."""
    own = f'[[client]]\nname = "a"\nuid = {os.getuid()}\nverbs = ["token"]\nusers = ["*"]\nproviders = ["*"]\n'
    group = world.write_policy("group.toml", own)
    group.chmod(0o620)
    refused(
        world, "a policy that a group can write", "can write", "--socket", str(world.directory / "p.sock"), policy=group
    )
    group.chmod(0o602)
    refused(
        world,
        "a policy that everybody can write",
        "can write",
        "--socket",
        str(world.directory / "p.sock"),
        policy=group,
    )
    if os.getuid() == 0:
        group.chmod(0o600)
        os.chown(group, 12345, 12345)
        refused(
            world, "a policy of another user", "another user", "--socket", str(world.directory / "p.sock"), policy=group
        )
    world.tool("serve", "--policy", str(world.policy), "--check")
    for name, text, words in (
        ("nothing", "", "no client"), ("a client twice", own + own, "same name"),
        ("two that are one", own + own.replace('"a"', '"b"'), "could be both"),
        ("no mark", own.replace(f"uid = {os.getuid()}\n", ""), "fits every process"), ("no verbs", own.replace('verbs = ["token"]\n', ""), "no verbs"),
        ("an unknown verb", own.replace("token", "tokens"), "no such verb"), ("an unknown setting", own + "a = 1\n", "no such setting"),
        ("a pattern in the middle", own.replace('users = ["*"]', 'users = ["a*b"]'), "asterisk"), ("a setting twice", own + 'users = ["a"]\n', "twice"),
        ("useless origins", own + 'origins = ["https://a.example"]\n', "only the verb authorize"), ("not UTF-8", own + "# \udcff", "not UTF-8"),
        ("no users", own.replace('users = ["*"]\n', ""), "has no users"), ("an open list", own.replace('["*"]', '["*"', 1), ""),
        ("a user that is none", own.replace(f"uid = {os.getuid()}", 'user = "no-such-user"'), "no user"),
    ):  # fmt: skip
        bad = world.directory / "bad.toml"
        bad.touch(mode=0o600)
        bad.write_bytes(text.encode("utf-8", "surrogateescape"))
        refused(world, f"a policy with {name}", words, "--check", policy=bad)


def reload(world: World) -> None:
    """SIGHUP with a good policy, and with a broken one."""
    policy = world.write_policy("reload.toml", POLICY.format(uid=os.getuid()))
    with Serve(world, "reload", policy=policy) as serve, contextlib.closing(serve.client()) as client:
        world.check(
            "before the change it is allowed",
            client.ask("POST", "/v1/token", {"user": "alice", "provider": "acme"}).status == 200,
        )
        stream = Stream(serve)
        world.check("a stream begins", stream.until(lambda s: b"\n\n" in s.data), stream.data)
        policy.write_text(POLICY.format(uid=os.getuid()).replace('users = ["*"]', 'users = ["bob"]'))
        reply = client.ask("POST", "/v1/token", {"user": "alice", "provider": "acme"})
        world.check("a change counts only once it is asked for", reply.status == 200, reply)
        serve.signal(signal.SIGHUP)
        world.check("SIGHUP reads the policy", serve.wait_for("read the policy again"), serve.said())
        reply = client.ask("POST", "/v1/token", {"user": "alice", "provider": "acme"})
        world.check(
            "then it counts, on open connections, too", (reply.status, reply.code) == (403, "notAllowed"), reply
        )
        for user in ("alice", "bob"):
            world.tool("login", "refresh", "--user", user)
        world.check(
            "and on open streams",
            stream.until(lambda s: '"bob"' in s.text()) and '"alice"' not in stream.text(),
            stream.text(),
        )
        policy.write_text("[[client]\n")
        serve.signal(signal.SIGHUP)
        world.check("a broken one is reported", serve.wait_for("the policy stays as it was"), serve.said())
        world.check(
            "and changes nothing", client.ask("POST", "/v1/token", {"user": "bob", "provider": "acme"}).status == 200
        )
        policy.chmod(0o622)
        serve.signal(signal.SIGHUP)
        world.check("one that others write, too", serve.wait_for("the policy stays as it was", count=2), serve.said())
        policy.unlink()
        serve.signal(signal.SIGHUP)
        world.check("and one that is gone", serve.wait_for("the policy stays as it was", count=3), serve.said())
        world.check("it runs on", client.ask("POST", "/v1/token", {"user": "bob", "provider": "acme"}).status == 200)
        for _ in range(50):
            serve.signal(signal.SIGHUP)
        world.check("50 signals at once do no harm", client.ask("GET", "/healthz").status == 200)
        world.check("and it ends with 0", serve.end() == 0, serve.said())


def slips(world: World) -> None:
    """Names in a policy that stand for nothing are reported, and used all the same."""
    text = POLICY.format(uid=os.getuid()).replace('providers = ["*"]', 'providers = ["acmee", "acme"]')
    other = f'[[client]]\nname = "other"\nuid = {os.getuid() + 1}\nsocket = "mian"\nverbs = ["metrics"]\n'
    with Serve(world, "slips", policy=world.write_policy("slips.toml", text + other)) as serve:
        said = serve.said()
        world.check("a misspelt provider is reported", "no provider acmee; did you mean acme" in said, said)
        world.check("and a socket", "no socket has the name mian; the sockets are: main" in said, said)
        world.check("and nothing that is there", "no provider acme\n" not in said and "'*'" not in said, said)
        serve.signal(signal.SIGHUP)
        world.check("and when it is read again", serve.wait_for("no provider acmee", count=2), serve.said())
        world.check("and it ends with 0", serve.end() == 0, serve.said())


class Load:
    """Clients that ask without pause, each on new connections or on one that it keeps, and repeat a request once at most."""

    def __init__(self, serve: Serve):
        self.serve, self.stop, self.done, self.repeated, self.failed = serve, threading.Event(), 0, 0, []
        self.threads = [threading.Thread(target=self.ask, args=(number % 2 == 0,), daemon=True) for number in range(6)]

    def ask(self, keeps: bool) -> None:
        client = self.serve.client()
        while not self.stop.is_set():
            for attempt in (1, 2):
                try:
                    reply = client.ask("POST", "/v1/token", {"user": "alice", "provider": "acme"})
                    if reply.status != 200:
                        self.failed.append(reply)
                    break
                except (OSError, http.client.HTTPException) as error:
                    client.close()
                    # Only a connection that was kept may have ended meanwhile.
                    if attempt == 2 or not keeps:
                        self.failed.append(repr(error))
                        break
                    self.repeated += 1
            self.done += 1
            if not keeps:
                client.close()

    def __enter__(self) -> "Load":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join(timeout=30)


def take_over(world: World) -> None:
    """Another server in its place, three times, while clients ask."""
    path = world.directory / "place.sock"
    serves = [Serve(world, "place-0", socket_path=path).listening()]
    try:
        with Load(serves[0]) as load:
            for number in (1, 2, 3):
                time.sleep(0.3)
                serves.append(Serve(world, f"place-{number}", "--take-over", socket_path=path).listening())
                world.check("the earlier one ends with 0", serves[-2].end() == 0, serves[-2].said())
                world.check("and leaves the socket to the later one", path.exists())
            time.sleep(0.3)
        world.check("no request fails meanwhile", not load.failed, load.failed[:5])
        world.check("and there were enough of them", load.done > 100, load.done)
        world.check("few had to be repeated", load.repeated <= 9, load.repeated)
        world.check("the last one ends with 0", serves[-1].end() == 0, serves[-1].said())
        world.check("and then the socket is gone", not path.exists())
    finally:
        for serve in serves:
            serve.__exit__()


class Stream:
    """A client of `/v1/events`."""

    def __init__(self, serve: Serve, query: str = "", last: str | None = None):
        self.serve, self.one, self.data = serve, serve.connected(10), b""
        self.one.sendall(request("GET", f"/v1/events{query}", None, *([f"Last-Event-ID: {last}"] if last else [])))

    def until(self, holds, seconds: float = 10) -> bool:
        """Reads until the events so far are enough."""
        end = time.monotonic() + seconds
        while not holds(self):
            self.one.settimeout(max(0.01, end - time.monotonic()))
            try:
                part = self.one.recv(65536)
            except OSError:
                return False
            if not part:
                return holds(self)
            self.data += self.serve.world.transcript.add(part)
        return True

    def text(self) -> str:
        body = self.data.partition(b"\r\n\r\n")[2]
        # Without the sizes of the chunks.
        whole = b""
        while (match := re.match(rb"([0-9a-f]+)\r\n", body, re.IGNORECASE)) and (size := int(match[1], 16)):
            whole += body[match.end() : match.end() + size]
            body = body[match.end() + size + 2 :]
        return whole.decode()

    def events(self) -> list[dict[str, str]]:
        blocks = [block for block in self.text().split("\n\n")[:-1]]
        found = [
            dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
            for block in blocks
        ]
        return [event for event in found if "data" in event]

    def last_id(self) -> str | None:
        """As an `EventSource` keeps it: also that of a block without an event (HTML, 9.2.6)."""
        found = re.findall(r"^id: (.+)$", self.text(), re.MULTILINE)
        return found[-1] if found else None

    def close(self) -> None:
        self.one.close()


def generations(streams: list[Stream], login: str) -> list[int]:
    return [
        json.loads(event["data"])["generation"]
        for stream in streams
        for event in stream.events()
        if event["event"] == "updated" and login in event["data"]
    ]


def events(world: World) -> None:
    """Each at least once and in order, also across connections and across servers."""
    login = world.add_login("carol")
    world.tool("login", "refresh", login)
    with Serve(world, "events") as serve:
        first = Stream(serve)
        world.check("a stream of events begins at once", first.until(lambda s: b"\r\n\r\n" in s.data), first.data)
        world.check("with its type", b"text/event-stream" in first.data.lower())
        world.check(
            "it says where it begins, before there is an event",
            first.until(lambda s: s.last_id() is not None, 2),
            first.data,
        )
        start = first.last_id()
        world.tool("login", "refresh", login)
        world.check("an event arrives", first.until(lambda s: generations([s], login)), first.text())
        last = first.last_id()
        first.close()
        for _ in range(3):
            world.tool("login", "refresh", login)
        second = Stream(serve, last=last)
        world.check(
            "those of a time without a connection arrive",
            second.until(lambda s: len(generations([s], login)) == 3),
            second.text(),
        )
        seen = generations([first, second], login)
        world.check("none is lost, and none out of order", seen == list(range(seen[0], seen[0] + 4)), seen)
        all_of_them = Stream(serve, "?after=start")
        world.check(
            "all that there are arrive",
            all_of_them.until(lambda s: set(seen) <= set(generations([s], login))),
            all_of_them.text(),
        )
        of_alice = Stream(serve, "?after=start&user=alice")
        of_alice.until(lambda s: len(s.events()) >= 1, 3)
        world.check(
            "those of one user are of no other",
            of_alice.events() and all('"alice"' in event["data"] for event in of_alice.events()),
            of_alice.text(),
        )
        for name in ("after=nonsense", "after=", "user=", "x=1"):
            world.check(f"?{name} is refused", serve.ask("GET", f"/v1/events?{name}").status == 400)
        world.check(
            "a wrong Last-Event-ID is refused", serve.ask("GET", "/v1/events", Last_Event_ID="nonsense").status == 400
        )
        many = [Stream(serve) for _ in range(50)]
        world.check("fifty streams begin", all(s.until(lambda s: b"\n\n" in s.data) for s in many))
        world.tool("login", "refresh", login)
        world.check("and each has the event", all(s.until(lambda s: generations([s], login)) for s in many))
        last = second.last_id()
        for s in many[:25]:
            s.close()
        world.check("SIGTERM ends it with 0", serve.end() == 0, serve.said())
        ended = [
            s.until(lambda s: s.events() and s.events()[-1]["event"] == "end", 5)
            for s in (second, all_of_them, *many[25:])
        ]
        world.check("its streams end with a last line", all(ended), second.text())
    with Serve(world, "events-again") as serve:
        after = Stream(serve, last=last)
        world.check(
            "another server continues where they were", after.until(lambda s: generations([s], login)), after.text()
        )
        if start is not None:
            again = Stream(serve, last=start)
            world.check(
                "also for a client that had no event yet",
                again.until(lambda s: set(seen) <= set(generations([s], login))),
                again.text(),
            )
        world.check("and ends with 0", serve.end() == 0, serve.said())


def end(world: World) -> None:
    """SIGTERM while a token is renewed: the client has its answer."""
    for number, name in ((signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "SIGINT")):
        user = f"{name.lower()}-user"
        world.add_expired_login(user)
        world.delay(user, 1.5)
        with Serve(world, name) as serve:
            one = serve.connected(20)
            one.sendall(request("POST", "/v1/token", {"user": user, "provider": "acme"}))
            idle = serve.connected(5)
            time.sleep(0.4)
            serve.signal(number)
            # The signal is taken a moment later, and long before the renewal ends.
            for _ in range(5):
                time.sleep(0.2)
                try:
                    late = serve.ask("GET", "/healthz", timeout=3).status
                except OSError as error:
                    late = type(error).__name__
                    break
            world.check(
                f"after {name} no connection is taken", late in ("ConnectionRefusedError", "FileNotFoundError"), late
            )
            world.check("an idle one ends", serve.read(idle, 1, 3).ended == "closed")
            seen = serve.read(one, 2, 15)
            world.check(f"{name} lets a request finish", [r.status for r in seen.replies] == [200], seen)
            world.check("and then ends its connection", seen.ended == "closed", seen)
            world.check("and the server, with 0", serve.process.wait(timeout=20) == 0, serve.said())
        world.check("the token was asked for once", world.token_requests(user) == 2, world.token_requests(user))
    with Serve(world, "queue") as serve:
        silent = [serve.connected(10) for _ in range(100)]
        # What comes while it is held waits in the system's queue; the signal is the first that it sees.
        serve.signal(signal.SIGSTOP)
        waiting = [serve.connected(10) for _ in range(200)]
        for one in waiting:
            one.sendall(request("POST", "/v1/token", {"user": "alice", "provider": "acme"}))
        serve.signal(signal.SIGTERM)
        serve.signal(signal.SIGCONT)
        for one in silent:
            with contextlib.suppress(OSError):
                one.sendall(request("POST", "/v1/token", {"user": "alice", "provider": "acme"}))
        for name, ones in (("in its queue", waiting), ("connected, and silent until then", silent)):
            seen = [serve.read(one, 2, 10) for one in ones]
            good = [[r.status for r in exchange.replies] == [200] and exchange.ended == "closed" for exchange in seen]
            world.check(
                f"after SIGTERM who is {name} is answered, and closed",
                all(good),
                (good.count(False), [exchange for exchange, is_good in zip(seen, good) if not is_good][:3]),
            )
            world.check("and told so", all(r.headers.get("connection") == "close" for e in seen for r in e.replies))
        world.check("and it ends with 0", serve.process.wait(timeout=20) == 0, serve.said())


def crowd(world: World) -> None:
    """A thousand callers on a hundred connections want the token of one login that has expired."""
    login = world.add_expired_login("crowd")
    before = world.token_requests("crowd")
    world.delay("crowd", 1)
    with Serve(world, "crowd") as serve:
        ones = [serve.connected(30) for _ in range(100)]
        for one in ones:
            one.sendall(request("POST", "/v1/token", {"user": "crowd", "provider": "acme"}) * 10)
        seen = [serve.read(one, 10, 30) for one in ones]
        replies = [reply for exchange in seen for reply in exchange.replies]
        world.check("a thousand callers are answered", [r.status for r in replies] == [200] * 1000, seen[0])
        world.check("with one token", len({r.json["access_token"] for r in replies}) == 1)
        world.check(
            "that was asked for once",
            world.token_requests("crowd") - before == 1,
            world.token_requests("crowd") - before,
        )
        for one in ones:
            one.close()
        rows = handed_out(world, login)
        world.check("the trail has one row of it, not one for each caller", rows == 1, rows)
        for _ in range(5):
            serve.token(user="crowd", provider="acme")
            serve.token(user="crowd", provider="acme", scope="read")
        rows = handed_out(world, login)
        world.check("and one of a narrower token", rows == 2, rows)
        world.check("it ends with 0", serve.end() == 0, serve.said())


def handed_out(world: World, login: str) -> int:
    """How often the audit trail says that a client was given a token of this login."""
    return world.tool("audit", "list", "--json", "--all", "--kind", "tokenHandedOut", "--login", login).count(
        '"tokenHandedOut"'
    )


# What systemd does between fork and exec.
ACTIVATE = """
import json, os, sys
high = [os.dup2(number, 100 + index) for index, number in enumerate(json.loads(sys.argv[1]))]
for index, number in enumerate(high):
    os.dup2(number, 3 + index)
    os.close(number)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.argv[2], sys.argv[2:])
"""


def activated(world: World) -> None:
    """Two sockets that systemd would have opened, each with clients of its own."""
    text = "".join(
        f'[[client]]\nname = "{name}"\nsocket = "{name}"\nverbs = ["token"]\nusers = ["{user}"]\nproviders = ["acme"]\n'
        for name, user in (("web", "alice"), ("jobs", "bob"))
    )
    policy = world.write_policy("sockets.toml", text)
    paths = {name: world.directory / f"{name}.sock" for name in ("web", "jobs")}
    listeners = []
    for path in paths.values():
        one = socket.socket(socket.AF_UNIX)
        one.bind(str(path))
        one.listen(100)
        listeners.append(one)
    first = Activated(world, "activated-1", policy, listeners)
    second = None
    try:
        if not world.check("it takes the sockets that systemd has opened", first.is_listening(), first.said()):
            return
        for name, theirs, others in (("web", "alice", "bob"), ("jobs", "bob", "alice")):
            with contextlib.closing(Socket(paths[name], world.transcript)) as client:
                mine = client.ask("POST", "/v1/token", {"user": theirs, "provider": "acme"})
                world.check(f"the socket {name} has its client", mine.status == 200, mine)
                other = client.ask("POST", "/v1/token", {"user": others, "provider": "acme"})
                world.check("and no other", (other.status, other.code) == (403, "notAllowed"), other)
        first.process.send_signal(signal.SIGSTOP)
        waiting = [Socket(paths["web"], world.transcript) for _ in range(50)]
        for client in waiting:
            client.request("POST", "/v1/token", '{"user": "alice"}', {"Content-Type": "application/json"})
        first.process.send_signal(signal.SIGTERM)
        first.process.send_signal(signal.SIGCONT)
        world.check("SIGTERM ends it with 0", first.process.wait(timeout=20) == 0, first.said())
        world.check("systemd's sockets stay", all(path.exists() for path in paths.values()))
        second = Activated(world, "activated-2", policy, listeners)
        statuses = [client.getresponse().status for client in waiting]
        world.check("whoever waited is answered by it, or by the next one", statuses == [200] * 50, statuses)
        world.check("the next one listens, too", second.is_listening(), second.said())
        second.process.send_signal(signal.SIGTERM)
        world.check("and ends with 0", second.process.wait(timeout=20) == 0, second.said())
    finally:
        for server in (first, second):
            if server:
                server.end()
        for one in listeners:
            one.close()


class Activated:
    """A server to which systemd gives its sockets."""

    def __init__(self, world: World, name: str, policy: Path, listeners: list[socket.socket]):
        self.log = world.directory / f"{name}.log"
        world.logs.append(self.log)
        numbers = [one.fileno() for one in listeners]
        command = [world.tool.program, "serve", "--allow-insecure-loopback", "--policy", str(policy)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", ACTIVATE, json.dumps(numbers), *command], pass_fds=numbers,
                env={**world.tool.environment, "LISTEN_FDS": "2", "LISTEN_FDNAMES": "web:jobs"}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # fmt: skip

    def said(self) -> bytes:
        return self.log.read_bytes()

    def is_listening(self) -> bool:
        """It says so once it listens; until then the kernel keeps who connects."""
        end = time.monotonic() + 20
        while b"answering" not in self.said() and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        return b"answering" in self.said()

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
