"""The request of RFC 6749 §6, and the two errors that callers must tell apart."""
import time

import requests


class Dead(Exception):
    """The refresh token was refused for good: the user must log in again."""


class Unavailable(Exception):
    """No answer, or one that says nothing about the refresh token."""


def refresh(options: dict, client: str, token: str) -> tuple[str, str, float]:
    """The new access token, the new refresh token, and when the first expires."""
    form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": client}
    try:
        reply = requests.post(options["issuer"] + "/token", data=form, timeout=options["timeout"])
        document = reply.json()
    except (requests.RequestException, ValueError) as error:
        raise Unavailable from error
    if reply.status_code == 400 and document.get("error") == "invalid_grant":
        raise Dead
    if reply.status_code != 200:
        raise Unavailable
    return document["access_token"], document.get("refresh_token", token), time.time() + document["expires_in"]
