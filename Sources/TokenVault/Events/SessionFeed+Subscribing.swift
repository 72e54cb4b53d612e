import VaultStorage

/// What a scope looks like when a subscription to it begins.
struct FeedBeginning: Sendable {
    /// The last audit row before.
    let head: Int64
    var user: UserHandle?
    var pages: [SessionPage] = []

    /// Rows up to this one are in it.
    var asOf: Int64 { pages.map(\.asOf).reduce(head, max) }
}

extension SessionFeed {
    func subscribeToEvents(_ scope: FeedScope) -> FeedSubscription<SessionEvent> {
        let timeSource = timeSource
        let mailbox = Mailbox<SessionEvent>(
            limit: options.bufferLimit,
            overflow: .count { count in
                SessionEvent(.missed(count: count), login: nil, userID: nil, generation: nil, date: timeSource.now())
            })
        do {
            var beginning = try begin(scope)
            // What had come due before is told first, to this subscriber.
            var due: [SessionEvent] = []
            for index in beginning.pages.indices { due += beginning.pages[index].tellDue(now, options) }
            let greeting = due.sorted { $0.date < $1.date }
            var subscriber = FeedSubscriber(
                scope: scope, sink: .events(mailbox), user: beginning.user, from: beginning.asOf)
            for page in beginning.pages { subscriber.told[page.login] = page }
            let number = add(subscriber, beginning) { for event in greeting { mailbox.put(event) } }
            return FeedSubscription(mailbox, self, number)
        } catch {
            let code = (VaultError.publicError(error) as? VaultError)?.code ?? .storageFailed
            if code != .closed {
                mailbox.put(
                    SessionEvent(.error(code), login: nil, userID: nil, generation: nil, date: timeSource.now()))
            }
            return FeedSubscription(mailbox, self, nil)
        }
    }

    /// States that a subscriber has not fetched. More than a login goes through between two looks.
    private static let mostStates = 64

    func subscribeToStates(_ scope: FeedScope) -> FeedSubscription<SessionState> {
        let mailbox = Mailbox<SessionState>(limit: Self.mostStates, overflow: .dropOldest)
        guard let beginning = try? begin(scope) else { return FeedSubscription(mailbox, self, nil) }
        let states = beginning.pages.map(\.state)
        let first =
            switch scope {
            case .user(let id): SessionState.of(userWith: states, isLoggingIn: isLoggingIn(id))
            case .login, .all: states.first ?? .notLoggedIn
            }
        let subscriber = FeedSubscriber(
            scope: scope, sink: .states(mailbox, last: first), user: beginning.user, from: beginning.asOf)
        return FeedSubscription(mailbox, self, add(subscriber, beginning) { mailbox.put(first) })
    }

    private func begin(_ scope: FeedScope) throws -> FeedBeginning {
        var beginning = FeedBeginning(head: try store.auditHead())
        let logins: [LoginHandle]
        switch scope {
        case .all: logins = []
        case .login(let login): logins = [login]
        case .user(let id):
            do throws(StoreError) {
                let user = try store.user(id)
                beginning.user = user.handle
                logins = user.logins
            } catch {
                guard error.code == .notFound(.user) else { throw error }
                logins = []
            }
        }
        for login in logins {
            guard let (stored, asOf) = try read(login) else { continue }
            beginning.pages.append(page(stored, asOf: asOf))
        }
        return beginning
    }
}
