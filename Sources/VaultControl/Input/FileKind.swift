import Platform

/// The apparent kind of a file, by its first bytes: for errors about a file of the wrong kind. The line of a key is not
/// read.
enum FileKind: Equatable {
    case vault, backup, database, keyFile, keyFileWithMark, witness, identity, pem, directory, notAFile, empty
    /// Bytes that are no text: perhaps what is left of a vault or of a backup.
    case binary
    case known(String)
    case unknown

    init?(_ path: String) {
        guard let status = try? FileStatus(at: path, followingLinks: true) else { return nil }
        switch status.kind {
        case .regular: break
        case .directory:
            self = .directory
            return
        default:
            self = .notAFile
            return
        }
        guard status.size > 0 else {
            self = .empty
            return
        }
        guard let file = try? Descriptor(path, for: .reading, [.notOurTerminal, .withoutWaiting]) else { return nil }
        self = Self.kind(Self.bytes(of: file, 0, 16), file, Int(status.size))
    }

    var words: String {
        switch self {
        case .vault: "a vault"
        case .backup: "a backup of a vault"
        case .database: "an SQLite database of another program"
        case .keyFile: "a key file"
        case .keyFileWithMark: "a key file with something before its line"
        case .witness: "a witness's note"
        case .identity: "an age identity"
        case .pem: "a file in PEM form"
        case .directory: "a directory"
        case .notAFile: "no regular file"
        case .empty: "empty"
        case .binary: "binary data"
        case .known(let words): words
        case .unknown: "something else"
        }
    }

    private static func kind(_ head: [UInt8], _ file: Descriptor, _ size: Int) -> FileKind {
        func begins(_ text: String) -> Bool { head.starts(with: text.utf8) }
        if begins("SQLite format 3") {
            if size > 64, bytes(of: file, size - 56, 8) == Array("TVBACKUP".utf8) { return .backup }
            let id = bytes(of: file, 68, 4)
            guard id.count == 4 else { return .binary }
            return id == Array("TVLT".utf8) ? .vault : id == Array("TVBK".utf8) ? .backup : .database
        }
        if begins("tokenvault-key-") { return .keyFile }
        if begins("tokenvault/") { return .witness }
        if begins("AGE-SECRET-KEY-") || begins("# created: ") { return .identity }
        if begins("-----BEGIN ") { return .pem }
        for count in 1...4 where head.dropFirst(count).starts(with: "tokenvault-".utf8) { return .keyFileWithMark }
        for (magic, words) in magics where head.starts(with: magic) { return .known(words) }
        // Control characters, without those of lines and of terminals.
        if head.contains(where: { $0 < 0x07 || 0x0E..<0x1B ~= $0 || $0 == 0x7F }) { return .binary }
        return head.first == UInt8(ascii: "{") || isList(head) ? .known("a JSON file") : .unknown
    }

    /// A JSON array. `[client]` and `[[client]]` begin tables of TOML.
    private static func isList(_ head: [UInt8]) -> Bool {
        guard head.first == UInt8(ascii: "[") else { return false }
        let word = String(decoding: head.drop { "[ \t\r\n".utf8.contains($0) }, as: UTF8.self)
        return word.first?.isLetter != true || ["true", "false", "null"].contains(where: word.hasPrefix)
    }

    private static let magics: [([UInt8], String)] = [
        ([0x89, 0x50, 0x4E, 0x47], "a PNG image"), ([0xFF, 0xD8, 0xFF], "a JPEG image"),
        (Array("GIF8".utf8), "a GIF image"), (Array("%PDF".utf8), "a PDF document"),
        ([0x50, 0x4B, 0x03, 0x04], "a ZIP archive"), ([0x1F, 0x8B], "a gzip archive"),
        ([0x28, 0xB5, 0x2F, 0xFD], "a zstd archive"), ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "an xz archive"),
        ([0x7F, 0x45, 0x4C, 0x46], "a program"), (Array("#!".utf8), "a script"),
        (Array("age-encryption".utf8), "a file that age encrypted"), (Array("age1".utf8), "an age recipient"),
        (Array("ssh-".utf8), "a public key of SSH"),
    ]

    /// Whether the file begins with the mark that some editors put before a text.
    static func hasByteOrderMark(_ path: String) -> Bool {
        guard let file = try? Descriptor(path, for: .reading, [.notOurTerminal, .withoutWaiting]) else { return false }
        return bytes(of: file, 0, 3) == [0xEF, 0xBB, 0xBF]
    }

    private static func bytes(of file: Descriptor, _ offset: Int, _ count: Int) -> [UInt8] {
        (try? file.read(atMost: count, at: Int64(offset))) ?? []
    }
}
