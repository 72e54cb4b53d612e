import VaultCrypto

/// The outcome for a login of another system.
package enum ImportAnswer: Sendable, Equatable {
    case added(LoginHandle)
    /// The vault has no such login, and the caller did not ask to add it.
    case absent
    /// The user already has this login. The second value says what the body did with it.
    case known(LoginHandle, ImportMeeting)
    /// The user is disabled, so nothing is added.
    case userDisabled
    /// A login of the user cannot be opened: it may be this one.
    case damaged
}

/// The relation between a login of the vault and one of a source.
package enum ImportMeeting: Sendable, Equatable {
    /// The same row, with the tokens that the vault has already taken over.
    case unchanged
    /// The same row, with other tokens, which were taken over.
    case followed
    /// The same row, with older tokens.
    case older
    /// The same row, with other tokens, although the vault owns the chain.
    case renewedBySource
    /// The same row, but the vault has ended the login.
    case ended
    /// The vault has a login of that account, with that refresh token, or of that row under another source's name, but
    /// it did not come from that row.
    case taken
}

extension WriteTransaction {
    /// Takes over a login, unless the user already has it.
    ///
    /// No login gets a refresh token that another one of the user may spend: the provider would get it twice, and end
    /// the grant. The answer then is the other login, as ``ImportMeeting/taken``.
    ///
    /// - Parameters:
    ///   - drafted: The login to add if the vault does not have it; nil to add none.
    ///   - meet: Compares each login of the user and changes it if it is the same one; returns nil if it is a different
    ///     one.
    package func takeImported(
        ofUserId userId: String, _ drafted: DraftedLogin?, meeting meet: (inout LoginState) throws -> ImportMeeting?
    ) throws -> ImportAnswer {
        let index = try index(ofUserId: userId)
        guard let user = try loadUser(index) else {
            guard let drafted else { return .absent }
            return .added(try insertLogin(drafted, of: nil, index).handle)
        }
        let (logins, damaged) = try loadLogins(of: index, user)
        var taken: LoginHandle?
        for login in logins {
            var state = login.state(of: user, context, nextFence: try nextFence())
            switch try meet(&state) {
            case nil: continue
            // The row's own login may come after it.
            case .taken: taken = taken ?? login.columns.handle
            case let meeting?:
                if meeting == .followed, let other = logins.first(where: { $0.maySpendToken(of: state) }) {
                    return .known(other.columns.handle, .taken)
                }
                try store(state, over: login, of: user)
                return .known(login.columns.handle, meeting)
            }
        }
        if let taken { return .known(taken, .taken) }
        if !damaged.isEmpty { return .damaged }
        guard let drafted else { return .absent }
        guard user.status == .active else { return .userDisabled }
        return .added(try insertLogin(drafted, of: user, index).handle)
    }

    private func store(_ state: LoginState, over login: OpenLogin, of user: OpenUser) throws {
        var user = user
        guard try apply(state, to: login, of: &user) else { return }
        var tale = Tale()
        tale.add(
            state.auditEvents(since: login.session, login.intent, hasChanged: true, at: now()),
            of: login.columns.handle)
        try save(&user, telling: tale)
    }
}

extension OpenLogin {
    /// Whether the refresh token of an imported login is this login's, or one that it had and has replaced since.
    fileprivate func maySpendToken(of state: LoginState) -> Bool {
        guard let token = state.refresh?.refreshToken, columns.handle != state.handle,
            columns.provider == state.provider, session.isLiving
        else { return false }
        if refresh?.refreshToken == token || refresh?.hasReplaced(token) == true { return true }
        guard let tokens = state.session.origin?.tokens else { return false }
        return session.origin?.hasHad(tokens) == true
    }
}
