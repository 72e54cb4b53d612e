import Synchronization
package import VaultCrypto

/// The state that everything that reads or writes an open vault shares.
package final class VaultContext: Sendable {
    package let vaultID: Bytes16
    /// Opens this process's key slot again, after the vault key was replaced.
    private let follower: any SlotUnlocker
    let clock: @Sendable () -> Timestamp
    /// The vault's row as it was last committed.
    let rows: VaultRowKeeper
    let seen = SeenStates()
    let manifestParts = ManifestPartCache()
    let manifestLimits: ManifestLimits
    private let actingAs = Mutex<AuditActor?>(nil)
    private let keyrings: KeyringSuccession
    private let newestIncarnation: Atomic<Int64>

    init(
        vaultID: Bytes16, row: VaultRow, follower: any SlotUnlocker, clock: @escaping @Sendable () -> Timestamp,
        manifestLimits: ManifestLimits = .standard
    ) {
        self.vaultID = vaultID
        self.manifestLimits = manifestLimits
        self.follower = follower
        self.clock = clock
        rows = VaultRowKeeper(row)
        keyrings = KeyringSuccession(row.keyring)
        newestIncarnation = Atomic(row.incarnation)
    }

    /// The key slot with which this process opened the vault.
    var openedBy: ProvenKeySlot { rows.current.opened.slot }

    /// Whether that slot proves nothing about the vault's author.
    package var isOpenedByForgeableSlot: Bool { rows.current.opened.isForgeable }

    /// The actor that every row of the trail names that this process writes from now on; nil for none, as in a service.
    package var actor: AuditActor? {
        get { actingAs.withLock { $0 } }
        set { actingAs.withLock { $0 = newValue } }
    }

    /// The vault's keyring. It changes with the vault's row, whichever process changes that.
    var keyring: Keyring { keyrings.newest }

    /// The root key that seals, as far as this process knows.
    package var primaryRoot: KeyID { keyring.primaryRoot.id }

    /// The vault's incarnation, as far as this process knows. Logins of an older one are held.
    package var incarnation: Int64 { newestIncarnation.load(ordering: .relaxed) }

    package var createdAt: Timestamp { rows.current.createdAt }

    /// The reason why only a move may change the vault, as far as this process knows; nil if any operation may.
    package var moveRefusal: StoreError? { rows.current.manifest.move?.refusal }

    /// The tag of the cell in a provider's row, as far as this process knows.
    package func tag(of provider: ProviderHandle) -> CellTag? { rows.current.manifest.providers[provider.bytes] }

    package var now: Timestamp { clock() }

    /// A context for an independent copy of the vault: changes of the copy's keys do not affect this context.
    ///
    /// - Parameter tables: the tables of the copy.
    package func forked(_ tables: any TableAccess) throws(StoreError) -> VaultContext {
        let row = try load(tables, known: rows.current, isAnew: true)
        let copy = VaultContext(
            vaultID: vaultID, row: row, follower: follower, clock: clock, manifestLimits: manifestLimits)
        copy.actor = actor
        return copy
    }

    /// Adopts a state of the vault's row that was read or committed.
    func adopt(_ row: VaultRow) {
        rows.advance(to: row)
        let newest = rows.current
        keyrings.append(newest.keyring)
        newestIncarnation.store(newest.incarnation, ordering: .relaxed)
    }

    /// Allows users to be older than this process has seen them: in a new incarnation, the trail records that commits
    /// were lost.
    package func forgetSeen() { seen.forget() }

    /// Reads the vault's current row, even if another process has replaced the vault key in the meantime.
    ///
    /// - Parameter isAnew: Opens every cell, including those that are already known.
    func load(_ tables: any TableAccess, known: VaultRow, isAnew: Bool = false) throws(StoreError) -> VaultRow {
        var id = try VaultRow.vaultKeyID(tables)
        while true {
            do throws(StoreError) { return try load(tables, under: id, known, isAnew) } catch {
                // The key may have been replaced between the two queries.
                let newest = try VaultRow.vaultKeyID(tables)
                if newest == id { throw error }
                id = newest
            }
        }
    }

    private func load(
        _ tables: any TableAccess, under id: KeyID?, _ known: VaultRow, _ isAnew: Bool
    ) throws(StoreError) -> VaultRow {
        guard let id, id != known.vaultKey.id else {
            return try VaultRow.load(tables, vault: vaultID, opened: known.opened, known: isAnew ? nil : known)
        }
        let slots = try KeySlotRows.all(tables).slots
        let opened: KeySlot.Opened
        do throws(VaultCryptoError) {
            opened = try KeySlot.unlock(slots, with: follower, vault: vaultID)
        } catch {
            throw StoreError(following: error)
        }
        let row = try VaultRow.load(tables, vault: vaultID, opened: OpenedSlot(opened))
        // Anyone can seal a key for a recipient. Only a process that had the vault's keys can pass them on.
        guard row.knows(opened.slot), row.keyring.continues(known.keyring) else {
            throw .quarantined(
                "keySlot", opened.slot.description.id, "it leads to another vault's keys: it was planted")
        }
        return row
    }

    /// The key of this process's slot, if it is available without a prompt.
    func heldKey(of slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        try follower.slotKey(for: slot)
    }

    /// The root key that a cell names.
    ///
    /// Roots that were retired since this process opened the vault still count: a snapshot may be older than that.
    func root(_ id: KeyID) throws(VaultCryptoError) -> SealingKey {
        guard let key = keyrings.root(for: id) else {
            throw VaultCryptoError(.unknownKey, "the cell names a root key that the vault's keyring does not hold")
        }
        return key
    }
}

extension StoreError {
    /// The error for a row that cannot be opened. The crypto error gives the reason and names no secret.
    static func quarantined(_ table: String, _ handle: Bytes16?, _ error: VaultCryptoError) -> StoreError {
        if case .outOfGuardedMemory = error.code { return StoreError(.outOfMemory, error.message, hint: error.hint) }
        return quarantined(table, handle, error.message)
    }

    private static func wayOut(_ table: String, _ handle: String?) -> String {
        guard DamagedRow.Table(rawValue: table) != nil else { return "`vaultctl verify` lists all damage" }
        guard let handle else { return "`vaultctl damage list` shows the damaged rows" }
        return "see what is left of it with `vaultctl damage show \(handle)`"
    }

    static func quarantined(_ table: String, _ handle: Bytes16?, _ reason: String) -> StoreError {
        let text = handle.map { Base32.encode($0) }
        return StoreError(
            .quarantined(table: table, handle: text),
            "a row of \(table)\(text.map { " (\($0))" } ?? "") is not as the vault left it: \(reason)",
            hint: "nothing was changed; \(wayOut(table, text))")
    }
}
