import Foundation
import HTTPTypes
import OAuthClient
import Synchronization
import TokenVaultTesting

/// Plays a provider after its profile's file: refuses every request that is not in the provider's form, rotates as it does,
/// and answers in its words.
final class PlayedProvider: HTTPTransport {
    /// One user's consent.
    struct Grant: Sendable {
        var access: String
        /// What a renewal must send.
        var current: String
        /// The one before, and when it was replaced.
        var replaced: (token: String, at: Date)?
        var hasEnded = false
        var count = 1
    }

    struct Complaint: Error { let text: String }

    private struct State {
        var grants: [Grant] = []
        var codes: [String: String?] = [:]
        var pushed: [String: String] = [:]
        var complaints: [String] = []
        var losesNextReply = false
        var requests = 0
        var revoked: [String] = []
    }

    let profile: ProfileText
    private let time: ManualTimeSource
    private let state = Mutex(State())
    static let lifetime = 3_600
    /// Of providers whose access token is exchanged for the next one.
    static let longLifetime = 60 * 86_400

    init(_ profile: ProfileText, _ time: ManualTimeSource) {
        self.profile = profile
        self.time = time
    }

    var complaints: [String] { state.withLock { $0.complaints } }
    var requestCount: Int { state.withLock { $0.requests } }
    var revoked: [String] { state.withLock { $0.revoked } }

    var now: Date { time.now() }
    func grant(_ index: Int) -> Grant { state.withLock { $0.grants[index] } }

    /// The next token request is answered, but the answer does not arrive.
    func loseNextReply() { state.withLock { $0.losesNextReply = true } }
    /// The user takes the consent back.
    func endGrants() {
        state.withLock { state in for index in state.grants.indices { state.grants[index].hasEnded = true } }
    }

    /// The user consents at this address: the callback.
    func consent(at url: String) throws -> String {
        let components = try parsed(url)
        var query = components.query
        if profile.isPushed {
            guard let stored = state.withLock({ $0.pushed[query["request_uri"] ?? ""] }) else {
                throw Complaint(text: "the request was not pushed")
            }
            query = FormFields.query(stored)
        }
        guard components.address == profile.endpoint("authorization") else {
            throw Complaint(text: "the log-in is at \(components.address)")
        }
        guard query[profile.parameter("client_id")] == "client-1", query["response_type"] == "code",
            let sent = query["state"], query["redirect_uri"] == "https://app.example/callback"
        else { throw Complaint(text: "parameters \(query.keys.sorted())") }
        for (name, value) in profile.parameters("authorizationParameters") where query[name] != value {
            throw Complaint(text: "no \(name)=\(value)")
        }
        let separator: String = profile.value("request.scopeSeparator", or: " ")
        guard query[profile.parameter("scope")] == ["one", "two"].joined(separator: separator) else {
            throw Complaint(text: "scope \(query["scope"] ?? "")")
        }
        guard (query["code_challenge"] != nil) == profile.usesPKCE else { throw Complaint(text: "challenge") }
        let code = "code-\(state.withLock { $0.codes.count + 1 })"
        state.withLock { $0.codes[code] = query["code_challenge"] }
        var callback = [profile.value("callback.code", or: "code"): code, "state": sent, "iss": issuer]
        for name: String in profile.value("callback.keep", or: []) { callback[name] = "kept-\(name)" }
        if !profile.value("client.issuerInCallback", or: false) { callback["iss"] = nil }
        return "https://app.example/callback?" + FormFields.text(callback)
    }

    var issuer: String { profile.value("endpoints.issuer", or: "https://login.\(profile.name).example") }

    // MARK: HTTPTransport

