"""Verifies the vault's DPoP proofs (RFC 9449) with libraries by other people: joserfc and cryptography.

First a small server records what the real vaultctl sends while it logs in, refreshes and revokes, asks for nonces and
changes them. Then the proofs that a test run of the library signed for many kinds of URL, with access tokens, are read.

Usage: dpop_proof_check.py PATH-OF-VAULTCTL PROOFS-OF-THE-TEST-RUN
"""

import base64
import hashlib
import http.server
import json
import re
import secrets
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import requests
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from joserfc import jws
from joserfc.jwk import ECKey
from vaultctl import Checks, Vaultctl

check = Checks("dpop_proof_check")
seen_identifiers: set[str] = set()


def decoded(part: str) -> bytes:
    check("base64url without padding", re.fullmatch(r"[A-Za-z0-9_-]+", part) is not None)
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def canonical_target(url: str) -> str:
    """`htu` as RFC 9449 §4.2 and RFC 3986 §6.2 have it, by Python's own reading of the URL."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    default = {"http": 80, "https": 443}[parts.scheme]
    port = f":{parts.port}" if parts.port not in (None, default) else ""
    return f"{parts.scheme}://{host}{port}{parts.path or '/'}"


def verify(
    proof: str, method: str, url: str, *, nonce: str | None, token: str | None, key: str | None, at: float | None
) -> str:
    """Checks one proof in all its parts, and returns the thumbprint of its key."""
    parts = proof.split(".")
    check("three parts", len(parts) == 3)
    header = json.loads(decoded(parts[0]))
    check("members of the header", set(header) == {"typ", "alg", "jwk"}, header)
    check("typ", header["typ"] == "dpop+jwt")
    check("alg", header["alg"] == "ES256")
    check("a public key and nothing more", set(header["jwk"]) == {"kty", "crv", "x", "y"}, header["jwk"])
    check("its coordinates are 32 bytes", all(len(decoded(header["jwk"][name])) == 32 for name in "xy"))

    # joserfc checks the signature with the key in the header, and that it is one of the algorithm's kind.
    public = ECKey.import_key(header["jwk"])
    claims = json.loads(jws.deserialize_compact(proof, public, algorithms=["ES256"]).payload)
    # cryptography does so again, from the bare numbers.
    signature = decoded(parts[2])
    check("r and s, not DER", len(signature) == 64)
    r, s = (int.from_bytes(signature[i : i + 32]) for i in (0, 32))
    x, y = (int.from_bytes(decoded(header["jwk"][name])) for name in "xy")
    point = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    signed = f"{parts[0]}.{parts[1]}".encode()
    point.verify(encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA256()))
    try:
        point.verify(encode_dss_signature(r, s), signed + b"x", ec.ECDSA(hashes.SHA256()))
        check("the verifier verifies", False)
    except InvalidSignature:
        check("the verifier verifies", True)

    wanted = {"jti", "htm", "htu", "iat"} | ({"nonce"} if nonce else set()) | ({"ath"} if token else set())
    check("claims", set(claims) == wanted, (sorted(claims), sorted(wanted)))
    check("htm", claims["htm"] == method, claims)
    check("htu", claims["htu"] == canonical_target(url), (claims["htu"], canonical_target(url)))
    check("jti is long", len(decoded(claims["jti"])) >= 12)
    check("jti is new", claims["jti"] not in seen_identifiers)
    seen_identifiers.add(claims["jti"])
    check("iat is a whole number", type(claims["iat"]) is int)
    if at is not None:
        check("iat is now", abs(claims["iat"] - at) <= 5, (claims["iat"], at))
    if nonce:
        check("nonce", claims["nonce"] == nonce, (claims["nonce"], nonce))
    if token:
        digest = base64.urlsafe_b64encode(hashlib.sha256(token.encode("ascii")).digest()).rstrip(b"=").decode()
        check("ath", claims["ath"] == digest)
    thumbprint = public.thumbprint()
    if key is not None:
        check("the login's own key", thumbprint == key)
    return thumbprint


class Recorder(http.server.ThreadingHTTPServer):
    """An authorization server that takes everything and keeps what it was sent."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.requests: list[dict] = []
        # The nonce to be used next; None while the server wants none.
        self.nonce: str | None = None
        # How far its clock is ahead.
        self.clock_skew = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def take(self) -> list[dict]:
        taken, self.requests = self.requests, []
        return taken


class Handler(http.server.BaseHTTPRequestHandler):
    server: Recorder

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string(time.time() + self.server.clock_skew)

    def do_GET(self):
        issuer = self.server.issuer
        if self.path.endswith("/.well-known/oauth-authorization-server"):
            self.answer(200, {
                "issuer": issuer, "authorization_endpoint": issuer + "/authorize",
                # A query belongs to the request and not to `htu`.
                "token_endpoint": issuer + "/tok%65n?tenant=a%2Fb", "revocation_endpoint": issuer + "/revoke",
                "response_types_supported": ["code"], "token_endpoint_auth_methods_supported": ["none"],
                "revocation_endpoint_auth_methods_supported": ["none"],
                "dpop_signing_alg_values_supported": ["ES256"], "code_challenge_methods_supported": ["S256"],
            })  # fmt: skip
        else:
            self.answer(404, {})

    def do_POST(self):
        server = self.server
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        proofs = self.headers.get_all("DPoP") or []
        record = {
            "url": server.issuer + self.path, "proofs": proofs, "form": {name: values[0] for name, values in form.items()},
            "at": time.time() + server.clock_skew, "nonce": server.nonce, "refused": False,
        }  # fmt: skip
        server.requests.append(record)
        used = json.loads(base64.urlsafe_b64decode(proofs[0].split(".")[1] + "==")).get("nonce") if proofs else None
        if server.nonce is not None and used != server.nonce and "/revoke" not in self.path:
            record["refused"], record["used"] = True, used
            self.answer(400, {"error": "use_dpop_nonce"})
        elif "/revoke" in self.path:
            self.answer(200, {})
        else:
            # A successful response may bring the next nonce (RFC 9449 §8.2).
            if server.nonce is not None:
                server.nonce = secrets.token_urlsafe(12)
            self.answer(200, {
                "access_token": "at-" + secrets.token_urlsafe(24), "refresh_token": "rt-" + secrets.token_urlsafe(24),
                "token_type": "DPoP", "expires_in": 3600, "scope": "read",
            })  # fmt: skip

    def answer(self, status: int, body: dict) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        if self.server.nonce is not None:
            self.send_header("DPoP-Nonce", self.server.nonce)
        self.end_headers()
        self.wfile.write(data)


