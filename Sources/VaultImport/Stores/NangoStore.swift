import OAuthClient

extension StoreDescription {
    /// Nango: `packages/types/lib/connection/db.ts` and `packages/shared/lib/utils/encryption.manager.ts`. Rows that
    /// are older than the encryption key are plaintext, among the encrypted ones.
    static let nango: StoreDescription = {
        var description = StoreDescription(
            kind: .nango, needs: ["connectionid", "providerconfigkey", "credentials"],
            links: [
                StoreLink(
                    part: "config", tables: ["nangoconfigs"], needs: ["id", "uniquekey", "oauthclientid"],
                    from: ["configid"], to: "id", missing: nil)
            ],
            registrations: StoreRegistrations(
                tables: ["nangoconfigs"], needs: ["uniquekey", "provider", "oauthclientid"], provider: ["uniquekey"],
                providerKind: ["provider"], clientID: ["oauthclientid"],
                clientSecret: ["oauthclientsecret"], scope: ["oauthscopes"]),
            user: UserPaths(
                primaryKey: ["connectionid"], email: ["tags.end_user_email"], username: ["tags.end_user_id"]),
            provider: ["providerconfigkey"], accessToken: ["data.access_token"], refreshToken: ["data.refresh_token"])
        description.clientID = ["override.client_id", "config.oauthclientid"]
        description.tokenType = ["raw.token_type"]
        description.expiresAt = ["data.expires_at"]
        description.scope = ["raw.scope"]
        description.idToken = ["raw.id_token"]
        description.obtainedAt = ["lastrefreshsuccess"]
        description.otherColumns = [
            "credentials", "credentialsiv", "credentialstag", "credentialsexpiresat", "lastrefreshfailure",
            "refreshattempts", "refreshexhausted",
        ]
        description.prepare = { (row, context) throws(RowStop) in
            if let deleted = row["deletedat"], !deleted.isNull { throw .reject(.deleted) }
            if row["deleted"]?.isTrue == true { throw .reject(.deleted) }
            let data = try row.nangoCredentials(context)
            try checkMode(data)
            row.add("data", data)
            if case .object(let raw)? = data["raw"] { row.add("raw", raw) }
            if case .object(let own)? = data["config_override"] { row.add("override", own) }
            if let tags = row["tags"]?.jsonObject { row.add("tags", tags) }
        }
        description.finish = { draft, row, _ in
            if row["refreshexhausted"]?.isTrue == true { draft.warn(.refreshExhausted) }
        }
        description.registrations?.prepare = { (row, context) throws(RowStop) in
            if let deleted = row["deletedat"], !deleted.isNull { throw .reject(.deleted) }
            if row["deleted"]?.isTrue == true { throw .reject(.deleted) }
            try row.openNangoSecret(context)
        }
        return description
    }()

    /// The modes are defined in `packages/types/lib/auth/api.ts`.
    private static func checkMode(_ data: JSONObject) throws(RowStop) {
        guard case .string(let mode)? = data["type"] else { return }
        switch mode {
        case "OAUTH2", "MCP_OAUTH2", "MCP_OAUTH2_GENERIC": return
        case "CUSTOM":
            guard case .string? = data["refresh_token"] else { throw .reject(.notOAuth2) }
        case "OAUTH2_CC": throw .reject(.clientCredentials)
        default: throw .reject(.notOAuth2)
        }
    }
}

extension StoreRow {
    fileprivate func nangoCredentials(_ context: StoreContext) throws(RowStop) -> JSONObject {
        guard let value = self["credentials"], !value.isNull else { throw .reject(.noToken) }
        if case .fault(let reason) = value { throw .reject(reason) }
        guard let stored = value.jsonObject else { throw .reject(.malformedValue) }
        guard case .string(let sealed)? = stored["encrypted_credentials"] else { return stored }
        guard let nonce = self["credentialsiv"]?.text, let tag = self["credentialstag"]?.text else {
            throw .reject(.notDecryptable)
        }
        let opened = try context.openNango(sealed, nonce: nonce, tag: tag)
        guard let data = try? JSONObject(document: opened) else { throw .reject(.malformedValue) }
        return data
    }

    /// A client secret is encrypted like credentials, each with its own nonce.
    fileprivate mutating func openNangoSecret(_ context: StoreContext) throws(RowStop) {
        guard let sealed = self["oauthclientsecret"]?.text, let nonce = self["oauthclientsecretiv"]?.text,
            let tag = self["oauthclientsecrettag"]?.text
        else { return }
        let opened = try context.openNango(sealed, nonce: nonce, tag: tag)
        guard let secret = String(validating: opened, as: UTF8.self) else { throw .reject(.notDecryptable) }
        replace("oauthclientsecret", with: secret)
    }
}
