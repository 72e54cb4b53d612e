import FoundationEssentials
import OAuthClient
import TokenVault
import VaultAdministration
import VaultCrypto
import VaultStorage

/// Plans the changes for the rows of one run, a batch at a time, and finds logins that the source no longer has.
struct RowPreparer {
    /// The maximum number of rows in a transaction.
    static let batch = 1_500

    private let vault: Vault
    private let source: String
    private let options: ImportRunOptions
    let screen: ProviderScreen
    /// Rows seen in this run.
    private var names = NameTable<Bytes16>()
    /// Rows that are left out: the source has them, and no other row is compared with them.
    private var leftOut = NameTable<Bytes16>()
    /// Whether most recently written rows were logins that the vault did not have.
    var isAdding = false
    /// Whether the vault had logins of any source when the run began.
    private var hadImports: Bool?

    init(
        _ vault: Vault, source: String, _ rules: [String: ProviderMap.Rule], _ options: ImportRunOptions
    ) {
        self.vault = vault
        self.source = source
        self.options = options
        screen = ProviderScreen(vault, of: options.tenant, rules)
    }

    mutating func begin() async throws {
        guard hadImports == nil else { return }
        _ = try ArgumentCheck.source(source)
        hadImports = try await vault.hasImports()
    }

    var writer: BatchWriter { BatchWriter(vault: vault, options: options) }

    /// Prepares everything that needs no writing.
    mutating func prepare(_ batch: [RowOutcome]) async throws -> PreparedBatch {
        var rows: [ImportedRow?] = []
        var logins: [ImportedLogin] = []
        var places: [Int] = []
        for outcome in batch {
            switch try await checked(outcome) {
            case .done(let end): rows.append(ImportedRow(place: outcome.place, outcome: end, login: nil, row: outcome))
            case .login(let login):
                places.append(rows.count)
                logins.append(login)
                rows.append(nil)
            }
        }
        return PreparedBatch(
            outcomes: batch, rows: rows, places: places,
            logins: vault.prepareImported(logins, for: options.importPurpose, areNew: isAdding))
    }

    private enum Checked {
        case done(ImportedRow.Outcome)
        case login(ImportedLogin)
    }

    private mutating func checked(_ outcome: RowOutcome) async throws -> Checked {
        switch outcome {
        case .login(let login), .dead(let login, isKept: true): return try await named(login, isUpdate: false)
        case .update(let login, _): return try await named(login, isUpdate: true)
        case .dead(let login, isKept: false):
            // A later row of its chain is a newer state of it, and the source has it.
            _ = leftOut.isKnown(RowName(login.source).hash)
            return .done(.dead)
        case .duplicate: return .done(.duplicate)
        case .registration(let registration):
            screen.note(registration)
            return .done(.registration)
        case .part: return .done(.part)
        case .rejected(let reject): return .done(.rejected(reject.reason))
        }
    }

    private mutating func named(_ planned: PlannedLogin, isUpdate: Bool) async throws -> Checked {
        guard let handle = try await screen.handle(named: planned.provider) else {
            return .done(.rejected(.unknownProvider))
        }
        let userId = options.tenant?.qualify(planned.source.userKey) ?? planned.source.userKey
        guard userId.utf8.count <= 1_024 else { return .done(.rejected(.malformedUser)) }
        let name = RowName(planned.source)
        var hash = name.hash
        var isKnown = false
        if name.isWeak, options.purpose == .take {
            // Nothing has to be followed, so the chain itself suffices as a name. A login that was held before has the
            // other one, and the source has it.
            _ = leftOut.isKnown(hash)
            hash = name.chainHash
            isKnown = names.isKnown(hash)
        } else {
            isKnown = names.isKnown(hash)
            if isKnown, !isUpdate, name.isWeak, options.purpose != .hold {
                hash = name.chainHash
                isKnown = names.isKnown(hash)
            }
        }
        if isKnown, !isUpdate { return .done(.rejected(.ambiguousRow)) }
        var login = ImportedLogin(planned, of: userId, provider: handle, source: source, row: hash)
        // The earlier row of its chain has another name, which identifies the login in the vault.
        login.isKnownByChain = name.isWeak || isUpdate && !isKnown
        login.exportedLogin = planned.source.place.key.flatMap { LoginID($0)?.handle }
        return .login(login)
    }

    /// After the last row: marks logins that the source no longer has, and records the reading.
    ///
    /// - Returns: The number of logins that are missing now and were not before; nil if the run only compares.
    func end(_ result: ImportResult) async throws -> Int? {
        guard options.purpose == .hold || options.purpose == .take else { return nil }
        let missing = hadImports == true ? try await markMissing() : 0
        guard !options.isRehearsal else { return missing }
        try await vault.record(
            SourceReading(
                date: vault.now.date, rows: result.rows, added: result[.added],
                followed: result[.followed] + result[.older] - result.superseded,
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
            let gone = page.logins.filter { !names.contains($0.row) && !leftOut.contains($0.row) }.map { $0.login }
            missing += options.isRehearsal ? gone.count : try await vault.missImported(gone, from: source)
        } while cursor != nil
        return missing
    }
}

/// The identity of a row across readings: the account, or the source's own key of the row.
struct RowName {
    private let login: SourceLogin

    init(_ login: SourceLogin) { self.login = login }

    /// The row's own key has priority over the id token's subject: the next row may have no id token.
    private var key: String? { login.ownSubject == nil ? login.place.key : nil }

    /// Whether only its tokens may distinguish it from another row of the user.
    var isWeak: Bool { login.subject == nil && key == nil }

    var hash: Bytes16 {
        ImportOrigin.hash(name: [
            login.provider, login.userKey, key == nil ? login.subject : nil, isWeak ? login.label : key,
        ])
    }

    /// The hash of a row that is identified by its chain.
    var chainHash: Bytes16 {
        ImportOrigin.hash(name: [
            login.provider, login.userKey, nil, nil, login.refreshToken?.reveal() ?? login.accessToken?.reveal(),
        ])
    }
}

extension ImportedLogin {
    fileprivate init(
        _ planned: PlannedLogin, of userId: String, provider: ProviderHandle, source: String, row: Bytes16
    ) {
        let login = planned.source
        self.init(userId: userId, provider: provider, source: source, row: row)
        accessToken = login.accessToken
        tokenType = login.tokenType
        expiresAt = login.expiresAt
        // An expired token cannot be sent: the login is used only until its access token expires.
        refreshToken = planned.isRenewable ? login.refreshToken : nil
        refreshExpiresAt = login.refreshExpiresAt
        scope = login.scope
        idToken = login.idToken
        dpopKey = login.dpopKey
        label = login.label
        resource = login.resource
        subject = login.subject
        attributes = login.attributes
        obtainedAt = login.obtainedAt
        resourceTokens = login.resourceTokens.map { ($0.target, $0.accessToken, $0.expiresAt) }
    }
}

/// A name without stored data. Names are hashes: none is zero.
extension Bytes16: NamedSlot {
    static var empty: Bytes16 { .zero }
    var isEmpty: Bool { firstWord == 0 }
    var hash: UInt64 { firstWord }
    func hasName(of other: Bytes16) -> Bool { self == other }
}

extension NameTable<Bytes16> {
    /// Records a name, and returns whether it was known before.
    fileprivate mutating func isKnown(_ name: Bytes16) -> Bool { meet(name) { _ in } != nil }
}
