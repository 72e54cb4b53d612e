"""A protected resource and its authorization server, made with the Python SDK of the Model Context Protocol, and what it
has on record. For resource_login_check.py."""

import hashlib
import json
import re
import secrets
import socket
import threading
import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import parse_qs

import uvicorn
from mcp.server.auth.handlers import revoke
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from vaultctl import Checks

check = Checks("resource_login_check")

# Longer than the time by which vaultctl renews early, so that only what is asked for is renewed.
LIFETIME = 3600
# Who sits at the browser: a cookie says it, as a session would.
PERSON = ContextVar("person", default="")
# Where secrets belong.
CARRIERS = {"code", "code_verifier", "refresh_token", "token", "client_secret"}
OAUTH = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"
RESOURCE = "/.well-known/oauth-protected-resource"


def without_port(uri) -> str:
    return re.sub(r":\d+(?=/|$)", "", str(uri))


class RevocationRequest(revoke.RevocationRequest):
    # mcp 2.3.0 refuses a revocation without a secret in the form, even by a client that has none (RFC 7009 §2.1).
    client_secret: str | None = None


revoke.RevocationRequest = RevocationRequest


def fingerprint(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Layout:
    """Where a server has its documents, and how it differs from what the SDK does by itself."""

    resource: str = "/mcp"
    issuer: str = ""
    server_metadata: str = OAUTH
    # Whether the challenge says where the resource's metadata is.
    is_named: bool = True
    # RFC 8252 §7.3; the SDK by itself compares redirect URIs with their ports.
    takes_any_port: bool = True

    @property
    def places(self) -> list[str]:
        """In which order a client asks, up to the place where it finds something."""
        servers = [OAUTH + self.issuer, OPENID + self.issuer]
        if self.issuer:
            servers.append(self.issuer + OPENID)
        own = [RESOURCE + "/mcp"] if self.resource or not self.is_named else []
        root = [] if self.resource else [RESOURCE]
        return own + root + servers[: servers.index(self.server_metadata) + 1]

    def inner(self, path: str) -> str:
        """Where the SDK has what this layout has at a path."""
        if path == self.server_metadata:
            return OAUTH
        if OAUTH in path or OPENID in path:
            return "/nowhere"
        return path.removeprefix(self.issuer)


@dataclass(frozen=True)
class Sent:
    """A request, with a fingerprint for each secret, and the status of its answer."""

    method: str
    path: str
    query: dict
    form: dict
    document: dict
    # Without Authorization and cookies.
    headers: dict
    # Of the Authorization header.
    scheme: str
    status: int

    @property
    def line(self) -> tuple:
        """What the request is about."""
        return (self.method, self.path, *self.form.get("grant_type", ()), self.status)

    @property
    def authentication(self) -> str:
        """How the client authenticated, as it would be registered."""
        if self.scheme:
            return f"client_secret_{self.scheme.lower()}"
        return "client_secret_post" if "client_secret" in self.form else "none"


@dataclass
class Grant:
    user: str
    client_id: str
    scopes: list
    resource: str
    access: str = field(default="", repr=False)
    refresh: str = field(default="", repr=False)
    spent: list = field(default_factory=list, repr=False)
    is_revoked: bool = False
    reuses: int = 0

    def rotate(self, records: "Records") -> None:
        if self.refresh:
            self.spent.append(self.refresh)
        self.access, self.refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        records.secrets |= {self.access, self.refresh}


@dataclass
class Records:
    clients: dict = field(default_factory=dict)
    codes: dict = field(default_factory=dict)
    grants: list = field(default_factory=list)
    log: list = field(default_factory=list)
    secrets: set = field(default_factory=set)
    # Requests that had a secret where it does not belong.
    strays: list = field(default_factory=list)

    def living(self, user: str) -> list:
        return [grant for grant in self.grants if grant.user == user and not grant.is_revoked]

    def sent(self, path: str) -> list:
        return [sent for sent in self.log if sent.path == path]

    def note(self, scope: dict, body: bytes, status: int) -> None:
        path, query = scope["path"], scope["query_string"].decode()
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        text, kind = body.decode(), headers.get("content-type", "")
        form = parse_qs(text, keep_blank_values=True) if kind.startswith("application/x-www-form-urlencoded") else {}
        carrying = path.endswith(("/token", "/revoke"))
        known = [f"{path}?{query}"]
        known += [value for name, value in headers.items() if name != "authorization"]
        if carrying:
            known += [value for name, values in form.items() if name not in CARRIERS for value in values]
        else:
            known.append(text)
        if any(secret in place for secret in self.secrets for place in known):
            self.strays.append(path)
        form = {name: [fingerprint(v) for v in vs] if name in CARRIERS else vs for name, vs in form.items()}
        self.log.append(
            Sent(
                method=scope["method"],
                path=path,
                query=parse_qs(query, keep_blank_values=True),
                form=form,
                document=json.loads(text) if text and kind.startswith("application/json") else {},
                headers={name: v for name, v in headers.items() if name not in ("authorization", "cookie")},
                scheme=headers.get("authorization", "").partition(" ")[0],
                status=status,
            )
        )


class NativeClient(OAuthClientInformationFull):
    """A client whose callbacks may come to any port of its machine."""

    def validate_redirect_uri(self, redirect_uri):
        if redirect_uri and str(redirect_uri).startswith("http://127.0.0.1"):
            if without_port(redirect_uri) in [without_port(uri) for uri in self.redirect_uris or []]:
                return redirect_uri
        return super().validate_redirect_uri(redirect_uri)


class Provider(OAuthAuthorizationServerProvider):
    """Consents at once, unless nobody is there. A refresh token works once; used twice, it ends its grant."""

    def __init__(self, records: Records, layout: Layout):
        self.records, self.layout = records, layout

    async def get_client(self, client_id):
        return self.records.clients.get(client_id)

    async def register_client(self, client_info):
        # By itself the SDK lets a client ask only for the scope that it registered, and so never for more later.
        client_info.scope = "read write"
        kind = NativeClient if self.layout.takes_any_port else OAuthClientInformationFull
        self.records.clients[client_info.client_id] = kind(**client_info.model_dump())
        if client_info.client_secret:
            self.records.secrets.add(client_info.client_secret)

    async def authorize(self, client, params):
        if PERSON.get() == "nobody":
            raise AuthorizeError("access_denied")
        code = secrets.token_urlsafe(32)
        self.records.secrets.add(code)
        self.records.codes[code] = AuthorizationCode(
            **params.model_dump(exclude={"state", "scopes"}),
            code=code,
            client_id=client.client_id,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            subject=PERSON.get(),
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.records.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        code = self.records.codes.pop(authorization_code.code)
        grant = Grant(code.subject, client.client_id, code.scopes, code.resource or "")
        self.records.grants.append(grant)
        return self.issue(grant)

    def issue(self, grant: Grant) -> OAuthToken:
        grant.rotate(self.records)
        return OAuthToken(
            access_token=grant.access,
            expires_in=LIFETIME,
            refresh_token=grant.refresh,
            scope=" ".join(grant.scopes),
        )

    async def load_refresh_token(self, client, refresh_token):
        for grant in self.records.grants:
            if refresh_token in grant.spent:
                grant.is_revoked, grant.reuses = True, grant.reuses + 1
            elif refresh_token == grant.refresh and not grant.is_revoked and grant.client_id == client.client_id:
                return RefreshToken(token=refresh_token, client_id=grant.client_id, scopes=grant.scopes)
        return None

    def grant(self, token: str) -> Grant | None:
        return next((grant for grant in self.records.grants if token in (grant.access, grant.refresh)), None)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        return self.issue(self.grant(refresh_token.token))

    async def load_access_token(self, token):
        grant = self.grant(token)
        if grant is None or grant.is_revoked or token != grant.access:
            return None
        return AccessToken(
            token=token,
            client_id=grant.client_id,
            scopes=grant.scopes,
            resource=grant.resource,
            subject=grant.user,
        )

    async def revoke_token(self, token):
        self.grant(token.token).is_revoked = True


class RequireScope(RequireAuthMiddleware):
    """Says which scope is missing (RFC 6750 §3), which the SDK by itself leaves out."""

    async def __call__(self, scope, receive, send):
        async def naming(message):
            if message["type"] == "http.response.start" and message["status"] in (401, 403):
                challenge = f', scope="{" ".join(self.required_scopes)}"'.encode()
                headers = message["headers"]
                message["headers"] = [(n, v + challenge if n == b"www-authenticate" else v) for n, v in headers]
            await send(message)

        await super().__call__(scope, receive, naming)


class Front:
    """Records each request before it is answered, and gives the server its layout."""

    def __init__(self, app, records: Records, layout: Layout):
        self.app, self.records, self.layout = app, records, layout

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        unread = [{"type": "http.request", "body": body}]
        cookie = SimpleCookie(dict(scope["headers"]).get(b"cookie", b"").decode()).get("person")
        PERSON.set(cookie.value if cookie else "")

        async def read():
            return unread.pop() if unread else await receive()

        async def answer(message):
            if message["type"] == "http.response.start":
                self.records.note(scope, body, message["status"])
                if not self.layout.is_named:
                    headers = message["headers"]
                    message["headers"] = [(n, re.sub(rb', resource_metadata="[^"]*"', b"", v)) for n, v in headers]
            await send(message)

        path = self.layout.inner(scope["path"])
        await self.app({**scope, "path": path, "raw_path": path.encode()}, read, answer)


def make_app(base: str, records: Records, layout: Layout) -> Front:
    settings = AuthSettings(
        issuer_url=base + layout.issuer,
        resource_server_url=base + layout.resource,
        required_scopes=["read"],
        validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["read", "write"]),
        revocation_options=RevocationOptions(enabled=True),
    )
    provider = Provider(records, layout)
    server = MCPServer("third-party", auth_server_provider=provider, auth=settings, log_level="CRITICAL")

    @server.tool()
    def whoami() -> str:
        return get_access_token().subject

    async def notes(scope, receive, send):
        await PlainTextResponse(f"written by {get_access_token().subject}")(scope, receive, send)

    app = server.streamable_http_app(json_response=True, stateless_http=True)
    place = build_resource_metadata_url(settings.resource_server_url)
    app.router.routes.append(Route("/mcp/notes", RequireScope(notes, ["write"], place)))
    return Front(app, records, layout)


class Server:
    """A server of its own on a free port, in a thread."""

    def __init__(self, layout: Layout = Layout()):
        self.layout, self.records = layout, Records()
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.url = self.base + "/mcp"
        app = make_app(self.base, self.records, layout)
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],), daemon=True)

    def __enter__(self) -> "Server":
        self.thread.start()
        while not self.server.started and self.thread.is_alive():
            time.sleep(0.02)
        check("the server starts", self.server.started)
        return self

    def __exit__(self, *_) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=10)
        self.socket.close()
