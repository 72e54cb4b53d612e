import OAuthClient
import TokenVault
import TokenVaultHTTP

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
        let witness = options.text("witness").map {
            VaultWitness($0, isWrittenAtEveryCommit: options.text("witnessed") == "always")
        }
        return try await Vault.open(
            at: try options.required("vault"), unlockedBy: .keyFile(try options.required("key")),
            options: VaultOptions(witness: witness))
    }

    func close() async {
        await vault.close()
        await transport.shutdown()
    }
}

extension AsyncHTTPTransport.Options {
    static var loopback: Self { Self(allowsInsecureLoopback: true) }
}
