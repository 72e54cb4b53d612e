import Platform

/// A program of the operator's that prints a key, wraps one, or stores a witness's record. No shell reads its
/// arguments.
package struct OperatorProgram: Sendable {
    /// Its output and exit code.
    package struct Outcome {
        package let output: SecretBytes
        /// The beginning of its standard error, line by line, without terminal control characters.
        let errors: String
        package let status: Int32
    }

    static let maximumErrorByteCount = 2048
    /// The exit code of a program that asks to be run again.
    package static let tryAgain: Int32 = 75

    /// The program's absolute path, then its arguments.
    package let arguments: [String]
    /// Each `NAME=value`.
    let environment: [String]
    let timeLimit: Duration
    /// The time when it must have ended, whatever its own limit is.
    private var end: ContinuousClock.Instant?

    package init(
        _ arguments: [String], environment: [String], timeLimit: Duration
    ) throws(VaultCryptoError) {
        guard let path = arguments.first, path.hasPrefix("/") else {
            throw VaultCryptoError(
                .keySourceFailed, "the program is not given by an absolute path",
                hint: "for example: [\"/usr/bin/pass\", \"show\", \"vault-key\"]")
        }
        guard !arguments.contains(where: { $0.utf8.contains(0) }) else {
            throw VaultCryptoError(.keySourceFailed, "an argument of the program holds a zero byte")
        }
        self.arguments = arguments
        self.environment = environment
        self.timeLimit = timeLimit
    }

    /// The same program with one more variable, `NAME=value`.
    package func adding(_ variable: String) -> OperatorProgram { OperatorProgram(self, environment + [variable]) }

    /// The same program with one deadline for all its runs together.
    func ending(at end: ContinuousClock.Instant?) -> OperatorProgram {
        var program = self
        program.end = end
        return program
    }

    private init(_ program: OperatorProgram, _ environment: [String]) {
        (arguments, timeLimit, end) = (program.arguments, program.timeLimit, program.end)
        self.environment = environment
    }

    /// Runs it in `/`, with these variables and only the three standard streams.
    ///
    /// - Parameter isWanted: whether someone still waits for it; asked while it runs.
    func run(
        _ more: [String] = [], input: UnsafeRawBufferPointer, limit: Int, while isWanted: (() -> Bool)? = nil
    ) throws(VaultCryptoError) -> Outcome {
        let deadline = end.map { min($0, .now + timeLimit) } ?? .now + timeLimit
        guard deadline > .now else { throw failed("was not run: the time for programs is used up", .keySourceBusy) }
        try check()
        var run = ProgramRun()
        defer { run.end() }
        try unsafe run.start(arguments + more, environment, input: input)
        let isComplete = run.collect(limit: limit, until: deadline, while: isWanted)
        guard !run.isTooLong else { throw failed("printed more than \(limit) bytes") }
        guard isComplete, let status = run.wait(until: deadline) else {
            throw failed("did not end within \(timeLimit.components.seconds) s, and was stopped", .keySourceBusy)
        }
        let errors = Self.lines(run.errors).joined(separator: "\n")
        return Outcome(output: run.takeOutput(), errors: errors, status: status)
    }

    /// Removes control characters, blank lines, and blanks at the end of lines.
    private static func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap { line in
            var scalars = String.UnicodeScalarView()
            scalars.append(contentsOf: line.unicodeScalars.filter { $0.properties.generalCategory != .control })
            while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
            return scalars.isEmpty ? nil : String(scalars)
        }
    }

    /// Runs it, and runs it again if it asks for that.
    package func ask(
        _ verb: String, input: UnsafeRawBufferPointer, limit: Int
    ) throws(VaultCryptoError) -> Outcome {
        let outcome = try unsafe run([verb], input: input, limit: limit)
        return outcome.status == Self.tryAgain ? try unsafe run([verb], input: input, limit: limit) : outcome
    }

    /// Rejects a program that other users can change or replace before it is started; see ``TrustedPath``.
    package func check() throws(VaultCryptoError) {
        let program: TrustedPath.Opened
        do throws(TrustedPath.Flaw) { program = try TrustedPath.open(arguments[0], for: .locating) } catch {
            throw failed(error.reason ?? "does not exist", hint: error.hint)
        }
        let status = program.status
        guard status.kind == .regular else {
            throw failed(status.kind == .directory ? "is a directory" : "is not a regular file")
        }
        guard NamedFile(arguments[0]).allows(.executing) else {
            throw failed("cannot be executed", hint: "run: chmod +x \(shown)")
        }
        guard status.isOursOrRoots, status.permissions & 0o022 == 0 else {
            throw failed("can be changed by other users", hint: "run: chmod go-w \(shown)")
        }
    }

    package func failed(
        _ why: String, _ code: VaultCryptoError.Code = .keySourceFailed, hint: String? = nil
    ) -> VaultCryptoError {
        VaultCryptoError(code, "the program \(shown) \(why)", hint: hint)
    }

    /// The error of its exit code, unless it succeeded.
    package func refusal(_ outcome: Outcome) -> VaultCryptoError? {
        guard outcome.status != 0 else { return nil }
        let words = outcome.errors.isEmpty ? "" : ": \(outcome.errors.replacing("\n", with: "; "))"
        // It failed twice, because it was run again.
        let code: VaultCryptoError.Code = outcome.status == Self.tryAgain ? .keySourceBusy : .keySourceFailed
        return failed(Self.end(outcome.status) + words, code)
    }

    /// - Parameter status: Its exit code, or 128 and the number of a signal, as shells have it.
    static func end(_ status: Int32) -> String {
        status > 128 ? "was ended by signal \(status - 128)" : "ended with exit code \(status)"
    }

    private var shown: String { KeyFileReader.shown(arguments[0]) }
}

extension OperatorProgram {
    /// The line of a key file that a program prints, as with `RESTIC_PASSWORD_COMMAND`. The program gets the variables
    /// of this process, because password managers need theirs, but none of our own.
    ///
    /// - Parameter isWanted: whether someone still waits for the key; the program is stopped if not.
    package static func keyLine(
        _ arguments: [String], while isWanted: (() -> Bool)? = nil
    ) throws(VaultCryptoError) -> SecretBytes {
        let program = try OperatorProgram(
            arguments, environment: inheritedButOurs, timeLimit: .seconds(30))
        let outcome = try unsafe program.run(
            input: UnsafeRawBufferPointer(start: nil, count: 0), limit: KeyFileReader.maximumByteCount, while: isWanted)
        if let refusal = program.refusal(outcome) { throw refusal }
        return outcome.output
    }

    /// All variables of this process except those that may name the vault's keys.
    package static var inheritedButOurs: [String] { inherited { !$0.hasPrefix("TOKENVAULT_") } }

    /// Variables of this process, each `NAME=value`.
    package static func inherited(_ isWanted: (String) -> Bool) -> [String] {
        ProcessEnvironment.variables.filter(isWanted)
    }
}
