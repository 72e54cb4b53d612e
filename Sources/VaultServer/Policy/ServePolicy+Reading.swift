import OAuthClient
import Platform
import SettingsText

/// What is wrong with a policy, and where.
package struct PolicyProblem: Error, Equatable {
    /// From 1; nil: it is about the file as a whole.
    package let line: Int?
    /// From 1; nil: it is about the line as a whole.
    package let column: Int?
    package let message: String
    package let hint: String?

    init(line: Int? = nil, column: Int? = nil, _ message: String, hint: String? = nil) {
        self.line = line
        self.column = column
        self.message = message
        self.hint = hint
    }
}

extension ServePolicy {
    /// Reads a policy: `[[client]]`, and then a line for each setting of this client.
    ///
    /// - Parameters:
    ///   - text: The policy.
    ///   - user: The number of the user of this name.
    ///   - group: The number of the group of this name.
    package init(
        _ text: String, user: (String) -> UInt32? = { UserID(named: $0)?.number },
        group: (String) -> UInt32? = { GroupID(named: $0)?.number }
    ) throws(PolicyProblem) {
        let text = text.hasPrefix("\u{FEFF}") ? String(text.unicodeScalars.dropFirst()) : text
        var drafts: [ClientDraft] = []
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        guard lines.count <= 10_000 else { throw PolicyProblem("a policy has at most 10 000 lines") }
        for (index, line) in lines.enumerated() {
            do throws(SettingsProblem) { try Self.read(line, at: index + 1, into: &drafts) } catch {
                throw PolicyProblem(line: index + 1, column: error.column, error.message, hint: error.hint)
            }
        }
        guard !drafts.isEmpty else {
            throw PolicyProblem(
                "the policy has no client, so nobody could ask for anything",
                hint: "a client begins with a line [[client]]")
        }
        var clients: [PolicyClient] = []
        for draft in drafts {
            let client = try draft.client(user, group)
            if let other = clients.first(where: { $0.name == client.name }) {
                throw PolicyProblem(line: client.line, "line \(other.line) has a client of the same name")
            }
            if let other = clients.first(where: { $0.identity.overlaps(client.identity) }) {
                throw PolicyProblem(
                    line: client.line,
                    "one process could be both \(other.name) (line \(other.line)) and \(client.name)",
                    hint: "tell them apart by user or uid, group or gid, or by a socket of their own")
            }
            clients.append(client)
        }
        self.clients = clients
    }

    private static func read(
        _ line: Substring, at number: Int, into drafts: inout [ClientDraft]
    ) throws(SettingsProblem) {
        var scanner = SettingsScanner(line)
        scanner.skipSpaces()
        guard !scanner.isAtRemark else { return }
        if scanner.peek == "[" {
            guard scanner.skip("["), scanner.skip("["), scanner.take({ $0.isLetter }) == "client", scanner.skip("]"),
                scanner.skip("]")
            else { throw scanner.problem("expected [[client]]", hint: "each client begins with a line [[client]]") }
            drafts.append(ClientDraft(line: number))
        } else {
            let column = scanner.column
            let name = scanner.take { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            guard let setting = ClientDraft.Setting(rawValue: name) else {
                let known = ClientDraft.Setting.allCases.map(\.rawValue).joined(separator: ", ")
                throw SettingsProblem(
                    name.isEmpty ? "expected the name of a setting" : "a client has no such setting",
                    hint: "the settings are: \(known)", column: column)
            }
            guard !drafts.isEmpty else {
                throw SettingsProblem(
                    "\(name) belongs to no client", hint: "begin with a line [[client]]", column: column)
            }
            scanner.skipSpaces()
            guard scanner.skip("=") else {
                throw scanner.problem("expected = after \(name)", hint: "for example: \(setting.example)")
            }
            scanner.skipSpaces()
            let (start, value) = (
                scanner.column, try scanner.value(example: setting.example, isNumber: setting.isNumber)
            )
            do throws(SettingsProblem) { try drafts[drafts.count - 1].take(setting, value) } catch {
                throw SettingsProblem(error.message, hint: error.hint, column: start)
            }
        }
        scanner.skipSpaces()
        guard scanner.isAtRemark else { throw scanner.problem("expected the end of the line") }
    }
}

/// The settings of one client, before it is known whether they make sense together.
private struct ClientDraft {
    enum Setting: String, CaseIterable {
        case name, user, uid, group, gid, socket, verbs, users, tenants, providers, scopes, resources, origins, methods

