#!/usr/bin/env python3
"""A web application whose users connect accounts through `vaultctl serve`: webapp.py SOCKET BASE-URL PROVIDER

The redirect URI is BASE-URL/callback. Any name may sign in: your application has its own way for that."""
import http.client
import json
import secrets
import socket
import sys
from html import escape
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, urlsplit

PATH, BASE, PROVIDER = sys.argv[1:]
COOKIE = "; HttpOnly; SameSite=Lax; Path=/" + ("; Secure" if BASE.startswith("https:") else "")
FIELDS = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store",
          "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"}  # fmt: skip
SIGN_IN = "<form method=post action=/sign-in><label>Name <input name=user required></label> <button>Sign in</button></form>"
sessions = {}


class Vault(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(PATH)
        self.sock.settimeout(self.timeout)


def ask(method, path, body=None):
    vault = Vault("tokenvault", timeout=60)
    vault.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
    with vault.getresponse() as reply:
        answer = json.load(reply)
    if reply.status != 200:
        raise OSError(answer["detail"])  # It is a problem document.
    return answer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/callback" and self.session:  # The cookie proves that the log-in began in this browser.
            cookie = "login-" + parse_qs(url.query).get("state", [""])[0][:16]
            body = {"url": BASE + self.path, "binding": self.cookies.get(cookie, "none"), "user": self.session["user"]}
            end = ("Set-Cookie", f"{cookie}=; Max-Age=0{COOKIE}")
            self.act("POST", "/v1/logins/complete", body, "The account is connected.", end)
        elif url.path == "/":
            self.show_accounts() if self.session else self.reply(200, SIGN_IN)
        else:
            self.reply(404, "There is nothing here.")

    def do_POST(self):
        text = self.rfile.read(min(int(self.headers["Content-Length"] or 0), 10_000)).decode()
        form = {name: values[0] for name, values in parse_qs(text).items()}
        if self.headers["Origin"] != BASE:
            self.reply(403, "This form is not from this site.")
        elif self.path == "/sign-in" and form.get("user"):
            sessions[name := secrets.token_urlsafe()] = {"user": form["user"], "notice": ""}
            self.reply(303, "", ("Location", "/"), ("Set-Cookie", f"session={name}{COOKIE}"))
        elif self.path == "/sign-out":
            sessions.pop(self.cookies.get("session"), None)
            self.reply(303, "", ("Location", "/"), ("Set-Cookie", f"session=; Max-Age=0{COOKIE}"))
        elif self.path == "/connect" and self.session:
            other = {"user": self.session["user"], "provider": PROVIDER}
            self.connect({"login": form["login"]} if self.owns(form) else other)
        elif self.path == "/disconnect" and self.owns(form):
            self.act("DELETE", "/v1/logins/" + quote(form["login"], safe=""), None, "The account is disconnected.")
        else:
            self.reply(404, "There is nothing here.")

    def connect(self, subject):
        try:
            begun = ask("POST", "/v1/logins/begin", {**subject, "redirect_uri": BASE + "/callback"})
        except OSError as problem:
            return self.show_accounts(str(problem))
        cookie = f"login-{begun['state'][:16]}={begun['binding']}; Max-Age=600{COOKIE}"
        self.reply(303, "", ("Location", begun["url"]), ("Set-Cookie", cookie))

    def act(self, method, path, body, notice, *fields):
        try:
            ask(method, path, body)
        except OSError as problem:
            notice = str(problem)
        self.session["notice"] = notice
        self.reply(303, "", ("Location", "/"), *fields)

    cookies = property(lambda self: {n: c.value for n, c in SimpleCookie(self.headers["Cookie"] or "").items()})
    session = property(lambda self: sessions.get(self.cookies.get("session")))
    logins = property(lambda self: ask("GET", "/v1/logins?user=" + quote(self.session["user"], safe=""))["logins"])

    def owns(self, form):
        return self.session and any(login["id"] == form.get("login") for login in self.logins)

    def show_accounts(self, notice=""):
        form = "<form method=post action=/{}><input type=hidden name=login value='{}'><button>{}</button></form>".format
        try:
            rows = [f"<li>{escape(login.get('provider', ''))}: {'needs you' if login['needs_user'] else 'connected'}"
                    + form("connect", login["id"], "Connect again") + form("disconnect", login["id"], "Disconnect")
                    for login in self.logins]  # fmt: skip
        except OSError as problem:
            return self.reply(503, escape(str(problem)))
        notice, self.session["notice"] = notice or self.session["notice"], ""
        lines = f"<p role=status>{escape(notice)}</p><p>{escape(self.session['user'])}</p><ul>{''.join(rows)}</ul>"
        self.reply(200, lines + form("connect", "", "Connect an account") + form("sign-out", "", "Sign out"))

    def reply(self, status, body="", *fields):
        page = f"<!doctype html><html lang=en><title>Accounts</title><main><h1>Accounts</h1>{body}</main>"
        self.send_response(status)
        for name, value in [*FIELDS.items(), ("Content-Length", str(len(page.encode()))), *fields]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(page.encode())

    log_request = lambda *_: None  # The URL of a callback has a code in it, so none is logged.


print(f"listening on {BASE}", flush=True)
ThreadingHTTPServer((urlsplit(BASE).hostname, urlsplit(BASE).port), Handler).serve_forever()