def log_in(vaultctl: Vaultctl, server: Recorder, user: str) -> tuple[str, str]:
    """The login's id and the thumbprint that the authorization request named (§10)."""
    waiting = vaultctl.open("--user", user, "--provider", "recorder", "--dpop")
    answer = {"code": "c-" + secrets.token_urlsafe(16), "state": waiting.query["state"], "iss": server.issuer}
    page = requests.get(waiting.query["redirect_uri"], params=answer, timeout=30)
    code, login, error = waiting.end()
    check("log-in", code == 0 and "You are logged in" in page.text, error)
    return login, waiting.query["dpop_jkt"]


def check_requests(server: Recorder, key: str, grant: str | None, refused: int) -> None:
    """Everything sent since the last look: `refused` times for a nonce, then once more with it."""
    taken = server.take()
    check(f"{grant}: requests", len(taken) == refused + 1, len(taken))
    check(f"{grant}: refused", [one["refused"] for one in taken] == [True] * refused + [False])
    for one in taken:
        check(f"{grant}: one proof", len(one["proofs"]) == 1)
        check(f"{grant}: grant", one["form"].get("grant_type") == grant, one["form"].get("grant_type"))
        nonce = one["used"] if one["refused"] else one["nonce"]
        verify(one["proofs"][0], "POST", one["url"], nonce=nonce, token=None, key=key, at=one["at"])


def check_vaultctl(program: str) -> None:
    server = Recorder()
    with tempfile.TemporaryDirectory() as directory:
        vaultctl = Vaultctl(program, Path(directory), check)
        vaultctl("provider", "add", "recorder", "--issuer", server.issuer, "--client-id", "demo", "--scope", "read",
                 "--dpop", "required", "--allow-insecure-loopback")  # fmt: skip
        # No nonces.
        login, key = log_in(vaultctl, server, "alice")
        check_requests(server, key, "authorization_code", refused=0)
        vaultctl("login", "refresh", login)
        check_requests(server, key, "refresh_token", refused=0)
        # A key of its own for each login.
        other, other_key = log_in(vaultctl, server, "bob")
        check("another login, another key", other_key != key)
        check_requests(server, other_key, "authorization_code", refused=0)
        # The server begins to ask, and changes its mind with every response.
        server.nonce = "n-" + secrets.token_urlsafe(12)
        vaultctl("login", "refresh", login)
        check_requests(server, key, "refresh_token", refused=1)
        for _ in range(3):
            # Kept over the end of the process: no refresh token goes out without the nonce that is known.
            vaultctl("login", "refresh", login)
            check_requests(server, key, "refresh_token", refused=0)
        server.nonce = "changed~" + secrets.token_urlsafe(12)
        vaultctl("login", "refresh", login)
        check_requests(server, key, "refresh_token", refused=1)
        # The end of a login.
        vaultctl("login", "revoke", login, "--yes")
        sent = server.take()
        check("revoked in one request", len(sent) == 1 and "/revoke" in sent[0]["url"], sent)
        for proof in sent[0]["proofs"]:
            verify(proof, "POST", sent[0]["url"], nonce=sent[0]["nonce"], token=None, key=key, at=sent[0]["at"])
        check("the token itself", sent[0]["form"]["token"].startswith("rt-"))
        third, third_key = log_in(vaultctl, server, "carol")
        check_requests(server, third_key, "authorization_code", refused=1)
        check("three logins, three keys", len({key, other_key, third_key}) == 3)
    server.shutdown()


def check_library(path: Path) -> int:
    """What `ProofInteropTests` signed."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    check("the test run signed proofs", len(lines) >= 50, len(lines))
    for line in lines:
        verify(
            line["proof"], line["method"], line["url"], nonce=line.get("nonce"), token=line.get("accessToken"),
            key=line["thumbprint"], at=None,
        )  # fmt: skip
        issued = json.loads(decoded(line["proof"].split(".")[1]))["iat"]
        check("iat is what was asked for", issued == line["issuedAt"])
    return len(lines)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: dpop_proof_check.py PATH-OF-VAULTCTL PROOFS-OF-THE-TEST-RUN")
    started = time.monotonic()
    check_vaultctl(sys.argv[1])
    captured = len(seen_identifiers)
    signed = check_library(Path(sys.argv[2]))
    print(
        f"dpop_proof_check: {check.passed} checks passed on {captured} proofs from vaultctl and {signed} from the library"
        f" in {time.monotonic() - started:.1f} s"
    )


if __name__ == "__main__":
    main()
