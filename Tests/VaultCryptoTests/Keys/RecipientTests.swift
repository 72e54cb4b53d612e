import Foundation
import TestSupport
import Testing

@testable import VaultCrypto

/// Key slots for a recipient of age, and the texts of its key pairs.
struct RecipientTests {
    private let vault = SecureRandom.bytes16()
    private let vaultKey: SealingKey

    init() throws { vaultKey = try .generate() }

    /// Made by age-keygen for this test.
    private static let identity = "AGE-SECRET-KEY-1RDN7R9XEVUCWH3PWS8LSCPHXWZGVR989USXH5WSM4LXHR976FH4SPQF8X6"

    private static func line(_ identity: [UInt8]) -> String {
        unsafe String(
            decoding: identity.withUnsafeBytes { unsafe Bech32.encode($0, prefix: Identity.prefix) }, as: UTF8.self)
    }

    private func unlocker(_ lines: String...) throws -> IdentityUnlocker {
        try IdentityUnlocker(SecretBytes(utf8: lines.joined(separator: "\n")))
    }

    private func slot(for identity: String) throws -> KeySlot {
        let recipient = try #require(try Identity.parse(SecretBytes(utf8: identity)).first).recipient
        return try KeySlot.wrap(
            vaultKey, for: RecipientMaker(recipient), id: SecureRandom.bytes16(), label: "recovery", createdAt: 1,
            vault: vault)
    }

    private static func code(_ contents: String) -> VaultCryptoError.Code? {
        do throws(VaultCryptoError) {
            _ = try Identity.parse(SecretBytes(utf8: contents))
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: Texts

    @Test func bech32TextsAreThoseOfBIP173() throws {
        var bytes = [UInt8](repeating: 0, count: 20)
        let text = Array("split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w".utf8)
        let isValid = unsafe text.withUnsafeBytes { text in
            unsafe bytes.withUnsafeMutableBytes { unsafe Bech32.decode(text, prefix: "split", to: $0) }
        }
        // 48 characters of data are 30 bytes, and no shorter target takes them.
        #expect(!isValid)
        bytes = [UInt8](repeating: 0, count: 30)
        let isWhole = unsafe text.withUnsafeBytes { text in
            unsafe bytes.withUnsafeMutableBytes { unsafe Bech32.decode(text, prefix: "split", to: $0) }
        }
        #expect(isWhole)
        #expect(bytes.hex == "c5f38b70305f519bf66d85fb6cf03058f3dde463ecd7918f2dc743918f2d")
        #expect(unsafe bytes.withUnsafeBytes { unsafe Bech32.encode($0, prefix: "split") } == text)
    }

    @Test func everyChangedCharacterIsSeen() throws {
        let line = Self.line(SecureRandom.bytes(32))
        #expect(Self.code(line) == nil)
        for index in line.indices {
            for character in ["q", "Q", "p", "1", " ", "\u{10}"] where line[index] != Character(character) {
                var changed = line
                changed.replaceSubrange(index...index, with: character)
                #expect(Self.code(changed) == .keyFileMalformed, "\(changed)")
            }
        }
        for length in 1..<line.count { #expect(Self.code(String(line.prefix(length))) == .keyFileMalformed) }
        #expect(Self.code(line.lowercased()) == .keyFileMalformed)
    }

    @Test func anIdentityFileIsReadAsAgeKeygenWritesIt() throws {
        let line = Self.line(SecureRandom.bytes(32))
        for contents in [
            line, line + "\n", "# created: 2026-01-01\n# public key: age1…\n\(line)\n", "\r\n\(line)\r\n\r\n",
            "\n\n\(line)",
        ] {
            #expect(Self.code(contents) == nil, "\(contents.count)")
        }
        #expect(Self.code("") == .keyFileTruncated)
        #expect(Self.code("# nothing\n") == .keyFileTruncated)
        #expect(Self.code(line + line) == .keyFileMalformed)
        #expect(Self.code(" " + line) == .keyFileMalformed)
        for foreign in [
            "age-encryption.org/v1\n-> scrypt", "-----BEGIN AGE ENCRYPTED FILE-----", "AGE-PLUGIN-YUBIKEY-1ABC",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
        ] {
            #expect(Self.code(foreign) == .keyFileMalformed)
        }
    }

    @Test func whatIsNoRecipientIsRefusedInWords() throws {
        let recipient = try #require(try Identity.parse(SecretBytes(utf8: Self.identity)).first).recipient
        #expect(try Recipient(text: recipient.text) == recipient)
        #expect(recipient.text.hasPrefix("age1") && recipient.text.count == 62)
        let texts = [
            (Self.identity, "secret identity"), ("ssh-ed25519 AAAA", "only X25519"), ("", "typing error"),
            (recipient.text.uppercased(), "typing error"), (recipient.text + "q", "only X25519"),
            (String(recipient.text.dropLast()) + "b", "typing error"), (" " + recipient.text, "a blank"),
        ]
        for (text, words) in texts {
            let error = #expect(throws: VaultCryptoError.self) { try Recipient(text: text) }
            #expect(error?.code == .recipientMalformed)
            #expect(error?.message.contains(words) == true, "\(text.prefix(8)): \(error?.message ?? "")")
            #expect(error?.description.contains("RDN7R9XEVU") == false)
        }
    }

    @Test func aRecipientWithoutASecretHalfGetsNoSlot() throws {
        // Points of low order: their shared secret is zero, whoever computes it.
        for bytes in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            let maker = RecipientMaker(try #require(Recipient(bytes)))
            let error = #expect(throws: VaultCryptoError.self) {
                try maker.makeSlot(id: SecureRandom.bytes16(), label: "", createdAt: 1)
            }
            #expect(error?.code == .recipientMalformed)
        }
    }

    // MARK: Slots

    @Test func onlyItsIdentityOpensASlot() throws {
        let (own, other) = (Self.line(SecureRandom.bytes(32)), Self.line(SecureRandom.bytes(32)))
        let slot = try slot(for: own)
        #expect(try KeySlot.unlock([slot], with: unlocker(own), vault: vault).vaultKey.isSame(as: vaultKey))
        // Any of several identities.
        #expect(try KeySlot.unlock([slot], with: unlocker(other, "# x", own), vault: vault).vaultKey.id == vaultKey.id)
        let error = #expect(throws: VaultCryptoError.self) {
            try KeySlot.unlock([slot], with: unlocker(other), vault: vault)
        }
        #expect(error?.code == .wrongKey)
    }

    @Test func aSlotIsBoundToItsRecipientAndShare() throws {
        let own = Self.line(SecureRandom.bytes(32))
        let good = try slot(for: own)
        guard case .recipient(let recipient, let share) = good.description.kind else {
            Issue.record("another kind")
            return
        }
        let other = try #require(try Identity.parse(SecretBytes(utf8: Self.identity)).first).recipient
        let old = good.description
        for kind in [
            KeySlotDescription.Kind.recipient(other, share: share), .recipient(recipient, share: other.bytes), .keyFile,
        ] {
            let description = try KeySlotDescription(
                id: old.id, keyID: old.keyID, kind: kind, label: old.label, createdAt: old.createdAt)
            let changed = KeySlot(description: description, wrappedVaultKey: good.wrappedVaultKey)
            #expect(throws: VaultCryptoError.self) {
                try KeySlot.unlock([changed], with: unlocker(own), vault: vault)
            }
            // Nor does its own key open it as something else.
            let key = try #require(try unlocker(own).slotKey(for: old))
            let error = #expect(throws: VaultCryptoError.self) { try changed.unwrap(with: key, vault: vault) }
            #expect(error?.code == .authenticationFailed(.commitment))
        }
    }

