import TokenVault

enum KeyFacts {
    static func isID(_ text: String) -> Bool {
        text.utf8.count == 26 && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) }
    }

    static func json(_ slot: KeySlot) -> JSONValue {
        .object([
            ("id", .string(slot.id)), ("kind", .string(slot.kind.rawValue)), ("label", .string(slot.label)),
            ("createdAt", Instant.json(slot.createdAt)),
        ])
    }
}
