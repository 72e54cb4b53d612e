"""Stores of products that are in no Python package, made from the products' own schemas, and the text formats.

nextauthjs/next-auth a1a16a5: packages/adapter-d1/src/migrations.ts, adapter-prisma/prisma/schema.prisma,
adapter-drizzle/src/lib/sqlite.ts, adapter-typeorm/src/entities.ts, adapter-pg/schema.sql.
better-auth/better-auth 451aa4b: packages/cli/test/__snapshots__/migrations.sql, packages/better-auth/src/crypto/index.ts.
spring-projects/spring-security d449950: oauth2-client-schema.sql, oauth2-client-schema-postgres.sql.
NangoHQ/nango 2f4c0af: packages/types/lib/connection/db.ts, packages/utils/lib/encryption.ts.
"""

import base64
import csv
import hashlib
import io
import json
import os
import sqlite3

from kit import NOW, Store, digest, ec_jwk, id_token, kinds, token


def ms(seconds):
    return int(seconds * 1000)


def reject(t, reason):
    t.clear()
    t.update(outcome="rejected", reason=reason)


class Table:
    """Rows as dictionaries, until they are written in some format."""

    def __init__(self, store, rows, dirts):
        self.store, self.rows = store, rows
        for n, dirt in store.spread(len(rows), dirts, None):
            if dirt:
                dirt(n, rows[n], store.truths[n])
                store.truths[n]["dirt"] = dirt.__name__

    def insert(self, db, name, quote='"'):
        for row in self.rows:
            names = ", ".join(f"{quote}{column}{quote}" for column in row)
            db.execute(f"INSERT INTO {quote}{name}{quote} ({names}) VALUES ({', '.join('?' * len(row))})", list(row.values()))


def database(path, *statements):
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(statement)
    return db


# -- Auth.js

AUTHJS = {
    "d1": ("accounts", "users", '"id" text NOT NULL, "userId" text NOT NULL DEFAULT NULL, "type" text NOT NULL DEFAULT NULL, "provider" text NOT NULL DEFAULT NULL, "providerAccountId" text NOT NULL DEFAULT NULL, "refresh_token" text DEFAULT NULL, "access_token" text DEFAULT NULL, "expires_at" number DEFAULT NULL, "token_type" text DEFAULT NULL, "scope" text DEFAULT NULL, "id_token" text DEFAULT NULL, "session_state" text DEFAULT NULL, "oauth_token_secret" text DEFAULT NULL, "oauth_token" text DEFAULT NULL, PRIMARY KEY (id)'),
    "prisma": ("Account", "User", '"userId" TEXT NOT NULL, "type" TEXT NOT NULL, "provider" TEXT NOT NULL, "providerAccountId" TEXT NOT NULL, "refresh_token" TEXT, "access_token" TEXT, "expires_at" INTEGER, "token_type" TEXT, "scope" TEXT, "id_token" TEXT, "session_state" TEXT, PRIMARY KEY ("provider", "providerAccountId")'),
    "drizzle": ("account", "user", '`userId` text NOT NULL, `type` text NOT NULL, `provider` text NOT NULL, `providerAccountId` text NOT NULL, `refresh_token` text, `access_token` text, `expires_at` integer, `token_type` text, `scope` text, `id_token` text, `session_state` text, PRIMARY KEY(`provider`, `providerAccountId`)'),
    "typeorm": ("accounts", "users", '"id" varchar PRIMARY KEY NOT NULL, "userId" varchar NOT NULL, "type" varchar NOT NULL, "provider" varchar NOT NULL, "providerAccountId" varchar NOT NULL, "refresh_token" varchar, "access_token" varchar, "expires_at" bigint, "token_type" varchar, "scope" varchar, "id_token" varchar, "session_state" varchar'),
    "hasura": ("accounts", "users", 'id text PRIMARY KEY, user_id text NOT NULL, type text NOT NULL, provider text NOT NULL, provider_account_id text NOT NULL, refresh_token text, access_token text, expires_at bigint, token_type text, scope text, id_token text, session_state text'),
}


