import OAuthClient
import TestSupport
import TokenVault
import TokenVaultHTTP
import TokenVaultPostgreSQL

/// What a service has: the vault, its manager, and a real way to the network.
struct Service: Sendable {
    let vault: Vault
    let users: UserManager
    let transport: AsyncHTTPTransport

    init(_ options: Options, recovery: Duration? = nil) async throws {
        vault = try await Self.openVault(options)
        transport = AsyncHTTPTransport(options: .loopback)
        let limit = options.text("stall").flatMap { Int($0) }.map { Duration.milliseconds($0) }
        users = try await UserManager(
            vault: vault, transport: transport,
            options: UserManagerOptions(
                stallLimit: limit, recoveryInterval: recovery, retriesRevocationsInBackground: recovery != nil))
    }

    static func openVault(_ options: Options) async throws -> Vault {
        var witness = options.text("witness").map {
            VaultWitness($0, isWrittenAtEveryCommit: options.text("witnessed") == "always")
        }
        witness?.begins = true
        return try await Vault.open(
            in: location(options), unlockedBy: .keyFile(try options.required("key")),
            options: VaultOptions(witness: witness, cachedLogins: Depth.cachedLogins))
    }

    static func location(_ options: Options) throws -> VaultLocation {
        let place = try options.required("vault")
        return VaultLocation.isPostgreSQL(place)
            ? try .postgreSQL(place, stateDirectory: try options.required("state")) : .sqlite(place)
    }

    func close() async {
        await vault.close()
        await transport.shutdown()
    }
}

extension AsyncHTTPTransport.Options {
    static var loopback: Self { Self(allowsInsecureLoopback: true) }
}
