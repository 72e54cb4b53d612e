import Platform
import VaultCrypto

/// A file apart from the vault that proves the vault's identity: a statement with a MAC that only the vault's own keys
/// produce.
///
/// Anyone can make a vault that the key of a recipient or a wrapping program opens. But no one can make a vault whose
/// keyring produces the MAC of another. Unlike a witness, a pin says nothing about how new the vault is.
package struct KeyringPin: Sendable {
    package let path: String
    private static let mostBytes = 4_096

    package init(_ path: String) { self.path = path }

    /// Returns nil if there is no file.
    package func text() throws(StoreError) -> String? {
        try PrivateFile.checkWay(to: path, of: "the vault's pin")
        let file: Descriptor
        do throws(SystemError) {
            file = try Descriptor(path, for: .reading, [.notThroughLink, .withoutWaiting])
        } catch {
            if error == .notFound || error == .notDirectory { return nil }
            throw failure("read", error)
        }
        try PrivateFile.check(file, path, of: "the vault's pin")
        do throws(SystemError) {
            return String(decoding: try file.read(atMost: Self.mostBytes), as: UTF8.self)
        } catch {
            throw failure("read", error)
        }
    }

    /// Replaces the whole file, and creates its directory if there is none.
    package func write(_ text: String) throws(StoreError) {
        if let missing = NamedFile(PathName.directory(of: path)).makeDirectories() {
            throw PrivateFile.creationError(missing.error, missing.path)
        }
        try PrivateFile.checkWay(to: path, of: "the vault's pin")
        let new = "\(path).\(ProcessID.current)"
        NamedFile(new).discard()
        do throws(SystemError) {
            let bytes = Array(text.utf8)
            try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(SystemError) in
                try unsafe NewFile(new).write(bytes)
            }
        } catch {
            throw PrivateFile.creationError(error, new)
        }
        do throws(SystemError) { try NamedFile(new).rename(to: path) } catch {
            NamedFile(new).discard()
            throw failure("written", error)
        }
        try PrivateFile.synchronizeDirectory(PathName.directory(of: path))
    }

    private func failure(_ what: String, _ error: SystemError) -> StoreError {
        StoreError(
            .io(error), "the vault's pin cannot be \(what): \(PathName.shown(path)) (\(error.text))",
            hint: "check its directory, owner and mode; the vault itself is unharmed")
    }
}

extension Reader {
    /// The text of this vault's pin.
    package func pin() throws(StoreError) -> String {
        try withSnapshot { () throws(StoreError) in
            try opener.vaultRow()
            return context.pin(at: try auditHead())
        }
    }

    /// Refuses a vault that does not match the pin.
    ///
    /// - Returns: Whether the pin should be rewritten, because the key that made it is no longer in use.
    package func check(pin text: String) throws(StoreError) -> Bool {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 1, let sequence = Int64(lines[1]), sequence >= 0, text == context.pin(at: sequence) else {
            throw StoreError(
                .damaged, "another vault is in the place of the one that was pinned: its keys are not those of the pin",
                hint:
                    "find out who replaced it; nothing of it was used. If you know where it comes from, open it by its key "
                    + "file or passphrase, or replace the pin: vaultctl key pin")
        }
        return context.pin(at: sequence, under: .max) != text
    }
}

extension VaultContext {
    /// - Parameter row: the row of the trail whose key is used; nil for the row that the pin names.
    fileprivate func pin(at sequence: Int64, under row: Int64? = nil) -> String {
        let statement = "tokenvault/\(Base32.encode(vaultID))/pin\n\(sequence)\n"
        let mac = keyring.witnessMAC(of: Array(statement.utf8), upTo: row ?? sequence)
        return statement + "\n\u{2014} \(Base64.encode(mac.array))\n"
    }
}

extension StoreError {
    /// The key that opened the vault proves nothing about its origin.
    ///
    /// - Parameter hint: nil if the pin can be written.
    package static func unpinned(_ reason: String, hint: String? = nil) -> StoreError {
        StoreError(
            .keyUnavailable(.keySourceFailed),
            "the key opened a vault that anyone could have made, and nothing on this machine proves that it is yours: \(reason)",
            hint: hint
                ?? "if you know where the vault comes from: vaultctl key pin, with the same key. Or open it by its key file or "
                + "passphrase, or name its witness")
    }
}
