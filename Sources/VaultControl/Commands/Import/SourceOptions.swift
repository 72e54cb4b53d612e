import ArgumentParser
import FoundationEssentials
import OAuthClient
import VaultImport

/// The source to read, and the meaning of its names in the vault.
struct SourceOptions: ParsableArguments {
    static let title: ArgumentHelp = "How the source is read"

    @Argument(
        help:
            .init(
                "The source: a SQLite database, JSON Lines, CSV, MSAL's cache, or a dump of PostgreSQL or MySQL as text; all "
                    + "but the first also as gzip."),
        completion: .file())
    var source: String

    @OptionGroup var tenant: TenantOption

    @Option(
        help: .init(
            "What the source is called in the vault, the same each time. By default its kind.", valueName: "name"))
    var name: String?

    @Option(
        help: .init(
            "Whose store it is, where it cannot be told: \(StoreKind.allCases.map(\.name).joined(separator: ", ")).",
            valueName: "kind"))
    var kind: String?

    @Option(help: .init("The table with the tokens, where several would do.", valueName: "table"))
    var table: String?

    @Option(
        help: .init(
            "Which value is the vault's user id: id, email, username, or column:NAME.", valueName: "key"))
    var userKey = "id"

    @Option(help: .init("The source's table of users.", valueName: "table"))
    var userTable: String?

    @Option(
        help: .init(
            "A JSON file that maps the source's provider names to the vault's: {\"google-oauth2\": \"google\"}, or an object "
                + "with name, clientId and confidential.", valueName: "path"),
        completion: .file())
    var providerMap: String?

    @Flag(help: "Reject rows whose provider the map does not name.")
    var mappedOnly = false

    @Option(
        help: .init(
            "Which column is which member of the canonical form, for any table: user=owner_id,access_token=tok. In a "
                + "column with JSON: access_token=TOKEN.access_token.", valueName: "map"))
    var map: String?

    @Option(help: .init("The provider of every row, where the source names none.", valueName: "name"))
    var providerName: String?

    @Option(
        help: .init(
            "What names a row that has no account and no key of its own: column:NAME, or line for a file that only "
                + "grows.", valueName: "key"))
    var rowKey: String?

    @Option(
        help: .init(
            "The columns of a CSV file that has no header, or with --table those of a dump that does not name them: "
                + "user,provider,refresh_token.", valueName: "names"))
    var columns: String?

    @Option(
        help: .init(
            "What separates the values of a CSV file, if its first line does not show it: comma, semicolon or tab.",
            valueName: "word"))
    var separator: String?

    @Option(
        help: .init("What a time without a zone means: utc, unknown, or an offset such as +02:00.", valueName: "zone"))
    var zone = "utc"

    @Flag(help: "Take logins, too, that can neither be used nor renewed.")
    var keepDead = false

    @Flag(help: "Reject rows with members that are not known.")
    var strict = false

    @Flag(help: "Take tokens that look encrypted as they are.")
    var tokensArePlain = false

    @Option(
        help: .init(
            "Better Auth's secret, or VERSION=PATH for one of several.", valueName: "path"), completion: .file())
    var betterAuthSecretFile: [String] = []

    @Option(help: .init("Nango's encryption key.", valueName: "path"), completion: .file())
    var nangoKeyFile: String?

    @Option(
        help: .init(
            "The program that opens encrypted tokens, as a JSON array: a line for each value, and one for each answer.",
            valueName: "json"))
    var decryptCommand: String?

