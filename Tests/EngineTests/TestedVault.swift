import TestSupport
import TokenVaultTesting
import VaultCrypto

@testable import VaultStorage

/// A vault that one engine keeps.
final class TestedVault {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)
    static let users = ["alice", "bob", "carol", "dave"]

    let name: String
    let engine: any TestedEngine
    let context: VaultContext
    private var head: WriteTransaction.AuditHead?
    private var logins: [LoginHandle] = []
    private var providers: [StoredProvider] = []
    private var replies = 0

    init(_ engine: some TestedEngine, manifestLimits: ManifestLimits = .standard) throws {
        self.engine = engine
        name = type(of: engine).name
        let draft = try VaultDraft(firstSlot: MemoryKey(), label: "test", now: Self.now)
        let context = draft.context(manifestLimits: manifestLimits) { Self.now }
        self.context = context
        try engine.write { try draft.fillWhole($0, context) }
    }

    /// One transaction, as an engine's writer runs it.
    func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        var transaction: WriteTransaction?
        let result = try engine.write { tables in
            let begun = try WriteTransaction(tables, context, committedHead: head)
            try begun.begin()
            transaction = begun
            return try body(begun)
        }
        transaction?.committed()
        head = transaction?.committedHead
        return result
    }

    func read<R>(_ body: (Reader) throws -> R) throws -> R { try body(Reader(engine.reader, context)) }

    func check() throws -> VerificationReport {
        try VaultCheck(engine.reader, context).run { _ in }
    }

    // MARK: Changes

    /// Gives whether there was something to change. What is refused changes nothing.
    func changeSomething(_ random: inout SeededGenerator) throws -> Bool {
        let user = Self.users[Int.random(in: 0..<Self.users.count, using: &random)]
        let login = logins.randomElement(using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3: try logIn(user, &random)
        case 3..<6: try login.map { try renew($0) }
        case 6: try login.map { try beginRenewal(of: $0) }
        case 7: try keepReply(of: login)
        case 8: try putProvider()
        case 9: try setStatus(of: user, Bool.random(using: &random) ? .disabled : .active)
        case 10: try addJournals()
        default:
            if let login, Bool.random(using: &random) { try remove(login) } else { try erase(user) }
        }
        return true
    }

    private func logIn(_ user: String, _ random: inout SeededGenerator) throws {
        var session = SessionRecord(
            state: .established, accessToken: SecretBytes(utf8: "access"), createdAt: Self.now, obtainedAt: Self.now,
            expiresAt: Self.now.advanced(by: .seconds(3600)))
        session.label = "label"
        let provider = providers.randomElement(using: &random)?.handle
        let draft = LoginDraft(
            userId: user, provider: provider, session: session,
            refresh: RefreshRecord(refreshToken: SecretBytes(utf8: "refresh")),
            key: Bool.random(using: &random) ? KeyRecord(dpopPrivateKey: SecretBytes(utf8: "key")) : nil,
            dueAt: Self.now)
        guard let login = try attempt({ try $0.insertLogin(draft) }) else { return }
        logins.append(login.handle)
        let read = try self.read { try $0.session(ofLogin: login.handle) }
        guard read.session.accessToken == session.accessToken else { throw StoreError(.damaged, "another token") }
    }

    private func beginRenewal(of login: LoginHandle) throws {
        try write { try $0.updateLogin(login) { _ = $0.openIntent(owner: 7, at: Self.now) } }
    }

    private func renew(_ login: LoginHandle) throws {
        try write { transaction in
            try transaction.updateLogin(login) { state in
                state.intent = nil
                state.position.generation += 1
                state.session.accessToken = SecretBytes(utf8: "access-\(state.position.generation)")
                state.refresh?.refreshToken = SecretBytes(utf8: "refresh-\(state.position.generation)")
            }
        }
    }

    private func keepReply(of login: LoginHandle?) throws {
        guard let login else { return }
        replies += 1
        let position = try read { try $0.login(login).position }
        try write { transaction in
            try transaction.keep(
                UnusableReplyRecord(
                    login: login, position: position, fence: 1, receivedAt: Self.now, status: 200,
                    contentType: nil, cause: "test", isComplete: true, body: [1, 2, 3]))
        }
    }

    private func putProvider() throws {
        let record = ProviderRecord(
            name: "provider-\(providers.count)", issuer: nil, tokenEndpoint: "https://as.example/token",
            clientID: "client", clientAuthentication: "none", profileName: "standard", createdAt: Self.now)
        if let stored = try attempt({ try $0.put(record, replacing: nil) }) { providers.append(stored) }
    }

    private func setStatus(of user: String, _ status: UserStatus) throws {
        _ = try attempt { transaction in
            try transaction.updateUser(user) { $0.status = status }
        }
    }

    private func addJournals() throws {
        let request = AuthorizationRequestRecord(
            state: SecretBytes(copying: SecureRandom.bytes(16)), codeVerifier: SecretBytes(utf8: "verifier"),
            provider: .random(), userId: "erin", createdAt: Self.now, expiresAt: Self.now.advanced(by: .seconds(600)))
        _ = try attempt { try $0.put(request) }
        let revocation = OutboxRecord(
            provider: .random(), login: nil, user: nil, refreshToken: SecretBytes(utf8: "orphan"), accessToken: nil,
            createdAt: Self.now)
        _ = try attempt { try $0.queue([revocation]) }
        _ = try attempt { try $0.claimObserver("mailer", by: 7, start: "0", head: "0") }
    }

    private func remove(_ login: LoginHandle) throws {
        try write { try $0.updateLogin(login) { $0.isRemoved = true } }
        logins.removeAll { $0 == login }
    }

    private func erase(_ user: String) throws {
        let erased = try attempt { transaction in
            try transaction.updateUser(user) { state in
                state.isErased = true
                return state.logins.map(\.handle)
            }
        }
        logins.removeAll { erased?.contains($0) == true }
    }

    /// `nil` if it was refused for what the vault holds.
    private func attempt<R>(_ body: (WriteTransaction) throws -> R) throws -> R? {
        do { return try write(body) } catch let error as StoreError {
            switch error.code {
            case .userDisabled, .notFound, .conflict: return nil
            default: throw error
            }
        }
    }

    // MARK: What there is

    /// How many rows each table has, and what the trail tells: alike on all engines, whatever handles were made up.
    func shape() throws -> [String] {
        // Each engine has a history of its own.
        let counts = try Table.allCases.filter { $0 != .migration }.map {
            "\($0.rawValue) \(try engine.reader.count($0))"
        }
        let kinds = try read { try $0.auditEntries(after: 0, limit: 10_000) }.map { "\($0.kind.rawValue)" }
        return counts + [kinds.joined(separator: " ")]
    }

    func keys(of table: Table) throws -> [Int64] {
        let rows = try engine.reader.cursor(.numbersFrom[table])
        defer { rows.reset() }
        rows.bind(1, .min)
        rows.bind(2, .max)
        var keys: [Int64] = []
        while try rows.step() { keys.append(rows.integer(0)) }
        return keys
    }

    // MARK: Tampering

    /// Whether the check finds that one value was changed. `nil` if the engine does not take the other value.
    func isFound(changing field: Table.Field, of table: Table, _ key: Int64) throws -> Bool? {
        guard
            let before = try engine.reader.rawRows(of: table, where: table.key, is: key).first?.columns
                .first(where: { $0.name == field.name })?.value
        else { return nil }
        let update = Query(.update(table, columns: [field.name], first: 2, where: [.equal(table[table.key], 1)]))
        func set(_ value: RawRow.Value) throws {
            try engine.write { tables in
                let cursor = try tables.cursor(update)
                cursor.bind(1, key)
                switch value {
                case .integer(let number): cursor.bind(2, number)
                case .blob(let bytes): cursor.bind(2, bytes)
                case .text(let bytes): cursor.bind(2, String(decoding: bytes, as: UTF8.self))
                case .null, .real: cursor.bindNull(2)
                }
                try cursor.run()
            }
        }
        do { try set(Self.other(before, field)) } catch let error as StoreError {
            guard error.code == .conflict else { throw error }
            return nil
        }
        let isFound = try !check().findings.isEmpty
        try set(before)
        return isFound
    }

    private static func other(_ value: RawRow.Value, _ field: Table.Field) -> RawRow.Value {
        switch value {
        case .integer(let number): return .integer(number + 1)
        case .text(let bytes): return .text(bytes + [0x78])
        case .blob(var bytes):
            guard let last = bytes.popLast() else { return .blob([1]) }
            return .blob(bytes + [last ^ 1])
        case .null, .real:
            switch field.type {
            case .integer: return .integer(1)
            case .text: return .text([0x78])
            case .bytes: return .blob([UInt8](repeating: 1, count: field.byteCount ?? 16))
            }
        }
    }
}
