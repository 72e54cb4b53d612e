#!/usr/bin/env python3
# Gets an access token from `vaultctl serve`, and prints when it expires: token.py SOCKET USER PROVIDER
import http.client
import json
import socket
import sys
import time

path, user, provider = sys.argv[1:]


class Vault(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        self.sock.settimeout(self.timeout)


vault = Vault("tokenvault", timeout=60)
vault.request("POST", "/v1/token", json.dumps({"user": user, "provider": provider}), {"Content-Type": "application/json"})
reply = vault.getresponse()
answer = json.load(reply)
if reply.status != 200:
    # An application would send the user to its page for logging in again.
    print(f"{answer['code']}: {answer['detail']}", file=sys.stderr)
    sys.exit(2 if answer.get("needs_user") else 1)
# To use it: {"Authorization": "Bearer " + answer["access_token"]}
print(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(answer["expires_at"])) if "expires_at" in answer else "unknown")
