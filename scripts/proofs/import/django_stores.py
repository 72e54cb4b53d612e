"""Stores that django-allauth and python-social-auth write themselves, with dirt put in afterwards.

Run in a process of its own: Django is configured once.
"""

import datetime
import json
import sqlite3

from kit import NOW, Store, digest, id_token, kinds, token

UTC = datetime.timezone.utc


def configure(path):
    import django
    from django.conf import settings
    from django.core.management import call_command

    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(path)}},
        INSTALLED_APPS=[
            "django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sites", "django.contrib.sessions",
            "django.contrib.messages", "allauth", "allauth.account", "allauth.socialaccount", "social_django",
            "allauth.socialaccount.providers.google", "allauth.socialaccount.providers.github",
        ],
        AUTHENTICATION_BACKENDS=["social_core.backends.google.GoogleOAuth2"],
        SITE_ID=1, USE_TZ=True, TIME_ZONE="UTC", SECRET_KEY="x", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        SOCIALACCOUNT_STORE_TOKENS=True, SOCIAL_AUTH_GOOGLE_OAUTH2_KEY="k", SOCIAL_AUTH_GOOGLE_OAUTH2_SECRET="s",
        MIDDLEWARE=["allauth.account.middleware.AccountMiddleware"],
    )
    django.setup()
    call_command("migrate", verbosity=0)


def iso(seconds):
    return datetime.datetime.fromtimestamp(seconds, UTC)


def ms(seconds):
    return int(seconds * 1000)


def users(count):
    from django.contrib.auth import get_user_model

    model = get_user_model()
    model.objects.bulk_create(
        [model(username=f"user{n}", email=f"user{n}@example.com", password="!") for n in range(count)], batch_size=500)
    return list(model.objects.order_by("id").values_list("id", flat=True))


def allauth(path, count):
    """`(store, registrations)`: tokens through allauth's own `parse_token`, accounts and apps through its models."""
    configure(path)
    from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
    from allauth.socialaccount.providers.google.views import GoogleOAuth2Adapter

    store = Store("allauth")
    ids = users(count)
    apps = [
        SocialApp.objects.create(provider="google", name="Google", client_id="client-google", secret="secret-google"),
        SocialApp.objects.create(provider="openid_connect", provider_id="acme", name="Acme", client_id="client-acme", secret=""),
    ]
    adapter = GoogleOAuth2Adapter(None)
    accounts, tokens, truths = [], [], []
    for n in range(count):
        app = apps[n % 2]
        provider = app.provider_id or app.provider
        accounts.append(
            SocialAccount(user_id=ids[n], provider=provider, uid=f"sub-{n}", extra_data={"sub": f"sub-{n}", "name": "Zoë"}))
        access, refresh = token("access", n), token("refresh", n)
        expires = NOW + 3600 + n
        row = adapter.parse_token({"access_token": access, "refresh_token": refresh, "expires_in": 3600})
        row.app, row.expires_at = app, iso(expires)
        tokens.append(row)
        truths.append({
            "outcome": "login", "user": str(ids[n]), "provider": provider, "subject": f"sub-{n}", "client": app.client_id,
            "access": digest(access), "refresh": digest(refresh), "expires": ms(expires), "warnings": ["zoneAssumed"]})
    SocialAccount.objects.bulk_create(accounts, batch_size=500)
    for row, account in zip(tokens, SocialAccount.objects.order_by("id")):
        row.account = account
    SocialToken.objects.bulk_create(tokens, batch_size=500)
    dirty_allauth(path, store, truths, ids)
    store.truths = truths
    registrations = [
        {"outcome": "registration", "provider": "google", "client": "client-google", "secret": digest("secret-google")},
        {"outcome": "registration", "provider": "acme", "client": "client-acme", "secret": None},
    ]
    return store, registrations


