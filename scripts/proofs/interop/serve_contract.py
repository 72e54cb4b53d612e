"""The contract of `vaultctl serve`, as schemathesis tries it: over the socket, through a forwarder on loopback."""

import os
import re
import shutil
import socket
import socketserver
import subprocess
import sys
import threading
from pathlib import Path

from serve_kit import Serve, World

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,unsupported_method,allow_header_conformance,negative_data_rejection"


class Forwarder(socketserver.ThreadingTCPServer):
    """Connections to a port of this machine go to the socket, byte by byte."""

    allow_reuse_address = daemon_threads = True
    request_queue_size = 100

    def __init__(self, serve: Serve):
        self.serve, self.connections = serve, 0
        super().__init__(("127.0.0.1", 0), Pump)


class Pump(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.server.connections += 1
        with self.server.serve.connected(timeout=30) as inner:
            back = threading.Thread(
                target=self.copy, args=(inner, self.request, self.server.serve.world.transcript.add), daemon=True
            )
            back.start()
            self.copy(self.request, inner, lambda data: data)
            back.join(timeout=30)

    @staticmethod
    def copy(source: socket.socket, target: socket.socket, note) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(note(data))
        except OSError:
            pass
        try:
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def shape(world: World, document: dict) -> None:
    """What a generator of clients needs."""
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    world.check("the contract is OpenAPI 3.1", document["openapi"].startswith("3.1."))
    names = [operation["operationId"] for operation in operations]
    world.check("each operation has a name of its own", len(set(names)) == len(names) == 12, names)
    world.check("and a summary", all(operation["summary"].endswith(".") for operation in operations))
    world.check(
        "and problems",
        all("application/problem+json" in operation["responses"]["default"]["content"] for operation in operations),
    )


def answers(world: World, serve: Serve, document: dict) -> None:
    """That schemathesis sees no answer is no reason to believe them: each operation is done once, and its reply is compared."""
    login = world.log_in(serve, "dora", "acme")
    seen = {
        ("/v1/token", "post"): serve.token(user="dora", provider="acme"),
        ("/v1/authorize", "post"): serve.ask("POST", "/v1/authorize", {"login": login, "method": "GET", "url": f"{world.issuer}/resource?a=b"}),
        ("/v1/logins", "get"): serve.ask("GET", "/v1/logins?user=dora"),
        ("/v1/logins/begin", "post"): serve.ask("POST", "/v1/logins/begin", {"login": login, "login_hint": "dora", "context": {"a": "b"}}),
        ("/healthz", "get"): serve.ask("GET", "/healthz"), ("/readyz", "get"): serve.ask("GET", "/readyz"),
        ("/metrics", "get"): serve.ask("GET", "/metrics"), ("/v1/openapi.json", "get"): serve.ask("GET", "/v1/openapi.json"),
    }  # fmt: skip
    generation = seen["/v1/token", "post"].json["generation"]
    seen["/v1/result", "post"] = serve.ask("POST", "/v1/result", {
        "login": login, "generation": generation, "method": "GET", "url": f"{world.issuer}/resource", "status": 401,
        "headers": {"WWW-Authenticate": 'Bearer error="invalid_token"'}})  # fmt: skip
    world.check(
        "a token that was refused is replaced",
        seen["/v1/result", "post"].json.get("outcome") == "retry",
        seen["/v1/result", "post"],
    )
    bound = world.log_in(serve, "dora", "bound")
    reply = serve.token(login=bound)
    world.check(
        "a bound token is refused with a hint",
        (reply.status, reply.code) == (409, "boundToken") and "/v1/authorize" in reply.json["hints"][0],
        reply,
    )
    proof = serve.ask("POST", "/v1/authorize", {"login": bound, "method": "GET", "url": f"{world.issuer}/resource"})
    world.check(
        "its requests have a proof",
        "DPoP" in proof.json.get("headers", {}) or "dpop" in proof.json.get("headers", {}),
        proof,
    )
    seen["/v1/logins/{id}", "delete"] = serve.ask("DELETE", f"/v1/logins/{bound}")
    for (path, method), reply in seen.items():
        declared = document["paths"][path][method]["responses"]["200"]["content"]
        ((kind, media),) = declared.items()
        world.check(
            f"{method} {path} answers with {kind}", reply.status == 200 and reply.headers["content-type"] == kind, reply
        )
        if "properties" in media["schema"]:
            known, needed = set(media["schema"]["properties"]), set(media["schema"].get("required", []))
            world.check(f"{method} {path} answers what it declares", needed <= set(reply.json) <= known, reply)
        world.check(f"{method} {path} is not kept by anyone", reply.headers.get("cache-control") == "no-store")
    for reply in (
        serve.token(user="nobody", provider="acme"),
        serve.token(user="dora", provider="none"),
        serve.token(login="a" * 26),
        serve.token(user=1),
    ):
        problem, status = reply.json, reply.status
        world.check(
            "a problem has its type, its status and its title in words (RFC 9457 §3.1)",
            (problem["type"], problem["status"], bool(problem["title"])) == ("about:blank", status, True),
            reply,
        )
    reply = serve.ask(
        "POST",
        "/v1/result",
        {"login": login, "generation": 1.5, "method": "GET", "url": f"{world.issuer}/", "status": 200, "headers": {}},
    )
    world.check("a generation is a whole number", reply.status == 400, reply)
    reply = serve.ask(
        "POST",
        "/v1/logins/complete",
        {"url": "https://app.example/callback?code=a&state=b", "binding": "A" * 43, "user": "dora"},
    )
    world.check("a callback of another browser is refused", 400 <= reply.status < 500 and reply.code, reply)
    world.check(
        "metrics count the requests", "token_vault_serve_requests" in serve.ask("GET", "/metrics").body.decode()
    )


def schemathesis(world: World, serve: Serve) -> int:
    """Its checks of statuses, types, schemas and methods, on inputs that fit the contract and on those that do not."""
    with Forwarder(serve) as forwarder:
        threading.Thread(target=forwarder.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{forwarder.server_address[1]}"
        done = subprocess.run(
            [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", f"{address}/v1/openapi.json", "--url", address,
             "--header", "Host: tokenvault", "--checks", CHECKS, "--phases", "examples,coverage,fuzzing", "--max-examples", "12",
             "--generation-deterministic", "--continue-on-failure", "--no-shrink", "--no-color",
             "--exclude-path", "/v1/events", "--request-timeout", "20", "--warnings", "off"],
            capture_output=True, text=True, timeout=200, cwd=world.directory)  # fmt: skip
        forwarder.shutdown()
    said = done.stdout + done.stderr
    world.check("schemathesis finds nothing", done.returncode == 0, "\n" + said[-6000:])
    cases = re.search(r"(\d+) generated", said)
    count = int(cases[1]) if cases else 0
    world.check("and has tried enough", count > 300, count)
    return count


def log_ins(world: World, serve: Serve) -> None:
    """A callback counts once, in the browser in which its log-in began, and for the user whose session it is."""

    def begin(**members: object) -> tuple[str, str]:
        reply = serve.ask("POST", "/v1/logins/begin", {"user": "emil", "provider": "acme", **members})
        world.check("a log-in begins", reply.status == 200, reply)
        return world.follow(reply.json["url"]), reply.json["binding"]

    def complete(url: str, binding: str, user: str = "emil", **members: object):
        return serve.ask("POST", "/v1/logins/complete", {"url": url, "binding": binding, "user": user, **members})

    (url, binding), (other_url, other_binding) = begin(context={"next": "/inbox"}, label="work"), begin()
    reply = complete(url, other_binding)
    world.check("not with the cookie of another log-in", (reply.status, reply.code) == (403, "logInNotBound"), reply)
    reply = complete(url, binding, user="fred")
    world.check("not for another user", 400 <= reply.status < 500, reply)
    reply = complete(url, binding, tenant="contoso")
    world.check("not in a tenant", 400 <= reply.status < 500, reply)
    reply = complete(url, binding)
    world.check(
        "but then still where it began", reply.status == 200 and reply.json["context"] == {"next": "/inbox"}, reply
    )
    world.check("with its label", reply.json["login"].get("label") == "work", reply)
    again = complete(url, binding)
    world.check("and once", 400 <= again.status < 500, again)
    denied = other_url.split("?")[0] + "?error=access_denied&state=" + re.search(r"state=([^&]+)", other_url)[1]
    reply = complete(denied + "&iss=" + world.issuer.replace(":", "%3A").replace("/", "%2F"), other_binding)
    world.check("a user who says no is no error of the server", 400 <= reply.status < 500 and reply.code, reply)
    login = serve.ask("GET", "/v1/logins?user=emil&provider=acme").json["logins"][0]
    reply = serve.ask("POST", "/v1/logins/begin", {"login": login["id"]})
    done = complete(world.follow(reply.json["url"]), reply.json["binding"])
    world.check("a log-in into a login keeps it", done.status == 200 and done.json["login"]["id"] == login["id"], done)
    for members in (
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": "javascript:alert(1)"},
        {"scope": '"'},
        {"provider": "none"},
    ):
        reply = serve.ask("POST", "/v1/logins/begin", {"user": "emil", "provider": "acme", **members})
        went = world.follow(reply.json["url"]) if reply.status == 200 else None
        world.check(f"nor with {members}", reply.status in (400, 403, 404) or not went, (reply, went))


EXAMPLES = Path(__file__).resolve().parents[3] / "Examples/clients"


def examples(world: World, serve: Serve) -> None:
    """The clients of Examples/clients, as a newcomer runs them."""
    for name, program in {"token.py": "python3", "token.mjs": "node", "token.sh": "curl"}.items():
        if shutil.which(program) is None:
            print(f"serve_check: left out, because there is no {program} here: {name}", file=sys.stderr)
            continue
        for user, provider, code, words in (
            ("alice", "acme", 0, ""), ("nobody", "acme", 2, "unknownUser: "), ("alice", "none", 1, "unknownProvider: "),
        ):  # fmt: skip
            command = [EXAMPLES / name, serve.path, user, provider]
            done = subprocess.run(command, capture_output=True, text=True, timeout=30)
            world.transcript.add(done.stderr.encode())
            right = done.returncode == code and done.stderr.startswith(words)
            world.check(f"{name} ends with {code}", right, (done.returncode, done.stderr))
            shown = re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n" if code == 0 else "", done.stdout)
            world.check(f"{name} prints when the token expires, and nothing else", bool(shown), done.stdout[:10])
        lines = [line.strip() for line in (EXAMPLES / name).read_text().splitlines()]
        count = sum(bool(line) and not line.startswith(("#", "//")) for line in lines)
        world.check(f"{name} has 25 lines at most", count <= 25, count)
