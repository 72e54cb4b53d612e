import Glibc

/// A signal, by its number.
package struct Signal: Hashable, Sendable {
    package let number: Int32

    package static let interrupt = Signal(number: SIGINT)
    package static let terminate = Signal(number: SIGTERM)
    package static let hangUp = Signal(number: SIGHUP)
    /// The process was stopped, and runs again.
    package static let resume = Signal(number: SIGCONT)
    /// It wrote to a pipe that no one reads.
    package static let noReader = Signal(number: SIGPIPE)
    /// It wrote more than the limit on the size of files.
    package static let fileTooLarge = Signal(number: SIGXFSZ)

    /// From now on it does nothing by itself.
    package func ignore() { signal(number, SIG_IGN) }
}
