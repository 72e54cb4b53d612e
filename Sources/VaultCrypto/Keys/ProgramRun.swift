import CSodium
import Platform

/// One run of a program, in its own process group.
@safe struct ProgramRun: ~Copyable {
    private var process = ChildProcess()
    private var output: Descriptor?
    private var error: Descriptor?
    private var bytes: [UInt8] = []
    private(set) var errors: [UInt8] = []
    private(set) var isTooLong = false

    /// Starts it. Its input must fit into the pipe, so that writing it never blocks.
    mutating func start(
        _ arguments: [String], _ environment: [String], input: UnsafeRawBufferPointer
    ) throws(VaultCryptoError) {
        let given = try unsafe Self.pipe(holding: input)
        let (printed, said) = (try Self.pipe(), try Self.pipe())
        (output, error) = (printed.reading, said.reading)
        do throws(SystemError) {
            try process.start(arguments, environment: environment, streams: [given, printed.writing, said.writing])
        } catch {
            throw VaultCryptoError(
                .keySourceFailed,
                "the program \(KeyFileReader.shown(arguments[0])) cannot be started: \(error.wordsOfStart)")
        }
    }

    private static func pipe() throws(VaultCryptoError) -> Pipe {
        do throws(SystemError) { return try Pipe() } catch {
            throw VaultCryptoError(.keySourceFailed, "no pipe to a program can be made: \(error.text)")
        }
    }

    /// Two seconds' worth.
    private static func pipe(holding bytes: UnsafeRawBufferPointer) throws(VaultCryptoError) -> Descriptor {
        let pipe = try pipe()
        guard unsafe bytes.isEmpty || (try? pipe.writing.write(bytes)) == bytes.count else {
            throw VaultCryptoError(.keySourceFailed, "a program's input does not fit into a pipe")
        }
        return pipe.reading
    }

    /// Reads its output until it closes its streams; false if the deadline passed first, or it is no longer wanted.
    ///
    /// - Parameter isWanted: asked ten times a second.
    mutating func collect(
        limit: Int, until deadline: ContinuousClock.Instant, while isWanted: (() -> Bool)? = nil
    ) -> Bool {
        var open = [output, error].compactMap(\.self)
        while !open.isEmpty {
            let left = deadline - ContinuousClock.now
            guard left > .zero, isWanted?() ?? true else { return false }
            var wait = DescriptorWait()
            for stream in open { wait.add(stream.number, .readable) }
            let milliseconds =
                Int32(clamping: left.components.seconds * 1_000 + left.components.attoseconds / 1_000_000_000_000_000)
                + 1
            guard let count = try? wait.wait(milliseconds: isWanted == nil ? milliseconds : min(milliseconds, 100)),
                count > 0
            else { continue }
            for (number, _) in wait.ready {
                guard let stream = open.first(where: { $0.number == number }), !read(stream, limit) else { continue }
                open.removeAll { $0.number == number }
            }
            if isTooLong { return false }
        }
        return true
    }

    /// False at the end of the stream.
    private mutating func read(_ stream: Descriptor, _ limit: Int) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        defer { Self.wipe(&chunk) }
        guard let count = try? stream.read(into: &chunk), count > 0 else { return false }
        if stream === output {
            isTooLong = bytes.count + count > limit
            // Never grows, so that no part of a secret is left in freed memory.
            if bytes.isEmpty { bytes.reserveCapacity(limit) }
            if !isTooLong { bytes += chunk[..<count] }
        } else {
            errors += chunk[..<min(count, OperatorProgram.maximumErrorByteCount - errors.count)]
        }
        return true
    }

    /// The exit code, or 128 plus the signal number; nil if it has not ended in time.
    mutating func wait(until deadline: ContinuousClock.Instant) -> Int32? {
        process.exitCode(until: deadline)
    }

    mutating func takeOutput() -> SecretBytes {
        defer { Self.wipe(&bytes) }
        return SecretBytes(copying: bytes)
    }

    /// Kills the rest of its process group.
    mutating func end() {
        process.kill()
        Self.wipe(&bytes)
        (output, error) = (nil, nil)
    }

    private static func wipe(_ bytes: inout [UInt8]) {
        let count = bytes.count
        unsafe bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { unsafe sodium_memzero(start, count) } }
    }
}

extension SystemError {
    /// Why a program that is there cannot be started.
    var wordsOfStart: String {
        switch self {
        case .notFound: "the interpreter in its first line does not exist"
        case .notExecutable: "its first line must name an interpreter, such as #!/bin/sh"
        default: text
        }
    }
}
