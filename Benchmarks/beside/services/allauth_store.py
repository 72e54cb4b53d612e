"""django-allauth: it stores a `SocialToken`, and renewing it is left to the application, which has no lock."""
import datetime

import django
from django.conf import settings
from django.db import close_old_connections

from . import oauth


def configure(options: dict) -> None:
    settings.configure(
        DATABASES={"default": {
            "ENGINE": "django.db.backends.postgresql", "NAME": "postgres", "USER": "postgres",
            "HOST": "127.0.0.1", "PORT": options["postgres_port"],
            "OPTIONS": {"pool": {"min_size": 1, "max_size": 16, "timeout": 30}}}},
        INSTALLED_APPS=[
            "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sites", "allauth", "allauth.account",
            "allauth.socialaccount"],
        MIDDLEWARE=["allauth.account.middleware.AccountMiddleware"], SITE_ID=1, USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.AutoField", SECRET_KEY="of this benchmark")
    django.setup()


class Service:
    def __init__(self, options: dict):
        self.options = options
        configure(options)

    def open(self) -> None:
        from allauth.socialaccount.models import SocialToken

        self.tokens = SocialToken.objects

    def fill(self, grants) -> None:
        from allauth.socialaccount.models import SocialAccount, SocialToken
        from django.contrib.auth.models import User
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        call_command("flush", verbosity=0, interactive=False)
        for name, client, access, refresh, expires_at in grants:
            user = User.objects.create(username=name)
            account = SocialAccount.objects.create(user=user, provider=client, uid=name)
            SocialToken.objects.create(
                account=account, token=access, token_secret=refresh, expires_at=self.time(expires_at))

    def time(self, seconds: float) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)

    def token(self, user: str) -> str:
        try:
            token = self.tokens.select_related("account").get(account__user__username=user)
            if not token.token_secret:
                raise oauth.Dead
            close_old_connections()
            lead = datetime.timedelta(seconds=self.options["lead"])
            if token.expires_at > datetime.datetime.now(datetime.timezone.utc) + lead:
                return token.token
            try:
                access, refresh, expires_at = oauth.refresh(self.options, token.account.provider, token.token_secret)
            except oauth.Dead:
                token.token_secret = ""
                token.save()
                raise
            token.token, token.token_secret, token.expires_at = access, refresh, self.time(expires_at)
            token.save()
            return token.token
        finally:
            close_old_connections()
