package import FoundationEssentials
import VaultStorage

/// One of the ways to open a vault. Any slot opens all of it; removing one leaves the others.
package struct KeySlot: Sendable, Equatable, Identifiable {
    package let id: KeySlotID
    package let kind: Kind
    package let label: String
    package let createdAt: Date
    /// When a key was last seen to open it: by ``Vault/testKeySlot(_:with:)``, or by a process that opened the vault by
    /// this slot and changed a provider or a key. Nil if none was since the slot was made.
    package let provenAt: Date?
    /// For whom a slot of kind ``Kind/recipient`` was made: `age1…`. Public; nil for other kinds.
    package let recipient: String?
    /// What the program of a slot of kind ``Kind/wrapped`` calls the key that it used.
    package let keyName: String?
    /// Whether a guess at the passphrase costs less than it would in a slot that is made today.
    package let isCheaperThanToday: Bool

    package enum Kind: String, Sendable, Equatable {
        case keyFile
        case passphrase
        /// The key is wrapped by a program of the operator: a key management service, a TPM, clevis.
        case wrapped
        /// The key pair of an age identity.
        case recipient
    }
}

/// Names one key slot. Random; not a secret. Written as 26 lower-case base32 characters.
package struct KeySlotID: Hashable, Sendable, LosslessStringConvertible {
    let handle: KeySlotHandle

    init(_ handle: KeySlotHandle) { self.handle = handle }

    /// Reads the text form; nil if it is not one.
    package init?(_ description: String) {
        guard let handle = KeySlotHandle(text: description) else { return nil }
        self.handle = handle
    }

    package var description: String { handle.text }
}
