"""Drives the real vaultctl against a resource by other people, from its address alone.

The server is made with the Python SDK of the Model Context Protocol: resource and authorization server in one.
The resource says where to log in (RFC 9728), the client registers itself (RFC 7591), and consent grows. What the server
has on record is compared with what vaultctl says. The SDK's own client does the same at a server of its own, and the
requests of both are compared field by field, where the specification says MUST.

Usage: resource_login_check.py PATH-OF-VAULTCTL
       resource_login_check.py --peer            only the SDK's client
"""

import asyncio
import json
import logging
import re
import socket
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import requests
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
from resource_server import OAUTH, OPENID, Grant, Layout, Sent, Server, check, fingerprint, without_port
from vaultctl import Vaultctl


class Peer:
    """The SDK's own client, and its store."""

    def __init__(self, server: Server, user: str):
        self.server, self.user, self.tokens, self.client_info, self.answer = server, user, None, None, {}
        self.auth = OAuthClientProvider(
            server.url,
            OAuthClientMetadata(client_name="peer", redirect_uris=["http://127.0.0.1:8765/callback"]),
            storage=self,
            redirect_handler=self.visit,
            callback_handler=self.callback,
        )

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info):
        self.client_info = client_info

    async def visit(self, url: str) -> None:
        answer = requests.get(url, cookies={"person": self.user}, allow_redirects=False, timeout=10)
        query = parse_qs(urlsplit(answer.headers["location"]).query)
        self.answer = {name: query[name][0] for name in ("code", "state", "iss") if name in query}

    async def callback(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self.answer)

    async def live(self, is_long: bool) -> None:
        """Logs in; then renews twice, and asks for more."""
        async with httpx2.AsyncClient(auth=self.auth, timeout=30) as http:
            async with Client(streamable_http_client(self.server.url, http_client=http)) as client:
                for renewals in range(3 if is_long else 1):
                    if renewals:
                        self.auth.context.token_expiry_time = 1
                    result = await client.call_tool("whoami", {})
                    check("the SDK's client: is known as its user", result.content[0].text == self.user)
            if is_long:
                answer = await http.get(self.server.url + "/notes")
                check("the SDK's client: step-up", answer.text == f"written by {self.user}", answer)


def without_place(uri: str) -> str:
    """vaultctl has a path for each server that does not name itself in callbacks."""
    return re.sub(r"(?<=/callback)/[^/]+$", "", without_port(uri))


def registered(sent: Sent) -> dict:
    document = sent.document
    return {
        "registration: redirect_uris": [without_place(uri) for uri in document["redirect_uris"]],
        "registration: application_type": document.get("application_type"),
        "registration: grant_types": sorted(document.get("grant_types", ["authorization_code"])),
        "registration: response_types": document.get("response_types", ["code"]),
    }


def authorized(sent: Sent) -> dict:
    query = sent.query
    return {
        "response_type": query.get("response_type"),
        "code_challenge_method": query.get("code_challenge_method"),
        "code_challenge": [len(challenge) for challenge in query.get("code_challenge", [])],
        "resource": query.get("resource"),
        "scope": sorted(" ".join(query.get("scope", [])).split()),
        "redirect_uri": [without_place(uri) for uri in query.get("redirect_uri", [])],
        "state": len(query.get("state", [])) == 1 and len(query["state"][0]) >= 16,
    }


