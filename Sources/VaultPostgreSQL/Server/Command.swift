import VaultStorage

/// A command's text with the types of its parameters.
final class Statement: Sendable {
    let sql: String
    let types: [Table.FieldType]
    /// Whether each connection prepares it and keeps it for later.
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
        /// The server did not run it, because an earlier command failed.
        case skipped
    }

    private(set) var state = State.sent
    /// The statement that this command prepares; nil if it runs one.
    let prepared: Statement?

    init(preparing statement: Statement? = nil) { prepared = statement }

    func answer(_ answer: ResultSet) { state = .answered(answer) }
    func fail(_ failure: ServerFailure) { state = .failed(failure) }
    func skip() { state = .skipped }

    var answer: ResultSet? { if case .answered(let answer) = state { answer } else { nil } }
}
