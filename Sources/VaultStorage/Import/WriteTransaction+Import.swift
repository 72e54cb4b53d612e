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
    /// The vault has a login of that account or with that refresh token, but it did not come from that row.
    case taken
}

extension WriteTransaction {
    /// Takes over a login, unless the user already has it.
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
        for login in logins {
            if let meeting = try meeting(of: login, user, meet) { return .known(login.columns.handle, meeting) }
        }
        if !damaged.isEmpty { return .damaged }
        guard let drafted else { return .absent }
        guard user.status == .active else { return .userDisabled }
        return .added(try insertLogin(drafted, of: user, index).handle)
    }

    private func meeting(
        of login: OpenLogin, _ user: OpenUser, _ meet: (inout LoginState) throws -> ImportMeeting?
    ) throws -> ImportMeeting? {
        var user = user
        var state = login.state(of: user, context, nextFence: try nextFence())
        guard let meeting = try meet(&state) else { return nil }
        let hasChanged = try apply(state, to: login, of: &user)
        if hasChanged {
            var tale = Tale()
            tale.add(
                state.auditEvents(since: login.session, login.intent, hasChanged: true, at: now()),
                of: login.columns.handle)
            try save(&user, telling: tale)
        }
        return meeting
    }
}
