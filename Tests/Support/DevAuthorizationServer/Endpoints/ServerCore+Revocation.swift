import HTTPTypes
import Synchronization
extension ServerCore {
    /// RFC 7009. An unknown token and an unknown hint are both fine (§2.1, §2.2).
    func revoke(_ request: IncomingRequest, _ record: inout RequestRecord) throws(OAuthError) -> Reply {
        try request.refuseQuery()
        let form = try request.form()
        let client = try clients.authenticate(request, form: form)
        record.client = client.id
        let token = try form.required("token")
        let wasKnown = try withLedger { (ledger, now) throws(OAuthError) in
            try ledger.revoke(token, for: client, at: now)
        }
        if !wasKnown { record.reason = "unknown token" }
        return Reply(.ok).uncached
    }

    /// RFC 7662, for confidential clients only: §2.1 wants the caller authorized.
    func introspect(_ request: IncomingRequest, _ record: inout RequestRecord) throws(OAuthError) -> Reply {
        try request.refuseQuery()
        let form = try request.form()
        let client = try clients.authenticate(request, form: form)
        record.client = client.id
        guard !client.isPublic else {
            throw .invalidClient("introspection needs an authenticated client", reason: "public client")
        }
        let token = try form.required("token")
        let now = clock.age
        let (access, refresh) = ledger.withLock { ledger in
            (ledger.liveAccess(token, at: now), ledger.liveRefresh(token, at: now))
        }
        var members: [String: JSONValue] = ["active": true, "iss": .string(issuer)]
        let grant: Grant
        if let access {
            grant = access.grant
            members["scope"] = .string(access.record.scope.joined(separator: " "))
            members["token_type"] = access.record.keyThumbprint == nil ? "Bearer" : "DPoP"
            members["exp"] = .integer(clock.wall(of: access.record.expiresAt).seconds)
            members["iat"] = .integer(clock.wall(of: access.record.issuedAt).seconds)
            members["cnf"] = access.record.confirmation
            if !access.record.resources.isEmpty {
                members["aud"] = .array(access.record.resources.map(JSONValue.string))
            }
        } else if let refresh {
            grant = refresh.grant
            members["scope"] = .string(refresh.grant.scope.joined(separator: " "))
            members["exp"] = refresh.record.expiresAt.map { .integer(clock.wall(of: $0).seconds) }
            members["iat"] = .integer(clock.wall(of: refresh.record.issuedAt).seconds)
            members["cnf"] = refresh.record.keyThumbprint.map { ["jkt": .string($0)] }
        } else {
            record.reason = "inactive"
            return Reply.json(["active": false] as JSONValue).uncached
        }
        members["client_id"] = .string(grant.client)
        members["username"] = .string(grant.user)
        members["sub"] = .string(grant.user)
        return Reply.json(JSONValue.object(members)).uncached
    }
}

extension AccessRecord {
    /// `cnf` (RFC 7800): what a client must prove to use the token; `nil` for a plain Bearer token.
    fileprivate var confirmation: JSONValue? {
        var members: [String: JSONValue] = [:]
        members["jkt"] = keyThumbprint.map(JSONValue.string)
        members["x5t#S256"] = certificateThumbprint.map(JSONValue.string)
        return members.isEmpty ? nil : .object(members)
    }
}
