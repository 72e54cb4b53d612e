"""Pushed authorization requests, private_key_jwt, client credentials and resource indicators at dev-authserver, by
requests-oauth2client and by Authlib."""

import json
import time
from urllib.parse import parse_qs, urlsplit

import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from joserfc.jwk import ECKey
from requests_oauth2client import (
    ClientSecretBasic,
    DPoPKey,
    InvalidScope,
    InvalidTarget,
    OAuth2Client,
    PrivateKeyJwt,
    PublicApp,
    UnauthorizedClient,
)

from harness import check, check_refused, running, visit

REDIRECT_URI = "http://127.0.0.1:8765/callback"


def make_client(issuer: str, auth) -> OAuth2Client:
    return OAuth2Client.from_discovery_endpoint(issuer=issuer, auth=auth, redirect_uri=REDIRECT_URI, testing=True)


def records(issuer: str, path: str) -> list[dict]:
    return [r for r in requests.get(issuer + "/dev/log", timeout=10).json() if r["path"] == path]


def check_pushed(issuer: str, name: str, auth, key: DPoPKey | None = None) -> None:
    """The whole road by a pushed request, which is the only one that this server takes."""
    client = make_client(issuer, auth)
    request = client.authorization_request(scope="read", login_hint="dave", dpop=key is not None, dpop_key=key)
    refused = visit(str(request))
    check(f"{name}: a request in the open is refused", "error=invalid_request" in refused)
    pushed = client.pushed_authorization_request(request)
    query = parse_qs(urlsplit(pushed.uri).query)
    check(f"{name}: the browser carries a name only", sorted(query) == ["client_id", "request_uri"])
    answer = request.validate_callback(visit(pushed.uri))
    token = client.authorization_code(answer)
    check(f"{name}: the code is good", token.refresh_token is not None)
    again = requests.get(pushed.uri, allow_redirects=False, timeout=10)
    check(f"{name}: the name is good once", again.status_code == 400)
    check(f"{name}: refresh", client.refresh_token(token).access_token != token.access_token)


def check_client_credentials(issuer: str, name: str, auth) -> None:
    client = make_client(issuer, auth)
    resource = issuer + "/resource"
    token = client.client_credentials(scope="read", resource=resource)
    check(f"{name}: no refresh token", token.refresh_token is None)
    opened = requests.get(resource, auth=token, timeout=10)
    check(f"{name}: the token opens its resource", opened.status_code == 200 and opened.json()["aud"] == [resource])
    other = requests.get(issuer + "/resource/other", auth=token, timeout=10)
    check(f"{name}: and no other", other.status_code == 401)
    described = client.introspect_token(token)
    check(f"{name}: introspection tells the audience", described["aud"] == [resource])
    check_refused(
        f"{name}: a strange resource",
        InvalidTarget,
        lambda: client.client_credentials(scope="read", resource="https://evil.example/"),
    )
    check_refused(f"{name}: a user's scope", InvalidScope, lambda: client.client_credentials(scope="openid"))


def check_authlib(issuer: str, key: ECKey) -> None:
    metadata = requests.get(issuer + "/.well-known/oauth-authorization-server", timeout=10).json()
    endpoint = metadata["token_endpoint"]
    session = OAuth2Session("signer", key, token_endpoint_auth_method="private_key_jwt", scope="read")

    def sign() -> None:
        # Authlib puts `exp` an hour ahead unless told otherwise, and the `jti` that it makes into the claims that it
        # was given: these serve for one request.
        claims = {"exp": int(time.time()) + 60}
        session.register_client_auth_method(PrivateKeyJWT(endpoint, claims=claims, alg="ES256"))

    sign()
    token = session.fetch_token(endpoint, grant_type="client_credentials")
    check("Authlib, private_key_jwt: client credentials", token["token_type"] == "Bearer")
    check("Authlib, private_key_jwt: no refresh token", "refresh_token" not in token)
    sign()
    token = session.fetch_token(endpoint, grant_type="client_credentials", resource=issuer + "/resource")
    opened = requests.get(
        issuer + "/resource", headers={"Authorization": "Bearer " + token["access_token"]}, timeout=10
    )
    check("Authlib, private_key_jwt: a token for a resource", opened.json()["aud"] == [issuer + "/resource"])


def check_signed_requests(program: str) -> None:
    key = ECKey.generate_key("P-256", {"kid": "k1"})
    public = json.dumps(key.as_dict(private=False))
    signer = PrivateKeyJwt("signer", key.as_dict(private=True), alg="ES256")
    clients = {
        "pushed, public": PublicApp("demo"),
        "pushed, basic": ClientSecretBasic("demo-basic", "demo-basic-secret"),
        "pushed, signed": signer,
    }
    options = ["--client", f"signer:jwt:{public}"]
    with running(program, "--require-par", *options) as issuer:
        for name, auth in clients.items():
            check_pushed(issuer, name, auth)
        check_pushed(issuer, "pushed, DPoP", PublicApp("demo"), DPoPKey.generate())
        log = records(issuer, "/par") + records(issuer, "/token")
        assertions = [r["assertion_id"] for r in log if "assertion_id" in r]
        check("every request brings an assertion of its own", len(set(assertions)) == len(assertions) == 3)
    with running(program, *options) as issuer:
        check_client_credentials(issuer, "credentials, basic", clients["pushed, basic"])
        check_client_credentials(issuer, "credentials, signed", signer)
        check_refused(
            "credentials of a public client",
            UnauthorizedClient,
            lambda: make_client(issuer, PublicApp("demo")).client_credentials(scope="read"),
        )
        check_authlib(issuer, key)
