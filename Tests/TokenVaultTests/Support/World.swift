import EngineSupport
import FoundationEssentials
import Logging
import OAuthClient
import TestSupport
import TokenVault
import TokenVaultTesting
import VaultAdministration
import VaultStorage

/// A real vault on disk, a provider made of a script, and a clock that stands still.
struct World: Sendable {
    let temporary: TestVault
    let time: ManualTimeSource
    let transport: ScriptedTransport
    let handler: RecordingHandler?
    let logs: LogSink
    let users: UserManager

    var vault: Vault { temporary.vault }
    var now: Date { time.now() }

    init(handler: RecordingHandler? = nil, provider: ProviderRegistration? = nil) async throws {
        time = ManualTimeSource()
        logs = LogSink()
        transport = ScriptedTransport()
        self.handler = handler
        temporary = try await TestVault(timeSource: time, options: VaultOptions(logger: logs.logger))
        try await temporary.vault.addProvider(provider ?? Sample.provider())
        users = try await UserManager(
            vault: temporary.vault, transport: transport, refreshHandler: handler, options: Self.options)
    }

    /// No jitter: a backoff is what it says.
    static let options = UserManagerOptions(recoveryInterval: nil, random: { 1 })

    /// A login with a refresh token, as it is right after it was made.
    @discardableResult
    func addChain(
        user: String = "alice", name: String = "1", lifetime: Duration = .seconds(3_600), dpopKey: DPoPKey? = nil
    ) async throws -> Login {
        try await users.addLogin(
            userId: user, provider: "acme", accessToken: Sample.accessToken(name),
            expiresAt: now.addingTimeInterval(lifetime / .seconds(1)), refreshToken: Sample.refreshToken(name),
            dpopKey: dpopKey)
    }

    /// A login that only the app can renew.
    @discardableResult
    func addPlainLogin(user: String = "alice", name: String = "1") async throws -> Login {
        try await users.addLogin(
            userId: user, accessToken: Sample.accessToken(name), expiresAt: now.addingTimeInterval(3_600))
    }

    /// The access token runs out.
    func expire() { time.advance(by: .seconds(3_601)) }

    /// Another process: its own connections, its own owner lock, its own manager.
    func anotherProcess(handler: RecordingHandler? = nil) async throws -> (vault: Vault, users: UserManager) {
        let vault = try await temporary.openAgain()
        let users = try await UserManager(
            vault: vault, transport: transport, refreshHandler: handler, options: Self.options)
        return (vault, users)
    }

    /// Returns when nothing waits to be revoked: what is revoked in the background takes its reply from the same script.
    func settleRevocations() async throws {
        while try await vault.status().pendingRevocations > 0, !Task.isCancelled { await Task.yield() }
    }

    /// Lets time pass whenever somebody waits for it.
    func withTimePassing<R: Sendable>(_ body: @Sendable () async throws -> R) async rethrows -> R {
        try await time.passing(body)
    }
}

extension ScriptedReply {
    /// Tokens of a generation, each a canary.
    static func generation(_ name: String, expiresIn: Int? = 3_600) -> ScriptedReply {
        .tokens(
            accessToken: Sample.marker + "access-" + name, refreshToken: Sample.marker + "refresh-" + name,
            expiresIn: expiresIn)
    }
}

extension VaultToken {
    /// The name that the sample was made with.
    var name: String { String(accessToken.reveal().dropFirst((Sample.marker + "access-").count)) }
}

/// The code of the error that `body` throws; nil if it throws none.
func code<R>(of body: () async throws -> R) async -> VaultError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? VaultError)?.code
    }
}
