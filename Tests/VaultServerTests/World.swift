import AsyncHTTPClient
import FoundationEssentials
import HTTPTypes
import NIOCore
import NIOHTTP1
import OAuthClient
import Platform
import TestSupport
import Testing
import TokenVault
import TokenVaultTesting
import VaultServer

/// A server on a socket of its own, with a vault and a scripted provider.
struct World {
    let time = ManualTimeSource()
    let temporary: TemporaryVault
    let transport = ScriptedTransport()
    let users: UserManager
    let server: VaultServer
    let directory: PrivateDirectory
    let path: String
    private let serving = Box<Task<Void, any Error>?>(nil)

    /// A policy for whoever runs the tests.
    static func policy(_ lines: String) throws -> ServePolicy {
        try ServePolicy(
            """
            [[client]]
            name = "web"
            uid = \(UserID.current.number)
            \(lines)
            """)
    }

    static let everything = """
        verbs = ["*"]
        users = ["*"]
        providers = ["*"]
        scopes = ["*"]
        resources = ["*"]
        origins = ["*"]
        methods = ["*"]
        """

    init(
        _ policy: String = World.everything, _ change: (inout ServeOptions) -> Void = { _ in },
        provider: ProviderRegistration = Sample.provider(name: "acme")
    ) async throws {
        directory = try PrivateDirectory()
        path = directory.file("s")
        temporary = try await TemporaryVault(in: .memory, timeSource: time)
        try await temporary.vault.addProvider(provider)
        transport.fallback = .freshTokens()
        users = try await UserManager(vault: temporary.vault, transport: transport, options: .deterministic)
        var options = ServeOptions()
        change(&options)
        server = VaultServer(users: users, policy: try Self.policy(policy), options: options)
    }

    /// Runs the server as long as the body, and stops it then.
    func serve<R: Sendable>(_ body: @escaping @Sendable (Client) async throws -> R) async throws -> R {
        let socket = try ListeningSocket(replacing: path, permissions: 0o600, group: nil)
        let client = Client(path)
        let serving = Task { try await server.run(on: [("main", socket)]) }
        self.serving.value = serving
        let result: Result<R, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        try await client.end()
        serving.cancel()
        try await serving.value
        return try result.get()
    }

    /// As SIGTERM does.
    func stop() { serving.value?.cancel() }

    /// A login of alice by the browser, which has a key where the provider wants one.
    func logIn() async throws -> Login {
        let begun = try await users.beginLogIn(LogInRequest(userId: "alice", provider: "acme"))
        return try await users.completeLogIn(
            .url(transport.callback(for: begun)), boundTo: begun.binding
        ).login
    }

    func addLogin(
        _ user: String = "alice", provider: String = "acme", scope: String? = nil, expiresIn seconds: Double = 3_600
    ) async throws -> Login {
        try await users.addLogin(
            userId: user, provider: provider, accessToken: Sample.accessToken(user),
            expiresAt: time.now().addingTimeInterval(seconds), refreshToken: Sample.refreshToken(user),
            scope: scope.map { try Scope($0) })
    }
}

/// A program that speaks to the server.
final class Client: Sendable {
    private let http: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        // Also the time that a request may wait for one of a few connections, whose replies wait for a renewal.
        configuration.timeout.connect = .hours(1)
        return HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }()
    private let socket: String

    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let text: String

        var object: JSONObject? { try? JSONObject(document: Array(text.utf8)) }

        subscript(name: String) -> String? {
            switch object?[name] {
            case .string(let text): text
            case .number(let text): text
            case .bool(let flag): String(flag)
            default: nil
            }
        }
    }

    init(_ path: String) { socket = path.replacing("/", with: "%2F") }

    func end() async throws { try await http.shutdown() }

    func request(_ method: String, _ path: String, _ headers: [(String, String)] = []) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "http+unix://\(socket)\(path)")
        request.method = .init(rawValue: method)
        request.headers = HTTPHeaders([("Host", "tokenvault")] + headers)
        return request
    }

    func send(
        _ method: String, _ path: String, _ body: String? = nil, _ headers: [(String, String)] = []
    ) async throws -> Answer {
        var request = request(method, path, headers)
        if let body {
            if request.headers["Content-Type"].isEmpty {
                request.headers.add(name: "Content-Type", value: "application/json")
            }
            request.body = .bytes(ByteBuffer(string: body))
        }
        return try await answer(to: request)
    }

    func answer(to request: HTTPClientRequest) async throws -> Answer {
        let response = try await http.execute(request, timeout: .hours(1))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        return Answer(status: Int(response.status.code), headers: response.headers, text: text)
    }

    func post(_ path: String, _ body: String) async throws -> Answer { try await send("POST", path, body) }

    /// The lines of an answer that lasts.
    func stream(_ path: String, _ headers: [(String, String)] = []) async throws -> HTTPClientResponse {
        try await http.execute(request("GET", path, headers), timeout: .hours(1))
    }
}
