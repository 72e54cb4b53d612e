/// Explains why a container has no supported store, with advice.
struct StoreAdvice {
    private let container: any TableContainer
    private let plan: ImportPlan

    init(_ container: any TableContainer, _ plan: ImportPlan) {
        self.container = container
        self.plan = plan
    }

    var error: ImportError {
        let meant = plan.table.map { name in container.tables.filter { $0.isMeant(by: name) } } ?? container.tables
        if let nameless = nameless() { return nameless }
        if let name = plan.table, meant.isEmpty {
            return ImportError(
                .unknownStore, "the source has no table “\(name)”",
                hint: container.tables.allSatisfy(\.name.isEmpty)
                    ? "its rows are in no table: leave the table out"
                    : Self.list("it has", container.tables.map(\.name)))
        }
        if !plan.columns.isEmpty {
            let best = meant.min { Self.missing(plan, in: $0).count < Self.missing(plan, in: $1).count }
            if let best {
                let missing = Self.missing(plan, in: best)
                return missing.isEmpty ? Self.incomplete(best, plan) : Self.error(of: missing, best)
            }
        }
        if let server = ServerStore.find(in: container.tables) {
            let place = server.table.isEmpty ? "the rows" : "the table “\(server.table)”"
            return ImportError(
                .serverStore, "\(place) belongs to \(server.product): it holds what that server has issued to others",
                hint: "logins are where your service is the client")
        }
        if let known = stranger(meant) { return known }
        let map = meant.lazy.compactMap { Self.suggestion(for: $0) }.first
        if let kind = plan.kind {
            var free = plan
            free.kind = nil
            let other = (try? StoreMatch.find(in: container, free))?.description.kind
            let advice = other.map { "it has one of the kind “\($0)”" } ?? map
            return ImportError(
                .unknownStore, "the source has no table of the kind “\(kind)”",
                hint: advice.map { "leave the kind out; \($0)" }
                    ?? "docs/import.md lists the columns that identify each kind")
        }
        // They are not shown, as they may be tokens.
        if container.format == .csv, plan.header == nil,
            meant.contains(where: { $0.columns.names.contains { $0.hasPrefix(" ") || $0.hasSuffix(" ") } })
        {
            return ImportError(
                .unknownStore, "values in the first line of the CSV file begin or end with a blank",
                hint: "if they are the names of columns, take the blanks away, there and in the other lines")
        }
        let noHeader = container.format == .csv && plan.header == nil ? CSVContainer.missingHeader : nil
        guard let table = meant.first, meant.count == 1, !table.columns.names.isEmpty, noHeader == nil || map != nil
        else {
            return ImportError(
                .unknownStore, "the source has no table of a known kind",
                hint: map ?? noHeader ?? "docs/import.md shows how to make JSON Lines of any table")
        }
        let place = table.name.isEmpty ? "the rows are" : "the table “\(table.name)” is"
        let columns = Self.list("the columns are", table.columns.names)
        return ImportError(
            .unknownStore, "\(place) of no known kind",
            hint: map ?? "say which column is which: --map user=COLUMN,access_token=COLUMN; \(columns)")
    }

    // MARK: Maps

    /// The columns that a map names and a table lacks.
    static func missing(_ plan: ImportPlan, in table: TableShape) -> [String] {
        let columns = MappedColumns(plan.columns)
        return plan.columns.filter { member, _ in columns.names(member).isDisjoint(with: table.columns.folded) }
            .map(\.value).sorted()
    }

    static func error(of missing: [String], _ table: TableShape) -> ImportError {
        let place = table.name.isEmpty ? "the source" : "the table “\(table.name)”"
        let names = missing.map { "“\($0)”" }.joined(separator: ", ")
        return ImportError(
            .unfitPlan, "\(place) has no column \(names), which the map names",
            hint: list("its columns are", table.columns.names))
    }

    /// All columns of the map exist, but a login needs more.
    private static func incomplete(_ table: TableShape, _ plan: ImportPlan) -> ImportError {
        let description = StoreDescription.canonical(plan)
        let columns = table.columns.folded
        var lacking: [String] = []
        if let user = description.needsEach.first, user.isDisjoint(with: columns) { lacking.append("user") }
        if description.needsEach.dropFirst().contains(where: { $0.isDisjoint(with: columns) }) {
            lacking.append("provider")
        }
        if description.needsOne.isDisjoint(with: columns) { lacking.append("access_token or refresh_token") }
        return ImportError(
            .unfitPlan, "the map has no column for \(lacking.joined(separator: ", "))",
            hint: list("the columns are", table.columns.names))
    }

