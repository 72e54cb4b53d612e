import Platform
import VaultStorage

/// The database of an open vault, with everything needed to open its connections.
struct Database: Sendable {
    let path: String
    let access: Connection.Access
    let liveness: Liveness
    /// Nil until the store has an owner lock.
    var owners: (any Ownership)?
    /// Whether any process holds a snapshot too long for writers to wait for it.
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

    /// On a read-only vault, apparent damage may be a writer that works through another mount.
    func explain(_ error: StoreError) -> StoreError {
        guard access == .immutable, FileIdentity(path: path + "-shm") != nil else { return error }
        switch error.code {
        case .io, .damaged, .notAVault, .quarantined:
            return StoreError(
                .busy, "the vault was opened read-only, and has since come into use through another mount",
                hint: "open it anew")
        default: return error
        }
    }
}
