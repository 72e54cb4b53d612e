import TokenVault

/// How a key slot is shown.
enum KeyFacts {
    static func sheet(_ slot: KeySlot) -> Sheet {
        [
            Field("id", slot.id.description).column("SLOT"), Field("kind", slot.kind.rawValue).column("KIND"),
            Field("label", slot.label).column("LABEL"), Field("createdAt", slot.createdAt).column("CREATED"),
        ]
    }
}
