extension VaultStore {
    /// Seals logins that are added in one transaction later, without waiting for another.
    package func seal(_ drafts: [LoginDraft]) -> [DraftedLogin] {
        let sealer = LoginSealer(context)
        var logins = HandleSource<LoginSubject>()
        var users = HandleSource<UserSubject>()
        return drafts.map { DraftedLogin($0, logins.next(), of: users.next(), sealer) }
    }

    /// Takes over logins of another system in one transaction; see ``WriteTransaction/takeImported(ofUserId:_:meeting:)``.
    ///
    /// - Parameters:
    ///   - logins: The user of each login, and the draft to add if the vault does not have the login.
    ///   - isRehearsal: Whether everything is undone in the end.
    ///   - meeting: Receives the number of the login.
    package func takeImported(
        _ logins: [(userId: String, drafted: DraftedLogin?)], isRehearsal: Bool,
        meeting: @escaping @Sendable (Int, inout LoginState) throws -> ImportMeeting?
    ) async throws -> [ImportAnswer] {
        try await write(isRehearsal: isRehearsal) { transaction in
            if logins.count > 1 { try transaction.tables.expectManyChanges() }
            return try logins.enumerated().map { number, login in
                try transaction.takeImported(ofUserId: login.userId, login.drafted) { try meeting(number, &$0) }
            }
        }
    }

    /// Logins that are held by their import source, of one provider, or of every provider if nil.
    package func loginsHeldBySource(
        of provider: ProviderHandle?, after row: Int64?, limit: Int
    ) async throws(StoreError) -> HeldPage {
        try await read { reader throws(StoreError) in
            try reader.loginsHeldBySource(of: provider, after: row, limit: limit)
        }
    }
}
