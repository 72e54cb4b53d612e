import Synchronization
import VaultCrypto

/// The newest known state of the vault's row. Nothing older is accepted.
final class VaultRowKeeper: Sendable {
    private let row: Mutex<VaultRow>

    init(_ row: VaultRow) { self.row = Mutex(row) }

    var current: VaultRow { row.withLock { $0 } }
    /// The keys alone, which cost less to copy than the whole row.
    var keyring: Keyring { row.withLock { $0.keyring } }

    /// Whether both know the row in the same state. This is cheaper than copying one.
    func isSame(as other: VaultRowKeeper) -> Bool {
        let mine = row.withLock { VaultRowMark($0) }
        return other.row.withLock { VaultRowMark($0) } == mine
    }

    /// Goes back to a state when a transaction is rolled back.
    func restore(_ state: VaultRow) { row.withLock { $0 = state } }

    /// Advances to a state, unless a newer one is known.
    func advance(to state: VaultRow) {
        row.withLock { row in if state.revision >= row.revision { row = state } }
    }

    /// Checks whether the row has changed, and reads it again if so. If not, it reads only two integers of one row.
    ///
    /// Call this in the snapshot that holds the data that the row is checked against: then both are of one moment.
    @discardableResult
    func look(_ tables: any TableAccess, _ context: VaultContext) throws(StoreError) -> VaultRow {
        let known = current
        let columns = try tables.cursor(.vaultState)
        let isUnchanged: Bool
        do {
            defer { columns.reset() }
            isUnchanged =
                try columns.step() && columns.integer(0) == known.revision
                && columns.integer(1) == known.incarnation
        }
        if isUnchanged { return known }
        let found = try context.load(tables, known: known)
        guard found.revision > known.revision else { throw Self.older }
        advance(to: found)
        context.adopt(found)
        return found
    }

    private static var older: StoreError {
        StoreError(
            .rollbackSuspected, "the vault's own row is older than what this process has already seen of it",
            hint: "find out who changed the file; nothing is written to it")
    }
}

/// The numbers in which two states of the vault's row differ.
private struct VaultRowMark: Equatable {
    private let revision: Int64
    private let incarnation: Int64
    private let auditSequence: Int64
    private let keyringTag: CellTag
    private let manifestTag: CellTag?
    private let keyring: ObjectIdentifier
    private let vaultKey: ObjectIdentifier
    private let isProven: Bool

    init(_ row: VaultRow) {
        revision = row.revision
        incarnation = row.incarnation
        auditSequence = row.auditSequence
        keyringTag = row.keyringTag
        manifestTag = row.manifestTag
        keyring = ObjectIdentifier(row.keyring)
        vaultKey = ObjectIdentifier(row.opened.vaultKey)
        isProven = row.opened.isProven
    }
}

/// A chain of keyrings, each the successor of the one before it. Reading the newest takes no lock.
final class KeyringSuccession: Sendable {
    private let keyring: Keyring
    private let successor = AtomicLazyReference<KeyringSuccession>()
    /// Whether there is a successor. Each read checks this flag: loading the reference costs many times as much.
    private let isSucceeded = Atomic(false)

    init(_ keyring: Keyring) { self.keyring = keyring }

    var newest: Keyring { last.keyring }

    private var last: KeyringSuccession {
        var last = self
        while last.isSucceeded.load(ordering: .acquiring), let next = last.successor.load() { last = next }
        return last
    }

    /// A root key of the newest keyring, or of an earlier one.
    func root(for id: KeyID) -> SealingKey? {
        if let key = newest.root(for: id) { return key }
        var link: KeyringSuccession? = self
        while let current = link {
            if let key = current.keyring.root(for: id) { return key }
            link = current.successor.load()
        }
        return nil
    }

    func append(_ keyring: Keyring) {
        let last = last
        guard last.keyring !== keyring else { return }
        _ = last.successor.storeIfNil(KeyringSuccession(keyring))
        last.isSucceeded.store(true, ordering: .releasing)
    }
}

extension Query {
    static let vaultState = select(Table.vault.columns("revision", "incarnation"), from: .vault)
}
