public import FoundationEssentials
import VaultStorage

/// One of the ways to open a vault. Any slot opens all of it; removing one leaves the others.
public struct KeySlot: Sendable, Equatable, Identifiable {
    public let id: KeySlotID
    public let kind: Kind
    public let label: String
    public let createdAt: Date
    /// When a key was last seen to open it: by ``Vault/testKeySlot(_:with:)``, or by a process that opened the vault by
    /// this slot and changed a provider or a key. Nil if none was since the slot was made.
    public let provenAt: Date?
    /// For whom a slot of kind ``Kind/recipient`` was made: `age1…`. Public; nil for other kinds.
    public let recipient: String?
    /// What the program of a slot of kind ``Kind/wrapped`` calls the key that it used.
    public let keyName: String?
    /// Whether a guess at the passphrase costs less than it would in a slot that is made today.
    public let isCheaperThanToday: Bool

    public enum Kind: String, Sendable, Equatable {
        case keyFile
        case passphrase
        /// The key is wrapped by a program of the operator: a key management service, a TPM, clevis.
        case wrapped
        /// The key pair of an age identity.
        case recipient
    }
}

/// Names one key slot. Random; not a secret. Written as 26 lower-case base32 characters.
public struct KeySlotID: Hashable, Sendable, LosslessStringConvertible {
    let handle: KeySlotHandle

    init(_ handle: KeySlotHandle) { self.handle = handle }

    /// Reads the text form; nil if it is not one.
    public init?(_ description: String) {
        guard let handle = KeySlotHandle(text: description) else { return nil }
        self.handle = handle
    }

    public var description: String { handle.text }
}
