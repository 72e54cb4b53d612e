import CProcess
import Glibc

/// A program that this process starts, in a process group of its own.
@safe package struct ChildProcess {
    /// 0 is none.
    private var process: pid_t = 0

    package init() {}

    /// Starts it in `/`, with these variables and no descriptors but these streams, and with the signals as a new program
    /// expects them. No shell reads its arguments.
    ///
    /// - Parameter arguments: the program's absolute path, and what it is called with.
    package mutating func start(
        _ arguments: [String], environment: [String], streams: [any OpenDescriptor]
    ) throws(SystemError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in streams.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, stream.number, Int32(number))
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
        let (words, variables) = (CStringArray(arguments), CStringArray(environment))
        // A process that is just being started elsewhere may hold the file open for a moment to which a script was written.
        for _ in 0..<Self.mostBusyTries {
            let failure = unsafe words.withMutablePointers { words in
                unsafe variables.withMutablePointers { variables in
                    unsafe posix_spawn(&process, arguments[0], &actions, &attributes, words, variables)
                }
            }
            if failure == 0 { return withExtendedLifetime(streams) {} }
            guard failure == ETXTBSY else { throw SystemError(failure) }
            usleep(10_000)
        }
        throw .programBusy
    }

    /// For two seconds.
    private static let mostBusyTries = 200

    /// The exit code, or 128 and the number of the signal. Nil if it has not ended in time, or if there is none.
    package mutating func exitCode(until deadline: ContinuousClock.Instant) -> Int32? {
        guard process > 0 else { return nil }
        var status: Int32 = 0
        while true {
            let ended = unsafe waitpid(process, &status, WNOHANG)
            if ended == process { break }
            if ended < 0, errno != EINTR { return nil }
            guard ContinuousClock.now < deadline else { return nil }
            _ = usleep(2_000)
        }
        process = 0
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Ends whatever still runs of it.
    package mutating func kill() {
        guard process > 0 else { return }
        _ = Glibc.kill(-process, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        process = 0
    }
}

extension ChildProcess {
    /// Starts a program that outlives this one: in a session of its own, so that Ctrl-C here does not end it there; without
    /// our streams and files; and with the signals as a new program expects them. It is looked for in `PATH`.
    ///
    /// - Returns: false if it does not start.
    package static func startDetached(_ arguments: [String]) -> Bool {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor in STDIN_FILENO...STDERR_FILENO {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { unsafe sigaddset(&defaults, number) }
        var nothingBlocked = sigset_t()
        unsafe sigemptyset(&nothingBlocked)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        unsafe posix_spawnattr_setsigmask(&attributes, &nothingBlocked)
        unsafe posix_spawnattr_setflags(
            &attributes, process_spawn_setsid() | Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var process: pid_t = 0
        return unsafe CStringArray(arguments).withMutablePointers { words in
            unsafe posix_spawnp(&process, arguments[0], &actions, &attributes, words, environ) == 0
        }
    }
}
