import FoundationEssentials
import HTTPTypes
import TokenVault

// The example of RequestsToAPIs.md: scripts/readme-check compares the two.
// snippet.show
struct TokenMiddleware: ClientMiddleware {
    let users: UserManager
    let login: LoginRef

    func intercept(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String,
        next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let canRepeat = body?.iterationBehavior != .single
        var (proofs, mayRenew) = (0, true)
        var authorized = try await users.authorize(request, for: login, baseURL: baseURL)
        while true {
            let startedAt = Date()
            let (response, reply) = try await next(authorized.request, body, baseURL)
            switch await authorized.outcome(of: response, startedAt: startedAt) {
            case .wantsNewProof where canRepeat && proofs < 5:
                proofs += 1
                authorized = try await authorized.again()
            case .refusedToken where mayRenew:
                mayRenew = false
                if let token = authorized.token { try await users.reportRejected(token) }  // throws if it is dead
                guard canRepeat else { return (response, reply) }
                authorized = try await users.authorize(request, for: login, baseURL: baseURL)
            case .needsStepUp(let challenge): throw challenge
            default: return (response, reply)
            }
        }
    }
}
// snippet.hide

// In the shape of swift-openapi-runtime, which is no dependency.

protocol ClientMiddleware: Sendable {
    func intercept(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String,
        next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?)
}

final class HTTPBody: Sendable {
    enum IterationBehavior {
        case single
        case multiple
    }

    let bytes: [UInt8]
    let iterationBehavior: IterationBehavior

    init(_ text: String, _ iterationBehavior: IterationBehavior = .multiple) {
        bytes = Array(text.utf8)
        self.iterationBehavior = iterationBehavior
    }
}
