import FoundationEssentials
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OAuthClient
import Synchronization
import Testing
import TokenVault
import TokenVaultHummingbird
import TokenVaultTesting

/// A service with the routes, a vault of its own and a scripted provider. Its sessions are a header, `Authorization`.
struct World {
    let time = ManualTimeSource()
    let temporary: TemporaryVault
    let transport = ScriptedTransport()
    let users: UserManager
    let routes: VaultRoutes<BasicRequestContext>

    init(
        _ providers: KeyValuePairs<String, String> = ["acme": "https://app.example/callback"],
        scopedTo tenant: Tenant? = nil, _ change: (inout VaultRoutes<BasicRequestContext>) -> Void = { _ in }
    ) async throws {
        temporary = try await TemporaryVault(in: .memory, timeSource: time)
        for (name, _) in providers { try await temporary.vault.addProvider(Sample.provider(name: name), of: tenant) }
        transport.fallback = .freshTokens()
        let all = try await UserManager(vault: temporary.vault, transport: transport, options: .deterministic)
        users = tenant.map { all.scoped(to: $0) } ?? all
        var routes = try Self.routes(users, providers)
        change(&routes)
        self.routes = routes
    }

    static func routes(
        _ users: UserManager, _ providers: KeyValuePairs<String, String>
    ) throws -> VaultRoutes<BasicRequestContext> {
        let uris = try providers.map { (name: $0.key, uri: try RedirectURI($0.value)) }
        let session: @Sendable (Request, BasicRequestContext) async throws -> String? = { request, _ in
            request.headers[.authorization]
        }
        // A literal is the only way to make these pairs.
        return uris.count == 1
            ? try VaultRoutes(users: users, providers: [uris[0].name: uris[0].uri], signedIn: session)
            : try VaultRoutes(
                users: users, providers: [uris[0].name: uris[0].uri, uris[1].name: uris[1].uri], signedIn: session)
    }

    func serve(_ body: @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        let router = Router()
        routes.add(to: router)
        try await Application(router: router).test(.router, body)
    }

    func addLogin(_ user: String = "alice", provider: String = "acme", label: String? = nil) async throws -> Login {
        try await users.addLogin(
            userId: user, provider: provider, accessToken: Sample.accessToken(),
            expiresAt: time.now().addingTimeInterval(3_600), refreshToken: Sample.refreshToken(), label: label)
    }
}

/// Keeps cookies, as a browser does, and follows nothing by itself.
final class Browser: Sendable {
    private let client: any TestClientProtocol
    private let user: String?
    private let jar = Mutex<[(name: String, value: String)]>([])

    init(_ client: any TestClientProtocol, user: String? = "alice") {
        self.client = client
        self.user = user
    }

    var cookies: [String] { jar.withLock { $0.map(\.name) } }

    func take(_ cookies: [(name: String, value: String)]) { jar.withLock { $0 = cookies } }
    func give() -> [(name: String, value: String)] { jar.withLock { $0 } }

    func send(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        var headers = headers
        if let user { headers[.authorization] = user }
        let cookies = give()
        if !cookies.isEmpty { headers[.cookie] = cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ") }
        let response = try await client.execute(uri: path, method: method, headers: headers)
        for line in response.headers[values: .setCookie] {
            let pair = line.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let (name, value) = (String(pair[0]), String(pair[1]))
            jar.withLock { jar in
                jar.removeAll { $0.name == name }
                if !line.contains("Max-Age=0") { jar.append((name, value)) }
            }
        }
        return response
    }

    func get(_ path: String) async throws -> TestResponse { try await send(.get, path) }

    /// Begins a log-in, and returns its state.
    func begin(_ path: String = "/login") async throws -> String {
        let response = try await get(path)
        #expect(response.status == .seeOther, "\(response.text)")
        return try #require(response.headers[.location]?.parameter("state"))
    }
}

extension TestResponse {
    var text: String { String(buffer: body) }
}

extension String {
    /// A parameter of this URL that needs no decoding.
    func parameter(_ name: String) -> String? {
        split(separator: "?").last?.split(separator: "&").first { $0.hasPrefix("\(name)=") }
            .map { String($0.dropFirst(name.utf8.count + 1)) }
    }
}
