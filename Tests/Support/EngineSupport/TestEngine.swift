import Foundation
package import Testing

/// What keeps the vaults of this run's tests: a file each, or, if `TOKENVAULT_TEST_ENGINE` is `postgresql`, a schema each on a
/// throw-away server.
package enum TestEngine {
    package static let isServer = ProcessInfo.processInfo.environment["TOKENVAULT_TEST_ENGINE"] == "postgresql"
}

extension Trait where Self == ConditionTrait {
    /// Left out where a server keeps the vaults.
    ///
    /// - Parameter reason: what of it is about files, or about SQLite.
    package static func aboutFiles(_ reason: Comment) -> Self { .enabled(if: !TestEngine.isServer, reason) }
}

extension Tag {
    /// What a suite is about lies in the tables: `scripts/test` runs it with vaults on a server, too. The others run
    /// there in `scripts/deep`.
    @Tag package static var everyEngine: Self
}
