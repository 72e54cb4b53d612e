"""Logs in, refreshes and revokes at dev-authserver with OAuth clients by other people.

The server is what the project's own client is tested against, so it has to be right by more than that client:
requests-oauth2client plays a public client and both confidential ones, plain and with DPoP, with and without nonces;
Authlib plays a second one, and joserfc reads the id token. Pushed requests, signed assertions, tokens of the client's own
and resources are in signed_requests.py.

Usage: oauth_client_check.py PATH-OF-DEV-AUTHSERVER
"""

import os
import sys
from urllib.parse import parse_qs, urlsplit

import requests
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.jwk import KeySet
from requests_oauth2client import (
    BearerToken,
    ClientSecretBasic,
    ClientSecretPost,
    DPoPKey,
    DPoPToken,
    InvalidClient,
    InvalidGrant,
    InvalidRequest,
    OAuth2Client,
    PublicApp,
)

from harness import check, check_refused, count, running, visit
from signed_requests import check_signed_requests

# Authlib refuses plain http otherwise; the server listens on loopback only.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

REDIRECT_URI = "http://127.0.0.1:8765/callback"
AUTHENTICATIONS = {
    "public": PublicApp("demo"),
    "basic": ClientSecretBasic("demo-basic", "demo-basic-secret"),
    "post": ClientSecretPost("demo-post", "demo-post-secret"),
}

def make_client(issuer: str, kind: str) -> OAuth2Client:
    return OAuth2Client.from_discovery_endpoint(
        issuer=issuer,
        auth=AUTHENTICATIONS[kind],
        redirect_uri=REDIRECT_URI,
        id_token_signed_response_alg="ES256",
        testing=True,
    )


def log_in(client: OAuth2Client, user: str, key: DPoPKey | None = None) -> BearerToken:
    # requests-oauth2client 1.8.0 cannot copy a DPoP token after it has checked its id token.
    scope = "openid read" if key is None else "read"
    request = client.authorization_request(scope=scope, login_hint=user, dpop=key is not None, dpop_key=key)
    # Checks `state` and `iss`.
    answer = request.validate_callback(visit(str(request)))
    return client.authorization_code(answer)


def introspect(issuer: str, token: str) -> dict:
    return dict(make_client(issuer, "basic").introspect_token(token))


def resource(issuer: str, token: BearerToken) -> requests.Response:
    return requests.get(issuer + "/resource", auth=token, timeout=10)


def check_chain(issuer: str, kind: str, key: DPoPKey | None = None) -> None:
    """Log-in, use, rotation, reuse, revocation: the whole life of two chains."""
    client = make_client(issuer, kind)
    scheme = "Bearer" if key is None else "DPoP"
    name = f"{kind}, {scheme}"

    first = log_in(client, "alice", key)
    other = log_in(client, "alice", key)
    check(f"{name}: token type", first.token_type.lower() == scheme.lower())
    check(f"{name}: class", isinstance(first, DPoPToken) == (key is not None))
    if key is None:
        check(f"{name}: id token", first.id_token is not None and first.id_token.subject == "alice")
    answer = resource(issuer, first)
    check(f"{name}: the resource opens", answer.status_code == 200 and answer.json()["user"] == "alice")
    described = introspect(issuer, first.access_token)
    check(f"{name}: introspection", described["active"] and described["scope"] == first.scope)
    if key is not None:
        check(f"{name}: cnf", described["cnf"]["jkt"] == key.dpop_jkt)
        stolen = requests.get(
            issuer + "/resource", headers={"Authorization": f"Bearer {first.access_token}"}, timeout=10
        )
        check(f"{name}: a bound token is no bearer token", stolen.status_code == 401)

    second = client.refresh_token(first)
    check(f"{name}: the refresh token rotates", second.refresh_token not in (None, first.refresh_token))
    check(f"{name}: the access token is new", second.access_token != first.access_token)
    check(f"{name}: the new one opens the resource", resource(issuer, second).status_code == 200)
    check(f"{name}: the spent one is inactive", not introspect(issuer, first.refresh_token)["active"])
    check_refused(f"{name}: the spent one is refused", InvalidGrant, lambda: client.refresh_token(first))
    check_refused(f"{name}: reuse revokes the family", InvalidGrant, lambda: client.refresh_token(second))
    check(f"{name}: its access token is dead", not introspect(issuer, second.access_token)["active"])
    if key is None:
        # requests-oauth2client takes every 401 with a DPoP challenge for the wish for a nonce.
        check(f"{name}: and opens nothing", resource(issuer, second).status_code == 401)

    check(f"{name}: the other chain is untouched", resource(issuer, other).status_code == 200)
    other = client.refresh_token(other)
    check(f"{name}: revocation is confirmed", client.revoke_refresh_token(other) is True)
    check(f"{name}: and ends the access token", not introspect(issuer, other.access_token)["active"])
    check_refused(f"{name}: and the chain", InvalidGrant, lambda: client.refresh_token(other))
    check(f"{name}: revoking again is no error", client.revoke_refresh_token(other) is True)


