package import FoundationEssentials
import VaultStorage

/// One of the ways to open a vault. Any slot opens all of it; removing one leaves the others.
package struct KeySlot: Sendable, Equatable, Identifiable {
    package let id: KeySlotID
    package let kind: Kind
    package let label: String
    package let createdAt: Date
    /// When a key last opened it: in ``Vault/testKeySlot(_:with:)``, or in a process that opened the vault by this slot
    /// and changed a provider or a key. Nil if none has since the slot was made.
    package let provenAt: Date?
    /// The recipient for which a slot of kind ``Kind/recipient`` was made: `age1…`. Public; nil for other kinds.
    package let recipient: String?
    /// The name of the key that the program of a slot of kind ``Kind/wrapped`` used.
    package let keyName: String?
    /// Whether guessing the passphrase costs less than for a slot that is made today.
    package let isCheaperThanToday: Bool

    package enum Kind: String, Sendable, Equatable {
        case keyFile
        case passphrase
        /// The key is wrapped by an operator's program: a key management service, a TPM, clevis.
        case wrapped
        /// The key pair of an age identity.
        case recipient
    }
}

/// Identifies one key slot. Random; not a secret. Written as 26 lower-case base32 characters.
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
