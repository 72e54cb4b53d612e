extension Sequence {
    /// How many of them fulfil what can only be found out by waiting.
    func asyncCount(where isCounted: (Element) async throws -> Bool) async rethrows -> Int {
        var count = 0
        for element in self where try await isCounted(element) { count += 1 }
        return count
    }
}