def check_refusals(issuer: str) -> None:
    client = make_client(issuer, "public")
    request = client.authorization_request(scope="read")
    answer = request.validate_callback(visit(str(request)))
    check_refused(
        "a wrong verifier",
        InvalidGrant,
        lambda: client.authorization_code(answer.code, redirect_uri=REDIRECT_URI, code_verifier="x" * 43),
    )
    check_refused(
        "no verifier",
        InvalidRequest,
        lambda: client.authorization_code(answer.code, redirect_uri=REDIRECT_URI),
    )
    token = client.authorization_code(answer)
    check_refused("a code comes twice", InvalidGrant, lambda: client.authorization_code(answer))
    check("and takes its tokens along", resource(issuer, token).status_code == 401)

    wrong = OAuth2Client(
        client.token_endpoint, auth=ClientSecretBasic("demo-basic", "wrong"), issuer=issuer, testing=True
    )
    check_refused("a wrong secret", InvalidClient, lambda: wrong.refresh_token("x"))

    key = DPoPKey.generate()
    bound = log_in(client, "bob", key)
    check_refused(
        "a bound refresh token without its proof",
        Exception,
        lambda: client.refresh_token(bound.refresh_token),
    )
    check("is not spent by that", client.refresh_token(bound).refresh_token is not None)


def check_authlib(issuer: str) -> None:
    """The same road with another client and another JOSE library."""
    metadata = requests.get(issuer + "/.well-known/oauth-authorization-server", timeout=10).json()
    check("the metadata names its issuer", metadata["issuer"] == issuer)
    for method in ("client_secret_basic", "client_secret_post"):
        name = method.replace("client_secret", "demo").replace("_", "-")
        session = OAuth2Session(
            name,
            f"{name}-secret",
            token_endpoint_auth_method=method,
            revocation_endpoint_auth_method=method,
            scope="openid read",
            redirect_uri=REDIRECT_URI,
            code_challenge_method="S256",
        )
        verifier = "authlib-" * 8
        url, state = session.create_authorization_url(
            metadata["authorization_endpoint"], code_verifier=verifier, login_hint="carol", nonce="n-7"
        )
        callback = visit(url)
        check(f"Authlib, {method}: iss", parse_qs(urlsplit(callback).query)["iss"] == [issuer])
        token = session.fetch_token(
            metadata["token_endpoint"], authorization_response=callback, state=state, code_verifier=verifier
        )
        check(f"Authlib, {method}: log-in", token["token_type"] == "Bearer" and token["scope"] == "openid read")

        keys = KeySet.import_key_set(requests.get(metadata["jwks_uri"], timeout=10).json())
        claims = jwt.decode(token["id_token"], keys, algorithms=["ES256"]).claims
        check(
            f"Authlib, {method}: id token",
            (claims["iss"], claims["sub"], claims["aud"], claims["nonce"]) == (issuer, "carol", name, "n-7"),
        )

        old = token["refresh_token"]
        token = session.refresh_token(metadata["token_endpoint"], refresh_token=old)
        check(f"Authlib, {method}: rotation", token["refresh_token"] != old)
        reply = session.introspect_token(metadata["introspection_endpoint"], token=token["access_token"])
        check(f"Authlib, {method}: introspection", reply.json()["active"] is True)
        reply = session.revoke_token(metadata["revocation_endpoint"], token=token["refresh_token"])
        check(f"Authlib, {method}: revocation", reply.status_code == 200)
        reply = session.introspect_token(metadata["introspection_endpoint"], token=token["access_token"])
        check(f"Authlib, {method}: afterwards inactive", reply.json() == {"active": False})


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: oauth_client_check.py PATH-OF-DEV-AUTHSERVER")
    program = sys.argv[1]

    with running(program) as issuer:
        for kind in AUTHENTICATIONS:
            check_chain(issuer, kind)
        for algorithm in ("ES256", "ES384", "EdDSA"):
            check_chain(issuer, "public", DPoPKey.generate(alg=algorithm))
        check_chain(issuer, "post", DPoPKey.generate())
        check_refusals(issuer)
        check_authlib(issuer)

    # One nonce for all, and a new one for every request.
    for policy in ("required", "once"):
        with running(program, "--nonce", policy, "--require-dpop") as issuer:
            key = DPoPKey.generate()
            check_chain(issuer, "public", key)
            check(f"{policy}: nonces of server and resource differ", None not in (key.as_nonce, key.rs_nonce))
            check(f"{policy}: and are not mixed", key.as_nonce != key.rs_nonce)
            log = requests.get(issuer + "/dev/log", timeout=10).json()
            check(f"{policy}: the server asked for nonces", any(r["outcome"] == "use_dpop_nonce" for r in log))

    with running(program, "--rotation", "never") as issuer:
        client = make_client(issuer, "post")
        token = log_in(client, "alice")
        for _ in range(3):
            check("without rotation the token stays", client.refresh_token(token).access_token is not None)

    check_signed_requests(program)

    print(f"oauth_client_check: {count()} checks passed")


if __name__ == "__main__":
    main()
