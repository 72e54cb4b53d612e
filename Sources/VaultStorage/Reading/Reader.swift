import VaultCrypto

/// A connection that only reads, with the hot statements ready. Used by one thread at a time.
final class Reader: @unchecked Sendable {
    let connection: Connection
    let context: VaultContext
    let opener: RowOpener
    let sessionsOfUser: Statement
    let sessionOfLogin: Statement

    /// - Parameter opened: a connection to the vault, to be taken over.
    init(_ context: VaultContext, _ opened: Connection? = nil) throws(StoreError) {
        self.context = context
        connection = if let opened { opened } else { try context.connect() }
        try connection.configure(isReader: true)
        sessionsOfUser = try connection.prepare(SQL.sessionsOfUser.text)
        sessionOfLogin = try connection.prepare(SQL.sessionOfLogin.text)
        do throws(VaultCryptoError) {
            opener = RowOpener(context: context, scratch: try CellScratch())
        } catch {
            throw StoreError(.outOfMemory, error.reason, hint: error.hint)
        }
    }

    /// Several statements that see one state of the vault. To be kept short: it holds up checkpoints.
    func withSnapshot<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        try connection.execute("BEGIN")
        defer { try? connection.execute("ROLLBACK") }
        return try body()
    }
}
