"""Stores of libraries that need no framework: MSAL's cache, and the token model of Authlib's documentation."""

import base64
import json
import sqlite3

from kit import NOW, Store, digest, id_token, kinds, token


def ms(seconds):
    return int(seconds * 1000)


def msal_cache(path, count):
    """A cache that `msal.SerializableTokenCache` has written; `count` is that of its tokens, roughly."""
    import msal

    store = Store("msal")
    cache = msal.SerializableTokenCache()
    people = count // 3
    for n in range(people):
        info = base64.urlsafe_b64encode(json.dumps({"uid": f"u{n}", "utid": "t"}).encode()).decode().rstrip("=")
        for resource in ("User.Read", "Mail.Read"):
            cache.add({
                "client_id": "client-1", "scope": [resource], "token_endpoint": "https://login.example/t/oauth2/v2.0/token",
                "grant_type": "authorization_code",
                "response": {
                    "access_token": token(f"access{resource}", n), "expires_in": 3600 if resource == "User.Read" else 1800,
                    "refresh_token": token(f"refresh{resource}", n), "token_type": "Bearer", "client_info": info,
                    "id_token": id_token(f"sub-{n}"),
                    "id_token_claims": {"oid": f"oid-{n}", "sub": f"sub-{n}", "preferred_username": f"user{n}@example.com"}},
            }, now=NOW - 100 - (resource == "User.Read"))
    document = json.loads(cache.serialize())
    truths = {}
    access = list(document["AccessToken"].items())
    refresh = list(document["RefreshToken"].items())
    by_person = {}
    for key, entry in access:
        by_person.setdefault(entry["home_account_id"], {}).setdefault("at", {})[entry["target"]] = key
    for key, entry in refresh:
        by_person.setdefault(entry["home_account_id"], {}).setdefault("rt", {})[entry["target"]] = key
    for n in range(people):
        keys = by_person[f"u{n}.t"]
        # The newest refresh token lives; the longest access token goes with it.
        truths[keys["rt"]["Mail.Read"]] = {
            "outcome": "login", "user": f"u{n}.t", "provider": "login.example", "client": "client-1", "subject": f"sub-{n}",
            "refresh": digest(token("refreshMail.Read", n)), "access": digest(token("accessUser.Read", n)), "type": "bearer",
            "expires": ms(NOW - 101 + 3600), "obtained": ms(NOW - 101), "scope": "User.Read", "resources": 1, "warnings": []}
        truths[keys["rt"]["User.Read"]] = {"outcome": "rejected", "reason": "superseded"}
        truths[keys["at"]["User.Read"]] = {"outcome": "part"}
        truths[keys["at"]["Mail.Read"]] = {"outcome": "part"}
    dirty_msal(store, document, truths, by_person, people)
    path.write_text(json.dumps(document, indent=4))
    sections = ["AccessToken", "RefreshToken"]
    store.truths = [truths[key] for section in document if section in sections for key in document[section]]
    return store