def authjs(path, count, spelling):
    table, users, columns = AUTHJS[spelling]
    store = Store(f"authjs ({spelling})")
    snake = spelling == "hasura"
    rows = []
    for n in range(count):
        access, refresh = token("access", n), token("refresh", n)
        row = {
            "user_id" if snake else "userId": f"cl{n:06}", "type": "oidc", "provider": "google",
            "provider_account_id" if snake else "providerAccountId": f"1{n:020}", "refresh_token": refresh,
            "access_token": access, "expires_at": NOW + 3600 + n, "token_type": "bearer", "scope": "openid email",
            "id_token": id_token(f"1{n:020}"), "session_state": None}
        if "id" in columns.split()[0]:
            row["id"] = f"row{n}"
        rows.append(row)
        store.truths.append({
            "outcome": "login", "user": f"cl{n:06}", "provider": "google", "subject": f"1{n:020}", "type": "bearer",
            "access": digest(access), "refresh": digest(refresh), "expires": ms(NOW + 3600 + n), "scope": "openid email",
            "idToken": digest(row["id_token"]), "warnings": ["sourceMayBeStale"]})
    user = "user_id" if snake else "userId"
    stale = "sourceMayBeStale"

    def oauth(n, r, t): r["type"] = "oauth"
    def email(n, r, t): r["type"] = "email"; reject(t, "notOAuth2")
    def credentials(n, r, t): r["type"] = "credentials"; reject(t, "notOAuth2")
    def webauthn(n, r, t): r["type"] = "webauthn"; reject(t, "notOAuth2")
    def fraction(n, r, t): r["expires_at"] = NOW + 3600.731; t.update(expires=ms(NOW + 3600) + 731)
    def milliseconds(n, r, t): r["expires_at"] = ms(NOW + 3600) + 1; t.update(expires=ms(NOW + 3600) + 1)
    def text_seconds(n, r, t): r["expires_at"] = str(NOW + 9); t.update(expires=ms(NOW + 9))
    def no_expiry(n, r, t): r["expires_at"] = None; t.update(expires=None)
    def zero(n, r, t): r["expires_at"] = 0; t.update(expires=None)
    def negative(n, r, t): r["expires_at"] = -5; t.update(expires=None, warnings=[stale, "expiryUnreadable"])
    def nan(n, r, t): r["expires_at"] = "NaN"; t.update(expires=None, warnings=[stale, "expiryUnreadable"])
    def iso(n, r, t): r["expires_at"] = "2027-01-15T09:00:00.5Z"; t.update(expires=ms(NOW + 3600) + 500)
    def no_refresh(n, r, t): r["refresh_token"] = None; t.update(refresh=None)
    def empty_refresh(n, r, t): r["refresh_token"] = ""; t.update(refresh=None)
    def undefined(n, r, t): r["refresh_token"] = "undefined"; t.update(refresh=None, warnings=[stale, "placeholderDropped"])
    def dead(n, r, t): r["refresh_token"] = None; r["expires_at"] = NOW; t.update(outcome="dead", refresh=None, expires=ms(NOW))
    def nothing(n, r, t): r["refresh_token"] = r["access_token"] = None; reject(t, "noToken")
    def only_refresh(n, r, t): r["access_token"] = None; t.update(access=None)
    def orphan(n, r, t): r[user] = "nobody"; reject(t, "ownerMissing")
    def no_user(n, r, t): r[user] = ""; reject(t, "ownerMissing")
    def no_provider(n, r, t): r["provider"] = ""; reject(t, "noProvider")
    def upper_type(n, r, t): r["token_type"] = "BEARER"
    def dpop(n, r, t): r["token_type"] = "DPoP"; reject(t, "keyMissing")
    def no_type(n, r, t): r["token_type"] = None; t.update(type=None)
    def no_scope(n, r, t): r["scope"] = None; t.update(scope=None)
    def spaces(n, r, t): r["scope"] = "  openid   email "; t.update(scope="openid email")
    def repeated(n, r, t): r["scope"] = "a b a"; t.update(scope="a b")
    def bad_scope(n, r, t): r["scope"] = "caf\u00e9"; t.update(scope=None, warnings=[stale, "scopeDropped"])
    def no_idt(n, r, t): r["id_token"] = None; t.update(idToken=None)
    def bad_idt(n, r, t): r["id_token"] = "garbage"; t.update(idToken=None, warnings=[stale, "idTokenDropped"])
    def other_idt(n, r, t): r["id_token"] = id_token("x"); t.update(idToken=digest(id_token("x")), warnings=[stale, "subjectDiffers"])
    def space(n, r, t): r["access_token"] = " lead"; t.update(access=digest(" lead"), warnings=[stale, "tokenWithOddEnds"])
    def newline(n, r, t): r["access_token"] = "a\n"; t.update(access=None, warnings=[stale, "accessTokenDropped"])
    def emoji(n, r, t): r["refresh_token"] = "\U0001f511"; reject(t, "malformedRefreshToken")
    def separator(n, r, t): r["provider"] = "goo\u2028gle"; t.update(provider="goo\u2028gle")
    def blob(n, r, t): r["access_token"] = b"blobby"; t.update(access=digest("blobby"))
    def same_chain(n, r, t):
        r["refresh_token"] = token("refresh", n - 1); r["expires_at"] = NOW + 10
        reject(t, "duplicateChain")

    made = Table(store, rows, kinds(locals(), but=()))
    db = database(
        path, f'CREATE TABLE "{table}" ({columns})',
        f'CREATE TABLE "{users}" ("id" text NOT NULL DEFAULT \'\', "name" text, "email" text, "emailVerified" datetime, "image" text, PRIMARY KEY (id))')
    made.insert(db, table)
    for n in range(count):
        db.execute(f'INSERT INTO "{users}" ("id", "name", "email") VALUES (?, ?, ?)', (f"cl{n:06}", f"n{n}", f"u{n}@example.com"))
    db.commit()
    db.close()
    return store


# -- Better Auth


def seal_better_auth(secret, text, version=None):
    from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt as seal

    nonce = hashlib.sha256(text.encode()).digest()[:24]
    sealed = (nonce + seal(text.encode(), None, nonce, hashlib.sha256(secret.encode()).digest())).hex()
    return sealed if version is None else f"$ba${version}${sealed}"


