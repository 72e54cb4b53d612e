import Platform

/// Reads the files that the command line names.
enum InputFile {
    /// - Parameters:
    ///   - title: the content's name in errors, such as `Access token`.
    ///   - origin: the option or the argument that names the path.
    /// - Throws: ``Failure``, with the code `notFound` if there is no such file.
    static func read(_ path: String, _ title: String, from origin: String, atMost maximum: Int) throws -> [UInt8] {
        let file: Descriptor
        if FileKind(path) == .directory { try refuseOther(at: path, from: origin) }
        do throws(SystemError) { file = try Descriptor(path, for: .reading, .notOurTerminal) } catch {
            if error == .noDevice { try refuseOther(at: path, from: origin) }
            let status: ExitStatus = error == .notFound ? .notFound : .machine
            let slip =
                path == "-"
                ? "standard input has a path, too: /dev/stdin"
                : status == .notFound ? PathProblem.slip(path, "file", nil) : nil
            throw Failure(
                status,
                "the \(title.lowercasedFirst) cannot be read from \(Printable.path(path)) (\(origin)): \(error.text)",
                hints: slip.map { [$0] } ?? [])
        }
        return try readAll(file, title, from: path, atMost: maximum)
    }

    /// Refuses a path at which something else is than a file: a mistake in the command line or in a setting, and no
    /// trouble of this machine.
    ///
    /// - Parameter origin: the option, the variable or the argument that names the path.
    static func refuseOther(at path: String, from origin: String, hint: String? = nil) throws(Failure) {
        guard let kind = FileKind(path), [.directory, .notAFile].contains(kind) else { return }
        throw .usage("\(Printable.path(path)) (\(origin)) is \(kind.words)", hint: hint ?? "check \(origin)")
    }

    /// A key that opens a vault must not be stored or sent by mistake.
    ///
    /// - Parameter place: where it was read, in brackets.
    static func refuseKey(
        _ bytes: some Collection<UInt8>, as title: String, _ place: String,
        hint: String = "check where it comes from: a vault's key is neither stored nor sent"
    ) throws(Failure) {
        let kinds: [(String, FileKind)] = [
            ("tokenvault-key-", .keyFile), ("AGE-SECRET-KEY-", .identity), ("# created: ", .identity),
        ]
        guard let (_, kind) = kinds.first(where: { bytes.starts(with: $0.0.utf8) }) else { return }
        throw .usage("the \(title.lowercasedFirst) is \(kind.words)\(place)", hint: hint)
    }

    static func readAll(
        _ descriptor: some OpenDescriptor, _ title: String, from path: String? = nil, atMost maximum: Int
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count: Int
            do throws(SystemError) { count = try descriptor.read(into: &chunk) } catch {
                if error == .notOpen, path == nil {
                    throw Failure.usage(
                        "the \(title.lowercasedFirst) cannot be read: "
                            + (descriptor.number == BorrowedDescriptor.standardInput.number
                                ? "standard input" : "descriptor \(descriptor.number)")
                            + " is closed, or not open for reading",
                        hint: "let it come from a file or from a program: <FILE, or PROGRAM |")
                }
                let place = path.map { " from \(Printable.path($0))" } ?? ""
                throw Failure(.machine, "the \(title.lowercasedFirst) cannot be read\(place): \(error.text)")
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

}

extension String {
    /// A title within a sentence: `CA file` stays as it is.
    var lowercasedFirst: String {
        dropFirst().first?.isUppercase == true ? self : prefix(1).lowercased() + dropFirst()
    }
}
