import DevAuthorizationServer
import EngineSupport
import TestSupport
import Testing
import VaultControl

/// A vault with a provider, and the provider's server.
final class World: Sendable {
    static let redirectURI = "http://127.0.0.1:9/callback"

    let harness: Harness
    let server: DevAuthorizationServer

    private init(_ harness: Harness, _ server: DevAuthorizationServer) {
        self.harness = harness
        self.server = server
    }

    /// Runs `body` with a new vault, provider `acme` and its server.
    static func with(
        _ configure: (inout AuthorizationServerConfiguration) -> Void = { _ in },
        provider options: [String] = [], vault: String? = nil, _ body: (World) async throws -> Void
    ) async throws {
        var configuration = AuthorizationServerConfiguration()
        configuration.secretMarker = Harness.marker
        configuration.clients = [RegisteredClient(id: "demo", redirectURIs: [redirectURI])]
        configure(&configuration)
        try await DevAuthorizationServer.withRunningServer(configuration) { server in
            let world = World(try Harness(server: vault), server)
            try await world.ok("init")
            // An option that is given twice is refused.
            let usual = [("--client-id", "demo"), ("--scope", "read"), ("--redirect-uri", redirectURI)]
            try await world.ok(
                ["provider", "add", "acme", "--issuer", server.issuer, "--allow-insecure-loopback"]
                    + usual.filter { !options.contains($0.0) }.flatMap { [$0.0, $0.1] } + options)
            try await body(world)
        }
    }

    /// Runs a command that must succeed.
    @discardableResult
    func ok(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> RunResult {
        try await ok(arguments, sourceLocation: sourceLocation)
    }

    @discardableResult
    func ok(
        _ arguments: [String], input: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RunResult {
        let revealing = arguments.contains("--reveal")
        let result = try await harness.run(
            arguments, input: input, revealing: revealing, sourceLocation: sourceLocation)
        #expect(result.status == 0, "\(arguments): \(result.error)", sourceLocation: sourceLocation)
        return result
    }

    /// Runs a command that must fail.
    @discardableResult
    func fails(
        _ status: VaultControl.ExitStatus, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RunResult {
        try await fails(status, arguments, sourceLocation: sourceLocation)
    }

    @discardableResult
    func fails(
        _ status: VaultControl.ExitStatus, _ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RunResult {
        let result = try await harness.run(arguments, sourceLocation: sourceLocation)
        #expect(result.status == status.rawValue, "\(arguments): \(result.error)", sourceLocation: sourceLocation)
        #expect(result.error.contains("vaultctl: error: "), sourceLocation: sourceLocation)
        return result
    }

    /// What an erasure ends with: a server keeps former bytes for a while, and that is said.
    static let statusOfErasure = TestEngine.isServer ? VaultControl.ExitStatus.partlyDone : .success

    /// Erases a user.
    @discardableResult
    func erase(_ user: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> RunResult {
        let result = try await harness.run("user", "erase", "--yes", "--", user)
        #expect(result.status == Self.statusOfErasure.rawValue, "\(result.error)", sourceLocation: sourceLocation)
        return result
    }

    /// Logs a user in through the browser, and returns the login's id.
    @discardableResult
    func logIn(_ user: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws
        -> String
    {
        let url = try await ok(
            ["login", "begin", "--user", user, "--provider", "acme", "--login-hint", user] + options,
            sourceLocation: sourceLocation
        ).line
        let callback = try await Browser.visit(url)
        return try await complete(callback, sourceLocation: sourceLocation).line
    }

    /// Logs a user in with an access token that has expired by now. What the server issues from here on lives for an hour,
    /// so that no test must be quick.
    @discardableResult
    func logInExpired(_ user: String) async throws -> String {
        server.setBehaviour(ClientBehaviour(accessTokenLifetime: .seconds(1)))
        let login = try await logIn(user)
        server.setBehaviour(ClientBehaviour(accessTokenLifetime: .seconds(3_600)))
        try await eventually(every: .milliseconds(200)) {
            try await ok("login", "show", login, "--json").json["state"] as? String == "tokenExpired"
        }
        return login
    }

    /// Brings the callback of a log-in.
    @discardableResult
    func complete(
        _ callback: String, _ options: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RunResult {
        try await ok(
            ["login", "complete", "--callback-url", "-"] + options, input: callback, sourceLocation: sourceLocation)
    }

    /// How often the token endpoint was asked to refresh.
    var refreshes: Int { server.log.tokenRequests().count }
}
