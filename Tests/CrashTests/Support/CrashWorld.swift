import Crypto
import DevAuthorizationServer
import Foundation
import OAuthClient
import TestSupport
import Testing
import TokenVault
import VaultAdministration
import VaultCrypto
import VaultStorage
import TokenVaultHTTP
import TokenVaultPostgreSQL

/// A real authorization server, and vaults for processes that come and go. The test is one of these processes.
final class CrashWorld: Sendable {
    let server: DevAuthorizationServer
    let directory: PrivateDirectory
    let transport = AsyncHTTPTransport(options: .init(allowsInsecureLoopback: true))

    init(_ configuration: AuthorizationServerConfiguration = .crashes) async throws {
        server = try await DevAuthorizationServer.start(configuration)
        directory = try PrivateDirectory(in: PrivateDirectory.fastParent)
    }

    static func with(_ body: (CrashWorld) async throws -> Void) async throws {
        let world = try await CrashWorld()
        do {
            try await body(world)
            await world.close()
        } catch {
            await world.close()
            throw error
        }
    }

    private func close() async {
        await transport.shutdown()
        await server.shutDown()
    }

    /// A new vault that knows a provider for each behaviour of the server.
    ///
    /// - Parameter address: The connection string of a vault on a server; nil: a file.
    func makeVault(_ name: String, on address: String? = nil) async throws -> CrashVault {
        let place = try CrashVault(directory.subdirectory(name), server: address)
        _ = try KeyFile.create(at: place.key)
        let vault = try await Vault.create(in: place.location, unlockedBy: .keyFile(place.key))
        for behaviour in ServerBehaviour.allCases {
            try await vault.addProvider(behaviour.registration(server))
        }
        await vault.close()
        return place
    }

    func users(_ vault: Vault, stallLimit: Duration? = nil) async throws -> UserManager {
        try await UserManager(
            vault: vault, transport: transport,
            options: UserManagerOptions(
                stallLimit: stallLimit, recoveryInterval: nil, retriesRevocationsInBackground: false))
    }

    /// A login with a grant of its own. Gives the grant's id at the server.
    @discardableResult
    func addLogin(_ users: UserManager, user: String, _ behaviour: ServerBehaviour) async throws -> (Login, String) {
        let key = behaviour.isBound ? DPoPKey.generate() : nil
        let grant = try #require(
            server.issueGrant(user: user, client: behaviour.rawValue, keyThumbprint: key?.thumbprint.rawValue))
        let login = try await users.addLogin(
            userId: user, provider: behaviour.rawValue, accessToken: try AccessToken(grant.accessToken),
            expiresAt: Date().addingTimeInterval(grant.expiresIn),
            refreshToken: try grant.refreshToken.map { try RefreshToken($0) }, dpopKey: key)
        return (login, grant.grant)
    }

    /// A login whose access token has run out. Gives the grant's id.
    func addExpiredLogin(_ users: UserManager, user: String, _ behaviour: ServerBehaviour) async throws -> String {
        let grant = try #require(server.issueGrant(user: user, client: behaviour.rawValue))
        _ = try await users.addLogin(
            userId: user, provider: behaviour.rawValue,
            refreshToken: try grant.refreshToken.map { try RefreshToken($0) })
        return grant.grant
    }

    func grant(_ id: String) throws -> GrantSummary {
        try #require(server.grants.first { $0.id == id })
    }
}

/// Where the files of one vault are.
struct CrashVault: Sendable {
    let directory: String
    private let server: String?
    /// The file's path, or the connection string.
    var vault: String { server ?? directory + "/vault.db" }
    private var state: String { directory + "/state" }
    var key: String { directory + "/vault.key" }
    var wal: String { vault + "-wal" }

    init(_ directory: String, server: String? = nil) {
        self.directory = directory
        self.server = server
    }

    var arguments: [String: String] { ["vault": vault, "key": key, "state": state] }

    var location: VaultLocation {
        get throws { try server.map { try .postgreSQL($0, stateDirectory: state) } ?? .sqlite(vault) }
    }

    func open(witness: String? = nil) async throws -> Vault {
        var witness = witness.map { VaultWitness($0) }
        witness?.begins = true
        return try await Vault.open(
            in: location, unlockedBy: .keyFile(key),
            options: VaultOptions(witness: witness, cachedLogins: Depth.cachedLogins))
    }

    var walBytes: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: wal)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }
}

extension TokenFingerprint {
    /// As the server shows it.
    static func of(_ secret: SecretBytes?) -> String? {
        secret?.string().map { of($0) }
    }
}
