import OAuthClient
import VaultCrypto
import VaultStorage

/// A position in the vault's record of events, to save and use after a restart. A short text without secrets.
public struct EventCursor: Hashable, Sendable, LosslessStringConvertible {
    /// The row of the audit trail up to which everything has been read.
    let sequence: Int64
    /// The beginning of that row's link, which differs in another trail. Empty: not compared.
    let mark: String

    init(sequence: Int64, mark: String) {
        self.sequence = sequence
        self.mark = mark
    }

    init(_ sequence: Int64, _ link: AuditMAC?) {
        self.init(sequence: sequence, mark: link.map { Self.mark(of: $0) } ?? "")
    }

    /// Before the first event that the vault still has.
    public static let start = EventCursor(sequence: 0, mark: "")

    /// Reads the text form; nil if it is not one.
    public init?(_ description: String) {
        let parts = description.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count <= 2, let number = parts.first, (1...19).contains(number.utf8.count),
            number.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let sequence = Int64(number)
        else { return nil }
        let mark = parts.count == 2 ? String(parts[1]) : ""
        guard mark.isEmpty && parts.count == 1 || mark.utf8.count == Self.markLength,
            mark.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.init(sequence: sequence, mark: mark)
    }

    public var description: String { mark.isEmpty ? "\(sequence)" : "\(sequence)-\(mark)" }

    private static let markLength = 16

    static func mark(of link: AuditMAC) -> String {
        Hex.encode(link.array.prefix(markLength / 2))
    }
}

extension EventCursor: NameRendering {}
