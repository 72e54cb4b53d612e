/// Waits until something holds, for ten minutes at most: a limit that ends a hang, and judges nothing.
///
/// - Parameter pause: longer where a look costs much, such as opening a vault.
package func eventually(every pause: Duration = .milliseconds(10), _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(600)
    while ContinuousClock.now < end {
        if try await condition() { return }
        try await Task.sleep(for: pause)
    }
    throw NeverHappened()
}

package struct NeverHappened: Error {
    package init() {}
}
