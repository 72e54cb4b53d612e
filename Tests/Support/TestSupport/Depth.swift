import Foundation

/// The long form of suites, for `scripts/deep`.
package enum Depth {
    package static let isDeep = ProcessInfo.processInfo.environment["TOKENVAULT_DEEP"] != nil

    /// A number from the environment.
    package static func number(_ name: String, or fallback: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? fallback
    }
}