def dirty_allauth(path, store, truths, ids):
    db = sqlite3.connect(path)
    db.execute("PRAGMA foreign_keys = 0")
    db.execute("BEGIN")
    token_ids = [r[0] for r in db.execute("SELECT id FROM socialaccount_socialtoken ORDER BY id")]
    account_ids = [r[0] for r in db.execute("SELECT id FROM socialaccount_socialaccount ORDER BY id")]

    def tok(n, **columns):
        for column, value in columns.items():
            db.execute(f"UPDATE socialaccount_socialtoken SET {column} = ? WHERE id = ?", (value, token_ids[n]))

    def acc(n, **columns):
        for column, value in columns.items():
            db.execute(f"UPDATE socialaccount_socialaccount SET {column} = ? WHERE id = ?", (value, account_ids[n]))

    def reject(truth, reason):
        for member in list(truth):
            del truth[member]
        truth.update(outcome="rejected", reason=reason)

    def no_refresh(n, t): tok(n, token_secret=""); t.update(refresh=None)
    def expired(n, t): tok(n, expires_at="2020-01-01 00:00:00"); t.update(expires=ms(1577836800))
    def dead(n, t): expired(n, t); no_refresh(n, t); t.update(outcome="dead")
    def no_expiry(n, t): tok(n, expires_at=None); t.update(expires=None, warnings=[])
    def micros(n, t): tok(n, expires_at="2027-01-15 09:00:00.123456"); t.update(expires=ms(NOW + 3600) + 123)
    def zoned(n, t): tok(n, expires_at="2027-01-15 10:00:00+01:00"); t.update(expires=ms(NOW + 3600), warnings=[])
    def epoch(n, t): tok(n, expires_at=NOW + 60); t.update(expires=ms(NOW + 60), warnings=[])
    def epoch_ms(n, t): tok(n, expires_at=(NOW + 60) * 1000 + 5); t.update(expires=ms(NOW + 60) + 5, warnings=[])
    def real(n, t): tok(n, expires_at=NOW + 60.5); t.update(expires=ms(NOW + 60) + 500, warnings=[])
    def bad_date(n, t): tok(n, expires_at="2027-02-30 00:00:00"); t.update(expires=None, warnings=["expiryUnreadable"])
    def word_date(n, t): tok(n, expires_at="tomorrow"); t.update(expires=None, warnings=["expiryUnreadable"])
    def empty_date(n, t): tok(n, expires_at=""); t.update(expires=None, warnings=[])
    def empty_both(n, t): tok(n, token="", token_secret=""); reject(t, "noToken")
    def only_refresh(n, t): tok(n, token=""); t.update(access=None)
    def newline(n, t): tok(n, token="abc\ndef", token_secret=""); reject(t, "malformedAccessToken")
    def bad_access(n, t): tok(n, token="na\u00efve"); t.update(access=None, warnings=["accessTokenDropped", "zoneAssumed"])
    def bad_refresh(n, t): tok(n, token_secret="tab\there"); reject(t, "malformedRefreshToken")
    def blob(n, t): tok(n, token=b"blob-token-" + str(n).encode()); t.update(access=digest(f"blob-token-{n}"))
    def blob_bad(n, t): tok(n, token=b"\xff\xfe\x00"); reject(t, "notUTF8")
    def text_bad(n, t):
        db.execute("UPDATE socialaccount_socialtoken SET token = CAST(X'ff41' AS TEXT) WHERE id = ?", (token_ids[n],))
        reject(t, "notUTF8")
    def digits(n, t): tok(n, token=str(10**17 + n)); t.update(access=digest(str(10**17 + n)))
    def none_word(n, t): tok(n, token_secret="None"); t.update(refresh=None, warnings=["placeholderDropped", "zoneAssumed"])
    def none_both(n, t): tok(n, token="null", token_secret=""); reject(t, "placeholderToken")
    def float_token(n, t):
        # The column has the affinity of text, so only a blob keeps its type; a real one is text by then.
        tok(n, token="1.5e10"); t.update(access=digest("1.5e10"))
    def orphan_account(n, t): tok(n, account_id=10**9 + n); reject(t, "accountMissing")
    def orphan_user(n, t): acc(n, user_id=10**9 + n); reject(t, "ownerMissing")
    def null_app(n, t): tok(n, app_id=None); t.update(client=None)
    def gone_app(n, t): tok(n, app_id=10**9); t.update(client=None)
    def oauth1(n, t): acc(n, provider="twitter"); reject(t, "notOAuth2")
    def no_provider(n, t): acc(n, provider=""); reject(t, "noProvider")
    def huge(n, t): tok(n, token="h" * 70_000, token_secret=""); reject(t, "malformedAccessToken")
    def enormous(n, t): tok(n, token="e" * 1_100_000); reject(t, "tooLong")
    def long_ok(n, t): tok(n, token="l" * 60_000); t.update(access=digest("l" * 60_000))
    def quote(n, t): tok(n, token="a'b\"c;--" + str(n)); t.update(access=digest("a'b\"c;--" + str(n)))
    def same_chain(n, t):
        # The chain of another user, in the row before it.
        tok(n, token_secret=token("refresh", n - 1), expires_at="2026-12-01 00:00:00")
        reject(t, "duplicateChain")
    def newer_chain(n, t):
        tok(n, token_secret=token("refresh", n - 1), expires_at="2027-12-01 00:00:00")
        reject(t, "duplicateChain")
    def second_without_app(n, t):
        # Two tokens of one account without an app: the newer row is the one that lives.
        tok(n - 1, app_id=None)
        truths[n - 1].update(client=None)
        tok(n, app_id=None, account_id=account_ids[n - 1], expires_at="2027-12-01 00:00:00")
        t.update(
            outcome="update", of=n, client=None, subject=f"sub-{n-1}", user=truths[n - 1]["user"],
            provider=truths[n - 1]["provider"], expires=ms(int(datetime.datetime(2027, 12, 1, tzinfo=UTC).timestamp())))

    dirts = kinds(locals(), but=("tok", "acc", "reject"))
    for n, dirt in store.spread(len(truths), dirts, None):
        if dirt:
            dirt(n, truths[n])
            truths[n]["dirt"] = dirt.__name__
    db.commit()
    db.close()