    func validate() throws {
        if mappedOnly, providerMap == nil { throw ValidationError("--mapped-only needs --provider-map") }
        if let kind, StoreKind(name: kind) == nil {
            throw ValidationError(
                "--kind must be one of \(StoreKind.allCases.map(\.name).joined(separator: ", "))")
        }
        if Self.key(userKey) == nil { throw ValidationError("--user-key must be id, email, username or column:NAME") }
        if Self.zone(zone) == nil { throw ValidationError("--zone must be utc, unknown, or an offset such as +02:00") }
        if let rowKey, Self.rowKey(rowKey) == nil { throw ValidationError("--row-key must be line or column:NAME") }
        if let separator, Separator(rawValue: separator) == nil {
            throw ValidationError("--separator must be comma, semicolon or tab")
        }
        guard let map else { return }
        guard let table = Self.table(map) else {
            throw ValidationError("--map must be of the form MEMBER=COLUMN,MEMBER=COLUMN, with each member once")
        }
        let unknown = table.keys.filter { !ImportPlan.members.contains($0) }.sorted()
        guard unknown.isEmpty else {
            throw ValidationError(
                "--map knows no member \(unknown.map { Printable.shortened($0) }.joined(separator: ", ")); "
                    + "it is MEMBER=COLUMN with the members \(ImportPlan.members.joined(separator: ", "))")
        }
    }

    /// The options for importing its rows under this name.
    func taking(_ purpose: ImportRunOptions.Purpose, as name: String, isRehearsal: Bool = false) -> ImportRunOptions {
        var options = ImportRunOptions(name: name, purpose: purpose, isRehearsal: isRehearsal)
        options.tenant = tenant.tenant?.tenant
        return options
    }

    /// The source's name in the vault.
    func name(of opened: ImportSource) -> String { tenant.source(name ?? opened.detection.kind.name) }

    /// The command that takes the source's newer tokens.
    var adoption: String {
        let name = name.map { " --name \(Printable.shortened($0))" } ?? ""
        return "vaultctl import check \(Printable.path(source))\(name)\(tenant.typed) --adopt"
            + (isPlain ? "" : ", with the options by which the source is read")
    }

    /// Whether no option says how the source is read.
    private var isPlain: Bool {
        let texts = [kind, table, userTable, providerMap, map, providerName, rowKey, columns, separator]
        return texts.allSatisfy { $0 == nil } && nangoKeyFile == nil && decryptCommand == nil && userKey == "id"
            && zone == "utc" && betterAuthSecretFile.isEmpty && !keepDead && !tokensArePlain && !mappedOnly && !strict
    }

    /// Opens the source and detects its format.
    func open(_ invocation: Invocation) throws -> ImportSource {
        var plan = ImportPlan()
        plan.kind = kind.flatMap { StoreKind(name: $0) }
        plan.table = table
        plan.userKey = Self.key(userKey) ?? .primaryKey
        plan.userTable = userTable
        plan.providers = ProviderMap(
            rules: try providerMap.map { try ProviderMapFile.rules(in: $0) } ?? [:], requiresRule: mappedOnly)
        plan.zonelessTimes = Self.zone(zone) ?? .utc
        plan.keepsDeadLogins = keepDead
        plan.isStrict = strict
        plan.columns = map.flatMap { Self.table($0) } ?? [:]
        plan.provider = providerName
        plan.rowKey = rowKey.flatMap { Self.rowKey($0) }
        plan.separator = separator.flatMap { Separator(rawValue: $0) }
        plan.tokensArePlain = tokensArePlain
        if let columns, !columns.contains(","), columns.contains(where: \.isWhitespace) {
            let names = columns.split(whereSeparator: \.isWhitespace).joined(separator: ",")
            throw Failure.usage(
                "--columns has no comma", hint: "separate the names by commas: --columns \(Printable.shortened(names))")
        }
        plan.header = columns.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        plan.secrets = try secrets(invocation)
        try requireFile(invocation)
        let opened = try ImportSource(path: source, plan: plan)
        let unread = opened.detection.unreadColumns
        if !unread.isEmpty {
            let names = unread.prefix(8).map { Printable.shortened($0) }.joined(separator: ", ")
            let columns = Count.of(unread.count, "column")
            invocation.warn(
                "nothing is read from \(columns) that may hold tokens or times: \(names)")
        }
        return opened
    }