    /// Names from the source, as far as they are fit to show.
    static func list(_ words: String, _ names: [String]) -> String {
        let shown = names.prefix(40).map {
            String($0.unicodeScalars.prefix(64).filter { $0.value >= 0x20 }.map(Character.init))
        }
        return "\(words) \(shown.joined(separator: ", "))" + (names.count > 40 ? ", …" : "")
    }

    /// Usual column names of other tables, by member.
    private static let usual: [(member: String, names: [String])] = [
        ("user", ["user", "userid", "ownerid", "memberid", "customerid", "accountid", "userable", "useruuid"]),
        ("provider", ["provider", "providername", "providerid", "identityprovider", "service", "driver", "strategy"]),
        ("subject", ["uid", "provideruserid", "provideruid", "provideraccountid", "federateduserid", "externalid"]),
        ("access_token", ["accesstoken", "token", "oauthtoken", "providertoken", "authtoken", "accessjwt"]),
        ("refresh_token", ["refreshtoken", "oauthrefreshtoken", "providerrefreshtoken", "refresh"]),
        ("expires_at", ["expiresat", "tokenexpiresat", "oauthexpiresat", "accesstokenexpiresat", "expires", "expiry"]),
    ]

    /// A map for a table that seems to contain logins.
    private static func suggestion(for table: TableShape) -> String? {
        var map: [String] = []
        var found: Set<String> = []
        for (member, names) in usual {
            guard let position = names.lazy.compactMap({ table.columns[$0] }).first else { continue }
            found.insert(member)
            map.append("\(member)=\(table.columns.names[position])")
        }
        guard found.contains("user"), found.contains("access_token") || found.contains("refresh_token") else {
            return nil
        }
        let provider = found.contains("provider") ? "" : " --provider-name NAME"
        let place = table.name.isEmpty ? "" : "--table \(table.name) "
        return "if it holds logins, say which column is which: \(place)--map \(map.joined(separator: ","))\(provider)"
    }

    // MARK: Other known tables

    private func nameless() -> ImportError? {
        let names = container.namelessTables.filter { name in
            plan.table.map { TableShape(name: name, columns: ColumnIndex([])).isMeant(by: $0) } ?? true
        }
        guard !names.isEmpty, container.tables.allSatisfy({ !names.contains($0.name) }) else { return nil }
        return ImportError(
            .unknownStore,
            "the dump does not name the columns of \(names.prefix(8).map { "“\($0)”" }.joined(separator: ", "))",
            hint:
                "dump it with them (mysqldump --complete-insert, pg_dump --column-inserts), or with its CREATE TABLE; "
                + "or name them: --table \(names[0]) --columns NAMES")
    }

    private func stranger(_ tables: [TableShape]) -> ImportError? {
        let hasAccounts = container.tables.contains { $0.foldedName == "socialaccountsocialaccount" }
        for table in tables {
            let columns = table.columns.folded
            // Its account's number is no user: a map would make logins of users who do not exist.
            if StoreDescription.allauth.needs.isSubset(of: columns), !hasAccounts {
                let place = table.name.isEmpty ? "the rows are" : "the table “\(table.name)” is"
                return ImportError(
                    .unknownStore, "\(place) django-allauth's, whose table socialaccount_socialaccount is missing",
                    hint: "it has the users: export it, too, or join the two, as in docs/import.md")
            }
            if columns.isSuperset(of: ["identitydata", "provider", "userid"]) {
                return ImportError(
                    .unknownStore, "the table “\(table.name)” is Supabase's: it keeps no tokens of providers",
                    hint: "Supabase passes provider_token and provider_refresh_token to the app only at log-in; "
                        + "import them from where the app stored them")
            }
            if columns.isSuperset(of: ["identityprovider", "federateduserid", "token"]) {
                return ImportError(
                    .unknownStore, "the table “\(table.name)” is Keycloak's: its tokens are in a JSON column",
                    hint:
                        "--table \(table.name) --map user=USER_ID,provider=IDENTITY_PROVIDER,subject=FEDERATED_USER_ID,"
                        + "access_token=TOKEN.access_token,refresh_token=TOKEN.refresh_token,"
                        + "id_token=TOKEN.id_token,expires_at=TOKEN.accessTokenExpiration")
            }
        }
        return nil
    }
}
