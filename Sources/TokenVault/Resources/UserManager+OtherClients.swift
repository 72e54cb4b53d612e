import FoundationEssentials
package import HTTPTypes
package import OAuthClient
import VaultStorage

/// For a server that hands tokens and proofs to programs which send their requests themselves.
extension UserManager {
    /// Records in the audit trail that a program was given this token. Durable when it returns.
    ///
    /// - Parameters:
    ///   - client: The program's name in the policy.
    ///   - user: The number of the system's user that it runs as.
    package func recordHandOut(of token: VaultToken, to client: String, user: UInt32) async throws {
        let details: [AuditEvent.Detail] = [
            .init("client", client), .init("uid", String(user)),
            .init(AuditEvent.Detail.Key.generation, String(token.generation)),
        ]
        try await vault.updateLogin(token.login.handle) { state in
            state.auditEvents.append(AuditEvent(.tokenHandedOut, details))
        }
    }

    /// Keeps the nonce that a resource server wants in the proofs of this login.
    package func learn(_ nonce: DPoPNonce, of login: LoginID, for request: HTTPRequest) throws {
        resourceServers.learn(
            nonce, for: .login(login), at: try target(of: request).origin, sent: { nil }, isRefused: nil)
    }

    /// The meaning of a reply that another program got for a request with a token of this login. See
    /// ``AuthorizedRequest/outcome(of:startedAt:body:)``.
    ///
    /// - Parameters:
    ///   - request: The request, with the header field `DPoP` that it had.
    ///   - token: A token of the login, of the type that was sent.
    package func outcome(
        of response: HTTPResponse, to request: HTTPRequest, with token: VaultToken
    ) async throws -> ResourceReply {
        await AuthorizedRequest(request, to: try target(of: request), PresentedToken(token), of: token, self)
            .outcome(of: response)
    }

    /// Whether the login has a newer token than one that was refused, or gets one now.
    ///
    /// - Parameter generation: That of the refused token.
    package func replaces(
        generation: Int, of login: LoginID, _ tokenRequest: TokenRequest
    ) async throws -> Bool {
        let token = try await accessToken(for: .login(login), tokenRequest)
        guard token.generation == generation else { return token.generation > generation }
        try await reportRejected(token)
        return try await accessToken(for: .login(login), tokenRequest).generation > generation
    }

    /// Whether a request may go to plain `http` on this machine.
    package var allowsInsecureLoopback: Bool { context.allowsInsecureLoopback }
}
