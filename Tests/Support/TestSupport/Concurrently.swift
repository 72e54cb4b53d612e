extension Array where Element: Sendable {
    /// The results in the order of the elements.
    @discardableResult
    package func concurrently<R: Sendable>(
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