def better_auth(path, count, sealed):
    """With `sealed`, every third token has an old secret without a version, and every third one is plain."""
    store = Store("better-auth" + (" (encrypted)" if sealed else ""))
    rows = []

    def put(n, text):
        if not sealed or n % 3 == 2:
            return text
        return seal_better_auth("new secret", text, 2) if n % 3 == 0 else seal_better_auth("old secret", text)

    for n in range(count):
        access, refresh = token("access", n), token("refresh", n)
        rows.append({
            "id": f"a{n}", "issuer": f"local:oauth:acme{n}", "accountId": f"acc-{n}", "providerId": "acme", "userId": f"u{n}",
            "accessToken": put(n, access), "refreshToken": put(n, refresh), "idToken": id_token(f"acc-{n}"),
            "accessTokenExpiresAt": "2027-01-15T09:00:00.000Z", "refreshTokenExpiresAt": None, "scope": "openid,email",
            "password": None, "createdAt": "2027-01-01T00:00:00.000Z", "updatedAt": "2027-01-01T00:00:00.000Z"})
        store.truths.append({
            "outcome": "login", "key": f"a{n}", "user": f"u{n}", "provider": "acme", "subject": f"acc-{n}",
            "access": digest(access), "refresh": digest(refresh), "expires": ms(NOW + 3600), "scope": "openid email",
            "idToken": digest(id_token(f"acc-{n}")), "refreshExpires": None, "warnings": []})

    def password(n, r, t): r.update(providerId="credential", password="$2b$10$x", accessToken=None, refreshToken=None); reject(t, "notOAuth2")
    def date_ms(n, r, t): r["accessTokenExpiresAt"] = ms(NOW + 5) + 7; t.update(expires=ms(NOW + 5) + 7)
    def date_s(n, r, t): r["accessTokenExpiresAt"] = NOW + 5; t.update(expires=ms(NOW + 5))
    def date_offset(n, r, t): r["accessTokenExpiresAt"] = "2027-01-15T10:00:00+01:00"
    def date_local(n, r, t): r["accessTokenExpiresAt"] = "2027-01-15 09:00:00"; t.update(warnings=["zoneAssumed"])
    def no_date(n, r, t): r["accessTokenExpiresAt"] = None; t.update(expires=None)
    def bad_date(n, r, t): r["accessTokenExpiresAt"] = "Invalid Date"; t.update(expires=None, warnings=["expiryUnreadable"])
    def refresh_lives(n, r, t): r["refreshTokenExpiresAt"] = ms(NOW + 99); t.update(refreshExpires=ms(NOW + 99))
    def refresh_over(n, r, t): r["refreshTokenExpiresAt"] = ms(NOW - 99); t.update(refreshExpires=ms(NOW - 99), warnings=["refreshTokenExpired"])
    def all_over(n, r, t):
        r["refreshTokenExpiresAt"] = ms(NOW); r["accessTokenExpiresAt"] = ms(NOW)
        t.update(outcome="dead", refreshExpires=ms(NOW), expires=ms(NOW), warnings=["refreshTokenExpired"])
    def bad_refresh_date(n, r, t): r["refreshTokenExpiresAt"] = "x"; t.update(warnings=["expiryUnreadable"])
    def no_refresh(n, r, t): r["refreshToken"] = None; t.update(refresh=None)
    def empty_refresh(n, r, t): r["refreshToken"] = ""; t.update(refresh=None)
    def nothing(n, r, t): r.update(accessToken=None, refreshToken=None); reject(t, "noToken")
    def only_refresh(n, r, t): r["accessToken"] = None; t.update(access=None)
    def short_hex(n, r, t): r["accessToken"] = "abcdef"; t.update(access=digest("abcdef"))
    def odd_hex(n, r, t): r["accessToken"] = "a" * 99; t.update(access=digest("a" * 99))
    def long_hex(n, r, t):
        r["accessToken"] = "ab" * 50
        if sealed: reject(t, "notDecryptable")
        else: t.update(access=digest("ab" * 50), warnings=["maybeEncrypted"])
    def broken_prefix(n, r, t): r["accessToken"] = "$ba$x$1"; t.update(access=digest("$ba$x$1"))
    def unknown_version(n, r, t):
        if sealed: r["accessToken"] = seal_better_auth("q", "abc", 9); reject(t, "notDecryptable")
        else: r["scope"] = ""; t.update(scope=None)
    def tampered(n, r, t):
        if sealed:
            text = seal_better_auth("new secret", "abc", 2)
            r["refreshToken"] = text[:-1] + ("0" if text[-1] != "0" else "1"); reject(t, "notDecryptable")
        else: r["scope"] = None; t.update(scope=None)
    def not_hex(n, r, t):
        if sealed: r["accessToken"] = "$ba$2$zz"; reject(t, "notDecryptable")
        else: r["accessToken"] = "zz"; t.update(access=digest("zz"))
    def one_scope(n, r, t): r["scope"] = "openid"; t.update(scope="openid")
    def spaced_scope(n, r, t): r["scope"] = "openid, email,,"; t.update(scope="openid email")
    def orphan(n, r, t): r["userId"] = "nobody"; reject(t, "ownerMissing")
    def no_provider(n, r, t): r["providerId"] = ""; reject(t, "noProvider")
    def no_account(n, r, t): r["accountId"] = ""; t.update(subject=f"acc-{n}")
    def other_subject(n, r, t): r["accountId"] = "zz"; t.update(subject="zz", warnings=["subjectDiffers"])
    def bad_id_token(n, r, t): r["idToken"] = "..."; t.update(idToken=None, warnings=["idTokenDropped"])
    def null_word(n, r, t): r["refreshToken"] = "null"; t.update(refresh=None, warnings=["placeholderDropped"])
    def unicode(n, r, t): r["refreshToken"] = "\u00fc"; reject(t, "malformedRefreshToken")

    made = Table(store, rows, kinds(locals(), but=("put",)))
    db = database(
        path,
        'create table "user" ("id" text not null primary key, "name" text not null, "email" text not null unique, "emailVerified" integer not null, "image" text, "createdAt" date not null, "updatedAt" date not null)',
        'create table "account" ("id" text not null primary key, "issuer" text not null, "accountId" text not null, "providerId" text not null, "userId" text not null references "user" ("id") on delete cascade, "accessToken" text, "refreshToken" text, "idToken" text, "accessTokenExpiresAt" date, "refreshTokenExpiresAt" date, "scope" text, "password" text, "createdAt" date not null, "updatedAt" date not null)')
    made.insert(db, "account")
    for n in range(count):
        db.execute('INSERT INTO "user" VALUES (?, ?, ?, 1, NULL, 0, 0)', (f"u{n}", f"n{n}", f"u{n}@example.com"))
    db.commit()
    db.close()
    return store


# -- Spring Security


