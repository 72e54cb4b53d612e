/// The plaintext of a key slot: what an unlocker must know to find or make the key that wraps the vault key.
package struct KeySlotDescription: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case keyFile
        case passphrase(salt: Bytes16, cost: Argon2Cost)

        /// The number that stands for the kind in the vault.
        package var code: Int64 {
            switch self {
            case .keyFile: 1
            case .passphrase: 2
            }
        }
    }

    /// The slot's handle.
    package let id: Bytes16
    /// The id of the key that opens the slot, derived from that key.
    package let keyID: KeyID
    package let kind: Kind
    package let label: String
    /// Milliseconds since 1970.
    package let createdAt: Int64

    package static let maximumLabelByteCount = 200

    package init(
        id: Bytes16, keyID: KeyID, kind: Kind, label: String, createdAt: Int64
    ) throws(VaultCryptoError) {
        guard label.utf8.count <= Self.maximumLabelByteCount else {
            throw VaultCryptoError(.labelTooLong, "a key slot's label has at most 200 bytes")
        }
        self.id = id
        self.keyID = keyID
        self.kind = kind
        self.label = label
        self.createdAt = createdAt
    }

    /// What the wrapped vault key is bound to: every column of the slot's row.
    package func associatedData(vault: Bytes16) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "keySlot")
        data.append(id)
        data.append(kind.code)
        data.append(keyID.bytes)
        switch kind {
        case .keyFile:
            data.appendNil()
            data.appendNil()
            data.appendNil()
        case .passphrase(let salt, let cost):
            data.append(salt)
            data.append(Int64(cost.operations))
            data.append(Int64(cost.memoryKiB))
        }
        data.append(label)
        data.append(createdAt)
        return data
    }
}
