import VaultCrypto
import VaultSQLite
import VaultStorage

/// Everything that the store's reading operations say, to be compared with what they said before an attack.
struct Readings: Sendable {
    struct Reading: Sendable, Equatable {
        /// Whose it is; `nil` if it belongs to no user.
        let user: String?
        let outcome: Outcome
    }

    enum Outcome: Sendable {
        case value(any Equatable & Sendable)
        case failure(StoreError)

        var error: StoreError? {
            if case .failure(let error) = self { error } else { nil }
        }
    }

    private(set) var all: [String: Reading] = [:]

    /// Reads what there is, and takes the pending log-ins, which can be read in no other way.
    ///
    /// - Parameter baseline: names the logins, users and entries that must be asked for also when no list shows them.
    init(of store: SQLiteVaultStore, expecting baseline: Readings? = nil, takesRequests: Bool = true) async {
        await readLists(store)
        for user in SampleVault.userIds {
            await note("session of \(user)", user) { () throws(StoreError) in try await store.session(.user(user)) }
            await note("user \(user)", user) { () throws(StoreError) in try await store.user(user) }
        }
        for (login, user) in (baseline?.logins ?? logins) {
            await note("session \(login)", user) { () throws(StoreError) in try await store.session(.login(login)) }
            await note("login \(login)", user) { () throws(StoreError) in try await store.login(login) }
        }
        for handle in (baseline?.entries(OutboxHandle.self) ?? entries(OutboxHandle.self)) {
            await note("outbox entry \(handle)", nil) { () throws(StoreError) in try await store.outboxEntry(handle) }
        }
        for handle in Set(baseline?.entries(ProviderHandle.self) ?? entries(ProviderHandle.self)) {
            await note("provider \(handle)", nil) { () throws(StoreError) in try await store.provider(handle) }
        }
        for (number, state) in SampleVault.requestStates.enumerated() where takesRequests {
            await noteRequest(number, state, store)
        }
    }

    private mutating func readLists(_ store: SQLiteVaultStore) async {
        // Their order hangs on row ids and instants that are of no weight.
        if let listings = try? await store.providers() {
            for listing in listings {
                await note("listed provider \(listing.handle?.text ?? "-")", nil) { () throws(StoreError) in
                    if let damage = listing.damage { throw damage }
                    return listing.provider
                }
            }
        }
        for name in SampleVault.providerNames {
            await note("provider \(name)", nil) { () throws(StoreError) in try await store.provider(named: name) }
        }
        await note("outbox", nil) { () throws(StoreError) in
            let listings = try await store.outbox(after: nil, limit: 100)
            if let damage = listings.lazy.compactMap(\.damage).first { throw damage }
            return listings.compactMap(\.entry).sorted { $0.handle.text < $1.handle.text }
        }
        await note("key slots", nil) { () throws(StoreError) in
            try await store.keySlots().sorted { $0.handle.text < $1.handle.text }.map(\.description)
        }
        if let listings = try? await store.logins(ofUser: nil, after: nil, limit: 1000) {
            for listing in listings {
                await note("listed login \(listing.handle)", listing.login?.userId) { () throws(StoreError) in
                    if let damage = listing.damage { throw damage }
                    return ListedLogin(listing)
                }
            }
        }
        if let listings = try? await store.users(after: nil, limit: 1000) {
            for listing in listings {
                await note("listed user \(listing.handle)", listing.user?.id) { () throws(StoreError) in
                    if let damage = listing.damage { throw damage }
                    return listing.user
                }
            }
        }
        if let entries = try? await store.auditEntries(after: 0, limit: 10_000) {
            for entry in entries {
                await note("audit \(entry.sequence)", nil) { () throws(StoreError) in
                    if let damage = entry.damage { throw damage }
                    return AuditFacts(entry)
                }
            }
        }
    }

    private mutating func note<T: Equatable & Sendable>(
        _ key: String, _ user: String?, _ read: () async throws(StoreError) -> T
    ) async {
        let outcome: Outcome
        do throws(StoreError) { outcome = .value(try await read()) } catch { outcome = .failure(error) }
        all[key] = Reading(user: user, outcome: outcome)
    }

    private mutating func noteRequest(_ number: Int, _ state: SecretBytes, _ store: SQLiteVaultStore) async {
        let outcome: Outcome
        do {
            outcome = .value(try await store.takeAuthorizationRequest(.unbound(state)))
        } catch let error as StoreError {
            outcome = .failure(error)
        } catch {
            outcome = .value("\(error)")
        }
        all["log-in request \(number)"] = Reading(user: nil, outcome: outcome)
    }

    // MARK: What there is

    /// Each login and whose it is.
    var logins: [LoginHandle: String] {
        var result: [LoginHandle: String] = [:]
        for reading in all.values {
            guard case .value(let value) = reading.outcome, let user = value as? StoredUser else { continue }
            for login in user.logins { result[login] = user.id }
        }
        return result
    }

    private func entries<H>(_: H.Type) -> [H] {
        all.values.flatMap { reading -> [H] in
            guard case .value(let value) = reading.outcome else { return [] }
            if let list = value as? [StoredOutboxEntry] { return list.compactMap { $0.handle as? H } }
            if let provider = value as? StoredProvider { return [provider.handle as? H].compactMap(\.self) }
            return []
        }
    }
}

extension Readings.Outcome: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.value(let left), .value(let right)): isEqual(left, right)
        case (.failure(let left), .failure(let right)): left == right
        default: false
        }
    }

    private static func isEqual<T: Equatable>(_ left: T, _ right: any Equatable) -> Bool { right as? T == left }
}

/// What a list tells of a login.
private struct ListedLogin: Equatable, Sendable {
    let userId: String?
    let provider: ProviderHandle?
    let position: ChainPosition?
    let facts: [String]
    let session: SessionRecord?

    init(_ listing: LoginListing) {
        let login = listing.login
        userId = login?.userId
        provider = login?.provider
        position = login?.position
        session = login?.session
        facts = [
            "\(listing.userHandle?.text ?? "-")", "\(login?.revision ?? -1)", "\(login?.incarnation ?? -1)",
            "\(login?.isHeld ?? false)", "\(login?.isRefreshable ?? false)", "\(login?.isDPoPBound ?? false)",
            "\(login?.dueAt?.milliseconds ?? -1)", "\(login?.intent?.fence ?? -1)",
            "\(login?.intent?.tries ?? -1)",
        ]
    }
}

/// What a list tells of an audit row.
private struct AuditFacts: Equatable, Sendable {
    let facts: [String]
    let detail: [AuditEvent.Detail]

    init(_ entry: AuditEntry) {
        facts = [
            "\(entry.sequence)", "\(entry.time.milliseconds)", entry.kind.name, entry.user?.text ?? "-",
            entry.login?.text ?? "-", entry.provider?.text ?? "-", "\(entry.revision ?? -1)",
        ]
        detail = entry.detail
    }
}
