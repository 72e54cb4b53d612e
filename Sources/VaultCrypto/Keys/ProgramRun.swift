import CProcess
import CSodium
import Glibc

/// One run of a program, in its own process group.
@safe struct ProgramRun: ~Copyable {
    private var process: pid_t = 0
    private var output: Int32 = -1
    private var error: Int32 = -1
    private var bytes: [UInt8] = []
    private(set) var errors: [UInt8] = []
    private(set) var isTooLong = false

    /// Starts it. Its input must fit into the pipe, so that writing it never blocks.
    mutating func start(
        _ arguments: [String], _ environment: [String], input: UnsafeRawBufferPointer
    ) throws(VaultCryptoError) {
        var pipes: [[Int32]] = []
        defer {
            for descriptor in [pipes.first?[0], pipes.dropFirst().first?[1], pipes.last?[1]] { Self.close(descriptor) }
        }
        for _ in 0..<3 {
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe2(&ends, O_CLOEXEC) == 0 else {
                throw VaultCryptoError(
                    .keySourceFailed, "no pipe to a program can be made: \(SystemError.text(errno))")
            }
            pipes.append(ends)
        }
        (output, error) = (pipes[1][0], pipes[2][0])
        var written = input.count
        if unsafe !input.isEmpty { written = unsafe Glibc.write(pipes[0][1], input.baseAddress, input.count) }
        Self.close(pipes[0][1])
        guard written == input.count else {
            throw VaultCryptoError(.keySourceFailed, "a program's input does not fit into a pipe")
        }
        let failure = Self.spawn(arguments, environment, [pipes[0][0], pipes[1][1], pipes[2][1]], &process)
        guard failure == 0 else {
            throw VaultCryptoError(
                .keySourceFailed,
                "the program \(KeyFileReader.shown(arguments[0])) cannot be started: \(SystemError.text(failure))")
        }
    }

    static func spawn(
        _ arguments: [String], _ environment: [String], _ streams: [Int32], _ process: inout pid_t
    ) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in streams.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
        }
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        unsafe posix_spawn_file_actions_addchdir_np(&actions, "/")
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        unsafe sigfillset(&defaults)
        var nothingBlocked = sigset_t()
        unsafe sigemptyset(&nothingBlocked)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        unsafe posix_spawnattr_setsigmask(&attributes, &nothingBlocked)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe variables.indices { unsafe free(variables[index]) } }
        // A process that is being started elsewhere may briefly hold a just-written script open.
        for _ in 0..<mostBusyTries {
            let failure = unsafe posix_spawn(&process, arguments[0], &actions, &attributes, &words, &variables)
            guard failure == ETXTBSY else { return failure }
            usleep(10_000)
        }
        return ETXTBSY
    }

    /// Two seconds' worth.
    private static let mostBusyTries = 200

    /// Reads its output until it closes its streams; false if the deadline passed first.
    mutating func collect(limit: Int, until deadline: ContinuousClock.Instant) -> Bool {
        var open = [output, error]
        while !open.isEmpty {
            let left = deadline - ContinuousClock.now
            guard left > .zero else { return false }
            var polled = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let milliseconds =
                Int32(clamping: left.components.seconds * 1_000 + left.components.attoseconds / 1_000_000_000_000_000)
                + 1
            guard unsafe poll(&polled, nfds_t(polled.count), milliseconds) > 0 else { continue }
            for entry in polled where entry.revents != 0 {
                guard !read(entry.fd, limit) else { continue }
                open.removeAll { $0 == entry.fd }
            }
            if isTooLong { return false }
        }
        return true
    }

    /// False at the end of the stream.
    private mutating func read(_ descriptor: Int32, _ limit: Int) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        defer { Self.wipe(&chunk) }
        let size = chunk.count
        let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, size) }
        guard count > 0 else { return count < 0 && errno == EINTR }
        if descriptor == output {
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
        ChildProcess.exitCode(of: &process, until: deadline)
    }

    mutating func takeOutput() -> SecretBytes {
        defer { Self.wipe(&bytes) }
        return SecretBytes(copying: bytes)
    }

    /// Kills the rest of its process group.
    mutating func end() {
        ChildProcess.kill(process)
        Self.wipe(&bytes)
        Self.close(output)
        Self.close(error)
    }

    private static func wipe(_ bytes: inout [UInt8]) {
        let count = bytes.count
        unsafe bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { unsafe sodium_memzero(start, count) } }
    }

    private static func close(_ descriptor: Int32?) {
        if let descriptor, descriptor >= 0 { _ = Glibc.close(descriptor) }
    }
}
