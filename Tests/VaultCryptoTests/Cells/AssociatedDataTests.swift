import Testing

@testable import VaultCrypto

struct AssociatedDataTests {
    enum Field: Hashable {
        case absent
        case integer(Int64)
        case bytes([UInt8])
        case text(String)
    }

    private static func encode(_ fields: [Field]) -> [UInt8] {
        var data = AssociatedData()
        for field in fields {
            switch field {
            case .absent: data.appendNil()
            case .integer(let value): data.append(value)
            case .bytes(let bytes): data.append(bytes: bytes)
            case .text(let text): data.append(text)
            }
        }
        return unsafe data.withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// Reads the encoding back. That this is possible for every list is what makes the encoding injective.
    private static func decode(_ bytes: [UInt8]) -> [Field]? {
        var rest = bytes[...]
        var fields: [Field] = []
        while let type = rest.popFirst() {
            switch type {
            case 0: fields.append(.absent)
            case 1:
                let value = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                fields.append(.integer(Int64(bitPattern: value)))
                rest = rest.dropFirst(8)
            default:
                guard let low = rest.popFirst(), let high = rest.popFirst() else { return nil }
                let content = Array(rest.prefix(Int(low) | Int(high) << 8))
                rest = rest.dropFirst(content.count)
                fields.append(type == 2 ? .bytes(content) : .text(String(decoding: content, as: UTF8.self)))
            }
        }
        return fields
    }

    private static func randomField() -> Field {
        switch Int.random(in: 0..<4) {
        case 0: .absent
        case 1: .integer([0, 1, -1, 2, 256, .max, .min].randomElement() ?? 0)
        case 2: .bytes((0..<Int.random(in: 0..<5)).map { _ in UInt8.random(in: 0...3) })
        default:
            .text(
                String(
                    (0..<Int.random(in: 0..<5)).map { _ in ["\0", "\u{1}", "\u{2}", "a", "é"].randomElement() ?? "a" }))
        }
    }

    @Test func noTwoListsOfFieldsHaveTheSameEncoding() {
        var seen: [[UInt8]: [Field]] = [:]
        var collisions = 0
        for _ in 0..<50_000 {
            let fields = (0..<Int.random(in: 0..<6)).map { _ in Self.randomField() }
            let encoding = Self.encode(fields)
            if let earlier = seen.updateValue(fields, forKey: encoding), earlier != fields { collisions += 1 }
            if Self.decode(encoding) != fields { collisions += 1 }
        }
        print("associated data: \(seen.count) different lists of fields, no collision")
        #expect(collisions == 0)
    }

    @Test func anAbsentValueDiffersFromAnEmptyOneAndFromZero() {
        let encodings: [[Field]] = [[.absent], [.bytes([])], [.text("")], [.integer(0)], []]
        #expect(Set(encodings.map(Self.encode)).count == encodings.count)
    }

    @Test func itHoldsExactlyItsCapacity() {
        var data = AssociatedData()
        data.append(bytes: [UInt8](repeating: 1, count: AssociatedData.capacity - 3))
        let (count, fits) = (data.count, !data.isTooLong)
        #expect(count == AssociatedData.capacity && fits)
        data.appendNil()
        let isTooLong = data.isTooLong
        #expect(isTooLong)
        var text = AssociatedData()
        text.append(String(repeating: "x", count: 70_000))
        let isTextTooLong = text.isTooLong
        #expect(isTextTooLong)
    }
}
