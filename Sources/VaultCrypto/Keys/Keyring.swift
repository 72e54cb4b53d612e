/// The keys that the vault key protects: one root key that seals, and retired ones that only open; the index key, and a
/// former one while it is being replaced; the audit key, and those of earlier parts of the trail. A keyring is
/// immutable: a rotation makes a new one.
package final class Keyring: Sendable, Redacted {
    /// Seals user cells and everything else that belongs to no user.
    package let primaryRoot: SealingKey
    /// When a rotation made the primary root, in milliseconds since 1970; nil for a vault's first, and for one that a
    /// rotation restored.
    package let primaryMadeAt: Int64?
    /// Roots that only open cells that they sealed earlier.
    package let retiredRoots: [SealingKey]
    package let indexKey: SealingKey
    /// When it replaced its predecessor, in milliseconds since 1970; nil for a vault's first.
    package let indexMadeAt: Int64?
    /// Finds rows that have not been moved to ``indexKey`` yet; nil unless it is being replaced.
    package let formerIndexKey: SealingKey?
    package let auditKey: SealingKey
    /// When it replaced its predecessor, in milliseconds since 1970; nil for a vault's first.
    package let auditMadeAt: Int64?
    /// Keys of earlier parts of the audit trail, the oldest first.
    package let formerAuditKeys: [FormerAuditKey]

    /// A replaced key of the audit trail.
    package struct FormerAuditKey: Sendable {
        package let key: SealingKey
        /// The last row under it. Its first row follows the last row of the key before it in the list.
        package let through: Int64
    }

    /// The contents of a keyring, for making a changed copy.
    struct Parts {
        var primaryRoot: SealingKey
        var primaryMadeAt: Int64?
        var retiredRoots: [SealingKey]
        var indexKey: SealingKey
        var indexMadeAt: Int64?
        var formerIndexKey: SealingKey?
        var auditKey: SealingKey
        var auditMadeAt: Int64?
        var formerAuditKeys: [FormerAuditKey] = []
    }

    init(_ parts: Parts) {
        primaryRoot = parts.primaryRoot
        primaryMadeAt = parts.primaryMadeAt
        retiredRoots = parts.retiredRoots
        indexKey = parts.indexKey
        indexMadeAt = parts.indexMadeAt
        formerIndexKey = parts.formerIndexKey
        auditKey = parts.auditKey
        auditMadeAt = parts.auditMadeAt
        formerAuditKeys = parts.formerAuditKeys
    }

    convenience init(
        primaryRoot: SealingKey, retiredRoots: [SealingKey], indexKey: SealingKey, auditKey: SealingKey
    ) {
        self.init(
            Parts(primaryRoot: primaryRoot, retiredRoots: retiredRoots, indexKey: indexKey, auditKey: auditKey))
    }

    /// The same keys with the changes that the body makes.
    private func with(_ change: (inout Parts) -> Void) -> Keyring {
        var parts = Parts(
            primaryRoot: primaryRoot, primaryMadeAt: primaryMadeAt, retiredRoots: retiredRoots, indexKey: indexKey,
            indexMadeAt: indexMadeAt, formerIndexKey: formerIndexKey, auditKey: auditKey, auditMadeAt: auditMadeAt,
            formerAuditKeys: formerAuditKeys)
        change(&parts)
        return Keyring(parts)
    }

    /// The keyring of a new vault.
    package static func generate() throws(VaultCryptoError) -> Keyring {
        Keyring(
            primaryRoot: try .generate(), retiredRoots: [], indexKey: try .generate(), auditKey: try .generate()
        )
    }

    /// Whether it shares a key with another keyring: only a holder of that keyring can have made it. The comparison
    /// takes the same time wherever two keys differ.
    package func continues(_ other: Keyring) -> Bool {
        let pairs = [
            ([indexKey] + (formerIndexKey.map { [$0] } ?? []), other.indexKey),
            ([auditKey] + formerAuditKeys.map(\.key), other.auditKey),
            ([primaryRoot] + retiredRoots, other.primaryRoot),
        ]
        return pairs.contains { keys, key in keys.contains { $0.isSame(as: key) } }
    }

    // MARK: Root keys

    /// The root key that a cell's header names; `nil` if this keyring does not hold it.
    package func root(for id: KeyID) -> SealingKey? {
        if primaryRoot.id == id { return primaryRoot }
        return retiredRoots.first { $0.id == id }
    }

    /// The same keys under a new primary root; the old one only opens from then on.
    ///
    /// - Parameter time: Now, in milliseconds since 1970.
    package func addingPrimaryRoot(madeAt time: Int64) throws(VaultCryptoError) -> Keyring {
        let new = try SealingKey.generate()
        return with {
            $0.retiredRoots.append($0.primaryRoot)
            $0.primaryRoot = new
            $0.primaryMadeAt = time
        }
    }

    /// The same keys with a retired root as the primary again. Nothing changes if there is no such root.
    package func restoringRoot(_ id: KeyID) -> Keyring {
        guard let root = retiredRoots.first(where: { $0.id == id }) else { return self }
        return with {
            $0.retiredRoots = $0.retiredRoots.filter { $0.id != id } + [$0.primaryRoot]
            $0.primaryRoot = root
            $0.primaryMadeAt = nil
        }
    }

    /// The same keys without a root that no cell needs. The primary root cannot be dropped.
    package func droppingRoot(_ id: KeyID) -> Keyring {
        with { $0.retiredRoots.removeAll { $0.id == id } }
    }

    // MARK: Index keys

    /// The same keys with a new index key. The old one only finds rows from then on, and any older one is dropped.
    ///
    /// - Parameter time: Now, in milliseconds since 1970.
    package func replacingIndexKey(at time: Int64) throws(VaultCryptoError) -> Keyring {
        let new = try SealingKey.generate()
        return with {
            $0.formerIndexKey = $0.indexKey
            $0.indexKey = new
            $0.indexMadeAt = time
        }
    }

    /// The same keys without the former index key, which no row needs any more.
    package var droppingFormerIndexKey: Keyring { with { $0.formerIndexKey = nil } }

    // MARK: Audit keys

    /// A generous limit: a former key is dropped with the last row under it.
    package static let mostFormerAuditKeys = 32

    /// The key of a row of the trail.
    package func auditKey(ofRow sequence: Int64) -> SealingKey {
        formerAuditKeys.first { sequence <= $0.through }?.key ?? auditKey
    }

    /// The same keys with a new audit key for the rows after this one.
    ///
    /// - Parameter time: Now, in milliseconds since 1970.
    package func replacingAuditKey(by new: SealingKey, after sequence: Int64, at time: Int64) -> Keyring {
        with {
            $0.formerAuditKeys.append(FormerAuditKey(key: $0.auditKey, through: sequence))
            $0.auditKey = new
            $0.auditMadeAt = time
        }
    }

    /// The same keys without an audit key that no row needs.
    package func droppingAuditKey(_ id: KeyID) -> Keyring {
        with { $0.formerAuditKeys.removeAll { $0.key.id == id } }
    }
}
