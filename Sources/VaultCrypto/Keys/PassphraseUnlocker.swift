import CSodium

/// A passphrase, hardened by Argon2id.
package struct PassphraseUnlocker: SlotUnlocker, SlotMaker {
    private let passphrase: SecretBytes
    private let cost: Argon2Cost

    package static let maximumByteCount = 64 * 1024

    /// - Parameter cost: The cost of new slots; an existing slot has its own.
    package init(_ passphrase: SecretBytes, cost: Argon2Cost = .standard) throws(VaultCryptoError) {
        guard !passphrase.isEmpty else {
            throw VaultCryptoError(.passphraseEmpty, "the passphrase is empty")
        }
        guard passphrase.count <= Self.maximumByteCount else {
            throw VaultCryptoError(.passphraseTooLong, "the passphrase is longer than 64 KiB")
        }
        self.passphrase = passphrase
        self.cost = cost
    }

    package func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        guard case .passphrase(let salt, let cost) = slot.kind else { return nil }
        let key = try harden(salt: salt, cost: cost)
        return key.id == slot.keyID ? key : nil
    }

    package func cost(of slot: KeySlotDescription) -> Argon2Cost? {
        if case .passphrase(_, let cost) = slot.kind { cost } else { nil }
    }

    package func makeSlot(
        id: Bytes16, label: String, createdAt: Int64
    ) throws(VaultCryptoError) -> (description: KeySlotDescription, key: SealingKey) {
        let salt = SecureRandom.bytes16()
        let key = try harden(salt: salt, cost: cost)
        let description = try KeySlotDescription(
            id: id, keyID: key.id, kind: .passphrase(salt: salt, cost: cost), label: label, createdAt: createdAt
        )
        return (description, key)
    }

    private func harden(salt: Bytes16, cost: Argon2Cost) throws(VaultCryptoError) -> SealingKey {
        try unsafe SealingKey.slotKey { target throws(VaultCryptoError) in
            let status = unsafe passphrase.withUnsafeBytes { passphrase in
                unsafe salt.withUnsafeBytes { salt -> Int32 in
                    guard let output = target.baseAddress, let text = passphrase.baseAddress,
                        let salt = salt.baseAddress
                    else { return -1 }
                    return unsafe crypto_pwhash(
                        output.u8, UInt64(target.count),
                        text.assumingMemoryBound(to: CChar.self), UInt64(passphrase.count),
                        salt.u8,
                        UInt64(cost.operations), Int(cost.memoryKiB) * 1024, crypto_pwhash_ALG_ARGON2ID13
                    )
                }
            }
            guard status == 0 else {
                throw VaultCryptoError(
                    .outOfMemory, "there is not enough memory to check the passphrase",
                    hint: "\(cost.memoryKiB / 1024) MiB are needed for a moment"
                )
            }
        }
    }
}
