import HTTPTypes
import Synchronization

extension ServerCore {
    static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    /// RFC 8628 §3.1.
    func authorizeDevice(_ request: IncomingRequest, _ record: inout RequestRecord) throws(OAuthError) -> Reply {
        try request.refuseQuery()
        let form = try request.form()
        let client = try clients.authenticate(request, form: form)
        record.client = client.id
        let scope = try form["scope"].map { text throws(OAuthError) in try ScopeList.parse(text) } ?? ["read"]
        guard scope.allSatisfy(knownScopes.contains) else {
            throw .invalidScope("a scope is unknown", reason: "unknown scope")
        }
        let resources = try resources(of: form)
        let userCode = Self.userCode()
        let now = clock.age
        let (lifetime, interval) = (configuration.deviceCodeLifetime, configuration.devicePollInterval)
        let device = DeviceRecord(
            userCode: userCode, client: client.id, scope: granted(scope), resources: resources,
            challenge: try AuthorizationRequest.optionalChallenge(form), expiresAt: now + lifetime,
            interval: interval, nextPoll: now + interval)
        let code = ledger.withLock { $0.issueDeviceCode(device) }
        record.note("issued_device_code", code)
        return Reply.json(
            [
                "device_code": .string(code), "user_code": .string(userCode),
                "verification_uri": .string(base + "/device"),
                "verification_uri_complete": .string(base + "/device?user_code=" + userCode),
                "expires_in": .seconds(lifetime), "interval": .seconds(interval),
            ] as JSONValue
        ).uncached
    }

    /// No vowels, so that no word comes out (§6.1).
    private static func userCode() -> String {
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        let text = String((0..<8).map { _ in letters[Int.random(in: 0..<letters.count)] })
        return "\(text.prefix(4))-\(text.suffix(4))"
    }

    /// The page at the verification URI (§3.3): asks for the code, then for the decision.
    func device(_ request: IncomingRequest, _ record: inout RequestRecord) throws(OAuthError) -> Reply {
        record.outcome = "page"
        let action = configuration.issuerPath + "/device"
        if request.method == .post {
            let form = try request.form()
            guard let ticket = form["ticket"], let code = deviceTickets.withLock({ $0.removeValue(forKey: ticket) })
            else { return answered("This page was answered before.", &record) }
            let user = form["decision"] == "approve" ? form["user"] ?? configuration.defaultUser : nil
            guard decideDevice(userCode: code, user: user) else {
                return answered("This code was used before, or has expired.", &record)
            }
            record.user = user
            record.outcome = user == nil ? "access_denied" : "ok"
            return DevicePage.done(isApproved: user != nil)
        }
        let query = try FormParameters(parsing: request.query ?? "")
        guard let text = query["user_code"] else { return DevicePage.question(action: action) }
        let now = clock.age
        guard let (_, device) = ledger.withLock({ $0.deviceCode(forUserCode: text, at: now) }) else {
            record.outcome = "invalid_request"
            return DevicePage.question(action: action, isWrong: true)
        }
        record.client = device.client
        // Never at once, even where /authorize approves at once: the person must see which code they approve (§5.4).
        let ticket = SecretSource.random(length: 43)
        deviceTickets.withLock { $0[ticket] = device.userCode }
        return DevicePage.decision(
            client: device.client, userCode: device.userCode, scopes: device.scope, user: configuration.defaultUser,
            ticket: ticket, action: action)
    }

    private func answered(_ sentence: String, _ record: inout RequestRecord) -> Reply {
        record.outcome = "invalid_request"
        return LoginPage.failure(sentence)
    }

    func decideDevice(userCode: String, user: String?) -> Bool {
        let now = clock.age
        return ledger.withLock { $0.decideDevice(userCode: userCode, user: user, at: now) }
    }
}
