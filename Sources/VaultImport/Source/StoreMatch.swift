/// Finds the store in a container.
struct StoreMatch: Sendable {
    let description: StoreDescription
    let table: TableShape
    let links: [(link: StoreLink, table: TableShape)]
    let registrations: TableShape?
    let detection: StoreDetection

    static func find(in container: any TableContainer, _ plan: ImportPlan) throws(ImportError) -> StoreMatch {
        if plan.kind != nil, plan.kind != .canonical, !plan.columns.isEmpty {
            throw ImportError(
                .unfitPlan, "a map of columns makes the source canonical, and the plan names another kind",
                hint: "leave one of the two out")
        }
        var found: [(StoreDescription, TableShape)] = []
        for description in descriptions(plan) {
            for table in container.tables where fits(description, table, container, plan) {
                // A table of a known product is not read as canonical.
                if description.kind == .canonical, found.contains(where: { $0.1.name == table.name }) { continue }
                found.append((description, table))
            }
        }
        guard let (description, table) = found.first else { throw StoreAdvice(container, plan).error }
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
        if plan.userTable != nil, !description.links.contains(where: { $0.part == "user" }) {
            throw ImportError(
                .unfitPlan, "a table of users is given, and rows of the kind “\(description.kind)” refer to none",
                hint: "leave it out")
        }
        for link in description.links {
            if let linked = try Self.table(of: link, for: table, in: container, plan) { links.append((link, linked)) }
        }
        self.links = links
        registrations = description.registrations.flatMap { rule in
            let fitting = container.tables.filter {
                rule.tables.contains($0.foldedName) && rule.needs.isSubset(of: $0.columns.folded)
            }
            return fitting.first { $0.schema == table.schema } ?? (fitting.count == 1 ? fitting.first : nil)
        }
        try Self.checkMap(table, container, plan)
        try Self.checkUserKey(description, table, links, plan)
        detection = StoreDetection(
            kind: description.kind, format: container.format, table: table.name.isEmpty ? nil : table.name,
            evidence: Self.evidence(description, table, links.map(\.1), registrations, container),
            unreadColumns: Self.unread(description, table, plan),
            accounts: container.format.hasConstraints ? description.accountsInTables : .allowed)
    }

    private static func descriptions(_ plan: ImportPlan) -> [StoreDescription] {
        // A map defines each column, whatever else the table looks like.
        guard plan.columns.isEmpty else { return [.canonical(plan)] }
        let all: [StoreDescription] = [
            .allauth, .authJS, .nextAuth3, .betterAuth, .springSecurity, .socialAuth, .authlib, .nango,
            .canonical(plan),
        ]
        return all.filter { plan.kind == nil || $0.kind == plan.kind }
    }

    private static func fits(
        _ description: StoreDescription, _ table: TableShape, _ container: any TableContainer, _ plan: ImportPlan
    ) -> Bool {
        if let name = plan.table, !table.isMeant(by: name) { return false }
        let columns = table.columns.folded
        let isJoined = description.joined.map { $0.isSubset(of: columns) } ?? false
        guard isJoined || description.needs.isSubset(of: columns) else { return false }
        guard description.excludes.isDisjoint(with: columns) else { return false }
        guard description.needsOne.isEmpty || !description.needsOne.isDisjoint(with: columns) else { return false }
        guard description.needsEach.allSatisfy({ !$0.isDisjoint(with: columns) }) else { return false }
        // Without its linked tables, such a row is meaningless.
        let isLinked = description.links.allSatisfy { link in
            link.missing != .accountMissing || isJoined
                || link.from.allSatisfy { columns.contains($0.column) }
                    && container.tables.contains { link.tables.contains($0.foldedName) }
        }
        return isLinked
    }

    /// Checks that the columns of a map exist. JSON Lines are exempt, because they may omit null values.
    private static func checkMap(
        _ table: TableShape, _ container: any TableContainer, _ plan: ImportPlan
    ) throws(ImportError) {
        if case .column(let name)? = plan.rowKey, table.columns[ColumnIndex.folded(name)] == nil {
            throw ImportError(
                .unfitPlan, "the source has no column “\(name)” for the key of its rows",
                hint: StoreAdvice.list("its columns are", table.columns.names))
        }
        guard container.format != .jsonLines else { return }
        let missing = StoreAdvice.missing(plan, in: table)
        guard missing.isEmpty else { throw StoreAdvice.error(of: missing, table) }
    }

    /// Checked before the first row: otherwise each row would be rejected.
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
        let name =
            switch plan.userKey {
            case .column(let name): " “\(name)”"
            case .email: " “email”"
            case .username: " “username”"
            case .primaryKey: ""
            }
        let users = links.first { $0.0.part == "user" }?.1
        let named = [table, users].compactMap(\.self).map { table in
            StoreAdvice.list(
                table.name.isEmpty ? "the columns are" : "“\(table.name)” has the columns", table.columns.names)
        }
        let noUsers = users == nil && description.links.contains { $0.part == "user" }
        throw ImportError(
            .unfitPlan, "the source has no column\(name) for the user key",
            hint: "choose another user key" + (noUsers ? ", or name the source's table of users; " : "; ")
                + named.joined(separator: "; "))
    }

    private static func evidence(
        _ description: StoreDescription, _ table: TableShape, _ links: [TableShape], _ registrations: TableShape?,
        _ container: any TableContainer
    ) -> [String] {
        let place = table.name.isEmpty ? "the records have" : "the table “\(table.name)” has"
        let isWhole = description.needs.isSubset(of: table.columns.folded)
        let needed = (isWhole ? description.needs : description.joined ?? []).union(description.needsEach.joined())
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
