/// The keys that the vault key protects: root keys, of which one seals and the others only open; the index key; the
/// audit key. A value of keys that never changes: a rotation makes a new keyring.
package final class Keyring: Sendable, Redacted {
    /// Seals user cells and everything else that has no user.
    package let primaryRoot: SealingKey
    /// When a rotation made the primary root, in milliseconds since 1970; nil for a vault's first, and for one to which a
    /// rotation went back.
    package let primaryMadeAt: Int64?
    /// Roots that still open what they once sealed.
    package let retiredRoots: [SealingKey]
    package let indexKey: SealingKey
    package let auditKey: SealingKey

    init(
        primaryRoot: SealingKey, primaryMadeAt: Int64? = nil, retiredRoots: [SealingKey], indexKey: SealingKey,
        auditKey: SealingKey
    ) {
        self.primaryRoot = primaryRoot
        self.primaryMadeAt = primaryMadeAt
        self.retiredRoots = retiredRoots
        self.indexKey = indexKey
        self.auditKey = auditKey
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
        let pairs = [(indexKey, other.indexKey), (auditKey, other.auditKey)]
        return pairs.contains { $0.isSame(as: $1) }
            || ([primaryRoot] + retiredRoots).contains { $0.isSame(as: other.primaryRoot) }
    }

    /// The root key that a cell's header names; `nil` if this keyring does not hold it.
    package func root(for id: KeyID) -> SealingKey? {
        if primaryRoot.id == id { return primaryRoot }
        return retiredRoots.first { $0.id == id }
    }

    /// The same keys under a new primary root; the old one only opens from now on.
    ///
    /// - Parameter time: Now, in milliseconds since 1970.
    package func addingPrimaryRoot(madeAt time: Int64) throws(VaultCryptoError) -> Keyring {
        Keyring(
            primaryRoot: try .generate(), primaryMadeAt: time, retiredRoots: retiredRoots + [primaryRoot],
            indexKey: indexKey, auditKey: auditKey
        )
    }

    /// The same keys, with a retired root as the primary one again. Nothing changes if there is no such root.
    package func restoringRoot(_ id: KeyID) -> Keyring {
        guard let root = retiredRoots.first(where: { $0.id == id }) else { return self }
        return Keyring(
            primaryRoot: root, retiredRoots: retiredRoots.filter { $0.id != id } + [primaryRoot],
            indexKey: indexKey, auditKey: auditKey
        )
    }

    /// The same keys without one that no cell needs. The primary root cannot be dropped.
    package func droppingRoot(_ id: KeyID) -> Keyring {
        Keyring(
            primaryRoot: primaryRoot, primaryMadeAt: primaryMadeAt,
            retiredRoots: retiredRoots.filter { $0.id != id }, indexKey: indexKey, auditKey: auditKey
        )
    }
}
