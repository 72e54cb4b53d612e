import EngineSupport
import OAuthClient
import TestSupport
import TokenVaultTesting
import VaultStorage

import TokenVault

/// A process of its own, as far as renewals can tell, with a store that can fail.
struct FaultyProcess: Sendable {
    let store: FaultyStore
    let vault: Vault
    let users: UserManager
}

extension World {
    /// The same vault and owner, through a store that can fail.
    func faulty(
        spool: MemorySpools? = MemorySpools(), handler: RecordingHandler? = nil,
        options: UserManagerOptions = World.options
    ) async throws -> FaultyProcess {
        try await faulty(over: vault.store, spool, handler, options)
    }

    /// Another owner, through a store that can fail.
    func anotherFaulty(
        spool: MemorySpools? = MemorySpools(), options: UserManagerOptions = World.options
    ) async throws -> FaultyProcess {
        try await faulty(over: temporary.openAgain().store, spool, nil, options)
    }

    private func faulty(
        over base: any VaultStore, _ spool: MemorySpools?, _ handler: RecordingHandler?, _ options: UserManagerOptions
    ) async throws -> FaultyProcess {
        let store = FaultyStore(base, spool: spool)
        let vault = Vault(path: vault.path, store: store, timeSource: time, logger: logs.logger)
        let users = try await UserManager(
            vault: vault, transport: transport, refreshHandler: handler, options: options)
        return FaultyProcess(store: store, vault: vault, users: users)
    }

    /// A provider of which this is known, as a profile's file says it.
    static func provider(refresh: String) throws -> ProviderRegistration {
        var registration = Sample.provider()
        registration.profileDocument = Array(
            """
            {"profile":1,"name":"own","title":"Own","source":[{"url":"https://acme.example/","read":"2026-11-21"}],
            "refresh":\(refresh)}
            """.utf8)
        return registration
    }

    /// A process that has gone: nobody holds this byte of the lock file.
    var goneOwner: Int64 { vault.store.owner ^ 1 }

    /// What a killed process leaves behind: an intent whose owner's lock nobody holds.
    @discardableResult
    func leaveIntent(
        _ login: Login, owner: Int64? = nil, inDoubt: Bool = false, tries: Int = 1
    ) async throws -> Int64 {
        let now = vault.now
        let owner = owner ?? goneOwner
        return try await vault.store.updateLogin(login.id.handle) { state in
            let intent = state.openIntent(owner: owner, at: now, doubtSince: inDoubt ? now : nil, tries: tries)
            return intent.fence
        }
    }

    func stored(_ login: Login) async throws -> StoredLogin { try await vault.store.login(login.id.handle) }

    /// What the audit trail tells, in order, as `kind key=value …`, without which link of the chain it is about.
    func tale() async throws -> [String] {
        return try await vault.store.auditEntries(after: 0, limit: 10_000).map { entry in
            let details = entry.detail.filter { $0.key != "generation" }
            return ([entry.kind.name] + details.map { "\($0.key)=\($0.value)" }).joined(separator: " ")
        }
    }
}
