/// What to look at when something is wrong with a vault. Nothing in it is secret.
public struct VaultDiagnosis: Sendable, Equatable {
    public let status: VaultStatus
    /// Renewals whose end is not recorded, the oldest doubt first.
    public let openRenewals: [OpenRenewal]
    /// Whether there are more than were listed.
    public let hasMoreOpenRenewals: Bool
    public let files: [File]
    public let spool: Spool
    /// Whether other processes see this one as alive. If not, nothing more is sent from here.
    public let ownsItsLock: Bool

    /// One of the files that a vault is made of.
    public struct File: Sendable, Equatable {
        public let role: Role
        public let path: String
        /// The permission bits, such as `0o600`; nil if the file is not there now.
        public let mode: UInt32?
        /// What is wrong with it, as a sentence; nil if nothing.
        public let problem: String?
        /// What an operator can do about it.
        public let hint: String?
        /// What kind of file system it is, where it is one.
        public let detail: String?

        public enum Role: String, Sendable, Equatable, CaseIterable {
            case fileSystem, directory, vault, wal, sharedMemory, lock, spool
        }
    }

    /// Replies that the vault could not take when they came.
    public struct Spool: Sendable, Equatable {
        /// Waiting to be stored, those of other living processes too.
        public let entries: Int
        /// Cut short while they were written: they were never acknowledged.
        public let tornEntries: Int
        /// Whole, and not to be opened with this vault's keys; or in a file that cannot be read.
        public let damagedEntries: Int
        /// Why the spool could not be listed, if so.
        public let problem: String?
    }
}
