/// A record of the vault's newest state, apart from the vault. With it, an older state that was put back is recognised
/// when the vault is opened, and by running processes. Then nothing is sent, because sending an old refresh token again
/// can end a login. The witness distinguishes this from a copy of the vault that is used at the same time.
///
/// Keep it on another file system than the vault, better on another machine. Every process that opens the vault must
/// name the same witness. The witness learns of a change after the commit. If it cannot be notified, that is logged,
/// and the vault continues; but a vault whose witness cannot be asked is not opened.
public struct VaultWitness: Sendable, Equatable {
    /// The place where the newest state is kept.
    public enum Keeper: Sendable, Equatable {
        /// A file at this path. It is looked at, and written, at most once a second, and written when the vault is closed.
        case file(String)
        /// A program of yours: its absolute path, and its arguments. It is asked when the vault is opened and at most
        /// every 30 seconds while the vault is in use, and is notified when the vault is closed. `docs/vaultctl.md`
        /// says what it must do.
        case program([String])
    }

    package var keeper: Keeper
    /// Whether a change counts as durable only once the witness has it. With a program, each change then waits for it.
    package var isWrittenAtEveryCommit: Bool
    /// A file to which each login is written before its refresh token is sent, one line each: the number of an audit row,
    /// the login's id, and the generation of the token. After a loss it shows which logins may have been renewed since
    /// a backup was made. It grows by some 50 bytes with each renewal; begin a new one after each backup.
    package var intentLog: String?
    /// Whether the witness may have no note yet, and gets its first one when the vault is opened. Otherwise, and whenever
    /// the vault's audit trail records an earlier witness, a vault whose witness has no note is refused as
    /// ``VaultError/Code/rollbackSuspected``: its disk may not be mounted.
    public var begins = false

    public init(_ keeper: Keeper, isWrittenAtEveryCommit: Bool = false, intentLog: String? = nil) {
        self.keeper = keeper
        self.isWrittenAtEveryCommit = isWrittenAtEveryCommit
        self.intentLog = intentLog
    }

    /// A file.
    public init(_ path: String, isWrittenAtEveryCommit: Bool = false, intentLog: String? = nil) {
        self.init(.file(path), isWrittenAtEveryCommit: isWrittenAtEveryCommit, intentLog: intentLog)
    }
}
