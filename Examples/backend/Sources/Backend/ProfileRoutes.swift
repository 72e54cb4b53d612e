import FoundationEssentials
import HTTPTypes
import Hummingbird
import TokenVault
import TokenVaultHTTP

/// The service's work for its users: it fetches their data from the provider's API.
struct ProfileRoutes: Sendable {
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
        let response = try await api.get(apiURL.absoluteString, for: .user(user))
        // There was no new token to retry with: the login may have ended.
        if let failure = response.renewalFailure { throw failure }
        let body = try await response.body.collect(upTo: 1 << 20)
        guard response.head.status == .ok else {
            throw HTTPError(.badGateway, message: "the API answered \(response.head.status.code)")
        }
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