def spring(path, count, dump=None):
    """Also as PostgreSQL's COPY text, if `dump` names a file."""
    store = Store("spring-security")
    rows = []
    for n in range(count):
        access, refresh = token("access", n), token("refresh", n)
        rows.append({
            "client_registration_id": "okta", "principal_name": f"person {n}", "access_token_type": "Bearer",
            "access_token_value": access.encode(), "access_token_issued_at": ms(NOW - 60),
            "access_token_expires_at": ms(NOW + 3540), "access_token_scopes": "read,write",
            "refresh_token_value": refresh.encode(), "refresh_token_issued_at": ms(NOW - 60), "created_at": "2027-01-15 07:59:00"})
        store.truths.append({
            "outcome": "login", "key": f"okta/person {n}", "user": f"person {n}", "provider": "okta", "subject": None,
            "type": "bearer", "access": digest(access), "refresh": digest(refresh), "expires": ms(NOW + 3540),
            "obtained": ms(NOW - 60), "scope": "read write", "warnings": []})

    def invented(n, r, t): r["access_token_expires_at"] = ms(NOW - 59); t.update(expires=None, warnings=["expiryInvented"])
    def same_moment(n, r, t): r["access_token_expires_at"] = ms(NOW - 60); t.update(expires=None, warnings=["expiryInvented"])
    def two_seconds(n, r, t): r["access_token_expires_at"] = ms(NOW - 58); t.update(expires=ms(NOW - 58))
    def text_date(n, r, t): r["access_token_expires_at"] = "2027-01-15 09:00:00.0"; t.update(expires=ms(NOW + 3600), warnings=["zoneAssumed"])
    def text_micros(n, r, t): r["access_token_expires_at"] = "2027-01-15 09:00:00.654321"; t.update(expires=ms(NOW + 3600) + 654, warnings=["zoneAssumed"])
    def both_text(n, r, t):
        r["access_token_expires_at"] = "2027-01-15 08:00:01"; r["access_token_issued_at"] = "2027-01-15 08:00:00"
        t.update(expires=None, obtained=ms(NOW), warnings=["expiryInvented", "zoneAssumed"])
    def seconds(n, r, t): r["access_token_expires_at"] = NOW + 8; t.update(expires=ms(NOW + 8))
    def bad_date(n, r, t): r["access_token_expires_at"] = "?"; t.update(expires=None, warnings=["expiryUnreadable"])
    def epoch_zero(n, r, t): r["access_token_issued_at"] = 0; t.update(obtained=None)
    def no_issue(n, r, t): r["access_token_issued_at"] = "x"; t.update(obtained=None, warnings=["expiryUnreadable"])
    def no_refresh(n, r, t): r["refresh_token_value"] = None; t.update(refresh=None)
    def empty_refresh(n, r, t): r["refresh_token_value"] = b""; t.update(refresh=None)
    def dead(n, r, t): r["refresh_token_value"] = None; r["access_token_expires_at"] = ms(NOW - 1); t.update(outcome="dead", refresh=None, expires=ms(NOW - 1))
    def expired(n, r, t): r["access_token_expires_at"] = ms(NOW - 1); t.update(expires=ms(NOW - 1))
    def empty_access(n, r, t): r["access_token_value"] = b""; t.update(access=None)
    def nothing(n, r, t): r["access_token_value"] = b""; r["refresh_token_value"] = None; reject(t, "noToken")
    def text_token(n, r, t): r["access_token_value"] = f"text-{n}"; t.update(access=digest(f"text-{n}"))
    def hex_token(n, r, t): r["access_token_value"] = "\\x616263"; t.update(access=digest("abc"))
    def bad_hex(n, r, t): r["access_token_value"] = "\\x61626"; reject(t, "malformedValue")
    def not_utf8(n, r, t): r["access_token_value"] = b"\xc3\x28"; reject(t, "notUTF8")
    def nul(n, r, t): r["refresh_token_value"] = b"a\x00b"; reject(t, "malformedRefreshToken")
    def dpop(n, r, t): r["access_token_type"] = "DPoP"; reject(t, "keyMissing")
    def lower(n, r, t): r["access_token_type"] = "bearer"
    def strange(n, r, t): r["access_token_type"] = "N_A"; t.update(type="n_a", warnings=["unknownTokenType"])
    def no_scope(n, r, t): r["access_token_scopes"] = None; t.update(scope=None)
    def uri_scope(n, r, t): r["access_token_scopes"] = "https://www.googleapis.com/auth/drive,openid"; t.update(scope="https://www.googleapis.com/auth/drive openid")
    def bad_scope(n, r, t): r["access_token_scopes"] = "a\\b"; t.update(scope=None, warnings=["scopeDropped"])
    def no_principal(n, r, t): r.update(principal_name="", client_registration_id=f"r{n}"); reject(t, "noUser")
    def accents(n, r, t): r["principal_name"] = f"Z\u00f6e {n}"; t.update(user=f"Z\u00f6e {n}", key=f"okta/Z\u00f6e {n}")
    def decomposed(n, r, t): r["principal_name"] = f"Zo\u0308e {n}"; t.update(user=f"Zo\u0308e {n}", key=f"okta/Zo\u0308e {n}")
    def tabs(n, r, t): r["principal_name"] = f"a\tb\\c\n{n}"; t.update(user=f"a\tb\\c\n{n}", key=f"okta/a\tb\\c\n{n}")
    def long_name(n, r, t): r["principal_name"] = "p" * 1024 + str(n); reject(t, "malformedUser")
    def no_registration(n, r, t): r["client_registration_id"] = ""; reject(t, "noProvider")
    def same_chain(n, r, t):
        r["refresh_token_value"] = token("refresh", n - 1).encode(); r["access_token_issued_at"] = ms(NOW - 30)
        reject(t, "duplicateChain")

    made = Table(store, rows, kinds(locals(), but=()))
    schema = "client_registration_id varchar(100) NOT NULL, principal_name varchar(200) NOT NULL, access_token_type varchar(100) NOT NULL, access_token_value blob NOT NULL, access_token_issued_at timestamp NOT NULL, access_token_expires_at timestamp NOT NULL, access_token_scopes varchar(1000) DEFAULT NULL, refresh_token_value blob DEFAULT NULL, refresh_token_issued_at timestamp DEFAULT NULL, created_at timestamp DEFAULT CURRENT_TIMESTAMP NOT NULL, PRIMARY KEY (client_registration_id, principal_name)"
    db = database(path, f"CREATE TABLE oauth2_authorized_client ({schema})")
    made.insert(db, "oauth2_authorized_client")
    db.commit()
    db.close()
    if dump:
        write_copy(dump, "public.oauth2_authorized_client", made.rows)
    return store


def write_copy(path, table, rows):
    """As `pg_dump --data-only` writes a table: bytes in hexadecimal digits, times as they are."""
    def field(value):
        if value is None:
            return "\\N"
        if isinstance(value, bytes):
            return "\\\\x" + value.hex()
        text = str(value)
        for found, put in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
            text = text.replace(found, put)
        return text

    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\nSET statement_timeout = 0;\n")
        file.write("SELECT pg_catalog.set_config('search_path', '', false);\n\n")
        file.write("COPY public.other (id, note) FROM stdin;\n1\tINSERT INTO oauth2_authorized_client VALUES ('x');\n\\.\n\n")
        file.write(f"COPY {table} ({', '.join(rows[0])}) FROM stdin;\n")
        for row in rows:
            file.write("\t".join(field(value) for value in row.values()) + "\n")
        file.write("\\.\n\n\n--\n-- PostgreSQL database dump complete\n--\n\n\\unrestrict abc\n")


# -- Nango


