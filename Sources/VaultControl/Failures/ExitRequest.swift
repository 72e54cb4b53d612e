/// Ends a command that has printed everything, with a status of its own.
struct ExitRequest: Error {
    let status: ExitStatus
    /// Whether it applies even if a signal ended the command.
    var isFinal = false
}
