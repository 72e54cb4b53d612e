"""The network in which scripts/swift-blocks runs a block: a proxy that is each server of the pages.

`login.*` is dev-authserver, which claims to be that server; everything else is an API, which wants a token. A new world
is made for each block, so that no block meets what another has done.
"""

import json
import socket
import socketserver
import sqlite3
import ssl
import subprocess
import threading
import urllib.error
import urllib.request

# What the clients of the pages are registered with.
ISSUER = "https://login.acme.example"
OPTIONS = ["--issuer", ISSUER, "--device-poll-interval", "0.2", "--client", "my-app", "--client", "contoso-app",
           "--redirect-uri", "https://app.example/callback/billing", "--redirect-uri",
           "https://app.example/callback/google", "--resource", "https://calendar.acme.example", "--resource",
           "https://calendar.example", "--scopes",
           "openid profile offline_access read write calendar.read events.read invoice.read report.read"]
HOP = {"connection", "transfer-encoding", "content-length", "keep-alive"}


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class World:
    def __init__(self, binaries, certificates, needs_loopback=False):
        """`certificates` is a folder with `server.pem`, `server.key` and `authority.pem`."""
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificates / "server.pem", certificates / "server.key")
        self.programs = []
        self.server = self.start(binaries, OPTIONS)
        self.opener = urllib.request.build_opener(NoRedirects)
        world = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    world.serve(self.request)
                except (OSError, ValueError):
                    pass  # The program has ended, or hung up.

        socketserver.ThreadingTCPServer.daemon_threads = True
        self.proxy = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.environment = {
            "BLOCK_WORLD_PROXY": f"http://127.0.0.1:{self.proxy.server_address[1]}", "BLOCK_WORLD_SERVER": self.server,
            "BLOCK_WORLD_AUTHORITY": str(certificates / "authority.pem"),
            # One that says who it is.
            "BLOCK_WORLD_LOOPBACK": self.start(binaries, []) if needs_loopback else ""}
        threading.Thread(target=self.proxy.serve_forever, args=[0.02], daemon=True).start()

    def close(self):
        self.proxy.shutdown()
        self.proxy.server_close()
        for program in self.programs:
            program.stdin.close()
            program.stdout.close()
            program.wait()

    def start(self, binaries, options):
        program = subprocess.Popen(
            [binaries / "dev-authserver", "--exit-with-stdin", *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.programs.append(program)
        return program.stdout.readline().split()[-1]

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        method, target, _, _ = read_request(connection.makefile("rb", buffering=0))
        if method != "CONNECT":
            raise ValueError("only https is sent through the proxy")
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with self.tls.wrap_socket(connection, server_side=True) as secure:
            reader = secure.makefile("rb")
            while True:
                method, path, fields, body = read_request(reader)
                host = target.removesuffix(":443")
                status, headers, reply = (self.login if host.startswith("login.") else self.api)(
                    method, host, path, fields, body)
                head = [f"HTTP/1.1 {status} OK"] + [f"{name}: {value}" for name, value in headers]
                head += [f"Content-Length: {len(reply)}", "", ""]
                secure.sendall("\r\n".join(head).encode() + reply)

    def login(self, method, host, path, fields, body):
        request = urllib.request.Request(self.server + path, data=body or None, method=method)
        for name, value in fields.items():
            if name not in HOP and name != "host":
                request.add_header(name, value)
        try:
            reply = self.opener.open(request)
        except urllib.error.HTTPError as error:
            reply = error
        text = reply.read()
        if path.startswith("/.well-known/"):
            metadata = json.loads(text.replace(self.server.encode(), f"https://{host}".encode()))
            metadata["issuer"] = f"https://{host}"
            # A proof names the address that the server has here.
            metadata.pop("dpop_signing_alg_values_supported", None)
            text = json.dumps(metadata).encode()
        headers = [(name, value) for name, value in reply.headers.items() if name.lower() not in HOP]
        return reply.status, headers, text

    @staticmethod
    def api(_method, _host, path, fields, _body):
        json_type = ("Content-Type", "application/json")
        if not fields.get("authorization", "").startswith("Bearer "):
            return 401, [json_type, ("WWW-Authenticate", "Bearer")], b"{}"
        if path == "/step-up":
            challenge = 'Bearer error="insufficient_user_authentication", acr_values="phr"'
            return 401, [json_type, ("WWW-Authenticate", challenge)], b"{}"
        return 200, [json_type], b'{"name": "alice", "id": "1"}'


def read_request(reader):
    line = reader.readline().decode().split()
    if len(line) != 3:
        raise ValueError("no request")
    fields = {}
    while field := reader.readline().decode().strip():
        name, _, value = field.partition(":")
        fields[name.lower()] = value.strip()
    return line[0], line[1], fields, reader.read(int(fields.get("content-length", 0)))


def make_store(path):
    """Another system's store with one login: allauth's tables, as far as they are read."""
    store = sqlite3.connect(path)
    store.executescript("""
        CREATE TABLE auth_user (id INTEGER PRIMARY KEY, email TEXT);
        CREATE TABLE socialaccount_socialapp (id INTEGER PRIMARY KEY, provider TEXT, client_id TEXT, secret TEXT);
        CREATE TABLE socialaccount_socialaccount (
            id INTEGER PRIMARY KEY, provider TEXT, uid TEXT, last_login TEXT, date_joined TEXT, user_id INTEGER,
            extra_data TEXT);
        CREATE TABLE socialaccount_socialtoken (
            id INTEGER PRIMARY KEY, token TEXT, token_secret TEXT, expires_at TEXT, account_id INTEGER, app_id INTEGER);
        INSERT INTO auth_user VALUES (1, 'bob@example.org');
        INSERT INTO socialaccount_socialapp VALUES (1, 'google', 'demo-basic', 'demo-basic-secret');
        INSERT INTO socialaccount_socialaccount VALUES (1, 'google', '4711', '', '', 1, '{}');
        INSERT INTO socialaccount_socialtoken VALUES (1, 'access', 'refresh', '2040-01-01 00:00:00', 1, 1);
    """)
    store.close()
