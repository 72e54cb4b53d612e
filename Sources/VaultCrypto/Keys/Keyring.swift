/// The keys that the vault key protects: root keys, of which one seals and the others only open; the index key, and a
/// former one while it is being replaced; the audit key, and those of earlier parts of the trail. A value of keys that never changes: a rotation makes a new keyring.
package final class Keyring: Sendable, Redacted {
    /// Seals user cells and everything else that has no user.
    package let primaryRoot: SealingKey
    /// When a rotation made the primary root, in milliseconds since 1970; nil for a vault's first, and for one to which a
    /// rotation went back.
    package let primaryMadeAt: Int64?
    /// Roots that still open what they once sealed.
    package let retiredRoots: [SealingKey]
    package let indexKey: SealingKey
    /// When it took a former one's place, in milliseconds since 1970; nil for a vault's first.
    package let indexMadeAt: Int64?
    /// Finds rows that have not been moved to ``indexKey`` yet; nil unless it is being replaced.
    package let formerIndexKey: SealingKey?
    package let auditKey: SealingKey
    /// When it took a former one's place, in milliseconds since 1970; nil for a vault's first.
    package let auditMadeAt: Int64?
    /// Keys of earlier parts of the audit trail, the oldest first.
    package let formerAuditKeys: [FormerAuditKey]

    /// A key of the audit trail that another one has followed.
    package struct FormerAuditKey: Sendable {
        package let key: SealingKey
        /// The last row under it. The one before it in the list says where it begins.
        package let through: Int64
    }

    /// What a keyring is made of, to make another one of it.
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

    /// The same keys, but for what the body changes.
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

    /// Whether it has a key of another keyring's: only someone who had that one can have made it. Takes the same time
    /// wherever two keys differ.
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

    /// The same keys under a new primary root; the old one only opens from now on.
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

    /// The same keys, with a retired root as the primary one again. Nothing changes if there is no such root.
    package func restoringRoot(_ id: KeyID) -> Keyring {
        guard let root = retiredRoots.first(where: { $0.id == id }) else { return self }
        return with {
            $0.retiredRoots = $0.retiredRoots.filter { $0.id != id } + [$0.primaryRoot]
            $0.primaryRoot = root
            $0.primaryMadeAt = nil
        }
    }

    /// The same keys without one that no cell needs. The primary root cannot be dropped.
    package func droppingRoot(_ id: KeyID) -> Keyring {
        with { $0.retiredRoots.removeAll { $0.id == id } }
    }

    // MARK: Index keys

    /// The same keys with a new index key; the old one only finds from now on. There is no older one.
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

    /// The same keys without the index key that no row needs.
    package var droppingFormerIndexKey: Keyring { with { $0.formerIndexKey = nil } }

    // MARK: Audit keys

    /// More than anyone needs: a former key goes with the last row under it.
    package static let mostFormerAuditKeys = 32

    /// The key of a row of the trail.
    package func auditKey(ofRow sequence: Int64) -> SealingKey {
        formerAuditKeys.first { sequence <= $0.through }?.key ?? auditKey
    }

    /// The same keys with another key for the rows after this one.
    ///
    /// - Parameter time: Now, in milliseconds since 1970.
    package func replacingAuditKey(by new: SealingKey, after sequence: Int64, at time: Int64) -> Keyring {
        with {
            $0.formerAuditKeys.append(FormerAuditKey(key: $0.auditKey, through: sequence))
            $0.auditKey = new
            $0.auditMadeAt = time
        }
    }

    /// The same keys without one under which there is no row.
    package func droppingAuditKey(_ id: KeyID) -> Keyring {
        with { $0.formerAuditKeys.removeAll { $0.key.id == id } }
    }
}
