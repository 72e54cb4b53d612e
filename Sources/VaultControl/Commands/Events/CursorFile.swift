import Platform
import TokenVault

/// A file that remembers the last processed event. It is always replaced as a whole.
struct CursorFile {
    private static let longest = 64

    let path: String

    /// Nil: there is no file yet.
    func read() throws -> EventCursor? {
        try requireTrusted()
        guard NamedFile(path).exists else {
            guard FileIdentity(path: path) == nil else {
                // A link to a missing file would be replaced by the file.
                throw Failure.usage(
                    "the cursor file \(Printable.path(path)) (--cursor-file) is a symbolic link that leads nowhere",
                    hint: "name the file itself: readlink \(Printable.path(path))")
            }
            return nil
        }
        try InputFile.refuseOther(at: path, from: "--cursor-file")
        let bytes = try InputFile.read(path, "Cursor", from: "--cursor-file", atMost: Self.longest)
        var text = String(decoding: bytes, as: UTF8.self)
        while text.last?.isNewline == true { text.removeLast() }
        guard let cursor = EventCursor(text) else {
            throw Failure.usage(
                "\(Printable.path(path)) does not contain a cursor",
                hint: "name another file, or remove this one and use --after")
        }
        return cursor
    }

    /// A user who can replace it decides which events are delivered again, and which never.
    private func requireTrusted() throws(Failure) {
        let file = TrustedFile(path)
        guard let refusal = file.refusalOfDirectory ?? file.refusal else { return }
        throw Failure(
            .unsafeFile, "the cursor file \(Printable.path(path)) \(refusal.reason)",
            hints: [refusal.hint])
    }

    func write(_ cursor: EventCursor) throws(Failure) {
        try requireTrusted()
        let new = path + ".new"
        NamedFile(new).discard()
        do throws(Failure) { try PrivateFile.write(Array("\(cursor)\n".utf8), to: new) } catch {
            // Names the given file in the error.
            throw Failure(
                error.status, code: error.code, error.message.replacing(".new", with: ""),
                hints: ["check --cursor-file: its directory must be there, and writable for this user"])
        }
        do throws(SystemError) { try NamedFile(new).rename(to: path) } catch {
            throw Failure(
                .machine, code: "outputFailed", "\(Printable.path(path)) could not be written")
        }
    }
}
