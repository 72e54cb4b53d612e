/// A file apart from the vault that remembers the vault's newest state. With it, an older state that was put back is
/// recognised when the vault is opened, and by processes that run: nothing is sent then, because an old refresh token
/// that is sent once more can end a login. A copy of the vault that is used beside it is told from that.
///
/// It belongs on another file system than the vault, better on another machine. Every process that opens the vault must
/// name the same file. It is written at most once a second and when the vault is closed, always after the change that it
/// knows of. If it cannot be written, that is logged, and the vault goes on.
public struct VaultWitness: Sendable, Equatable {
    public var path: String
    /// Whether a change counts as durable only once the witness has it.
    public var isWrittenAtEveryCommit: Bool
    /// A file to which each login is written before its refresh token is sent, one line each: the number of an audit row,
    /// the login's id, and the generation of the token. After a loss it tells which logins may have moved on since a
    /// backup was made. It grows by some 50 bytes with each renewal; begin a new one after each backup.
    public var intentLog: String?

    public init(_ path: String, isWrittenAtEveryCommit: Bool = false, intentLog: String? = nil) {
        self.path = path
        self.isWrittenAtEveryCommit = isWrittenAtEveryCommit
        self.intentLog = intentLog
    }
}
