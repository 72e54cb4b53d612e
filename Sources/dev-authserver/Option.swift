import DevAuthorizationServer

/// One line of the option table, from which both parsing and `--help` come.
struct Option: Sendable {
    enum Effect: Sendable {
        case flag(@Sendable (inout Options) -> Void)
        case value(String, @Sendable (inout Options, String) throws(UsageError) -> Void)
    }

    let name: String
    let effect: Effect
    let help: String

    static func flag(_ name: String, _ help: String, _ set: @escaping @Sendable (inout Options) -> Void) -> Option {
        Option(name: name, effect: .flag(set), help: help)
    }

    static func value(
        _ name: String, _ placeholder: String, _ help: String,
        _ set: @escaping @Sendable (inout Options, String) throws(UsageError) -> Void
    ) -> Option {
        Option(name: name, effect: .value(placeholder, set), help: help)
    }

    static func integer(_ text: String, in range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw UsageError("must be an integer of \(range.lowerBound)...\(range.upperBound), not \(text)")
        }
        return number
    }

    /// Seconds, fractions allowed.
    static func seconds(_ text: String) throws(UsageError) -> Duration {
        guard let number = Double(text), (0...1e9).contains(number) else {
            throw UsageError("must be a number of seconds, not \(text)")
        }
        return .milliseconds(Int64((number * 1000).rounded()))
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String, of type: Choice.Type
    ) throws(UsageError) -> Choice {
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("must be one of \(known), not \(text)")
        }
        return choice
    }

    /// `ID`, `ID:basic:SECRET` or `ID:post:SECRET`.
    static func client(_ text: String) throws(UsageError) -> RegisteredClient {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        switch (parts.count, parts.count > 1 ? parts[1] : "") {
        case (1, _) where !parts[0].isEmpty: return RegisteredClient(id: parts[0])
        case (3, "basic"): return RegisteredClient(id: parts[0], authentication: .basic(secret: parts[2]))
        case (3, "post"): return RegisteredClient(id: parts[0], authentication: .post(secret: parts[2]))
        default: throw UsageError("must be ID, ID:basic:SECRET or ID:post:SECRET")
        }
    }
}
