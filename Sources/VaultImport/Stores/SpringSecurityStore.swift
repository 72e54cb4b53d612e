import FoundationEssentials
import OAuthClient

extension StoreDescription {
    /// Spring Security's client: `oauth2-client-schema.sql` and `JdbcOAuth2AuthorizedClientService`.
    ///
    /// It has no subject, no id token, no client id and no endpoint: those are in the application's configuration. With
    /// some providers a principal is a display name, so a row may belong to the last of several people.
    static let springSecurity: StoreDescription = {
        var description = StoreDescription(
            kind: .springSecurity, needs: ["clientregistrationid", "principalname", "accesstokenvalue"],
            excludes: ["authorizationgranttype", "registeredclientid"],
            rowKey: ["clientregistrationid", "principalname"],
            user: UserPaths(
                primaryKey: ["principalname"], email: ["principalname"], username: ["principalname"]),
            provider: ["clientregistrationid"], accessToken: ["accesstokenvalue"], refreshToken: ["refreshtokenvalue"])
        description.tokenType = ["accesstokentype"]
        description.expiresAt = ["accesstokenexpiresat"]
        description.scope = ["accesstokenscopes"]
        description.scopeSeparator = ","
        description.obtainedAt = ["accesstokenissuedat"]
        description.accountsInTables = .never
        description.otherColumns = ["refreshtokenissuedat"]
        description.prepare = { (row, _) throws(RowStop) in
            // The principal of tokens that the application got for itself, without a user: Spring's own, or the
            // registration's name, which its guides use.
            guard let principal = row["principalname"]?.text else { return }
            let hasRefreshToken = row["refreshtokenvalue"]?.text != nil
            let isRegistration = principal == row["clientregistrationid"]?.text && !hasRefreshToken
            if principal == "anonymousUser" || isRegistration { throw .reject(.clientCredentials) }
        }
        description.readToken = { (text, _, _) throws(RowStop) in
            // PostgreSQL's text form of bytes.
            guard text.hasPrefix("\\x") else { return text }
            guard let bytes = Hex.decode(text.utf8.dropFirst(2)) else { throw .reject(.malformedValue) }
            guard let decoded = String(validating: bytes, as: UTF8.self) else { throw .reject(.notUTF8) }
            return decoded
        }
        description.finish = { draft, _, _ in
            // Without `expires_in`, Spring stores an expiry of one second: `OAuth2AccessTokenResponse.Builder`.
            guard let issued = draft.obtainedAt, let expires = draft.expiresAt else { return }
            if expires.timeIntervalSince(issued) <= 1 {
                draft.expiresAt = nil
                draft.warn(.expiryInvented)
            }
        }
        return description
    }()

    /// The token model that Authlib's documentation gives to clients: `docs/oauth2/client/web/index.rst`.
    static let authlib: StoreDescription = {
        var description = StoreDescription(
            kind: .authlib, needs: ["name", "accesstoken", "refreshtoken", "expiresat"],
            needsOne: ["userid", "user"],
            excludes: [
                "accesstokenrevokedat", "refreshtokenrevokedat", "provider", "providerid", "provideraccountid",
                "clientid",
            ],
            links: [.user(["user", "users", "authuser"], from: ["userid"])],
            user: UserPaths(primaryKey: ["userid", "user"]), provider: ["name"], accessToken: ["accesstoken"],
            refreshToken: ["refreshtoken"])
        description.tokenType = ["tokentype"]
        description.expiresAt = ["expiresat"]
        description.scope = ["scope"]
        description.idToken = ["idtoken"]
        description.prepare = { (row, _) throws(RowStop) in
            // `OAuth1Token` of the same page has a secret instead.
            if row["oauthtokensecret"]?.text != nil { throw .reject(.notOAuth2) }
        }
        return description
    }()
}
