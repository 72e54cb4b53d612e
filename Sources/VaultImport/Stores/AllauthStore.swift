extension StoreDescription {
    /// django-allauth, `allauth/socialaccount/models.py` (65.21).
    ///
    /// `token_secret` is the refresh token of OAuth 2 or the token secret of OAuth 1: only the provider distinguishes
    /// them. Scopes, token types, id tokens and endpoints are not stored.
    static let allauth: StoreDescription = {
        var description = StoreDescription(
            kind: .allauth, needs: ["token", "tokensecret", "accountid", "expiresat"],
            joined: ["token", "tokensecret", "provider", "uid", "userid"],
            links: [
                StoreLink(
                    part: "account", tables: ["socialaccountsocialaccount"],
                    needs: ["id", "userid", "provider", "uid"],
                    from: ["accountid"], to: "id", missing: .accountMissing),
                StoreLink(
                    part: "app", tables: ["socialaccountsocialapp"], needs: ["id", "clientid"], from: ["appid"],
                    to: "id", missing: nil),
                .user(["authuser", "usersuser", "accountsuser"], from: ["account.userid", "userid"]),
            ],
            registrations: StoreRegistrations(
                tables: ["socialaccountsocialapp"], needs: ["provider", "clientid", "secret"],
                provider: ["providerid", "provider"], providerKind: ["provider"], clientID: ["clientid"],
                clientSecret: ["secret"], scope: []),
            user: UserPaths(primaryKey: ["account.userid", "userid"]), provider: ["account.provider", "provider"],
            accessToken: ["token"], refreshToken: ["tokensecret"])
        description.subject = ["account.uid", "uid"]
        description.clientID = ["app.clientid", "clientid"]
        description.expiresAt = ["expiresat"]
        // UNIQUE (app, account) does not apply to null apps, which are configured only in Django's settings.
        description.accountsInTables = .withoutClient
        description.prepare = { (row, _) throws(RowStop) in
            if let provider = row[["account.provider", "provider"]]?.text, oauth1Providers.contains(provider) {
                throw .reject(.notOAuth2)
            }
        }
        return description
    }()

    /// Providers whose classes derive from `allauth.socialaccount.providers.oauth`, or that use neither OAuth 1 nor 2.
    private static let oauth1Providers: Set<String> = [
        "discogs", "evernote", "500px", "flickr", "openstreetmap", "pocket", "trello", "tumblr", "twitter", "vimeo",
        "xing", "openid", "steam", "telegram", "saml", "draugiem",
    ]
}