def nango(path, count, key=None, dump=None):
    """With a key, every fourth row is older than it, and plain. Rows stand in a database as JSON texts, as a dump has them."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    store = Store("nango" + (" (encrypted)" if key else ""))

    def seal(text):
        nonce = hashlib.sha256(text.encode()).digest()[:12]
        sealed = AESGCM(key).encrypt(nonce, text.encode(), None)
        return [base64.b64encode(part).decode() for part in (sealed[:-16], nonce, sealed[-16:])]

    def put(row, data, force=False):
        text = data if isinstance(data, str) else json.dumps(data)
        row.update(credentials=text, credentials_iv=None, credentials_tag=None)
        if key and (force or row["id"] % 4):
            sealed, nonce, tag = seal(text)
            row.update(credentials=json.dumps({"encrypted_credentials": sealed}), credentials_iv=nonce, credentials_tag=tag)

    rows, datas = [], []
    for n in range(count):
        access, refresh = token("access", n), token("refresh", n)
        data = {
            "type": "OAUTH2", "access_token": access, "refresh_token": refresh, "expires_at": "2027-01-15T09:00:00.000Z",
            "raw": {"access_token": access, "refresh_token": refresh, "token_type": "bearer", "scope": "crm files"}}
        row = {
            "id": n + 1, "connection_id": f"conn-{n}", "provider_config_key": "hubspot", "config_id": 7, "environment_id": 1,
            "connection_config": "{}", "metadata": None, "tags": json.dumps({"end_user_id": f"user-{n}"}), "credentials": None,
            "credentials_iv": None, "credentials_tag": None, "credentials_expires_at": None, "last_refresh_failure": None,
            "last_refresh_success": "2027-01-15 07:00:00+00", "refresh_attempts": None, "refresh_exhausted": "f",
            "deleted": "f", "deleted_at": None}
        put(row, data)
        rows.append(row)
        datas.append(data)
        store.truths.append({
            "outcome": "login", "key": str(n + 1), "user": f"conn-{n}", "provider": "hubspot", "client": "client-hubspot",
            "type": "bearer", "access": digest(access), "refresh": digest(refresh), "expires": ms(NOW + 3600),
            "obtained": ms(NOW - 3600), "scope": "crm files", "warnings": []})

    def edit(n, r, drop=(), **members):
        put(r, dict({k: v for k, v in datas[n].items() if k not in drop}, **members))

    def no_expiry(n, r, t): edit(n, r, ("expires_at",)); t.update(expires=None)
    def null_expiry(n, r, t): edit(n, r, expires_at=None); t.update(expires=None)
    def number_expiry(n, r, t): edit(n, r, expires_at=ms(NOW + 3)); t.update(expires=ms(NOW + 3))
    def bad_expiry(n, r, t): edit(n, r, expires_at="x"); t.update(expires=None, warnings=["expiryUnreadable"])
    def no_refresh(n, r, t): edit(n, r, ("refresh_token",)); t.update(refresh=None)
    def null_refresh(n, r, t): edit(n, r, refresh_token=None); t.update(refresh=None)
    def dead(n, r, t): edit(n, r, ("refresh_token",), expires_at="2027-01-01T00:00:00Z"); t.update(outcome="dead", refresh=None); t.pop("expires")
    def deleted(n, r, t): r["deleted_at"] = "2027-01-01 00:00:00+00"; reject(t, "deleted")
    def deleted_flag(n, r, t): r["deleted"] = "t"; reject(t, "deleted")
    def api_key(n, r, t): put(r, {"type": "API_KEY", "apiKey": "k"}); reject(t, "notOAuth2")
    def basic(n, r, t): put(r, {"type": "BASIC", "username": "u", "password": "p"}); reject(t, "notOAuth2")
    def oauth1(n, r, t): put(r, {"type": "OAUTH1", "oauth_token": "a", "oauth_token_secret": "b"}); reject(t, "notOAuth2")
    def app(n, r, t): put(r, {"type": "APP", "access_token": "a"}); reject(t, "notOAuth2")
    def client_credentials(n, r, t): put(r, {"type": "OAUTH2_CC", "token": "a"}); reject(t, "clientCredentials")
    def custom(n, r, t): edit(n, r, type="CUSTOM")
    def custom_app(n, r, t): edit(n, r, ("refresh_token",), type="CUSTOM"); reject(t, "notOAuth2")
    def mcp(n, r, t): edit(n, r, type="MCP_OAUTH2")
    def no_type(n, r, t): edit(n, r, ("type",))
    def own_client(n, r, t): edit(n, r, config_override={"client_id": "own", "client_secret": "s"}); t.update(client="own")
    def empty_override(n, r, t): edit(n, r, config_override={})
    def no_config(n, r, t): r["config_id"] = None; t.update(client=None)
    def gone_config(n, r, t): r["config_id"] = 99; t.update(client=None)
    def exhausted(n, r, t): r["refresh_exhausted"] = "t"; t.update(warnings=["refreshExhausted"])
    def no_raw(n, r, t): edit(n, r, ("raw",)); t.update(type=None, scope=None)
    def raw_text(n, r, t): edit(n, r, raw="text"); t.update(type=None, scope=None)
    def empty(n, r, t): put(r, "{}"); reject(t, "noToken")
    def nothing(n, r, t): r.update(credentials=None, credentials_iv=None, credentials_tag=None); reject(t, "noToken")
    def not_json(n, r, t): put(r, "nope"); reject(t, "malformedValue")
    def a_list(n, r, t): put(r, "[]"); reject(t, "malformedValue")
    def twice(n, r, t): put(r, json.dumps(datas[n])[:-1] + ',"access_token":"b"}'); reject(t, "ambiguousMember")
    def lost_tag(n, r, t):
        if key: put(r, datas[n], force=True); r["credentials_tag"] = None; reject(t, "notDecryptable")
        else: r["metadata"] = "not json"
    def bad_tag(n, r, t):
        if key: put(r, datas[n], force=True); r["credentials_tag"] = base64.b64encode(b"\x00" * 16).decode(); reject(t, "notDecryptable")
        else: r["tags"] = "not json"
    def bad_base64(n, r, t):
        if key: put(r, datas[n], force=True); r["credentials_iv"] = "***"; reject(t, "notDecryptable")
        else: r["tags"] = None
    def no_user(n, r, t): r["connection_id"] = ""; reject(t, "noUser")
    def no_provider(n, r, t): r["provider_config_key"] = None; reject(t, "noProvider")
    def never_refreshed(n, r, t): r["last_refresh_success"] = None; t.update(obtained=None)
    def number_token(n, r, t): edit(n, r, access_token=5); t.update(access=digest("5"))
    def bool_token(n, r, t): edit(n, r, access_token=True); reject(t, "malformedValue")

    made = Table(store, rows, kinds(locals(), but=("seal", "put", "edit")))
    secret = seal("secret-hubspot") if key else ["secret-hubspot", None, None]
    config = {
        "id": 7, "unique_key": "hubspot", "provider": "hubspot", "oauth_client_id": "client-hubspot",
        "oauth_client_secret": secret[0], "oauth_client_secret_iv": secret[1], "oauth_client_secret_tag": secret[2],
        "oauth_scopes": "crm,files", "environment_id": 1, "deleted": "f", "deleted_at": None}
    db = database(
        path, f"CREATE TABLE _nango_configs ({', '.join(config)})", f"CREATE TABLE _nango_connections ({', '.join(rows[0])})")
    made.insert(db, "_nango_connections")
    db.execute(f"INSERT INTO _nango_configs VALUES ({', '.join('?' * len(config))})", list(config.values()))
    db.commit()
    db.close()
    store.truths = [
        {"outcome": "registration", "provider": "hubspot", "client": "client-hubspot", "secret": digest("secret-hubspot")}
    ] + store.truths
    return store


# -- The canonical form


def canonical_rows(count):
    store = Store("canonical")
    rows = []
    for n in range(count):
        access, refresh = token("access", n), token("refresh", n)
        rows.append({
            "user": f"user-{n}", "provider": "acme", "access_token": access, "refresh_token": refresh, "token_type": "Bearer",
            "scope": "read write", "expires_at": NOW + 3600, "subject": f"sub-{n}"})
        store.truths.append({
            "outcome": "login", "user": f"user-{n}", "provider": "acme", "subject": f"sub-{n}", "type": "bearer",
            "access": digest(access), "refresh": digest(refresh), "expires": ms(NOW + 3600), "scope": "read write",
            "warnings": []})
    return store, rows


def json_lines(path, count):
    store, rows = canonical_rows(count)
    raw = {}

    def line(n, text): raw[n] = text if isinstance(text, bytes) else text.encode()

    def not_json(n, r, t): line(n, "{\"user\": "); reject(t, "notJSON")
    def word(n, r, t): line(n, "nonsense"); reject(t, "notJSON")
    def array(n, r, t): line(n, "[1]"); reject(t, "notAnObject")
    def string(n, r, t): line(n, "\"x\""); reject(t, "notAnObject")
    def trailing(n, r, t): line(n, json.dumps(r) + " {}"); reject(t, "notJSON")
    def twice_equal(n, r, t): line(n, json.dumps(r)[:-1] + f', "user": "user-{n}"}}')
    def twice(n, r, t): line(n, json.dumps(r)[:-1] + ', "refresh_token": "other"}'); reject(t, "ambiguousMember")
    def latin1(n, r, t): line(n, json.dumps(r)[:-1].encode() + b', "label": "\xe9"}'); reject(t, "notUTF8")
    def lone_surrogate(n, r, t): line(n, json.dumps(r)[:-1] + ', "label": "\\ud800"}'); reject(t, "notJSON")
    def carriage(n, r, t): line(n, json.dumps(r) + "\r")
    def separator(n, r, t): line(n, json.dumps(dict(r, label="a\u2028b"), ensure_ascii=False))
    def long(n, r, t): line(n, json.dumps(dict(r, junk="j" * 1_100_000))); reject(t, "tooLong")
    def deep(n, r, t): line(n, json.dumps(r)[:-1] + ', "label": ' + "[" * 40 + "]" * 40 + "}"); reject(t, "notJSON")
    def lifetime(n, r, t): del r["expires_at"]; r.update(expires_in=60, obtained_at=NOW); t.update(expires=ms(NOW + 60))
    def lifetime_alone(n, r, t): del r["expires_at"]; r.update(expires_in=60); t.update(expires=None, warnings=["lifetimeWithoutStart"])
    def lifetime_both(n, r, t): r.update(expires_in=60, obtained_at=NOW)
    def milliseconds(n, r, t): r["expires_at"] = ms(NOW + 60) + 1; t.update(expires=ms(NOW + 60) + 1)
    def rfc3339(n, r, t): r["expires_at"] = "2027-01-15T10:00:00.250+01:00"; t.update(expires=ms(NOW + 3600) + 250)
    def text_number(n, r, t): r["expires_at"] = str(NOW + 60); t.update(expires=ms(NOW + 60))
    def fraction(n, r, t): r["expires_at"] = NOW + 60.5; t.update(expires=ms(NOW + 60) + 500)
    def big(n, r, t): line(n, json.dumps(dict(r, expires_at=1)).replace('"expires_at": 1', '"expires_at": 1e999')); t.update(expires=None, warnings=["expiryUnreadable"])
    def bool_date(n, r, t): r["expires_at"] = True; t.update(expires=None, warnings=["expiryUnreadable"])
    def date_only(n, r, t): r["expires_at"] = "2027-01-15"; t.update(expires=None, warnings=["expiryUnreadable"])
    def no_expiry(n, r, t): r["expires_at"] = None; t.update(expires=None)
    def scope_list(n, r, t): r["scope"] = ["a", "b"]; t.update(scope="a b")
    def scope_mixed(n, r, t): r["scope"] = ["a", 1]; t.update(scope=None, warnings=["scopeDropped"])
    def user_number(n, r, t): r["user"] = 7_000_000 + n; t.update(user=str(7_000_000 + n))
    def user_zeroes(n, r, t): r["user"] = f"007{n}"; t.update(user=f"007{n}")
    def user_spaces(n, r, t): r["user"] = f" u{n} "; t.update(user=f" u{n} ")
    def user_null(n, r, t): r["user"] = None; reject(t, "noUser")
    def user_missing(n, r, t): del r["user"]; reject(t, "noUser")
    def user_object(n, r, t): r["user"] = {"id": 1}; reject(t, "malformedValue")
    def provider_empty(n, r, t): r["provider"] = ""; reject(t, "noProvider")
    def error(n, r, t): r["error"] = "invalid_grant"; reject(t, "errorAnswer")
    def no_tokens(n, r, t): del r["access_token"]; del r["refresh_token"]; reject(t, "noToken")
    def dpop(n, r, t): r.update(token_type="DPoP", dpop_jwk=ec_jwk(n)); t.update(type="dpop", hasKey=True)
    def dpop_text(n, r, t): r.update(token_type="DPoP", dpop_jwk=json.dumps(ec_jwk(n))); t.update(type="dpop", hasKey=True)
    def dpop_lost(n, r, t): r["token_type"] = "DPoP"; reject(t, "keyMissing")
    def dpop_public(n, r, t): key = ec_jwk(n); del key["d"]; r.update(token_type="DPoP", dpop_jwk=key); reject(t, "malformedKey")
    def dpop_mixed(n, r, t): r.update(token_type="DPoP", dpop_jwk=dict(ec_jwk(n), d=ec_jwk(n + 1)["d"])); reject(t, "malformedKey")
    def dpop_curve(n, r, t): r.update(token_type="DPoP", dpop_jwk=ec_jwk(n, "P-384")); reject(t, "malformedKey")
    def client(n, r, t): r["client_id"] = "c"; t.update(client="c")
    def bad_client(n, r, t): r["client_id"] = "\u00e9"; reject(t, "malformedClient")
    def refresh_over(n, r, t): r["refresh_expires_at"] = NOW - 1; t.update(refreshExpires=ms(NOW - 1), warnings=["refreshTokenExpired"])
    def attributes(n, r, t): r["attributes"] = {"plan": "gold", "n": 1}
    def bad_attributes(n, r, t): r["attributes"] = "x"; reject(t, "malformedValue")
    def unknown(n, r, t): r["wheels"] = 4
    def same_account(n, r, t):
        r.update(subject=f"sub-{n-1}", user=f"user-{n-1}", expires_at=NOW + 60)
        # It comes later, whatever the expiries say.
        t.clear(); t.update(outcome="update")
    def same_chain(n, r, t):
        r.update(refresh_token=token("refresh", n - 1), expires_at=NOW + 9999)
        reject(t, "duplicateChain")

    made = Table(store, rows, kinds(locals(), but=("line",)))
    with open(path, "wb") as file:
        file.write(b"\xef\xbb\xbf")
        for n, row in enumerate(made.rows):
            text = raw.get(n) or json.dumps(row, ensure_ascii=n % 2 == 0).encode()
            file.write(text + (b"\n" if n + 1 < len(rows) else b""))
            if n % 100 == 50:
                file.write(b"  \r\n\n")
    return store


def csv_file(path, count):
    """With the columns of somebody's own, for a map."""
    store, rows = canonical_rows(count)
    raw = {}
    names = {"user": "owner", "provider": "idp", "access_token": "tok", "refresh_token": "ref", "token_type": "type", "scope": "perm", "expires_at": "until", "subject": "sub"}

    def write(values):
        out = io.StringIO()
        csv.writer(out, lineterminator="\r\n").writerow(values)
        return out.getvalue()

    def fields(r, **over): return [dict(r, **over)[name] for name in names]

    def comma(n, r, t): r["user"] = f"a,b {n}"; t.update(user=f"a,b {n}")
    def quotes(n, r, t): r["user"] = f'say "{n}"'; t.update(user=f'say "{n}"')
    def line_break(n, r, t): r["user"] = f"two\nlines {n}"; t.update(user=f"two\nlines {n}")
    def crlf_inside(n, r, t): r["user"] = f"two\r\nlines {n}"; t.update(user=f"two\r\nlines {n}")
    def bare_cr(n, r, t): raw[n] = ",".join(map(str, fields(r, user=f"a\rb{n}"))) + "\r\n"; t.update(user=f"a\rb{n}")
    def lf_only(n, r, t): raw[n] = ",".join(map(str, fields(r))) + "\n"
    def all_quoted(n, r, t): raw[n] = ",".join(f'"{value}"' for value in fields(r)) + "\r\n"
    def separator(n, r, t): r["user"] = f"a\u2028{n}"; t.update(user=f"a\u2028{n}")
    def spaces(n, r, t): r["user"] = f" u{n} "; t.update(user=f" u{n} ")
    def zeroes(n, r, t): r["user"] = f"007{n}"; t.update(user=f"007{n}")
    def exponent(n, r, t): r["user"] = f"1e{n}"; t.update(user=f"1e{n}")
    def empty_user(n, r, t): r["user"] = ""; reject(t, "noUser")
    def quoted_empty(n, r, t): raw[n] = ",".join(['""'] + list(map(str, fields(r)[1:]))) + "\r\n"; reject(t, "noUser")
    def few(n, r, t): raw[n] = "a,b\r\n"; reject(t, "wrongColumnCount")
    def one(n, r, t): raw[n] = "alone\r\n"; reject(t, "wrongColumnCount")
    def many(n, r, t): raw[n] = write(fields(r) + ["x"]); reject(t, "wrongColumnCount")
    def stray_quote(n, r, t): raw[n] = ",".join(map(str, fields(r, user='a"b'))) + "\r\n"; reject(t, "malformedQuoting")
    def after_quote(n, r, t): raw[n] = ",".join(map(str, fields(r, user='"a"b'))) + "\r\n"; reject(t, "malformedQuoting")
    def not_utf8(n, r, t): raw[n] = b"\xff," + ",".join(map(str, fields(r)[1:])).encode() + b"\r\n"; reject(t, "notUTF8")
    def long(n, r, t): r["access_token"] = "x" * 1_100_000; reject(t, "tooLong")
    def no_expiry(n, r, t): r["expires_at"] = ""; t.update(expires=None)
    def milliseconds(n, r, t): r["expires_at"] = ms(NOW + 1) + 2; t.update(expires=ms(NOW + 1) + 2)
    def date(n, r, t): r["expires_at"] = "2027-01-15T09:00:00Z"; t.update(expires=ms(NOW + 3600))
    def local(n, r, t): r["expires_at"] = "2027-01-15 09:00:00"; t.update(expires=ms(NOW + 3600), warnings=["zoneAssumed"])
    def bad_date(n, r, t): r["expires_at"] = "15/01/2027"; t.update(expires=None, warnings=["expiryUnreadable"])
    def no_refresh(n, r, t): r["refresh_token"] = ""; t.update(refresh=None)
    def null_word(n, r, t): r["refresh_token"] = "NULL"; t.update(refresh=None, warnings=["placeholderDropped"])
    def dead(n, r, t): r.update(refresh_token="", expires_at=NOW - 1); t.update(outcome="dead", refresh=None, expires=ms(NOW - 1))
    def no_tokens(n, r, t): r.update(refresh_token="", access_token=""); reject(t, "noToken")
    def no_provider(n, r, t): r["provider"] = ""; reject(t, "noProvider")
    def token_quotes(n, r, t): r["access_token"] = 'a"b,c'; t.update(access=digest('a"b,c'))
    def token_line(n, r, t): r["refresh_token"] = "a\nb"; reject(t, "malformedRefreshToken")

    made = Table(store, rows, kinds(locals(), but=("write", "fields")))
    with open(path, "wb") as file:
        file.write(b"\xef\xbb\xbf" + write(names.values()).encode())
        for n, row in enumerate(made.rows):
            text = raw.get(n) or write(fields(row))
            file.write(text if isinstance(text, bytes) else text.encode())
            if n % 100 == 50:
                file.write(b"\r\n\n")
    return store, [part for member, name in names.items() for part in ("--map", f"{member}={name}")]