    func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits
    ) async throws(HTTPTransportError) -> HTTPReply {
        state.withLock { $0.requests += 1 }
        let (address, query) = (try? parsed(request)) ?? ("", [:])
        let isJSON = request.headerFields[.contentType] == "application/json"
        let sent = query.merging(
            isJSON ? FormFields.json(body) : FormFields.query(String(decoding: body, as: UTF8.self))
        ) { $1 }
        let reply: HTTPReply
        do {
            reply = try answer(address, request, sent, isJSON)
        } catch {
            let text = "\(request.method) \(address): \((error as? Complaint)?.text ?? "")"
            state.withLock { $0.complaints.append(text) }
            return self.reply(404, [:])
        }
        let isLost = state.withLock { state in
            guard state.losesNextReply, reply.response.status != .badRequest else { return false }
            state.losesNextReply = false
            return true
        }
        if isLost { throw HTTPTransportError(.maybeSent, .reset) }
        return reply
    }

    private func answer(
        _ address: String, _ request: HTTPRequest, _ sent: [String: String], _ isJSON: Bool
    ) throws -> HTTPReply {
        if address == profile.endpoint("revocation"), profile.hasRevocation { return try revoke(request, sent) }
        let first: String? = profile.optional("refresh.first.endpoint")
        let firstGrant: String? = profile.optional("refresh.first.grantType")
        if let first, address == first, sent["grant_type"] == firstGrant {
            return try exchangeFirst(request, sent)
        }
        if profile.isPushed, address == "https://login.\(profile.name).example/par" { return try push(request, sent) }
        if profile.isBound, !hasNonce(request) {
            return reply(400, ["error": "use_dpop_nonce"], ["DPoP-Nonce": "nonce-1"])
        }
        let grantType = sent["grant_type"]
        if grantType == "authorization_code" {
            guard address == profile.endpoint("token") else { throw Complaint(text: "not the token endpoint") }
            try check(request, sent, isJSON, method: .post, sendsClient: true)
            return try redeem(sent)
        }
        let refreshAddress: String? = profile.optional("endpoints.refresh")
        guard address == refreshAddress.map(profile.filled) ?? profile.endpoint("token") else {
            throw Complaint(text: "not the endpoint for renewals")
        }
        let expected: String = profile.value("refresh.grantType", or: "refresh_token")
        guard grantType == expected else {
            throw Complaint(text: "grant type \(grantType ?? "")")
        }
        try check(
            request, sent, isJSON, method: profile.value("refresh.method", or: "POST") == "GET" ? .get : .post,
            sendsClient: profile.value("refresh.sendsClient", or: true))
        return try renew(sent)
    }

    private func check(
        _ request: HTTPRequest, _ sent: [String: String], _ isJSON: Bool, method: HTTPRequest.Method, sendsClient: Bool
    ) throws {
        guard request.method == method else { throw Complaint(text: "method") }
        guard method == .get || isJSON == (profile.value("request.body", or: "form") == "json") else {
            throw Complaint(text: "form of the body")
        }
        let isBasic = request.headerFields[.authorization]?.hasPrefix("Basic ") == true
        let id = sent[profile.parameter("client_id")]
        let isRight =
            switch profile.authentication {
            case _ where !sendsClient: !isBasic && sent[profile.parameter("client_secret")] == nil
            case "client_secret_basic": isBasic && sent[profile.parameter("client_secret")] == nil
            case "client_secret_post": id == "client-1" && sent[profile.parameter("client_secret")] == "secret"
            case "private_key_jwt": id == "client-1" && sent["client_assertion"] != nil
            default: id == "client-1" && !isBasic
            }
        guard isRight else { throw Complaint(text: "authentication of the client") }
    }

    private func redeem(_ sent: [String: String]) throws -> HTTPReply {
        guard let code = sent["code"], let challenge = state.withLock({ $0.codes.removeValue(forKey: code) }),
            sent["redirect_uri"] == "https://app.example/callback",
            (sent["code_verifier"] != nil) == (challenge != nil)
        else { throw Complaint(text: "code") }
        for (name, value) in profile.parameters("tokenParameters") where sent[name] != value {
            throw Complaint(text: "no \(name)=\(value)")
        }
        let number = state.withLock { state in
            let number = state.grants.count + 1
            let access = "access-\(number)-1"
            state.grants.append(
                Grant(access: access, current: profile.chainsAccessTokens ? access : "refresh-\(number)-1"))
            return number
        }
        return tokens(number - 1, sendsRefreshToken: true, isYoung: true)
    }

    /// A token of an hour for one of many days.
    private func exchangeFirst(_ request: HTTPRequest, _ sent: [String: String]) throws -> HTTPReply {
        let parameter: String = profile.value("refresh.first.parameter", or: "")
        let method: String = profile.value("refresh.first.method", or: "POST")
        guard request.method.rawValue == method,
            sent["client_secret"] == "secret", request.headerFields[.authorization] == nil,
            (sent["client_id"] == nil) == profile.value("refresh.first.sendsSecretAlone", or: false)
        else { throw Complaint(text: "first exchange") }
        let index = state.withLock { state in state.grants.firstIndex { $0.current == sent[parameter] } }
        guard let index, !grant(index).hasEnded else { return dead() }
        advance(index)
        return tokens(index, sendsRefreshToken: false, isYoung: false)
    }

    private func renew(_ sent: [String: String]) throws -> HTTPReply {
        guard let token = sent[profile.parameter("refresh_token")] else { throw Complaint(text: "no token") }
        for (name, value) in profile.parameters("refreshParameters") where sent[name] != value {
            throw Complaint(text: "no \(name)=\(value)")
        }
        let now = time.now()
        let found = state.withLock { state in
            state.grants.firstIndex { grant in
                guard !grant.hasEnded else { return false }
                if grant.current == token { return true }
                guard let replaced = grant.replaced, replaced.token == token else { return false }
                return now.timeIntervalSince(replaced.at) <= Double(profile.grace)
            }
        }
        guard let index = found else { return dead() }
        let isReplay = state.withLock { $0.grants[index].current != token }
        if !isReplay { advance(index) }
        return tokens(index, sendsRefreshToken: profile.rotation == "always", isYoung: false)
    }

    private func advance(_ index: Int) {
        let now = time.now()
        state.withLock { state in
            state.grants[index].count += 1
            let next = state.grants[index].count
            state.grants[index].access = "access-\(index + 1)-\(next)"
            guard profile.rotation == "always" || profile.chainsAccessTokens else { return }
            state.grants[index].replaced = (state.grants[index].current, now)
            state.grants[index].current =
                profile.chainsAccessTokens ? state.grants[index].access : "refresh-\(index + 1)-\(next)"
        }
    }

    private func revoke(_ request: HTTPRequest, _ sent: [String: String]) throws -> HTTPReply {
        guard request.method.rawValue == profile.value("revocation.method", or: "POST") else {
            throw Complaint(text: "method")
        }
        let isBearer = profile.value("revocation.carrier", or: "form") == "bearer"
        let token =
            isBearer
            ? request.headerFields[.authorization]?.replacing("Bearer ", with: "")
            : sent[profile.value("revocation.parameter", or: "token")]
        let wantsAccess = profile.value("revocation.target", or: "refreshToken") == "accessToken"
        let index = state.withLock { state in
            state.grants.firstIndex { $0.access == token || $0.current == token }
        }
        guard let token, let index, !wantsAccess || state.withLock({ $0.grants[index].access == token }) else {
            throw Complaint(text: "token \(token == nil ? "missing" : "unknown")")
        }
        state.withLock { state in
            state.grants[index].hasEnded = true
            state.revoked.append(token)
        }
        let statuses: [Int] = profile.value("revocation.doneStatuses", or: [200])
        return reply(statuses.first ?? 200, succeeded([:]))
    }

    private func push(_ request: HTTPRequest, _ sent: [String: String]) throws -> HTTPReply {
        guard hasNonce(request) else { return reply(400, ["error": "use_dpop_nonce"], ["DPoP-Nonce": "nonce-1"]) }
        let uri = "urn:example:\(state.withLock { $0.pushed.count })"
        state.withLock { $0.pushed[uri] = FormFields.text(sent) }
        return reply(201, ["request_uri": uri, "expires_in": 60])
    }

    private func hasNonce(_ request: HTTPRequest) -> Bool {
        guard profile.isBound else { return true }
        guard let proof = request.headerFields[.dpop], let payload = proof.split(separator: ".").dropFirst().first,
            let bytes = Base64URL.decode(String(payload))
        else { return false }
        return String(decoding: bytes, as: UTF8.self).contains("nonce-1")
    }
}