def conduct(server: Server) -> dict:
    """What a client did, field by field, without what differs from run to run."""
    records, log, issuer = server.records, server.records.log, server.layout.issuer
    registrations = records.sent(issuer + "/register")
    authorizations, tokens = records.sent(issuer + "/authorize"), records.sent(issuer + "/token")
    codes = [sent for sent in tokens if sent.form["grant_type"] == ["authorization_code"]]
    renewals = [sent for sent in tokens if sent.form["grant_type"] == ["refresh_token"]]
    redirects = [sent.query.get("redirect_uri") for sent in authorizations]
    client = next(iter(records.clients.values()))
    named = [sent.query["client_id"] for sent in authorizations] + [s.form["client_id"] for s in tokens if not s.scheme]
    known = {
        "first request": (log[0].path, log[0].scheme, log[0].status),
        "metadata, in order": [s.path for s in log[: log.index(registrations[0])] if "/.well-known/" in s.path],
        "registrations": [sent.status for sent in registrations],
        **registered(registrations[0]),
        "codes: redirect_uri": [sent.form.get("redirect_uri") for sent in codes] == redirects,
        "codes: code_verifier": [len(sent.form["code_verifier"]) for sent in codes],
        "codes: resource": [sent.form.get("resource") for sent in codes],
        "renewals: resource": [sent.form.get("resource") for sent in renewals],
        "token requests: status": {sent.status for sent in tokens},
        "token requests: as registered": {s.authentication for s in tokens} == {client.token_endpoint_auth_method},
        "client_id": all(ids == [client.client_id] for ids in named),
        "tokens only at the resource": {s.path.startswith("/mcp") for s in log if s.scheme.lower() == "bearer"},
        "tokens only in the header": not records.strays,
        "tokens with each request": {s.scheme for s in log if s.path.startswith("/mcp") and s.status != 401},
    }
    for number, sent in enumerate(authorizations, 1):
        known |= {f"authorization {number}: {name}": value for name, value in authorized(sent).items()}
    refused = next((log.index(sent) for sent in log if sent.status == 403), len(log))
    # A renewal instead would bring the same scope again.
    known["step-up"] = [sent.line[1:] for sent in log[refused:] if sent in authorizations + tokens][:2]
    return json.loads(json.dumps(known, default=sorted).replace(server.base, "BASE"))


def specified(server: Server, is_long: bool) -> dict:
    """The same by the specification."""
    layout, resource = server.layout, "BASE" + server.layout.resource
    wanted = {
        "first request": ["/mcp", "", 401],
        "metadata, in order": layout.places,
        "registrations": [201],
        "registration: redirect_uris": ["http://127.0.0.1/callback"],
        "registration: application_type": "native",
        "registration: grant_types": ["authorization_code", "refresh_token"],
        "registration: response_types": ["code"],
        "codes: redirect_uri": True,
        "codes: code_verifier": [1] * (1 + is_long),
        "codes: resource": [[resource]] * (1 + is_long),
        "renewals: resource": [[resource]] * (2 * is_long),
        "token requests: status": [200],
        "token requests: as registered": True,
        "client_id": True,
        "tokens only at the resource": [True],
        "tokens only in the header": True,
        "tokens with each request": ["Bearer"],
    }
    for number, scope in enumerate([["read"], ["read", "write"]][: 1 + is_long], 1):
        wanted |= {
            f"authorization {number}: response_type": ["code"],
            f"authorization {number}: code_challenge_method": ["S256"],
            f"authorization {number}: code_challenge": [43],
            f"authorization {number}: resource": [resource],
            f"authorization {number}: scope": scope,
            f"authorization {number}: redirect_uri": ["http://127.0.0.1/callback"],
            f"authorization {number}: state": True,
        }
    steps = [[layout.issuer + "/authorize", 302], [layout.issuer + "/token", "authorization_code", 200]]
    return {**wanted, "step-up": steps if is_long else []}


def compare(who: str, got: dict, wanted: dict) -> None:
    for name in {**wanted, **got}:
        check(f"{who}: {name}", got.get(name) == wanted.get(name), f"{got.get(name)}, not {wanted.get(name)}")


def peer_conduct(layout: Layout, is_long: bool) -> dict:
    """What the SDK's client sends, once it is as specified."""
    with Server(layout) as server:
        asyncio.run(Peer(server, "alice").live(is_long))
        got = conduct(server)
        compare("the SDK's client", got, specified(server, is_long))
    return got


