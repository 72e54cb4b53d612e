import OAuthClient
package import TokenVault
import VaultCrypto
import VaultSQLite
package import VaultStorage

extension Vault {
    private static let mostOpenRenewals = 1_000

    /// Returns facts for finding out what is wrong with the vault. Sends nothing, changes nothing.
    package func diagnosis() async throws -> VaultDiagnosis {
        try await VaultError.translating { try await diagnose() }
    }

    private func diagnose() async throws -> VaultDiagnosis {
        let statistics = try await store.statistics()
        let page = try await store.openIntents(after: nil, limit: Self.mostOpenRenewals)
        var openRenewals: [OpenRenewal] = []
        for intent in page.intents {
            let session = try? await store.session(.login(intent.login)).session
            openRenewals.append(openRenewal(intent.record, of: intent.login, cause: session?.doubtCause))
        }
        return VaultDiagnosis(
            status: statistics, openRenewals: openRenewals,
            hasMoreOpenRenewals: page.next != nil,
            files: store.files().map { VaultDiagnosis.File($0) }, spool: spoolDiagnosis(),
            ownsItsLock: store.ownsItsLock)
    }

    /// Returns the condition of a login and the next step for it. Sends nothing, changes nothing.
    ///
    /// - Parameters:
    ///   - id: The login.
    ///   - stallLimit: After how long a renewal of another process counts as stalled; nil for the default of
    ///   ``UserManagerOptions/stallLimit``.
    package func diagnosis(of id: LoginID, stallLimit: Duration? = nil) async throws -> LoginDiagnosis {
        let stored = try await VaultError.translating { try await store.login(id.handle) }
        let renewal = stored.intent.map { openRenewal($0, of: stored.handle, cause: stored.session.doubtCause) }
        let limit = if let stallLimit { stallLimit } else { await self.stallLimit(of: stored.provider) }
        return await LoginDiagnosis(
            login: describe(stored), renewal: renewal,
            nextStep: nextStep(of: stored, renewal?.owner, stallLimit: limit))
    }

    /// The files of a vault on disk, with their problems. Needs no key, and opens none of them: for a vault that cannot
    /// be opened.
    ///
    /// - Parameters:
    ///   - path: The vault's file.
    ///   - trustsFileSystem: As ``VaultOptions/trustsFileSystem``.
    package static func files(at path: String, trustsFileSystem: Bool = false) -> [VaultDiagnosis.File] {
        SQLiteVaultStore.files(at: path, trustsFileSystem: trustsFileSystem).map { VaultDiagnosis.File($0) }
    }

    /// The server that holds the vault; nil for a file.
    package func server() async throws -> (version: String, standby: EngineReport.Standby)? {
        let facts = try await VaultError.translating {
            try await store.read { reader throws(StoreError) in try reader.tables.facts() }
        }
        return facts.standby.map { (facts.version, $0) }
    }

    /// The version of the linked SQLite library.
    package static var sqliteVersion: String { SQLiteLibrary.version }

    /// The version of the linked libsodium.
    package static var libsodiumVersion: String { Sodium.version }

    /// The schema versions that can be opened: the newest directly, older ones after a migration.
    package static var schemaVersions: ClosedRange<Int> { SQLiteVaultStore.schemaVersions }

    /// As ``EngineReport/canLoseCommits``, for a vault that cannot be opened.
    package static var isSQLiteAffectedByWALReset: Bool { SQLiteLibrary.isAffectedByWALReset }

    private func openRenewal(_ intent: IntentRecord, of login: LoginHandle, cause: UInt8?) -> OpenRenewal {
        let owner = ownerInWords(of: intent)
        let doubt = intent.doubt(
            cause: cause, isAbandoned: (owner == .dead || owner == .nobody) && !isUnspent(intent.fence))
        return OpenRenewal(
            login: LoginID(login), owner: owner, startedAt: intent.startedAt.date,
            doubt: doubt.map { RenewalDoubt(since: $0.since.date, cause: $0.cause) }, tries: intent.tries)
    }

    private func ownerInWords(of intent: IntentRecord) -> OpenRenewal.Owner {
        if intent.owner == IntentRecord.nobody { return .nobody }
        guard intent.owner != store.owner else { return owner(of: intent) == .working ? .thisProcess : .nobody }
        return owner(of: intent) == .working ? .otherProcess : .dead
    }

    private func nextStep(
        of stored: StoredLogin, _ owner: OpenRenewal.Owner?, stallLimit: Duration
    ) async -> LoginDiagnosis.NextStep {
        let obstacle = RenewalRefusal(stored, now: now)
        switch obstacle {
        case .userDisabled: return .enableUser
        case .terminated: return .logIn
        case .held: return .acceptRestore
        case .heldBySource: return .acceptImport
        case .needsUser: return .userMustAct
        case .dead: return .setTokenOrLogIn
        default: break
        }
        switch owner {
        case .thisProcess, .otherProcess:
            let age = stored.intent.map { now.since($0.startedAt) } ?? .zero
            // The limit that its process has set for the app is unknown here; this is the usual one.
            let thinking = stored.intent?.isAsking == true ? UserManagerOptions.usualHandlerTimeLimit : .zero
            return age >= stallLimit + thinking ? .takeOverStalled : .waitForRenewal
        case .dead: return .recover
        case .nobody:
            if let replay = await replay(of: stored), replay == .never {
                return .useToken(until: stored.session.expiresAt?.date)
            }
            return .sendAgain(notBefore: stored.session.notBefore.flatMap { $0 > now ? $0.date : nil })
        case nil: break
        }
        if stored.isRefused, let refusal = stored.session.lastRefusal, ProviderAnswer(refusal).isAboutClient {
            return .mendClient
        }
        if case .postponed(let until)? = obstacle { return .wait(until: until.date) }
        return stored.refresh?.refreshToken == nil ? .appSuppliesToken : .renewWhenNeeded
    }

    /// Whether the token of a resting intent may be sent again.
    private func replay(of stored: StoredLogin) async -> ReplayPolicy.Answer? {
        guard let intent = stored.intent, let provider = stored.provider,
            let policy = try? ReplayPolicy(await store.provider(provider).record)
        else { return nil }
        var hasOthers = false
        if policy.asksForOtherLogins {
            hasOthers = await hasOtherLogins(than: stored.handle, of: stored.userId, at: provider)
        }
        return policy.answer(
            .init(
                span(since: intent.doubtSince ?? intent.startedAt), tries: intent.tries, hasOtherLogins: hasOthers))
    }

    private func spoolDiagnosis() -> VaultDiagnosis.Spool {
        do throws(StoreError) {
            let listings = try store.spool.listings()
            let depth = try store.spool.depth()
            return VaultDiagnosis.Spool(
                entries: max(depth.entries, listings.count { $0.reply != nil }),
                tornEntries: listings.count { $0.damage == .torn },
                damagedEntries: listings.count { $0.reply == nil && $0.damage != .torn }, problem: nil)
        } catch {
            return VaultDiagnosis.Spool(entries: 0, tornEntries: 0, damagedEntries: 0, problem: error.message)
        }
    }
}

extension VaultDiagnosis.File {
    init(_ report: FileReport) {
        let role: Role =
            switch report.role {
            case .fileSystem: .fileSystem
            case .directory: .directory
            case .vault: .vault
            case .wal: .wal
            case .sharedMemory: .sharedMemory
            case .lock: .lock
            case .spool: .spool
            }
        self.init(
            role: role, path: report.path, mode: report.mode, problem: report.problem?.message,
            hint: report.problem?.hint, detail: report.detail)
    }
}
