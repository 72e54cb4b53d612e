import HTTPTypes

/// A server's answer to a device; the device shows the user code and the address to its user (RFC 8628 §3.2).
package struct DeviceAuthorization: Sendable {
    package let deviceCode: DeviceCode
    /// Printable ASCII, at most 128 characters.
    package let userCode: String
    package let verificationURI: EndpointURL
    /// The same with the user code included.
    package let verificationURIComplete: EndpointURL?
    package let expiresIn: Duration
    /// The minimum time between two polls.
    package let interval: Duration
}

/// The result of a device authorization request.
package enum DeviceAuthorizationOutcome: Sendable {
    case accepted(DeviceAuthorization)
    case refused(OAuthErrorCode, ProviderAnswer)
    /// No usable answer. Nothing can have been spent.
    case failed(HTTPTransportError?, ProviderAnswer?, retryAfter: Duration?)
}

package struct DeviceAuthorizationAttempt: Sendable {
    package let outcome: DeviceAuthorizationOutcome
    /// The number of client secrets that were refused before this one.
    package let refusedSecrets: Int
}

extension DeviceAuthorization {
    /// The default for servers that omit it, although it is required (§3.2).
    private static let usualLifetime = Duration.seconds(600)
    private static let longestLifetime = Duration.seconds(86_400)
    private static let usualInterval = Duration.seconds(5)
    private static let intervals = Duration.seconds(1)...(.seconds(3_600))

    /// Nil if a member is missing, or is unfit to show to a person.
    init?(_ body: ReplyBody) {
        guard let code = Self.code(in: body), let userCode = Self.userCode(in: body), let uri = Self.address(in: body)
        else { return nil }
        let lifetime = Self.lifetime(in: body)
        guard lifetime > .zero else { return nil }
        let interval = ReplyLifetime(body, [LifetimeMember("interval", .seconds)], startedAt: 0).duration
        self.init(
            deviceCode: code, userCode: userCode, verificationURI: uri,
            verificationURIComplete: Self.address(body["verification_uri_complete"]),
            expiresIn: min(lifetime, Self.longestLifetime),
            interval: min(max(interval ?? Self.usualInterval, Self.intervals.lowerBound), Self.intervals.upperBound))
    }

    /// What came in place of codes, for people.
    fileprivate static func fault(of reply: HTTPReply, _ body: ReplyBody) -> String {
        if (300...399).contains(reply.response.status.code) { return "a redirect, which is not followed" }
        if body.isEmpty { return "an empty reply" }
        if reply.body.isWebPage { return "a web page (HTML)" }
        let member =
            code(in: body) == nil
            ? "device_code"
            : userCode(in: body) == nil
                ? "user_code" : address(in: body) == nil ? "verification_uri" : "expires_in"
        return "a reply without a usable \(member)"
    }

    private static func code(in body: ReplyBody) -> DeviceCode? {
        body["device_code"].text.flatMap { try? DeviceCode($0) }
    }

    private static func userCode(in body: ReplyBody) -> String? {
        guard let code = body["user_code"].text, code.utf8.count <= 128,
            code.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return code
    }

    /// `verification_url` is the name in older drafts, still used by Google.
    private static func address(in body: ReplyBody) -> EndpointURL? {
        address(body["verification_uri"]) ?? address(body["verification_url"])
    }

    private static func lifetime(in body: ReplyBody) -> Duration {
        ReplyLifetime(body, LifetimeMember.access, startedAt: 0).duration ?? usualLifetime
    }

    private static func address(_ field: ReplyField) -> EndpointURL? {
        guard let text = field.text, text.utf8.count <= 2_048 else { return nil }
        return try? EndpointURL(text, allowsInsecureLoopback: true)
    }
}

extension DeviceAuthorizationOutcome {
    init(_ reply: HTTPReply, _ binding: ServerBinding, retryAfter: Duration?) {
        let status = reply.response.status.code
        let body = ReplyBody(reply, format: .automatic)
        if status == 200, let authorization = DeviceAuthorization(body) {
            self = .accepted(authorization)
            return
        }
        let error: OAuthErrorCode? = if case .code(let code) = ReplyError(body, binding.rules) { code } else { nil }
        let fault = error == nil && status < 400 ? DeviceAuthorization.fault(of: reply, body) : nil
        let answer = ProviderAnswer(
            status: status, error: error, message: (body["error_description"].text ?? fault).map(ServerMessage.init),
            hiding: [binding.authentication.secret?.reveal()].compactMap(\.self))
        guard status < 500, status != 429, let error else {
            self = .failed(nil, answer, retryAfter: retryAfter)
            return
        }
        self = .refused(error, answer)
    }
}
