import OAuthClient
import VaultCrypto

/// Recognises encrypted columns of common frameworks. Such a value is not a token: sending it would send a provider a
/// ciphertext.
enum SealedText {
    /// The product that encrypted a text; nil if it does not look encrypted.
    static func product(of text: String) -> String? {
        switch text.utf8.first {
        case UInt8(ascii: "g"): isFernet(text) ? "Fernet (Django, SQLAlchemy)" : nil
        case UInt8(ascii: "e"): isLaravel(text) ? "Laravel" : nil
        case UInt8(ascii: "{"): isRails(text) ? "Rails" : nil
        case UInt8(ascii: "v"): text.hasPrefix("vault:v") ? "Vault's transit engine" : nil
        case UInt8(ascii: "$"): isBetterAuth(text) ? "Better Auth" : nil
        default: nil
        }
    }

    /// Version 0x80 and the time in Base64: `gAAAAA`, until the year 2106; then at least one block and the MAC.
    private static func isFernet(_ text: String) -> Bool {
        guard text.hasPrefix("gAAAAA"), text.utf8.count >= 100 else { return false }
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        return digits.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    /// `$ba$VERSION$HEX`, in stores of other kinds than Better Auth's own.
    private static func isBetterAuth(_ text: String) -> Bool {
        let parts = text.split(separator: "$")
        return parts.count == 3 && parts[0] == "ba" && Int(parts[1]) != nil
            && parts[2].utf8.count > ForeignCipher.overhead * 2 && parts[2].utf8.allSatisfy { Hex.value($0) != nil }
    }

    /// `Illuminate\Encryption\Encrypter`: JSON with iv, value and mac, in Base64.
    private static func isLaravel(_ text: String) -> Bool {
        guard text.hasPrefix("eyJpdiI6"), let bytes = Base64.decode(text),
            let object = try? JSONObject(document: bytes)
        else { return false }
        return object["value"] != nil && object["mac"] != nil
    }

    /// `ActiveRecord::Encryption::MessageSerializer`: JSON with the payload and its headers.
    private static func isRails(_ text: String) -> Bool {
        guard text.hasPrefix("{\"p\":"), let object = try? JSONObject(document: Array(text.utf8)) else { return false }
        return object["h"] != nil
    }
}
