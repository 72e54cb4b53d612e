import FoundationEssentials
import TokenVault
import VaultAdministration
import VaultStorage

/// How a key slot is displayed.
enum KeyView {
    static let headings = ["SLOT", "KIND", "LABEL", "CREATED", "PROVEN"]

    static func record(_ slot: KeySlot) -> OutputRecord {
        [
            Field("id", slot.id.description).column("SLOT"), Field("kind", slot.kind.rawValue).column("KIND"),
            Field("label", slot.label).column("LABEL"), Field("createdAt", slot.createdAt).column("CREATED"),
            Field("provenAt", slot.provenAt).orWords("never")
                .column("PROVEN", slot.provenAt.map { JSONValue.date($0) } ?? .string("never"), inPipe: slot.provenAt),
            Field("recipient", slot.recipient), Field("keyName", slot.keyName),
        ]
    }

    /// - Parameter opens: whether the current key opens the slot.
    static func record(_ slot: KeySlot, opens: Bool) -> OutputRecord {
        record(slot) + [Field("opens", opens).column("OPENS")]
    }

    /// The slot in a sentence: its kind, its label and its id.
    static func words(_ slot: KeySlot) -> String {
        "\(slot.id) (\(kind(slot.kind)), \(Printable.shortened(slot.label)))"
    }

    /// What distinguishes slots with the same label.
    static func kindAndDate(_ slot: KeySlot) -> String {
        "\(kind(slot.kind)), made \(slot.createdAt.formatted(.iso8601))"
    }

    private static func kind(_ kind: KeySlot.Kind) -> String {
        switch kind {
        case .keyFile: "key file"
        case .passphrase: "passphrase"
        case .wrapped: "wrapped by a program"
        case .recipient: "age identity"
        }
    }
}
