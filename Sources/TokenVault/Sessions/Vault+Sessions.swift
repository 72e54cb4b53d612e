import VaultStorage

extension Vault {
    func sessionState(of login: LoginID) async throws -> SessionState {
        do throws(StoreError) {
            return SessionState(try await store.session(.login(login.handle)).session, now: now)
        } catch {
            guard error.code == .notFound(.login) else { throw VaultError(error) }
            return .notLoggedIn
        }
    }

    func sessionState(of userId: QualifiedUserID) async throws -> SessionState {
        let userId = userId.text
        let isLoggingIn = sessions.isLoggingIn(userId)
        let listings: [LoginListing]
        do throws(StoreError) {
            listings = try await store.logins(ofUser: userId, after: nil, limit: Self.mostLogins)
        } catch {
            guard error.code == .notFound(.user) else { throw VaultError(error) }
            return SessionState.of(userWith: [], isLoggingIn: isLoggingIn)
        }
        let now = now
        let states = listings.compactMap { $0.login.map { SessionState($0.session, now: now) } }
        // A damaged login does not affect the state of the user's others.
        if states.isEmpty, let damage = listings.compactMap(\.damage).first { throw VaultError(damage) }
        return SessionState.of(userWith: states, isLoggingIn: isLoggingIn)
    }

    func events(_ feed: FeedScope, _ names: TenantScope = .whole) -> SessionEvents {
        let sessions = sessions
        return SessionEvents({ sessions.subscribeToEvents(feed) }, names)
    }
}

// For vaultctl, which needs no provider to read states.
extension Vault {
    /// As ``UserManager/events(of:)``.
    package func events(login: LoginID?, userId: String?) -> SessionEvents {
        events(login.map { .login($0.handle) } ?? userId.map { .user($0) } ?? .all)
    }

    /// The last events of the audit trail, the oldest first. Events that follow from time alone are not recorded.
    package func pastEvents(login: LoginID?, userId: String?, limit: Int) async throws -> [SessionEvent] {
        let limit = limit.asPageLimit
        return try await VaultError.translating {
            let user = if let userId { try await store.user(userId).handle } else { nil as UserHandle? }
            var filter = AuditFilter()
            (filter.user, filter.login) = (user, login?.handle)
            var names: [UserHandle: String] = [:]
            var events: [SessionEvent] = []
            var end: Int64? = try await store.auditHead() + 1
            while let before = end, events.count < limit {
                let rows = try await store.audit(filter, .before(before), limit: 256)
                var page: [SessionEvent] = []
                for entry in rows.rows.reversed().map(\.entry) {
                    if login == nil, userId == nil, let event = entry.providerEvent { page.append(event) }
                    guard let row = SessionRow(entry) else { continue }
                    if names[row.user] == nil { names[row.user] = (try? await store.userId(of: row.user)) ?? "" }
                    var watched = WatchedLogin(before: row, userId: names[row.user] ?? "", nil)
                    page += watched.take(row, nil, sessions.options)
                }
                events.insert(contentsOf: page, at: 0)
                end = rows.next
            }
            return events.suffix(limit)
        }
    }
}
