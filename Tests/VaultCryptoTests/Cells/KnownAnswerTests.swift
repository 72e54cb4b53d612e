import CSodium
import TestSupport
import Testing
import VaultCrypto

/// Published vectors for the two primitives, through the very functions that cells are made with.
struct KnownAnswerTests {
    private static func blake2b(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 64)
        _ = unsafe crypto_generichash_blake2b(&hash, 64, message, UInt64(message.count), key, key.count)
        return hash
    }

    /// RFC 7693, appendix A, and `blake2b-kat.txt` of the reference implementation (keyed, empty input).
    @Test func blake2bGivesThePublishedHashes() {
        #expect(
            Self.blake2b(Array("abc".utf8), key: []).hex
                == "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923")
        #expect(
            Self.blake2b([], key: [UInt8](0..<64)).hex
                == "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
                + "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568")
    }

    /// draft-irtf-cfrg-xchacha-03, appendix A.3.1.
    @Test func xchacha20Poly1305GivesThePublishedCiphertext() {
        let text =
            "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
            + "sunscreen would be it."
        let message = Array(text.utf8)
        let data = [UInt8](hex: "50515253c0c1c2c3c4c5c6c7")
        var sealed = [UInt8](repeating: 0, count: message.count + 16)
        _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
            &sealed, nil, message, UInt64(message.count), data, UInt64(data.count), nil, [UInt8](0x40...0x57),
            [UInt8](0x80...0x9F))
        #expect(
            sealed.hex
                == "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb"
                + "731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452"
                + "2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
                + "21f9664c97637da9768812f615c68b13b52e" + "c0875924c1c7987947deafd8780acf49")
    }

    /// RFC 4648, section 10, in lower case and without padding.
    @Test(arguments: [
        ("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foob", "mzxw6yq"), ("fooba", "mzxw6ytb"),
        ("foobar", "mzxw6ytboi"),
    ])
    func base32GivesThePublishedTexts(plain: String, encoded: String) {
        var text = [UInt8](repeating: 0, count: Base32.encodedCount(plain.utf8.count))
        unsafe Array(plain.utf8).withUnsafeBytes { source in
            unsafe text.withUnsafeMutableBytes { unsafe Base32.encode(source, to: $0) }
        }
        #expect(String(decoding: text, as: UTF8.self) == encoded)
        var decoded = [UInt8](repeating: 0, count: plain.utf8.count)
        let isValid = unsafe text.withUnsafeBytes { source in
            unsafe decoded.withUnsafeMutableBytes { unsafe Base32.decode(source, to: $0) }
        }
        #expect(isValid && decoded == Array(plain.utf8))
    }

    @Test(arguments: [
        "", "a", "my======", "MZXW6YTBOIMZXW6YTBOIMZXW6Y", "aaaaaaaaaaaaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaaaaaaaaaaaab",
    ])
    func textThatNoEncoderWritesIsNoBase32(_ text: String) {
        #expect(Base32.decode(text) == nil)
    }
}