        var isNumber: Bool { self == .uid || self == .gid }
        var isList: Bool { !isNumber && ![.name, .user, .group, .socket].contains(self) }

        var example: String {
            switch self {
            case .name: #"name = "calendar-sync""#
            case .user: #"user = "www-data""#
            case .uid: "uid = 33"
            case .group: #"group = "app""#
            case .gid: "gid = 33"
            case .socket: #"socket = "web""#
            case .verbs: #"verbs = ["token", "authorize"]"#
            case .users: #"users = ["alice", "app-*"]"#
            case .tenants: #"tenants = ["contoso"]"#
            case .providers: #"providers = ["google"]"#
            case .scopes: #"scopes = ["calendar.read"]"#
            case .resources: #"resources = ["https://calendar.example"]"#
            case .origins: #"origins = ["https://api.example"]"#
            case .methods: #"methods = ["GET"]"#
            }
        }
    }

    let line: Int
    private var values: [Setting: SettingsValue] = [:]

    init(line: Int) { self.line = line }

    mutating func take(_ setting: Setting, _ value: SettingsValue) throws(SettingsProblem) {
        guard values[setting] == nil else { throw SettingsProblem("\(setting.rawValue) is set twice") }
        let isRight =
            switch value {
            case .text(let text): !setting.isNumber && !setting.isList && !text.isEmpty
            case .texts(let texts): setting.isList && !texts.isEmpty && !texts.contains("")
            case .number: setting.isNumber
            case .flag: false
            }
        guard isRight else {
            let isOfUsers = if setting == .user, case .texts = value { true } else { false }
            throw SettingsProblem(
                "\(setting.rawValue) does not take this value",
                hint: isOfUsers
                    ? "user is the client's own account; whose tokens it gets: \(Setting.users.example)"
                    : "for example: \(setting.example)")
        }
        if case .texts(let texts) = value { try Self.check(texts, setting) }
        values[setting] = value
    }

    private static func check(_ texts: [String], _ setting: Setting) throws(SettingsProblem) {
        for text in texts where text != "*" {
            switch setting {
            case .verbs:
                guard PolicyClient.Verb(rawValue: text) != nil else {
                    let known = PolicyClient.Verb.allCases.map(\.rawValue).joined(separator: ", ")
                    // Anything else is not fit to be shown.
                    let isWord = text.utf8.count <= 32 && text.allSatisfy { $0.isASCII && $0.isLetter || $0 == "-" }
                    throw SettingsProblem(
                        "there is no such verb" + (isWord ? ": \(text)" : ""), hint: "the verbs are: \(known)")
                }
            case .origins:
                guard (try? APIOrigin(text, allowsInsecureLoopback: true)) != nil else {
                    throw SettingsProblem(
                        "an origin is https:// and a host, without a path",
                        hint: "for example: \(setting.example)")
                }
            case .methods:
                guard !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isUppercase }) else {
                    throw SettingsProblem("a method is written in capitals", hint: "for example: \(setting.example)")
                }
            case .scopes:
                guard !text.contains(where: \.isWhitespace) else {
                    throw SettingsProblem(
                        "each scope is a text of its own", hint: #"for example: scopes = ["read", "write"]"#)
                }
            default: break
            }
            guard setting != .origins else { continue }
            let isPattern = [.users, .tenants, .providers, .scopes, .resources].contains(setting)
            guard !text.dropLast(isPattern ? 1 : 0).contains("*") else {
                throw SettingsProblem(
                    isPattern ? "an asterisk stands only at the end" : "no asterisk stands here beside other characters"
                )
            }
        }
    }

