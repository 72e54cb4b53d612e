/// One of the files that a vault is made of, as it lies there now.
package struct FileReport: Equatable, Sendable {
    package enum Role: String, Hashable, Sendable, CaseIterable {
        case fileSystem, directory, vault, wal, sharedMemory, lock, spool
    }

    package let role: Role
    package let path: String
    /// The permission bits; nil if there is no such file now.
    package let mode: UInt32?
    /// What is wrong with it; nil if nothing.
    package let problem: StoreError?
    /// What kind of file system it is.
    package var detail: String?

    package init(role: Role, path: String, mode: UInt32?, problem: StoreError?, detail: String? = nil) {
        self.role = role
        self.path = path
        self.mode = mode
        self.problem = problem
        self.detail = detail
    }
}
