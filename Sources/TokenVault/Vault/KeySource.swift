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
public enum PassphraseCost: Sendable, Equatable, CaseIterable {
    /// The least that a vault accepts: for tests.
    case minimal
    /// 3 passes over 256 MiB.
    case standard
}

/// A passphrase: redacted in every rendering, its bytes wiped when it goes.
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
