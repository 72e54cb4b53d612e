package import VaultStorage

/// Facts for finding out what is wrong with a vault. Nothing in it is secret.
package struct VaultDiagnosis: Sendable, Equatable {
    package let status: StoreStatistics
    /// Renewals without a recorded end, the oldest doubt first.
    package let openRenewals: [OpenRenewal]
    /// Whether there are more than are listed.
    package let hasMoreOpenRenewals: Bool
    package let files: [File]
    package let spool: Spool
    /// Whether other processes see this one as alive. If not, this process sends nothing more.
    package let ownsItsLock: Bool

    /// One of a vault's files.
    package struct File: Sendable, Equatable {
        package let role: Role
        package let path: String
        /// The permission bits, such as `0o600`; nil if the file does not exist now.
        package let mode: UInt32?
        /// The problem with it, as a sentence; nil if there is none.
        package let problem: String?
        /// A hint for the operator.
        package let hint: String?
        /// The kind of file system, where it is one.
        package let detail: String?

        package enum Role: String, Sendable, Equatable, CaseIterable {
            case fileSystem, directory, vault, wal, sharedMemory, lock, spool
        }
    }

    /// Replies that the vault could not take on arrival.
    package struct Spool: Sendable, Equatable {
        /// Waiting to be stored, including those of other living processes.
        package let entries: Int
        /// Cut short while they were written: they were never acknowledged.
        package let tornEntries: Int
        /// Complete, but cannot be opened with this vault's keys; or in a file that cannot be read.
        package let damagedEntries: Int
        /// Why the spool could not be listed, if so.
        package let problem: String?
    }
}
