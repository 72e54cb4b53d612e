/// What to look at when something is wrong with a vault. Nothing in it is secret.
package struct VaultDiagnosis: Sendable, Equatable {
    package let status: VaultStatus
    /// Renewals whose end is not recorded, the oldest doubt first.
    package let openRenewals: [OpenRenewal]
    /// Whether there are more than were listed.
    package let hasMoreOpenRenewals: Bool
    package let files: [File]
    package let spool: Spool
    /// Whether other processes see this one as alive. If not, nothing more is sent from here.
    package let ownsItsLock: Bool

    /// One of the files that a vault is made of.
    package struct File: Sendable, Equatable {
        package let role: Role
        package let path: String
        /// The permission bits, such as `0o600`; nil if the file is not there now.
        package let mode: UInt32?
        /// What is wrong with it, as a sentence; nil if nothing.
        package let problem: String?
        /// What an operator can do about it.
        package let hint: String?
        /// What kind of file system it is, where it is one.
        package let detail: String?

        package enum Role: String, Sendable, Equatable, CaseIterable {
            case fileSystem, directory, vault, wal, sharedMemory, lock, spool
        }
    }

    /// Replies that the vault could not take when they came.
    package struct Spool: Sendable, Equatable {
        /// Waiting to be stored, those of other living processes too.
        package let entries: Int
        /// Cut short while they were written: they were never acknowledged.
        package let tornEntries: Int
        /// Whole, and not to be opened with this vault's keys; or in a file that cannot be read.
        package let damagedEntries: Int
        /// Why the spool could not be listed, if so.
        package let problem: String?
    }
}
