public import FoundationEssentials

/// One of the ways to open a vault. Any slot opens all of it; removing one leaves the others.
public struct KeySlot: Sendable, Equatable, Identifiable {
    /// Random; 26 lower-case base32 characters.
    public let id: String
    public let kind: Kind
    public let label: String
    public let createdAt: Date

    public enum Kind: String, Sendable, Equatable {
        case keyFile
        case passphrase
    }
}
