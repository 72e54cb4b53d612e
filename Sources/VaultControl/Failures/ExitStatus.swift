/// The meanings of the program's exit codes. Scripts rely on these numbers: none changes its meaning.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    /// The command line, or the requested action, is impossible.
    case usage = 1
    case notFound = 2
    /// Done in part; the output names the rest.
    case partlyDone = 3
    /// The vault was tampered with or is damaged.
    case damaged = 4
    /// The vault may be older than a state seen before, or a login is held after a restore.
    case rollback = 5
    /// Another process has the vault; retrying helps.
    case busy = 6
    /// The key is missing, wrong or unsafe.
    case key = 7
    /// The login is dead or needs its user.
    case loginDead = 8
    /// The provider or the network failed.
    case provider = 9
    /// This machine has a problem: a full disk, a path that cannot be written, unsafe permissions.
    case machine = 10
}
