"""What the vault writes for other systems, read by these systems themselves."""

import datetime
import json
import sqlite3
import subprocess

from kit import NOW, token

UTC = datetime.timezone.utc
# Characters that tokens and names may have, and SQL does something with.
ODD = ["'", "''", '"', "\\", ";--", "%s", "{}", "$1", "?"]


def export(probe, source, shape):
    """A vault with the logins of a file in the canonical form, exported."""
    run = subprocess.run([probe, str(source), "--now", str(NOW), "--export", shape], capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"export: the probe failed with {run.returncode}: {run.stdout[-300:]}{run.stderr[-600:]}")
    return run.stdout


def to_allauth(probe, folder, count):
    """Half of the accounts are there already, with older tokens."""
    import django_stores

    path = folder / "allauth.sqlite3"
    django_stores.configure(path)
    from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
    from django.db import connection

    ids = django_stores.users(count)
    app = SocialApp.objects.create(provider="google", name="Google", client_id="client-1", secret="s")
    logins = []
    for n, user in enumerate(ids):
        odd = ODD[n % len(ODD)]
        uid = f"sub-{n}{odd}"
        login = {
            "user": str(user), "provider": "google", "subject": uid, "client_id": "client-1",
            "access_token": token("access", n) + odd, "refresh_token": token("refresh", n) + odd,
            "expires_at": NOW + 3600 + n}
        if n % 5 == 3:
            del login["refresh_token"]
        if n % 5 == 4:
            del login["expires_at"]
        logins.append(login)
        if n % 2:
            account = SocialAccount.objects.create(user_id=user, provider="google", uid=uid, extra_data={"kept": n})
            SocialToken.objects.create(account=account, app=app if n % 4 == 1 else None, token="old", token_secret="old")
    source = folder / "logins.jsonl"
    source.write_text("".join(json.dumps(login) + "\n" for login in logins))
    sql = export(probe, source, "allauth")
    connection.close()
    db = sqlite3.connect(path)
    # It can be run again.
    for _ in range(2):
        db.executescript(sql)
    db.close()
    wrong = []
    if SocialToken.objects.count() != count or SocialAccount.objects.count() != count:
        wrong.append(f"export: {SocialToken.objects.count()} tokens and {SocialAccount.objects.count()} accounts, not {count}")
    for n, login in enumerate(logins):
        stored = SocialToken.objects.select_related("account", "app").get(account__provider="google", account__uid=login["subject"])
        expires = login.get("expires_at")
        pairs = [
            (stored.account.user_id, int(login["user"])), (stored.token, login["access_token"]),
            (stored.token_secret, login.get("refresh_token", "")), (stored.app.client_id, "client-1"),
            (stored.expires_at, expires and datetime.datetime.fromtimestamp(expires, UTC)),
            (stored.account.get_provider().id, "google"),
            (stored.account.extra_data, {"kept": n} if n % 2 else {}),
        ]
        wrong += [f"export: login {n}: {found!r}, not {wanted!r}" for found, wanted in pairs if found != wanted]
    print(f"export: allauth reads {count} logins that were written for it, {len(wrong)} wrong")
    return wrong
