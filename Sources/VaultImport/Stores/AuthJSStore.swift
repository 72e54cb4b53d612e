extension StoreDescription {
    /// Auth.js: `packages/adapter-pg/schema.sql`, and the schemas of the adapters for Prisma, Drizzle, D1, TypeORM, Hasura
    /// and Supabase, which differ in case, in quotes and in the names of the tables.
    ///
    /// The row is written at the first sign-in (`packages/core/src/lib/actions/callback/handle-login.ts`) and never
    /// updated.
    static let authJS: StoreDescription = {
        var description = StoreDescription(
            kind: .authJS, needs: ["userid", "provider", "provideraccountid"],
            needsOne: ["accesstoken", "refreshtoken"],
            links: [.user(["users", "user"], from: ["userid"])],
            rowKey: ["provider", "provideraccountid"], user: UserPaths(primaryKey: ["userid"]), provider: ["provider"],
            accessToken: ["accesstoken"], refreshToken: ["refreshtoken"])
        description.user.username = ["user.name", "name"]
        description.subject = ["provideraccountid"]
        description.tokenType = ["tokentype"]
        // Sites that renew tokens store the time under their own column names.
        description.expiresAt = ["expiresat", "accesstokenexpiresat", "accesstokenexpires"]
        description.refreshExpiresAt = ["refreshtokenexpiresat", "refreshexpiresat"]
        description.scope = ["scope"]
        description.idToken = ["idtoken"]
        description.otherColumns = ["oauthtoken", "oauthtokensecret"]
        description.accountsInTables = .never
        description.warnings = [.mayBeStale]
        description.prepare = { (row, _) throws(RowStop) in
            if let type = row["type"]?.text, !["oauth", "oidc", "oauth2"].contains(type) { throw .reject(.notOAuth2) }
            // D1's table has columns for OAuth 1.
            if row["oauthtokensecret"]?.text != nil { throw .reject(.notOAuth2) }
        }
        return description
    }()

    /// NextAuth up to version 3, `src/adapters/typeorm/models.js`: other names, and no scope and no id token.
    static let nextAuth3: StoreDescription = {
        var description = StoreDescription(
            kind: .authJS, needs: ["userid", "providerid", "provideraccountid"],
            needsOne: ["accesstoken", "refreshtoken"], excludes: ["provider"],
            links: [.user(["users", "user"], from: ["userid"])],
            rowKey: ["providerid", "provideraccountid"], user: UserPaths(primaryKey: ["userid"]),
            provider: ["providerid"], accessToken: ["accesstoken"], refreshToken: ["refreshtoken"])
        description.user.username = ["user.name", "name"]
        description.subject = ["provideraccountid"]
        description.expiresAt = ["accesstokenexpires"]
        description.accountsInTables = .never
        description.warnings = [.mayBeStale]
        description.prepare = { (row, _) throws(RowStop) in
            if let type = row["providertype"]?.text, !["oauth", "oauth2", "oidc"].contains(type) {
                throw .reject(.notOAuth2)
            }
        }
        return description
    }()

    /// Better Auth: `packages/core/src/db/schema/account.ts`, with tables made by its own migrations, Prisma or Drizzle.
    ///
    /// `scope` contains everything that the user has granted, separated by commas.
    static let betterAuth: StoreDescription = {
        var description = StoreDescription(
            kind: .betterAuth, needs: ["providerid", "accountid", "userid", "accesstoken", "refreshtoken"],
            excludes: ["clientid"], links: [.user(["user", "users"], from: ["userid"])],
            user: UserPaths(primaryKey: ["userid"]), provider: ["providerid"], accessToken: ["accesstoken"],
            refreshToken: ["refreshtoken"])
        description.user.username = ["user.username", "user.name", "name"]
        description.subject = ["accountid"]
        // Before version 1.0 there was only one expiry.
        description.expiresAt = ["accesstokenexpiresat", "expiresat"]
        description.refreshExpiresAt = ["refreshtokenexpiresat"]
        description.scope = ["scope"]
        description.scopeSeparator = ","
        description.idToken = ["idtoken"]
        description.accountsInTables = .never
        description.prepare = { (row, _) throws(RowStop) in
            if row["providerid"]?.text == "credential" { throw .reject(.notOAuth2) }
        }
        description.readToken = { (text, draft, context) throws(RowStop) in
            try context.openBetterAuth(text, &draft)
        }
        return description
    }()
}
