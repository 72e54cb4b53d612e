import TokenVault

/// How a key slot is shown.
enum KeyFacts {
    static func isID(_ text: String) -> Bool {
        text.utf8.count == 26 && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) }
    }

    static func sheet(_ slot: KeySlot) -> Sheet {
        [
            Field("id", slot.id).column("SLOT"), Field("kind", slot.kind.rawValue).column("KIND"),
            Field("label", slot.label).column("LABEL"), Field("createdAt", slot.createdAt).column("CREATED"),
        ]
    }
}