def social_auth(path, count):
    """Associations that `social_core` makes of token replies, stored by social-auth-app-django."""
    configure(path)
    from social_core.backends.google import GoogleOAuth2
    from social_django.models import UserSocialAuth
    from social_django.utils import load_strategy

    store = Store("social-auth")
    ids = users(count)
    backend = GoogleOAuth2(load_strategy(), redirect_uri="https://app.example/done")
    rows, truths = [], []
    for n in range(count):
        access, refresh = token("access", n), token("refresh", n)
        reply = {"access_token": access, "refresh_token": refresh, "expires_in": 3599, "token_type": "Bearer"}
        data = backend.extra_data(None, f"uid-{n}", reply, {}, {})
        data["auth_time"] = NOW - 60
        # GoogleOAuth2 names the lifetime `expires`.
        lifetime = data.get("expires", data.get("expires_in"))
        assert lifetime == 3599, data
        rows.append(UserSocialAuth(user_id=ids[n], provider="google-oauth2", uid=f"uid-{n}", extra_data=data))
        truths.append({
            "outcome": "login", "user": str(ids[n]), "provider": "google-oauth2", "subject": f"uid-{n}", "type": "bearer",
            "access": digest(access), "refresh": digest(refresh), "expires": ms(NOW - 60 + 3599), "obtained": ms(NOW - 60),
            "warnings": []})
    UserSocialAuth.objects.bulk_create(rows, batch_size=500)
    dirty_social_auth(path, store, truths)
    store.truths = truths
    return store


