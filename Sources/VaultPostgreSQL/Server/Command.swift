import VaultStorage

/// A command's text with the types of its parameters.
final class Statement: Sendable {
    let sql: String
    let types: [Table.FieldType]
    /// Whether each connection prepares it, and keeps that for the next time.
    let isKept: Bool

    init(_ sql: String, _ types: [Table.FieldType] = [], isKept: Bool = true) {
        self.sql = sql
        self.types = types
        self.isKept = isKept
    }
}

/// A command on its way to the server and back.
final class Command {
    enum State {
        case sent
        case answered(ResultSet)
        case failed(ServerFailure)
        /// The server did not look at it, because one before it failed.
        case skipped
    }

    private(set) var state = State.sent
    /// Which statement this prepares; nil for what runs one.
    let prepared: Statement?

    init(preparing statement: Statement? = nil) { prepared = statement }

    func answer(_ answer: ResultSet) { state = .answered(answer) }
    func fail(_ failure: ServerFailure) { state = .failed(failure) }
    func skip() { state = .skipped }

    var answer: ResultSet? { if case .answered(let answer) = state { answer } else { nil } }
}
