import Glibc

/// The three streams that every process has.
package enum StandardStreams {
    /// Puts something in the place of streams that are closed, which cannot be read or written: the next file that is opened
    /// would take their number. Gives whether there were any.
    package static func fill() -> Bool {
        var isFilled = false
        for (stream, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(stream, F_GETFD) < 0 {
            // The lowest number that is free is this one.
            if unsafe open("/dev/null", mode | O_NOCTTY) == stream { isFilled = true }
        }
        return isFilled
    }
}
