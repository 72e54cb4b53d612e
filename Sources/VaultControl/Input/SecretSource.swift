import Platform
import TokenVault

/// The source of a secret.
enum SecretSource {
    case standardInput
    case descriptor(Int32)
    /// A path, and the option, the variable or the line of the configuration file that names it.
    case file(String, from: String)
    case prompt

    /// The source that the options name; nil if they name none.
    ///
    /// - Parameters:
    ///   - name: the option's name, such as `access-token`.
    ///   - dash: the value of `--NAME`, which may only be `-`.
    static func chosen(
        _ name: String,
        dash: String?,
        descriptor: Int32?,
        file: String?
    ) throws(Failure) -> SecretSource? {
        let given = [
            dash.map { _ in "--\(name)" }, descriptor.map { _ in "--\(name)-fd" }, file.map { _ in "--\(name)-file" },
        ]
        .compactMap(\.self)
        guard given.count <= 1 else {
            throw .usage("\(given.joined(separator: " and ")) cannot be combined", hint: "use only one of them")
        }
        if let dash {
            guard dash == "-" else {
                throw .usage("--\(name) accepts only - (standard input)", hint: "or use --\(name)-file or --\(name)-fd")
            }
            return .standardInput
        }
        return descriptor.map { .descriptor($0) } ?? file.map { .file($0, from: "--\(name)-file") }
    }

    /// The source in a sentence, in brackets.
    fileprivate var place: String {
        switch self {
        case .standardInput: " (standard input)"
        case .descriptor(let number): " (descriptor \(number))"
        case .file(let path, _): " (\(Printable.path(path)))"
        case .prompt: ""
        }
    }

    /// The advice if the source was empty.
    fileprivate var adviceForNothing: String? {
        switch self {
        case .standardInput: "the input is empty: check the command before the pipe, or the file after <"
        case .descriptor: "the input is empty: check the descriptor's file"
        case .file(let path, _): "check the program that writes \(Printable.path(path))"
        case .prompt: nil
        }
    }

    /// The option as it was written.
    ///
    /// - Parameter name: without hyphens, such as `access-token`.
    func option(_ name: String) -> String {
        switch self {
        case .standardInput, .prompt: "--\(name) -"
        case .descriptor: "--\(name)-fd"
        case .file: "--\(name)-file"
        }
    }
}

/// What a secret is read for.
enum SecretUse {
    /// It is one of the vault's keys: in its exit code, what is wrong with it is told as of a key.
    case openingVault
    /// It will be one.
    case newPassphrase
    /// It is a private key in a format of its own, and its reader says what else it is.
    case privateKey
    case other

    fileprivate var isOfVault: Bool { self == .openingVault || self == .newPassphrase }
}

/// Reads secrets, at most one of them from standard input.
struct SecretReader {
    /// More than any token that servers issue.
    static let maximumBytes = 65_536

    let console: Console
    private var hasReadInput = false

    init(_ console: Console) {
        self.console = console
    }

    /// Reads one secret: its bytes without the final line break.
    ///
    /// - Parameter title: its name in a prompt, such as `Access token`.
    mutating func read(
        _ title: String, for use: SecretUse = .other, from source: SecretSource
    ) throws -> String {
        do { return try content(title, use, of: source) } catch let failure as Failure where use.isOfVault {
            // As with key files: nothing that opens a vault was read.
            let code: VaultError.Code? =
                switch failure.status {
                case .usage: .keyMalformed
                case .notFound: .keyMissing
                case .machine where failure.code == VaultError.Code.unsafeFile.name: .keyUnsafe
                default: nil
                }
            throw code.map { Failure($0, failure.message, hints: failure.hints) } ?? failure
        }
    }

    /// Whether a person is asked for it.
    func prompts(for source: SecretSource) -> Bool {
        switch source {
        case .prompt: true
        case .standardInput: console.inputIsTerminal
        case .descriptor, .file: false
        }
    }

    private mutating func content(_ title: String, _ use: SecretUse, of source: SecretSource) throws -> String {
        var source = source
        if case .standardInput = source {
            try claimInput()
            if console.inputIsTerminal { source = .prompt }
        }
        let text = try Self.nonEmpty(text(title, use, from: source), title, from: source)
        if use == .newPassphrase {
            try InputFile.refuseKey(
                text.utf8, as: title, source.place,
                hint: "it is a key by itself: name it with --key-file, --new-key-file or --identity")
        } else if use == .other {
            try InputFile.refuseKey(text.utf8, as: title, source.place)
        }
        try Self.refuseOther(text, title, source.place)
        return text
    }

