package import FoundationEssentials
package import VaultStorage

/// One of the ways to open a vault. Any slot opens all of it; removing one leaves the others.
package struct KeySlot: Sendable, Equatable, Identifiable {
    package let id: KeySlotHandle
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
