import VaultStorage

/// Results of queries that are still to come, in one transaction or for one read.
struct PrefetchedResults {
    private struct Key: Hashable {
        let query: Query
        let parameters: Parameters
    }

    private var commands: [Key: Command] = [:]
    private var changed = ChangedRows()

    func knows(_ query: Query, _ parameters: Parameters) -> Bool {
        commands[Key(query: query, parameters: parameters)] != nil
    }

    mutating func add(_ query: Query, _ parameters: Parameters, _ command: Command) {
        commands[Key(query: query, parameters: parameters)] = command
    }

    mutating func forget() {
        commands.removeAll(keepingCapacity: true)
        changed = ChangedRows()
    }

    mutating func note(_ operation: Query.Operation, _ parameters: Parameters) {
        if !commands.isEmpty { changed.note(operation, parameters) }
    }

    /// The prefetched command for this query, if the changes since then leave its result unchanged.
    ///
    /// - Parameter isLast: whether it is returned only this time.
    mutating func answer(
        to query: Query, _ reach: QueryReach, _ parameters: Parameters, isLast: Bool
    ) -> ResultSet? {
        if commands.isEmpty { return nil }
        let key = Key(query: query, parameters: parameters)
        guard let answer = commands[key]?.answer, changed.spares(answer, to: reach, parameters) else { return nil }
        if isLast { commands[key] = nil }
        return answer
    }
}