    @Test func eachSlotHasAShareOfItsOwn() throws {
        let own = Self.line(SecureRandom.bytes(32))
        let slots = try (0..<3).map { _ in try slot(for: own).description }
        #expect(Set(slots.map(\.keyID)).count == 3)
    }

    @Test func noRenderingShowsAnIdentity() throws {
        let identity = try #require(try Identity.parse(SecretBytes(utf8: Self.identity)).first)
        var text = "\(identity) \(String(reflecting: identity))"
        dump(identity, to: &text)
        #expect(!text.contains("RDN7R9XEVU") && text.contains("<redacted>"))
    }
}

/// The same key pairs, as Debian's `age-keygen` makes and reads them.
@Suite(.enabled(if: AgeTool.isThere))
struct AgeInteroperationTests {
    @Test func identitiesOfAgeKeygenHaveTheRecipientThatItSays() throws {
        for _ in 0..<8 {
            let file = try AgeTool.keygen()
            let identity = try #require(try Identity.parse(SecretBytes(utf8: file)).first)
            let comment = try #require(file.split(separator: "\n").first { $0.hasPrefix("# public key: ") })
            #expect(comment.hasSuffix(identity.recipient.text))
            #expect(try Recipient(text: identity.recipient.text) == identity.recipient)
        }
    }

    /// The key that age itself would wrap its file key with: taken from a file of age, and used as age uses it.
    @Test func theSlotKeyIsTheKeyThatAgeWrapsWith() throws {
        let directory = try PrivateDirectory()
        let file = try AgeTool.keygen()
        let identity = try #require(try Identity.parse(SecretBytes(utf8: file)).first)
        let sealed = try AgeTool.encrypt("text", to: identity.recipient.text, in: directory)
        let lines = sealed.split(separator: UInt8(ascii: "\n"), maxSplits: 3)
        let stanza = String(decoding: lines[1], as: UTF8.self).split(separator: " ")
        #expect(stanza[1] == "X25519")
        let share = [UInt8](try #require(Data(base64Encoded: stanza[2] + "=")))
        let body = [UInt8](try #require(Data(base64Encoded: String(decoding: lines[2], as: UTF8.self) + "=")))
        let key = try #require(identity.slotKey(share: share))
        #expect(AgeTool.opensFileKey(body, with: key))
        let another = try #require(identity.slotKey(share: SecureRandom.bytes(32)))
        #expect(!AgeTool.opensFileKey(body, with: another))
    }
}
