package import VaultCrypto

/// Where the key comes from that opens a key slot of a vault.
public struct KeySource: Sendable {
    enum Kind: Sendable {
        case keyFile(String)
        case passphrase(Passphrase, PassphraseCost)
    }

    let kind: Kind

    /// A key file, made by ``KeyFiles/generate(at:)``: readable by its owner alone.
    public static func keyFile(_ path: String) -> KeySource {
        KeySource(kind: .keyFile(path))
    }

    /// A passphrase, stretched with Argon2id. The cost counts only when a slot is made: opening uses the slot's own.
    public static func passphrase(_ passphrase: Passphrase, cost: PassphraseCost = .standard) -> KeySource {
        KeySource(kind: .passphrase(passphrase, cost))
    }
}

/// How much work it is to try one passphrase.
public struct PassphraseCost: Sendable, Equatable {
    let argon2: Argon2Cost

    /// 3 passes over 256 MiB.
    public static let standard = PassphraseCost(argon2: .standard)
    /// The least that a vault accepts: for tests.
    package static let minimal = PassphraseCost(argon2: .minimum)
}

/// A passphrase: redacted in every rendering, its bytes wiped when it goes.
///
/// It is the bytes of the text in UTF-8, as they come: nothing is normalized. One keyboard may make an `é` of one code
/// point and another one of two, and then they are two passphrases.
public struct Passphrase: Sendable {
    package let bytes: SecretBytes

    public init(_ text: String) {
        bytes = SecretBytes(utf8: text)
    }
}

extension Passphrase: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
