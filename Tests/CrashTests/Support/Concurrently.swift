import Foundation
import OAuthClient
import VaultStorage

@testable import TokenVault

extension Array where Element: Sendable {
    /// The results in the order of the elements.
    @discardableResult
    func concurrently<R: Sendable>(
        atMost width: Int = .max, _ body: @escaping @Sendable (Element) async throws -> R
    ) async throws -> [R] {
        try await withThrowingTaskGroup(of: (Int, R).self) { group in
            var results = [R?](repeating: nil, count: count)
            var next = 0
            func add() {
                let index = next
                next += 1
                let element = self[index]
                group.addTask { (index, try await body(element)) }
            }
            while next < Swift.min(width, count) { add() }
            while let (index, result) = try await group.next() {
                results[index] = result
                if next < count { add() }
            }
            return results.compactMap { $0 }
        }
    }
}

extension UserManager {
    /// Renews, unless somebody else has done it meanwhile.
    func renewed(_ login: LoginID, beyond generation: Int) async throws -> VaultToken {
        let snapshot = try vault.session(.login(login.handle))
        return try await engine.renewedToken(snapshot, demand: .newer(than: Int64(generation)), deadline: nil)
    }
}

/// The long form of the suites, for `scripts/deep`.
enum Depth {
    static let isDeep = ProcessInfo.processInfo.environment["TOKENVAULT_DEEP"] != nil

    /// A number from the environment.
    static func number(_ name: String, or fallback: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? fallback
    }
}