    private func text(_ title: String, _ use: SecretUse, from source: SecretSource) throws -> String {
        let bytes: [UInt8]
        switch source {
        case .prompt: return try prompt(title)
        case .standardInput:
            bytes = try InputWait.during { try InputFile.readAll(console.input, title, atMost: Self.maximumBytes) }
        case .descriptor(let number):
            let descriptor = BorrowedDescriptor(number)
            guard descriptor.isOpen else { throw Failure.usage("file descriptor \(number) is not open") }
            guard !descriptor.isTerminal else {
                throw Failure.usage(
                    "file descriptor \(number) is a terminal", hint: "leave the option out to be prompted")
            }
            bytes = try InputWait.during { try InputFile.readAll(descriptor, title, atMost: Self.maximumBytes) }
        case .file(let path, let origin):
            bytes = try file(path, from: origin, title, use)
        }
        return try Self.text(bytes, title, from: source)
    }

    /// Standard input provides only one secret.
    private mutating func claimInput() throws(Failure) {
        guard !hasReadInput else {
            throw .usage("only one secret can be read from standard input", hint: "use a file for the other")
        }
        hasReadInput = true
    }

    /// The same rules as for key files.
    private func file(
        _ path: String, from origin: String, _ title: String, _ use: SecretUse
    ) throws -> [UInt8] {
        do {
            return try SecretFiles.read(path, title: title.lowercasedFirst + " file", atMost: Self.maximumBytes)
        } catch let error as VaultError where error.code == .keyMissing {
            guard !SecretArguments.mayBeSecret(path) else { throw Self.missing(title, from: origin) }
            if use.isOfVault,
                let problem = PathProblem(
                    "passphrase file", at: path, from: origin, advice: "check \(origin)",
                    home: console.environment["HOME"])
            {
                throw Failure(.notFound, problem.message, hints: problem.hints)
            }
            let slip =
                path == "-"
                ? "to read it from standard input, leave -file out of the option's name"
                : PathProblem.slip(path, "file", nil)
            throw Failure(
                .notFound,
                "the \(title.lowercasedFirst) cannot be read from \(Printable.path(path)) (\(origin)): "
                    + "no such file or directory",
                hints: slip.map { [$0] } ?? [])
        } catch let error as VaultError where error.code == .keyMalformed {
            if FileKind(path) != .unknown, let other = Self.other(path, title, from: origin) { throw other }
            throw Failure.usage("the \(title.lowercasedFirst) is longer than \(Self.maximumBytes) bytes")
        } catch let error as VaultError where error.code == .keyUnsafe {
            try InputFile.refuseOther(at: path, from: origin, hint: error.hint)
            if error.hint?.hasPrefix("run: chmod") == true, let other = Self.other(path, title, from: origin) {
                throw other
            }
            throw Failure(.unsafeFile, "\(error.message) (\(origin))", hints: error.hint.map { [$0] } ?? [])
        }
    }

    /// The name of a file that is not there is not shown if it may be the secret.
    private static func missing(_ title: String, from origin: String) -> Failure {
        Failure(
            .notFound, "the \(title.lowercasedFirst) cannot be read: no such file or directory (\(origin))",
            hints: [
                "the option takes the path of a private file with the \(title.lowercasedFirst) in it",
                "if you gave the \(title.lowercasedFirst) itself, assume that others have seen it",
            ])
    }

    /// Asks without echo.
    func prompt(_ title: String) throws -> String {
        guard console.inputIsTerminal else {
            throw Failure.usage("there is no terminal on which to ask for the \(title.lowercasedFirst)")
        }
        let bytes = try InputWait.withoutEcho(console.input, prompt: "\(title): ", on: console) {
            try LineReader(console.input).line()
        }
        return try Self.text(bytes, title, from: .prompt)
    }

    /// Removes one line break, as editors and `echo` add it.
    private static func text(_ bytes: [UInt8], _ title: String, from source: SecretSource) throws -> String {
        var bytes = bytes[...]
        if bytes.last == UInt8(ascii: "\n") { bytes = bytes.dropLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes = bytes.dropLast() }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw Failure.usage(
                "the \(title.lowercasedFirst) is not text\(source.place)",
                hint: "it is one line of UTF-8 text without a NUL")
        }
        return text
    }

    private static func nonEmpty(_ text: String, _ title: String, from source: SecretSource) throws -> String {
        guard text.isEmpty else { return text }
        throw Failure.usage("the \(title.lowercasedFirst) is empty\(source.place)", hint: source.adviceForNothing)
    }
}
