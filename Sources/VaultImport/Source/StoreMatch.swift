/// Finds the store in a container.
struct StoreMatch: Sendable {
    let description: StoreDescription
    let table: TableShape
    let links: [(link: StoreLink, table: TableShape)]
    let registrations: TableShape?
    let detection: StoreDetection

    static func find(in container: any TableContainer, _ plan: ImportPlan) throws(ImportError) -> StoreMatch {
        var found: [(StoreDescription, TableShape)] = []
        for description in descriptions(plan) {
            for table in container.tables where fits(description, table, container, plan) {
                found.append((description, table))
            }
        }
        guard let (description, table) = found.first else { throw nothing(in: container, plan) }
        guard found.count == 1 else {
            let names = found.map { "\($0.0.kind) in \($0.1.name)" }.joined(separator: ", ")
            throw ImportError(
                .severalStores, "several stores are in the source: \(names)", hint: "name the kind and the table")
        }
        return try StoreMatch(description, table, container, plan)
    }

    private init(
        _ description: StoreDescription, _ table: TableShape, _ container: any TableContainer, _ plan: ImportPlan
    ) throws(ImportError) {
        self.description = description
        self.table = table
        var links: [(link: StoreLink, table: TableShape)] = []
        for link in description.links {
            if let table = try Self.table(of: link, in: container, plan) { links.append((link, table)) }
        }
        self.links = links
        registrations = description.registrations.flatMap { rule in
            container.tables.first {
                rule.tables.contains($0.foldedName) && rule.needs.isSubset(of: $0.columns.folded)
            }
        }
        try Self.checkUserKey(description, table, links, plan)
        detection = StoreDetection(
            kind: description.kind, format: container.format, table: table.name.isEmpty ? nil : table.name,
            evidence: Self.evidence(description, table, links.map(\.1), registrations, container),
            accounts: container.format.hasConstraints ? description.accountsInTables : .allowed)
    }

    private static func descriptions(_ plan: ImportPlan) -> [StoreDescription] {
        let all: [StoreDescription] = [
            .canonical(plan.columns), .allauth, .authJS, .betterAuth, .springSecurity, .socialAuth, .authlib, .nango,
        ]
        return all.filter { plan.kind == nil || $0.kind == plan.kind }
    }

    private static func fits(
        _ description: StoreDescription, _ table: TableShape, _ container: any TableContainer, _ plan: ImportPlan
    ) -> Bool {
        if let name = plan.table, name != table.name { return false }
        let columns = table.columns.folded
        let isJoined = description.joined.map { $0.isSubset(of: columns) } ?? false
        guard isJoined || description.needs.isSubset(of: columns) else { return false }
        guard description.excludes.isDisjoint(with: columns) else { return false }
        guard description.needsOne.isEmpty || !description.needsOne.isDisjoint(with: columns) else { return false }
        // Without its other tables, such a row says nothing.
        let isLinked = description.links.allSatisfy { link in
            link.missing != .accountMissing || isJoined
                || link.from.allSatisfy { columns.contains($0.column) }
                    && container.tables.contains { link.tables.contains($0.foldedName) }
        }
        return isLinked
    }

    private static func table(
        of link: StoreLink, in container: any TableContainer, _ plan: ImportPlan
    ) throws(ImportError) -> TableShape? {
        if link.part == "user", let name = plan.userTable {
            guard let table = container.tables.first(where: { $0.name == name }),
                link.needs.isSubset(of: table.columns.folded)
            else { throw ImportError(.unfitPlan, "the source has no table “\(name)” with a column “id”") }
            return table
        }
        return container.tables.first {
            link.tables.contains($0.foldedName) && link.needs.isSubset(of: $0.columns.folded)
        }
    }

    /// Before the first row: otherwise each of them would be rejected.
    private static func checkUserKey(
        _ description: StoreDescription, _ table: TableShape, _ links: [(StoreLink, TableShape)], _ plan: ImportPlan
    ) throws(ImportError) {
        let isThere = description.user.paths(for: plan.userKey).contains { path in
            if path.part.isEmpty { return table.columns[path.column] != nil }
            guard let link = links.first(where: { $0.0.part == path.part }) else {
                // Documents within rows are not known yet.
                return !description.links.contains { $0.part == path.part } && path.part != "user"
            }
            return link.1.columns[path.column] != nil
        }
        guard !isThere else { return }
        throw ImportError(
            .unfitPlan, "the source has no column for the user key",
            hint: "choose another user key, or name the source's table of users")
    }

    private static func nothing(in container: any TableContainer, _ plan: ImportPlan) -> ImportError {
        if let server = ServerStore.find(in: container.tables) {
            let place = server.table.isEmpty ? "the rows" : "the table “\(server.table)”"
            return ImportError(
                .serverStore, "\(place) belongs to \(server.product): it holds what that server has issued to others",
                hint: "logins are where your service is the client")
        }
        if let kind = plan.kind {
            return ImportError(
                .unknownStore, "the source has no table of the kind “\(kind)”",
                hint: "docs/import.md shows the columns by which each kind is known")
        }
        return ImportError(
            .unknownStore, "the source has no table of a known kind",
            hint: "docs/import.md shows how to make JSON Lines of any table")
    }

    private static func evidence(
        _ description: StoreDescription, _ table: TableShape, _ links: [TableShape], _ registrations: TableShape?,
        _ container: any TableContainer
    ) -> [String] {
        let place = table.name.isEmpty ? "the records have" : "the table “\(table.name)” has"
        let needed = description.needs.isSubset(of: table.columns.folded) ? description.needs : description.joined ?? []
        let names = table.columns.names.filter { needed.contains(ColumnIndex.folded($0)) }
        var evidence = ["\(place) the columns \(names.joined(separator: ", "))"]
        for link in links { evidence.append("rows of “\(link.name)” belong to it") }
        if let registrations { evidence.append("“\(registrations.name)” has client registrations") }
        if let server = ServerStore.find(in: container.tables) {
            evidence.append("“\(server.table)” is left alone: it belongs to \(server.product)")
        }
        return evidence
    }
}
