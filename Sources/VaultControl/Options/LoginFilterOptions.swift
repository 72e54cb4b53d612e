import ArgumentParser
import FoundationEssentials
import TokenVault

/// A ``LoginStanding`` on the command line.
struct StateOption: ExpressibleByArgument {
    let standing: LoginStanding

    init?(argument: String) {
        let word = Self.bare(argument)
        guard let standing = LoginStanding.allCases.first(where: { $0.rawValue.lowercased() == word }) else {
            return nil
        }
        self.standing = standing
    }

    /// What people's other words for a state may mean. They are not accepted: `ok` leaves out a held login whose token is
    /// still good, and of a dead login people also say that it has ended.
    static func meant(by word: String) -> [LoginStanding] { others[bare(word)] ?? [] }

    private static func bare(_ word: String) -> String {
        word.lowercased().filter { $0 != " " && $0 != "-" && $0 != "_" }
    }

    private static let others: [String: [LoginStanding]] = [
        "good": [.established], "ok": [.established], "valid": [.established], "active": [.established],
        "alive": [.established], "healthy": [.established], "ended": [.dead, .terminated],
        "revoked": [.dead, .terminated], "loggedout": [.terminated], "tokenexpired": [.expired],
        "doubt": [.inDoubt], "waiting": [.needsUser], "failed": [.dead], "error": [.dead, .refused],
    ]

    static var allValueStrings: [String] { LoginStanding.allCases.map(\.rawValue) }
}

/// A ``TerminationReason`` on the command line.
struct ReasonOption: ExpressibleByArgument {
    let reason: TerminationReason

    init?(argument: String) {
        guard let reason = TerminationReason.known.first(where: { $0.description == argument }) else { return nil }
        self.reason = reason
    }

    static var allValueStrings: [String] { TerminationReason.known.map(\.description) }
    static var choices: String { allValueStrings.joined(separator: ", ") }
}

/// The logins that a command applies to.
struct LoginFilterOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: .init("Only those of this user.", valueName: "id"))
    var user: String?

    @Option(name: .shortAndLong, help: .init("Only those at this provider.", valueName: "name"))
    var provider: String?

    @Option(help: .init("Only those of this tenant; --user and --provider are names within it.", valueName: "tenant"))
    var tenant: TenantName?

    @Option(
        help: .init(
            "Only those in this state: \(StateOption.allValueStrings.joined(separator: ", ")). Repeatable.",
            valueName: "state"))
    var state: [StateOption] = []

    @Option(help: .init("Only those that have been dead for at least this long, such as 30d.", valueName: "time"))
    var deadFor: TimeSpan?

    @Option(
        help: .init(
            "Only those whose access token expires before then: 24h from now, or a date such as 2026-11-25.",
            valueName: "when"))
    var expiresBefore: MomentOption?

    @Option(help: .init("Only those with this label.", valueName: "text"))
    var label: String?

    @Option(help: .init("Only those whose label begins with this text.", valueName: "text"))
    var labelPrefix: String?

    @Option(help: .init("Only those with this value, as NAME=VALUE. Repeatable.", valueName: "name=value"))
    var metadata: [String] = []

    func filter(now: Date) throws(Failure) -> LoginFilter {
        guard label == nil || labelPrefix == nil else {
            throw .usage("--label and --label-prefix cannot be combined", hint: "use only one of them")
        }
        if deadFor != nil, let other = state.map(\.standing).first, !state.contains(where: { $0.standing == .dead }) {
            throw .usage(
                "--dead-for is about dead logins, and no login is \(other.rawValue) and dead",
                hint: "leave one of them out: --dead-for or --state")
        }
        var filter = LoginFilter(userId: user, provider: provider, standings: Set(state.map(\.standing)), label: label)
        filter.tenant = tenant?.tenant
        filter.labelPrefix = labelPrefix
        filter.diedBefore = deadFor.map { now.addingTimeInterval(-Double($0.duration.components.seconds)) }
        filter.expiresBefore = expiresBefore?.date(now: now)
        for text in metadata {
            let (name, value) = try Self.pair(text, "--metadata")
            filter.metadata[name] = value
        }
        return filter
    }

    /// Reports that no login matches: also in a pipe, where the filter is probably mistaken.
    ///
    /// - Parameter isQuietInPipe: of a list, no line says the same.
    func reportNothing(_ invocation: Invocation, isQuietInPipe: Bool = true) {
        let texts = [label, labelPrefix].compactMap(\.self) + metadata
        guard texts.contains(where: { $0.contains("*") || PathProblem.trimmed($0) != $0 }) else {
            return isQuietInPipe ? invocation.hint("no login fits") : invocation.note("no login fits")
        }
        invocation.warn("no login fits: labels and values are compared letter by letter, a blank or * too")
        invocation.hint("--label-prefix TEXT finds labels that begin with TEXT")
    }

    static func pair(_ text: String, _ option: String) throws(Failure) -> (name: String, value: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].last?.isWhitespace == false else {
            throw .usage("\(option) wants NAME=VALUE", hint: "for example: \(option) team=42")
        }
        return (String(parts[0]), String(parts[1]))
    }
}