    func client(_ user: (String) -> UInt32?, _ group: (String) -> UInt32?) throws(PolicyProblem) -> PolicyClient {
        guard let name = text(.name) else {
            throw PolicyProblem(line: line, "this client has no name", hint: "for example: \(Setting.name.example)")
        }
        guard name.utf8.count <= 64, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw PolicyProblem(line: line, "a client's name is up to 64 characters of ASCII, without spaces")
        }
        let identity = PolicyClient.Identity(
            user: try number(.uid, .user, "user", user), group: try number(.gid, .group, "group", group),
            socket: text(.socket))
        guard identity != PolicyClient.Identity() else {
            throw PolicyProblem(
                line: line, "\(name) fits every process", hint: "name its user or uid, its group or gid, or its socket")
        }
        guard identity.user != Self.overflow, identity.group != Self.overflow else {
            throw PolicyProblem(
                line: line, "the number \(Self.overflow) stands for everyone of another user namespace",
                hint: "run the client as a user of its own, not as nobody")
        }
        let verbs = try self.verbs(name)
        let isSubjectless = verbs.isSubset(of: [.metrics])
        let client = PolicyClient(
            name: name, line: line, identity: identity, verbs: verbs,
            users: try required(.users, name, unless: isSubjectless), tenants: patterns(.tenants),
            providers: try required(.providers, name, unless: isSubjectless), scopes: patterns(.scopes),
            resources: patterns(.resources), origins: try? texts(.origins).map { try OriginPatterns($0) },
            methods: patterns(.methods))
        if verbs.contains(.authorize) {
            _ = try required(.origins, name, unless: false)
            _ = try required(.methods, name, unless: false)
        } else if let useless = [Setting.origins, .methods].first(where: { values[$0] != nil }) {
            throw PolicyProblem(
                line: line, "\(name) has \(useless.rawValue), which only the verb authorize uses",
                hint: "a client with the verb token can send its tokens anywhere")
        }
        return client
    }

    /// What the kernel says of users and groups that this user namespace does not have (user_namespaces(7)).
    private static let overflow: UInt32 = 65_534

    private func verbs(_ name: String) throws(PolicyProblem) -> Set<PolicyClient.Verb> {
        guard case .texts(let texts)? = values[.verbs] else {
            throw PolicyProblem(line: line, "\(name) has no verbs", hint: "for example: \(Setting.verbs.example)")
        }
        return texts.contains("*")
            ? Set(PolicyClient.Verb.allCases) : Set(texts.compactMap(PolicyClient.Verb.init(rawValue:)))
    }

    private func text(_ setting: Setting) -> String? {
        guard case .text(let text)? = values[setting] else { return nil }
        return text
    }

    private func texts(_ setting: Setting) -> [String]? {
        guard case .texts(let texts)? = values[setting] else { return nil }
        return texts
    }

    private func patterns(_ setting: Setting) -> NamePatterns? { texts(setting).map(NamePatterns.init) }

    private func required(
        _ setting: Setting, _ name: String, unless isUnneeded: Bool
    ) throws(PolicyProblem) -> NamePatterns {
        if let patterns = patterns(setting) { return patterns }
        guard isUnneeded else {
            throw PolicyProblem(
                line: line, "\(name) has no \(setting.rawValue), so it could ask for nothing",
                hint: "for example: \(setting.example); for all: \(setting.rawValue) = [\"*\"]")
        }
        return NamePatterns([])
    }

    private func number(
        _ number: Setting, _ named: Setting, _ noun: String, _ find: (String) -> UInt32?
    ) throws(PolicyProblem) -> UInt32? {
        guard case .number(let value)? = values[number] else {
            guard let text = text(named) else { return nil }
            guard let value = find(text) else {
                throw PolicyProblem(
                    line: line, "this machine has no \(noun) \(text.debugDescription)",
                    hint: "for one that only a container has: \(number.example)")
            }
            return value
        }
        guard values[named] == nil else {
            throw PolicyProblem(line: line, "\(named.rawValue) and \(number.rawValue) say the same: leave one out")
        }
        return value
    }
}