def dirty_msal(store, document, truths, by_person, people):
    at, rt = document["AccessToken"], document["RefreshToken"]

    def main(n): return by_person[f"u{n}.t"]["rt"]["Mail.Read"]
    def old(n): return by_person[f"u{n}.t"]["rt"]["User.Read"]
    def read(n): return by_person[f"u{n}.t"]["at"]["User.Read"]
    def mail(n): return by_person[f"u{n}.t"]["at"]["Mail.Read"]
    def reject(key, reason):
        truths[key].clear()
        truths[key].update(outcome="rejected", reason=reason)
    def drop(section, key):
        del document[section][key]
        truths.pop(key, None)
    def only_refresh(n):
        drop("AccessToken", read(n)); drop("AccessToken", mail(n))
        truths[main(n)].update(access=None, expires=None, resources=None, scope="Mail.Read", obtained=ms(NOW - 100), type=None)
    def one_refresh(n): drop("RefreshToken", old(n))
    def no_refresh(n):
        drop("RefreshToken", old(n)); drop("RefreshToken", main(n))
        truths[read(n)].clear()
        truths[read(n)].update(outcome="login", user=f"u{n}.t", refresh=None, access=digest(token("accessUser.Read", n)), resources=1)
    def dead(n):
        no_refresh(n)
        for key in (read(n), mail(n)): at[key]["expires_on"] = str(NOW - 5)
        # Equal moments: the first one leads.
        truths[read(n)].update(outcome="dead")
    def expired(n):
        at[read(n)]["expires_on"] = str(NOW - 5); drop("AccessToken", mail(n))
        truths[main(n)].update(expires=ms(NOW - 5), resources=None)
    def family(n): rt[main(n)]["family_id"] = "1"; truths[main(n)].update(warnings=["familyToken"])
    def no_time(n): rt[main(n)].pop("last_modification_time"); swap(n)
    def bad_time(n): rt[main(n)]["last_modification_time"] = "x"; swap(n)
    def swap(n):
        truth = dict(truths[main(n)], refresh=digest(token("refreshUser.Read", n)))
        truths[old(n)].clear(); truths[old(n)].update(truth); reject(main(n), "superseded")
    def null_secret(n): rt[old(n)]["secret"] = None; reject(old(n), "noToken")
    def empty_secret(n): at[mail(n)]["secret"] = ""; reject(mail(n), "noToken"); truths[main(n)].update(resources=None)
    def null_account(n): at[mail(n)]["home_account_id"] = None; reject(mail(n), "clientCredentials"); truths[main(n)].update(resources=None)
    def app_tokens(n): rt[old(n)].pop("home_account_id"); reject(old(n), "clientCredentials")
    def pop(n): at[mail(n)]["key_id"] = "k"; reject(mail(n), "keyMissing"); truths[main(n)].update(resources=None)
    def extended(n): at[mail(n)]["ext_cache_key"] = "k"; reject(mail(n), "keyMissing"); truths[main(n)].update(resources=None)
    def both_pop(n):
        for key in (read(n), mail(n)): at[key]["key_id"] = "k"; reject(key, "keyMissing")
        truths[main(n)].update(access=None, expires=None, resources=None, scope="Mail.Read", obtained=ms(NOW - 100), type=None)
    def bad_refresh(n): rt[main(n)]["secret"] = "tab\t"; reject(main(n), "malformedRefreshToken")
    def bad_access(n):
        at[read(n)]["secret"] = "\u00e4"
        truths[main(n)].update(access=None, warnings=["accessTokenDropped"])
    def number_expiry(n): at[read(n)]["expires_on"] = NOW + 999999; truths[main(n)].update(expires=ms(NOW + 999999))
    def bad_expiry(n):
        at[read(n)]["expires_on"] = "x"; drop("AccessToken", mail(n))
        truths[main(n)].update(expires=None, resources=None, warnings=["expiryUnreadable"])
    def no_expiry(n):
        at[read(n)].pop("expires_on"); drop("AccessToken", mail(n))
        truths[main(n)].update(expires=None, resources=None)
    def entry_text(n): at[mail(n)] = "text"; reject(mail(n), "malformedValue"); truths[main(n)].update(resources=None)
    def entry_null(n): rt[old(n)] = None; reject(old(n), "malformedValue")
    def no_environment(n):
        for section in ("AccessToken", "RefreshToken", "IdToken"):
            for entry in document[section].values():
                if isinstance(entry, dict) and entry.get("home_account_id") == f"u{n}.t": entry["environment"] = ""
        reject(main(n), "noProvider")
    def bad_id_token(n):
        for entry in document["IdToken"].values():
            if entry["home_account_id"] == f"u{n}.t": entry["secret"] = "x"
        truths[main(n)].update(subject=None, warnings=["idTokenDropped"])
    def no_id_token(n):
        for key in [k for k, e in document["IdToken"].items() if e["home_account_id"] == f"u{n}.t"]: del document["IdToken"][key]
        truths[main(n)].update(subject=None)
    def other_client(n):
        rt[old(n)]["client_id"] = "client-2"
        truths[old(n)].clear()
        truths[old(n)].update(outcome="login", client="client-2", refresh=digest(token("refreshUser.Read", n)), access=None, subject=None)
    def no_client(n):
        rt[old(n)].pop("client_id"); reject(old(n), "malformedClient")
    def capital_type(n): at[read(n)]["token_type"] = "bearer"
    def cross_tenant(n): at[mail(n)]["realm"] = "other"
    def enormous(n): at[mail(n)]["junk"] = "j" * 1_100_000; reject(mail(n), "malformedValue"); truths[main(n)].update(resources=None)
    def long_user(n):
        for section in ("AccessToken", "RefreshToken", "IdToken"):
            for entry in document[section].values():
                if isinstance(entry, dict) and entry.get("home_account_id") == f"u{n}.t": entry["home_account_id"] = "u" * 1025
        reject(main(n), "malformedUser")

    # Those that look through a whole section are there once or twice.
    rare = {"no_environment", "bad_id_token", "no_id_token", "long_user"}
    dirts = kinds(locals(), but=("main", "old", "read", "mail", "reject", "drop", "swap"))
    seen = {}
    for n, dirt in store.spread(people, dirts, None):
        if dirt is None or (dirt.__name__ in rare and seen.get(dirt.__name__)):
            continue
        seen[dirt.__name__] = True
        dirt(n)
        for key in (main(n), old(n), read(n), mail(n)):
            if key in truths: truths[key]["dirt"] = dirt.__name__


