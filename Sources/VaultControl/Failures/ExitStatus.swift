/// What the program's exit code says. Scripts rely on these numbers: none changes its meaning.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    /// The command line, or what was asked, is not possible.
    case usage = 1
    case notFound = 2
    /// Done in part; what is left was said.
    case partlyDone = 3
    /// The vault was tampered with or is damaged.
    case damaged = 4
    /// The vault may be older than what was seen of it, or a login is held after a restore.
    case rollback = 5
    /// Another process has the vault; trying again helps.
    case busy = 6
    /// The key is missing, wrong or not safe.
    case key = 7
    /// The login is dead or needs its user.
    case loginDead = 8
    /// The provider or the network.
    case provider = 9
    /// This machine: a full disk, a place that cannot be written, unsafe permissions.
    case machine = 10
}
