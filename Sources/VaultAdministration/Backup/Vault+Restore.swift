package import TokenVault
import VaultCrypto
import VaultSQLite
import VaultStorage

extension Vault {
    /// Makes a new vault from a backup. Nothing is overwritten. If the process is killed, it leaves a complete vault or
    /// none.
    ///
    /// Since the backup was made, refresh tokens in it may have been spent, and servers answer a second use by ending
    /// the login. So every login is *held*: its access token is served until it expires, and no refresh token is sent
    /// before ``acceptRestore(ofProvider:limit:)``. Users who were erased since are in the vault again: erase them
    /// again.
    ///
    /// A witness that the options name stays as it is, and refuses the new vault until
    /// ``acceptForWitness(at:unlockedBy:options:)``: the old one may still be in use.
    ///
    /// - Parameters:
    ///   - backup: The backup's file, which is not changed.
    ///   - path: The path of the new vault.
    ///   - source: A key that opened the vault when the backup was made.
    ///   - options: How the key may be tried, the clock, and the witness of the vault that was lost.
    ///   - evidence: Paths of files about the time since: witness logs (``VaultWitness/intentLog``), all that were
    ///   written since the backup was made, and exports of the audit trail. If every process has written the logs, only
    ///   logins whose refresh tokens may have been sent are held.
    ///   - progress: Called now and then with how much has been copied, of how much.
    package static func restore(
        _ backup: String, to path: String, unlockedBy source: KeySource, options: VaultOptions = .init(),
        evidence: [String] = [], progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> RestoreReport {
        let (clock, policy, trustsFileSystem) = (options.clock, options.unlockingPolicy, options.trustsFileSystem)
        let actor = options.actor?.kept
        let source = try await source.resolved()
        let (outcome, facts, known) = try await VaultError.translating {
            try await BlockingLane.care.run {
                let file = try BackupFile(at: backup)
                let (knowledge, moved) = try RestoreKnowledge.read(evidence, since: file.manifest)
                let restoration = try Restoration(
                    of: file, to: path, trustsFileSystem: trustsFileSystem, moved, by: actor, clock: clock)
                let outcome = try restoration.run(by: try source.unlocker(), policy: policy, progress)
                return (outcome, BackupView(file.manifest, path: file.path), knowledge)
            }
        }
        let vault = try await open(at: path, unlockedBy: source, options: options.withoutWitness)
        // The operator has chosen this backup.
        await vault.writePinIfNeeded()
        var knowledge = known
        let providers: Result<[HeldLogins], any Error>
        do { providers = .success(try await vault.heldLogins()) } catch { providers = .failure(error) }
        if let seen = await vault.lastRow(of: options.witness) {
            knowledge.lastSeenRow = max(knowledge.lastSeenRow ?? 0, seen)
        }
        await vault.close()
        return RestoreReport(
            path: vault.path, backup: facts, incarnation: outcome.incarnation, droppedLogIns: outcome.droppedLogIns,
            droppedRenewals: outcome.droppedRenewals, knowledge: knowledge, providers: try providers.get())
    }

    /// The last row that a witness has seen. Nil if the witness cannot be read; its next use reports that.
    private func lastRow(of witness: VaultWitness?) async -> Int64? {
        guard let keeper = try? witness?.stored else { return nil }
        let context = store.context
        return try? await BlockingLane.witness.run { try keeper.read(context)?.position.sequence }
    }

    /// How many logins each provider has, and how many of them a restore holds. Takes as long as counting the logins.
    package func heldLogins() async throws -> [HeldLogins] {
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
                        provider: await name(of: provider), logins: count.logins, held: count.held,
                        risk: record.flatMap { try? ReplayPolicy($0) }.map { HeldLogins.Risk($0) } ?? .ended))
            }
            return all.sorted { ($0.provider ?? "\u{10FFFF}") < ($1.provider ?? "\u{10FFFF}") }
        }
    }
}

extension Vault {
    /// Whether any login may be held since a restore. Logins are looked through only where one may be.
    package func holdsLogins() async throws -> Bool {
        guard store.context.incarnation > VaultContext.firstIncarnation else { return false }
        return try await VaultError.translating { try await store.mayHoldLogins() }
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
