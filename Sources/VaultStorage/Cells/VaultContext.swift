import VaultCrypto

/// What every connection of an open vault works with.
final class VaultContext: Sendable {
    let path: String
    /// How the vault's connections are opened.
    let access: Connection.Access
    let vaultID: Bytes16
    let incarnation: Int64
    let createdAt: Timestamp
    let vaultKey: SealingKey
    let keyring: Keyring
    let clock: @Sendable () -> Timestamp
    let liveness: Liveness

    init(
        path: String, vaultID: Bytes16, incarnation: Int64, createdAt: Timestamp, vaultKey: SealingKey,
        keyring: Keyring, clock: @escaping @Sendable () -> Timestamp, liveness: Liveness = Liveness(),
        access: Connection.Access = .readWrite
    ) {
        self.path = path
        self.access = access
        self.vaultID = vaultID
        self.incarnation = incarnation
        self.createdAt = createdAt
        self.vaultKey = vaultKey
        self.keyring = keyring
        self.clock = clock
        self.liveness = liveness
    }

    func connect() throws(StoreError) -> Connection {
        try Connection(path: path, access: access, liveness: liveness)
    }

    /// What looks like damage where nothing can be written may be a writer that works through another mount.
    func explain(_ error: StoreError) -> StoreError {
        guard access == .immutable, Descriptor.Identity(path: path + "-shm") != nil else { return error }
        switch error.code {
        case .io, .damaged, .notAVault, .quarantined:
            return StoreError(
                .busy, "the vault has come into use, through another mount, since it was opened for reading alone",
                hint: "open it anew")
        default: return error
        }
    }

    /// The root key that a cell names.
    func root(_ id: KeyID) throws(VaultCryptoError) -> SealingKey {
        guard let key = keyring.root(for: id) else {
            throw VaultCryptoError(.unknownKey, "the cell names a root key that the vault's keyring does not hold")
        }
        return key
    }
}

extension StoreError {
    /// A row that cannot be opened. What is wrong is said by the crypto error, which names no secret.
    static func quarantined(_ table: String, _ handle: Bytes16?, _ error: VaultCryptoError) -> StoreError {
        if case .outOfGuardedMemory = error.code { return StoreError(.outOfMemory, error.reason, hint: error.hint) }
        return quarantined(table, handle, error.reason)
    }

    static func quarantined(_ table: String, _ handle: Bytes16?, _ reason: String) -> StoreError {
        let text = handle.map { Base32.encode($0) }
        return StoreError(
            .quarantined(table: table, handle: text),
            "a row of \(table)\(text.map { " (\($0))" } ?? "") is not as the vault left it: \(reason)",
            hint: "nothing was changed; run `vaultctl verify` to see all damage, and restore the row from a backup"
        )
    }
}
