import VaultCrypto

extension Reader {
    /// Logins that are held by their import source, in the order of their rows. The query uses plaintext columns alone:
    /// they are authenticated when the login itself is read.
    ///
    /// - Parameter row: ``HeldPage/next`` of the previous page; nil for the first.
    package func loginsHeldBySource(
        of provider: ProviderHandle?, after row: Int64?, limit: Int
    ) throws(StoreError) -> HeldPage {
        try heldPage(provider == nil ? .imported : .importedOfProvider, after: row, limit) { rows in
            rows.bind(3, VaultContext.importedIncarnation)
            if let provider { rows.bind(4, provider.bytes) }
        }
    }
}

extension Query {
    private static let columns = Table.login.columns("id", "handle")
    private static let isImported: [Condition] = [
        .greater(Table.login["id"], 1), .equal(Table.login["incarnation"], 3),
    ]

    fileprivate static let imported = select(
        columns, from: .login, where: isImported, order: [.up(Table.login["id"])], limit: 2)

    fileprivate static let importedOfProvider = select(
        columns, from: .login, where: isImported + [.equal(Table.login["provider"], 4)],
        order: [.up(Table.login["id"])], limit: 2)
}
