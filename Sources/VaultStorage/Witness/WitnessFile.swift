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
        // Before a file is made next to what may be anything.
        try requireReplaceable()
        let lock = try takeLock()
        defer { withExtendedLifetime(lock) {} }
        try requireReplaceable()
        if !isForced {
            // A note that is gone is not begun anew: another file may be under this path in a moment.
            guard let seen = try read(context) else { throw StoreError.hasNoNote(self) }
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

    /// Refuses to replace a file that is no note of a witness: a vault, a key, anything.
    package func requireReplaceable() throws(StoreError) {
        guard let file = try open() else { return }
        // A device reads as empty, and must not be replaced by a file.
        let kind = try translating("read") { () throws(SystemError) in try file.status().kind }
        guard kind == .regular else {
            throw StoreError(
                .invalidValue, "\(PathName.shown(path)) is no regular file, and is not replaced",
                hint: "check --witness: it names a file of its own; nothing was changed")
        }
        let bytes = try translating("read") { () throws(SystemError) in try file.read(atMost: Self.mostBytes) }
        guard bytes.isEmpty || WitnessNote.isNote(bytes[...]) else {
            throw StoreError(
                .invalidValue, "\(PathName.shown(path)) is no note of a witness, and is not replaced",
                hint: "check --witness: it names a file of its own; nothing was changed")
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

    /// Held until it is closed, by one process at a time.
    private func takeLock() throws(StoreError) -> Descriptor {
        try translating("locked") { () throws(SystemError) in
            let file = try Descriptor(path + ".lock", for: .readingAndWriting, [.create, .notThroughLink])
            try file.lockWholeWhenFree()
            return file
        }
    }

    /// Under the lock: what a killed process has left is overwritten.
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
