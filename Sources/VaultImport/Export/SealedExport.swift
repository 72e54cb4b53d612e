import VaultCrypto

/// Writes logins in a shape, as an age file that only its recipients can open.
///
/// The file appears complete and durable with ``finish()``, with the mode 0600, and never replaces another one. Before
/// that it does not exist.
public struct SealedExport: ExportSink {
    private let file: ExportFile
    private let seal: SealedOutput
    private var shaped: ShapedExport

    /// - Parameters:
    ///   - shape: The format.
    ///   - path: A file that does not exist yet.
    ///   - recipients: Age public keys, `age1…`.
    /// - Throws: ``ExportError``.
    public init(_ shape: ExportShape, at path: String, for recipients: [String]) throws {
        let file = try ExportFile(path)
        let seal = try SealedOutput(for: recipients) { try file.write($0) }
        try seal.begin()
        shaped = try ShapedExport(shape) { try seal.write($0) }
        self.file = file
        self.seal = seal
    }

    public var name: String { shaped.name }

    public mutating func refusal(of login: ExportedLogin) -> ExportRefusal? { shaped.refusal(of: login) }

    public mutating func write(_ login: ExportedLogin) throws { try shaped.write(login) }

    public mutating func finish() throws {
        try shaped.finish()
        try seal.finish()
        try file.finish()
    }
}

/// A stream that only its recipients can open. Used by one thread at a time.
package final class SealedOutput {
    private let writer: AgeWriter
    private let output: ([UInt8]) throws -> Void

    package init(for recipients: [String], to output: @escaping ([UInt8]) throws -> Void) throws(ExportError) {
        do throws(VaultCryptoError) {
            writer = try AgeWriter(for: try Self.recipients(recipients))
        } catch {
            throw ExportError(.malformedRecipient, error.message, hint: error.hint)
        }
        self.output = output
    }

    /// Writes the header. The caller may still ask before this.
    package func begin() throws { try output(writer.header) }

    /// Checks recipients before anything else is done.
    package static func check(_ recipients: [String]) throws(ExportError) {
        do throws(VaultCryptoError) { _ = try Self.recipients(recipients) } catch {
            throw ExportError(.malformedRecipient, error.message, hint: error.hint)
        }
    }

    private static func recipients(_ texts: [String]) throws(VaultCryptoError) -> [Recipient] {
        var recipients: [Recipient] = []
        for text in texts {
            let recipient = try Recipient(text: text)
            if !recipients.contains(recipient) { recipients.append(recipient) }
        }
        return recipients
    }

    package func write(_ bytes: [UInt8]) throws {
        let sealed = writer.seal(bytes)
        if !sealed.isEmpty { try output(sealed) }
    }

    package func finish() throws { try output(writer.finish()) }
}
