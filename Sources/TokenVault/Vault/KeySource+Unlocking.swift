import Platform
package import VaultCrypto
import VaultStorage

extension KeySource {
    /// A source that can be asked again: what is fetched, run or read only once is held from here on.
    package func resolved() async throws -> KeySource {
        switch kind {
        case .provider(let provider):
            let source = try await provider.key()
            if case .provider = source.kind {
                throw VaultError(.keyUnavailable, "the key provider gave another key provider")
            }
            return try await source.resolved()
        case .descriptor(let descriptor):
            return try await Self.held { () throws(VaultCryptoError) in
                try SecretDescriptor(descriptor, title: "key").read()
            }
        case .command(let arguments):
            // Nothing is open yet that would have to be finished: a cancelled caller does not wait for the program.
            return try await Self.held { () throws(VaultCryptoError) in
                try OperatorProgram.keyLine(arguments) { !BlockingWork.isCancelled }
            }
        case .keyFile(let path) where KeyFileReader.isDescriptor(path):
            return try await Self.held { () throws(VaultCryptoError) in try KeyFileReader(path: path).read() }
        default: return self
        }
    }

    /// Reading may take its time: too long for a thread that others wait for.
    private static func held(
        _ read: @escaping @Sendable () throws(VaultCryptoError) -> SecretBytes
    ) async throws -> KeySource {
        .keyLine(KeyLine(try await VaultError.translating { try await BlockingLane.opening.run { try read() } }))
    }

    /// Whether each slot that is tried is a run of a program.
    package var runsPrograms: Bool { if case .wrapped = kind { true } else { false } }

    package func unlocker() throws(VaultCryptoError) -> any SlotUnlocker { try key() }

    package func maker() throws(VaultCryptoError) -> any SlotMaker { try key() }

    private func key() throws(VaultCryptoError) -> any SlotUnlocker & SlotMaker {
        switch kind {
        case .keyFile(let path): KeyFileUnlocker(path: path)
        case .passphrase(let passphrase, let cost): try PassphraseUnlocker(passphrase.bytes, cost: cost.argon2)
        case .identity(let path): try IdentityUnlocker(path: path)
        case .keyLine(let line): try KeyLineUnlocker(line.bytes)
        case .credential(let name): KeyFileUnlocker(path: try Credential.path(named: name, in: Self.credentials))
        case .wrapped(let arguments, let passed): try WrappingProgram(arguments, passing: passed)
        case .descriptor, .command, .provider:
            throw VaultCryptoError(.keySourceFailed, "the key was not fetched before it was used")
        }
    }

    private static var credentials: String? {
        ProcessEnvironment.value(of: Credential.variable)
    }

    var defaultLabel: String {
        switch kind {
        case .keyFile, .keyLine, .descriptor, .command, .provider: "key file"
        case .credential(let name): "credential \(name)"
        case .passphrase: "passphrase"
        case .identity: "identity"
        case .wrapped: "wrapped"
        }
    }
}

/// Files with secrets that are no keys of the vault.
package enum SecretFiles {
    /// Reads one under the rules that hold for key files.
    ///
    /// - Throws: ``VaultError/Code/keyMissing``, or `keyUnsafe`.
    package static func read(_ path: String, title: String, atMost limit: Int) throws -> [UInt8] {
        try VaultError.translating {
            let bytes = try KeyFileReader(path: path, title: title, limit: limit).read()
            return unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
        }
    }

    /// As environment variables that held one are forgotten.
    package static func forgetVariable(_ name: String) { EnvironmentVariable.forget(name) }

    /// Whether a file is on a file system in memory; nil if that is unknown.
    package static func isInMemory(_ path: String) -> Bool? { MountView(ofFileAt: path)?.isMemory }
}
