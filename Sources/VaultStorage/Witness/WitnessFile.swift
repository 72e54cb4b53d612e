import Platform

/// The file in which a witness keeps its newest note. It belongs on another file system than the vault.
package struct WitnessFile: Witness {
    package let path: String
    private static let mostBytes = 4_096

    package init(_ path: String) { self.path = path }

    package var interval: Duration { .seconds(1) }
    package var answersAtOnce: Bool { true }
    package var name: String { "the file \(PathName.shown(path))" }

    package func text(_ context: VaultContext) throws(StoreError) -> String? {
        try PrivateFile.checkWay(to: path, of: "the witness")
        guard let file = try open() else { return nil }
        try PrivateFile.check(file, path, of: "the witness")
        return try translating("read") { () throws(SystemError) in
            String(decoding: try file.read(atMost: Self.mostBytes), as: UTF8.self)
        }
    }

    package func advance(to note: WitnessNote, _ context: VaultContext, isForced: Bool) throws(StoreError) {
        try PrivateFile.checkWay(to: path, of: "the witness")
        // Checked before a file is created next to one that may be anything.
        try requireReplaceable()
        let lock = try takeLock()
        defer { withExtendedLifetime(lock) {} }
        try requireReplaceable()
        if !isForced {
            // A missing note is not replaced: at any moment another file may appear under this path.
            guard let seen = try read(context) else { throw StoreError.hasNoNote(self, since: nil) }
            guard note.isNewer(than: seen) else { return }
        }
        let temporary = path + ".tmp"
        try write(Array(note.text(context).utf8), to: temporary)
        try translating("replaced") { () throws(SystemError) in try NamedFile(temporary).rename(to: path) }
        try PrivateFile.synchronizeDirectory(directory)
    }

    package func begin(with note: WitnessNote, _ context: VaultContext) throws(StoreError) {
        try advance(to: note, context, isForced: true)
    }

    package var directory: String { PathName.directory(of: path) }

    /// Refuses to replace a file that is not a witness's note, such as a vault or a key.
    package func requireReplaceable() throws(StoreError) {
        guard let file = try open() else { return }
        // A device reads as empty, but must not be replaced by a file.
        let kind = try translating("read") { () throws(SystemError) in try file.status().kind }
        guard kind == .regular else {
            throw StoreError(
                .invalidValue, "\(PathName.shown(path)) is not a regular file, and was not replaced",
                hint: "check --witness: it names a file of its own; nothing was changed")
        }
        let bytes = try translating("read") { () throws(SystemError) in try file.read(atMost: Self.mostBytes) }
        guard bytes.isEmpty || WitnessNote.isNote(bytes[...]) else {
            throw StoreError(
                .invalidValue, "\(PathName.shown(path)) is not a witness's note, and was not replaced",
                hint: "nothing was changed: move the file away, or name another one as the witness")
        }
    }

    package func requireRoom(_ context: VaultContext) throws(StoreError) {
        try PrivateFile.checkWay(to: path, of: "the witness")
        let lock = try takeLock()
        defer { withExtendedLifetime(lock) {} }
        let temporary = path + ".tmp"
        try write([UInt8](repeating: 0, count: Self.mostBytes), to: temporary)
        NamedFile(temporary).discard()
    }

    /// Nil: there is none.
    private func open() throws(StoreError) -> Descriptor? {
        do throws(SystemError) {
            return try Descriptor(path, for: .reading, [.notThroughLink, .withoutWaiting, .notOurTerminal])
        } catch {
            if error == .notFound { return nil }
            throw failure("read", error)
        }
    }

    /// One process at a time holds the lock, until it closes the descriptor.
    private func takeLock() throws(StoreError) -> Descriptor {
        try translating("locked") { () throws(SystemError) in
            let file = try Descriptor(path + ".lock", for: .readingAndWriting, [.create, .notThroughLink])
            try file.lockWholeWhenFree()
            return file
        }
    }

    /// Runs under the lock, and overwrites the remains of a killed process.
    private func write(_ bytes: [UInt8], to temporary: String) throws(StoreError) {
        try translating("written") { () throws(SystemError) in
            let file = try Descriptor(temporary, for: .writing, [.create, .emptied, .notThroughLink])
            try file.writeAll(bytes)
            try file.synchronize()
        }
    }

    private func translating<R>(_ what: String, _ body: () throws(SystemError) -> R) throws(StoreError) -> R {
        do throws(SystemError) { return try body() } catch { throw failure(what, error) }
    }

    private func failure(_ what: String, _ error: SystemError) -> StoreError {
        let shown = PathName.shown(path)
        let (reason, hint) =
            switch error {
            case .tooManyLinks: ("the witness \(shown) is a symbolic link", "name the file itself")
            case .noDevice: ("the witness \(shown) is not a regular file", "name a file of its own: --witness PATH")
            case .notFound: ("there is no directory for the witness \(shown)", "make its directory, or mount its disk")
            default:
                (
                    "the witness file \(shown) cannot be \(what): \(error.text)",
                    "check its directory, owner and mode; the vault itself is unharmed"
                )
            }
        return StoreError(.io(error), reason, hint: hint)
    }
}
