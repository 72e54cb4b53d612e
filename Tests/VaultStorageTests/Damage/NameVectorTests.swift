import Foundation
import Testing

@testable import VaultCrypto
@testable import VaultStorage

/// Blind indexes of names, as `scripts/vectors` makes them with another implementation of Unicode.
struct NameVectorTests {
    private struct Book: Decodable {
        struct Vector: Decodable {
            let key: String
            let value: String
            let index: String
        }

        let blindIndexes: [Vector]
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).compactMap { offset in
            let start = hex.index(hex.startIndex, offsetBy: offset)
            return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
        }
    }

    @Test func namesHaveTheIndexesThatAreDocumented() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let url = tests.deletingLastPathComponent().appending(path: "VaultCryptoTests/Vectors/names-1.json")
        let vectors = try JSONDecoder().decode(Book.self, from: Data(contentsOf: url)).blindIndexes
        #expect(vectors.count == 7)
        for vector in vectors {
            let key = try unsafe Self.bytes(vector.key).withUnsafeBytes {
                try unsafe SealingKey(id: .random(), copying: $0)
            }
            let keyring = Keyring(
                primaryRoot: try .generate(), retiredRoots: [], indexKey: key, auditKey: try .generate())
            let name = String(decoding: Self.bytes(vector.value), as: UTF8.self)
            let index = keyring.blindIndex(ofProviderName: name)
            #expect(Hexadecimal.text(index.bytes.array) == vector.index, "\(name)")
            #expect(index != keyring.blindIndex(ofUserId: name))
        }
    }
}
