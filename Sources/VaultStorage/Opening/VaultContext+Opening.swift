package import VaultCrypto

extension VaultContext {
    /// Opens a vault with one of its key slots. Returns nil if the vault has no row of its own.
    ///
    /// A row is refused if the audit trail records a later one. Only a slot that the row lists opens the vault.
    ///
    /// - Parameter policy: The limit on the cost of trying the key slots.
    package static func open(
        _ tables: any TableAccess, unlocker: any SlotUnlocker, policy: UnlockingPolicy = .init(),
        clock: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) -> VaultContext? {
        guard let vaultID = try vaultID(tables) else { return nil }
        let (slots, damage) = try KeySlotRows.all(tables)
        guard !slots.isEmpty || damage != nil else {
            throw StoreError(
                .damaged, "the vault has no key slot, so no key can open it",
                hint: "every vault is made with one: find out who changed the file, and restore a backup")
        }
        let opened = try unlock(slots, unlocker, policy, vaultID, damage)
        // The row and the trail are read at the same moment.
        return try tables.snapshot { () throws(StoreError) in
            var vault = try VaultRow.load(tables, vault: vaultID, opened: OpenedSlot(opened))
            let known = try slot(of: vault, opened, slots, unlocker, policy, vaultID)
            vault.opened = try OpenedSlot(known)
            let context = VaultContext(
                vaultID: vaultID, row: vault, follower: unlocker.follower(of: known.key), clock: clock)
            let trail = AuditTrail(try RowOpener(tables, context))
            guard try !trail.reportsLater(than: vault) else {
                throw StoreError(
                    .rollbackSuspected,
                    "the vault's own row is older than the audit trail records: a former state was put back",
                    hint: "find out who changed the file; restore a whole backup")
            }
            return context
        }
    }

    private static func vaultID(_ tables: any TableAccess) throws(StoreError) -> Bytes16? {
        let row = try tables.cursor(.vaultID)
        defer { row.reset() }
        return try row.step() ? row.bytes16(0) : nil
    }

    private static func unlock(
        _ slots: [KeySlot], _ unlocker: any SlotUnlocker, _ policy: UnlockingPolicy, _ vault: Bytes16,
        _ damage: StoreError?
    ) throws(StoreError) -> KeySlot.Opened {
        do throws(VaultCryptoError) {
            return try KeySlot.unlock(slots, with: unlocker, vault: vault, policy: policy)
        } catch {
            if let damage, error.code == .wrongKey {
                throw StoreError(
                    .damaged, "this key opens no readable key slot of the vault; \(damage.message)",
                    hint: "use another key of the vault, or restore a backup")
            }
            throw StoreError(opening: error)
        }
    }

    /// The slot that was opened, or another slot of the same key, if the vault lists it. A removed slot still wraps the
    /// vault key: if someone puts it back, it must not open the vault.
    private static func slot(
        of row: VaultRow, _ opened: KeySlot.Opened, _ slots: [KeySlot],
        _ unlocker: any SlotUnlocker, _ policy: UnlockingPolicy, _ vault: Bytes16
    ) throws(StoreError) -> KeySlot.Opened {
        if row.knows(opened.slot) { return opened }
        do throws(VaultCryptoError) {
            let other = try KeySlot.unlock(
                slots.filter { row.knows($0) }, with: unlocker, vault: vault, policy: policy)
            guard other.vaultKey.isSame(as: opened.vaultKey) else {
                throw VaultCryptoError(.wrongKey, "the slot leads to another vault key")
            }
            return other
        } catch {
            throw .quarantined(
                "keySlot", opened.slot.description.id, "the vault does not know it: it was planted or put back")
        }
    }
}

extension StoreError {
    /// Distinguishes a wrong key from an unreadable one, and both from a damaged vault.
    init(opening error: VaultCryptoError) {
        switch error.code {
        case .wrongKey: self.init(.wrongKey, error.message, hint: error.hint)
        case .keyFileMissing, .keyFileUnreadable, .keyFileTruncated, .keyFileMalformed, .keyFileUnsafe,
            .passphraseEmpty, .passphraseTooLong, .unlockingTooDear, .keySourceFailed,
            .keySourceBusy:
            self.init(.keyUnavailable(error.code), error.message, hint: error.hint)
        case .outOfMemory, .outOfGuardedMemory, .unavailable:
            self.init(.outOfMemory, error.message, hint: error.hint)
        default:
            self.init(
                .damaged, "the vault's keys are damaged: \(error.message)", hint: error.hint ?? "restore a backup")
        }
    }
}

extension StoreError {
    /// The reason why a process cannot continue after the vault key was replaced.
    init(following error: VaultCryptoError) {
        guard error.code == .wrongKey else {
            self.init(opening: error)
            return
        }
        self.init(
            .wrongKey, "the vault key was replaced, and the key slot by which this process opened the vault is gone",
            hint: "open the vault again with a key that it still has")
    }
}

extension Query {
    fileprivate static let vaultID = select(Table.vault.columns("vaultID"), from: .vault)
}
