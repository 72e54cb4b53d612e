import VaultCrypto
import VaultSQLite
package import VaultStorage

extension Vault {
    /// Makes a new vault of a backup. Nothing is overwritten. If the process is killed, it leaves a whole vault or none.
    ///
    /// Since the backup was made, refresh tokens in it may have been spent, and servers answer a second use by ending the
    /// login. So every login is *held*: its access token is served for as long as it lasts, and no refresh token is sent
    /// before ``UserManager/acceptRestore(ofProvider:limit:)``. Users who were erased since are in the vault again: erase
    /// them again.
    ///
    /// - Parameters:
    ///   - backup: The backup's file, which stays as it is.
    ///   - path: Where the vault is to be.
    ///   - source: A key that opened the vault when the backup was made.
    ///   - options: How the key may be tried, and the clock.
    ///   - progress: Called now and then with how much has been copied, of how much.
    public static func restore(
        _ backup: String, to path: String, unlockedBy source: KeySource, options: VaultOptions = .init(),
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> RestoreReport {
        try await restore(backup, to: path, unlockedBy: source, options: options, evidence: .none, progress: progress)
    }

    /// The same with what is known of the time since the backup.
    package static func restore(
        _ backup: String, to path: String, unlockedBy source: KeySource, options: VaultOptions = .init(),
        evidence: RestoreEvidence, progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> RestoreReport {
        let (clock, policy, trustsFileSystem) = (options.clock, options.unlockingPolicy, options.trustsFileSystem)
        let source = try await source.resolved()
        let (outcome, facts) = try await VaultError.translating {
            try await BlockingLane.care.run {
                let file = try BackupFile(at: backup)
                let restoration = try Restoration(
                    of: file, to: path, trustsFileSystem: trustsFileSystem, evidence, clock: clock)
                let outcome = try restoration.run(by: try source.unlocker(), policy: policy, progress)
                return (outcome, BackupFacts(file.manifest, path: file.path))
            }
        }
        let vault = try await open(at: path, unlockedBy: source, options: options)
        let providers: Result<[HeldLogins], any Error>
        do { providers = .success(try await vault.heldLogins()) } catch { providers = .failure(error) }
        await vault.close()
        return RestoreReport(
            path: vault.path, backup: facts, incarnation: outcome.incarnation, droppedLogIns: outcome.droppedLogIns,
            droppedRenewals: outcome.droppedRenewals, providers: try providers.get())
    }

    /// How many logins of each provider there are, and how many of them a restore holds. Takes as long as it takes to
    /// count logins.
    public func heldLogins() async throws -> [HeldLogins] {
        try await VaultError.translating {
            let counts = try await store.heldCounts()
            var all: [HeldLogins] = []
            for (provider, count) in counts {
                guard let provider else {
                    all.append(HeldLogins(provider: nil, logins: count.logins, held: count.held, risk: .app))
                    continue
                }
                let record = try? await store.provider(provider).record
                all.append(
                    HeldLogins(
                        provider: record?.name ?? "damaged:\(provider.text)", logins: count.logins, held: count.held,
                        risk: record.flatMap { try? ReplayPolicy($0) }.map { HeldLogins.Risk($0) } ?? .ended))
            }
            return all.sorted { ($0.provider ?? "\u{10FFFF}") < ($1.provider ?? "\u{10FFFF}") }
        }
    }
}

extension HeldLogins.Risk {
    init(_ policy: ReplayPolicy) {
        if !policy.rotates {
            self = .none
        } else if policy.forgivesReuse {
            self = .refused
        } else {
            self = policy.harmsOtherLogins ? .allLoginsOfUser : .ended
        }
    }
}
