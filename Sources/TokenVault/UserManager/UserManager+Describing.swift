import VaultStorage

extension UserManager {
    /// Changes or removes the label of a login. Nothing else about it changes, even if it is dead or ended.
    ///
    /// - Parameters:
    ///   - label: At most 1 024 bytes; nil removes it.
    ///   - login: The login.
    @discardableResult
    public func setLabel(_ label: String?, of login: LoginRef) async throws -> Login {
        let label = try ArgumentCheck.label(label)
        return try await describe(login, what: "label") { $0.label = label }
    }

    /// Keeps values of the app with a login: sealed, listed with it, and a way to find it
    /// (``LoginFilter/metadata``). They stay when the user logs in again into it.
    ///
    /// ```swift
    /// try await users.setMetadata(["connection": "42", "draft": nil], of: .login(login.id))
    /// ```
    ///
    /// They are read with every token, so they are bounded: up to 16, with names of 1 to 64 bytes, and 4 KiB in all.
    /// They are no place for secrets: listings show them.
    ///
    /// - Parameters:
    ///   - changes: Values to be set; nil removes one. Those that are not named stay.
    ///   - login: The login.
    @discardableResult
    public func setMetadata(_ changes: [String: String?], of login: LoginRef) async throws -> Login {
        try await describe(login, what: "metadata") { session in
            var metadata = session.metadata
            for (name, value) in changes { metadata[name] = value }
            session.metadata = try ArgumentCheck.metadata(metadata)
        }
    }

    private func describe(
        _ login: LoginRef, what: String, _ change: @escaping @Sendable (inout SessionRecord) throws -> Void
    ) async throws -> Login {
        let updated = try await vault.change(names.login(login)) { state in
            let before = state.session
            try change(&state.session)
            if state.session != before {
                state.auditEvents.append(AuditEvent(.loginDescribed, [.init(AuditEvent.Detail.Key.what, what)]))
            }
            return state
        }
        return names.plain(await vault.describe(updated))
    }
}

extension AuditEvent.Detail.Key {
    /// The part of a login's description that was changed.
    static let what = "what"
}
