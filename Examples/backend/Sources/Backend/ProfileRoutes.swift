import FoundationEssentials
import HTTPTypes
import Hummingbird
import OAuthClient
import TokenVault
import TokenVaultHTTP

/// The service's work for its users: it fetches their data from the provider's API.
struct ProfileRoutes: Sendable {
    let users: UserManager
    let api: AuthorizingClient
    let sessions: BrowserSessions
    let cookies: Cookies
    let apiURL: URL

    func add(to router: Router<BasicRequestContext>) {
        router.get("profile") { request, _ in try await profile(request) }
    }

    private func profile(_ request: Request) async throws -> Response {
        guard let login = sessions.session(of: cookies.session(of: request))?.login else {
            return Answer.json(.unauthorized, ["error": "no session", "go_to": "/login"])
        }
        do {
            // Adds the token and, if needed, the proof; renews an expired token; retries once after a 401.
            let response = try await api.send(HTTPRequest(url: apiURL), for: .login(login))
            let body = try await response.body.collect(upTo: 1 << 20)
            if response.head.status == .unauthorized {
                // There was no new token to retry with, and the vault knows why.
                _ = try await users.accessToken(for: .login(login))
            }
            guard response.head.status == .ok else {
                return Answer.json(.badGateway, ["error": "the API answered \(response.head.status.code)"])
            }
            return Response(
                status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
        } catch let error as VaultError {
            return Answer.error(error)
        } catch let error as HTTPTransportError {
            return Answer.json(.badGateway, ["error": "the API cannot be reached", "reason": "\(error.code)"])
        }
    }
}
