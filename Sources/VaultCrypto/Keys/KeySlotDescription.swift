/// The plaintext of a key slot: what an unlocker needs to find or make the key that wraps the vault key.
package struct KeySlotDescription: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case keyFile
        case passphrase(salt: Bytes16, cost: Argon2Cost)
        /// The slot key is stored in the slot, wrapped by an operator's program.
        ///
        /// - Parameter keyName: The program's name for the key that it used, for display only.
        case wrapped([UInt8], keyName: String?)
        /// - Parameter share: The public half of the key pair that was made for this slot alone.
        case recipient(Recipient, share: [UInt8])

        /// The vault's number for the kind.
        package var code: Int64 {
            switch self {
            case .keyFile: 1
            case .passphrase: 2
            case .wrapped: 3
            case .recipient: 4
            }
        }

        /// Whether a slot can be forged without the means to open it. Anyone can make a slot for a recipient, and
        /// anyone who may encrypt with the wrapping program's key can make one for the program. That such a slot opens
        /// proves nothing about the vault.
        package var isForgeable: Bool {
            switch self {
            case .keyFile, .passphrase: false
            case .wrapped, .recipient: true
            }
        }
    }

    /// The limit for a slot key that a program wrapped.
    package static let maximumWrappedByteCount = 4096
    package static let maximumKeyNameByteCount = 200

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

    /// The context that the wrapped vault key is bound to: every column of the slot's row.
    package func associatedData(vault: Bytes16) -> AssociatedData {
        var data = AssociatedData(vault: vault, table: "keySlot")
        data.append(id)
        data.append(kind.code)
        data.append(keyID.bytes)
        if case .passphrase(let salt, let cost) = kind {
            data.append(salt)
            data.append(Int64(cost.operations))
            data.append(Int64(cost.memoryKiB))
        } else {
            data.appendNil()
            data.appendNil()
            data.appendNil()
        }
        data.append(label)
        data.append(createdAt)
        switch kind {
        case .keyFile, .passphrase: break
        case .wrapped(let blob, let keyName):
            // Hashed, because it may exceed the limit of associated data.
            data.append(bytes: unsafe blob.withUnsafeBytes { unsafe Checksum.digest(of: $0) })
            data.append(keyName)
        case .recipient(let recipient, let share):
            data.append(bytes: recipient.bytes)
            data.append(bytes: share)
        }
        return data
    }
}
