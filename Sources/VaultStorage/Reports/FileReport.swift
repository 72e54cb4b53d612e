/// The current state of one of a vault's files.
package struct FileReport: Equatable, Sendable {
    package enum Role: String, Hashable, Sendable, CaseIterable {
        case fileSystem, directory, vault, wal, sharedMemory, lock, spool
    }

    package let role: Role
    package let path: String
    /// The permission bits; nil if the file does not exist.
    package let mode: UInt32?
    /// The problem with the file; nil if there is none.
    package let problem: StoreError?
    /// The kind of file system.
    package var detail: String?

    package init(role: Role, path: String, mode: UInt32?, problem: StoreError?, detail: String? = nil) {
        self.role = role
        self.path = path
        self.mode = mode
        self.problem = problem
        self.detail = detail
    }
}
