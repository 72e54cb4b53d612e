import Testing

@testable import VaultCrypto

struct RedactionTests {
    private static let canary = "CANARY-7f3a91"

    private static func renderings(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        let mirrored = Mirror(reflecting: value).children.map { "\($0)" }.joined()
        let holder = [Optional(value)]
        return [
            "\(value)", String(describing: value), String(reflecting: value), dumped, mirrored, "\(holder)",
            String(reflecting: holder),
        ]
    }

    @Test func noRenderingShowsASecret() throws {
        let bytes = Array("\(Self.canary)-padded-to-32-bytes!".utf8).prefix(32)
        let key = try unsafe Array(bytes + [UInt8](repeating: 33, count: 32 - bytes.count)).withUnsafeBytes {
            try unsafe SealingKey(id: .random(), copying: $0)
        }
        let values: [Any] = [
            SecretBytes(utf8: Self.canary), key,
            Keyring(primaryRoot: key, retiredRoots: [key], indexKey: key, auditKey: key),
            try PassphraseUnlocker(SecretBytes(utf8: Self.canary)),
        ]
        for value in values {
            for rendering in Self.renderings(of: value) {
                #expect(!rendering.contains(Self.canary))
                #expect(!rendering.contains("67, 65, 78"), "the canary's first bytes as numbers")
            }
        }
        #expect("\(SecretBytes(utf8: Self.canary))" == "<redacted>")
        #expect(Mirror(reflecting: key).children.isEmpty)
        #expect(Mirror(reflecting: SecretBytes(utf8: Self.canary)).children.isEmpty)
    }

    @Test func anErrorIsOneSentenceWithItsHint() {
        let error = VaultCryptoError(.wrongKey, "the key opens nothing", hint: "use another")
        #expect("\(error)" == "the key opens nothing (use another)")
        #expect("\(VaultCryptoError(.wrongKey, "the key opens nothing"))" == "the key opens nothing")
    }
}
