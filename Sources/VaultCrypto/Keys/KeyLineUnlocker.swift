/// The line of a key file from another source: a descriptor, a program, a secret manager.
package struct KeyLineUnlocker: SlotUnlocker, SlotMaker {
    private let key: SealingKey

    package init(_ line: SecretBytes) throws(VaultCryptoError) { key = try KeyFileLine.decode(line) }

    package func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        guard case .keyFile = slot.kind, key.id == slot.keyID else { return nil }
        return key
    }

    package func makeSlot(
        id: Bytes16, label: String, createdAt: Int64
    ) throws(VaultCryptoError) -> (description: KeySlotDescription, key: SealingKey) {
        (try KeySlotDescription(id: id, keyID: key.id, kind: .keyFile, label: label, createdAt: createdAt), key)
    }
}

/// A file in the credentials directory that systemd made for this service (`LoadCredential=`).
package enum Credential {
    package static let variable = "CREDENTIALS_DIRECTORY"

    /// - Parameter directory: The value of that variable.
    package static func path(named name: String, in directory: String?) throws(VaultCryptoError) -> String {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")), !name.utf8.contains(0)
        else {
            throw VaultCryptoError(
                .keySourceFailed, "a credential's name is one file name, without a slash",
                hint: "use the name before the colon in LoadCredential=")
        }
        guard let directory, !directory.isEmpty else {
            throw VaultCryptoError(
                .keySourceFailed, "this process has no credentials: \(variable) is not set",
                hint: "start it as a systemd service with LoadCredential=, or use a key file")
        }
        guard directory.hasPrefix("/") else {
            throw VaultCryptoError(
                .keySourceFailed, "\(variable) is a relative path, and must be an absolute one",
                hint: "systemd sets it for a service with LoadCredential=; by hand, use a key file")
        }
        return directory + "/" + name
    }
}