def mysql_dump(path, count):
    """A store of Auth.js as `mysqldump` writes it: many rows a statement, backslashes, no column names."""
    store = Store("mysql dump")
    rows = []
    for n in range(count):
        access, refresh = token("access", n), token("refresh", n)
        rows.append({
            "id": f"{n}", "userId": f"u{n}", "type": "oauth", "provider": "google", "providerAccountId": f"p{n}",
            "refresh_token": refresh, "access_token": access, "expires_at": NOW + 60, "token_type": "Bearer", "scope": None})
        store.truths.append({
            "outcome": "login", "user": f"u{n}", "provider": "google", "subject": f"p{n}", "access": digest(access),
            "refresh": digest(refresh), "expires": ms(NOW + 60), "warnings": ["sourceMayBeStale"]})
    raw = {}

    def literal(value):
        if value is None:
            return "NULL"
        if isinstance(value, bytes):
            return "0x" + value.hex().upper()
        if isinstance(value, (int, float)):
            return str(value)
        text = value
        for found, put in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\x00", "\\0"), ('"', '\\"'), ("\x1a", "\\Z")):
            text = text.replace(found, put)
        return f"'{text}'"

    def tup(r, **over): return "(" + ",".join(literal(v) for v in dict(r, **over).values()) + ")"

    def quote(n, r, t): r["access_token"] = f"a'b{n}"; t.update(access=digest(f"a'b{n}"))
    def doubled(n, r, t): raw[n] = tup(r).replace(f"'u{n}'", f"'u''{n}'"); t.update(user=f"u'{n}")
    def backslash(n, r, t): r["access_token"] = f"a\\b{n}"; t.update(access=digest(f"a\\b{n}"))
    def parenthesis(n, r, t): r["userId"] = f"),({n};"; t.update(user=f"),({n};")
    def comment(n, r, t): r["userId"] = f"-- /* {n}"; t.update(user=f"-- /* {n}")
    def newline(n, r, t): r["userId"] = f"a\nb{n}"; t.update(user=f"a\nb{n}")
    def bytes_value(n, r, t): r["access_token"] = f"bytes{n}".encode(); t.update(access=digest(f"bytes{n}"))
    def binary(n, r, t): raw[n] = tup(r).replace(f"'u{n}'", f"_binary 'u{n}'")
    def hexadecimal(n, r, t): raw[n] = tup(r).replace(f"'u{n}'", "X'75" + f"{n}".encode().hex() + "'")
    def bits(n, r, t): raw[n] = tup(r).replace(f"'u{n}'", "b'1'"); reject(t, "unsupportedLiteral")
    def function(n, r, t): raw[n] = tup(r).replace(f"'u{n}'", "concat('a', 'b')"); reject(t, "unsupportedLiteral")
    def expression(n, r, t): raw[n] = tup(r).replace(f"{NOW + 60}", "1+1"); t.update(expires=None); reject(t, "unsupportedLiteral")
    def negative(n, r, t): r["expires_at"] = -1; t.update(expires=None, warnings=["expiryUnreadable", "sourceMayBeStale"])
    def decimal(n, r, t): r["expires_at"] = NOW + 0.5; t.update(expires=ms(NOW) + 500)
    def null(n, r, t): r["expires_at"] = None; t.update(expires=None)
    def lower_null(n, r, t): raw[n] = tup(r).replace(f"{NOW + 60}", "null"); t.update(expires=None)
    def few(n, r, t): raw[n] = "('a','b')"; reject(t, "wrongColumnCount")
    def many(n, r, t): raw[n] = tup(r)[:-1] + ",1)"; reject(t, "wrongColumnCount")
    def spaces(n, r, t): raw[n] = tup(r).replace(",", " ,\n ")
    def block_comment(n, r, t): raw[n] = tup(r).replace(",", ", /* ' */ ", 1)
    def empty(n, r, t): r["refresh_token"] = ""; t.update(refresh=None)
    def long(n, r, t): r["scope"] = "x" * 1_100_000; reject(t, "tooLong")
    def no_user(n, r, t): r["userId"] = ""; reject(t, "noUser")
    def zero_byte(n, r, t): r["refresh_token"] = "a\x00b"; reject(t, "malformedRefreshToken")
    def credentials(n, r, t): r["type"] = "credentials"; reject(t, "notOAuth2")
    def nested(n, r, t): raw[n] = tup(r).replace(f"'u{n}'", "(select ')' from x)"); reject(t, "unsupportedLiteral")

    made = Table(store, rows, kinds(locals(), but=("literal", "tup")))
    with open(path, "w", newline="") as file:
        file.write("-- MySQL dump 10.13  Distrib 8.0.36\n/*!40101 SET NAMES utf8mb4 */;\nDROP TABLE IF EXISTS `Account`;\n")
        file.write("CREATE TABLE `Account` (\n  `id` varchar(191) NOT NULL DEFAULT 'a,(b',\n  `userId` varchar(191),\n  `type` varchar(191),\n  `provider` varchar(191),\n  `providerAccountId` varchar(191),\n  `refresh_token` text,\n  `access_token` text,\n  `expires_at` decimal(10,1),\n  `token_type` varchar(191),\n  `scope` longtext,\n  PRIMARY KEY (`id`),\n  UNIQUE KEY `k` (`provider`,`providerAccountId`)\n) ENGINE=InnoDB;\n")
        file.write("LOCK TABLES `Account` WRITE;\n")
        for start in range(0, count, 500):
            values = ",".join(raw.get(n) or tup(made.rows[n]) for n in range(start, min(start + 500, count)))
            file.write(f"INSERT INTO `Account` VALUES {values};\n")
        file.write("UNLOCK TABLES;\n-- Dump completed\n")
    return store
