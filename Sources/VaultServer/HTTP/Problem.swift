import FoundationEssentials
import HTTPTypes
import OAuthClient
import TokenVault

/// An error as a problem document (RFC 9457): `{"type", "title", "status", "detail", "code", …}`.
///
/// `code` is that of a `VaultError`, or one of the server's own. `needs_user` says that the user must log in again.
struct Problem: Error, Sendable {
    let status: HTTPResponse.Status
    let code: String
    let detail: String
    var hints: [String] = []
    var needsUser = false
    /// Seconds after which it may go better.
    var retryAfter: Int?
    /// The logins among which the request has to choose.
    var logins: [LoginID] = []
    var allow: [HTTPRequest.Method] = []
    var closes = false

    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String, hint: String? = nil) {
        self.status = status
        self.code = code
        self.detail = detail
        hints = hint.map { [$0] } ?? []
    }

    static func invalid(_ detail: String, hint: String? = nil) -> Problem {
        Problem(.badRequest, VaultError.Code.invalidArgument.name, detail, hint: hint)
    }

    /// What another client's login is for this one, too: nothing tells it from a login that is not there.
    static let unknownLogin = Problem(.notFound, VaultError.Code.unknownLogin.name, "there is no such login")

    /// - Parameter hints: What the command line would say.
    init(_ error: VaultError, _ hints: [String]) {
        let answer = ErrorAnswer(error.code)
        // In a service it would be a mistake of the service; here the client has named the address.
        let status = error.code == .originNotAllowed ? .forbidden : Self.status(answer.status)
        self.init(status, error.code.name, error.message)
        self.hints = hints
        needsUser = answer.needsUser
        logins = error.logins
        if let delay = (error.retryAfter ?? (answer.passes ? .seconds(5) : nil))?.components {
            // Rounded up, so that no client comes back too early.
            retryAfter = Int(max(1, delay.seconds + (delay.attoseconds > 0 ? 1 : 0)))
        }
    }

    /// With its words.
    private static func status(_ code: Int) -> HTTPResponse.Status {
        let known: [HTTPResponse.Status] = [
            .badRequest, .forbidden, .notFound, .conflict, .gone, .badGateway, .serviceUnavailable,
        ]
        return known.first { $0.code == code } ?? .internalServerError
    }

    var reply: Reply {
        var members = JSONMembers()
        members.add("type", "about:blank")
        members.add("title", status.reasonPhrase)
        members.add("status", status.code)
        members.add("detail", detail)
        members.add("code", code)
        if !hints.isEmpty { members.add("hints", hints) }
        if needsUser { members.add("needs_user", true) }
        members.add("retry_after", retryAfter)
        if !logins.isEmpty { members.add("logins", logins.map(\.description)) }
        var reply = Reply(status, "application/problem+json", .text(members.text + "\n"))
        if let retryAfter { reply.fields[.retryAfter] = String(retryAfter) }
        if !allow.isEmpty { reply.fields[.allow] = allow.map(\.rawValue).joined(separator: ", ") }
        reply.closes = closes
        return reply
    }
}
