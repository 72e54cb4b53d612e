import Glibc

/// Reads the files that the command line names.
enum InputFile {
    /// - Parameter title: the content's name in errors, such as `Access token`.
    /// - Throws: ``Failure``, with the code `notFound` if there is no such file.
    static func read(_ path: String, _ title: String, atMost maximum: Int) throws -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            let status: ExitStatus = errno == ENOENT ? .notFound : .machine
            let reason = reason()
            let slip = status == .notFound && path != "-" ? PathProblem.slip(path, "file", nil) : nil
            throw Failure(
                status, "the \(title.lowercasedFirst) cannot be read from \(Printable.path(path)): \(reason)",
                hints: slip.map { [$0] } ?? [])
        }
        defer { close(descriptor) }
        return try readAll(descriptor, title, from: path, atMost: maximum)
    }

    /// A key that opens a vault must not be stored or sent by mistake.
    ///
    /// - Parameter place: where it was read, in brackets.
    static func refuseKey(_ bytes: some Collection<UInt8>, as title: String, _ place: String) throws(Failure) {
        let kinds: [(String, FileKind)] = [
            ("tokenvault-key-", .keyFile), ("AGE-SECRET-KEY-", .identity), ("# created: ", .identity),
        ]
        guard let (_, kind) = kinds.first(where: { bytes.starts(with: $0.0.utf8) }) else { return }
        throw .usage(
            "the \(title.lowercasedFirst) is \(kind.words)\(place)",
            hint: "check where it comes from: a vault's key is neither stored nor sent")
    }

    static func readAll(
        _ descriptor: Int32, _ title: String, from path: String? = nil, atMost maximum: Int
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EBADF, path == nil {
                    throw Failure.usage(
                        "the \(title.lowercasedFirst) cannot be read: "
                            + (descriptor == STDIN_FILENO ? "standard input" : "descriptor \(descriptor)")
                            + " is closed, or not open for reading",
                        hint: "let it come from a file or from a program: <FILE, or PROGRAM |")
                }
                let place = path.map { " from \(Printable.path($0))" } ?? ""
                throw Failure(.machine, "the \(title.lowercasedFirst) cannot be read\(place): \(reason())")
            }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= maximum else {
                let name = path.map { " \(Printable.path($0))" } ?? ""
                throw Failure.usage(
                    "the \(title.lowercasedFirst)\(name) is longer than \(maximum) bytes",
                    hint: path.flatMap { FileKind($0) }.flatMap { $0 == .unknown ? nil : "it is \($0.words)" })
            }
        }
    }

    /// The text of the last call's error, unless another error is given.
    static func reason(of error: Int32 = errno) -> String { unsafe String(cString: strerror(error)).lowercased() }

    /// The directory of a file: `.` for a bare name.
    static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension String {
    /// A title within a sentence: `CA file` stays as it is.
    var lowercasedFirst: String {
        dropFirst().first?.isUppercase == true ? self : prefix(1).lowercased() + dropFirst()
    }
}
