import Foundation

/// How much sweeps and random suites play, from `TOKENVAULT_DEPTH`: every kind of case at each depth, and more of each.
package enum Depth: String {
    /// Minutes for all suites: `scripts/test`, where nothing else is named.
    case brief
    /// Several times as much, for a machine that has an hour.
    case nightly
    /// Hours: `scripts/deep`.
    case deep

    package static let current: Depth = {
        guard let name = ProcessInfo.processInfo.environment["TOKENVAULT_DEPTH"] else { return .brief }
        guard let depth = Depth(rawValue: name) else {
            preconditionFailure("TOKENVAULT_DEPTH is brief, nightly or deep, not \(name)")
        }
        return depth
    }()

    package static func pick<Value>(brief: Value, nightly: Value, deep: Value) -> Value {
        switch current {
        case .brief: brief
        case .nightly: nightly
        case .deep: deep
        }
    }

    /// How many logins' rows a store keeps in memory. With `TOKENVAULT_TEST_CACHED_LOGINS=0` all suites read from the
    /// database.
    package static let cachedLogins = number("TOKENVAULT_TEST_CACHED_LOGINS", or: 4_096)

    /// A number from the environment.
    package static func number(_ name: String, or fallback: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? fallback
    }
}
