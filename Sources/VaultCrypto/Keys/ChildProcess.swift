import Glibc

/// Waits for and kills a program that was started in its own process group.
enum ChildProcess {
    /// The exit code, or 128 plus the signal number; `process` is then 0. Nil if the program has not ended in time.
    static func exitCode(of process: inout pid_t, until deadline: ContinuousClock.Instant) -> Int32? {
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

    /// Kills the rest of the process group; 0 means none.
    static func kill(_ process: pid_t) {
        guard process > 0 else { return }
        _ = Glibc.kill(-process, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
}