def authlib(path, count):
    """The model of `docs/oauth2/client/web/index.rst`, filled with what Authlib makes of token replies."""
    from authlib.oauth2.rfc6749 import OAuth2Token as Reply
    from sqlalchemy import Column, Integer, String, create_engine
    from sqlalchemy.orm import Session, declarative_base

    base = declarative_base()

    class User(base):
        __tablename__ = "user"
        id = Column(Integer, primary_key=True)
        username = Column(String(40))
        email = Column(String(200))

    class OAuth2Token(base):
        __tablename__ = "oauth2_token"
        id = Column(Integer, primary_key=True)
        user_id = Column(Integer)
        name = Column(String(40))
        token_type = Column(String(40))
        access_token = Column(String(200))
        refresh_token = Column(String(200))
        expires_at = Column(Integer)

    engine = create_engine(f"sqlite:///{path}")
    base.metadata.create_all(engine)
    store = Store("authlib")
    with Session(engine) as session:
        for n in range(count):
            access, refresh = token("access", n), token("refresh", n)
            reply = Reply.from_dict({
                "access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_at": str(NOW + 3600 + n)})
            session.add(User(id=n + 1, username=f"user{n}", email=f"user{n}@example.com"))
            session.add(OAuth2Token(
                id=n + 1, user_id=n + 1, name="google", token_type=reply["token_type"], access_token=reply["access_token"],
                refresh_token=reply["refresh_token"], expires_at=reply["expires_at"]))
            store.truths.append({
                "outcome": "login", "user": str(n + 1), "provider": "google", "type": "bearer", "access": digest(access),
                "refresh": digest(refresh), "expires": ms(NOW + 3600 + n), "warnings": []})
        session.commit()
    engine.dispose()
    dirty_authlib(path, store)
    return store


