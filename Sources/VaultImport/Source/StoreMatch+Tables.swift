extension StoreMatch {
    /// The linked table of the tokens' table: in its own schema, if there is one.
    static func table(
        of link: StoreLink, for tokens: TableShape, in container: any TableContainer, _ plan: ImportPlan
    ) throws(ImportError) -> TableShape? {
        if link.part == "user", let name = plan.userTable {
            let meant = container.tables.filter { $0.isMeant(by: name) && link.needs.isSubset(of: $0.columns.folded) }
            guard let first = meant.first(where: { $0.name == name }) ?? meant.first else {
                throw ImportError(
                    .unfitPlan, "the source has no table “\(name)” with a column “id”",
                    hint: StoreAdvice.list("its tables are", container.tables.map(\.name)))
            }
            guard meant.count == 1 || first.name == name else { throw several(meant, "the users") }
            return first
        }
        let fitting = container.tables.filter {
            link.tables.contains($0.foldedName) && link.needs.isSubset(of: $0.columns.folded)
        }
        for schema in [tokens.schema, nil] {
            for name in link.tables {
                let named = fitting.filter { $0.foldedName == name && (schema == nil || $0.schema == schema) }
                guard let first = named.first else { continue }
                guard named.count == 1 || schema != nil else { throw several(named, "what rows refer to") }
                return first
            }
        }
        return nil
    }

    private static func several(_ tables: [TableShape], _ what: String) -> ImportError {
        let names = tables.map { "“\($0.name)”" }.joined(separator: ", ")
        return ImportError(
            .severalStores, "several tables could hold \(what): \(names)",
            hint: "name the right one: --user-table TABLE")
    }

    // MARK: Columns that are not read

    /// Parts of names that indicate a token or its time.
    private static let words = [
        "token", "expires", "expiry", "expiration", "refresh", "jwt", "issuedat", "obtainedat", "validuntil",
    ]
    /// Tokens of other kinds, which apps store with users.
    private static let otherTokens = [
        "csrf", "reset", "confirm", "verif", "remember", "invit", "unlock", "session", "push", "device",
    ]

    /// Columns of the tokens' table that no field is read from, although their names suggest tokens or times.
    static func unread(_ description: StoreDescription, _ table: TableShape, _ plan: ImportPlan) -> [String] {
        let read = description.readColumns(plan)
        return table.columns.names.filter { name in
            let folded = ColumnIndex.folded(name)
            guard !read.contains(folded), name.utf8.count <= 64,
                name.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            else { return false }
            return words.contains { folded.contains($0) } && !otherTokens.contains { folded.contains($0) }
        }
    }
}

extension StoreDescription {
    /// The columns of the tokens' table that are used.
    fileprivate func readColumns(_ plan: ImportPlan) -> Set<String> {
        var paths = user.paths(for: plan.userKey) + user.primaryKey + provider + subject + clientID + accessToken
        paths += tokenType + expiresAt + refreshToken + refreshExpiresAt + scope + idToken + dpopKey + label
        paths += obtainedAt + rowKey + links.flatMap(\.from) + attributes.map(\.path)
        var columns = Set(paths.filter { $0.part.isEmpty }.map(\.column)).union(otherColumns).union(needs)
        if let joined { columns.formUnion(joined) }
        if case .column(let name)? = plan.rowKey { columns.insert(ColumnIndex.folded(name)) }
        return columns
    }
}
