/// What a device waits for (RFC 8628).
struct DeviceRecord: Sendable {
    enum State: Sendable {
        case waiting
        case approved(user: String)
        case denied
        case used
    }

    let userCode: String
    let client: String
    let scope: [String]
    let resources: [String]
    /// S256 challenge, if the client sent one.
    let challenge: String?
    let expiresAt: Moment
    var interval: Duration
    /// A question before this is one too many.
    var nextPoll: Moment
    var state = State.waiting
}

/// A token request with a device code, its client already authenticated.
struct DeviceRedemption: Sendable {
    let code: String
    let client: RegisteredClient
    let verifier: String?
    let keyThumbprint: String?
    let resources: [String]
}

extension Ledger {
    /// The device code.
    mutating func issueDeviceCode(_ record: DeviceRecord) -> String {
        let code = secrets.make("dc_")
        devices[code] = record
        return code
    }

    func deviceCode(forUserCode userCode: String, at now: Moment) -> (code: String, record: DeviceRecord)? {
        let wanted = Self.normal(userCode)
        return devices.first { Self.normal($0.value.userCode) == wanted && $0.value.expiresAt > now }
            .map { ($0.key, $0.value) }
    }

    /// Letters of either case, and whatever stands between them (§6.1).
    private static func normal(_ userCode: String) -> String {
        String(userCode.uppercased().filter { $0.isLetter || $0.isNumber })
    }

    /// False: there is no such code, or it has been answered.
    mutating func decideDevice(userCode: String, user: String?, at now: Moment) -> Bool {
        guard let (code, record) = deviceCode(forUserCode: userCode, at: now), case .waiting = record.state else {
            return false
        }
        devices[code]?.state = user.map { .approved(user: $0) } ?? .denied
        return true
    }

    /// RFC 8628 §3.5.
    mutating func redeem(_ redemption: DeviceRedemption, at now: Moment) throws(OAuthError) -> IssuedTokens {
        guard let record = devices[redemption.code], record.client == redemption.client.id else {
            throw .invalidGrant("the device code is unknown", reason: "unknown device code")
        }
        guard record.expiresAt > now else {
            throw OAuthError("expired_token", "the device code has expired", reason: "expired device code")
        }
        if now < record.nextPoll {
            devices[redemption.code]?.interval += .seconds(5)
            devices[redemption.code]?.nextPoll = now + record.interval + .seconds(5)
            throw OAuthError("slow_down", "the device asks too often", reason: "polled too soon")
        }
        devices[redemption.code]?.nextPoll = now + record.interval
        switch record.state {
        case .waiting:
            throw OAuthError("authorization_pending", "the user has not decided yet", reason: "pending")
        case .denied: throw OAuthError("access_denied", "the user said no", reason: "denied")
        case .used: throw .invalidGrant("the device code was used before", reason: "reused device code")
        case .approved(let user):
            try check(redemption.verifier, against: record.challenge)
            let resources = try ResourceIndicators.narrowed(record.resources, to: redemption.resources)
            devices[redemption.code]?.state = .used
            let grant = openGrant(
                user: user, client: record.client, scope: record.scope, resources: record.resources, at: now)
            return issueTokens(
                grant: grant, client: redemption.client, resources: resources,
                keyThumbprint: redemption.keyThumbprint, at: now)
        }
    }
}
