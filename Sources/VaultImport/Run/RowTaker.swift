import FoundationEssentials
import OAuthClient
import TokenVault
import VaultCrypto
import VaultStorage

/// Says of the rows of one run what is to be done with each, a batch at a time, and what the source no longer has.
struct RowTaker {
    /// Rows of one transaction.
    static let batch = 2_000

    private let vault: Vault
    private let source: String
    private let options: ImportRunOptions
    private var providers: [String: KnownProvider] = [:]
    /// The rows that were met in this run.
    private var names = NameSet()
    /// Whether the vault had logins of any source when the run began.
    private var hadImports: Bool?

    private struct KnownProvider {
        let handle: ProviderHandle?
        let clientID: String?
    }

    init(_ vault: Vault, source: String, _ options: ImportRunOptions) {
        self.vault = vault
        self.source = source
        self.options = options
    }

    mutating func begin() async throws {
        guard hadImports == nil else { return }
        _ = try ArgumentCheck.source(source)
        hadImports = try await vault.hasImports()
    }

    var writer: BatchWriter { BatchWriter(vault: vault, options: options) }

    /// Makes everything ready that needs no writing.
    mutating func prepare(_ batch: [RowOutcome]) async throws -> PreparedBatch {
        var rows: [ImportedRow?] = []
        var logins: [ImportedLogin] = []
        var places: [Int] = []
        for outcome in batch {
            switch try await judged(outcome) {
            case .done(let end): rows.append(ImportedRow(place: outcome.place, outcome: end, login: nil, row: outcome))
            case .login(let login):
                places.append(rows.count)
                logins.append(login)
                rows.append(nil)
            }
        }
        return PreparedBatch(
            outcomes: batch, rows: rows, places: places,
            logins: vault.prepareImported(logins, for: options.importPurpose))
    }

    private enum Judged {
        case done(ImportedRow.Outcome)
        case login(ImportedLogin)
    }

    private mutating func judged(_ outcome: RowOutcome) async throws -> Judged {
        let (planned, isUpdate): (PlannedLogin, Bool)
        switch outcome {
        case .login(let login), .dead(let login, isKept: true): (planned, isUpdate) = (login, false)
        case .update(let login, _): (planned, isUpdate) = (login, true)
        case .dead(let login, isKept: false):
            // A later row of its chain is a newer state of it, and the source has it.
            _ = names.insert(Self.name(of: login.source))
            return .done(.dead)
        case .duplicate: return .done(.duplicate)
        case .registration: return .done(.registration)
        case .part: return .done(.part)
        case .rejected(let reject): return .done(.rejected(reject.reason))
        }
        let name = Self.name(of: planned.source)
        let isKnown = !names.insert(name)
        let provider = try await provider(named: planned.provider)
        guard let handle = provider.handle else { return .done(.rejected(.unknownProvider)) }
        if let own = provider.clientID, let other = planned.source.clientID, own != other.rawValue {
            return .done(.rejected(.otherClient))
        }
        if isKnown, !isUpdate { return .done(.rejected(.ambiguousRow)) }
        if !isKnown, isUpdate { return .done(.rejected(.duplicateChain)) }
        return .login(ImportedLogin(planned, provider: handle, source: source, row: name))
    }

    /// What a row is known by at the next reading: the account, or what the source itself calls the row.
    private static func name(of login: SourceLogin) -> Bytes16 {
        ImportOrigin.hash(name: [
            login.provider, login.userKey, login.subject, login.subject == nil ? login.place.key ?? login.label : nil,
        ])
    }

    private mutating func provider(named name: String) async throws -> KnownProvider {
        if let known = providers[name] { return known }
        let target = try await vault.importTarget(named: name)
        let known = KnownProvider(handle: target?.provider, clientID: target?.clientID)
        providers[name] = known
        return known
    }

    /// After the last row: marks what the source no longer has, and records the reading.
    ///
    /// - Returns: How many logins are missing that were not before; nil for what only looks.
    func end(_ result: ImportResult) async throws -> Int? {
        guard options.purpose == .hold || options.purpose == .take else { return nil }
        let missing = hadImports == true ? try await markMissing() : 0
        guard !options.isRehearsal else { return missing }
        try await vault.record(
            SourceReading(
                date: vault.now.date, rows: result.rows, added: result[.added],
                followed: result[.followed] + result[.older],
                missing: missing),
            of: source)
        return missing
    }

    private func markMissing() async throws -> Int {
        var missing = 0
        var cursor: Int64?
        repeat {
            try Task.checkCancellation()
            let page = try await vault.ownedBySource(source, after: cursor, limit: Self.batch)
            cursor = page.next
            let gone = page.logins.filter { !names.contains($0.row) }.map { $0.login }
            missing += options.isRehearsal ? gone.count : try await vault.missImported(gone, from: source)
        } while cursor != nil
        return missing
    }
}

extension ImportedLogin {
    fileprivate init(_ planned: PlannedLogin, provider: ProviderHandle, source: String, row: Bytes16) {
        let login = planned.source
        self.init(userId: login.userKey, provider: provider, source: source, row: row)
        accessToken = login.accessToken
        tokenType = login.tokenType
        expiresAt = login.expiresAt
        // One that has expired cannot be sent: the login is used for as long as its access token lasts.
        refreshToken = planned.isRenewable ? login.refreshToken : nil
        refreshExpiresAt = login.refreshExpiresAt
        scope = login.scope
        idToken = login.idToken
        dpopKey = login.dpopKey
        label = login.label
        subject = login.subject
        attributes = login.attributes
        obtainedAt = login.obtainedAt
        resourceTokens = login.resourceTokens.map { ($0.target, $0.accessToken, $0.expiresAt) }
    }
}