def dirty_social_auth(path, store, truths):
    db = sqlite3.connect(path)
    db.execute("PRAGMA foreign_keys = 0")
    db.execute("PRAGMA ignore_check_constraints = 1")
    db.execute("BEGIN")
    rows = [(r[0], json.loads(r[1])) for r in db.execute("SELECT id, extra_data FROM social_auth_usersocialauth ORDER BY id")]

    def put(n, text): db.execute("UPDATE social_auth_usersocialauth SET extra_data = ? WHERE id = ?", (text, rows[n][0]))
    def col(n, **columns):
        for column, value in columns.items():
            db.execute(f"UPDATE social_auth_usersocialauth SET {column} = ? WHERE id = ?", (value, rows[n][0]))
    def edit(n, drop=(), **members):
        data = {k: v for k, v in rows[n][1].items() if k not in drop}
        data.update(members)
        put(n, json.dumps(data))
    def reject(t, reason):
        t.clear()
        t.update(outcome="rejected", reason=reason)

    life = ("expires", "expires_in", "expires_on")
    def expires_on(n, t): edit(n, life, expires_on=NOW + 500); t.update(expires=ms(NOW + 500))
    def expires_on_text(n, t): edit(n, life, expires_on=str(NOW + 500)); t.update(expires=ms(NOW + 500))
    def expires_in(n, t): edit(n, life, expires_in=100); t.update(expires=ms(NOW + 40))
    def expires_in_text(n, t): edit(n, life, expires_in="100"); t.update(expires=ms(NOW + 40))
    def expires_moment(n, t): edit(n, life, expires=NOW + 700); t.update(expires=ms(NOW + 700))
    def expires_lifetime(n, t): edit(n, life, expires=63072000); t.update(expires=ms(NOW - 60 + 63072000))
    def expires_border(n, t): edit(n, life, expires=63072001); t.update(expires=ms(63072001))
    def no_start(n, t):
        edit(n, life + ("auth_time",), expires_in=100)
        t.update(expires=None, obtained=None, warnings=["lifetimeWithoutStart"])
    def no_expiry(n, t): edit(n, life); t.update(expires=None)
    def bad_expiry(n, t): edit(n, life, expires="soon"); t.update(expires=None, warnings=["expiryUnreadable"])
    def null_expiry(n, t): edit(n, life, expires=None); t.update(expires=None)
    def no_refresh(n, t): edit(n, ("refresh_token",)); t.update(refresh=None)
    def null_refresh(n, t): edit(n, refresh_token=None); t.update(refresh=None)
    def dead(n, t): edit(n, ("refresh_token",) + life, expires_on=NOW - 1); t.update(outcome="dead", refresh=None, expires=ms(NOW - 1))
    def text_in_text(n, t): put(n, json.dumps(json.dumps(rows[n][1])))
    def empty_object(n, t): put(n, "{}"); reject(t, "noToken")
    def empty_text(n, t): put(n, ""); reject(t, "noToken")
    def null_text(n, t): put(n, "null"); reject(t, "noToken")
    def cut(n, t): put(n, json.dumps(rows[n][1])[:-5]); reject(t, "malformedValue")
    def python_repr(n, t): put(n, repr(rows[n][1])); reject(t, "malformedValue")
    def a_list(n, t): put(n, "[]"); reject(t, "malformedValue")
    def oauth1(n, t): edit(n, access_token={"oauth_token": "a", "oauth_token_secret": "b"}); reject(t, "notOAuth2")
    def number_token(n, t): edit(n, access_token=123456789012345678901); t.update(access=digest("123456789012345678901"))
    def list_token(n, t): edit(n, access_token=["a"]); reject(t, "malformedValue")
    def twice(n, t):
        put(n, json.dumps(rows[n][1])[:-1] + ', "access_token": "other"}')
        reject(t, "ambiguousMember")
    def error(n, t): put(n, json.dumps({"error": "invalid_grant", "auth_time": NOW})); reject(t, "errorAnswer")
    def unicode_token(n, t): edit(n, access_token="t\u00f6ken"); t.update(access=None, warnings=["accessTokenDropped"])
    def escapes(n, t): put(n, json.dumps(rows[n][1]).replace("access-", "\\u0061ccess-"))
    def scope_text(n, t): edit(n, scope="openid email,profile"); t.update(scope="openid email profile")
    def scope_list(n, t): edit(n, scope=["openid", "email"]); t.update(scope="openid email")
    def scope_bad(n, t): edit(n, scope="op\"enid"); t.update(scope=None, warnings=["scopeDropped"])
    def idt(n, t): edit(n, id_token=id_token(f"uid-{n}")); t.update(idToken=digest(id_token(f"uid-{n}")))
    def idt_other(n, t): edit(n, id_token=id_token("other")); t.update(warnings=["subjectDiffers"])
    def idt_bad(n, t): edit(n, id_token="x.y"); t.update(idToken=None, warnings=["idTokenDropped"])
    def mac(n, t): edit(n, token_type="MAC"); t.update(type="mac", warnings=["unknownTokenType"])
    def orphan(n, t): col(n, user_id=10**9); reject(t, "ownerMissing")
    def no_provider(n, t): col(n, provider="", uid=f"p{n}"); reject(t, "noProvider")
    def no_uid(n, t): col(n, uid="", provider=f"p{n}"); t.update(subject=None, provider=f"p{n}")
    def bad_text(n, t):
        db.execute("UPDATE social_auth_usersocialauth SET extra_data = CAST(X'7bff7d' AS TEXT) WHERE id = ?", (rows[n][0],))
        reject(t, "notUTF8")
    def enormous(n, t): edit(n, junk="j" * 1_100_000); reject(t, "tooLong")
    def same_chain(n, t):
        edit(n, refresh_token=token("refresh", n - 1), auth_time=NOW - 1000)
        reject(t, "duplicateChain")

    dirts = kinds(locals(), but=("put", "col", "edit", "reject"))
    for n, dirt in store.spread(len(truths), dirts, None):
        if dirt:
            dirt(n, truths[n])
            truths[n]["dirt"] = dirt.__name__
    db.commit()
    db.close()
