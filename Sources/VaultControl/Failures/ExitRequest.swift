/// A command that has said everything and ends with a status of its own.
struct ExitRequest: Error {
    let status: ExitStatus
    /// Whether it holds although a signal ended the command.
    var isFinal = false
}
