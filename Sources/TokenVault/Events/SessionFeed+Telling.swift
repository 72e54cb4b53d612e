import VaultStorage

extension SessionFeed {
    func tell(_ tellings: [SessionBook.Telling], _ state: inout State) {
        for telling in tellings {
            for number in state.index.numbers(for: telling) {
                guard let subscriber = state.subscribers[number], subscriber.wants(telling) else { continue }
                switch subscriber.sink {
                case .events(let mailbox):
                    if subscriber.knows(telling) { continue }
                    if case .stateChanged(let next) = telling.event.kind {
                        state.subscribers[number]?.told[telling.login]?.state = next
                    }
                    mailbox.put(telling.event)
                case .states:
                    guard case .stateChanged(let next) = telling.event.kind else { continue }
                    if case .login = subscriber.scope { tell(next, number, &state) }
                }
            }
        }
        // The states of users follow from those of their logins.
        guard tellings.contains(where: { if case .stateChanged = $0.event.kind { true } else { false } }) else {
            return
        }
        tellUsers(Set(tellings.map { UserKey($0.userID) }), &state)
    }

    private func tellUsers(_ users: Set<UserKey>, _ state: inout State) {
        for user in users {
            for number in state.index.numbers(user) {
                guard let subscriber = state.subscribers[number], case .states = subscriber.sink else { continue }
                let states = subscriber.user.map { state.book.states(ofUser: $0) } ?? []
                tell(SessionState.of(userWith: states, isLoggingIn: state.logIns[user] != nil), number, &state)
            }
        }
    }

    private func tell(_ next: SessionState, _ number: Int, _ state: inout State) {
        guard case .states(let mailbox, let last) = state.subscribers[number]?.sink, last != next else { return }
        state.subscribers[number]?.sink = .states(mailbox, last: next)
        mailbox.put(next)
    }

    /// - Parameter read: The login as it was read, where it has no subscriber.
    func tell(_ notice: SessionNotice, _ read: SessionPage?, _ state: inout State) {
        switch notice {
        case .logIns(let user, let count):
            state.logIns[user] = count > 0 ? count : nil
            tellUsers([user], &state)
        case .unusableToken(let login, let code):
            guard let page = state.book.pages[login] ?? read else { return }
            tell(
                [
                    SessionBook.Telling(
                        event: page.event(.error(code), at: now), login: login, user: page.user, userID: page.userID,
                        sequence: nil)
                ], &state)
        }
    }
}
