"""Drives the real vaultctl against an authorization server by other people: Authlib's, on Flask.

Code with PKCE through `login open`, refresh with rotation, the old token refused, reuse, revocation: as a public client
and as both confidential ones. What the server has on record is compared with what vaultctl says.

Usage: third_party_server_check.py PATH-OF-VAULTCTL
"""

import logging
import os
import secrets
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

# Authlib refuses plain http otherwise; the server listens on loopback only.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import requests
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from flask import Flask, jsonify, request
from vaultctl import Checks, Vaultctl
from werkzeug.serving import make_server

check = Checks("third_party_server_check")

METHODS = ["none", "client_secret_basic", "client_secret_post"]
# Longer than the time by which vaultctl renews early, so that only what is asked for is renewed.
LIFETIME = 3600


@dataclass
class Client(ClientMixin):
    client_id: str
    method: str
    secret: str = ""

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return " ".join(word for word in (scope or "").split() if word in ("read", "write"))

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri.startswith("http://127.0.0.1:") and redirect_uri.endswith("/callback")

    def check_client_secret(self, client_secret):
        return secrets.compare_digest(self.secret, client_secret)

    def check_endpoint_auth_method(self, method, endpoint):
        return method == self.method

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in ("authorization_code", "refresh_token")


@dataclass
class Code(AuthorizationCodeMixin):
    code: str
    client_id: str
    user: str
    redirect_uri: str
    scope: str
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


@dataclass
class Token(TokenMixin):
    client_id: str
    user: str
    access_token: str
    refresh_token: str
    scope: str
    expires_in: int
    is_access_revoked: bool = False
    is_refresh_revoked: bool = False

    def check_client(self, client):
        return self.client_id == client.client_id

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return self.expires_in

    def is_expired(self):
        return False

    def is_revoked(self):
        return self.is_access_revoked or self.is_refresh_revoked


@dataclass
class Records:
    clients: dict = field(default_factory=dict)
    codes: dict = field(default_factory=dict)
    tokens: list = field(default_factory=list)
    # (endpoint, grant type, status) of each request with a secret in it.
    log: list = field(default_factory=list)
    verifiers: list = field(default_factory=list)

    def of(self, user: str) -> list:
        return [token for token in self.tokens if token.user == user]

    def grants(self, user_token_requests: str) -> list:
        return [line for line in self.log if line[1] == user_token_requests]


