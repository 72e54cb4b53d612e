package import VaultCrypto

/// Where the key comes from that opens a key slot of a vault.
public struct KeySource: Sendable {
    enum Kind: Sendable {
        case keyFile(String)
        case passphrase(Passphrase, PassphraseCost)
        case identity(String)
        case keyLine(KeyLine)
        case credential(String)
        case descriptor(Int32)
        case command([String])
        case wrapped([String], passing: [String])
        case provider(any KeyProvider)
    }

    let kind: Kind

    /// A key file, made by ``KeyFiles/generate(at:)``: readable by its owner alone.
    public static func keyFile(_ path: String) -> KeySource {
        KeySource(kind: .keyFile(path))
    }

    /// A file with an identity of age (X25519), as `age-keygen` makes it: opens the slots of its recipient.
    public static func identity(_ path: String) -> KeySource {
        KeySource(kind: .identity(path))
    }

    /// The line of a key file that came from elsewhere, such as a secret manager.
    ///
    /// The text is copied into memory that is wiped when the source is no longer needed; no rendering shows it.
    public static func keyLine(_ line: String) -> KeySource { .keyLine(KeyLine(line)) }

    package static func keyLine(_ line: KeyLine) -> KeySource { KeySource(kind: .keyLine(line)) }

    /// A key file that systemd hands to this service: `LoadCredential=NAME:PATH` or `LoadCredentialEncrypted=`.
    public static func credential(_ name: String) -> KeySource {
        KeySource(kind: .credential(name))
    }

    /// A descriptor from which the line of a key file can be read, to its end. It is read once, and closed.
    public static func descriptor(_ descriptor: Int32) -> KeySource {
        KeySource(kind: .descriptor(descriptor))
    }

    /// A program that prints the line of a key file: its absolute path and its arguments. No shell reads them. It has 30
    /// seconds.
    public static func command(_ arguments: [String]) -> KeySource {
        KeySource(kind: .command(arguments))
    }

    /// A program that wraps and unwraps the slot's key: a key management service, a TPM, clevis. `docs/keys.md` has its
    /// contract.
    ///
    /// - Parameters:
    ///   - arguments: The program's absolute path and its first arguments; `wrap` or `unwrap` follows.
    ///   - variables: Names of environment variables that it gets in addition to `PATH`, `HOME` and `LANG`.
    public static func wrapped(by arguments: [String], passing variables: [String] = []) -> KeySource {
        KeySource(kind: .wrapped(arguments, passing: variables))
    }

    /// Code of yours that fetches the key.
    public static func provider(_ provider: any KeyProvider) -> KeySource {
        KeySource(kind: .provider(provider))
    }

    /// A passphrase, stretched with Argon2id: 3 passes over 256 MiB where a slot is made; opening uses the slot's own cost.
    ///
    /// It is the bytes of the text in UTF-8, as they are: nothing is normalized. One keyboard may make an `é` of one code point and
    /// another one of two, and then they are two passphrases. The text is copied into memory that is wiped when the source is no
    /// longer needed; no rendering shows it.
    public static func passphrase(_ passphrase: String) -> KeySource { .passphrase(Passphrase(passphrase)) }

    package static func passphrase(_ passphrase: Passphrase, cost: PassphraseCost = .standard) -> KeySource {
        KeySource(kind: .passphrase(passphrase, cost))
    }
}

/// Fetches the key of a vault when one is opened or made, and when a key is added or tested.
///
/// ```swift
/// struct SecretManager: KeyProvider {
///     func key() async throws -> KeySource { .keyLine(try await client.secret("vault-key")) }
/// }
/// ```
public protocol KeyProvider: Sendable {
    /// Returns any source except another provider. Opening the vault rethrows its errors.
    func key() async throws -> KeySource
}

/// The line of a key file, as ``KeyFiles/generate(at:)`` writes it: redacted in every rendering, its bytes wiped when it
/// goes.
package struct KeyLine: Sendable {
    package let bytes: SecretBytes

    package init(_ text: String) { bytes = SecretBytes(utf8: text) }

    package init(_ bytes: SecretBytes) { self.bytes = bytes }
}

extension KeyLine: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// How much work it is to try one passphrase.
package struct PassphraseCost: Sendable, Equatable {
    let argon2: Argon2Cost

    /// 3 passes over 256 MiB.
    package static let standard = PassphraseCost(argon2: .standard)
    /// The least that a vault accepts: for tests.
    package static let minimal = PassphraseCost(argon2: .minimum)
}

/// A passphrase: redacted in every rendering, its bytes wiped when it goes.
///
/// It is the bytes of the text in UTF-8, as they come: nothing is normalized. One keyboard may make an `é` of one code
/// point and another one of two, and then they are two passphrases.
package struct Passphrase: Sendable {
    package let bytes: SecretBytes

    package init(_ text: String) {
        bytes = SecretBytes(utf8: text)
    }
}

extension Passphrase: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