class Resource:
    """Every call of vaultctl that this check makes."""

    # Plain http to this machine, for development.
    loopback = ("--allow-insecure-loopback",)

    def __init__(self, vaultctl: Vaultctl, server: Server):
        self.vaultctl, self.server = vaultctl, server

    def begin(self, user: str, *more: str):
        return self.vaultctl.open("--user", user, "--resource", self.server.url, *self.loopback, *more)

    def begin_step_up(self, login: str, scope: str):
        return self.vaultctl.open("--into", login, "--add-scope", scope)

    def finish(self, begun, person: str) -> str:
        page = requests.get(begun.url, cookies={"person": person}, timeout=30)
        check("the browser is told", page.status_code == 200 and "You are logged in" in page.text, page.text)
        code, login, error = begun.end()
        check("log-in", code == 0, error)
        return login

    def request(self, user: str, path: str = "", *more: str, code: int = 0) -> str:
        return self.vaultctl("request", self.server.url + path, "--user", user, *self.loopback, *more, code=code)

    def whoami(self, user: str) -> str:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}}
        kinds = ("-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream")
        return json.loads(self.request(user, "", *kinds, "-d", json.dumps(call)))["result"]["content"][0]["text"]

    def refresh(self, login: str, code: int = 0) -> None:
        self.vaultctl("login", "refresh", login, code=code)

    def revoke(self, login: str) -> None:
        self.vaultctl("login", "revoke", login, "--yes")

    def token(self, login: str) -> str:
        return self.vaultctl("token", "get", login, "--reveal")

    def show(self, login: str) -> dict:
        return self.vaultctl.json("login", "show", login)

    def providers(self) -> list:
        return self.vaultctl.json("provider", "list")["providers"]

    def agree(self, what: str, login: str, user: str) -> Grant:
        """Compares the server's records of a user with what vaultctl says of the user's only login."""
        living = self.server.records.living(user)
        check(f"{what}: one grant lives", len(living) == 1, living)
        shown = self.show(login)
        check(f"{what}: the token in the vault", self.token(login) == living[0].access)
        check(f"{what}: scope", sorted(shown["scope"].split()) == sorted(living[0].scopes), shown)
        check(f"{what}: renewable bearer", shown["renewable"] and shown["tokenType"].lower() == "bearer", shown)
        return living[0]


def check_life(resource: Resource) -> str:
    """Alice: from the address to consent that has grown. The conduct of this is compared."""
    records = resource.server.records
    login = resource.finish(resource.begin("alice"), "alice")
    grant = resource.agree("first log-in", login, "alice")
    check("a token for this resource", grant.resource == resource.server.url, grant.resource)
    check("the server knows the user", resource.whoami("alice") == "alice")

    for generation in (2, 3):
        before, old = len(records.log), grant.refresh
        resource.refresh(login)
        sent = records.log[before:]
        check("one renewal", [s.line for s in sent] == [("POST", "/token", "refresh_token", 200)], sent)
        check("with the newest refresh token", sent[0].form["refresh_token"] == [fingerprint(old)])
        check("which is spent", old in grant.spent and grant.refresh != old and not grant.reuses)
        check("same grant", resource.agree("renewal", login, "alice") is grant)
        check("counted", resource.show(login)["generation"] == generation)
    check("the renewed token", resource.whoami("alice") == "alice")

    before = len(records.log)
    resource.request("alice", "/notes", code=9)
    # A renewal would bring the same scope again.
    check("403: nothing else is sent", [s.line for s in records.log[before:]] == [("GET", "/mcp/notes", 403)])
    check("same login", resource.finish(resource.begin_step_up(login, "write"), "alice") == login)
    wider = resource.agree("step-up", login, "alice")
    check("another grant", wider is not grant and wider.scopes == ["read", "write"], wider.scopes)
    check("what was refused", resource.request("alice", "/notes") == "written by alice")
    check("what was not", resource.whoami("alice") == "alice")
    return login