def dirty_authlib(path, store):
    db = sqlite3.connect(path)
    db.execute("BEGIN")

    def col(n, **columns):
        for column, value in columns.items():
            db.execute(f"UPDATE oauth2_token SET {column} = ? WHERE id = ?", (value, n + 1))
    def reject(t, reason):
        t.clear()
        t.update(outcome="rejected", reason=reason)

    def zero_expiry(n, t): col(n, expires_at=0); t.update(expires=None)
    def null_expiry(n, t): col(n, expires_at=None); t.update(expires=None)
    def negative(n, t): col(n, expires_at=-1); t.update(expires=None, warnings=["expiryUnreadable"])
    def milliseconds(n, t): col(n, expires_at=(NOW + 5) * 1000); t.update(expires=ms(NOW + 5))
    def far(n, t): col(n, expires_at=10**17); t.update(expires=None, warnings=["expiryUnreadable"])
    def fraction(n, t): col(n, expires_at=NOW + 5.25); t.update(expires=ms(NOW + 5) + 250)
    def text_date(n, t): col(n, expires_at="2027-01-15T09:00:00Z"); t.update(expires=ms(NOW + 3600))
    def local_date(n, t): col(n, expires_at="2027-01-15 09:00:00"); t.update(expires=ms(NOW + 3600), warnings=["zoneAssumed"])
    def blob_expiry(n, t): col(n, expires_at=b"\x00\x01"); t.update(expires=None, warnings=["expiryUnreadable"])
    def word(n, t): col(n, expires_at="never"); t.update(expires=None, warnings=["expiryUnreadable"])
    def no_refresh(n, t): col(n, refresh_token=None); t.update(refresh=None)
    def empty_refresh(n, t): col(n, refresh_token=""); t.update(refresh=None)
    def none_refresh(n, t): col(n, refresh_token="None"); t.update(refresh=None, warnings=["placeholderDropped"])
    def dead(n, t): col(n, refresh_token=None, expires_at=NOW); t.update(outcome="dead", refresh=None, expires=ms(NOW))
    def expired(n, t): col(n, expires_at=NOW - 9); t.update(expires=ms(NOW - 9))
    def no_access(n, t): col(n, access_token=None); t.update(access=None)
    def nothing(n, t): col(n, access_token=None, refresh_token=""); reject(t, "noToken")
    def undefined(n, t): col(n, access_token="undefined", refresh_token="undefined"); reject(t, "placeholderToken")
    def no_user(n, t): col(n, user_id=None); reject(t, "noUser")
    def orphan(n, t): col(n, user_id=10**9); reject(t, "ownerMissing")
    def text_user(n, t): col(n, user_id=str(n + 1))
    def no_name(n, t): col(n, name=""); reject(t, "noProvider")
    def null_name(n, t): col(n, name=None); reject(t, "noProvider")
    def blob_name(n, t): col(n, name=b"\xff"); reject(t, "notUTF8")
    def no_type(n, t): col(n, token_type=None); t.update(type=None)
    def dpop(n, t): col(n, token_type="DPoP"); reject(t, "keyMissing")
    def lower(n, t): col(n, token_type="bearer")
    def strange(n, t): col(n, token_type="mac"); t.update(type="mac", warnings=["unknownTokenType"])
    def nul(n, t): col(n, access_token="a\x00b"); t.update(access=None, warnings=["accessTokenDropped"])
    def line(n, t): col(n, refresh_token="a\nb"); reject(t, "malformedRefreshToken")
    def blob(n, t): col(n, access_token=b"bytes"); t.update(access=digest("bytes"))
    def huge(n, t): col(n, access_token="x" * 65_537); t.update(access=None, warnings=["accessTokenDropped"])
    def edge(n, t): col(n, access_token="x" * 65_536); t.update(access=digest("x" * 65_536))
    def same_chain(n, t): col(n, refresh_token=token("refresh", n - 1)); reject(t, "duplicateChain")
    def other_provider(n, t): col(n, name="Goo gle/\u00fc"); t.update(provider="Goo gle/\u00fc")

    dirts = kinds(locals(), but=("col", "reject"))
    for n, dirt in store.spread(len(store.truths), dirts, None):
        if dirt:
            dirt(n, store.truths[n])
            store.truths[n]["dirt"] = dirt.__name__
    db.commit()
    db.close()
