import FoundationEssentials
import HTTPTypes
import Hummingbird
import TokenVault
import TokenVaultHTTP

/// The service's work for its users: it fetches their data from the provider's API.
struct ProfileRoutes: Sendable {
    let users: UserManager
    let api: AuthorizingClient
    let sessions: BrowserSessions
    let apiURL: URL

    func add(to router: Router<BasicRequestContext>) {
        router.get("profile") { request, _ in try await profile(request) }
    }

    private func profile(_ request: Request) async throws -> Response {
        guard let user = sessions.session(of: request)?.user else {
            throw HTTPError(.unauthorized, message: "sign in first")
        }
        // Adds the token and, if needed, the proof; renews an expired token; retries once after a 401.
        let response = try await api.send(HTTPRequest(url: apiURL), for: .user(user))
        let body = try await response.body.collect(upTo: 1 << 20)
        if response.head.status == .unauthorized {
            // There was no new token to retry with, and the vault knows why.
            _ = try await users.accessToken(userId: user)
        }
        guard response.head.status == .ok else {
            throw HTTPError(.badGateway, message: "the API answered \(response.head.status.code)")
        }
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