def check_others(resource: Resource, alice: str) -> None:
    """A second user, a refusal, a thief, and the end."""
    records, providers = resource.server.records, len(resource.providers())
    bob = resource.finish(resource.begin("bob"), "bob")
    check("one registration for all", len(records.sent("/register")) == len(records.clients) == 1)
    check("one provider for all", len(resource.providers()) == providers)
    theirs = resource.agree("second user", bob, "bob")
    check("same client", {grant.client_id for grant in records.grants} == set(records.clients))
    check("each has their own", [resource.whoami(user) for user in ("alice", "bob")] == ["alice", "bob"])
    resource.request("bob", "/notes", code=9)

    refused = resource.begin("carol")
    page = requests.get(refused.url, cookies={"person": "nobody"}, timeout=30)
    check("a refusal is told in the browser", "Access was denied" in page.text, page.text)
    check("and at the terminal", refused.end()[0] == 9 and not records.living("carol"))

    mine = resource.agree("before the end", alice, "alice")
    before = len(records.log)
    resource.revoke(alice)
    sent = [s.line for s in records.log[before:]]
    check("revoked in one request", sent == [("POST", "/revoke", 200)], sent)
    check("the server knows", mine.is_revoked and not records.living("alice"))
    answer = requests.get(resource.server.url, headers={"Authorization": f"Bearer {mine.access}"}, timeout=10)
    check("its token is refused", answer.status_code == 401)
    check("the other login lives", resource.agree("the other", bob, "bob") is theirs)

    resource.refresh(bob)
    client = records.clients[theirs.client_id]
    stolen = {"grant_type": "refresh_token", "refresh_token": theirs.spent[0], "client_id": client.client_id}
    if client.client_secret:
        stolen["client_secret"] = client.client_secret
    answer = requests.post(resource.server.base + "/token", data=stolen, timeout=10)
    check("a spent refresh token", (answer.status_code, answer.json()["error"]) == (400, "invalid_grant"), answer.text)
    check("ends its grant", theirs.reuses == 1 and not records.living("bob"))
    before = len(records.log)
    for _ in range(2):
        resource.refresh(bob, code=8)
    sent = [s.line for s in records.log[before:]]
    check("refused once, not asked again", sent == [("POST", "/token", "refresh_token", 400)], sent)
    check("flagged", resource.show(bob)["failure"]["reason"] == "deadGrant")


def check_fixed_port(vaultctl: Vaultctl) -> None:
    """A server that compares redirect URIs letter by letter, as the SDK does by itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with Server(Layout(takes_any_port=False)) as server:
        resource = Resource(vaultctl, server)
        for user in ("dora", "emil"):
            login = resource.finish(resource.begin(user, "--port", port), user)
            resource.agree("fixed port", login, user)
        uris = [sent.document["redirect_uris"] for sent in server.records.sent("/register")]
        place = f"http://127.0.0.1:{port}/callback/"
        check("fixed port: registered once", [len(own) for own in uris] == [1] and uris[0][0].startswith(place), uris)


# In addition to the SDK's own.
LAYOUTS = {
    "openid": Layout(server_metadata=OPENID, is_named=False),
    # The resource is its whole origin, and the issuer has a path.
    "root": Layout(resource="", issuer="/tenant", server_metadata="/tenant" + OPENID, is_named=False),
    "path": Layout(issuer="/tenant", server_metadata=OAUTH + "/tenant"),
}


def check_vaultctl(program: str, life: dict, short: dict) -> None:
    with tempfile.TemporaryDirectory() as directory:
        vaultctl = Vaultctl(program, Path(directory), check)
        with Server() as server:
            resource = Resource(vaultctl, server)
            login = check_life(resource)
            compare("as the SDK's client", conduct(server), life)
            check_others(resource, login)
            check("no secret elsewhere", not server.records.strays, server.records.strays)
        for name, layout in LAYOUTS.items():
            with Server(layout) as server:
                resource = Resource(vaultctl, server)
                login = resource.finish(resource.begin(name), name)
                check(f"{name}: known as its user", resource.whoami(name) == name)
                compare(f"{name}: as the SDK's client", conduct(server), short[name])
                resource.agree(name, login, name)
        check_fixed_port(vaultctl)
        check("the vault is whole", "damage" not in vaultctl("verify"))


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: resource_login_check.py PATH-OF-VAULTCTL | --peer")
    started = time.monotonic()
    logging.disable(logging.CRITICAL)
    life = peer_conduct(Layout(), is_long=True)
    short = {name: peer_conduct(layout, is_long=False) for name, layout in LAYOUTS.items()}
    if sys.argv[1] != "--peer":
        check_vaultctl(sys.argv[1], life, short)
    print(f"resource_login_check: {check.passed} checks passed in {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
