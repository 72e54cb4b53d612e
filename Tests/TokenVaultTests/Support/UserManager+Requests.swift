import FoundationEssentials
import HTTPTypes
import OAuthClient

@testable import TokenVault

/// As an app that sends its requests by a client of its own, and keeps the token beside the request.
extension UserManager {
    @discardableResult
    func authorize(
        _ request: inout HTTPRequest, for login: LoginRef, _ tokenRequest: TokenRequest = TokenRequest()
    ) async throws -> VaultToken {
        let authorized = try await authorize(request, for: login, tokenRequest)
        guard let token = authorized.token else { throw VaultError(.conflict, "no token") }
        request = authorized.request
        return token
    }

    func authorize(_ request: inout HTTPRequest, with token: VaultToken) async throws {
        request = try await authorize(request, with: token).request
    }

    @discardableResult
    func read(
        _ response: HTTPResponse, to request: HTTPRequest, authorizedWith token: VaultToken, startedAt: Date? = nil,
        body: [UInt8]? = nil
    ) async -> ResourceReply {
        guard let target = try? target(of: request) else { return .final }
        return await AuthorizedRequest(request, to: target, PresentedToken(token), of: token, self)
            .outcome(of: response, startedAt: startedAt, body: body)
    }
}
