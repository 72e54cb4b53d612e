/// Waits until something holds, for ten minutes at most: a limit that ends a hang, and judges nothing.
package func eventually(_ condition: () async throws -> Bool) async throws {
    for _ in 0..<60_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    throw NeverHappened()
}

package struct NeverHappened: Error {
    package init() {}
}
