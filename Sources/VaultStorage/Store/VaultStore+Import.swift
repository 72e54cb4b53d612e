extension VaultStore {
    /// Takes over logins of another system in one transaction; see ``WriteTransaction/takeImported(ofUserId:_:meeting:)``.
    /// The bodies get the number of the user.
    ///
    /// - Parameters:
    ///   - userIds: For each login the user.
    ///   - isRehearsal: Everything is done, and undone.
    package func takeImported(
        _ userIds: [String], isRehearsal: Bool, _ draft: @escaping @Sendable (Int) -> LoginDraft?,
        meeting: @escaping @Sendable (Int, inout LoginState) throws -> ImportMeeting?
    ) async throws -> [ImportAnswer] {
        do {
            return try await write { transaction in
                if userIds.count > 1 { try transaction.tables.expectManyChanges() }
                let answers = try userIds.enumerated().map { number, userId in
                    try transaction.takeImported(ofUserId: userId, { draft(number) }) { try meeting(number, &$0) }
                }
                if isRehearsal { throw Rehearsed(answers: answers) }
                return answers
            }
        } catch let rehearsed as Rehearsed {
            return rehearsed.answers
        }
    }

    /// Logins that are held by where they were imported from; nil: of every provider.
    package func loginsHeldBySource(
        of provider: ProviderHandle?, after row: Int64?, limit: Int
    ) async throws(StoreError) -> HeldPage {
        try await read { reader throws(StoreError) in
            try reader.loginsHeldBySource(of: provider, after: row, limit: limit)
        }
    }
}

/// Undoes what was done, and says what it was.
private struct Rehearsed: Error {
    let answers: [ImportAnswer]
}
