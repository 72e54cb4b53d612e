import Platform
import VaultStorage

/// The database of an open vault, and how its connections are opened.
struct Database: Sendable {
    let path: String
    let access: Connection.Access
    let liveness: Liveness
    /// Nil before the store has one.
    var owners: (any Ownership)?
    /// Whether some process holds a snapshot for so long that writers must not wait for it.
    var hasLongSnapshot: @Sendable () -> Bool = { false }
    /// See ``Connection/announceLongReading``.
    var announceLongReading: @Sendable () -> AnyObject? = { nil }

    init(_ path: String, access: Connection.Access = .readWrite, liveness: Liveness = Liveness()) {
        self.path = path
        self.access = access
        self.liveness = liveness
    }

    func connect() throws(StoreError) -> Connection {
        let connection = try Connection(path: path, access: access, liveness: liveness)
        connection.owners = owners
        connection.announceLongReading = announceLongReading
        return connection
    }

    /// What looks like damage where nothing can be written may be a writer that works through another mount.
    func explain(_ error: StoreError) -> StoreError {
        guard access == .immutable, FileIdentity(path: path + "-shm") != nil else { return error }
        switch error.code {
        case .io, .damaged, .notAVault, .quarantined:
            return StoreError(
                .busy, "the vault has come into use, through another mount, since it was opened for reading alone",
                hint: "open it anew")
        default: return error
        }
    }
}
