-- A user's login at one provider is found without those at others.
DROP INDEX "loginByProvider";

CREATE INDEX "loginByProvider" ON "login" ("provider", "user") WHERE "provider" IS NOT NULL;
