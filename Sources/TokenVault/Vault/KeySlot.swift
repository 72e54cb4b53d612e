public import FoundationEssentials
import VaultStorage

/// One of the ways to open a vault. Any slot opens all of it; removing one leaves the others.
public struct KeySlot: Sendable, Equatable, Identifiable {
    public let id: KeySlotID
    public let kind: Kind
    public let label: String
    public let createdAt: Date

    public enum Kind: String, Sendable, Equatable {
        case keyFile
        case passphrase
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