def make_app(records: Records) -> Flask:
    app = Flask("third-party")
    app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
    app.config["OAUTH2_TOKEN_EXPIRES_IN"] = {"authorization_code": LIFETIME, "refresh_token": LIFETIME}

    def save_token(token, request):
        records.tokens.append(
            Token(
                client_id=request.client.client_id,
                user=request.user,
                access_token=token["access_token"],
                refresh_token=token.get("refresh_token", ""),
                scope=token.get("scope", ""),
                expires_in=token["expires_in"],
            )
        )

    server = AuthorizationServer(app, query_client=records.clients.get, save_token=save_token)

    class CodeGrant(grants.AuthorizationCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

        def save_authorization_code(self, code, request):
            payload = request.payload
            records.codes[code] = Code(
                code, request.client.client_id, request.user, payload.redirect_uri, payload.scope,
                payload.data["code_challenge"], payload.data["code_challenge_method"],
            )  # fmt: skip

        def query_authorization_code(self, code, client):
            found = records.codes.get(code)
            return found if found and found.client_id == client.client_id else None

        def delete_authorization_code(self, authorization_code):
            del records.codes[authorization_code.code]

        def authenticate_user(self, authorization_code):
            return authorization_code.user

    class RefreshGrant(grants.RefreshTokenGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS
        INCLUDE_NEW_REFRESH_TOKEN = True

        def authenticate_refresh_token(self, refresh_token):
            found = next((token for token in records.tokens if token.refresh_token == refresh_token), None)
            return found if found and not found.is_refresh_revoked else None

        def authenticate_user(self, refresh_token):
            return refresh_token.user

        def revoke_old_credential(self, refresh_token):
            refresh_token.is_access_revoked = refresh_token.is_refresh_revoked = True

    class Revocation(RevocationEndpoint):
        CLIENT_AUTH_METHODS = METHODS

        def query_token(self, token_string, token_type_hint):
            for token in records.tokens:
                if token_string in (token.access_token, token.refresh_token):
                    return token
            return None

        def revoke_token(self, token, request):
            token.is_access_revoked = token.is_refresh_revoked = True

    server.register_grant(CodeGrant, [CodeChallenge(required=True)])
    server.register_grant(RefreshGrant)
    server.register_endpoint(Revocation)

    @app.get("/.well-known/oauth-authorization-server")
    def metadata():
        base = request.host_url.rstrip("/")
        return jsonify(
            issuer=base,
            authorization_endpoint=base + "/authorize",
            token_endpoint=base + "/token",
            revocation_endpoint=base + "/revoke",
            response_types_supported=["code"],
            grant_types_supported=["authorization_code", "refresh_token"],
            token_endpoint_auth_methods_supported=METHODS,
            revocation_endpoint_auth_methods_supported=METHODS,
            code_challenge_methods_supported=["S256"],
        )

    @app.get("/authorize")
    def authorize():
        user = request.args.get("login_hint")
        try:
            grant = server.get_consent_grant(end_user=user)
            return server.create_authorization_response(grant=grant, grant_user=None if user == "nobody" else user)
        except OAuth2Error as error:
            return server.handle_error_response(server.create_oauth2_request(None), error)

    @app.post("/token")
    def token():
        response = server.create_token_response()
        records.log.append(("token", request.form.get("grant_type"), response.status_code))
        if "code_verifier" in request.form:
            records.verifiers.append(request.form["code_verifier"])
        return response

    @app.post("/revoke")
    def revoke():
        response = server.create_endpoint_response("revocation")
        records.log.append(("revoke", request.form.get("token_type_hint"), response.status_code))
        return response

    return app


def check_client(issuer: str, records: Records, vaultctl: Vaultctl, client: Client) -> None:
    name, provider, user = client.method, client.client_id, f"alice-{client.method}"
    secret = ["--client-secret-file", vaultctl.secret(provider, client.secret)] if client.secret else []
    vaultctl("provider", "add", provider, "--issuer", issuer, "--client-id", client.client_id, "--scope", "read write",
             "--client-auth", client.method, "--allow-insecure-loopback", *secret)  # fmt: skip

    def credentials() -> dict:
        if client.method == "client_secret_basic":
            return {"auth": (client.client_id, client.secret)}
        extra = {"client_secret": client.secret} if client.secret else {}
        return {"data": {"client_id": client.client_id, **extra}}

    def present(refresh_token: str) -> requests.Response:
        """Tries a refresh token as a thief would."""
        arguments = credentials()
        data = {**arguments.pop("data", {}), "grant_type": "refresh_token", "refresh_token": refresh_token}
        return requests.post(issuer + "/token", data=data, timeout=10, **arguments)

    # Code and PKCE, through the browser.
    log_in = vaultctl.open("--user", user, "--provider", provider, "--login-hint", user)
    check(f"{name}: PKCE", log_in.query["code_challenge_method"] == "S256" and len(log_in.query["code_challenge"]) == 43)
    page = requests.get(log_in.url, timeout=30)
    check(f"{name}: the browser is told", page.status_code == 200 and "You are logged in" in page.text, page.text)
    check(f"{name}: by way of the callback", [r.status_code for r in page.history] == [302, 303])
    code, login, error = log_in.end()
    check(f"{name}: log-in", code == 0, error)
    check(f"{name}: the verifier", 43 <= len(records.verifiers[-1]) <= 128 and not records.codes)
    first = records.of(user)[-1]
    check(f"{name}: the server issued one token", len(records.of(user)) == 1)
    check(f"{name}: it is the one in the vault", vaultctl("token", "get", login, "--reveal") == first.access_token)
    shown = vaultctl.json("login", "show", login)
    check(f"{name}: scope", shown["scope"] == "read write" and shown["tokenType"].lower() == "bearer", shown)
    check(f"{name}: renewable", shown["renewable"] and shown["generation"] == 1, shown)

    # Refresh with rotation.
    for generation in (2, 3):
        before = len(records.log)
        vaultctl("login", "refresh", login)
        check(f"{name}: one request", records.log[before:] == [("token", "refresh_token", 200)], records.log[before:])
        now = records.of(user)[-1]
        check(f"{name}: a new pair", now.refresh_token not in ("", first.refresh_token) and now is not first)
        check(f"{name}: is in the vault", vaultctl("token", "get", login, "--reveal") == now.access_token)
        check(f"{name}: counted", vaultctl.json("login", "show", login)["generation"] == generation)
        check(f"{name}: the old one is spent", first.is_refresh_revoked)
        answer = present(first.refresh_token)
        check(f"{name}: and refused", (answer.status_code, answer.json()["error"]) == (400, "invalid_grant"))
        first = now

    # Revocation of one login, which leaves the other alone.
    other_log_in = vaultctl.open("--user", user, "--provider", provider, "--login-hint", user, "--label", "other")
    requests.get(other_log_in.url, timeout=30)
    code, other, error = other_log_in.end()
    check(f"{name}: second log-in", code == 0, error)
    before = len(records.log)
    vaultctl("login", "revoke", other, "--yes")
    sent = records.log[before:]
    check(f"{name}: revoked in one request", [line[0] for line in sent] == ["revoke"] and sent[0][2] == 200, sent)
    ended = records.of(user)[-1]
    check(f"{name}: the server knows", ended.is_revoked() and not first.is_revoked())
    check(f"{name}: its token is refused", present(ended.refresh_token).json()["error"] == "invalid_grant")
    vaultctl("login", "refresh", login)
    first = records.of(user)[-1]

    # The server ends the grant: the login is dead, said so, and nothing more is sent.
    first.is_refresh_revoked = first.is_access_revoked = True
    before = len(records.log)
    vaultctl("login", "refresh", login, code=8)
    check(f"{name}: refused once", records.log[before:] == [("token", "refresh_token", 400)], records.log[before:])
    vaultctl("login", "refresh", login, code=8)
    check(f"{name}: and not asked again", len(records.log) == before + 1)
    failure = vaultctl.json("login", "show", login)["failure"]
    check(f"{name}: flagged", failure["reason"] == "deadGrant", failure)


def check_refusals(issuer: str, records: Records, vaultctl: Vaultctl) -> None:
    """The person says no; the secret is wrong."""
    log_in = vaultctl.open("--user", "bob", "--provider", "public", "--login-hint", "nobody")
    page = requests.get(log_in.url, timeout=30)
    check("a refusal is told in the browser", "Access was denied" in page.text, page.text)
    check("and at the terminal", log_in.end()[0] == 9 and not records.of("bob"))

    wrong = vaultctl.secret("wrong", "not the secret")
    vaultctl("provider", "add", "wrong", "--issuer", issuer, "--client-id", "basic", "--client-auth",
             "client_secret_basic", "--client-secret-file", wrong, "--scope", "read",
             "--allow-insecure-loopback")  # fmt: skip
    log_in = vaultctl.open("--user", "bob", "--provider", "wrong", "--login-hint", "bob")
    page = requests.get(log_in.url, timeout=30)
    check("a wrong secret is told in the browser", "could not be finished" in page.text, page.text)
    check("and at the terminal, too", log_in.end()[0] == 9 and not records.of("bob"))


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: third_party_server_check.py PATH-OF-VAULTCTL")
    started = time.monotonic()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    records = Records()
    for client in (
        Client("public", "none"),
        # No character that RFC 6749 §2.3.1 wants encoded inside of Basic: Authlib does not decode it there.
        Client("basic", "client_secret_basic", "basic-secret_1.2"),
        Client("post", "client_secret_post", "post secret: 100% & more + =/?"),
    ):
        records.clients[client.client_id] = client
    server = make_server("127.0.0.1", 0, make_app(records), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    issuer = f"http://127.0.0.1:{server.server_port}"
    try:
        with tempfile.TemporaryDirectory() as directory:
            vaultctl = Vaultctl(sys.argv[1], Path(directory), check)
            for client in records.clients.values():
                check_client(issuer, records, vaultctl, client)
            check_refusals(issuer, records, vaultctl)
            check("the vault is whole", "damage" not in vaultctl("verify"))
    finally:
        server.shutdown()
    print(f"third_party_server_check: {check.passed} checks passed in {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