    /// The source must be a file of another system.
    private func requireFile(_ invocation: Invocation) throws(Failure) {
        guard !source.isEmpty else {
            throw .usage("the path of the source is empty", hint: "name the other system's database or export")
        }
        let home = invocation.console.environment["HOME"]
        let isName = !source.contains { "./".contains($0) }
        let advice =
            isName
            ? "name the file that is read; what the source is called goes with: --name \(Printable.shortened(source))"
            : "check its path"
        if let problem = PathProblem("source", at: source, from: "SOURCE", advice: advice, home: home) {
            throw Failure(
                problem.isMissing ? .notFound : .machine, code: "unreadableFile", problem.message, hints: problem.hints)
        }
        try InputFile.refuseOther(
            at: source, from: "SOURCE",
            hint: FileKind(source) == .directory
                ? "name the file in it that has the tokens" : "a source is read more than once: save it in a file first"
        )
        let hint: String? =
            switch FileKind(source) {
            case .vault?: "to move everything to another vault: vaultctl move run TARGET"
            case .backup?: "to make a vault of it: vaultctl backup restore \(Printable.path(source)) TARGET"
            case .keyFile?, .identity?, .witness?: "name the other system's database or export"
            default: nil
            }
        guard let hint, let kind = FileKind(source) else { return }
        throw .usage("\(Printable.path(source)) (SOURCE) is \(kind.words), not another system's store", hint: hint)
    }

    private static func key(_ text: String) -> UserKey? {
        switch text {
        case "id": .primaryKey
        case "email": .email
        case "username": .username
        case _ where text.hasPrefix("column:") && text.utf8.count > 7: .column(String(text.dropFirst(7)))
        default: nil
        }
    }

    private static func rowKey(_ text: String) -> RowKey? {
        if text == "line" { return .line }
        return text.hasPrefix("column:") && text.utf8.count > 7 ? .column(String(text.dropFirst(7))) : nil
    }

    private static func zone(_ text: String) -> ZonelessTimes? {
        switch text {
        case "utc": return .utc
        case "unknown": return .unknown
        default:
            let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
            guard let sign = text.first, sign == "+" || sign == "-", parts.count == 2,
                parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isASCII) }), let hours = Int(parts[0]),
                let minutes = Int(parts[1]), (0...14).contains(hours), (0...59).contains(minutes)
            else { return nil }
            return .offset(seconds: (sign == "-" ? -1 : 1) * (hours * 3_600 + minutes * 60))
        }
    }

    /// Parses `MEMBER=COLUMN,…` into the plan's columns by member.
    private static func table(_ text: String) -> [String: String]? {
        var table: [String: String] = [:]
        for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let equals = pair.firstIndex(of: "=") else { return nil }
            let (member, column) = (String(pair[..<equals]), String(pair[pair.index(after: equals)...]))
            guard !member.isEmpty, !column.isEmpty, table[member] == nil else { return nil }
            table[member] = column
        }
        return table
    }

    private func secrets(_ invocation: Invocation) throws -> SourceSecrets {
        var reader = SecretReader(invocation.console)
        var secrets = SourceSecrets()
        let option = "--better-auth-secret-file"
        for text in betterAuthSecretFile {
            let equals = text.firstIndex(of: "=")
            if let equals, let version = Int(text[..<equals]) {
                let path = String(text[text.index(after: equals)...])
                secrets.betterAuth[version] = SourceSecret(
                    try reader.read("Secret of Better Auth", from: .file(path, from: option)))
            } else {
                secrets.betterAuthUnversioned = SourceSecret(
                    try reader.read("Secret of Better Auth", from: .file(text, from: option)))
            }
        }
        secrets.decryptCommand = try decryptCommand.map {
            let arguments = try ProgramArguments.parse($0, "--decrypt-command", example: ProgramArguments.decryption)
            guard arguments[0].hasPrefix("/") else {
                throw Failure.usage(
                    "the program of --decrypt-command is not given by an absolute path",
                    hint: "for example: --decrypt-command '\(ProgramArguments.decryption)'")
            }
            return arguments
        }
        secrets.nango = try nangoKeyFile.map {
            SourceSecret(try reader.read("Nango key", from: .file($0, from: "--nango-key-file")))
        }
        return secrets
    }
}
